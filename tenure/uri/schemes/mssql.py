"""Tables of Microsoft SQL Server: `mssql://{host}[:{port}]/{database}/{schema}/{table}`.

Source: OpenLineage's naming; the port is that of a default instance.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "mssql",
    Host(1433),
    Path(("database", "schema", "table")),
    Names("mssql://{authority}", "{database}.{schema}.{table}"),
)


def mssql(*, host: str, port: int = 1433, database: str, schema: str, table: str) -> DatasetURI:
    """A table or view."""
    return SCHEME.build({"host": host, "port": port, "database": database, "schema": schema, "table": table})
