"""Runs as their driver and worker move them: claiming, reporting, logging and finishing."""

from __future__ import annotations

import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from lineage.models import LogLine, Run, RunState, TaskRun, TaskState
from lineage.services.runs import (
    MOST_ATTEMPTS,
    end_run,
    finished_tasks,
    move_run,
    principal_of_run,
    retry_run,
)
from namespaces.tokens import Work, WorkToken
from registry.models import Dataset
from tenure import database as contract
from tenure.errors import Conflict, InvalidInput, NotAuthenticated

MAX_LINE = 8000
MAX_ERROR = 20_000
MAX_BATCH = 1000
LEVELS = frozenset({"info", "warning", "error"})


def find_run(work: WorkToken) -> Run:
    """The run that a token names, if this attempt of it is alive; else `NotAuthenticated`."""
    runs = Run.objects.select_related("pipeline__namespace", "owner", "version").defer("version__source")
    run = runs.filter(pk=work.id, attempt=work.attempt).first()
    if run is None or (work.work == Work.RUN and run.state != RunState.RUNNING):
        raise NotAuthenticated("The token is spent: this attempt of the run is over.")
    return run


def claim_run(run: Run, worker: str) -> contract.ClaimedRun:
    """Take a queued run; the same worker may ask again. `Conflict` when another has it or it is over."""
    worker = plain_text(worker, 200)
    claimed = move_run(run, RunState.RUNNING, worker=worker, started_at=run.started_at or timezone.now())
    if not claimed:
        run.refresh_from_db(fields=["state", "attempt", "worker"])
    if run.state != RunState.RUNNING or run.worker != worker:
        raise Conflict(f"Run {run} attempt {run.attempt} is {run.state} and not to be had.")
    return contract.ClaimedRun(
        token=WorkToken(Work.RUN, run.pk, run.attempt).sign(),
        namespace=run.pipeline.namespace.name,
        pipeline=run.pipeline.name,
        run=run.number,
        attempt=run.attempt,
        heartbeat_seconds=settings.TENURE_HEARTBEAT_SECONDS,
        timeout_seconds=_seconds_left(run),
    )


def _seconds_left(run: Run) -> float:
    """The time limit is the run's: what earlier attempts took is gone."""
    started = run.started_at or timezone.now()
    taken = (timezone.now() - started).total_seconds()
    limit: float = settings.TENURE_RUN_TIMEOUT_SECONDS
    return max(1.0, limit - taken)


def heartbeat(run: Run) -> contract.HeartbeatAnswer:
    """Note that the worker lives, and tell it whether to stop."""
    Run.objects.filter(pk=run.pk, state=RunState.RUNNING, attempt=run.attempt).update(woken_at=timezone.now())
    return contract.HeartbeatAnswer(stop="cancelled" if run.cancel_requested_at else "")


def load_run(run: Run) -> contract.RunPlan:
    """Everything that the driver needs to know."""
    graph = run.version.parsed_graph()
    namespace = run.pipeline.namespace.name
    visible = Dataset.objects.visible_to(principal_of_run(run)).select_related("specification")
    return contract.RunPlan(
        namespace=namespace,
        pipeline=run.pipeline.name,
        version=run.version.number,
        run=run.number,
        attempt=run.attempt,
        owner=run.owner.username if run.owner else "",
        source=run.version.source,
        graph=graph,
        finished_tasks=sorted(finished_tasks(run)),
        catalog_url=settings.TENURE_CATALOG_URL,
        datasets=[opened(dataset, namespace) for dataset in visible],
    )


def opened(dataset: Dataset, namespace: str) -> contract.OpenedDataset:
    """A dataset as the contract describes it."""
    specification = dataset.specification
    return contract.OpenedDataset(
        namespace=namespace,
        name=dataset.name,
        type=dataset.type,
        uri=dataset.uri,
        properties=specification.properties if specification else {},
    )


