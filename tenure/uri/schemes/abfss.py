"""Azure Data Lake Storage Gen2: `abfss://{container}@{account host}{path}`.

Source: Hadoop's ABFS documentation, "the URI scheme". `abfs` is the same without TLS. What stands
before `@` is the container, not a user.
"""

from __future__ import annotations

from tenure.uri.forms import Container, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "abfss",
    Container(),
    Path(tree="path"),
    Names("abfss://{authority}", "{path}", tree=True),
    aliases=("abfs",),
)


def abfss(*, container: str, host: str, path: str = "/") -> DatasetURI:
    """A file or directory; `host` as in `account.dfs.core.windows.net`."""
    return SCHEME.build({"container": container, "host": host, "path": path})
