"""Tables of SQLite: `sqlite://{host}{file's path}/{table}`.

In the spirit of AIP-60's local files: the host is `localhost` unless named, and the last part is the
table. OpenLineage's page does not name it.
"""

from __future__ import annotations

from tenure.uri.forms import LocalHost, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "sqlite",
    LocalHost(),
    Path(("table",), tree="database"),
    Names("sqlite://{authority}", "{database}.{table}"),
    bare=True,
)


def sqlite(*, database: str, table: str, host: str = "localhost") -> DatasetURI:
    """A table; `database` is the absolute path of the file."""
    return SCHEME.build({"database": database, "table": table, "host": host})