def report_task(run: Run, report: contract.TaskReport) -> None:
    """A task's move; reports that come late or twice change nothing."""
    if report.task not in {task["name"] for task in run.version.graph["tasks"]}:
        raise InvalidInput(f"Version {run.version.number} of {run.pipeline} has no task {report.task!r}.")
    at = _time(report.at)
    mine = TaskRun.objects.filter(run=run, attempt=run.attempt, task=report.task)
    if report.state == TaskState.RUNNING:
        mine.filter(state=TaskState.WAITING).update(state=report.state, started_at=at)
    elif report.state in (TaskState.SUCCEEDED, TaskState.FAILED, TaskState.SKIPPED):
        open_ones = mine.filter(state__in=(TaskState.WAITING, TaskState.RUNNING))
        finished = None if report.state == TaskState.SKIPPED else at
        open_ones.update(state=report.state, finished_at=finished, error=plain_text(report.error, MAX_ERROR))
    else:
        raise InvalidInput(f"A task cannot be reported as {report.state!r}.")


def append_log(run: Run, batch: contract.LogBatch) -> None:
    """Store lines; a batch sent twice is stored once, and a log that is too long ends with a word on it."""
    if len(batch.lines) > MAX_BATCH or batch.first < 0:
        raise InvalidInput(f"A batch holds up to {MAX_BATCH} lines and is numbered from 0.")
    limit = settings.TENURE_MAX_LOG_LINES
    rows = [
        LogLine(
            run=run,
            attempt=run.attempt,
            number=number,
            at=_time(line.at),
            task=plain_text(line.task, 63),
            level=line.level if line.level in LEVELS else "info",
            text=plain_text(line.text, MAX_LINE),
        )
        for number, line in enumerate(batch.lines, batch.first)
        if number <= limit
    ]
    for row in rows:
        if row.number == limit:
            row.level, row.text = "warning", f"The log ends here: {limit:,} lines are kept of one attempt."
    LogLine.objects.bulk_create(rows, ignore_conflicts=True)


@transaction.atomic
def finish_run(run: Run, finish: contract.FinishRun) -> None:
    """The driver's last word. It says `succeeded`; the rows of the tasks decide whether that is so."""
    if finish.state not in (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED):
        raise InvalidInput(f"A run cannot finish as {finish.state!r}.")
    if finish.state != RunState.SUCCEEDED:
        end_run(run, finish.state, plain_text(finish.error, MAX_ERROR))
        return
    unfinished = _unfinished(run)
    if unfinished:
        end_run(
            run, RunState.FAILED, f"The driver ended, but not these tasks: {', '.join(sorted(unfinished))}."
        )
    else:
        end_run(run, RunState.SUCCEEDED)


def _unfinished(run: Run) -> set[str]:
    return {task["name"] for task in run.version.graph["tasks"]} - finished_tasks(run)


def release_run(run: Run, reason: str) -> None:
    """The worker stops and gives the run back: it is tried again, at no cost to its retries."""
    if run.cancel_requested_at is not None:
        end_run(run, RunState.CANCELLED, "Cancelled.")
    elif run.attempt >= MOST_ATTEMPTS:
        end_run(run, RunState.FAILED, f"It was given back {run.attempt} times; see the worker's log.")
    else:
        retry_run(run, plain_text(reason, 500), counts=False)


def _time(text: str) -> datetime.datetime:
    try:
        at = parse_datetime(text)
        if at is not None and at.tzinfo is not None:
            # In UTC, so that what passes the calendar's end is refused and not stored.
            return at.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(f"{text[:100]!r} is no ISO 8601 time with a time zone.")


def plain_text(text: str, limit: int) -> str:
    """Up to `limit` characters of what a program printed, without those that Postgres cannot hold."""
    return text[:limit].encode(errors="replace").decode().replace("\x00", "�")


def latest_task_runs(run: Run) -> list[TaskRun]:
    """For each task its row of the newest attempt that had one, in the order of the graph."""
    rows = run.tasks.order_by("task", "-attempt").distinct("task")
    position = {
        name: index for index, name in enumerate(sorted(run.version.lines, key=run.version.lines.__getitem__))
    }
    return sorted(rows, key=lambda row: (position.get(row.task, 0), row.task))
