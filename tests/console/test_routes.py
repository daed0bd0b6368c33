"""Every route of the API: what nobody, a stranger, a reader and an auditor get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from console.urls import lineage_api, namespaces_api, registry_api
from lineage.models import Run
from namespaces.models import AuditEvent, Grant, Operation
from tests.asking import assert_problem

Api = Callable[..., APIClient]
PATTERNS = {pattern.name: pattern for pattern in (*namespaces_api, *registry_api, *lineage_api)}
NAMED = sorted(name for name, pattern in PATTERNS.items() if pattern.pattern.converters)
LISTS_OF_ALL = sorted(set(PATTERNS) - set(NAMED))
POST_ONLY = {"api-operation-cancel", "api-run-cancel"}
DELETE_ONLY = {"api-grant"}
WRITES: list[tuple[str, str, Any, str]] = [
    ("put", "api-namespace", {"description": "x"}, "ADMIN"),
    ("post", "api-grants", {"user": "bob", "level": "ADMIN"}, "ADMIN"),
    ("delete", "api-grant", None, "ADMIN"),
    ("post", "api-operation-cancel", None, "alice"),
    ("put", "api-dataset", {"description": "x"}, "WRITE"),
    ("delete", "api-dataset", None, "ADMIN"),
    ("put", "api-pipeline", {"source": "x = 1"}, "WRITE"),
    ("post", "api-runs", None, "WRITE"),
    ("post", "api-run-cancel", None, "WRITE"),
]


@pytest.fixture
def address(run: Run, alice: User, bob: User) -> Callable[..., str]:
    """The path of a route, filled with things that exist."""
    values: dict[str, Any] = {
        "namespace": "flights",
        "dataset": "raw",
        "pipeline": "delays",
        "run": run.number,
        "version": 1,
        "operation": Operation.objects.latest("pk").pk,
        "grant": Grant.objects.get(user=bob).pk,
    }

    def path_of(name: str, **others: Any) -> str:
        needed = PATTERNS[name].pattern.converters
        return reverse(name, kwargs={key: (values | others)[key] for key in needed})

    return path_of


def test_all_routes_are_known_to_these_tests() -> None:
    assert len(PATTERNS) == 24
    assert len(LISTS_OF_ALL) == 6


@pytest.mark.parametrize("method", ["get", "put", "post", "delete"])
def test_nobody_gets_nothing(api: Api, address: Callable[..., str], method: str) -> None:
    for name in PATTERNS:
        response = getattr(api(), method)(address(name), {}, format="json")
        assert_problem(response, 401, "Authorization: Bearer")
        assert response["WWW-Authenticate"].startswith("Bearer"), name


@pytest.mark.parametrize("name", NAMED)
def test_a_stranger_is_told_that_there_is_no_such_thing(
    api: Api, address: Callable[..., str], mallory: User, name: str
) -> None:
    method = "post" if name in POST_ONLY else "delete" if name in DELETE_ONLY else "get"
    path = address(name)
    last = "operation" if "operation" in name else "flights"
    assert_problem(getattr(api(mallory), method)(path), 404, "There is no", last)


@pytest.mark.parametrize("name", LISTS_OF_ALL)
def test_a_stranger_finds_nothing_of_others_in_a_list(
    api: Api, address: Callable[..., str], mallory: User, name: str
) -> None:
    response = api(mallory).get(address(name))
    assert response.status_code == 200
    assert "flights" not in response.content.decode()


@pytest.mark.parametrize("name", sorted(set(PATTERNS) - POST_ONLY - DELETE_ONLY))
@pytest.mark.parametrize("who", ["alice", "bob", "auditor", "admin"])
def test_who_may_see_reads(
    request: pytest.FixtureRequest, api: Api, address: Callable[..., str], name: str, who: str
) -> None:
    assert api(request.getfixturevalue(who)).get(address(name)).status_code == 200


@pytest.mark.parametrize(("method", "name", "body", "missing"), WRITES)
@pytest.mark.parametrize("who", ["bob", "auditor"])
def test_who_may_only_read_is_told_what_is_missing(
    request: pytest.FixtureRequest,
    api: Api,
    address: Callable[..., str],
    who: str,
    method: str,
    name: str,
    body: Any,
    missing: str,
) -> None:
    before = AuditEvent.objects.count()
    response = getattr(api(request.getfixturevalue(who)), method)(address(name), body, format="json")
    assert_problem(response, 403, missing)
    assert AuditEvent.objects.count() == before


@pytest.mark.parametrize(
    ("name", "unknown", "shown"),
    [
        ("api-namespace", {"namespace": "nowhere"}, "'nowhere'"),
        ("api-datasets", {"namespace": "nowhere"}, "'nowhere'"),
        ("api-dataset", {"dataset": "nothing"}, "'nothing'"),
        ("api-dataset", {"namespace": "nowhere"}, "'nowhere'"),
        ("api-snapshots", {"dataset": "nothing"}, "'nothing'"),
        ("api-accesses", {"dataset": "nothing"}, "'nothing'"),
        ("api-lineage", {"dataset": "nothing"}, "'nothing'"),
        ("api-pipelines", {"namespace": "nowhere"}, "'nowhere'"),
        ("api-pipeline", {"pipeline": "nothing"}, "'nothing'"),
        ("api-versions", {"pipeline": "nothing"}, "'nothing'"),
        ("api-version", {"version": 77}, "77"),
        ("api-runs", {"pipeline": "nothing"}, "'nothing'"),
        ("api-run", {"run": 77}, "77"),
        ("api-run-log", {"run": 77}, "77"),
        ("api-run", {"run": 10**30}, str(10**30)),
        ("api-version", {"version": 10**30}, str(10**30)),
        ("api-operation", {"operation": 10**30}, str(10**30)),
        ("api-grants", {"namespace": "nowhere"}, "'nowhere'"),
    ],
)
def test_what_is_unknown_is_named(
    api: Api, address: Callable[..., str], alice: User, name: str, unknown: dict[str, Any], shown: str
) -> None:
    assert_problem(api(alice).get(address(name, **unknown)), 404, shown)


@pytest.mark.parametrize("name", NAMED)
def test_a_name_that_no_database_can_hold_is_no_failure(
    api: Api, address: Callable[..., str], admin: User, name: str
) -> None:
    for part in ("namespace", "dataset", "pipeline"):
        if part in PATTERNS[name].pattern.converters:
            response = api(admin).get(address(name, **{part: "x\x00y"}))
            assert response.status_code in (400, 404, 405), name


def test_an_address_of_the_api_that_does_not_exist_is_a_problem_and_no_login_page(
    api: Api, alice: User
) -> None:
    assert_problem(api(alice).get("/api/v1/nothing/here"), 404)
    assert_problem(api().get("/api/v1/nothing/here"), 404)


def test_a_method_that_a_route_lacks_is_refused(api: Api, address: Callable[..., str], alice: User) -> None:
    assert_problem(api(alice).post(address("api-namespace"), {}, format="json"), 405, "POST")
