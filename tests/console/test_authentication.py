"""Who sends a request: tokens that work, tokens that do not, and sessions that need their CSRF token."""

from __future__ import annotations

import datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client
from knox.models import AuthToken
from rest_framework.test import APIClient

from lineage.models import Run
from namespaces.tokens import Work, WorkToken
from tests.asking import assert_problem

NAMESPACE = "/api/v1/namespaces/flights"


def with_token(token: str, scheme: str = "Bearer") -> APIClient:
    """A client that sends this token."""
    client = APIClient(enforce_csrf_checks=True)
    client.credentials(HTTP_AUTHORIZATION=f"{scheme} {token}")
    return client


def test_a_token_is_its_user(alice: User) -> None:
    client = with_token(AuthToken.objects.create(user=alice)[1])
    assert client.get(NAMESPACE).status_code == 200
    assert client.put(NAMESPACE, {"description": "x"}, format="json").status_code == 200


def test_the_token_of_a_stranger_sees_nothing(mallory: User, alice: User) -> None:
    client = with_token(AuthToken.objects.create(user=mallory)[1])
    assert_problem(client.get(NAMESPACE), 404, "'flights'")


def test_the_token_decides_and_not_the_session_beside_it(alice: User, mallory: User) -> None:
    client = with_token(AuthToken.objects.create(user=mallory)[1])
    client.force_login(alice)
    assert_problem(client.get(NAMESPACE), 404)


def test_an_expired_token_is_refused(alice: User) -> None:
    token = AuthToken.objects.create(user=alice, expiry=datetime.timedelta(seconds=-1))[1]
    answer = with_token(token).get(NAMESPACE)
    assert_problem(answer, 401)
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_token_that_was_taken_back_or_whose_user_left_is_refused(alice: User, bob: User) -> None:
    row, token = AuthToken.objects.create(user=alice)
    row.delete()
    assert_problem(with_token(token).get(NAMESPACE), 401)
    _, token = AuthToken.objects.create(user=bob)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert_problem(with_token(token).get(NAMESPACE), 401)


@pytest.mark.parametrize(
    "token", ["", "rubbish", "a b", "é", "ÿþ", "x" * 10_000, "tenure-work:", "tenure-work:x:y:z"]
)
def test_rubbish_is_refused(alice: User, token: str) -> None:
    assert_problem(with_token(token).get(NAMESPACE), 401)


def test_a_token_of_work_is_no_token_of_a_person(run: Run) -> None:
    for work in Work:
        assert_problem(with_token(WorkToken(work, run.pk, run.attempt).sign()).get(NAMESPACE), 401)


def test_another_scheme_is_no_token(alice: User) -> None:
    token = AuthToken.objects.create(user=alice)[1]
    assert_problem(with_token(token, "Basic").get(NAMESPACE), 401)


def test_a_session_writes_with_its_csrf_token_alone(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    refused = client.put(NAMESPACE, "{}", content_type="application/json")
    assert_problem(refused, 403, "CSRF")
    assert client.get(NAMESPACE).status_code == 200
    secret = "a" * 32
    client.cookies["csrftoken"] = secret
    sent = client.put(NAMESPACE, "{}", content_type="application/json", headers={"X-CSRFToken": secret})
    assert sent.status_code == 200


def test_a_run_token_is_refused_once_its_owner_left(client: Client, running: Run, alice: User) -> None:
    headers = {"Authorization": f"Bearer {WorkToken(Work.RUN, running.pk, running.attempt).sign()}"}
    assert client.get("/iceberg/v1/namespaces", headers=headers).json() == {"namespaces": [["flights"]]}
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert client.get("/iceberg/v1/namespaces", headers=headers).status_code == 401
