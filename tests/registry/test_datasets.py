"""Datasets over the API: registered, updated with `If-Match`, found again; and two who write at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from lineage.models import Pipeline
from namespaces.models import Namespace
from namespaces.principals import principal_of
from registry.models import Dataset, Specification
from registry.services.datasets import put_dataset
from tests.asking import assert_problem, at_once

Api = Callable[..., APIClient]
RAW = "/api/v1/namespaces/flights/datasets/raw"
FILES = {
    "type": "file_set",
    "uri": "file:///data/flights.csv",
    "properties": {"format": "csv", "header": True},
}


def test_it_is_created_once_and_then_found(api: Api, alice: User, flights: Namespace) -> None:
    client = api(alice)
    first, second, third = (client.put(RAW, FILES, format="json") for _ in range(3))
    assert [first.status_code, second.status_code, third.status_code] == [201, 200, 200]
    assert [each["ETag"] for each in (first, second, third)] == ['"1"'] * 3
    found = client.get(RAW)
    assert found["ETag"] == '"1"'
    assert found.json() == second.json()
    assert {
        key: found.json()[key] for key in ("namespace", "name", "owner", "version", "rows", "snapshot_id")
    } == {
        "namespace": "flights",
        "name": "raw",
        "owner": "alice",
        "version": 1,
        "rows": None,
        "snapshot_id": None,
    }


def test_a_table_lives_where_tenure_puts_it(api: Api, alice: User, flights: Namespace) -> None:
    address = "/api/v1/namespaces/flights/datasets/delays"
    body = api(alice).put(address, {"type": "table"}, format="json").json()
    assert (body["uri"], body["typed_uri"], body["literal"]) == ("iceberg://flights/delays", "", False)
    assert body["location"].startswith(f"{settings.TENURE_WAREHOUSE}/flights/delays-")
    assert api(alice).put(address, {"uri": "ICEBERG://flights/delays/"}, format="json").status_code == 200
    answer = api(alice).put(f"{address}2", {"type": "table", "uri": "file:///tmp/mine"}, format="json")
    assert_problem(answer, 400, "'uri'")


def test_an_update_on_an_old_version_is_refused(api: Api, alice: User, raw: Dataset) -> None:
    client = api(alice)
    changed = client.put(RAW, {"description": "One"}, format="json", HTTP_IF_MATCH='"1"')
    assert (changed.status_code, changed["ETag"], changed.json()["description"]) == (200, '"2"', "One")
    assert_problem(
        client.put(RAW, {"description": "Two"}, format="json", HTTP_IF_MATCH='"1"'), 412, "version 2"
    )
    assert client.get(RAW).json()["description"] == "One"
    assert client.put(RAW, {"description": "Two"}, format="json", HTTP_IF_MATCH='W/"2"').status_code == 200
    assert client.put(RAW, {"description": "Three"}, format="json", HTTP_IF_MATCH="*").status_code == 200
    assert [each.version for each in Specification.objects.order_by("version")] == [1, 2, 3, 4]


def test_if_match_never_creates(api: Api, alice: User, admin: User, flights: Namespace) -> None:
    assert_problem(api(alice).put(RAW, FILES, format="json", HTTP_IF_MATCH='"1"'), 412, "'raw'")
    assert_problem(
        api(admin).put("/api/v1/namespaces/new", {}, format="json", HTTP_IF_MATCH='"1"'), 412, "'new'"
    )
    assert not Dataset.objects.exists()


def test_a_namespace_has_an_etag_too(api: Api, alice: User, flights: Namespace) -> None:
    address = "/api/v1/namespaces/flights"
    client = api(alice)
    assert client.get(address)["ETag"] == '"1"'
    changed = client.put(address, {"description": "New"}, format="json", HTTP_IF_MATCH='"1"')
    assert (changed.status_code, changed["ETag"]) == (200, '"2"')
    assert_problem(
        client.put(address, {"description": "Newer"}, format="json", HTTP_IF_MATCH='"1"'), 412, "version 2"
    )


def test_only_a_platform_admin_creates_a_namespace(api: Api, alice: User, admin: User) -> None:
    assert_problem(api(alice).put("/api/v1/namespaces/mine", {}, format="json"), 403, "platform admin")
    made = api(admin).put("/api/v1/namespaces/mine", {"description": "x"}, format="json")
    assert (made.status_code, made["ETag"]) == (201, '"1"')


@pytest.mark.parametrize(
    ("body", "words"),
    [({"type": "table"}, "type cannot change"), ({"uri": "file:///data/other.csv"}, "URI cannot change")],
)
def test_what_makes_a_dataset_what_it_is_does_not_change(
    api: Api, alice: User, raw: Dataset, body: dict[str, str], words: str
) -> None:
    assert_problem(api(alice).put(RAW, body, format="json"), 409, words)


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("", "needs a 'uri'"),
        ("flights.csv", "cannot be read as files: it has no scheme"),
        ("http://example.org/x.csv", "the scheme 'http' is not one that Tenure knows"),
        ("postgres://db/shop/public/orders", "postgres:// names cannot be read as files"),
        ("iceberg://flights/by_carrier", "iceberg:// names cannot be read as files"),
        ("dbfs:/data", "does not begin with dbfs://"),
        ("file://elsewhere/data", "without a host"),
        ("s3://bucket/x?versionId=7", "no query"),
        ("s3://bucket//x", "no empty part"),
        ("s3://bucket/a%2Fb", "no slash inside"),
        ("s3://bucket/a%00b", "no empty part"),
        ("s3://bucket/%2E%2e/x", "'..'"),
        ("s3://bucket/%2A.csv", "none of *"),
        ("s3://bucket/a%5Bb", "none of *"),
        ("file:///data/../etc/passwd", "'..'"),
        (f"{settings.TENURE_WAREHOUSE}/flights/x", "meets the warehouse"),
        (settings.TENURE_WAREHOUSE, "meets the warehouse"),
        (settings.TENURE_WAREHOUSE.rpartition("/")[0], "meets the warehouse"),
        (settings.TENURE_WAREHOUSE.replace("file://", "file://localhost"), "meets the warehouse"),
        (settings.TENURE_WAREHOUSE.replace("file://", "file:"), "meets the warehouse"),
        (settings.TENURE_WAREHOUSE.replace("file://", "FILE://localhost:99") + "/", "meets the warehouse"),
        (settings.TENURE_WAREHOUSE.replace("house", "%68ouse"), "meets the warehouse"),
        (settings.TENURE_WAREHOUSE.replace("file://", "file:///"), "no empty part"),
        (settings.TENURE_WAREHOUSE.replace("file://", "file:///."), "no '.'"),
        (settings.TENURE_WAREHOUSE[:-2] + "*", "none of *"),
        (f"file://{settings.TENURE_HOME}/secrets.json", "the console's own directory"),
    ],
)
def test_a_uri_that_cannot_be_read_is_refused(
    api: Api, alice: User, flights: Namespace, uri: str, words: str
) -> None:
    assert_problem(api(alice).put(RAW, FILES | {"uri": uri}, format="json"), 400, words)
    assert not Dataset.objects.exists()


def test_a_new_dataset_needs_a_type(api: Api, alice: User, flights: Namespace) -> None:
    assert_problem(
        api(alice).put(RAW, {"uri": "file:///x"}, format="json"), 400, "'type'", "table, file_set, external"
    )


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["by_carrier", "flights", "raw"]),
        ("q=carr", ["by_carrier"]),
        ("q=CARRIER+by", ["by_carrier"]),
        ("q=nothing", []),
        ("type=file_set", ["raw"]),
        ("owner=alice", ["by_carrier", "flights", "raw"]),
        ("owner=bob", []),
        ("namespace=flights&type=table", ["by_carrier", "flights"]),
    ],
)
def test_the_list_is_filtered(api: Api, bob: User, delays: Pipeline, query: str, names: list[str]) -> None:
    for address in ("/api/v1/datasets", "/api/v1/namespaces/flights/datasets"):
        results = api(bob).get(f"{address}?{query}").json()["results"]
        assert [each["name"] for each in results] == names


@pytest.mark.django_db(transaction=True)
def test_one_of_two_who_create_at_once_creates(alice: User, flights: Namespace) -> None:
    def put(text: str) -> Callable[[], Any]:
        return lambda: put_dataset(
            principal_of(alice),
            namespace=flights,
            name="raw",
            description=text,
            **FILES,  # type: ignore[arg-type]
        )

    results = at_once(put("one"), put("two"))
    assert sorted(each[1] for each in results if isinstance(each, tuple)) == [False, True]


@pytest.mark.django_db(transaction=True)
def test_updates_at_once_follow_one_another(alice: User, raw: Dataset, flights: Namespace) -> None:
    def put(text: str) -> Callable[[], Any]:
        return lambda: put_dataset(principal_of(alice), namespace=flights, name="raw", description=text)

    results = at_once(*[put(f"text {n}") for n in range(4)])
    assert not [each for each in results if isinstance(each, Exception)]
    assert list(Specification.objects.order_by("version").values_list("version", flat=True)) == [
        1,
        2,
        3,
        4,
        5,
    ]


@pytest.mark.django_db(transaction=True)
def test_of_two_updates_on_one_version_one_is_refused(alice: User, raw: Dataset, flights: Namespace) -> None:
    def put(text: str) -> Callable[[], Any]:
        return lambda: put_dataset(
            principal_of(alice), namespace=flights, name="raw", description=text, expected_version=1
        )

    results = at_once(put("one"), put("two"))
    assert sum(isinstance(each, Exception) for each in results) == 1
