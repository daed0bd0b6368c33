"""Each store's table: spellings of one resource, what it denotes, its OpenLineage name, and literals."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import tenure.uri
from tenure.errors import InvalidURI
from tenure.uri import SCHEMES, canonical, from_openlineage, parse

TABLES = {path.stem: json.loads(path.read_text()) for path in Path(__file__).parent.glob("tables/*.json")}
ROWS = [(name, row) for name, table in TABLES.items() for row in table["same"]]
LITERALS = [(text, reason) for table in TABLES.values() for text, reason in table["literals"].items()]


def test_every_scheme_has_a_table_and_a_builder() -> None:
    names = {scheme.name for scheme in SCHEMES.by_name.values()}
    assert names == set(TABLES)
    assert all(inspect.isfunction(getattr(tenure.uri, name)) for name in names)


def test_every_alias_is_spelled_in_its_table() -> None:
    spelled = {text.partition(":")[0].lower() for _, row in ROWS for text in row["spellings"]}
    assert spelled == set(SCHEMES.by_name)


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_each_spelling_is_the_same_resource(name: str, row: dict[str, Any]) -> None:
    for text in [*row["spellings"], row["canonical"]]:
        uri = parse(text)
        assert uri.canonical == canonical(text) == row["canonical"]
        assert uri.denotes == row["denotes"]
        assert (uri.scheme, uri.reason) == (name, "")


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_openlineage_names_go_both_ways(name: str, row: dict[str, Any]) -> None:
    uri = parse(row["canonical"])
    assert list(uri.openlineage) == row["openlineage"]
    assert from_openlineage(*row["openlineage"]) == uri


@pytest.mark.parametrize(("name", "row"), [each for each in ROWS if "?" not in each[1]["canonical"]])
def test_the_builder_makes_the_same_uri_of_what_it_denotes(name: str, row: dict[str, Any]) -> None:
    assert getattr(tenure.uri, name)(**row["denotes"]) == parse(row["canonical"])


@pytest.mark.parametrize(("text", "reason"), LITERALS)
def test_what_is_not_of_its_schemes_form_is_a_literal_with_the_reason(text: str, reason: str) -> None:
    uri = parse(text)
    assert uri.is_literal
    assert reason in uri.reason
    assert uri.canonical == canonical(text) == text
    with pytest.raises(InvalidURI, match="literal"):
        _ = uri.openlineage
