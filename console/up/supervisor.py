"""Keeps the processes of a console alive, says what it keeps, and stops them in order.

The main thread does all the forking: a child dies with the *thread* that started it. Whoever
wants a process calls `add` from any thread and waits with `wait_until`.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGTERM
from typing import Any

import psutil

from console.up.child import (
    Child,
    ChildSpec,
    describe_exit,
    dies_with_parent,
    kill_each,
    kill_group,
    last_lines,
    rotate_log,
)
from console.up.errors import CannotStart, Stopping
from console.up.home import Home, write_privately
from console.up.memory import process_memory

TICK_SECONDS = 0.1
REPORT_SECONDS = 5.0
MAX_STARTS_WHILE_WAITING = 4
LEFTOVER_PATIENCE_SECONDS = 5.0
CLOCK_TOLERANCE_SECONDS = 2.0


class Supervisor:
    """The processes of one console. `exit_code` is what the supervisor's own process ends with."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.exit_code = 0
        self._children: dict[str, Child] = {}
        self._commands: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.RLock()
        self._stopping = threading.Event()

    def add(self, spec: ChildSpec) -> None:
        """Have a process kept alive from now on."""
        rotate_log(spec.log)
        with self._lock:
            self._children[spec.name] = Child(spec)

    def stop(self, exit_code: int = 0) -> None:
        """Ask the main loop to stop everything; safe in a signal handler, and more than once."""
        if not self._stopping.is_set():
            self.exit_code = exit_code
            self._stopping.set()

    def run(self) -> None:
        """Watch until somebody asks to stop, then stop everything."""
        reported = 0.0
        while not self._stopping.wait(TICK_SECONDS):
            now = time.monotonic()
            if self._tick(now) or now - reported >= REPORT_SECONDS:
                self._write_report()
                reported = now
        self._stop_all()

    def _tick(self, now: float) -> bool:
        with self._lock:
            # A list: every child is looked at, not those up to the first change.
            changes = [child.watch(now) for child in self._children.values()]
        return any(changes)

    def report(self) -> list[dict[str, Any]]:
        """Name, state and memory of each process, in the order they were added."""
        with self._lock:
            return [child.report() for child in self._children.values()]

    @staticmethod
    def own_memory() -> int:
        """Bytes that the supervisor itself holds, without what it started."""
        return process_memory(psutil.Process())

    def _write_report(self) -> None:
        body = {
            "supervisor": os.getpid(),
            "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "processes": self.report(),
        }
        write_privately(self.home.processes, json.dumps(body, indent=1) + "\n")

    def _stop_all(self) -> None:
        with self._lock:
            for command in list(self._commands):
                kill_group(command.pid)
            children = sorted(self._children.values(), key=lambda child: child.spec.phase)
            for phase in sorted({child.spec.phase for child in children}):
                self._stop_phase([child for child in children if child.spec.phase == phase])
            self._write_report()

    @staticmethod
    def _stop_phase(children: Sequence[Child]) -> None:
        for child in children:
            child.ask_to_stop()
        asked = time.monotonic()
        for child in children:
            child.finish(asked + child.spec.patience_seconds)

    def wait_until(self, is_ready: Callable[[], bool], name: str, timeout_seconds: float) -> None:
        """Wait for the process called `name` to be of use; raises `CannotStart` when it will not be."""
        deadline = time.monotonic() + timeout_seconds
        while not is_ready():
            if self._stopping.wait(TICK_SECONDS):
                raise Stopping
            with self._lock:
                child = self._children[name]
            if child.restarts >= MAX_STARTS_WHILE_WAITING or time.monotonic() > deadline:
                why = child.last_exit or f"not ready after {timeout_seconds:.0f} s"
                log = child.spec.log
                raise CannotStart(f"{name} does not start ({why}); see {log}:\n{last_lines(log)}")

    def run_command(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        directory: Path,
        *,
        capture: bool = True,
        user: str | None = None,
    ) -> str:
        """Run a command to its end, or until everything stops; raises `CannotStart` if it fails.

        With `capture` its output is returned and its errors go to `logs/setup.log`; otherwise both
        go where this process's own go.
        """
        log_path = self.home.log("setup")
        # Under the lock: whoever stops everything either sees the command or keeps it from starting.
        with self._lock, open(log_path, "ab") as log:
            if self._stopping.is_set():
                raise Stopping
            process = subprocess.Popen(
                command,
                env=dict(environment),
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if capture else None,
                stderr=log if capture else None,
                start_new_session=True,
                user=user,
                group=user,
                extra_groups=[] if user else None,
                preexec_fn=dies_with_parent(SIGTERM),
            )
            self._commands.add(process)
        output, _ = process.communicate()
        with self._lock:
            self._commands.discard(process)
        if self._stopping.is_set():
            raise Stopping
        if process.returncode != 0:
            what = f"`{' '.join(command[1:])}` ended with {describe_exit(process.returncode)}"
            raise CannotStart(f"{what}; see {log_path}:\n{last_lines(log_path)}" if capture else what + ".")
        return (output or b"").decode()


def end_leftovers(processes: Path) -> int:
    """End what a supervisor that was killed left running, by its own record; returns how many there were.

    A pid counts only with the recorded creation time: the number may belong to somebody else by now.
    """
    try:
        recorded = json.loads(processes.read_text())["processes"]
    except (OSError, ValueError, KeyError):
        return 0
    found = [process for entry in recorded for process in _recorded_tree(entry)]
    for process in found:
        _quietly(process.terminate)
    deadline = time.monotonic() + LEFTOVER_PATIENCE_SECONDS
    while any(_lives(process) for process in found) and time.monotonic() < deadline:
        time.sleep(TICK_SECONDS)
    kill_each([process for process in found if _lives(process)])
    return len(found)


def _recorded_tree(entry: Mapping[str, Any]) -> list[psutil.Process]:
    pid, create_time = int(entry.get("pid") or 0), float(entry.get("create_time") or 0.0)
    try:
        process = psutil.Process(pid) if pid else None
        if process is None or abs(process.create_time() - create_time) > CLOCK_TOLERANCE_SECONDS:
            return []
        return [each for each in (process, *process.children(recursive=True)) if _lives(each)]
    except psutil.Error:
        return []


def _lives(process: psutil.Process) -> bool:
    """Whether the process still does anything; a zombie waits for whoever adopted it, not for us."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _quietly(action: Callable[[], None]) -> None:
    try:
        action()
    except psutil.Error:
        return
