"""Iceberg for `table` datasets: plans of files to read, and snapshots of files that Spark wrote.

Spark reads and writes Parquet natively; what makes it a table, the list of files in each
snapshot, goes with pyiceberg through the catalog.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyarrow.fs import FileSelector, FileSystem
from pyarrow.parquet import read_schema
from pydantic import ValidationError
from pyiceberg.exceptions import (
    AuthorizationExpiredError,
    BadRequestError,
    CommitFailedException,
    CommitStateUnknownException,
    ForbiddenError,
    NoSuchTableError,
    ServerError,
    ServiceUnavailableError,
    TableAlreadyExistsError,
    TooManyRequestsError,
    UnauthorizedError,
    ValidationException,
)
from pyiceberg.io.pyarrow import PyArrowFileIO, parquet_file_to_data_file
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import IdentityTransform
from requests import RequestException

from tenure.errors import Conflict, InvalidData, NotFound

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table
    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)

COMMIT_ATTEMPTS = 5
FOOTER_THREADS = 8
UNKNOWN = (
    CommitStateUnknownException,
    ServerError,
    ServiceUnavailableError,
    RequestException,
    ValidationError,
)
"""After these a commit may have landed or not, and is worth another try."""

OVERTAKEN = (CommitFailedException, ValidationException)
REFUSED = (
    *OVERTAKEN,
    AuthorizationExpiredError,
    BadRequestError,
    ForbiddenError,
    NoSuchTableError,
    TooManyRequestsError,
    UnauthorizedError,
)
"""After these a commit certainly did not land; after anything else it may have."""


@dataclass(frozen=True)
class Plan:
    """The files that make up a snapshot; `snapshot_id` is None for a table without one."""

    snapshot_id: int | None
    schema: Schema
    paths: list[str]
    size: str


def plan_files(table: Table, snapshot_id: int | None) -> Plan:
    """What to read for a snapshot; raises `NotFound` for a snapshot that the table does not have."""
    current = table.snapshot_by_id(snapshot_id) if snapshot_id is not None else table.current_snapshot()
    if snapshot_id is not None and current is None:
        raise NotFound(f"Table {table.name()[-1]!r} has no snapshot {snapshot_id}; it may have been expired.")
    scan = table.scan(snapshot_id=snapshot_id)
    tasks = list(scan.plan_files())
    if any(task.delete_files for task in tasks):
        raise InvalidData(
            f"Table {table.name()[-1]!r} holds row-level deletes of another engine, which this version "
            "cannot read: compact the table there first."
        )
    files = [task.file for task in tasks]
    found = current.snapshot_id if current else None
    return Plan(found, scan.projection(), [file.file_path for file in files], _size(files))


def create_table(
    catalog: Catalog, name: tuple[str, str], schema: Schema, partition_by: Sequence[str]
) -> Table:
    """Create a table, or load the one that somebody created meanwhile.

    Raises `InvalidData` if a partition column is not in the schema.
    """
    columns = {field.name: field.field_id for field in schema.fields}
    for column in partition_by:
        if column not in columns:
            raise InvalidData(
                f"Table {name[1]!r} is partitioned by {column!r}, which the data does not have; "
                f"it has {', '.join(columns)}."
            )
    fields = [
        PartitionField(columns[column], 1000 + index, IdentityTransform(), column)
        for index, column in enumerate(partition_by)
    ]
    try:
        return catalog.create_table(name, schema, partition_spec=PartitionSpec(*fields))
    except TableAlreadyExistsError:
        return catalog.load_table(name)


def find_write(table: Table, write: str) -> int | None:
    """The id of the snapshot that carries this `tenure.write`, if the table has one."""
    for snapshot in table.metadata.snapshots:
        if snapshot.summary and snapshot.summary.additional_properties.get("tenure.write") == write:
            return snapshot.snapshot_id
    return None


def write(table: Table, frame: DataFrame, directory: str, marks: dict[str, str], *, replace: bool) -> str:
    """Write a conformed frame below `directory` and commit it as one snapshot; returns a line for the log.

    Files of a write that certainly was not committed are removed. Raises `Conflict` when others
    commit faster.
    """
    try:
        files = _write_files(table, frame, directory)
    except BaseException:
        _remove(table, directory)
        raise
    if not files and not replace:
        return "nothing to append"
    commit = _Commit(table, files, marks, replace)
    try:
        snapshot = commit.run()
    except BaseException:
        if commit.may_have_landed:
            # The table may need these files, whatever a later attempt failed with.
            log.warning("the catalog did not say whether the commit of %s landed", directory)
        else:
            _remove(table, directory)
        raise
    return f"snapshot {snapshot}, {_size(files)}"


def _write_files(table: Table, frame: DataFrame, directory: str) -> list[DataFile]:
    from tenure.spark.frames import write_parquet

    schema = table.schema()
    columns = [schema.find_field(field.source_id).name for field in table.spec().fields]
    write_parquet(frame, directory, columns)
    return _data_files(table, directory)


@dataclass
class _Commit:
    """One write's commit, with as many attempts as it takes."""

    table: Table
    files: list[DataFile]
    marks: dict[str, str]
    replace: bool
    may_have_landed: bool = False

    def run(self) -> int | None:
        """Commit on the newest state, again if somebody else was first or the catalog did not answer.

        Trying again is safe: a commit names the snapshot that it follows, and carries its mark.
        """
        name = self.table.name()[-1]
        for attempt in range(COMMIT_ATTEMPTS):
            try:
                if attempt:
                    time.sleep(0.1 * 2**attempt)
                    self.table.refresh()
                return self._attempt()
            except UNKNOWN:
                if attempt == COMMIT_ATTEMPTS - 1:
                    raise
            except OVERTAKEN:
                log.info("commit %s: somebody else was first, trying again", name)
        raise Conflict(
            f"Table {name!r} changed {COMMIT_ATTEMPTS} times while this task tried to commit: "
            "others write it at the same time; let one task follow the other."
        )

    def _attempt(self) -> int | None:
        landed = find_write(self.table, self.marks["tenure.write"])
        if landed is not None:
            return landed
        try:
            self._send()
        except REFUSED:
            raise
        except BaseException:
            self.may_have_landed = True
            raise
        current = self.table.current_snapshot()
        return current.snapshot_id if current else None

    def _send(self) -> None:
        # The last writer wins an overwrite: it replaces what is there at the moment of its commit.
        current = [task.file for task in self.table.scan().plan_files()] if self.replace else []
        with self.table.transaction() as transaction:
            update = transaction.update_snapshot(snapshot_properties=self.marks)
            with update.overwrite() if self.replace else update.fast_append() as producer:
                for file in current:
                    producer.delete_data_file(file)
                for file in self.files:
                    producer.append_data_file(file)


