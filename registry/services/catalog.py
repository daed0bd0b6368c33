"""The Iceberg catalog's verbs: where a load, a creation, a commit is authorised, checked and recorded.

Source: the Iceberg REST catalog specification. Metadata is handled by pyiceberg, which holds
both halves of the protocol; a commit is decided by one conditional UPDATE.
"""

from __future__ import annotations

import contextlib
import datetime
import uuid
from collections.abc import Iterator
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone
from pyiceberg.catalog.rest import CreateTableRequest
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.io import load_file_io
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.serializers import ToOutputFile
from pyiceberg.table import CommitTableRequest
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    RemoveSnapshotsUpdate,
    TableUpdate,
    update_table_metadata,
)

from namespaces.models import Action, AuditEvent, Level, Namespace, Outcome
from namespaces.principals import Principal
from namespaces.services.audit import record
from namespaces.services.grants import levels_held, require
from registry.models import Dataset, DatasetType, IcebergTable, Snapshot
from registry.services.commit_checks import (
    check_properties,
    check_requirements,
    check_sequence,
    check_updates,
)
from registry.services.datasets import add_specification, get_dataset, lock_dataset, open_dataset, put_dataset
from tenure.errors import Conflict, Forbidden, InvalidInput, NotFound

MAX_SCHEMA_FIELDS = 2000


class TableNotFound(NotFound):
    """The dataset is there (or not), but it has no table yet."""

    title = "No such table"


def load_table(principal: Principal, namespace: str, name: str) -> IcebergTable:
    """The table's current metadata, for a principal that reads or writes it."""
    dataset = _table_dataset(principal, namespace, name)
    _enter(principal, dataset, "read", "iceberg.load")
    return _table_of(dataset)


def create_table(
    principal: Principal, namespace: Namespace, request: CreateTableRequest
) -> tuple[IcebergTable, bool]:
    """Give a `table` dataset its first schema; registers the dataset when the name is free.

    Raises `Conflict` when the table exists already.
    """
    if request.stage_create:
        raise InvalidInput("stage-create is not supported: create the table, then commit to it.")
    if request.location:
        raise InvalidInput("Leave out 'location': Tenure chooses where a table lives, inside the warehouse.")
    check_properties(request.properties)
    if len(request.table_schema.fields) > MAX_SCHEMA_FIELDS:
        raise InvalidInput(f"A table has up to {MAX_SCHEMA_FIELDS} columns.")
    # Checked at a place of no importance, so that a refusal leaves no dataset behind.
    _new_metadata(request, "file:///nowhere")
    dataset, _ = put_dataset(principal, namespace=namespace, name=request.name, type=DatasetType.TABLE)
    _enter(principal, dataset, "write", "iceberg.create")
    return _store_new(principal, dataset, _new_metadata(request, dataset.location))


def _new_metadata(request: CreateTableRequest, location: str) -> TableMetadata:
    try:
        return new_table_metadata(
            location=location,
            schema=request.table_schema,
            partition_spec=request.partition_spec or UNPARTITIONED_PARTITION_SPEC,
            sort_order=request.write_order or UNSORTED_SORT_ORDER,
            properties=dict(request.properties),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"The table cannot be created like this: {error}") from None


def commit_table(
    principal: Principal, namespace: str, name: str, request: CommitTableRequest
) -> IcebergTable:
    """Apply the updates if the requirements hold, else raise `Conflict`; sent twice it commits once."""
    dataset = _table_dataset(principal, namespace, name)
    _enter(principal, dataset, "write", "iceberg.commit")
    # A run opened it before: what its owner has lost since is lost for it too.
    require(principal, Level.WRITE, dataset.namespace, name)
    table = _table_of(dataset)
    base = TableMetadataUtil.parse_obj(table.metadata)
    check_updates(dataset, request.updates)
    if _already_committed(base, request.updates):
        return table
    check_requirements(base, request.requirements)
    check_sequence(base, request.updates)
    try:
        metadata = update_table_metadata(base, request.updates, metadata_location=table.metadata_location)
    except (ValueError, KeyError, TypeError, AttributeError, CommitFailedException) as error:
        raise InvalidInput(f"The updates do not fit the table: {error}") from None
    return _store_commit(principal, dataset, table, metadata, request.updates)


