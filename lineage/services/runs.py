"""Runs as people move them: starting, cancelling, schedules, and finding those that were lost."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from lineage.models import Pipeline, Run, RunState, TaskRun, TaskState
from lineage.models.runs import ACTIVE, Trigger
from lineage.services.schedules import next_time
from namespaces.alarm import wake, wake_on_commit
from namespaces.models import Action, Level, Outcome
from namespaces.principals import SYSTEM, Principal, RunScope, principal_of
from namespaces.services.audit import record
from namespaces.services.grants import require
from namespaces.tokens import Work, WorkToken
from tenure.errors import Conflict, InvalidInput, NotFound

logger = logging.getLogger(__name__)

WAKE_AGAIN_SECONDS = 30.0
MOST_ATTEMPTS = 50
"""Of any run, given back or lost: a worker that only takes and returns it must come to an end."""


def get_run(principal: Principal, namespace: str, pipeline: str, number: int) -> Run:
    """The run with its facts, or `NotFound` when there is none that the principal may see."""
    runs = Run.objects.visible_to(principal).with_facts()
    run = runs.filter(pipeline__namespace__name=namespace, pipeline__name=pipeline, number=number).first()
    if run is None:
        raise NotFound(f"There is no run {number} of pipeline {pipeline!r} in namespace {namespace!r}.")
    return run


def start_run(actor: Principal, pipeline: Pipeline) -> Run:
    """Start a run of the current version; it acts for the pipeline's owner. Each call starts another."""
    require(actor, Level.WRITE, pipeline.namespace)
    return _create_run(actor, pipeline.pk, Trigger.MANUAL, None)


@transaction.atomic
def _create_run(
    actor: Principal, pipeline_id: int, trigger: str, scheduled_for: datetime.datetime | None
) -> Run:
    # The lock hands out run numbers and keeps the version from changing under the new run.
    # Related rows are read after it: a join would show them as they were before the wait.
    pipeline = Pipeline.objects.select_for_update().get(pk=pipeline_id)
    version = pipeline.current_version
    if version is None:
        raise Conflict(f"Pipeline {pipeline.name!r} has no version yet: deploy its file first.")
    pipeline.last_run_number += 1
    pipeline.save(update_fields=["last_run_number"])
    run = Run.objects.create(
        pipeline=pipeline,
        version=version,
        number=pipeline.last_run_number,
        trigger=trigger,
        scheduled_for=scheduled_for,
        started_by=actor.name,
        owner_id=pipeline.owner_id,
        max_attempts=pipeline.retries + 1,
    )
    add_task_runs(run, [task["name"] for task in version.graph["tasks"]])
    record_run(actor, Action.RUN_STARTED, run, detail={"version": version.number, "trigger": trigger})
    wake_on_commit("tenure.run", claim_token(run))
    return run


def add_task_runs(run: Run, tasks: list[str]) -> None:
    """The rows of the tasks of this attempt, all waiting."""
    TaskRun.objects.bulk_create(TaskRun(run=run, attempt=run.attempt, task=task) for task in tasks)


def claim_token(run: Run) -> str:
    """What travels through the queue: good for claiming this attempt and nothing else."""
    return WorkToken(Work.CLAIM, run.pk, run.attempt).sign()


def record_run(
    actor: Principal,
    action: Action,
    run: Run,
    *,
    outcome: Outcome = Outcome.ALLOWED,
    detail: dict[str, Any] | None = None,
) -> None:
    """Record an event of a run."""
    record(
        actor,
        action,
        "run",
        f"{run.pipeline.name}/{run.number}",
        namespace=run.pipeline.namespace.name,
        outcome=outcome,
        detail={"attempt": run.attempt, **(detail or {})},
    )


def principal_of_run(run: Run, task: str | None = None) -> Principal:
    """The run as a principal: its owner's grants, as far as its version's graph, or one task of it, reaches.

    A later deployment by somebody else changes whom later runs act for, not this one.
    """
    tasks = [each for each in run.version.graph["tasks"] if task is None or each["name"] == task]
    if not tasks:
        raise InvalidInput(f"Version {run.version.number} of {run.pipeline} has no task {task!r}.")
    scope = RunScope(
        pipeline=str(run.pipeline),
        run=run.number,
        attempt=run.attempt,
        namespace=run.pipeline.namespace.name,
        reads=frozenset(name for each in tasks for name in each["reads"]),
        writes=frozenset(name for each in tasks for name in each["writes"]),
    )
    owner = run.owner
    if owner is None or not owner.is_active:
        raise Conflict(
            f"Whoever run {run} acts for is gone: deploy the pipeline again and start another run."
        )
    return principal_of(owner).confined_to(scope)


def move_run(run: Run, state: str, **changes: Any) -> bool:
    """Move to `state` if the run is still in the state and attempt read before; False if it is not."""
    if state not in Run.MOVES.get(run.state, frozenset()):
        return False
    changed = Run.objects.filter(pk=run.pk, state=run.state, attempt=run.attempt).update(
        state=state, woken_at=timezone.now(), **changes
    )
    if changed:
        run.refresh_from_db(
            fields=["state", "attempt", "max_attempts", "error", "started_at", "finished_at", "worker"]
        )
    return bool(changed)


