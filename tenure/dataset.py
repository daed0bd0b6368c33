"""Datasets as tasks see them: an object with a name and the operations of its type.

The object is the only way to the data: each operation asks the database client first, so what
a program did to a dataset is known without anybody reporting it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenure.access import Access, reads_and_writes
from tenure.database import OPEN_DATASET, Database, OpenDataset, OpenedDataset

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class DatasetContext:
    """Where a dataset object lives: which task of which run holds it, and its ways to the outside.

    `run` is `namespace/pipeline/number`, without the attempt: a retry is the same run. `spark` and
    `catalog` open their connection at the first call and give the same one from then on.
    """

    database: Database
    run: str
    task: str
    spark: Callable[[], SparkSession]
    catalog: Callable[[], Catalog]

    def authorize(self, dataset: Dataset, access: Access, operation: str) -> None:
        """Ask for one access and have it recorded; raises `NotFound` or `Forbidden` if it may not be."""
        question = OpenDataset(self.task, dataset.name, access.value, operation)
        dataset.opened = self.database.call(OPEN_DATASET, question)


class Dataset:
    """Base of all dataset types. Methods say what they do with the annotations of `tenure.access`.

    A public method without an annotation counts as reading and writing.
    """

    def __init__(self, context: DatasetContext, opened: OpenedDataset) -> None:
        self.context = context
        self.opened = opened

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, value in list(vars(cls).items()):
            if inspect.isfunction(value) and not name.startswith("_") and not hasattr(value, "access"):
                setattr(cls, name, reads_and_writes(value))

    @property
    def name(self) -> str:
        """The dataset's name in its namespace."""
        return self.opened.name

    @property
    def namespace(self) -> str:
        """The namespace that owns the dataset."""
        return self.opened.namespace

    @property
    def type(self) -> str:
        """The name of the dataset's type."""
        return self.opened.type

    @property
    def uri(self) -> str:
        """The dataset's canonical URI."""
        return self.opened.uri

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of the dataset's specification."""
        return self.opened.properties

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.namespace}/{self.name}>"
