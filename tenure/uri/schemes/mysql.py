"""Tables of MySQL and MariaDB: `mysql://{host}[:{port}]/{database}/{table}`. Source: AIP-60, "MySQL"."""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "mysql",
    Host(3306),
    Path(("database", "table")),
    Names("mysql://{authority}", "{database}.{table}"),
    aliases=("mariadb",),
)


def mysql(*, host: str, port: int = 3306, database: str, table: str) -> DatasetURI:
    """A table or view."""
    return SCHEME.build({"host": host, "port": port, "database": database, "table": table})
