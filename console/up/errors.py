"""How starting fails: with one sentence that says what to do."""

from __future__ import annotations


class CannotStart(Exception):
    """The console cannot be brought up; the text is the one sentence for the person at the terminal."""


class Stopping(Exception):
    """Somebody asked to stop while the console was starting; nothing is wrong."""
