"""What the page of a run shows and asks for again while the run is active."""

from __future__ import annotations

from typing import Any

from lineage.models import LogLine, Run
from lineage.pictures import run_drawing, times
from lineage.queries import rows_written
from lineage.services.driving import latest_task_runs

LOG_LINES = 500


def live_context(run: Run, after: int = 0) -> dict[str, Any]:
    """Graph, times and the log lines past `after` (a line's key; 0 for the newest ones). Four queries."""
    tasks = latest_task_runs(run)
    lines = newest_lines(run, after)
    return {
        "drawing": run_drawing(run, run.version.parsed_graph(), tasks, rows_written(run)),
        "times": times(run, tasks),
        "failures": [task for task in tasks if task.error],
        "lines": lines,
        "cut": not after and len(lines) == LOG_LINES,
        "after": lines[-1].pk if lines else after,
    }


def newest_lines(run: Run, after: int) -> list[LogLine]:
    """The newest lines of all attempts past a key, oldest first."""
    return list(run.log.filter(pk__gt=after).order_by("-pk")[:LOG_LINES])[::-1]
