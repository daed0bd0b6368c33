"""The `external` type: a dataset in a store that Tenure does not read, known by its URI."""

from __future__ import annotations

from tenure.dataset import Dataset


class External(Dataset):
    """What a pipeline declares that it reads or writes by means of its own. It offers no way to the data."""
