"""How long `canonical` takes on 100,000 distinct URIs, against splitting and joining them."""

from __future__ import annotations

import gc
import statistics
import time
import urllib.parse
from collections.abc import Callable

from tenure.uri import canonical
from tenure.uri.secrets import is_secret_key

URIS = 100_000
PAIRS = 5
GOAL = 0.5


def uris() -> list[str]:
    """Distinct URIs of mixed schemes: six in ten as people type them, the others canonical already."""
    return [_KINDS[number % len(_KINDS)](number) for number in range(URIS)]


_KINDS: list[Callable[[int], str]] = [
    lambda n: f"s3://warehouse-{n % 90}/orders/region=eu/day=2026-11-{n % 30:02}/part-{n:07}.parquet",
    lambda n: f"s3a://warehouse-{n % 90}/orders/region=us/day=2026-11-{n % 30:02}/{n}/",
    lambda n: f"postgres://db{n % 40}.example.com:5432/shop/public/orders_{n}",
    lambda n: f"postgresql://app:s3cret@db{n % 40}.example.com/shop/public/orders_{n}",
    lambda n: f"gs://exports/daily reports/{n}/summary é.csv",
    lambda n: f"file:///var/data/in/{n % 100}/flights-{n}.csv",
    lambda n: f"mysql://db{n % 40}/shop/orders_{n}?charset=utf8&app=a",
    lambda n: f"trino://trino.example.com:8443/hive/default/events_{n}",
    lambda n: f"abfss://raw@account{n % 9}.dfs.core.windows.net/landing/{n}.json",
    lambda n: f"a dataset without a scheme, number {n}",
]


def measure() -> None:
    """Print the median ratio of the pairs, each side's rate, and the goal."""
    texts = uris()
    pairs = [(_seconds(canonical, texts), _seconds(_split_and_join, texts)) for _ in range(PAIRS)]
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(our / their for our, their in pairs)
    print(f"canonical: {URIS / ours:,.0f} URIs a second; urlsplit and urlunsplit: {URIS / theirs:,.0f}")
    print(f"canonical : urlsplit + urlunsplit = {ratio:.2f} (goal {GOAL} or less)")


def _split_and_join(text: str) -> object:
    return urllib.parse.urlunsplit(urllib.parse.urlsplit(text))


def _seconds(work: Callable[[str], object], texts: list[str]) -> float:
    urllib.parse.urlsplit.cache_clear()
    is_secret_key.cache_clear()
    gc.collect()
    start = time.perf_counter()
    for text in texts:
        work(text)
    return time.perf_counter() - start


if __name__ == "__main__":
    measure()
