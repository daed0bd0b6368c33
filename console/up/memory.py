"""How much memory a process and everything below it really holds."""

from __future__ import annotations

from pathlib import Path

import psutil


def tree_memory(pid: int) -> int:
    """Bytes held by a process tree. Pages shared by several processes count once (Linux' PSS)."""
    try:
        root = psutil.Process(pid)
        return sum(process_memory(process) for process in [root, *root.children(recursive=True)])
    except psutil.Error:
        return 0


def process_memory(process: psutil.Process) -> int:
    """Bytes held by one process alone."""
    try:
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except OSError:
        return _resident(process)
    for line in rollup.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(process)


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
