"""Roll-ups over datasets, for pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Sum

from namespaces.models import AuditEvent, Outcome
from registry.models import Dataset
from registry.models.datasets import DatasetQuerySet


def stored(datasets: DatasetQuerySet) -> dict[str, int]:
    """How many datasets there are, and the rows and bytes of their tables. One query."""
    totals = datasets.order_by().aggregate(
        datasets=Count("pk"), tables=Count("table"), rows=Sum("table__rows"), bytes=Sum("table__bytes")
    )
    return {name: value or 0 for name, value in totals.items()}


@dataclass(frozen=True)
class Reading:
    """When a dataset was last read, and by how many programs and people."""

    at: datetime
    readers: int


def last_read(dataset: Dataset) -> Reading | None:
    """The last allowed read of a dataset; None when nobody ever did. Two queries."""
    events = AuditEvent.objects.of_dataset(dataset.namespace.name, dataset.name, dataset.created_at)
    reads = events.filter(access__in=("read", "read_write"), outcome=Outcome.ALLOWED)
    last = reads.order_by("-pk").values_list("at", flat=True).first()
    if last is None:
        return None
    return Reading(last, reads.order_by().values("actor", "pipeline").distinct().count())
