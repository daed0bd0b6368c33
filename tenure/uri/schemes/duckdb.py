"""Tables of DuckDB: `duckdb://{host}{file's path}/{schema}/{table}`.

In the spirit of AIP-60's local files: the host is `localhost` unless named, and the last two parts are
schema (`main` unless made otherwise) and table. OpenLineage's page does not name it.
"""

from __future__ import annotations

from tenure.uri.forms import LocalHost, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "duckdb",
    LocalHost(),
    Path(("schema", "table"), tree="database"),
    Names("duckdb://{authority}", "{database}.{schema}.{table}"),
    bare=True,
)


def duckdb(*, database: str, table: str, schema: str = "main", host: str = "localhost") -> DatasetURI:
    """A table; `database` is the absolute path of the file."""
    return SCHEME.build({"database": database, "table": table, "schema": schema, "host": host})
