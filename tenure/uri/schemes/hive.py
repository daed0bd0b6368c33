"""Tables of Apache Hive: `hive://{host}:{port}/{database}/{table}`.

Source: OpenLineage's naming. The port is mandatory: 9083 (the metastore) and 10000 (HiveServer2) are
both usual.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "hive",
    Host(None),
    Path(("database", "table")),
    Names("hive://{authority}", "{database}.{table}"),
)


def hive(*, host: str, port: int, database: str, table: str) -> DatasetURI:
    """A table or view."""
    return SCHEME.build({"host": host, "port": port, "database": database, "table": table})
