"""What Spark reads for a canonical URI."""

from __future__ import annotations

from collections.abc import Callable

from tenure.errors import InvalidInput
from tenure.uri import DatasetURI, parse

_ROOTS: dict[str, Callable[[DatasetURI], str]] = {
    "file": lambda uri: "file://",
    "s3": lambda uri: f"s3a://{uri.authority}",
    "gcs": lambda uri: f"gs://{uri.authority}",
    "abfss": lambda uri: f"abfss://{uri.authority}",
    "wasbs": lambda uri: f"wasbs://{uri.authority}",
    # With a port Hadoop takes the name for a host; that of a pair of name nodes is none.
    "hdfs": lambda uri: f"hdfs://{uri.authority.removesuffix(':8020')}",
    # A workspace's cluster sees that workspace's files alone.
    "dbfs": lambda uri: "dbfs:",
}


def spark_path(uri: str) -> str:
    """The path of a canonical URI as Hadoop takes it, which is literally: `%20` in it is no space.

    Raises `InvalidInput` for a store whose files Spark does not read.
    """
    found = parse(uri)
    root = _ROOTS.get(found.scheme)
    if root is None:
        raise InvalidInput(f"Spark reads no files of {found.scheme or 'a literal'}.")
    return f"{root(found)}/{'/'.join(found.parts)}"
