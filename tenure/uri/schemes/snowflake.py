"""Tables of Snowflake: `snowflake://{account}/{database}/{schema}/{table}`.

Source: OpenLineage's naming and Snowflake's account identifiers, which do not tell capitals apart.
The host name that an account has is another spelling of it.
"""

from __future__ import annotations

from tenure.uri.forms import Name, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "snowflake",
    Name("account", lower=True, host=r"(.+)\.snowflakecomputing\.com(?::443)?", pattern="[a-z0-9._-]+"),
    Path(("database", "schema", "table")),
    Names("snowflake://{authority}", "{database}.{schema}.{table}"),
)


def snowflake(*, account: str, database: str, schema: str, table: str) -> DatasetURI:
    """A table or view; `account` as in `organization-account`."""
    return SCHEME.build({"account": account, "database": database, "schema": schema, "table": table})
