"""One whole console for the tests of this folder: every process real, on free ports, in a home of its own."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tenure.client import Client
from tests.consoles import Console, start_console, wait_ready


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them run on one worker, since they share the console."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("console"))


@pytest.fixture(scope="session")
def homes() -> Iterator[Path]:
    """A directory for the homes of consoles; Postgres' own user must be able to pass through it."""
    directory = Path(tempfile.mkdtemp(prefix="tenure-whole-"))
    directory.chmod(0o711)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def console(homes: Path) -> Iterator[Console]:
    """A console that was started as a new user starts it, and has run the demonstration."""
    started = start_console(homes / "shared")
    try:
        wait_ready(started)
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()


@pytest.fixture(scope="session")
def client(console: Console) -> Client:
    """The REST API as the admin."""
    return console.client()


@dataclass
class Workshop:
    """A namespace for one test's pipelines."""

    client: Client
    namespace: str

    def path(self, pipeline: str) -> str:
        """The API path of a pipeline."""
        return f"namespaces/{self.namespace}/pipelines/{pipeline}"

    def try_to_deploy(self, name: str, source: str) -> dict[str, Any]:
        """Deploy a file and return the ended operation, whatever its end."""
        operation = self.client.put(self.path(name), {"source": source})
        deadline = time.monotonic() + 60
        while operation["state"] in ("queued", "running"):
            assert time.monotonic() < deadline, operation
            time.sleep(0.1)
            operation = self.client.get(f"operations/{operation['id']}")
        return operation

    def deploy(self, name: str, source: str) -> None:
        """Deploy a file that is valid."""
        operation = self.try_to_deploy(name, source)
        assert operation["state"] == "succeeded", operation

    def start(self, name: str) -> int:
        """Start a run and return its number."""
        return int(self.client.post(f"{self.path(name)}/runs")["number"])

    def run(self, name: str, number: int) -> dict[str, Any]:
        """A run as it is now."""
        found: dict[str, Any] = self.client.get(f"{self.path(name)}/runs/{number}")
        return found

    def ended(self, name: str, number: int, seconds: float = 120) -> dict[str, Any]:
        """The run after its end."""
        deadline = time.monotonic() + seconds
        while True:
            run = self.run(name, number)
            if run["finished_at"]:
                return run
            assert time.monotonic() < deadline, run
            time.sleep(0.2)

    def until(self, name: str, number: int, task: str, state: str, seconds: float = 60) -> None:
        """Wait for a task of a run to be in a state."""
        deadline = time.monotonic() + seconds
        while True:
            run = self.run(name, number)
            if any(each["task"] == task and each["state"] == state for each in run["tasks"]):
                return
            assert time.monotonic() < deadline and not run["finished_at"], run
            time.sleep(0.1)

    def log(self, name: str, number: int) -> str:
        """The run's log as one text."""
        return "\n".join(line["text"] for line in self.client.results(f"{self.path(name)}/runs/{number}/log"))

    def snapshots(self, dataset: str) -> list[dict[str, Any]]:
        """A table's snapshots, newest first."""
        return list(self.client.results(f"namespaces/{self.namespace}/datasets/{dataset}/snapshots"))


@pytest.fixture
def workshop(client: Client, request: pytest.FixtureRequest) -> Workshop:
    """A namespace named after the test."""
    name = re.sub(r"[^a-z0-9]+", "_", request.node.name.lower()).strip("_")[:60]
    client.put(f"namespaces/{name}")
    return Workshop(client, name)
