"""Deleting a dataset: what it will remove, the removal of its rows at once, and of its files after."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.admin.utils import NestedObjects
from django.db import transaction
from django.db.models import ProtectedError
from pyarrow.fs import FileSelector, FileType
from pyiceberg.io.pyarrow import PyArrowFileIO

from namespaces.alarm import wake
from namespaces.models import Action, Grant, Level, Operation
from namespaces.principals import SYSTEM, Principal
from namespaces.services.audit import record
from namespaces.services.grants import require
from namespaces.services.operations import (
    OperationKind,
    claim_operation,
    fail_operation,
    report_progress,
    start_operation,
    succeed_operation,
)
from registry.models import Dataset, DatasetType
from registry.services.datasets import lock_dataset
from tenure.errors import Conflict, Unavailable

FILES_A_REPORT = 100


@dataclass(frozen=True)
class DeletionPreview:
    """What deleting a dataset removes. Only a table's files are Tenure's; all other data stays."""

    dataset: str
    uri: str
    location: str
    removes_files: bool
    files: int
    bytes: int
    rows: int
    snapshots: int
    specifications: int
    grants: int
    used_by: list[str]


def preview_deletion(actor: Principal, dataset: Dataset) -> DeletionPreview:
    """Say beforehand what `delete_dataset` would remove, and which pipelines stand in its way."""
    require(actor, Level.ADMIN, dataset.namespace, dataset.name)
    table = getattr(dataset, "table", None)
    return DeletionPreview(
        dataset=str(dataset),
        uri=dataset.uri,
        location=dataset.location,
        removes_files=dataset.type == DatasetType.TABLE,
        files=table.files if table else 0,
        bytes=table.bytes if table else 0,
        rows=table.rows if table else 0,
        snapshots=dataset.snapshots.count(),
        specifications=dataset.specifications.count(),
        grants=Grant.objects.filter(namespace=dataset.namespace, dataset=dataset.name).count(),
        used_by=_users_of(dataset),
    )


def _users_of(dataset: Dataset) -> list[str]:
    """What protects the dataset, by the protected foreign keys of higher apps."""
    collector = NestedObjects(using="default")
    collector.collect([dataset])
    return sorted({str(user) for user in collector.protected})


@transaction.atomic
def delete_dataset(actor: Principal, dataset: Dataset) -> Operation:
    """Remove the dataset's rows now and its files by an operation; a used dataset is a `Conflict`."""
    require(actor, Level.ADMIN, dataset.namespace, dataset.name)
    namespace = dataset.namespace.name
    # The lock lets one of two deletions at once do it; the other finds nothing.
    lock_dataset(dataset)
    detail = {"uri": dataset.uri, "type": dataset.type, "location": dataset.location}
    try:
        # A savepoint keeps the caller's transaction usable after a refusal.
        with transaction.atomic():
            dataset.delete()
    except ProtectedError as error:
        users = ", ".join(sorted({str(user) for user in error.protected_objects}))
        raise Conflict(f"Dataset {dataset.name!r} is used by {users}. Change or delete that first.") from None
    Grant.objects.filter(namespace__name=namespace, dataset=dataset.name).delete()
    record(actor, Action.DATASET_DELETED, "dataset", dataset.name, namespace=namespace, detail=detail)
    return start_operation(
        actor,
        kind=DELETE_DATASET.name,
        namespace=namespace,
        target=dataset.name,
        input={"location": dataset.location},
    )


def _wake_deletion(operation: Operation) -> None:
    wake("registry.remove_files", operation.pk)


DELETE_DATASET = OperationKind("delete_dataset", _wake_deletion, can_cancel=False)


def _try_again_or_fail(operation: Operation, reason: str) -> None:
    """Storage may be away for a while: the sweep tries again until the attempts are used up."""
    if operation.attempt < DELETE_DATASET.max_attempts:
        report_progress(operation, 0, 0, reason)
    else:
        fail_operation(operation, Unavailable(reason))


def _remove_tree(operation: Operation, location: str) -> bool:
    """Remove everything at a table's location, telling of progress; False when somebody else took over."""
    # As pyiceberg reads locations, which are no quoted URIs: a space is a space.
    scheme, netloc, path = PyArrowFileIO.parse_location(location)
    filesystem = PyArrowFileIO({}).fs_by_scheme(scheme, netloc)
    found = filesystem.get_file_info(FileSelector(path, recursive=True, allow_not_found=True))
    files = [each.path for each in found if each.type == FileType.File]
    for number, file in enumerate(files):
        if number % FILES_A_REPORT == 0 and not report_progress(operation, number, len(files)):
            return False
        filesystem.delete_file(file)
    if filesystem.get_file_info(path).type == FileType.Directory:
        filesystem.delete_dir(path)
    return True


def remove_files(operation_id: int) -> None:
    """Remove a deleted table's files and end the operation; safe to repeat."""
    operation = claim_operation(operation_id)
    if operation is None:
        return
    location = operation.input.get("location", "")
    try:
        if location and not _remove_tree(operation, location):
            return
    except (OSError, ValueError) as error:
        _try_again_or_fail(operation, f"The files at {location} could not be removed: {error}")
        return
    if not location:
        succeed_operation(operation, {"location": ""}, "The dataset is gone; its data stays where it is.")
        return
    with transaction.atomic():
        if succeed_operation(operation, {"location": location}, "The dataset and its files are gone."):
            record(
                SYSTEM,
                Action.DATASET_FILES_REMOVED,
                "dataset",
                operation.target,
                namespace=operation.namespace,
                detail={"location": location},
            )
