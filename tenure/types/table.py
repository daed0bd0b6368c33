"""The `table` type: an Iceberg table, written by Spark and committed through Tenure's catalog."""

from __future__ import annotations

import logging
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tenure.access import reads, writes
from tenure.database import OpenedDataset
from tenure.dataset import Dataset, DatasetContext
from tenure.errors import NotFound

if TYPE_CHECKING:
    from pyiceberg.table import Table as IcebergTable
    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)


class Table(Dataset):
    """An Iceberg table. Its first write creates it, with the columns of the frame that is written.

    A write is one snapshot, there as a whole or not at all, and once: a task that is tried again
    after its write was committed finds that snapshot and writes nothing. Property: `partition_by`,
    the columns whose values split the table.
    """

    def __init__(self, context: DatasetContext, opened: OpenedDataset) -> None:
        super().__init__(context, opened)
        self._writes = 0

    @reads
    def read(self, snapshot_id: int | None = None) -> DataFrame:
        """The rows of the current snapshot, or of an older one.

        Raises `NotFound` while nothing was written, or for a snapshot that is gone.
        """
        from tenure.spark.frames import read_parquet
        from tenure.types import iceberg

        table = self._load()
        plan = iceberg.plan_files(table, snapshot_id)
        log.info("read %s: snapshot %s, %s", self.name, plan.snapshot_id or "none yet", plan.size)
        return read_parquet(self.context.spark(), plan.schema, plan.paths)

    @reads
    def snapshot(self) -> int | None:
        """The id of the current snapshot, or None for a table without rows so far."""
        current = self._load().current_snapshot()
        return current.snapshot_id if current else None

    @writes
    def overwrite(self, frame: DataFrame) -> None:
        """Replace all rows by those of `frame`.

        Raises `InvalidData` if the frame does not fit the table's columns, and `Conflict` if others
        keep committing to the table.
        """
        self._write(frame, replace=True)

    @writes
    def append(self, frame: DataFrame) -> None:
        """Add the rows of `frame`; raises as `overwrite` does."""
        self._write(frame, replace=False)

    def _load(self) -> IcebergTable:
        from pyiceberg.exceptions import NoSuchTableError

        try:
            return self.context.catalog().load_table((self.namespace, self.name))
        except NoSuchTableError:
            raise NotFound(f"Table {self.name!r} has no data yet: a task has to write it first.") from None

    def _load_or_create(self, frame: DataFrame) -> IcebergTable:
        from tenure.spark.frames import frame_schema
        from tenure.types import iceberg

        with suppress(NotFound):
            return self._load()
        columns = self.properties.get("partition_by", [])
        identifier = (self.namespace, self.name)
        return iceberg.create_table(self.context.catalog(), identifier, frame_schema(frame), columns)

    def _write(self, frame: Any, *, replace: bool) -> None:
        from tenure.spark.frames import check_frame, conform
        from tenure.types import iceberg

        frame = check_frame(frame)
        self._writes += 1
        table = self._load_or_create(frame)
        marks = self._marks()
        earlier = iceberg.find_write(table, marks["tenure.write"])
        if earlier is not None:
            log.info("commit %s: already there from an earlier attempt, snapshot %s", self.name, earlier)
            return
        name = "-".join([*self.context.run.split("/"), self.context.task, str(uuid.uuid4())])
        directory = f"{table.location()}/data/{name}"
        frame = conform(frame, table.schema())
        commit = iceberg.write(table, frame, directory, marks, replace=replace)
        log.info("commit %s: %s", self.name, commit)

    def _marks(self) -> dict[str, str]:
        """What the snapshot says of its origin. `tenure.write` is the same in each attempt of a run."""
        context = self.context
        return {
            "tenure.run": context.run,
            "tenure.task": context.task,
            "tenure.write": f"{context.run}/{context.task}/{self._writes}",
        }
