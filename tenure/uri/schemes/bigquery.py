"""Tables of BigQuery: `bigquery://{project}/{dataset}/{table}`. Source: AIP-60, "Google BigQuery"."""

from __future__ import annotations

from tenure.uri.forms import Name, Names, Path, Scheme
from tenure.uri.model import DatasetURI

SCHEME = Scheme(
    "bigquery",
    Name("project"),
    Path(("dataset", "table")),
    Names("bigquery", "{project}.{dataset}.{table}"),
)


def bigquery(*, project: str, dataset: str, table: str) -> DatasetURI:
    """A table or view; `project` is the project's id."""
    return SCHEME.build({"project": project, "dataset": dataset, "table": table})
