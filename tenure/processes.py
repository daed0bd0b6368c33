"""The system's processes as Linux's /proc shows them, and the adoption of orphans.

User code may start a process in a session of its own, where no signal to its driver's group reaches it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Process:
    """One process. Its id and its start tell it from a later process with the same id."""

    pid: int
    started: int
    parent: int = field(compare=False)
    session: int = field(compare=False)
    ended: bool = field(compare=False)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent dies, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def processes() -> list[Process]:
    """All processes; none on a system without /proc."""
    found = (_read(int(path.name)) for path in Path("/proc").glob("[0-9]*"))
    return [process for process in found if process is not None]


def _read(pid: int) -> Process | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None  # It has ended meanwhile.
    # The name, in parentheses, may hold anything. See proc_pid_stat(5): the state is field 3.
    fields = stat.rpartition(")")[2].split()
    return Process(
        pid, started=int(fields[19]), parent=int(fields[1]), session=int(fields[3]), ended=fields[0] in "ZX"
    )


def descendants(pids: Collection[int], among: Iterable[Process]) -> set[Process]:
    """All that these processes have started, directly or not, as far as parents still tell."""
    children: dict[int, list[Process]] = {}
    for process in among:
        children.setdefault(process.parent, []).append(process)
    found: set[Process] = set()
    waiting = list(pids)
    while waiting:
        new = set(children.get(waiting.pop(), ())) - found
        found |= new
        waiting += [process.pid for process in new]
    return found


def has_home(process: Process, home: str) -> bool:
    """Whether the process was started with this HOME."""
    try:
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
    except OSError:
        return False
    return f"HOME={home}".encode() in environment.split(b"\0")


def reap_orphans(own: Collection[int]) -> None:
    """Reap adopted processes that have ended; `own` are children that somebody else waits for."""
    for process in processes():
        adopted = process.parent == os.getpid() and process.session != os.getsid(0)
        if adopted and process.ended and process.pid not in own:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
