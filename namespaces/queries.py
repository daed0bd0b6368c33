"""Roll-ups of the audit log, for pages."""

from __future__ import annotations

import datetime

from django.db.models import Count, Max, Q

from namespaces.models import Outcome
from namespaces.models.audit import AuditQuerySet

Denial = tuple[str, str, str, str, int, datetime.datetime]
"""Who, in which namespace, wanted which dataset, for what access, how often and when last."""


def denials(events: AuditQuerySet, since: datetime.datetime) -> list[Denial]:
    """Refused accesses since then, one row for each who and what. One query."""
    refused = events.filter(outcome=Outcome.DENIED, at__gte=since).exclude(access="").order_by()
    rows = refused.values_list("actor", "namespace", "target", "access")
    counted = rows.annotate(times=Count("pk"), last=Max("at")).order_by("-last")[:20]
    return list(counted)


def access_totals(events: AuditQuerySet, since: datetime.datetime) -> dict[str, int]:
    """Accesses since then: all, reads, writes, denied, and how many principals were denied. One query."""
    denied = Q(outcome=Outcome.DENIED)
    return (
        events.filter(at__gte=since)
        .accesses()
        .aggregate(
            all=Count("pk", filter=~denied),
            reads=Count("pk", filter=~denied & Q(access__in=("read", "read_write"))),
            writes=Count("pk", filter=~denied & Q(access__in=("write", "read_write"))),
            denied=Count("pk", filter=denied),
            principals=Count("actor", filter=denied, distinct=True),
        )
    )
