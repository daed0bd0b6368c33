"""Files of HDFS: `hdfs://{name node}[:{port}]{path}`.

Source: Hadoop's file system documentation; the default port is that of `dfs.namenode.rpc-address`.
"""

from __future__ import annotations

from tenure.uri.forms import Host, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "hdfs",
    Host(8020),
    Path(tree="path"),
    Names("hdfs://{authority}", "{path}", tree=True),
)


def hdfs(*, host: str, port: int = 8020, path: str = "/") -> DatasetURI:
    """A file or directory; `host` is a name node or a name service."""
    return SCHEME.build({"host": host, "port": port, "path": path})
