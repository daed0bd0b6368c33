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
    """Be killed when the worker, the process `worker`, dies."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != worker:
        os._exit(1)  # It died before the line above.


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