def _table_dataset(principal: Principal, namespace: str, name: str) -> Dataset:
    dataset = get_dataset(principal, namespace, name)
    if dataset.type != DatasetType.TABLE:
        raise TableNotFound(f"Dataset {name!r} in namespace {namespace!r} is a {dataset.type}, not a table.")
    return dataset


def _table_of(dataset: Dataset) -> IcebergTable:
    table: IcebergTable | None = getattr(dataset, "table", None)
    if table is None:
        raise TableNotFound(
            f"Table {dataset.name!r} in namespace {dataset.namespace.name!r} has no data yet."
        )
    return table


def _enter(principal: Principal, dataset: Dataset, access: str, operation: str) -> None:
    """Put the catalog in the path: a run must have opened the dataset, anybody else opens it here."""
    if principal.scope is None:
        if access == "read" and Level.READ not in levels_held(principal, dataset.namespace, dataset.name):
            # A writer loads a table to commit to it; that shows metadata and no rows.
            access = "write"
        open_dataset(
            principal, namespace=dataset.namespace.name, name=dataset.name, access=access, operation=operation
        )
        return
    opened = AuditEvent.objects.of_dataset(dataset.namespace.name, dataset.name, dataset.created_at).filter(
        pipeline=principal.scope.pipeline,
        run=principal.scope.run,
        attempt=principal.scope.attempt,
        outcome=Outcome.ALLOWED,
        action=Action.DATASET_ACCESSED,
    )
    if access == "write":
        opened = opened.filter(access__in=("write", "read_write"))
    if not opened.exists():
        raise Forbidden(
            f"{principal} has not opened {dataset} to {access} it: use the task's dataset object."
        )


def _already_committed(base: TableMetadata, updates: tuple[TableUpdate, ...]) -> bool:
    """Whether this very commit was applied before and only its answer was lost."""
    added = [update.snapshot.snapshot_id for update in updates if isinstance(update, AddSnapshotUpdate)]
    return bool(added) and all(base.snapshot_by_id(snapshot_id) is not None for snapshot_id in added)


def _metadata_location(dataset: Dataset, version: int) -> str:
    return f"{dataset.location}/metadata/{version:05d}-{uuid.uuid4()}.metadata.json"


def _write_metadata(location: str, metadata: TableMetadata) -> None:
    io = load_file_io({}, location)
    ToOutputFile.table_metadata(metadata, io.new_output(location))


def _remove_metadata(location: str) -> None:
    """Best effort: a file that no pointer names is waste, not damage."""
    with contextlib.suppress(OSError):
        load_file_io({}, location).delete(location)


@contextlib.contextmanager
def _metadata_file(location: str, metadata: TableMetadata) -> Iterator[None]:
    """The file, written before the pointer moves to it and removed again when that fails."""
    _write_metadata(location, metadata)
    try:
        with transaction.atomic():
            yield
    except (OperationalError, InterfaceError):
        # Nobody knows whether the commit arrived: the pointer may name the file by now.
        raise
    except BaseException:
        _remove_metadata(location)
        raise


def _store_new(principal: Principal, dataset: Dataset, metadata: TableMetadata) -> tuple[IcebergTable, bool]:
    location = _metadata_location(dataset, 0)
    with _metadata_file(location, metadata):
        lock_dataset(dataset)
        table, created = IcebergTable.objects.get_or_create(
            dataset=dataset,
            defaults={
                "table_uuid": metadata.table_uuid,
                "metadata_location": location,
                "metadata": metadata.model_dump(mode="json"),
            },
        )
        if not created:
            raise Conflict(f"Table {dataset.name!r} in namespace {dataset.namespace.name!r} already exists.")
        _follow_schema(principal, dataset, metadata)
        record(principal, Action.TABLE_CREATED, "dataset", dataset.name, namespace=dataset.namespace.name)
    return table, created


