"""Recording: every verb writes its audit event in its own transaction."""

from __future__ import annotations

from typing import Any

from namespaces.models import Action, AuditEvent, Outcome
from namespaces.principals import Principal


def record(
    actor: Principal,
    action: Action,
    target_kind: str,
    target: str,
    *,
    namespace: str = "",
    outcome: Outcome = Outcome.ALLOWED,
    access: str = "",
    task: str = "",
    detail: dict[str, Any] | None = None,
) -> AuditEvent:
    """Append one event. For a run, its pipeline, number and attempt are taken from its scope."""
    scope = actor.scope
    return AuditEvent.objects.create(
        action=action,
        outcome=outcome,
        actor_kind=actor.kind,
        actor=actor.name,
        namespace=namespace,
        target_kind=target_kind,
        target=target,
        access=access,
        pipeline=scope.pipeline if scope else "",
        run=scope.run if scope else None,
        attempt=scope.attempt if scope else None,
        task=task,
        detail=detail or {},
    )
