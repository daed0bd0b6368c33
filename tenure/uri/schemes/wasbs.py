"""Azure Blob Storage: `wasbs://{container}@{account host}/{key}`.

Source: Hadoop's Azure Blob Storage documentation. `wasb` is the same without TLS. An account with a
hierarchical namespace shows the same bytes under `abfss`; that the two are one cannot be seen in
the names, so they stay two.
"""

from __future__ import annotations

from tenure.uri.forms import Container, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "wasbs",
    Container(),
    Path(tree="key", rooted=False),
    Names("wasbs://{authority}", "{key}", tree=True),
    aliases=("wasb",),
)


def wasbs(*, container: str, host: str, key: str = "") -> DatasetURI:
    """A blob; `host` as in `account.blob.core.windows.net`."""
    return SCHEME.build({"container": container, "host": host, "key": key})
