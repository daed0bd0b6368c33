"""Tables of Apache Cassandra: `cassandra://{host}[:{port}]/{keyspace}/{table}`.

Source: OpenLineage's naming; the port is `native_transport_port`.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "cassandra",
    Host(9042),
    Path(("keyspace", "table")),
    Names("cassandra://{authority}", "{keyspace}.{table}"),
)


def cassandra(*, host: str, port: int = 9042, keyspace: str, table: str) -> DatasetURI:
    """A table."""
    return SCHEME.build({"host": host, "port": port, "keyspace": keyspace, "table": table})
