"""Operations: starting, moving, ending and finding those that were lost.

A kind of operation says how its worker is woken and how long it may be silent. Higher apps
register their kinds when they load, so that this module knows none of them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from namespaces.models import Action, Operation, OperationState, Outcome
from namespaces.models.operations import PENDING
from namespaces.principals import SYSTEM, Principal, PrincipalKind
from namespaces.services.audit import record
from tenure.errors import Conflict, Forbidden, NotFound, TenureError, Unavailable


@dataclass(frozen=True)
class OperationKind:
    """How one kind of operation runs: `wake` calls its worker, after `silence_seconds` it counts as lost.

    A kind that finishes what was begun elsewhere cannot be cancelled: it would stay half done.
    """

    name: str
    wake: Callable[[Operation], None]
    silence_seconds: float = 60.0
    max_attempts: int = 3
    can_cancel: bool = True


KINDS: dict[str, OperationKind] = {}


def register_kind(kind: OperationKind) -> None:
    """Make a kind known; called once by the app that owns it."""
    KINDS[kind.name] = kind


def get_operation(principal: Principal, operation_id: int) -> Operation:
    """The operation, or `NotFound`."""
    operation = Operation.objects.visible_to(principal).filter(pk=operation_id).first()
    if operation is None:
        raise NotFound(f"There is no operation {operation_id}.")
    return operation


def start_operation(
    actor: Principal, *, kind: str, namespace: str, target: str, input: dict[str, Any] | None = None
) -> Operation:
    """Create the row and wake its worker when the caller's transaction commits."""
    operation = Operation.objects.create(
        kind=kind,
        namespace=namespace,
        target=target,
        owner_id=actor.user_id,
        actor=actor.name,
        input=input or {},
    )
    transaction.on_commit(lambda: KINDS[kind].wake(operation))
    return operation


def refused_operation(
    actor: Principal, *, kind: str, namespace: str, target: str, error: TenureError
) -> Operation:
    """An operation that failed before it began: its input is not even stored."""
    now = timezone.now()
    return Operation.objects.create(
        kind=kind,
        namespace=namespace,
        target=target,
        owner_id=actor.user_id,
        actor=actor.name,
        state=OperationState.FAILED,
        error=error.problem(),
        started_at=now,
        finished_at=now,
    )


def move(operation: Operation, state: str, **changes: Any) -> bool:
    """Move to `state` if the operation is still in the state and attempt read before; False if it is not."""
    if state not in Operation.MOVES.get(operation.state, frozenset()):
        return False
    changed = Operation.objects.filter(
        pk=operation.pk, state=operation.state, attempt=operation.attempt
    ).update(state=state, woken_at=timezone.now(), **changes)
    if changed:
        operation.refresh_from_db()
    return bool(changed)


def claim_operation(operation_id: int, attempt: int | None = None) -> Operation | None:
    """Take a queued operation (at this attempt, if one is named); None when it is not to be had."""
    queued = Operation.objects.filter(pk=operation_id, state=OperationState.QUEUED)
    operation = (queued if attempt is None else queued.filter(attempt=attempt)).first()
    if operation is None or not move(
        operation, OperationState.RUNNING, started_at=timezone.now(), message=""
    ):
        return None
    return operation


def report_progress(operation: Operation, progress: int, total: int, message: str = "") -> bool:
    """Say how far the job is; also its heartbeat. False when this attempt of it is over: stop then."""
    mine = Operation.objects.filter(pk=operation.pk, state=OperationState.RUNNING, attempt=operation.attempt)
    return bool(mine.update(progress=progress, total=total, message=message, woken_at=timezone.now()))


def succeed_operation(operation: Operation, result: dict[str, Any], message: str = "") -> bool:
    """End well; the input is forgotten."""
    return move(
        operation,
        OperationState.SUCCEEDED,
        result=result,
        message=message,
        input={},
        progress=F("total"),
        finished_at=timezone.now(),
    )


@transaction.atomic
def fail_operation(operation: Operation, error: TenureError) -> bool:
    """End badly, with the problem document; the input is forgotten."""
    moved = move(
        operation, OperationState.FAILED, error=error.problem(), input={}, finished_at=timezone.now()
    )
    if moved:
        record(
            SYSTEM,
            Action.OPERATION_FAILED,
            "operation",
            str(operation.pk),
            namespace=operation.namespace,
            outcome=Outcome.FAILED,
            detail={"kind": operation.kind, "target": operation.target, "reason": error.detail},
        )
    return moved


def _owns(actor: Principal, operation: Operation) -> bool:
    return actor.user_id is not None and operation.owner_id == actor.user_id


@transaction.atomic
def cancel_operation(actor: Principal, operation: Operation) -> Operation:
    """Cancel one's own pending operation; an ended one is a `Conflict`."""
    if not (actor.is_admin or actor.kind == PrincipalKind.SYSTEM or _owns(actor, operation)):
        raise Forbidden(
            f"Operation {operation.pk} was started by {operation.actor}: only they or an admin cancel it."
        )
    if operation.kind in KINDS and not KINDS[operation.kind].can_cancel:
        raise Conflict(f"A {operation.kind} operation cannot be cancelled: it would stay half done.")
    if not move(operation, OperationState.CANCELLED, input={}, finished_at=timezone.now()):
        raise Conflict(f"Operation {operation.pk} has already {operation.state}.")
    record(actor, Action.OPERATION_CANCELLED, "operation", str(operation.pk), namespace=operation.namespace)
    return operation


def sweep_operations() -> int:
    """Wake again what nobody answered for, and fail what was tried too often; returns how many moved."""
    return sum(_sweep_kind(kind) for kind in KINDS.values())


def _sweep_kind(kind: OperationKind) -> int:
    silent_since = timezone.now() - datetime.timedelta(seconds=kind.silence_seconds)
    lost = Operation.objects.filter(kind=kind.name, state__in=PENDING, woken_at__lt=silent_since)
    return sum(_retry_or_fail(kind, operation) for operation in lost)


def _wake_again(kind: OperationKind, operation: Operation) -> bool:
    """Nobody took it yet: call once more. That its worker is busy or away is no failed attempt."""
    queued = Operation.objects.filter(pk=operation.pk, state=OperationState.QUEUED)
    message = "No worker has taken it yet. Is the worker of its queue running?"
    if not queued.update(woken_at=timezone.now(), message=message):
        return False
    kind.wake(operation)
    return True


def _retry_or_fail(kind: OperationKind, operation: Operation) -> bool:
    if operation.state == OperationState.QUEUED:
        return _wake_again(kind, operation)
    if operation.attempt >= kind.max_attempts:
        reason = f"Its worker was lost in {operation.attempt} attempts; the worker's log may say why."
        return fail_operation(operation, Unavailable(reason))
    changed = Operation.objects.filter(
        pk=operation.pk, state=operation.state, attempt=operation.attempt
    ).update(state=OperationState.QUEUED, attempt=F("attempt") + 1, woken_at=timezone.now())
    if changed:
        operation.refresh_from_db()
        kind.wake(operation)
    return bool(changed)
