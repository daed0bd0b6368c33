"""URIs of datasets: one resource is one dataset, found by any spelling, and passwords stay outside."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from namespaces.models import AuditEvent, Grant, Level, Namespace
from namespaces.principals import principal_of
from registry import places
from registry.models import Dataset, Specification
from registry.services.datasets import put_dataset
from tenure.errors import Conflict, InvalidURI, TenureError
from tenure.uri import SCHEMES, DatasetURI, parse
from tests.asking import assert_problem, at_once

Api = Callable[..., APIClient]
Browse = Callable[[User], Client]
DATASETS = "/api/v1/namespaces/flights/datasets"
ORDERS = f"{DATASETS}/orders"
CANONICAL = "postgres://db.example.org:5432/shop/public/orders"
SECRET = "hunter2"
SPELLINGS = [
    CANONICAL,
    "postgres://db.example.org/shop/public/orders",
    "PostgreSQL://DB.Example.org:05432/shop/public/orders/",
    f"postgresql://me:{SECRET}@db.example.org/shop/public/orders",
    f"postgres://db.example.org/sh%6Fp/public/orders?password={SECRET}#part",
]


def external(uri: str) -> dict[str, str]:
    """What registers a dataset of another store."""
    return {"type": "external", "uri": uri}


def names(response: Any) -> list[str]:
    """The datasets of a list."""
    assert response.status_code == 200, response.content
    return [each["name"] for each in response.json()["results"]]


@pytest.fixture
def orders(alice: User, flights: Namespace) -> Dataset:
    """A table of another store that alice registered, with a password in its URI."""
    return put_dataset(
        principal_of(alice), namespace=flights, name="orders", type="external", uri=SPELLINGS[3]
    )[0]


@pytest.mark.parametrize("first", SPELLINGS)
def test_a_table_written_in_any_way_is_one_dataset(
    api: Api, alice: User, flights: Namespace, first: str
) -> None:
    client = api(alice)
    made = client.put(ORDERS, external(first), format="json")
    assert (made.status_code, made.json()["uri"]) == (201, CANONICAL)
    for spelling in SPELLINGS:
        again = client.put(ORDERS, external(spelling), format="json")
        assert (again.status_code, again.json()) == (200, made.json())
        assert_problem(client.put(f"{ORDERS}2", external(spelling), format="json"), 409, "'orders'")
    assert Specification.objects.count() == 1


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("address", [DATASETS, "/api/v1/datasets"])
def test_it_is_found_by_any_spelling_and_not_by_strangers(
    api: Api, bob: User, mallory: User, orders: Dataset, spelling: str, address: str
) -> None:
    assert names(api(bob).get(address, {"uri": spelling})) == ["orders"]
    assert names(api(bob).get(address, {"uri": "postgres://db.example.org/shop/public/other"})) == []
    assert names(api(mallory).get("/api/v1/datasets", {"uri": spelling})) == []
    assert_problem(api(mallory).get(DATASETS, {"uri": spelling}), 404, "'flights'")


def test_the_same_uri_may_stand_in_each_namespace_once(
    api: Api, admin: User, mallory: User, orders: Dataset
) -> None:
    answer = api(mallory).put(
        "/api/v1/namespaces/elsewhere/datasets/orders", external(CANONICAL), format="json"
    )
    assert answer.status_code == 201
    found = api(admin).get("/api/v1/datasets", {"uri": SPELLINGS[2]})
    assert [each["namespace"] for each in found.json()["results"]] == ["elsewhere", "flights"]
    assert names(api(mallory).get("/api/v1/datasets", {"uri": SPELLINGS[2]})) == ["orders"]


def test_another_uri_is_another_dataset(api: Api, alice: User, orders: Dataset) -> None:
    answer = api(alice).put(ORDERS, external(f"{CANONICAL}2"), format="json")
    assert_problem(answer, 409, f"stands for {CANONICAL}", "cannot change")


def test_a_second_dataset_is_not_named_to_who_may_not_see_the_first(
    api: Api, mallory: User, flights: Namespace, orders: Dataset
) -> None:
    Grant.objects.create(namespace=flights, dataset="mine", user=mallory, level=Level.WRITE)
    problem = assert_problem(
        api(mallory).put(f"{DATASETS}/mine", external(SPELLINGS[1]), format="json"), 409, "Another dataset"
    )
    assert "orders'" not in str(problem)
    assert not Dataset.objects.filter(name="mine").exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_register_a_uri_at_once_one_is_told_of_the_other(alice: User, flights: Namespace) -> None:
    def put(name: str, uri: str) -> Callable[[], Any]:
        return lambda: put_dataset(
            principal_of(alice), namespace=flights, name=name, type="external", uri=uri
        )

    results = at_once(*[put(f"orders_{number}", uri) for number, uri in enumerate(SPELLINGS)])
    refused = [each for each in results if isinstance(each, Exception)]
    assert len(refused) == len(SPELLINGS) - 1
    winner = Dataset.objects.get()
    assert {type(each) for each in refused} == {Conflict}
    assert all(f"{winner.name!r}" in str(each) for each in refused)
    assert Specification.objects.count() == 1
    assert AuditEvent.objects.filter(action="registry:dataset:created").count() == 1


def test_who_is_later_by_a_moment_gets_the_same_refusal(
    alice: User, flights: Namespace, orders: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    from registry.services import datasets

    refuse, calls = datasets._refuse_second, []

    def refuse_at_the_second_look(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) > 1:
            refuse(*arguments)

    monkeypatch.setattr(datasets, "_refuse_second", refuse_at_the_second_look)
    with pytest.raises(Conflict, match="'orders'"):
        put_dataset(principal_of(alice), namespace=flights, name="late", type="external", uri=SPELLINGS[1])
    assert list(Dataset.objects.values_list("name", flat=True)) == ["orders"]


def everything_stored() -> str:
    """All rows of all tables, as text."""
    with connection.cursor() as cursor:
        texts = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT each::text FROM "{table}" each')  # noqa: S608  # its own tables
            texts += [row[0] for row in cursor.fetchall()]
    return "\n".join(texts)


LITERAL_SECRETS = [
    f"warehouse://me:{SECRET}@db/orders",
    f"jdbc:postgresql://me:{SECRET}@db/shop",
    f"https://example.org/orders?token={SECRET}",
    f"postgres://me:{SECRET}/x@db/shop/public/orders",
]


@pytest.mark.parametrize("uri", [*SPELLINGS[3:], *LITERAL_SECRETS])
def test_a_password_goes_nowhere(
    api: Api,
    browser_of: Browse,
    alice: User,
    flights: Namespace,
    caplog: pytest.LogCaptureFixture,
    uri: str,
) -> None:
    client, browser, seen = api(alice), browser_of(alice), []
    caplog.set_level(logging.DEBUG)
    with CaptureQueriesContext(connection) as queries:
        for _ in range(2):
            seen.append(client.put(ORDERS, external(uri), format="json"))
            seen.append(client.put(f"{ORDERS}2", external(uri), format="json"))
        seen.append(client.put(ORDERS, {"type": "file_set", "uri": uri}, format="json"))
        for address in (DATASETS, "/api/v1/datasets"):
            seen.append(client.get(address, {"uri": uri, "page_size": 1}))
            seen.append(client.get(address, {"q": uri}))
        seen.append(client.get("/api/v1/audit"))
        seen.append(browser.get("/datasets/", {"uri": uri}))
        seen.append(browser.get("/datasets/", {"q": uri}))
        seen.append(browser.get("/audit/"))
        seen.append(browser.get("/datasets/flights/orders/"))
        seen.append(browser.get("/datasets/flights/orders/delete"))
        seen.append(client.delete(ORDERS))
    assert not [each for each in seen if SECRET in each.content.decode()]
    assert SECRET not in caplog.text
    assert not [each["sql"] for each in queries if SECRET in each["sql"]]
    assert SECRET not in everything_stored()


def test_what_was_typed_stays_without_the_password(api: Api, alice: User, orders: Dataset) -> None:
    body = api(alice).get(ORDERS).json()
    assert body["typed_uri"] == "postgresql://***@db.example.org/shop/public/orders"
    assert body["denotes"] == {
        "host": "db.example.org",
        "port": "5432",
        "database": "shop",
        "schema": "public",
        "table": "orders",
    }
    assert (body["literal"], body["literal_reason"], body["warnings"], body["location"]) == (
        False,
        "",
        [],
        "",
    )
    event = AuditEvent.objects.get(action="registry:dataset:created", target="orders")
    assert event.detail == {"type": "external", "uri": CANONICAL}


def test_the_link_to_the_next_page_asks_the_same_without_the_password(
    api: Api, admin: User, mallory: User, orders: Dataset
) -> None:
    elsewhere = Namespace.objects.get(name="elsewhere")
    put_dataset(principal_of(mallory), namespace=elsewhere, name="theirs", type="external", uri=CANONICAL)
    first = api(admin).get("/api/v1/datasets", {"uri": SPELLINGS[3], "page_size": 1}).json()
    assert SECRET not in first["next"]
    second = api(admin).get(first["next"]).json()
    assert [each["name"] for each in (*first["results"], *second["results"])] == ["theirs", "orders"]


@pytest.mark.parametrize("uri", LITERAL_SECRETS)
def test_a_literal_that_seems_to_carry_a_password_is_refused(
    api: Api, alice: User, flights: Namespace, uri: str
) -> None:
    answer = api(alice).put(ORDERS, external(uri), format="json")
    assert_problem(answer, 400, "seems to carry a password", "Leave out")
    assert not Dataset.objects.exists()
    assert names(api(alice).get(DATASETS, {"uri": uri})) == []


def test_a_literal_is_kept_byte_for_byte_and_shown_as_such(
    api: Api, browser_of: Browse, alice: User, flights: Namespace
) -> None:
    text = "Warehouse://Orders/../Täglich?b&a#c "
    body = api(alice).put(ORDERS, external(text), format="json").json()
    reason = "the scheme 'warehouse' is not one that Tenure knows"
    assert (body["uri"], body["typed_uri"], body["denotes"], body["literal"]) == (text, text, {}, True)
    assert body["literal_reason"] == reason
    assert names(api(alice).get(DATASETS, {"uri": text})) == ["orders"]
    assert names(api(alice).get(DATASETS, {"uri": text.strip()})) == []
    page = browser_of(alice).get("/datasets/flights/orders/").content.decode()
    assert '<span class="tag">literal</span>' in page
    assert reason.replace("'", "&#x27;") in page
    assert "In OpenLineage" not in page


def test_a_page_shows_what_a_uri_denotes(browser_of: Browse, alice: User, orders: Dataset) -> None:
    page = browser_of(alice).get("/datasets/flights/orders/").content.decode()
    assert f'<dd class="whole mono">{CANONICAL}</dd>' in page
    assert "postgresql://***@db.example.org/shop/public/orders" in page
    for label, value in (("Host", "db.example.org"), ("Port", "5432"), ("Table", "orders")):
        assert f'<dt>{label}</dt><dd class="mono">{value}</dd>' in page
    assert '<span class="line">shop.public.orders</span>' in page
    assert '<span class="tag">external</span>' in page


def test_what_follows_a_hash_is_warned_of(
    api: Api, browser_of: Browse, alice: User, flights: Namespace
) -> None:
    body = api(alice).put(ORDERS, external("s3://bucket/a#b"), format="json").json()
    assert (body["uri"], body["typed_uri"]) == ("s3://bucket/a", "s3://bucket/a#b")
    assert ["%23" in each for each in body["warnings"]] == [True]
    assert "%23" in browser_of(alice).get("/datasets/flights/orders/").content.decode()


def test_what_hides_in_a_name_is_made_visible(
    api: Api, browser_of: Browse, alice: User, flights: Namespace
) -> None:
    body = api(alice).put(ORDERS, external("s3://bucket/a%00b\u202egnp%0A"), format="json").json()
    assert body["uri"] == "s3://bucket/a%00b%E2%80%AEgnp%0A"
    assert body["denotes"] == {"bucket": "bucket", "key": "a\x00b\u202egnp\n"}
    page = browser_of(alice).get("/datasets/flights/orders/").content.decode()
    assert "a\\x00b\\u202egnp\\n" in page
    assert "\x00" not in page and "\u202e" not in page
    api(alice).put(f"{ORDERS}2", external("a literal \u202egnp"), format="json")
    for address in ("/datasets/flights/orders2/", "/audit/"):
        page = browser_of(alice).get(address).content.decode()
        assert "a literal \\u202egnp" in page and "\u202e" not in page


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("", "needs a 'uri'"),
        ("iceberg://flights/orders", "register a table instead"),
        ("ICEBERG:anything", "register a table instead"),
        ("airflow://dag/task", "airflow"),
        ("s3://bucket/a\tb", "control character"),
        ("s3://bucket/a\n", "control character"),
        ("s3://bucket/" + "ä" * 1000, "4096"),
        ("x" * 4097, "4096"),
        ("x" * 8193, "8192"),
    ],
)
def test_a_uri_that_names_no_dataset_of_another_store_is_refused(
    api: Api, alice: User, flights: Namespace, uri: str, words: str
) -> None:
    assert_problem(api(alice).put(ORDERS, external(uri), format="json"), 400, words)
    assert not Dataset.objects.exists()


def test_an_external_dataset_has_no_properties(api: Api, alice: User, flights: Namespace) -> None:
    body = external(CANONICAL) | {"properties": {"format": "csv"}}
    assert_problem(api(alice).put(ORDERS, body, format="json"), 400, "'format'", "knows none")


def test_the_longest_uri_is_registered_and_found(api: Api, alice: User, flights: Namespace) -> None:
    uri = "s3://bucket/" + "k" * (4096 - len("s3://bucket/"))
    body = api(alice).put(ORDERS, external(uri), format="json").json()
    assert body["uri"] == uri
    assert names(api(alice).get(DATASETS, {"uri": f"{uri}/"})) == ["orders"]
    assert_problem(api(alice).put(f"{ORDERS}2", external(uri), format="json"), 409, "'orders'")


@pytest.mark.parametrize("uri", ["s3://bucket/a\tb", "airflow://x", "x" * 5000])
def test_asking_for_what_is_no_uri_is_told(
    api: Api, browser_of: Browse, alice: User, flights: Namespace, uri: str
) -> None:
    for address in (DATASETS, "/api/v1/datasets"):
        assert assert_problem(api(alice).get(address, {"uri": uri}), 400)["code"] == "invalid_uri"
    assert browser_of(alice).get("/datasets/", {"uri": uri}).status_code == 400


def test_the_search_finds_by_uri_too(api: Api, browser_of: Browse, bob: User, orders: Dataset) -> None:
    for spelling in SPELLINGS:
        assert names(api(bob).get("/api/v1/datasets", {"q": spelling})) == ["orders"]
        assert (
            "/datasets/flights/orders/" in browser_of(bob).get("/datasets/", {"q": spelling}).content.decode()
        )
    for nothing in ("postgres://elsewhere/a/b/c", "s3://bucket/a\tb", "airflow://x", "://"):
        assert names(api(bob).get("/api/v1/datasets", {"q": nothing})) == []
    assert names(api(bob).get("/api/v1/datasets", {"q": "orde"})) == ["orders"]


def plan_of(namespace: str = "") -> str:
    """How Postgres looks a URI up among many."""
    datasets = Dataset.objects.at_uri(SPELLINGS[1]).order_by()
    if namespace:
        datasets = datasets.filter(namespace__name=namespace)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE registry_dataset")
    return datasets.explain()


def test_a_look_up_uses_the_index_in_one_namespace_and_in_all(flights: Namespace) -> None:
    Dataset.objects.bulk_create(
        Dataset(namespace=flights, name=f"d{n}", type="external", uri=f"s3://bucket/{n}") for n in range(3000)
    )
    for plan in (plan_of(), plan_of("flights")):
        assert "dataset_uri_once_a_namespace" in plan
        assert "Seq Scan on registry_dataset" not in plan


def test_a_literal_keeps_its_identity_when_its_scheme_becomes_known(
    api: Api, alice: User, flights: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a plug-in does it; the literal stays what it was registered as."""
    client, text = api(alice), "lake://Bucket/orders/"
    client.put(ORDERS, external(text), format="json")
    monkeypatch.setitem(SCHEMES.by_name, "lake", SCHEMES.by_name["s3"])
    assert parse(text).canonical == "s3://Bucket/orders"
    found = client.get(DATASETS, {"uri": text}).json()["results"][0]
    assert (found["uri"], found["literal"], found["denotes"]["bucket"]) == (text, False, "Bucket")
    assert client.put(ORDERS, external(text), format="json").status_code == 200
    assert_problem(client.put(f"{ORDERS}2", external(text), format="json"), 409, "'orders'")


