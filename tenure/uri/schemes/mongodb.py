"""Collections of MongoDB: `mongodb://{host}[:{port}]/{database}/{collection}`.

Source: MongoDB's connection strings, with the collection as the last part. OpenLineage's page does not
name it; the names follow those of the other databases.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "mongodb",
    Host(27017),
    Path(("database", "collection")),
    Names("mongodb://{authority}", "{database}.{collection}"),
)


def mongodb(*, host: str, port: int = 27017, database: str, collection: str) -> DatasetURI:
    """A collection."""
    return SCHEME.build({"host": host, "port": port, "database": database, "collection": collection})
