"""What is sent: wrong JSON, wrong types, unknown fields, too much; each is refused with its field."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError
from rest_framework.test import APIClient

from console.errors import as_tenure_error
from lineage.models import Pipeline
from namespaces.models import Namespace
from registry.models import Dataset
from tests.asking import assert_problem

Api = Callable[..., APIClient]
NAMESPACE = "/api/v1/namespaces/flights"
DATASET = f"{NAMESPACE}/datasets/raw"
PIPELINE = f"{NAMESPACE}/pipelines/delays"


@pytest.mark.parametrize("path", [NAMESPACE, DATASET, PIPELINE])
@pytest.mark.parametrize("body", ["{", "", "nonsense", '{"a": NaN}', "[" * 100_000, '{"a":' * 50_000])
def test_what_is_no_json_is_refused(api: Api, alice: User, raw: Dataset, path: str, body: str) -> None:
    response = api(alice).put(path, body, content_type="application/json")
    if body == "" and path != PIPELINE:
        assert response.status_code == 200  # an empty body changes nothing
    else:
        assert_problem(response, 400)


@pytest.mark.parametrize("path", [NAMESPACE, DATASET, PIPELINE])
@pytest.mark.parametrize("body", ["[]", '"text"', "3", "null", "true", "[1, 2]"])
def test_what_is_no_object_is_refused(api: Api, alice: User, raw: Dataset, path: str, body: str) -> None:
    assert_problem(api(alice).put(path, body, content_type="application/json"), 400)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (NAMESPACE, {"description": ["x"]}, "description"),
        (NAMESPACE, {"description": None}, "description"),
        (NAMESPACE, {"description": "x" * 10_001}, "description"),
        (NAMESPACE, {"description": "a\x00b"}, "description"),
        (NAMESPACE, {"descripton": "x"}, "descripton"),
        (DATASET, {"type": "spreadsheet"}, "type"),
        (DATASET, {"type": 3}, "type"),
        (DATASET, {"uri": {"x": 1}}, "uri"),
        (DATASET, {"uri": "x" * 8193}, "uri"),
        (DATASET, {"properties": [1]}, "properties"),
        (DATASET, {"properties": "x"}, "properties"),
        (DATASET, {"properties": None}, "properties"),
        (DATASET, {"properties": {"format": "csv", "colour": "red"}}, "colour"),
        (DATASET, {"properties": {"format": "xlsx"}}, "format"),
        (DATASET, {"properties": {"format": "csv", "header": "yes"}}, "header"),
        (DATASET, {"properties": {"header": True}}, "format"),
        (DATASET, {"propertys": {}}, "propertys"),
        (DATASET, {"description": "\ud800"}, "description"),
        (PIPELINE, {}, "source"),
        (PIPELINE, {"source": None}, "source"),
        (PIPELINE, {"source": ["x"]}, "source"),
        (PIPELINE, {"source": "x = 1", "schedule": "@daily"}, "schedule"),
    ],
)
def test_a_wrong_field_is_named(
    api: Api, alice: User, raw: Dataset, path: str, body: dict[str, Any], field: str
) -> None:
    response = api(alice).put(path, json.dumps(body), content_type="application/json")
    assert_problem(response, 400, field)


@pytest.mark.parametrize(
    "properties", [{"delimiter": "\x00"}, {"null_value": "\ud800"}, {"delimiter": "a\x00b"}]
)
def test_a_text_that_no_database_can_hold_is_refused(
    api: Api, alice: User, raw: Dataset, properties: dict[str, str]
) -> None:
    body = json.dumps({"properties": {"format": "csv", **properties}})
    assert_problem(api(alice).put(DATASET, body, content_type="application/json"), 400)
    raw.refresh_from_db()
    assert raw.specification and raw.specification.version == 1


def test_a_body_over_the_limit_is_refused_unread(api: Api, alice: User, flights: Namespace) -> None:
    body = json.dumps({"description": "x" * (9 * 1024 * 1024)})
    assert_problem(api(alice).put(NAMESPACE, body, content_type="application/json"), 413, "8,388,608")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/xml"])
def test_only_json_is_read(api: Api, alice: User, flights: Namespace, kind: str) -> None:
    assert_problem(api(alice).put(NAMESPACE, "description=x", content_type=kind), 415)


@pytest.mark.parametrize(
    "header", ["rubbish", "1", '""', '"1', '"-1"', '"1.5"', '"1", "2"', "W/x", '"' + "9" * 5000 + '"']
)
def test_a_rubbish_if_match_is_refused(api: Api, alice: User, raw: Dataset, header: str) -> None:
    for path in (NAMESPACE, DATASET):
        response = api(alice).put(path, {"description": "x"}, format="json", HTTP_IF_MATCH=header)
        if header in ("1", '"1'):  # forgiven: quotes are often lost on the way
            assert response.status_code in (200, 400)
        else:
            assert_problem(response, 400, "If-Match")


@pytest.mark.parametrize(
    "query",
    [
        "state=sideways",
        "state=queued&state=x",
        "page_size=0",
        "page_size=-1",
        "page_size=many",
        "page_size=201",
        "after=rubbish",
        "before=eyJhIjoxfQ",
        "after=WyJhYmMiXQ",
        "after=W251bGxd",
        "after=WzFlOTldXQ",
    ],
)
def test_a_wrong_question_to_a_list_is_refused(api: Api, alice: User, delays: Pipeline, query: str) -> None:
    assert_problem(api(alice).get(f"/api/v1/runs?{query}"), 400)


@pytest.mark.parametrize("query", ["q=%00", "namespace=%00", "owner=%00", "type=table%00"])
def test_a_nul_in_a_question_is_refused(api: Api, alice: User, raw: Dataset, query: str) -> None:
    assert_problem(api(alice).get(f"/api/v1/datasets?{query}"), 400)


@pytest.mark.parametrize("query", ["run=x", "since=yesterday", "until=1", "outcome=maybe", "access=steal"])
def test_a_wrong_filter_of_the_audit_log_names_its_field(
    api: Api, alice: User, flights: Namespace, query: str
) -> None:
    assert_problem(api(alice).get(f"/api/v1/audit?{query}"), 400, query.split("=")[0])


def test_a_database_that_is_away_is_told_as_such_and_not_as_a_defect() -> None:
    for error in (OperationalError("the server closed the connection"), InterfaceError("closed")):
        assert as_tenure_error(error).status == 503