@transaction.atomic
def cancel_run(actor: Principal, run: Run) -> Run:
    """Cancel: at once while queued; a running one is asked to stop and does so within seconds."""
    require(actor, Level.WRITE, run.pipeline.namespace)
    if run.ended:
        raise Conflict(f"Run {run.number} has already {run.state}.")
    ended = run.state == RunState.QUEUED and end_run(
        run, RunState.CANCELLED, f"Cancelled by {actor.name} before it started."
    )
    active = Run.objects.filter(pk=run.pk, state__in=ACTIVE, cancel_requested_at=None)
    asked = active.update(cancel_requested_at=timezone.now())
    run.refresh_from_db(fields=["state", "cancel_requested_at", "finished_at", "error"])
    if ended or asked:
        record_run(actor, Action.RUN_CANCELLED, run)
    return run


@transaction.atomic
def end_run(run: Run, state: str, error: str = "") -> bool:
    """Move the run to its last state, and with it the tasks that will not go on."""
    now = timezone.now()
    if not move_run(run, state, error=error[:20_000], finished_at=now):
        return False
    tasks = TaskRun.objects.filter(run=run, attempt=run.attempt)
    cancelled = state == RunState.CANCELLED
    tasks.filter(state=TaskState.RUNNING).update(
        state=TaskState.CANCELLED if cancelled else TaskState.FAILED, finished_at=now
    )
    tasks.filter(state=TaskState.WAITING).update(
        state=TaskState.CANCELLED if cancelled else TaskState.SKIPPED
    )
    outcome = Outcome.ALLOWED if state == RunState.SUCCEEDED else Outcome.FAILED
    record_run(SYSTEM, Action.RUN_FINISHED, run, outcome=outcome, detail={"state": state})
    return True


@transaction.atomic
def retry_run(run: Run, reason: str, *, counts: bool) -> bool:
    """Another attempt from the first unfinished task; `counts` says whether it uses up a retry."""
    finished = finished_tasks(run)
    moved = move_run(
        run,
        RunState.QUEUED,
        attempt=F("attempt") + 1,
        max_attempts=F("max_attempts") + (0 if counts else 1),
        worker="",
        error=reason,
    )
    if not moved:
        return False
    lost = TaskRun.objects.filter(run=run, attempt=run.attempt - 1)
    lost.filter(state=TaskState.RUNNING).update(
        state=TaskState.FAILED, error=reason, finished_at=timezone.now()
    )
    lost.filter(state=TaskState.WAITING).update(state=TaskState.SKIPPED)
    add_task_runs(run, [task["name"] for task in run.version.graph["tasks"] if task["name"] not in finished])
    action, outcome = (Action.RUN_LOST, Outcome.FAILED) if counts else (Action.RUN_RELEASED, Outcome.ALLOWED)
    record_run(SYSTEM, action, run, outcome=outcome, detail={"reason": reason})
    wake_on_commit("tenure.run", claim_token(run))
    return True


def finished_tasks(run: Run) -> set[str]:
    """Tasks that succeeded in any attempt: they are not run again."""
    done = TaskRun.objects.filter(run=run, state=TaskState.SUCCEEDED)
    return set(done.values_list("task", flat=True))


def sweep_runs() -> int:
    """Find runs whose worker was lost, and call again for those that nobody claimed; returns how many."""
    now = timezone.now()
    silent_since = now - datetime.timedelta(seconds=settings.TENURE_LOST_AFTER_SECONDS)
    related = Run.objects.select_related("pipeline__namespace", "version")
    lost = related.filter(state=RunState.RUNNING, woken_at__lt=silent_since)
    moved = sum(_guarded(_lose, run) for run in lost)
    waiting_since = now - datetime.timedelta(seconds=WAKE_AGAIN_SECONDS)
    for run in related.filter(state=RunState.QUEUED, woken_at__lt=waiting_since):
        moved += Run.objects.filter(pk=run.pk, state=RunState.QUEUED, woken_at=run.woken_at).update(
            woken_at=now
        )
        wake("tenure.run", claim_token(run))
    return moved


def _guarded(verb: Callable[[Run], bool], run: Run) -> bool:
    """One run that cannot be moved must not keep the sweep from the others."""
    try:
        return verb(run)
    except Exception:
        logger.exception("run %s could not be moved by the sweep", run)
        return False


@transaction.atomic
def _lose(run: Run) -> bool:
    # A heartbeat may have come since the sweep looked; the lock makes a later one wait for the verdict.
    silent = Run.objects.select_for_update().filter(pk=run.pk, woken_at=run.woken_at, state=run.state)
    if not silent.exists():
        return False
    reason = f"The worker {run.worker or 'of attempt ' + str(run.attempt)} was lost: no sign of life from it."
    if run.cancel_requested_at is not None:
        return end_run(run, RunState.CANCELLED, "Cancelled; its worker was lost before it could stop.")
    if run.attempt < run.max_attempts:
        return retry_run(run, reason, counts=True)
    return end_run(run, RunState.FAILED, f"{reason} It was attempt {run.attempt} of {run.max_attempts}.")


def start_scheduled_runs() -> int:
    """Start the runs that are due; what was missed while nobody looked becomes one run. Returns how many."""
    due = Pipeline.objects.filter(next_run_at__lte=timezone.now()).values_list("pk", flat=True)
    return sum(_start_due(pipeline_id) for pipeline_id in due)


@transaction.atomic
def _start_due(pipeline_id: int) -> bool:
    now = timezone.now()
    locked = Pipeline.objects.select_for_update(of=("self",), skip_locked=True)
    pipeline = locked.filter(pk=pipeline_id, next_run_at__lte=now).first()
    if pipeline is None:
        return False
    scheduled_for = pipeline.next_run_at
    pipeline.next_run_at = next_time(pipeline.schedule, now)
    pipeline.save(update_fields=["next_run_at"])
    _create_run(SYSTEM, pipeline.pk, Trigger.SCHEDULE, scheduled_for)
    return True
