"""`python -m bench` (`make bench`): a console of its own, and every benchmark on it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import django

from bench import contract, demonstration, uri, uri_patterns
from tests.consoles import Console, start_console, wait_ready


def main() -> None:
    """Start a console, measure, stop it."""
    directory = Path(tempfile.mkdtemp(prefix="tenure-bench-"))
    directory.chmod(0o711)
    uri.measure()
    uri_patterns.measure()
    console = start_console(directory / "home")
    try:
        wait_ready(console)
        _measure(console)
    finally:
        console.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _measure(console: Console) -> None:
    client = console.client()
    demonstration.measure_start(client)
    demonstration.measure(console, client)
    os.environ.update(console.runtime(), DJANGO_SETTINGS_MODULE="console.settings")
    django.setup()
    contract.measure(console.runtime()["TENURE_DATABASE_API_URL"])


if __name__ == "__main__":
    main()
