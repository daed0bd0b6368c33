"""Starts one Postgres for the whole test session, before Django reads its settings.

Loaded as an early pytest plugin (`-p tests.services`). The xdist controller starts it and its
workers inherit the address; each has a database of its own. With `DATABASE_URL` set, that
server is used instead.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile
import time
from pathlib import Path

from console.up.child import Child
from console.up.home import Home
from console.up.ports import free_port
from console.up.postgres import Postgres


def start() -> None:
    """Start it unless there is one, and leave its address in the environment."""
    directory = Path(tempfile.mkdtemp(prefix="tenure-tests-"))
    directory.chmod(0o711)
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    home = Home(directory)
    home.prepare()
    os.environ.setdefault("TENURE_SECRET_KEY", secrets.token_urlsafe(64))
    os.environ["TENURE_HOME"] = str(directory)
    os.environ["TENURE_WAREHOUSE"] = f"file://{directory}/warehouse"
    if "DATABASE_URL" not in os.environ:
        os.environ["DATABASE_URL"] = _start_postgres(home)


def _start_postgres(home: Home) -> str:
    postgres = Postgres(home, free_port(), home.secrets())
    postgres.prepare()
    child = Child(postgres.spec())
    child.watch(0.0)
    atexit.register(_stop, child)
    deadline = time.monotonic() + 60
    while not postgres.answers():
        if time.monotonic() > deadline:
            raise RuntimeError(f"Postgres does not start; see {home.log('postgres')}")
        time.sleep(0.05)
    postgres.ensure_database()
    return postgres.url


def _stop(child: Child) -> None:
    child.ask_to_stop()
    child.finish(time.monotonic() + 5)


if "PYTEST_XDIST_WORKER" not in os.environ:
    start()
