"""Are the demonstration's answers right? Asks the tables themselves, by way of the Iceberg catalog."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from pyiceberg.catalog import Catalog, load_catalog

from console.demonstration.deploy import NAMESPACE
from tenure.client import Client
from tenure.errors import TenureError

TABLES = {
    "flights": 336_776,
    "airlines": 16,
    "airports": 1_458,
    "planes": 3_322,
    "weather": 26_115,
    "delays_by_carrier": 16,
    "delays_by_weather": 335_220,
    "daily_delays": 1_095,
}
"""Rows of each table that the pipeline writes."""

FLIGHTS_IN_MARCH = 28_834
MEAN_ARRIVAL_DELAYS = {"F9": 21.92, "AS": -9.93}


class WrongAnswer(TenureError):
    """A table of the demonstration does not hold what the original data says."""

    code, title = "wrong_answer", "The demonstration's answers are wrong"


def check(catalog_url: str, token: str) -> dict[str, int]:
    """Rows by table, when all is right; raises `WrongAnswer` with a line for each thing that is not."""
    catalog = load_catalog("tenure", type="rest", uri=catalog_url, token=token)
    rows = {name: _count(catalog, name) for name in TABLES}
    wrong = [
        f"{name} has {rows[name]} rows, not {wanted}"
        for name, wanted in TABLES.items()
        if rows[name] != wanted
    ]
    wrong += _wrong_details(catalog)
    if wrong:
        raise WrongAnswer("; ".join(wrong))
    return rows


def _count(catalog: Catalog, name: str, **scan: Any) -> int:
    return int(catalog.load_table((NAMESPACE, name)).scan(**scan).count())


def _wrong_details(catalog: Catalog) -> Iterator[str]:
    march = _count(catalog, "flights", row_filter="month = 3")
    if march != FLIGHTS_IN_MARCH:
        yield f"flights has {march} rows in March, not {FLIGHTS_IN_MARCH}"
    means = catalog.load_table((NAMESPACE, "delays_by_carrier")).scan().to_arrow().to_pylist()
    found = {row["carrier"]: row["arr_delay"] for row in means}
    for carrier, wanted in MEAN_ARRIVAL_DELAYS.items():
        if not math.isclose(found.get(carrier, math.nan), wanted, abs_tol=0.005):
            yield f"the mean arrival delay of {carrier} is {found.get(carrier)}, not {wanted}"


def summary(client: Client, rows: dict[str, int], say: Callable[[str], None]) -> None:
    """A line for each table: its rows, and how often it was accessed, by the console's own record."""
    say("\nDataset                          rows   accesses")
    for name, count in rows.items():
        accesses = sum(1 for _ in client.results(f"namespaces/{NAMESPACE}/datasets/{name}/accesses"))
        say(f"  {name:<26}{count:>9,}{accesses:>11,}")
