"""Tables of Trino: `trino://{host}[:{port}]/{catalog}/{schema}/{table}`. Source: AIP-60, "Trino"."""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "trino",
    Host(8080),
    Path(("catalog", "schema", "table")),
    Names("trino://{authority}", "{catalog}.{schema}.{table}"),
)


def trino(*, host: str, port: int = 8080, catalog: str, schema: str, table: str) -> DatasetURI:
    """A table or view."""
    return SCHEME.build({"host": host, "port": port, "catalog": catalog, "schema": schema, "table": table})
