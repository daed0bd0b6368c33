"""Deleting a dataset: told beforehand, refused while it is used, finished whatever dies on the way."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from lineage.models import Pipeline
from namespaces.models import AuditEvent, Grant, Namespace, Operation
from namespaces.principals import principal_of
from namespaces.services.operations import claim_operation, sweep_operations
from registry.models import Dataset, Snapshot, Specification
from registry.services import deletion
from registry.services.datasets import put_dataset
from tenure.errors import NotFound
from tests.asking import assert_problem, at_once

SPARE = "/api/v1/namespaces/flights/datasets/spare"


@pytest.fixture
def spare(alice: User, bob: User, flights: Namespace) -> Dataset:
    """A table with two real files and a grant of its own."""
    dataset, _ = put_dataset(principal_of(alice), namespace=flights, name="spare", type="table")
    directory = place(dataset) / "data"
    directory.mkdir(parents=True)
    for name in ("one.parquet", "two.parquet"):
        (directory / name).write_text("rows")
    Grant.objects.create(namespace=flights, dataset="spare", user=bob, level="WRITE")
    return dataset


def place(dataset: Dataset) -> Path:
    """Where its files are."""
    return Path(dataset.location.removeprefix("file://"))


def test_a_dry_run_says_what_would_go_and_removes_nothing(
    api: Callable[..., APIClient], alice: User, spare: Dataset
) -> None:
    preview = api(alice).delete(f"{SPARE}?dry_run=true").json()
    assert preview["dataset"] == "flights/spare"
    assert (preview["uri"], preview["location"]) == ("iceberg://flights/spare", spare.location)
    assert (preview["removes_files"], preview["grants"], preview["specifications"], preview["used_by"]) == (
        True,
        1,
        1,
        [],
    )
    assert Dataset.objects.filter(name="spare").exists()
    assert len(list(place(spare).rglob("*.parquet"))) == 2


def test_rows_grants_and_files_go(api: Callable[..., APIClient], alice: User, spare: Dataset) -> None:
    answer = api(alice).delete(SPARE)
    assert answer.status_code == 202
    assert not Dataset.objects.filter(name="spare").exists()
    assert not Specification.objects.filter(dataset__name="spare").exists()
    assert not Snapshot.objects.exists()
    assert not Grant.objects.filter(dataset="spare").exists()
    deletion.remove_files(answer.json()["id"])
    assert not place(spare).exists()
    operation = api(alice).get(f"/api/v1/operations/{answer.json()['id']}").json()
    assert (operation["state"], operation["result"]) == ("succeeded", {"location": spare.location})
    assert_problem(api(alice).delete(SPARE), 404, "'spare'")


def test_what_is_created_again_under_the_name_is_another(
    alice: User, bob: User, flights: Namespace, spare: Dataset
) -> None:
    operation = deletion.delete_dataset(principal_of(alice), spare)
    again, created = put_dataset(principal_of(alice), namespace=flights, name="spare", type="table")
    assert created
    assert again.uri == spare.uri
    assert again.location != spare.location
    place(again).mkdir(parents=True)
    deletion.remove_files(operation.pk)
    assert place(again).exists()
    assert not Grant.objects.filter(user=bob, dataset="spare").exists()


def test_the_files_of_a_file_set_are_not_tenures_and_stay(
    api: Callable[..., APIClient], alice: User, raw: Dataset, tmp_path: Path
) -> None:
    theirs = tmp_path / "flights.csv"
    theirs.write_text("a,b")
    Dataset.objects.filter(pk=raw.pk).update(uri=f"file://{theirs}")
    preview = api(alice).delete("/api/v1/namespaces/flights/datasets/raw?dry_run=1").json()
    assert preview["removes_files"] is False
    deletion.remove_files(api(alice).delete("/api/v1/namespaces/flights/datasets/raw").json()["id"])
    assert theirs.exists()


def test_a_dataset_that_a_pipeline_uses_stays(
    api: Callable[..., APIClient], alice: User, delays: Pipeline
) -> None:
    address = "/api/v1/namespaces/flights/datasets/raw"
    assert api(alice).delete(f"{address}?dry_run=yes").json()["used_by"] == ["pipeline flights/delays"]
    before = AuditEvent.objects.count()
    assert_problem(api(alice).delete(address), 409, "pipeline flights/delays")
    assert Dataset.objects.filter(name="raw").exists()
    assert AuditEvent.objects.count() == before
    assert not Operation.objects.filter(kind="delete_dataset").exists()


def test_what_was_killed_between_rows_and_files_is_finished_by_the_sweep(alice: User, spare: Dataset) -> None:
    operation = deletion.delete_dataset(principal_of(alice), spare)
    Operation.objects.filter(pk=operation.pk).update(
        state="running", woken_at=timezone.now() - datetime.timedelta(hours=1)
    )
    assert place(spare).exists()
    assert sweep_operations() == 1
    deletion.remove_files(operation.pk)
    operation.refresh_from_db()
    assert (operation.state, operation.attempt) == ("succeeded", 2)
    assert not place(spare).exists()


def test_what_was_killed_after_the_files_is_finished_too(alice: User, spare: Dataset) -> None:
    import shutil

    operation = deletion.delete_dataset(principal_of(alice), spare)
    shutil.rmtree(place(spare))
    deletion.remove_files(operation.pk)
    deletion.remove_files(operation.pk)
    operation.refresh_from_db()
    assert operation.state == "succeeded"
    assert AuditEvent.objects.filter(action="registry:dataset:files_removed").count() == 1


def test_storage_that_is_away_is_tried_again_and_then_told(
    alice: User, spare: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation = deletion.delete_dataset(principal_of(alice), spare)

    def away(operation: Operation, location: str) -> bool:
        raise OSError("the storage is away")

    monkeypatch.setattr(deletion, "_remove_tree", away)
    states: list[str] = []
    for _ in range(3):
        deletion.remove_files(operation.pk)
        operation.refresh_from_db()
        states.append(operation.state)
        Operation.objects.filter(pk=operation.pk).update(
            woken_at=timezone.now() - datetime.timedelta(hours=1)
        )
        if operation.state == "running":
            sweep_operations()
    assert states == ["running", "running", "failed"]
    assert "the storage is away" in operation.error["detail"]


def test_a_location_is_no_quoted_uri(alice: User, spare: Dataset) -> None:
    place = Path(settings.TENURE_HOME) / "warehouse" / "with a space" / "ä 100%"
    (place / "data").mkdir(parents=True)
    (place / "data" / "1.parquet").write_text("rows")
    Dataset.objects.filter(pk=spare.pk).update(location=f"file://{place}")
    operation = deletion.delete_dataset(principal_of(alice), Dataset.objects.with_facts().get(pk=spare.pk))
    deletion.remove_files(operation.pk)
    operation.refresh_from_db()
    assert operation.state == "succeeded", operation.error
    assert not place.exists()


def test_removing_tells_how_far_it_is_and_stops_when_another_took_over(
    alice: User, spare: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "FILES_A_REPORT", 1)
    operation = deletion.delete_dataset(principal_of(alice), spare)
    claimed = claim_operation(operation.pk)
    assert claimed
    Operation.objects.filter(pk=operation.pk).update(attempt=2)
    assert not deletion._remove_tree(claimed, spare.location)


def test_a_deletion_is_not_cancelled_half_way(
    api: Callable[..., APIClient], alice: User, spare: Dataset
) -> None:
    operation = deletion.delete_dataset(principal_of(alice), spare)
    assert_problem(api(alice).post(f"/api/v1/operations/{operation.pk}/cancel"), 409, "half done")


@pytest.mark.django_db(transaction=True)
def test_two_deletions_at_once_are_one(alice: User, spare: Dataset) -> None:
    def delete() -> Any:
        return deletion.delete_dataset(principal_of(alice), Dataset.objects.with_facts().get(pk=spare.pk))

    results = at_once(delete, delete)
    assert sum(isinstance(each, Operation) for each in results) == 1
    assert sum(isinstance(each, NotFound | Dataset.DoesNotExist) for each in results) == 1
    assert AuditEvent.objects.filter(action="registry:dataset:deleted").count() == 1
