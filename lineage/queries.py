"""SQL that walks the accesses (which program fed which dataset), and roll-ups of runs."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, F, Q, Sum, Window
from django.db.models.functions import RowNumber

from lineage.models import Pipeline, Run, RunState
from lineage.models.runs import ACTIVE, RunQuerySet
from namespaces.principals import Principal
from registry.models import Snapshot

Ref = tuple[str, str]
"""A dataset as (namespace, name)."""


@dataclass(frozen=True)
class Flow:
    """That a program's task read or wrote a dataset, with when it last did and in which run."""

    pipeline: str
    task: str
    dataset: Ref
    access: str
    last_at: datetime.datetime
    last_run: int

    @property
    def program(self) -> Ref:
        """The task as (pipeline path, task)."""
        return (self.pipeline, self.task)

    @property
    def reads(self) -> bool:
        """Whether data flowed from the dataset to the program."""
        return self.access in ("read", "read_write")

    @property
    def writes(self) -> bool:
        """Whether data flowed from the program to the dataset."""
        return self.access in ("write", "read_write")


_FLOWS = """
    WITH frontier(namespace, name) AS (SELECT * FROM unnest(%s::text[], %s::text[])),
    touched AS (
        SELECT DISTINCT event.pipeline, event.task
        FROM namespaces_auditevent event
        JOIN frontier ON event.namespace = frontier.namespace AND event.target = frontier.name
        WHERE event.target_kind = 'dataset' AND event.access <> '' AND event.outcome = 'allowed'
          AND event.pipeline <> ''
    )
    SELECT event.pipeline, event.task, event.namespace, event.target, event.access,
           max(event.at), max(event.run)
    FROM namespaces_auditevent event
    JOIN touched ON event.pipeline = touched.pipeline AND event.task = touched.task
    WHERE event.access <> '' AND event.outcome = 'allowed'
    GROUP BY event.pipeline, event.task, event.namespace, event.target, event.access
"""


def flows_around(datasets: Iterable[Ref]) -> list[Flow]:
    """Every flow of the programs that touched any of these datasets. One query."""
    refs = sorted(set(datasets))
    with connection.cursor() as cursor:
        cursor.execute(_FLOWS, [[ref[0] for ref in refs], [ref[1] for ref in refs]])
        return [
            Flow(pipeline, task, (namespace, target), access, last_at, last_run)
            for pipeline, task, namespace, target, access, last_at, last_run in cursor.fetchall()
        ]


def troubled_runs(principal: Principal, since: datetime.datetime) -> RunQuerySet:
    """Runs that failed since then and are their pipeline's latest, and lost ones that are being retried."""
    latest = Run.objects.visible_to(principal).filter(number=F("pipeline__last_run_number"))
    failed = Q(state=RunState.FAILED, finished_at__gte=since)
    return latest.filter(failed | Q(state__in=ACTIVE, attempt__gt=1)).with_facts()


def run_totals(principal: Principal, since: datetime.datetime) -> dict[str, int]:
    """Runs created since then: all of them and by state. One query."""
    runs = Run.objects.visible_to(principal).filter(created_at__gte=since)
    states = {state.value: Count("pk", filter=Q(state=state)) for state in RunState}
    return runs.aggregate(all=Count("pk"), **states)


def last_runs(pipelines: Iterable[Pipeline], count: int) -> dict[int, list[Run]]:
    """The newest runs of each pipeline, oldest first, by the pipeline's key. One query."""
    numbered = Run.objects.filter(pipeline__in=[each.pk for each in pipelines]).annotate(
        place=Window(RowNumber(), partition_by="pipeline", order_by="-pk")
    )
    found: dict[int, list[Run]] = {}
    for run in numbered.filter(place__lte=count).defer("error").order_by("pk"):
        found.setdefault(run.pipeline_id, []).append(run)
    return found


def rows_written(run: Run) -> dict[str, int]:
    """How many rows each task of a run committed. One query."""
    pipeline = f"{run.pipeline.namespace.name}/{run.pipeline.name}"
    snapshots = Snapshot.objects.filter(
        dataset__namespace=run.pipeline.namespace, pipeline=pipeline, run=run.number
    )
    return dict(snapshots.values_list("task").annotate(Sum("added_rows")).order_by())
