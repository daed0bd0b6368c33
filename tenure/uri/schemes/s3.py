"""Objects of Amazon S3: `s3://{bucket}/{key}`. Source: AIP-60, "Amazon Simple Storage Service".

`s3a` and `s3n` are what Hadoop's connectors call the same store.
"""

from __future__ import annotations

from tenure.uri.forms import Name, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "s3",
    Name("bucket"),
    Path(tree="key", rooted=False),
    Names("s3://{authority}", "{key}", tree=True),
    aliases=("s3a", "s3n"),
)


def s3(*, bucket: str, key: str = "") -> DatasetURI:
    """An object, a prefix, or with no key the bucket."""
    return SCHEME.build({"bucket": bucket, "key": key})
