"""What Spark is given for each store's URI."""

from __future__ import annotations

import pytest

from tenure.errors import InvalidInput
from tenure.spark.paths import spark_path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file://localhost/data/a%20b/100%25/%23%C3%A4", "file:///data/a b/100%/#ä"),
        ("file://localhost/", "file:///"),
        ("s3://bucket/key%2520", "s3a://bucket/key%20"),
        ("s3://bucket/", "s3a://bucket/"),
        ("gcs://bucket/key", "gs://bucket/key"),
        ("abfss://box@account.dfs.core.windows.net/x", "abfss://box@account.dfs.core.windows.net/x"),
        ("wasbs://box@account.blob.core.windows.net/x", "wasbs://box@account.blob.core.windows.net/x"),
        ("hdfs://cluster:8020/x", "hdfs://cluster/x"),
        ("hdfs://namenode:9000/x", "hdfs://namenode:9000/x"),
        ("dbfs://workspace/x/y", "dbfs:/x/y"),
    ],
)
def test_a_uri_becomes_a_path_that_is_taken_literally(uri: str, path: str) -> None:
    assert spark_path(uri) == path


@pytest.mark.parametrize("uri", ["postgres://db:5432/a/b/c", "iceberg://flights/delays", "a literal"])
def test_what_holds_no_files_has_no_path(uri: str) -> None:
    with pytest.raises(InvalidInput, match="reads no files"):
        spark_path(uri)
