"""Grants: who sees and does what, through themselves and through groups; and what a run is left with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from rest_framework.test import APIClient

from lineage.models import Pipeline, Run
from lineage.services import pipelines, runs
from lineage.services.runs import principal_of_run
from namespaces.models import AuditEvent, Grant, Level, Namespace, Operation
from namespaces.principals import principal_of
from namespaces.services.grants import add_grant, levels_held, remove_grant, require
from registry.models import Dataset
from registry.services.datasets import put_dataset
from tenure.errors import Forbidden, InvalidInput, NotFound
from tests.asking import assert_problem
from tests.conftest import SOURCE, deploy

GRANTS = "/api/v1/namespaces/flights/grants"
ALL = {Level.READ, Level.WRITE, Level.ADMIN}


@pytest.fixture
def carol(db: None) -> User:
    """A user without any grant."""
    return User.objects.create_user("carol")


@pytest.mark.parametrize(
    ("level", "held"), [("READ", {"READ"}), ("WRITE", {"WRITE"}), ("ADMIN", {"READ", "WRITE", "ADMIN"})]
)
@pytest.mark.parametrize("through_a_group", [False, True])
@pytest.mark.parametrize("dataset", ["", "raw"])
def test_a_level_holds_for_what_it_was_granted_on(
    carol: User, flights: Namespace, level: str, held: set[str], through_a_group: bool, dataset: str
) -> None:
    group = Group.objects.create(name="analysts")
    carol.groups.add(group)
    holder: Any = {"group": group} if through_a_group else {"user": carol}
    Grant.objects.create(namespace=flights, dataset=dataset, level=level, **holder)
    who = principal_of(carol)
    assert levels_held(who, flights, "raw") == held
    assert levels_held(who, flights, "other") == (set() if dataset else held)
    assert levels_held(who, flights) == (set() if dataset else held)


def test_an_auditor_reads_everything_and_changes_nothing(auditor: User, flights: Namespace) -> None:
    assert levels_held(principal_of(auditor), flights) == {Level.READ}


def test_an_inactive_user_is_nobody(alice: User, flights: Namespace) -> None:
    alice.is_active = False
    assert levels_held(principal_of(alice), flights) == set()


def test_one_query_decides(alice: User, flights: Namespace, django_assert_num_queries: Any) -> None:
    who = principal_of(alice)
    with django_assert_num_queries(1):
        require(who, Level.ADMIN, flights, "raw")


def test_a_grant_on_one_dataset_shows_that_dataset_alone(
    carol: User, alice: User, flights: Namespace, delays: Pipeline, run: Run
) -> None:
    Grant.objects.create(namespace=flights, dataset="raw", user=carol, level=Level.READ)
    who = principal_of(carol)
    assert list(Namespace.objects.visible_to(who)) == [flights]
    assert list(Dataset.objects.visible_to(who).values_list("name", flat=True)) == ["raw"]
    assert not Pipeline.objects.visible_to(who).exists()
    assert not Run.objects.visible_to(who).exists()
    assert not Operation.objects.visible_to(who).exists()
    assert not AuditEvent.objects.visible_to(who).exists()


def test_each_table_shows_a_reader_what_is_theirs(bob: User, mallory: User, run: Run) -> None:
    who, stranger = principal_of(bob), principal_of(mallory)
    for model in (Namespace, Dataset, Pipeline, Run, Operation, Grant):
        assert model.objects.visible_to(who).exists(), model  # type: ignore[attr-defined]
    assert not AuditEvent.objects.visible_to(who).exists()
    for model in (Dataset, Pipeline, Run, Operation):
        assert not model.objects.visible_to(stranger).exists(), model  # type: ignore[attr-defined]
    assert not AuditEvent.objects.visible_to(stranger).filter(namespace="flights").exists()
    assert {grant.user for grant in Grant.objects.visible_to(who)} == {bob}


def test_a_reader_sees_their_own_grants_and_an_admin_all(api: Any, alice: User, bob: User) -> None:
    assert [grant["user"] for grant in api(bob).get(GRANTS).json()["results"]] == ["bob"]
    assert {grant["user"] for grant in api(alice).get(GRANTS).json()["results"]} == {"alice", "bob"}


def test_granting_twice_is_granting_once(api: Callable[..., APIClient], alice: User, carol: User) -> None:
    body = {"user": "carol", "level": "READ", "dataset": "raw"}
    first = api(alice).post(GRANTS, body, format="json")
    second = api(alice).post(GRANTS, body, format="json")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert AuditEvent.objects.filter(action="namespaces:grant:added", target="carol").count() == 1


def test_a_grant_that_is_taken_back_is_gone_at_once(
    api: Callable[..., APIClient], alice: User, bob: User
) -> None:
    grant = Grant.objects.get(user=bob)
    assert api(alice).delete(f"{GRANTS}/{grant.pk}").status_code == 204
    assert_problem(api(alice).delete(f"{GRANTS}/{grant.pk}"), 404, str(grant.pk))
    assert_problem(api(bob).get("/api/v1/namespaces/flights"), 404, "'flights'")
    event = AuditEvent.objects.get(action="namespaces:grant:removed")
    assert (event.actor, event.target, event.detail) == (
        "alice",
        "bob",
        {"level": "READ", "dataset": "", "to": "user"},
    )


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"level": "READ"}, 400, "either a user or a group"),
        ({"user": "carol", "group": "g", "level": "READ"}, 400, "either a user or a group"),
        ({"user": "nobody", "level": "READ"}, 404, "'nobody'"),
        ({"group": "nobody", "level": "READ"}, 404, "'nobody'"),
        ({"user": "carol", "level": "OWN"}, 400, "level"),
        ({"user": "carol"}, 400, "level"),
        ({"user": "carol", "level": "READ", "dataset": "No Name"}, 400, "'No Name'"),
        ({"user": "carol", "level": "READ", "dataset": "x" * 64}, 400, "dataset"),
        ({"user": "carol", "level": "READ", "until": "tomorrow"}, 400, "until"),
        ({"user": ["carol"], "level": "READ"}, 400, "user"),
    ],
)
def test_a_grant_that_cannot_be_is_refused(
    api: Callable[..., APIClient], alice: User, carol: User, body: dict[str, Any], status: int, words: str
) -> None:
    before = Grant.objects.count()
    assert_problem(api(alice).post(GRANTS, body, format="json"), status, words)
    assert Grant.objects.count() == before


def test_an_admin_of_another_namespace_grants_nothing_here(
    mallory: User, flights: Namespace, carol: User
) -> None:
    with pytest.raises(Forbidden, match="needs ADMIN on namespace 'flights'"):
        add_grant(principal_of(mallory), namespace=flights, level="READ", user="carol")


def test_an_admin_of_one_dataset_does_not_administer_the_namespace(carol: User, flights: Namespace) -> None:
    grant = Grant.objects.create(namespace=flights, dataset="raw", user=carol, level=Level.ADMIN)
    with pytest.raises(Forbidden):
        add_grant(principal_of(carol), namespace=flights, level="ADMIN", user="carol")
    with pytest.raises(Forbidden):
        remove_grant(principal_of(carol), grant)


def test_a_run_has_no_more_than_its_graph_names_and_its_owner_holds(run: Run, flights: Namespace) -> None:
    who = principal_of_run(run)
    assert levels_held(who, flights, "raw") == {Level.READ}
    assert levels_held(who, flights, "flights") == {Level.READ, Level.WRITE}
    assert levels_held(who, flights, "other") == set()
    assert levels_held(who, flights) == set()
    assert levels_held(principal_of_run(run, "average"), flights, "flights") == {Level.READ}
    assert levels_held(principal_of_run(run, "average"), flights, "raw") == set()


def test_a_run_for_a_platform_admin_has_no_more_than_its_graph_names(admin: User, flights: Namespace) -> None:
    put_dataset(
        principal_of(admin),
        namespace=flights,
        name="raw",
        type="file_set",
        uri="file:///data/x.csv",
        properties={"format": "csv"},
    )
    deploy(admin, flights)
    who = principal_of_run(runs.start_run(principal_of(admin), Pipeline.objects.get()))
    assert not who.sees_everything
    assert levels_held(who, flights, "raw") == {Level.READ}
    assert levels_held(who, flights, "other") == set()
    assert {each.name for each in Dataset.objects.visible_to(who)} == {"raw", "flights", "by_carrier"}


def test_whoever_deploys_is_who_later_runs_act_for(
    alice: User, bob: User, flights: Namespace, delays: Pipeline, run: Run
) -> None:
    Grant.objects.create(namespace=flights, user=bob, level=Level.WRITE)
    deploy(bob, flights, SOURCE + "\n# now mine\n")
    delays.refresh_from_db()
    later = runs.start_run(principal_of(alice), delays)
    assert delays.owner == bob
    assert principal_of_run(later).name == "bob"


def test_code_never_runs_with_the_grants_of_who_deployed_after_it(
    alice: User, admin: User, flights: Namespace, delays: Pipeline, run: Run
) -> None:
    deploy(admin, flights, SOURCE + "\n# the admin's\n")
    run.refresh_from_db()
    assert principal_of_run(run).name == "alice"
    assert not principal_of_run(run).is_admin


def test_nobody_deploys_without_write(bob: User, flights: Namespace) -> None:
    with pytest.raises(Forbidden, match="needs WRITE"):
        pipelines.deploy_pipeline(principal_of(bob), namespace=flights, name="mine", source=SOURCE)


def test_a_wrong_level_is_named(alice: User, bob: User, flights: Namespace) -> None:
    with pytest.raises(InvalidInput, match="'OWN'"):
        add_grant(principal_of(alice), namespace=flights, level="OWN", user="bob")
    with pytest.raises(NotFound, match="'nobody'"):
        add_grant(principal_of(alice), namespace=flights, level="READ", user="nobody")
