"""The `file_set` type: files that somebody else writes, read as they are."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tenure.access import reads
from tenure.dataset import Dataset

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)


class FileSet(Dataset):
    """Files under one URI. Properties: `format`, `header`, `null_value`, `delimiter`, `schema` (Spark DDL).

    Without a schema, every column of a CSV file is a string: guessing types from the data would
    make a run depend on what the files happen to hold. The type offers no way to write.
    """

    @reads
    def read(self, **options: Any) -> DataFrame:
        """The files' rows; `options` go to Spark's reader and win over the properties.

        Raises `InvalidInput` for a format that this version does not read.
        """
        from tenure.spark.frames import read_files
        from tenure.spark.paths import spark_path

        log.info("read %s: %s files at %s", self.name, self.properties.get("format", "csv"), self.uri)
        return read_files(self.context.spark(), spark_path(self.uri), self.properties, options)
