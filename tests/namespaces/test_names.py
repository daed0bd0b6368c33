"""Names: the rule is the same everywhere, and a refusal tells it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from rest_framework.test import APIClient

from namespaces.models import Namespace
from namespaces.principals import SYSTEM
from namespaces.services.tenancy import put_namespace
from tenure.names import NAME_RULE
from tests.asking import assert_problem

Api = Callable[..., APIClient]
GOOD = ["a", "flights", "f2", "f_l", "a" * 63]
BAD = ["A", "Flights", "2f", "_f", "a-b", "a.b", "a b", "é", "a" * 64, "%00", "flights%0a", "..", "a;b"]


@pytest.mark.parametrize("name", GOOD)
def test_a_good_name_names_a_namespace(api: Api, admin: User, name: str) -> None:
    assert api(admin).put(f"/api/v1/namespaces/{name}", {}, format="json").status_code == 201


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("/api/v1/namespaces/{}", {}),
        ("/api/v1/namespaces/flights/datasets/{}", {"type": "table"}),
        ("/api/v1/namespaces/flights/pipelines/{}", {"source": "x = 1"}),
    ],
)
def test_a_bad_name_is_refused_with_the_rule(
    api: Api, admin: User, flights: Namespace, address: str, body: dict[str, str], name: str
) -> None:
    response = api(admin).put(address.format(name), body, format="json")
    assert_problem(response, 400, NAME_RULE)


def test_nobody_creates_or_changes_system(api: Api, admin: User) -> None:
    assert_problem(
        api(admin).put("/api/v1/namespaces/system", {}, format="json"), 400, "'system' is reserved"
    )


def test_the_database_holds_the_rule_too(db: None) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Namespace.objects.create(name="No Good")


def test_a_name_cannot_be_taken_twice(db: None) -> None:
    first, created = put_namespace(SYSTEM, name="twice")
    second, again = put_namespace(SYSTEM, name="twice")
    assert (created, again) == (True, False)
    assert first == second
