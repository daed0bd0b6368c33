"""Tables of Oracle Database: `oracle://{host}[:{port}]/{service}/{schema}/{table}`.

Source: OpenLineage's naming; `service` is a service name or a SID, the port that of the listener.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "oracle",
    Host(1521),
    Path(("service", "schema", "table")),
    Names("oracle://{authority}", "{service}.{schema}.{table}"),
)


def oracle(*, host: str, port: int = 1521, service: str, schema: str, table: str) -> DatasetURI:
    """A table or view."""
    return SCHEME.build({"host": host, "port": port, "service": service, "schema": schema, "table": table})
