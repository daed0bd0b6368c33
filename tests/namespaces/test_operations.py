"""Operations: claimed once, cancelled, swept, retried and failed with a reason."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from namespaces import alarm
from namespaces.models import AuditEvent, Namespace, Operation, OperationState
from namespaces.principals import principal_of
from namespaces.services import operations
from namespaces.services.operations import KINDS, OperationKind
from tenure.errors import Conflict, Forbidden, Unavailable
from tests.asking import assert_problem, at_once

WOKEN: list[int] = []


@pytest.fixture(autouse=True)
def kind() -> Iterator[OperationKind]:
    """A kind of operation that notes whom it wakes."""
    WOKEN.clear()
    KINDS["tidy"] = OperationKind(
        "tidy", lambda operation: WOKEN.append(operation.attempt), 60.0, max_attempts=2
    )
    yield KINDS["tidy"]
    del KINDS["tidy"]


@pytest.fixture
def operation(alice: User, flights: Namespace) -> Operation:
    """A queued operation of alice's."""
    return operations.start_operation(
        principal_of(alice), kind="tidy", namespace="flights", target="raw", input={"secret": "text"}
    )


def silent(operation: Operation, seconds: float) -> None:
    """As if nobody had heard of it for some time."""
    Operation.objects.filter(pk=operation.pk).update(
        woken_at=timezone.now() - datetime.timedelta(seconds=seconds)
    )


@pytest.mark.django_db(transaction=True)
def test_one_of_two_workers_gets_it(operation: Operation) -> None:
    for _ in range(5):
        Operation.objects.filter(pk=operation.pk).update(state="queued")
        claims = at_once(*[lambda: operations.claim_operation(operation.pk)] * 2)
        assert sum(claim is not None for claim in claims) == 1


@pytest.mark.django_db(transaction=True)
def test_its_worker_is_woken_when_it_is_committed(alice: User, flights: Namespace) -> None:
    from django.db import transaction

    with transaction.atomic():
        operations.start_operation(principal_of(alice), kind="tidy", namespace="flights", target="x")
        assert WOKEN == []
    assert WOKEN == [1]


def test_only_the_attempt_that_was_named_is_claimed(operation: Operation) -> None:
    assert operations.claim_operation(operation.pk, attempt=2) is None
    assert operations.claim_operation(operation.pk, attempt=1) is not None
    assert operations.claim_operation(operation.pk, attempt=1) is None


def test_progress_is_told_and_keeps_it_alive(operation: Operation) -> None:
    claimed = operations.claim_operation(operation.pk)
    assert claimed
    silent(claimed, 61)
    operations.report_progress(claimed, 3, 10, "three of ten")
    operation.refresh_from_db()
    assert (operation.progress, operation.total, operation.message) == (3, 10, "three of ten")
    assert operations.sweep_operations() == 0


def test_what_is_left_of_an_old_attempt_reports_nothing(operation: Operation) -> None:
    claimed = operations.claim_operation(operation.pk)
    assert claimed
    Operation.objects.filter(pk=operation.pk).update(attempt=2)
    operations.report_progress(claimed, 9, 10)
    assert not operations.succeed_operation(claimed, {})
    operation.refresh_from_db()
    assert (operation.progress, operation.state) == (0, "running")


def test_the_input_is_forgotten_at_each_end(operation: Operation, alice: User) -> None:
    ends: list[Callable[[Operation], Any]] = [
        lambda each: operations.succeed_operation(each, {"done": 1}),
        lambda each: operations.fail_operation(each, Unavailable("away")),
        lambda each: operations.cancel_operation(principal_of(alice), each),
    ]
    for end in ends:
        Operation.objects.filter(pk=operation.pk).update(
            state="running", input={"secret": "text"}, finished_at=None
        )
        operation.refresh_from_db()
        end(operation)
        operation.refresh_from_db()
        assert operation.input == {}
        assert operation.ended
        assert operation.finished_at


def test_a_lost_one_is_tried_again_and_then_fails_with_the_reason(operation: Operation) -> None:
    operations.claim_operation(operation.pk)
    silent(operation, 61)
    assert operations.sweep_operations() == 1
    operation.refresh_from_db()
    assert (operation.state, operation.attempt, WOKEN[-1]) == ("queued", 2, 2)
    operations.claim_operation(operation.pk)
    silent(operation, 61)
    assert operations.sweep_operations() == 1
    operation.refresh_from_db()
    assert operation.state == "failed"
    assert "in 2 attempts" in operation.error["detail"]
    event = AuditEvent.objects.get(action="namespaces:operation:failed")
    assert event.detail["reason"] == operation.error["detail"]
    assert operations.sweep_operations() == 0


def test_one_that_nobody_took_is_called_again_as_often_as_it_takes(operation: Operation) -> None:
    for _ in range(5):
        silent(operation, 61)
        assert operations.sweep_operations() == 1
    operation.refresh_from_db()
    assert (operation.state, operation.attempt) == ("queued", 1)
    assert len(WOKEN) >= 5
    assert "No worker has taken it" in operation.message
    claimed = operations.claim_operation(operation.pk)
    assert claimed and claimed.message == ""


def test_its_owner_cancels_it_once(api: Callable[..., APIClient], alice: User, operation: Operation) -> None:
    address = f"/api/v1/operations/{operation.pk}/cancel"
    assert api(alice).post(address).json()["state"] == "cancelled"
    assert_problem(api(alice).post(address), 409, "already cancelled")
    assert operations.claim_operation(operation.pk) is None
    assert AuditEvent.objects.filter(action="namespaces:operation:cancelled").count() == 1


def test_others_do_not_cancel_it(bob: User, admin: User, operation: Operation) -> None:
    with pytest.raises(Forbidden, match="alice"):
        operations.cancel_operation(principal_of(bob), operation)
    assert operations.cancel_operation(principal_of(admin), operation).state == "cancelled"


def test_what_would_stay_half_done_is_not_cancelled(alice: User, operation: Operation) -> None:
    KINDS["tidy"] = OperationKind("tidy", lambda each: None, can_cancel=False)
    with pytest.raises(Conflict, match="half done"):
        operations.cancel_operation(principal_of(alice), operation)


@pytest.mark.parametrize("state", OperationState.values)
@pytest.mark.parametrize("target", OperationState.values)
def test_it_moves_as_the_table_of_moves_says_and_not_otherwise(
    operation: Operation, state: str, target: str
) -> None:
    Operation.objects.filter(pk=operation.pk).update(state=state)
    operation.refresh_from_db()
    allowed = target in Operation.MOVES.get(state, frozenset())
    assert operations.move(operation, target) is allowed
    operation.refresh_from_db()
    assert operation.state == (target if allowed else state)


def test_a_broker_that_is_away_is_no_failure(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    from celery import current_app
    from kombu.exceptions import OperationalError

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("nobody there")

    monkeypatch.setattr(current_app, "send_task", refuse)
    alarm.wake("tenure.run", "token")
    assert "the sweep will" in caplog.text
    assert "token" not in caplog.text.replace("tenure.run", "")
