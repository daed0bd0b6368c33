"""The built-in dataset types, by name: a closed registry, nothing is imported by a name in a message."""

from __future__ import annotations

from tenure.database import OpenedDataset
from tenure.dataset import Dataset, DatasetContext
from tenure.errors import InvalidInput
from tenure.types.external import External
from tenure.types.file_set import FileSet
from tenure.types.table import Table

TYPES: dict[str, type[Dataset]] = {"external": External, "file_set": FileSet, "table": Table}


def open_dataset(context: DatasetContext, opened: OpenedDataset) -> Dataset:
    """The object of a dataset's type; raises `InvalidInput` for a type that this version does not have."""
    kind = TYPES.get(opened.type)
    if kind is None:
        known = ", ".join(sorted(TYPES))
        raise InvalidInput(f"Dataset {opened.name!r} has type {opened.type!r}; this version has {known}.")
    return kind(context, opened)
