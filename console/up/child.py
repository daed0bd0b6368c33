"""One supervised process: started, watched, restarted with growing waits, and stopped with all below it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from console.up.memory import tree_memory

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0
CALM_AFTER_SECONDS = 60.0
MAX_LOG_BYTES = 10 * 1024 * 1024
_PR_SET_PDEATHSIG = 1
# Loaded before any fork: the child between fork and exec must not import or allocate much.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class ChildSpec:
    """What to run. `phase` orders the end: lower phases stop first, equal ones together."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    directory: Path
    log: Path
    phase: int
    patience_seconds: float
    stop_signal: signal.Signals = signal.SIGTERM
    user: str | None = None


@dataclass
class Child:
    """A spec and the process that carries it out at the moment, if any."""

    spec: ChildSpec
    process: subprocess.Popen[bytes] | None = None
    state: str = "restarting"
    restarts: int = 0
    last_exit: str = ""
    started_at: str = ""
    create_time: float = 0.0
    _wait: float = FIRST_WAIT_SECONDS
    _started: float = 0.0
    _due: float = 0.0
    _left: list[psutil.Process] = field(default_factory=list)

    def watch(self, now: float) -> bool:
        """Start the process if it is due, note its death if it died; returns whether anything changed."""
        if self.process is None:
            return self._start(now) if now >= self._due else False
        code = self.process.poll()
        if code is None:
            return False
        # What the dead process left below it (a gunicorn worker, a driver) must not meet its successor.
        kill_group(self.process.pid)
        self.process = None
        if now - self._started >= CALM_AFTER_SECONDS:
            self._wait = FIRST_WAIT_SECONDS
        self._postpone(describe_exit(code), now)
        return True

    def _start(self, now: float) -> bool:
        try:
            self.process = spawn(self.spec)
        except OSError as error:
            self._postpone(f"cannot be started: {error}", now)
            return True
        self._started, self.state = now, "running"
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self.create_time = psutil.Process(self.process.pid).create_time()
        except psutil.Error:
            self.create_time = 0.0
        return True

    def _postpone(self, reason: str, now: float) -> None:
        self.state, self.last_exit = "restarting", reason
        self.restarts += 1
        self._due = now + self._wait
        self._wait = min(self._wait * 2, LONGEST_WAIT_SECONDS)

    def ask_to_stop(self) -> None:
        """Send the stop signal, and remember everything below the process, which might outlive it."""
        if self.process is None:
            self.state = "stopped"
            return
        try:
            self._left = psutil.Process(self.process.pid).children(recursive=True)
            self.process.send_signal(self.spec.stop_signal)
        except (psutil.Error, ProcessLookupError):
            pass

    def finish(self, deadline: float) -> None:
        """Wait until `deadline` (monotonic) for the end, then kill the group and whatever came from it."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        kill_group(self.process.pid)
        kill_each(self._left)
        self.last_exit = describe_exit(self.process.wait())
        self.process, self.state = None, "stopped"

    def report(self) -> dict[str, Any]:
        """What `processes.json` says of this child."""
        pid = self.process.pid if self.process else 0
        return {
            "name": self.spec.name,
            "pid": pid,
            "state": self.state,
            "restarts": self.restarts,
            "last_exit": self.last_exit,
            "started_at": self.started_at,
            "create_time": self.create_time if pid else 0.0,
            "memory_bytes": tree_memory(pid) if pid else 0,
        }


def spawn(spec: ChildSpec) -> subprocess.Popen[bytes]:
    """Start a spec in a session of its own, its output appended to its log; it dies with this process."""
    with open(spec.log, "ab") as log:
        return subprocess.Popen(
            spec.command,
            env=dict(spec.environment),
            cwd=spec.directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=spec.user,
            group=spec.user,
            extra_groups=[] if spec.user else None,
            preexec_fn=dies_with_parent(spec.stop_signal),
        )


def dies_with_parent(stop_signal: signal.Signals) -> Callable[[], None] | None:
    """A hook for `Popen` that makes Linux send the child `stop_signal` when its parent is gone.

    The kernel watches the parent *thread*: only a thread that lives as long as the child may start it.
    """
    if _libc is None:
        return None
    libc, parent = _libc, os.getpid()

    def bind() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(stop_signal))
        if os.getppid() != parent:  # the parent died between fork and prctl
            os._exit(1)

    return bind


def kill_group(group: int) -> None:
    """End every process of a group at once."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def kill_each(processes: list[psutil.Process]) -> None:
    """End those of the processes that still live; psutil tells a reused pid from the same process."""
    for process in processes:
        try:
            process.kill()
        except psutil.Error:
            continue


def describe_exit(code: int) -> str:
    """`exit code 1` or `killed by SIGKILL`."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def rotate_log(path: Path) -> None:
    """Put a log that has grown beyond its limit aside; one old one is kept."""
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_name(path.name + ".1"))


def last_lines(path: Path, count: int = 8) -> str:
    """The end of a log, for a person who must find out why a process did not start."""
    if not path.exists():
        return ""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 8192))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-count:])
