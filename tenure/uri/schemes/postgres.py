"""Tables of PostgreSQL: `postgres://{host}[:{port}]/{database}/{schema}/{table}`.

Source: AIP-60, "Postgres".
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "postgres",
    Host(5432),
    Path(("database", "schema", "table")),
    Names("postgres://{authority}", "{database}.{schema}.{table}"),
    aliases=("postgresql",),
)


def postgres(*, host: str, port: int = 5432, database: str, schema: str, table: str) -> DatasetURI:
    """A table or view."""
    return SCHEME.build({"host": host, "port": port, "database": database, "schema": schema, "table": table})
