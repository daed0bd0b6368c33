"""The naming table of the OpenLineage specification, store by store."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tenure.uri import SCHEMES, from_openlineage

TABLE = json.loads((Path(__file__).parent / "openlineage_naming.json").read_text())
STORES = {row["data_store"]: row for row in TABLE["datasets"]}

SCHEME_OF = {
    "Athena": "athena",
    "AWS Glue": "glue",
    "BigQuery": "bigquery",
    "Cassandra": "cassandra",
    "MySQL": "mysql",
    "Hive": "hive",
    "MSSQL": "mssql",
    "Oracle": "oracle",
    "Postgres": "postgres",
    "Redshift": "redshift",
    "Snowflake": "snowflake",
    "Trino": "trino",
    "Unity Catalog": "unitycatalog",
    "ABFSS (Azure Data Lake Gen2)": "abfss",
    "DBFS (Databricks File System)": "dbfs",
    "GCS": "gcs",
    "HDFS": "hdfs",
    "Kafka": "kafka",
    "Local file system": "file",
    "Remote file system": "file",
    "S3": "s3",
    "WASBS (Azure Blob Storage)": "wasbs",
}
FILLED = {"port": "123", "namenode port": "123", "path": "/a/b", "account id": "123456789012"}


def filled(template: str) -> str:
    """The first of the templates in a cell, each field filled with a word."""
    first = re.findall(r"`([^`]*)`", template)[0].partition(" or ")[0]
    return re.sub(r"\{([^}]*)\}", lambda field: FILLED.get(field[1], re.sub(r"[^a-z]", "", field[1])), first)


@pytest.mark.parametrize(("store", "scheme"), SCHEME_OF.items())
def test_a_name_of_the_table_goes_both_ways(store: str, scheme: str) -> None:
    namespace, name = filled(STORES[store]["namespace"]), filled(STORES[store]["name"])
    uri = from_openlineage(namespace, name)
    assert uri.scheme == scheme
    assert uri.openlineage == (namespace, name)


def test_the_stores_that_the_table_does_not_name_are_these() -> None:
    own = {scheme.name for scheme in SCHEMES.by_name.values()} - set(SCHEME_OF.values())
    assert own == {"sqlite", "duckdb", "iceberg", "mongodb"}


def test_the_stores_of_the_table_that_are_not_known_yet_are_these() -> None:
    assert set(STORES) - set(SCHEME_OF) == {
        "Azure Cosmos DB",
        "Azure Data Explorer",
        "Azure Synapse",
        "Milvus",
        "Microsoft Fabric Warehouse",
        "CrateDB",
        "DB2",
        "OceanBase",
        "Teradata",
        "Spanner",
        "Box",
        "FileNet",
        "SharePoint",
        "PubSub",
        "In memory",
    }