def _store_commit(
    principal: Principal,
    dataset: Dataset,
    table: IcebergTable,
    metadata: TableMetadata,
    updates: tuple[TableUpdate, ...],
) -> IcebergTable:
    location = _metadata_location(dataset, table.version + 1)
    now = timezone.now()
    with _metadata_file(location, metadata):
        lock_dataset(dataset)
        changed = IcebergTable.objects.filter(pk=table.pk, metadata_location=table.metadata_location).update(
            metadata_location=location,
            metadata=metadata.model_dump(mode="json"),
            version=table.version + 1,
            committed_at=now,
            current_snapshot_id=metadata.current_snapshot_id,
            **_totals(_current_summary(metadata)),
        )
        if not changed:
            raise Conflict(f"Table {dataset} was committed to meanwhile: load it again and retry.")
        _record_commit(principal, dataset, metadata, updates)
        Dataset.objects.filter(pk=dataset.pk).update(updated_at=now)
    table.refresh_from_db()
    return table


def _record_commit(
    principal: Principal, dataset: Dataset, metadata: TableMetadata, updates: tuple[TableUpdate, ...]
) -> None:
    _follow_schema(principal, dataset, metadata)
    added = [update.snapshot for update in updates if isinstance(update, AddSnapshotUpdate)]
    rows = [_snapshot_row(principal, dataset, snapshot) for snapshot in added]
    Snapshot.objects.bulk_create(rows)
    for update in updates:
        if isinstance(update, RemoveSnapshotsUpdate):
            Snapshot.objects.filter(dataset=dataset, snapshot_id__in=update.snapshot_ids).delete()
    record(
        principal,
        Action.TABLE_COMMITTED,
        "dataset",
        dataset.name,
        namespace=dataset.namespace.name,
        task=rows[-1].task if rows else "",
        detail={
            "snapshots": [str(row.snapshot_id) for row in rows],
            "updates": sorted({update.action for update in updates}),
        },
    )


def _snapshot_row(principal: Principal, dataset: Dataset, snapshot: Any) -> Snapshot:
    summary = {
        key: value for key, value in snapshot.summary.model_dump(mode="json").items() if value is not None
    }
    scope = principal.scope
    committed_at = datetime.datetime.fromtimestamp(snapshot.timestamp_ms / 1000, tz=datetime.UTC)
    return Snapshot(
        dataset=dataset,
        snapshot_id=snapshot.snapshot_id,
        parent_id=snapshot.parent_snapshot_id,
        operation=snapshot.summary.operation.value,
        committed_at=committed_at,
        actor=principal.name,
        pipeline=scope.pipeline if scope else "",
        run=scope.run if scope else None,
        task=summary.get("tenure.task", "")[:63] if scope else "",
        schema_id=snapshot.schema_id,
        added_rows=_count(summary, "added-records"),
        summary=summary,
        **_totals(summary),
    )


def _current_summary(metadata: TableMetadata) -> dict[str, str]:
    snapshot = metadata.current_snapshot()
    if snapshot is None or snapshot.summary is None:
        return {}
    return snapshot.summary.model_dump(mode="json")


def _totals(summary: dict[str, str]) -> dict[str, int]:
    return {
        "rows": _count(summary, "total-records"),
        "files": _count(summary, "total-data-files"),
        "bytes": _count(summary, "total-files-size"),
    }


def _count(summary: dict[str, str], key: str) -> int:
    # The summary is the client's word: what is no number counts as none.
    value = str(summary.get(key) or "0")
    return int(value) if value.isdecimal() and len(value) < 19 else 0


def _follow_schema(principal: Principal, dataset: Dataset, metadata: TableMetadata) -> None:
    """Keep the dataset's specification in step with the table's schema: a new version when it changed."""
    fields = [
        {
            "id": field.field_id,
            "name": field.name,
            "type": str(field.field_type),
            "required": field.required,
            "doc": field.doc or "",
        }
        for field in metadata.schema().fields
    ]
    current = dataset.specification
    if current is None or current.schema != fields:
        add_specification(principal, dataset, current.properties if current else {}, fields)


def catalog_config() -> dict[str, Any]:
    """What `GET /v1/config` tells a client: nothing to override, and which routes there are."""
    table = "v1/{prefix}/namespaces/{namespace}/tables"
    return {
        "defaults": {},
        "overrides": {},
        "endpoints": [
            "GET /v1/{prefix}/namespaces",
            "GET /v1/{prefix}/namespaces/{namespace}",
            f"GET /{table}",
            f"POST /{table}",
            f"GET /{table}/{{table}}",
            f"POST /{table}/{{table}}",
        ],
    }
