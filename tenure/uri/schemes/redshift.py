"""Tables of Amazon Redshift: `redshift://{host}[:{port}]/{database}/{schema}/{table}`.

Source: OpenLineage's naming, where the host is `{cluster identifier}.{region}`; the port is Redshift's own.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "redshift",
    Host(5439),
    Path(("database", "schema", "table")),
    Names("redshift://{authority}", "{database}.{schema}.{table}"),
)


def redshift(*, host: str, port: int = 5439, database: str, schema: str, table: str) -> DatasetURI:
    """A table or view; `host` as in `cluster.region`."""
    return SCHEME.build({"host": host, "port": port, "database": database, "schema": schema, "table": table})