def test_a_stored_uri_that_todays_rules_refuse_breaks_no_page(
    api: Api, browser_of: Browse, alice: User, orders: Dataset
) -> None:
    Dataset.objects.filter(pk=orders.pk).update(uri="airflow://orders", typed_uri="airflow://orders")
    body = api(alice).get(ORDERS).json()
    assert (body["uri"], body["literal"]) == ("airflow://orders", True)
    assert "airflow" in body["literal_reason"]
    assert browser_of(alice).get("/datasets/flights/orders/").status_code == 200


def test_a_tables_page_shows_its_name_and_where_it_lives(
    browser_of: Browse, alice: User, flights: Namespace
) -> None:
    dataset, _ = put_dataset(principal_of(alice), namespace=flights, name="delays", type="table")
    page = browser_of(alice).get("/datasets/flights/delays/").content.decode()
    assert "iceberg://flights/delays" in page
    assert dataset.location in page
    assert "Typed as" not in page


@pytest.mark.parametrize(
    "uri",
    [
        "file:/data/flights.csv",
        "FILE://localhost/data/fl%69ghts.csv/",
        "s3a://bucket/a b/100%25/%C3%A4",
        "gs://bucket",
        "abfs://box@account.dfs.core.windows.net/x",
        "wasb://box@account.blob.core.windows.net/x",
        "hdfs://namenode/x",
        "dbfs://workspace/x",
    ],
)
def test_files_are_registered_by_any_spelling(api: Api, alice: User, flights: Namespace, uri: str) -> None:
    body = {"type": "file_set", "uri": uri, "properties": {"format": "csv"}}
    made = api(alice).put(ORDERS, body, format="json")
    assert made.status_code == 201, made.content
    canonical = made.json()["uri"]
    assert canonical == parse(uri).canonical
    assert api(alice).put(ORDERS, body | {"uri": canonical}, format="json").status_code == 200


