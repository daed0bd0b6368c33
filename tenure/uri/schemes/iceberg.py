"""Tables of this console: `iceberg://{namespace}/{name}`.

Tenure gives a table this URI; where its files lie is not part of its name. OpenLineage's page does not
name it.
"""

from __future__ import annotations

from tenure.names import NAME_PATTERN
from tenure.uri.forms import Name, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "iceberg",
    Name("namespace", pattern=NAME_PATTERN),
    Path(("name",), pattern=NAME_PATTERN),
    Names("iceberg://{authority}", "{name}"),
)


def iceberg(*, namespace: str, name: str) -> DatasetURI:
    """A table, by its namespace and its name there."""
    return SCHEME.build({"namespace": namespace, "name": name})
