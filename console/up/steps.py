"""What a person at the terminal reads: one line for each step, with its duration."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def say(text: str = "") -> None:
    """One line, at once: the output may go to a file or a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def done(name: str, seconds: float) -> None:
    """The line of a finished step."""
    say(f"  {name:<44}{seconds:6.1f} s")


@contextmanager
def step(name: str) -> Iterator[None]:
    """Time a block; its line appears when it has ended well."""
    since = time.monotonic()
    yield
    done(name, time.monotonic() - since)
