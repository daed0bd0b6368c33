"""SQL that walks the accesses: which program fed which dataset."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

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
    SELECT event.pipeline, event.task, event.namespace, event.target, event.access, max(event.at), max(event.run)
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
