"""A call of the database contract in isolation mode against the same call in direct mode."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from tenure.database import HEARTBEAT, Database, IsolatedDatabase, Nothing

CALLS = 300


def measure(database_api_url: str) -> None:
    """Heartbeats of one claimed run, by both modes in turn."""
    direct, isolated = _databases(database_api_url)
    pairs = [(_seconds(lambda: _beat(isolated)), _seconds(lambda: _beat(direct))) for _ in range(CALLS)]
    over_http, in_process = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
    ratio = over_http / in_process
    print(f"contract: isolated {over_http:.2f} ms, direct {in_process:.2f} ms a call, ratio {ratio:.2f}")


def _beat(database: Database) -> None:
    database.call(HEARTBEAT, Nothing())


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _databases(url: str) -> tuple[Database, Database]:
    """Both clients of a run that nobody executes: it is claimed here and given up at the end."""
    from lineage.database import DirectDatabase
    from lineage.models import Run
    from lineage.services.driving import claim_run
    from namespaces.tokens import Work, WorkToken

    run = Run.objects.select_related("pipeline__namespace", "version").order_by("-pk").first()
    assert run is not None
    copy = Run.objects.create(
        pipeline=run.pipeline, version=run.version, number=run.number + 1_000_000, started_by="bench"
    )
    token = claim_run(copy, "bench").token
    return DirectDatabase(WorkToken(Work.RUN, copy.pk, copy.attempt)), IsolatedDatabase(url, token)
