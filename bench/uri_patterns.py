"""What a look-up among 100,000 patterns costs, against one among 100 of them."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Sequence

from tenure.uri import DatasetURI, URIPattern, URIPatternIndex, parse

MANY = 100_000
FEW = 100
LOOKUPS = 20_000
PAIRS = 5
GOAL = 3.0

Numbered = Callable[[int], str]

# A pattern, and a URI that it matches, of which no other pattern does.
_KINDS: list[tuple[Numbered, Numbered]] = [
    (lambda n: f"s3://lake/orders/customer-{n}/a.csv", lambda n: f"s3://lake/orders/customer-{n}/a.csv"),
    (lambda n: f"s3://lake/in/customer-{n}-*/**", lambda n: f"s3://lake/in/customer-{n}-eu/2026/11/a.csv"),
    (lambda n: f"s3://lake/raw/{{region}}/c-{n}/*.csv", lambda n: f"s3://lake/raw/eu/c-{n}/a.csv"),
    (lambda n: f"s3://lake/**/export-{n}/day=??", lambda n: f"s3://lake/finance/daily/export-{n}/day=07"),
    (lambda n: f"s3://lake/drop/*-{n}-{{kind}}.json", lambda n: f"s3://lake/drop/eu-{n}-orders.json"),
    (lambda n: f"s3://bucket-{n}/**", lambda n: f"s3://bucket-{n}/a/b/c.parquet"),
    (lambda n: f"s3://{{stage}}-{n}/in/*", lambda n: f"s3://test-{n}/in/a.csv"),
    (lambda n: f"gcs://team-{n}/*/{{day}}/**", lambda n: f"gcs://team-{n}/sales/2026-11-20/a/b"),
    (lambda n: f"postgres://db{n}/shop/*/orders_?", lambda n: f"postgres://db{n}/shop/eu/orders_7"),
    (lambda n: f"postgres://*.eu/shop/eu/{{table}}_{n}", lambda n: f"postgres://db.eu/shop/eu/orders_{n}"),
]


def measure() -> None:
    """Print what a look-up of a parsed URI costs, the median ratios of the pairs, and the goal."""
    # All kinds, and numbers from all of the range: each of the few is one of the many.
    few = [number * MANY // FEW + number % len(_KINDS) for number in range(FEW)]
    small, large = (URIPatternIndex(map(_pattern, numbers)) for numbers in (few, range(MANY)))
    same, own = _uris(few), _uris(range(MANY))
    times = [(_seconds(small, same), _seconds(large, same), _seconds(large, own)) for _ in range(PAIRS)]
    of_small, of_large, of_own = (
        statistics.median(side) / LOOKUPS * 1e6 for side in zip(*times, strict=True)
    )
    print(f"a look-up among {FEW} patterns: {of_small:.1f} µs; among {MANY:,}: {of_large:.1f} µs")
    print(f"and for URIs of all the {MANY:,}, seldom the same one again: {of_own:.1f} µs")
    for label, side in (("the same URIs", 1), ("URIs of all patterns", 2)):
        ratio = statistics.median(each[side] / each[0] for each in times)
        print(f"{MANY:,} patterns : {FEW} patterns, {label} = {ratio:.2f} (goal {GOAL} or less)")


def _pattern(number: int) -> URIPattern:
    return URIPattern(_KINDS[number % len(_KINDS)][0](number))


def _uris(numbers: Sequence[int]) -> list[DatasetURI]:
    """URIs that the patterns of these numbers match, at random."""
    chosen = random.Random(7).choices(numbers, k=LOOKUPS)
    return [parse(_KINDS[number % len(_KINDS)][1](number)) for number in chosen]


def _seconds(index: URIPatternIndex, uris: list[DatasetURI]) -> float:
    gc.collect()
    start = time.perf_counter()
    found = [len(index.matching(uri)) for uri in uris]
    taken = time.perf_counter() - start
    assert set(found) == {1}
    return taken


if __name__ == "__main__":
    measure()
