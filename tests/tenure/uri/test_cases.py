"""The 238 cases of AIP-60."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenure.errors import InvalidURI
from tenure.uri import SCHEMES, Schemes, canonical, parse

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())

ONE_SPELLING = {
    "s3://b/a%2fb": "s3://b/a%2Fb",
    "s3://b/%7Euser": "s3://b/~user",
    "file:///%2e%2e/a": "file://localhost/../a",
}
"""Where the cases keep two spellings of one name apart, Tenure does not: see docs/decisions.md."""

MORE_STORES = ("abfss://", "wasbs://", "redshift://")
"""Literals for AIP-60, which does not name these stores; Tenure knows them."""


def aip_60_alone() -> Schemes:
    """The seven stores that AIP-60 names."""
    schemes = Schemes(group="")
    for name in ("file", "s3", "gcs", "postgres", "mysql", "bigquery", "trino"):
        schemes.add(SCHEMES.by_name[name])
    return schemes


def outcome(schemes: Schemes, text: str) -> tuple[str, str | None]:
    try:
        uri = schemes.parse(text)
    except InvalidURI:
        return "reserved", None
    assert uri.canonical == schemes.canonical(text)
    return "literal" if uri.is_literal else "canonical", uri.canonical


def test_there_are_238() -> None:
    assert len(CASES) == 238


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["input"])
def test_the_stores_of_aip_60_have_its_canonical_forms(case: dict[str, Any]) -> None:
    expected = case["kind"], ONE_SPELLING.get(case["input"], case["expected"])
    assert outcome(aip_60_alone(), case["input"]) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["input"])
def test_more_stores_change_nothing_of_it(case: dict[str, Any]) -> None:
    text = case["input"]
    if text.startswith(MORE_STORES):
        assert not parse(text).is_literal
    else:
        assert outcome(SCHEMES, text) == outcome(aip_60_alone(), text)


@pytest.mark.parametrize(("typed", "expected"), ONE_SPELLING.items())
def test_escapes_that_change_nothing_make_no_second_name(typed: str, expected: str) -> None:
    assert canonical(typed) == canonical(expected) == expected