@pytest.mark.parametrize(
    ("warehouse", "uri"),
    [
        ("s3://bucket/house", "s3a://bucket/house/x"),
        ("s3a://bucket/a b%20c", "s3://bucket/a%20b%2520c/x"),
        ("s3://bucket", "s3://bucket/anything"),
        (
            "abfss://box@account.dfs.core.windows.net/house",
            "wasbs://box@account.blob.core.windows.net/house/x",
        ),
        ("hdfs://namenode/house", "hdfs://NAMENODE:8020/house"),
        ("gs://bucket/house/", "gcs://bucket/house/x"),
        ("file:///srv/my house#1", "file:/srv/my%20house%231/x"),
        ("file:/srv//house", "file:///srv"),
    ],
)
def test_no_spelling_of_the_warehouse_passes(settings: Any, warehouse: str, uri: str) -> None:
    settings.TENURE_WAREHOUSE = warehouse
    with pytest.raises(TenureError, match="meets the warehouse"):
        places.check_readable(parse(uri))


@pytest.mark.parametrize("uri", ["s3://bucket/warehouses", "s3://other/house", "gcs://bucket/house"])
def test_a_neighbour_of_the_warehouse_passes(settings: Any, uri: str) -> None:
    settings.TENURE_WAREHOUSE = "s3://bucket/house"
    places.check_readable(parse(uri))


def test_the_files_of_the_demonstration_pass() -> None:
    places.check_readable(parse(f"file://{settings.TENURE_HOME}/demonstration/flights.csv"))


def test_deleting_says_that_the_data_of_another_store_stays(
    api: Api, browser_of: Browse, alice: User, orders: Dataset
) -> None:
    preview = api(alice).delete(f"{ORDERS}?dry_run=1").json()
    assert (preview["uri"], preview["location"], preview["removes_files"]) == (CANONICAL, "", False)
    browser = browser_of(alice)
    assert "stays where it is" in browser.get("/datasets/flights/orders/delete").content.decode()
    answer = browser.post("/datasets/flights/orders/delete", {"name": "orders"}, follow=True)
    assert "its data stays where it is" in answer.content.decode()


def test_at_uri_takes_what_was_parsed_already(orders: Dataset) -> None:
    assert Dataset.objects.at_uri(parse(SPELLINGS[4])).get() == orders
    assert not Dataset.objects.at_uri(DatasetURI("s3://bucket", typed="s3://bucket")).exists()
    with pytest.raises(InvalidURI):
        Dataset.objects.at_uri("a\nb")
