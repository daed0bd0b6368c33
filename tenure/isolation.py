"""What a child process that runs a team's code does to itself before the first line of it.

The worker starts the child with a clean environment and no open files but its pipe; the child
then takes its limits, ties its life to the worker's and refuses the console's packages.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from tenure.errors import TenureError

FORBIDDEN = frozenset({"django", "console", "namespaces", "registry", "lineage"})
_PR_SET_PDEATHSIG = 1


class DatabaseForbidden(TenureError, ImportError):
    """User code reached for the console's database."""

    code, title, status = "database_forbidden", "There is no database here", 403


class _Guard:
    """An import finder that finds nothing and refuses the console's packages."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] in FORBIDDEN:
            raise DatabaseForbidden(
                f"{name} cannot be imported here. A driver has no database: reach data through the dataset "
                "objects of your task."
            )
        return None


def forbid_database() -> None:
    """From now on importing Django or the console's packages raises `DatabaseForbidden`."""
    sys.meta_path.insert(0, _Guard())


def limit(*, memory_bytes: int, cpu_seconds: int = 0) -> None:
    """Take resource limits that this process and its children cannot raise again.

    Memory is what the process may write to: Arrow and gRPC reserve far more addresses than they use.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    files = min(1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if cpu_seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))


def die_with_worker(worker: int) -> None:
    """Be killed when the worker, the process `worker`, dies, with all that user code may have started.

    The kernel kills this process alone; a small fork of it outlives it just long enough to kill the
    rest of the process group. Call this first: a process with threads should not fork.
    """
    _signal_at_parents_death(signal.SIGKILL, worker)
    child = os.getpid()
    if os.fork() == 0:
        # A SIGTERM to the group is for the user's code: the fork has to see the end of it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
        os.closerange(0, 3)
        _signal_at_parents_death(signal.SIGUSR1, child)
        signal.sigwait({signal.SIGUSR1})
        os.killpg(0, signal.SIGKILL)


def _signal_at_parents_death(number: signal.Signals, parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os.killpg(0, signal.SIGKILL)  # It died before the line above.


def read_assignment() -> dict[str, str]:
    """Wait for the one JSON line that says what to do; exits when the worker closes the pipe instead.

    From then on the end of the pipe means that the worker is gone, and ends this process group.
    """
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    threading.Thread(target=_end_with_pipe, name="worker-watch", daemon=True).start()
    assignment: dict[str, str] = json.loads(line)
    return assignment


def _end_with_pipe() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)
