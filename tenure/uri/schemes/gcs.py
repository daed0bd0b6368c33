"""Objects of Google Cloud Storage: `gcs://{bucket}/{key}`. Source: AIP-60, "Google Cloud Storage".

`gs` is the alias that most tools write, OpenLineage among them.
"""

from __future__ import annotations

from tenure.uri.forms import Name, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "gcs",
    Name("bucket"),
    Path(tree="key", rooted=False),
    Names("gs://{authority}", "{key}", tree=True),
    aliases=("gs",),
)


def gcs(*, bucket: str, key: str = "") -> DatasetURI:
    """An object, a prefix, or with no key the bucket."""
    return SCHEME.build({"bucket": bucket, "key": key})
