"""The Databricks File System: `dbfs://{workspace}{path}`.

Source: OpenLineage's naming. Databricks itself writes `dbfs:/path`, which means another file in each
workspace: that is a literal here.
"""

from __future__ import annotations

from tenure.uri.forms import Name, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "dbfs",
    Name("workspace", lower=True),
    Path(tree="path"),
    Names("dbfs://{authority}", "{path}", tree=True),
)


def dbfs(*, workspace: str, path: str = "/") -> DatasetURI:
    """A file or directory of one workspace."""
    return SCHEME.build({"workspace": workspace, "path": path})
