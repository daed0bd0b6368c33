"""Child processes of the spark worker: started clean, limited, drained, and ended with all they started.

A child gets its token through a pipe, never through arguments or environment, where other
processes could read it. It runs in a session of its own, so that one signal reaches most of what
the user's code may have started; what has left the session is found by parent and by its HOME,
which is unique for each child.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from tenure.processes import Process, descendants, has_home, processes, reap_orphans

KEPT_OUTPUT_BYTES = 16 * 1024
LAST_LINES = 20
KILL_ROUNDS = 50

_own: set[int] = set()
_own_lock = threading.Lock()
"""Held while a child starts or orphans are reaped: nobody but its `Child` may reap a child."""


def homes() -> Path:
    """The directory below which children have their homes; each worker of a machine may share it."""
    path = Path(os.environ.get("TENURE_SPARK_WORKER_HOME") or ".").absolute() / "children"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir())
    return path if os.access(path, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def remove_leftovers() -> None:
    """Remove the homes that killed workers have left. Call it before this worker has children.

    In a container each worker may have the same process id: homes with this one's are left over too.
    """
    for home in homes().glob("tenure-*-*"):
        worker = home.name.split("-")[1]
        if worker.isdigit() and (int(worker) == os.getpid() or not _lives(int(worker))):
            shutil.rmtree(home, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


class Child:
    """One running child process; `start_child` makes it."""

    def __init__(self, module: str, arguments: Sequence[str]) -> None:
        self.home = tempfile.mkdtemp(prefix=f"tenure-{os.getpid()}-", dir=homes())
        command = [sys.executable, "-P", "-m", module, "--worker", str(os.getpid()), *arguments]
        with _own_lock:
            self._process = subprocess.Popen(
                command,
                env=_environment(self.home),
                cwd=self.home,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                close_fds=True,
            )
            _own.add(self._process.pid)
        self._stdin = cast(IO[bytes], self._process.stdin)
        self._stdout = cast(IO[bytes], self._process.stdout)
        self.pid = self._process.pid
        self._output = b""
        self._drain = threading.Thread(target=self._keep_output, name=f"drain-{self.pid}", daemon=True)
        self._drain.start()

    def assign(self, assignment: dict[str, str]) -> None:
        """Tell the child what to do; raises `OSError` if it is dead."""
        self._stdin.write(json.dumps(assignment).encode() + b"\n")
        self._stdin.flush()

    def alive(self) -> bool:
        """Whether it still runs. An ended child is left unreaped, so that its group id stays taken."""
        if self._process.returncode is not None:
            return False
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, options) is None

    def wait(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Wait until the child has ended or `until` holds, at most `seconds`; tells whether it has ended."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() >= deadline or until():
                return False
            time.sleep(0.05)
        return True

    def end(self, grace_seconds: float = 0.0) -> int:
        """End the child and everything that it started; returns its exit code, negative for a signal."""
        if self._process.returncode is not None:
            return self._process.returncode
        started = descendants([self.pid], processes())
        if grace_seconds and self.alive():
            self._signal(signal.SIGTERM)
            self.wait(grace_seconds)
        self._signal(signal.SIGKILL)
        self._kill_strays(started)
        code = self._process.wait()
        with _own_lock:
            _own.discard(self.pid)
            reap_orphans(_own)
        self._drain.join(1.0)
        with suppress(OSError):
            self._stdin.close()
        shutil.rmtree(self.home, ignore_errors=True)
        return code

    def kill(self) -> None:
        """Kill the child's whole session at once, without waiting for its end."""
        if self._process.returncode is None:
            self._signal(signal.SIGKILL)

    def output(self) -> str:
        """The end of what it wrote to stdout and stderr."""
        return self._output.decode(errors="replace")

    def last_lines(self) -> str:
        """The last few lines of its output."""
        return "\n".join(self.output().strip().splitlines()[-LAST_LINES:])

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _kill_strays(self, started: set[Process]) -> None:
        """Kill what left the session, in rounds: it may start others until it is dead."""
        for _ in range(KILL_ROUNDS):
            left = [process for process in self._family(started) if not process.ended]
            if not left:
                return
            for process in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGKILL)
            time.sleep(0.01)

    def _family(self, started: set[Process]) -> set[Process]:
        """All of this child's that still are; orphans of it are the worker's children by now."""
        current = processes()
        adopted = [each for each in current if each.parent == os.getpid() and each.pid not in _own]
        roots = {each for each in current if each in started}
        roots |= {each for each in adopted if has_home(each, self.home)}
        return roots | descendants([self.pid, *(each.pid for each in roots)], current)

    def _keep_output(self) -> None:
        with self._stdout as pipe:
            while chunk := os.read(pipe.fileno(), 65536):
                self._output = (self._output + chunk)[-KEPT_OUTPUT_BYTES:]


def _environment(home: str) -> dict[str, str]:
    """All that a child finds in its environment: where programs are, and a home of its own."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
    }
    root = str(Path(__file__).resolve().parent.parent)
    if root not in sysconfig.get_paths().values():
        environment["PYTHONPATH"] = root
    return environment


class Spawner:
    """Starts children from one thread that lives as long as the worker.

    A child asks the kernel to be killed with its parent, and to the kernel the parent is the
    *thread* that forked it: a task's thread would take its driver along when it ends.
    """

    def __init__(self) -> None:
        self._orders: queue.SimpleQueue[tuple[str, Sequence[str], Future[Child]]] = queue.SimpleQueue()
        threading.Thread(target=self._loop, name="spawner", daemon=True).start()

    def start(self, module: str, arguments: Sequence[str]) -> Child:
        """Start `python -m module`; raises `OSError` if the system has no room for it."""
        started: Future[Child] = Future()
        self._orders.put((module, arguments, started))
        return started.result()

    def _loop(self) -> None:
        while True:
            module, arguments, started = self._orders.get()
            try:
                started.set_result(Child(module, arguments))
            except Exception as error:  # noqa: BLE001 - it is raised again in the thread that asked
                started.set_exception(error)


class Spare:
    """One driver started ahead of its run, so that a run need not wait for Python's imports."""

    def __init__(self, start: Callable[[], Child]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._closed = False

    def take(self) -> Child:
        """The spare, if there is one alive, or a fresh child."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            if child.alive():
                return child
            child.end()
        return self._start()

    def restock(self) -> None:
        """Start a spare unless there is one."""
        with self._lock:
            if self._closed or (self._child is not None and self._child.alive()):
                return
            if self._child is not None:
                self._child.end()
            self._child = self._start()

    def close(self) -> None:
        """Kill the spare and start no other."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()

    def clear(self) -> None:
        """After `close`: remove what the killed spare leaves on disk."""
        with self._lock:
            if self._child is not None:
                self._child.end()
