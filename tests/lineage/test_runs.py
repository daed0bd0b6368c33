"""Runs: claimed once, reported, cancelled, lost and tried again."""

from __future__ import annotations

from lineage.models import Run


def test_a_claimed_run_is_running(running: Run) -> None:
    assert running.state == "running"
    assert running.tasks.count() == 2
