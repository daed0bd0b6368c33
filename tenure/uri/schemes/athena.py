"""Tables of Amazon Athena: `athena://{region}/{catalog}/{database}/{table}`.

Source: OpenLineage's naming, whose `awsathena://athena.{region}.amazonaws.com` is another spelling.
"""

from __future__ import annotations

from tenure.uri.forms import Name, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "athena",
    Name("region", lower=True, host=r"athena\.(.+?)\.amazonaws\.com(?:\.cn)?(?::443)?", pattern="[a-z0-9-]+"),
    Path(("catalog", "database", "table")),
    Names("awsathena://athena.{region}.amazonaws.com", "{catalog}.{database}.{table}"),
    aliases=("awsathena",),
)


def athena(*, region: str, catalog: str, database: str, table: str) -> DatasetURI:
    """A table or view."""
    return SCHEME.build({"region": region, "catalog": catalog, "database": database, "table": table})
