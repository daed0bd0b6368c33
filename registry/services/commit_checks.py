"""What a commit to a table must keep to, before any of it is applied."""

from __future__ import annotations

from django.utils import timezone
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table.metadata import TableMetadata, TableMetadataV1
from pyiceberg.table.snapshots import Snapshot as IcebergSnapshot
from pyiceberg.table.update import AddSnapshotUpdate, SetPropertiesUpdate, TableRequirement, TableUpdate

from registry.models import Dataset
from tenure.errors import Conflict, InvalidInput

ALLOWED_UPDATES = frozenset(
    {
        "assign-uuid",
        "add-schema",
        "set-current-schema",
        "add-spec",
        "set-default-spec",
        "add-sort-order",
        "set-default-sort-order",
        "add-snapshot",
        "set-snapshot-ref",
        "remove-snapshots",
        "remove-snapshot-ref",
        "set-properties",
        "remove-properties",
    }
)
"""A closed list: what would move a table elsewhere (`set-location`) is not on it."""

FORBIDDEN_PROPERTIES = ("write.data.path", "write.metadata.path", "write.object-storage.path")
MAX_AHEAD_SECONDS = 3600


def check_updates(dataset: Dataset, updates: tuple[TableUpdate, ...]) -> None:
    """Raise `InvalidInput` unless every update is of an allowed kind and keeps the table in its location."""
    for update in updates:
        if update.action not in ALLOWED_UPDATES:
            raise InvalidInput(f"Update {update.action!r} is not allowed here.")
        if isinstance(update, SetPropertiesUpdate):
            check_properties(update.updates)
        if isinstance(update, AddSnapshotUpdate):
            _check_snapshot(update.snapshot)
            manifest_list = update.snapshot.manifest_list or ""
            if not manifest_list.startswith(f"{dataset.location}/") or ".." in manifest_list:
                raise InvalidInput(
                    f"The snapshot's manifest list lies outside the table's location {dataset.location}."
                )


def _check_snapshot(snapshot: IcebergSnapshot) -> None:
    if snapshot.summary is None:
        raise InvalidInput("The snapshot has no summary, which says what it did.")
    # A little ahead of this clock is fine; far ahead would order it after all that follow.
    if not 0 < snapshot.timestamp_ms < (timezone.now().timestamp() + MAX_AHEAD_SECONDS) * 1000:
        raise InvalidInput(f"The snapshot's time {snapshot.timestamp_ms} ms is not now.")
    ids = (snapshot.snapshot_id, snapshot.parent_snapshot_id or 0, snapshot.schema_id or 0)
    if any(not -(2**63) <= number < 2**63 for number in ids[:2]) or not 0 <= ids[2] < 2**31:
        raise InvalidInput("The snapshot's ids are 64-bit numbers.")


def check_properties(properties: dict[str, str]) -> None:
    """Raise `InvalidInput` for a property that would make engines write elsewhere."""
    for name in FORBIDDEN_PROPERTIES:
        if name in properties:
            raise InvalidInput(f"Property {name!r} cannot be set: a table stays inside its location.")


def check_sequence(base: TableMetadata, updates: tuple[TableUpdate, ...]) -> None:
    """Raise `InvalidInput` unless sequence numbers go on: a wrong one would spoil every later commit."""
    if isinstance(base, TableMetadataV1):
        return
    expected = base.last_sequence_number
    for update in updates:
        if isinstance(update, AddSnapshotUpdate):
            expected += 1
            if update.snapshot.sequence_number != expected:
                raise InvalidInput(f"The snapshot's sequence-number is to be {expected}.")


def check_requirements(base: TableMetadata, requirements: tuple[TableRequirement, ...]) -> None:
    """Raise `Conflict` unless all that the client assumed of the table still holds."""
    for requirement in requirements:
        try:
            requirement.validate(base)
        except CommitFailedException as error:
            raise Conflict(str(error)) from None
