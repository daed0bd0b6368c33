"""The tables of `registry`."""

from registry.models.catalog import IcebergTable, Snapshot
from registry.models.datasets import Dataset, DatasetType, Specification

__all__ = ["Dataset", "DatasetType", "IcebergTable", "Snapshot", "Specification"]
