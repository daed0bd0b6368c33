"""Runs: numbered, claimed once, reported, cancelled, lost and tried again."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from lineage.database import DirectDatabase
from lineage.models import LogLine, Pipeline, Run, RunState, TaskRun
from lineage.services import driving, runs
from lineage.services.runs import move_run, start_scheduled_runs, sweep_runs
from lineage.services.schedules import next_time
from namespaces.models import AuditEvent
from namespaces.principals import principal_of
from namespaces.tokens import Work, WorkToken, read_token
from tenure import database as contract
from tenure.errors import Conflict, InvalidPipeline
from tests.asking import assert_problem, at_once

NOW = "2026-11-20T10:00:00+00:00"
RUNS = "/api/v1/namespaces/flights/pipelines/delays/runs"
NOTHING = contract.Nothing()


def report(database: DirectDatabase, task: str, *states: str) -> None:
    """Report the moves of a task."""
    for state in states:
        database.call(contract.REPORT_TASK, contract.TaskReport(task, state, NOW))


def states(run: Run) -> dict[str, str]:
    """The state of each task of the newest attempt."""
    return {row.task: row.state for row in TaskRun.objects.filter(run=run, attempt=run.attempt)}


def silent(run: Run, seconds: float) -> None:
    """As if nobody had heard of it for some time."""
    Run.objects.filter(pk=run.pk).update(woken_at=timezone.now() - datetime.timedelta(seconds=seconds))


def fresh(run: Run) -> Run:
    """The row as it is now."""
    return Run.objects.select_related("pipeline__namespace", "version", "owner").get(pk=run.pk)


def claimed(run: Run, worker: str = "worker:1") -> DirectDatabase:
    """Claim this attempt of the run and drive it."""
    DirectDatabase(WorkToken(Work.CLAIM, run.pk, run.attempt)).call(
        contract.CLAIM_RUN, contract.ClaimRun(worker)
    )
    return DirectDatabase(WorkToken(Work.RUN, run.pk, run.attempt))


# --- What the sweep may take for lost -----------------------------------------------------------


def test_a_heartbeat_that_came_since_the_sweep_looked_saves_the_run(running: Run) -> None:
    silent(running, 60)
    seen = fresh(running)
    driving.heartbeat(running)
    assert not runs._lose(seen)
    assert fresh(running).state == "running"


def test_a_run_that_is_only_given_back_comes_to_an_end(running: Run) -> None:
    Run.objects.filter(pk=running.pk).update(attempt=runs.MOST_ATTEMPTS, max_attempts=99)
    driving.release_run(fresh(running), "the worker was stopped")
    assert fresh(running).state == "failed"
    assert "given back" in fresh(running).error


def test_the_time_limit_is_the_runs_and_not_each_attempts(run: Run, settings: Any) -> None:
    settings.TENURE_RUN_TIMEOUT_SECONDS = 100.0
    Run.objects.filter(pk=run.pk).update(started_at=timezone.now() - datetime.timedelta(seconds=60))
    assert 30 < driving.claim_run(fresh(run), "worker:1").timeout_seconds < 41


# --- Starting and claiming ---------------------------------------------------------------------


def test_a_run_is_pinned_to_its_version(api: Callable[..., APIClient], alice: User, delays: Pipeline) -> None:
    answer = api(alice).post(RUNS)
    assert answer.status_code == 201
    assert answer["Location"] == f"{RUNS}/1"
    body = answer.json()
    assert (body["number"], body["version"], body["state"], body["owner"]) == (1, 1, "queued", "alice")
    assert {task["task"]: task["state"] for task in body["tasks"]} == {
        "ingest": "waiting",
        "average": "waiting",
    }


@pytest.mark.django_db(transaction=True)
def test_runs_started_at_once_are_numbered_without_a_gap(alice: User, delays: Pipeline) -> None:
    results = at_once(*[lambda: runs.start_run(principal_of(alice), delays)] * 5)
    assert sorted(each.number for each in results if isinstance(each, Run)) == [1, 2, 3, 4, 5]


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_gets_the_run(run: Run) -> None:
    def claim(name: str) -> Callable[[], Any]:
        return lambda: driving.claim_run(fresh(run), name)

    results = at_once(*[claim(f"worker:{n}") for n in range(4)])
    assert sum(isinstance(each, contract.ClaimedRun) for each in results) == 1
    assert sum(isinstance(each, Conflict) for each in results) == 3


def test_the_worker_that_has_it_may_ask_again(run: Run) -> None:
    claimed(run)
    claimed(run)
    with pytest.raises(Conflict, match="is running and not to be had"):
        claimed(run, "worker:2")
    assert fresh(run).state == "running"


def test_a_claim_of_an_ended_run_is_refused(alice: User, run: Run) -> None:
    runs.cancel_run(principal_of(alice), run)
    with pytest.raises(Conflict, match="cancelled"):
        claimed(run)


@pytest.mark.parametrize("state", RunState.values)
@pytest.mark.parametrize("target", RunState.values)
def test_a_run_moves_as_the_table_of_moves_says_and_not_otherwise(run: Run, state: str, target: str) -> None:
    Run.objects.filter(pk=run.pk).update(state=state)
    allowed = target in Run.MOVES.get(state, frozenset())
    assert move_run(fresh(run), target) is allowed
    assert fresh(run).state == (target if allowed else state)


def test_a_move_from_a_state_that_is_past_is_refused(running: Run) -> None:
    old = fresh(running)
    Run.objects.filter(pk=running.pk).update(attempt=2)
    assert not move_run(old, RunState.SUCCEEDED)
    assert fresh(running).state == "running"


# --- Driving -------------------------------------------------------------------------------------


def test_reports_that_come_late_or_twice_change_nothing(driver: DirectDatabase, running: Run) -> None:
    report(driver, "ingest", "running", "running", "succeeded", "failed", "running", "succeeded")
    report(driver, "average", "running", "failed", "succeeded")
    assert states(running) == {"ingest": "succeeded", "average": "failed"}


def test_who_says_succeeded_too_early_has_failed(driver: DirectDatabase, running: Run) -> None:
    report(driver, "ingest", "running", "succeeded")
    driver.call(contract.FINISH_RUN, contract.FinishRun("succeeded"))
    ended = fresh(running)
    assert ended.state == "failed"
    assert "average" in ended.error
    assert states(running) == {"ingest": "succeeded", "average": "skipped"}


def test_a_batch_of_lines_sent_twice_is_stored_once(driver: DirectDatabase) -> None:
    lines = [contract.LogLine(NOW, "ingest", "info", f"line {n}") for n in range(3)]
    for first in (0, 0, 1):
        driver.call(contract.APPEND_LOG, contract.LogBatch(first, lines))
    stored = list(LogLine.objects.order_by("number").values_list("number", "text"))
    assert stored == [(0, "line 0"), (1, "line 1"), (2, "line 2"), (3, "line 2")]


def test_a_log_that_is_too_long_ends_with_a_word_about_it(driver: DirectDatabase, settings: Any) -> None:
    settings.TENURE_MAX_LOG_LINES = 5
    lines = [contract.LogLine(NOW, "ingest", "info", "x" * 9000)] * 4
    for first in (0, 4, 8, 10**12):
        driver.call(contract.APPEND_LOG, contract.LogBatch(first, lines))
    stored = list(LogLine.objects.order_by("number"))
    assert len(stored) == 6
    assert "ends here" in stored[-1].text
    assert len(stored[0].text) == driving.MAX_LINE


def test_a_heartbeat_keeps_it_alive_and_tells_it_to_stop(
    alice: User, driver: DirectDatabase, running: Run
) -> None:
    silent(running, 60)
    assert driver.call(contract.HEARTBEAT, NOTHING).stop == ""
    assert sweep_runs() == 0
    runs.cancel_run(principal_of(alice), fresh(running))
    assert driver.call(contract.HEARTBEAT, NOTHING).stop == "cancelled"


# --- Cancelling --------------------------------------------------------------------------------


def test_a_queued_run_is_cancelled_at_once(api: Callable[..., APIClient], alice: User, run: Run) -> None:
    body = api(alice).post(f"{RUNS}/1/cancel").json()
    assert body["state"] == "cancelled"
    assert {task["state"] for task in body["tasks"]} == {"cancelled"}
    assert_problem(api(alice).post(f"{RUNS}/1/cancel"), 409, "already cancelled")


def test_a_running_one_is_asked(
    api: Callable[..., APIClient], alice: User, driver: DirectDatabase, run: Run
) -> None:
    body = api(alice).post(f"{RUNS}/1/cancel")
    assert (body.status_code, body.json()["state"]) == (202, "running")
    assert body.json()["cancel_requested_at"]
    report(driver, "ingest", "running")
    driver.call(contract.FINISH_RUN, contract.FinishRun("cancelled"))
    assert fresh(run).state == "cancelled"
    assert set(states(run).values()) == {"cancelled"}


def test_one_that_was_asked_to_stop_and_is_lost_is_cancelled(alice: User, running: Run) -> None:
    runs.cancel_run(principal_of(alice), running)
    silent(running, 60)
    assert sweep_runs() == 1
    assert fresh(running).state == "cancelled"


# --- Lost and found ----------------------------------------------------------------------------


def test_a_lost_run_is_tried_again_from_its_first_unfinished_task(
    driver: DirectDatabase, running: Run
) -> None:
    report(driver, "ingest", "running", "succeeded")
    report(driver, "average", "running")
    silent(running, 60)
    assert sweep_runs() == 1
    lost = fresh(running)
    assert (lost.state, lost.attempt) == ("queued", 2)
    assert states(lost) == {"average": "waiting"}
    assert TaskRun.objects.get(run=running, attempt=1, task="average").state == "failed"
    assert AuditEvent.objects.get(action="lineage:run:lost").detail["attempt"] == 2
    second = claimed(lost)
    assert second.call(contract.LOAD_RUN, NOTHING).finished_tasks == ["ingest"]
    report(second, "average", "running", "succeeded")
    second.call(contract.FINISH_RUN, contract.FinishRun("succeeded"))
    assert fresh(running).state == "succeeded"
    assert [row.task for row in driving.latest_task_runs(fresh(running))] == ["ingest", "average"]


def test_a_run_whose_retries_are_used_up_fails_and_says_so(running: Run) -> None:
    silent(running, 60)
    sweep_runs()
    again = fresh(running)
    claimed(again)
    silent(again, 60)
    assert sweep_runs() == 1
    ended = fresh(running)
    assert ended.state == "failed"
    assert "attempt 2 of 2" in ended.error
    assert "worker:1" in ended.error
    assert sweep_runs() == 0


def test_giving_a_run_back_uses_up_no_retry(driver: DirectDatabase, running: Run) -> None:
    driver.call(contract.RELEASE_RUN, contract.ReleaseRun("the worker stops"))
    back = fresh(running)
    assert (back.state, back.attempt, back.max_attempts) == ("queued", 2, 3)
    assert back.error == "the worker stops"


def test_a_queued_run_that_nobody_took_is_called_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(runs, "wake", lambda task, token: sent.append((task, token)))
    assert sweep_runs() == 0
    silent(run, 60)
    assert sweep_runs() == 1
    assert sweep_runs() == 0
    ((task, token),) = sent
    assert task == "tenure.run"
    assert read_token(token) == WorkToken(Work.CLAIM, run.pk, 1)


@pytest.mark.django_db(transaction=True)
def test_two_sweeps_at_once_lose_a_run_once(running: Run) -> None:
    silent(running, 60)
    assert sorted(int(each) for each in at_once(sweep_runs, sweep_runs) if isinstance(each, int)) == [0, 1]
    assert fresh(running).attempt == 2
    assert TaskRun.objects.filter(run=running, attempt=2).count() == 2


# --- Schedules -----------------------------------------------------------------------------------


def at(text: str) -> datetime.datetime:
    """A time in UTC."""
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        ("@hourly", "2026-11-20T10:30:15.5", "2026-11-20T11:00:00"),
        ("@daily", "2026-11-20T10:30:00", "2026-11-21T00:00:00"),
        ("@daily", "2026-11-21T00:00:00", "2026-11-22T00:00:00"),
        ("@daily", "2026-12-31T23:59:59", "2027-01-01T00:00:00"),
        ("@weekly", "2026-11-20T10:30:00", "2026-11-22T00:00:00"),
        ("@monthly", "2026-11-20T10:30:00", "2026-12-01T00:00:00"),
        ("*/15 6-8 * * 1-5", "2026-11-20T08:50:00", "2026-11-23T06:00:00"),
        ("0 0 29 2 *", "2026-11-20T00:00:00", "2028-02-29T00:00:00"),
    ],
)
def test_a_schedule_is_due_in_utc(schedule: str, after: str, expected: str) -> None:
    assert next_time(schedule, at(after)) == at(expected)


@pytest.mark.parametrize(
    "schedule",
    [
        "@yearly",
        "daily",
        "* * * *",
        "* * * * * *",
        "61 * * * *",
        "0 0 31 2 *",
        "*/0 * * * *",
        "a b c d e",
        " ",
    ],
)
def test_a_schedule_that_never_comes_is_refused(schedule: str) -> None:
    with pytest.raises(InvalidPipeline, match="schedule="):
        next_time(schedule, at("2026-11-20T10:00:00"))


@pytest.fixture
def due(delays: Pipeline) -> Pipeline:
    """A pipeline whose hourly run was due three days ago."""
    Pipeline.objects.filter(pk=delays.pk).update(
        schedule="@hourly", next_run_at=timezone.now() - datetime.timedelta(days=3)
    )
    delays.refresh_from_db()
    return delays


def test_what_was_missed_becomes_one_run(due: Pipeline) -> None:
    slot = due.next_run_at
    assert start_scheduled_runs() == 1
    assert start_scheduled_runs() == 0
    run = Run.objects.get()
    assert (run.trigger, run.scheduled_for, run.started_by) == ("schedule", slot, "tenure")
    due.refresh_from_db()
    assert due.next_run_at and due.next_run_at > timezone.now()


@pytest.mark.django_db(transaction=True)
def test_two_clocks_start_one_run_for_a_slot(due: Pipeline) -> None:
    counts = at_once(*[start_scheduled_runs] * 3)
    assert sorted(int(each) for each in counts if isinstance(each, int)) == [0, 0, 1]
    assert Run.objects.count() == 1


def test_a_pipeline_without_a_schedule_never_starts_by_itself(delays: Pipeline) -> None:
    assert delays.next_run_at is None
    assert start_scheduled_runs() == 0
