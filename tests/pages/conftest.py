"""Many rows to show: datasets with tables, a pipeline with runs, accesses, refusals and operations."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from lineage.models import LogLine, Pipeline, PipelineVersion, Run, RunState, TaskRun, TaskState
from namespaces.models import Action, AuditEvent, Namespace, Operation, OperationState
from registry.models import Dataset, IcebergTable, Snapshot, Specification
from tenure.pipeline import GRAPH_FORMAT

GRAPH = {
    "format": GRAPH_FORMAT,
    "name": "delays",
    "description": "",
    "schedule": "@daily",
    "retries": 1,
    "tasks": [
        {"name": "ingest", "reads": ["raw_000"], "writes": ["table_000"], "after": [], "description": ""},
        {"name": "average", "reads": ["table_000"], "writes": ["table_001"], "after": [], "description": ""},
    ],
    "datasets": [],
}


@pytest.fixture
def many(db: None, flights: Namespace, alice: User) -> int:
    """Fill namespace flights; returns how many rows of each kind there are."""
    count = 70
    for number in range(count):
        _add_dataset(flights, alice, f"raw_{number:03d}", "file_set")
        _add_dataset(flights, alice, f"table_{number:03d}", "table")
    for number in range(12):
        _add_pipeline(flights, alice, "delays" if not number else f"delays_{number}", 3 if number else count)
    _add_events(count)
    for number in range(count):
        state = OperationState.FAILED if number % 2 else OperationState.RUNNING
        Operation.objects.create(
            kind="deploy_pipeline",
            namespace="flights",
            target=f"p{number}",
            actor="alice",
            owner=alice,
            state=state,
            finished_at=timezone.now(),
            error={"title": "Not valid", "detail": "Line 3 is wrong.", "line": 3},
        )
    return count


def _add_dataset(namespace: Namespace, owner: User, name: str, kind: str) -> None:
    dataset = Dataset.objects.create(
        namespace=namespace,
        name=name,
        type=kind,
        uri=f"file://localhost/data/{name}" if kind == "file_set" else f"iceberg://{namespace.name}/{name}",
        typed_uri=f"file:///data/{name}" if kind == "file_set" else "",
        location="" if kind == "file_set" else f"file:///warehouse/{name}",
        owner=owner,
        description="Rows",
    )
    schema = [{"id": 1, "name": "carrier", "type": "string", "required": False, "doc": ""}]
    dataset.specification = Specification.objects.create(
        dataset=dataset, version=1, properties={"partition_by": ["month"]}, schema=schema, created_by="alice"
    )
    dataset.save()
    if kind == "table":
        IcebergTable.objects.create(
            dataset=dataset,
            table_uuid=uuid.uuid4(),
            metadata_location="",
            metadata={},
            current_snapshot_id=7,
            rows=336776,
            files=12,
            bytes=5_500_000,
        )
        for number in range(60 if name == "table_000" else 2):
            Snapshot.objects.create(
                dataset=dataset,
                snapshot_id=number,
                operation="append",
                committed_at=timezone.now(),
                actor="alice",
                pipeline="flights/delays",
                run=1,
                task="ingest",
                rows=number,
                added_rows=1,
            )


def _add_pipeline(namespace: Namespace, owner: User, name: str, runs: int) -> None:
    pipeline = Pipeline.objects.create(
        namespace=namespace, name=name, owner=owner, schedule="@daily", last_run_number=runs
    )
    version = PipelineVersion.objects.create(
        pipeline=pipeline,
        number=1,
        source="# delays\ndef ingest(): ...\n",
        source_hash="a" * 64,
        graph=GRAPH | {"name": name},
        graph_hash="b" * 64,
        lines={"ingest": 2, "average": 2},
        created_by="alice",
    )
    Pipeline.objects.filter(pk=pipeline.pk).update(current_version=version)
    for number in range(1, runs + 1):
        _add_run(pipeline, version, number, RunState.FAILED if number % 3 else RunState.RUNNING)


def _add_run(pipeline: Pipeline, version: PipelineVersion, number: int, state: RunState) -> None:
    now = timezone.now()
    run = Run.objects.create(
        pipeline=pipeline,
        version=version,
        number=number,
        state=state,
        started_by="alice",
        error="It broke.",
        started_at=now - datetime.timedelta(seconds=30),
        finished_at=now if state == RunState.FAILED else None,
    )
    for task, task_state in (("ingest", TaskState.SUCCEEDED), ("average", TaskState.FAILED)):
        TaskRun.objects.create(
            run=run,
            attempt=1,
            task=task,
            state=task_state,
            error="Traceback\nBoom",
            started_at=now,
            finished_at=now,
        )
    LogLine.objects.bulk_create(
        LogLine(run=run, attempt=1, number=line, at=now, task="ingest", level="info", text=f"line {line}")
        for line in range(600 if number == 1 else 3)
    )


def _add_events(count: int) -> None:
    for number in range(count):
        AuditEvent.objects.create(
            action=Action.DATASET_ACCESSED,
            outcome="denied" if number % 5 else "allowed",
            actor_kind="run",
            actor="alice",
            namespace="flights",
            target_kind="dataset",
            target="table_000",
            access="read" if number % 2 else "write",
            pipeline="flights/delays",
            run=1,
            attempt=1,
            task="ingest",
            detail={"operation": "overwrite"},
        )


@pytest.fixture
def browse() -> Callable[[User], Client]:
    """A signed-in browser of a user."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in
