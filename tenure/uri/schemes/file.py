"""Files of a machine: `file://{host}{path}`. Source: AIP-60, "Local file".

Without a host it is `localhost`; a port is dropped. `file:/path` is another spelling.
"""

from __future__ import annotations

from tenure.uri.forms import LocalHost, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "file",
    LocalHost(),
    Path(tree="path"),
    Names("file://{authority}", "{path}", short=("file", {"host": "localhost"}), tree=True),
    bare=True,
)


def file(*, path: str, host: str = "localhost") -> DatasetURI:
    """A file or directory; `path` is absolute."""
    return SCHEME.build({"path": path, "host": host})
