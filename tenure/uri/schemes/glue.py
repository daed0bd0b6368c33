"""Tables of the AWS Glue Data Catalog: `glue://{region}/{account}/{database}/{table}`.

Source: the ARNs of Glue, which are OpenLineage's names of them; `account` is the AWS account's id.
"""

from __future__ import annotations

from tenure.uri.forms import Name, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "glue",
    Name("region", lower=True, pattern="[a-z0-9-]+"),
    Path(("account", "database", "table")),
    Names("arn:aws:glue:{region}:{account}", "table/{database}/{table}"),
)


def glue(*, region: str, account: str, database: str, table: str) -> DatasetURI:
    """A table."""
    return SCHEME.build({"region": region, "account": account, "database": database, "table": table})
