"""`manage.py up`: start a whole console on this machine, with whatever is not configured elsewhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from console.up.home import read_env_file
from console.up.options import REPOSITORY, add_arguments


class Command(BaseCommand):
    """Becomes the supervisor: the process is replaced, so that it holds no Django in memory."""

    help = __doc__
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        """The supervisor's own arguments, so that `manage.py help up` lists them."""
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Replace this process by the supervisor, in the environment that it was started with."""
        command = [sys.executable, "-m", "console.up"]
        command += ["--once"] if options["once"] else []
        command += ["--no-demonstration"] if options["no_demonstration"] else []
        os.chdir(REPOSITORY)
        os.execve(sys.executable, command, _environment())  # noqa: S606  # our own program


def _environment() -> dict[str, str]:
    """The environment without what the settings took from the `runtime.env` of an earlier start."""
    stale = read_env_file(settings.TENURE_HOME / "runtime.env")
    given = _given_names()
    kept = {name: value for name, value in os.environ.items() if name in given or name not in stale}
    if kept.get("TENURE_HOME"):
        # As the caller meant it: the supervisor works in another directory.
        kept["TENURE_HOME"] = str(settings.TENURE_HOME)
    return kept


def _given_names() -> set[str]:
    """The variables that this process was started with, before the settings added theirs."""
    try:
        block = Path("/proc/self/environ").read_bytes()
    except OSError:  # not on Linux: what an earlier start left is taken for that
        return set()
    return {entry.partition(b"=")[0].decode(errors="replace") for entry in block.split(b"\0")}
