"""`TENURE_HOME`: the one directory that holds all state of a console started by `up`.

    secrets.json     passwords and keys, made once, kept for good
    runtime.env      addresses of this start, for other `manage.py` commands; removed at the end
    processes.json   what the supervisor runs, for the home page and for cleaning up after a crash
    lock             held while a supervisor lives
    logs/ postgres/ redis/ spark/ beat/ spark-worker/ demonstration/ warehouse/

Nobody but the user who runs the console can read any of it.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from console.up.errors import CannotStart

SECRET_NAMES = ("django", "postgres_admin", "postgres", "redis", "spark")
_PARTS = ("logs", "redis", "spark", "beat", "spark-worker", "demonstration", "warehouse")


@dataclass(frozen=True)
class Home:
    """The directory and the paths in it that more than one part needs."""

    path: Path

    @property
    def runtime_env(self) -> Path:
        """The addresses chosen for this start, in the form that `console.settings` reads."""
        return self.path / "runtime.env"

    @property
    def processes(self) -> Path:
        """What runs now; rewritten by the supervisor."""
        return self.path / "processes.json"

    def log(self, name: str) -> Path:
        """Where the process called `name` writes what it says."""
        return self.path / "logs" / f"{name}.log"

    def prepare(self) -> None:
        """Make the directories, readable by nobody else."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            # A root console lets its Postgres user pass through (never list); see console.up.postgres.
            self.path.chmod(0o711 if os.geteuid() == 0 else 0o700)
            for part in _PARTS:
                (self.path / part).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise CannotStart(
                f"TENURE_HOME {self.path} cannot be used ({error.strerror}): set it to a writable directory."
            ) from error

    def secrets(self) -> dict[str, str]:
        """The secrets of this console; missing ones are made and kept for the next start."""
        path = self.path / "secrets.json"
        try:
            known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
        except ValueError as error:
            raise CannotStart(f"{path} is damaged ({error}); restore it from a backup.") from error
        missing = {name: secrets.token_hex(32) for name in SECRET_NAMES if name not in known}
        if missing:
            known |= missing
            write_privately(path, json.dumps(known, indent=2) + "\n")
        return known

    def lock(self, address: str) -> IO[str]:
        """Hold the home for this process; raises `CannotStart` when another supervisor has it."""
        file = open(self.path / "lock", "a+")  # noqa: SIM115  # the lock is held as long as the file is open
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            file.close()
            raise CannotStart(f"A console is running on {self.path} already: {holder}.") from None
        file.truncate(0)
        file.write(f"process {os.getpid()} at {address}\n")
        file.flush()
        return file

    def write_runtime_env(self, values: Mapping[str, str]) -> None:
        """Publish the addresses of this start to other `manage.py` commands on this machine."""
        lines = ["# Written by manage.py up; removed when it stops.", *map("=".join, values.items())]
        write_privately(self.runtime_env, "\n".join(lines) + "\n")


def write_privately(path: Path, text: str) -> None:
    """Replace a file in one step; readers see the old text or the new, and other users neither."""
    partial = path.with_name(path.name + ".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    partial.replace(path)


def read_env_file(path: Path) -> dict[str, str]:
    """The `NAME=value` lines of a file that `write_runtime_env` wrote; nothing if there is none."""
    if not path.exists():
        return {}
    lines = (line.partition("=") for line in path.read_text().splitlines() if not line.startswith("#"))
    return {name: value for name, separator, value in lines if separator}
