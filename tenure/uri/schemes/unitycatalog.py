"""Tables of Unity Catalog: `unitycatalog://{host}[:{port}]/{catalog}/{schema}/{table}`.

Source: OpenLineage's naming; the default port is that of HTTPS, which its names leave out.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "unitycatalog",
    Host(443),
    Path(("catalog", "schema", "table")),
    Names(
        "unitycatalog://{authority}",
        "{catalog}.{schema}.{table}",
        short=("unitycatalog://{place}", {"port": "443"}),
    ),
)


def unitycatalog(*, host: str, port: int = 443, catalog: str, schema: str, table: str) -> DatasetURI:
    """A table or view; `host` is the workspace's."""
    return SCHEME.build({"host": host, "port": port, "catalog": catalog, "schema": schema, "table": table})