def _data_files(table: Table, directory: str) -> list[DataFile]:
    """The files below `directory` with the statistics of their footers; files without rows are left out."""
    paths = _list(table, directory)
    if not paths:
        return []
    _check_field_ids(table, paths[0])
    with ThreadPoolExecutor(FOOTER_THREADS) as pool:
        files = list(pool.map(lambda path: parquet_file_to_data_file(table.io, table.metadata, path), paths))
    return [file for file in files if file.record_count]


def _check_field_ids(table: Table, path: str) -> None:
    """Readers find columns by field id: a file with other ids than the table's would read as nulls."""
    with table.io.new_input(path).open() as stream:
        columns = read_schema(stream)
    found = {
        name: (columns.field(name).metadata or {}).get(b"PARQUET:field_id", b"") for name in columns.names
    }
    wanted = {field.name: str(field.field_id).encode() for field in table.schema().fields}
    if found != wanted:
        raise InvalidData(
            f"Spark wrote the columns of {path} with field ids {found} where the table has {wanted}."
        )


def _list(table: Table, directory: str) -> list[str]:
    system, root = _file_system(table, directory)
    found = system.get_file_info(FileSelector(root, recursive=True, allow_not_found=True))
    return sorted(directory + each.path[len(root) :] for each in found if each.path.endswith(".parquet"))


def _remove(table: Table, directory: str) -> None:
    try:
        system, root = _file_system(table, directory)
        system.delete_dir(root)
    except FileNotFoundError:
        return  # It failed before there was any.
    except OSError as error:
        log.warning("the files of a failed write stay behind in %s: %s", directory, error)


def _file_system(table: Table, location: str) -> tuple[FileSystem, str]:
    """The file system that the table's own IO uses, with its credentials, and the path in it."""
    scheme, netloc, path = PyArrowFileIO.parse_location(location)
    io = table.io if isinstance(table.io, PyArrowFileIO) else PyArrowFileIO(table.io.properties)
    return io.fs_by_scheme(scheme, netloc), path


def _size(files: Sequence[DataFile]) -> str:
    rows = sum(file.record_count for file in files)
    megabytes = sum(file.file_size_in_bytes for file in files) / 1e6
    return f"{len(files)} file{'' if len(files) == 1 else 's'}, {rows:,} rows, {megabytes:.1f} MB"
