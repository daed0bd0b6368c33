"""Consoles for tests and benchmarks: `manage.py up` as a process of its own, in a home of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.up.home import read_env_file
from console.up.ports import free_port
from tenure.client import Client

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "a password for tests"
START_SECONDS = 240


@dataclass
class Console:
    """A console that `manage.py up` started, and what a test may want to know of it."""

    process: subprocess.Popen[str]
    home: Path
    port: int
    output: Path

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def said(self) -> str:
        """What it printed so far."""
        return self.output.read_text()

    def runtime(self) -> dict[str, str]:
        """The addresses and passwords that it chose."""
        return read_env_file(self.home / "runtime.env")

    def processes(self) -> dict[str, dict[str, Any]]:
        """What its supervisor says of each process."""
        report = json.loads((self.home / "processes.json").read_text())
        return {entry["name"]: entry for entry in report["processes"]}

    def manage(self, *arguments: str) -> str:
        """The output of a `manage.py` command on this console."""
        environment = bare_environment() | {"TENURE_HOME": str(self.home), "TENURE_PORT": str(self.port)}
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def client(self, user: str = "admin") -> Client:
        """The REST API as a user."""
        return Client(self.url, self.manage("create_token", user))

    def stop(self) -> float:
        """Send SIGTERM and wait for the end; returns how many seconds that took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        return time.monotonic() - began


def bare_environment() -> dict[str, str]:
    """The environment without anything that the test session set for itself."""
    mine = ("TENURE_", "DATABASE_URL", "REDIS_URL", "SPARK_REMOTE", "DJANGO_", "PYTEST_")
    return {name: value for name, value in os.environ.items() if not name.startswith(mine)}


def start_console(home: Path, *arguments: str, **settings: str) -> Console:
    """Start `manage.py up` in `home`; does not wait."""
    port = free_port()
    environment = bare_environment() | {
        "TENURE_HOME": str(home),
        "TENURE_PORT": str(port),
        "TENURE_ADMIN_PASSWORD": PASSWORD,
        **settings,
    }
    output = home.parent / f"{home.name}.out"
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", *arguments],
            cwd=ROOT,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
        )
    return Console(process, home, port, output)


def wait_ready(console: Console) -> None:
    """Wait until it says that it is ready; fails with what it printed."""
    eventually(lambda: "Ready after" in console.said(), START_SECONDS, console)


def eventually(holds: Callable[[], object], seconds: float, console: Console | None = None) -> None:
    """Wait until something holds; fails when it does not in time or the console ends."""
    deadline = time.monotonic() + seconds
    while not holds():
        if console is not None and console.process.poll() is not None:
            raise AssertionError(f"The console ended with {console.process.returncode}:\n{console.said()}")
        if time.monotonic() > deadline:
            said = f"\n{console.said()}" if console else ""
            raise AssertionError(f"It did not come true within {seconds} s.{said}")
        time.sleep(0.1)
