"""The Iceberg catalog, with pyiceberg's own client over HTTP: create, commit, conflict, refuse."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pyarrow as pa
import pytest
from django.contrib.auth.models import User
from knox.models import AuthToken
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import (
    BadRequestError,
    CommitFailedException,
    ForbiddenError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.types import DoubleType, LongType, NestedField, StringType

from lineage.models import Run
from namespaces.models import AuditEvent, Grant, Namespace
from namespaces.tokens import Work, WorkToken
from registry.models import Dataset, IcebergTable, Snapshot
from registry.services import catalog as verbs
from tenure import database as contract

pytestmark = [
    pytest.mark.django_db(transaction=True),
    # pyiceberg's client leaves its sessions to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SCHEMA = Schema(
    NestedField(1, "carrier", StringType(), required=False),
    NestedField(2, "delay", DoubleType(), required=False),
)
ROWS = pa.table({"carrier": ["F9", "AS"], "delay": [21.92, -9.93]})


@pytest.fixture
def catalog_of(live_server: Any) -> Callable[[User | str], RestCatalog]:
    """pyiceberg's catalog as a user, or with a token."""

    def connect(who: User | str) -> RestCatalog:
        token = who if isinstance(who, str) else AuthToken.objects.create(user=who)[1]
        return RestCatalog("tenure", uri=f"{live_server.url}/iceberg", token=token)

    return connect


@pytest.fixture
def table(catalog_of: Callable[[User], RestCatalog], alice: User) -> Any:
    """A table of alice's with two rows."""
    created = catalog_of(alice).create_table("flights.delays", SCHEMA)
    created.append(ROWS)
    return created


@pytest.fixture
def post(live_server: Any, alice: User) -> Iterator[Callable[..., tuple[int, dict[str, Any]]]]:
    """A raw request to the catalog as alice: status and body."""
    token = AuthToken.objects.create(user=alice)[1]

    def send(path: str, body: Any) -> tuple[int, dict[str, Any]]:
        request = Request(  # noqa: S310  # the test's own server
            f"{live_server.url}/iceberg/v1/namespaces/{path}",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urlopen(request) as response:  # noqa: S310
                return response.status, json.load(response)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)

    yield send


def metadata_files(dataset: Dataset) -> set[str]:
    """The metadata files of a table, as URIs."""
    directory = Path(dataset.location.removeprefix("file://")) / "metadata"
    return {f"file://{path}" for path in directory.glob("*.metadata.json")} if directory.exists() else set()


def delays() -> Dataset:
    """The dataset behind the table, as it is now."""
    return Dataset.objects.with_facts().get(namespace__name="flights", name="delays")


def test_what_is_appended_is_read_again(
    table: Any, catalog_of: Callable[[User], RestCatalog], bob: User
) -> None:
    assert catalog_of(bob).load_table("flights.delays").scan().to_arrow().to_pylist() == ROWS.to_pylist()


def test_the_pointer_names_the_file_that_it_repeats(table: Any) -> None:
    row = IcebergTable.objects.get()
    assert row.metadata_location == table.metadata_location
    stored = json.loads(Path(row.metadata_location.removeprefix("file://")).read_text())
    assert stored == row.metadata
    assert row.metadata_location in metadata_files(delays())


def test_snapshots_and_facts_follow_the_commits(table: Any) -> None:
    table.append(ROWS)
    row = IcebergTable.objects.get()
    snapshots = list(Snapshot.objects.order_by("pk"))
    assert [(each.rows, each.added_rows, each.actor) for each in snapshots] == [
        (2, 2, "alice"),
        (4, 2, "alice"),
    ]
    assert snapshots[1].parent_id == snapshots[0].snapshot_id
    assert row.current_snapshot_id == snapshots[1].snapshot_id
    assert (row.rows, row.files, row.version) == (4, 2, 2)
    assert row.bytes > 0


def test_the_specification_follows_the_schema(table: Any) -> None:
    first = delays().specification
    assert first and [(field["name"], field["type"]) for field in first.schema] == [
        ("carrier", "string"),
        ("delay", "double"),
    ]
    table.append(ROWS)
    assert delays().specification == first
    with table.update_schema() as update:
        update.add_column("flights", LongType())
    second = delays().specification
    assert second and second.version == first.version + 1
    assert second.schema[-1] == {"id": 3, "name": "flights", "type": "long", "required": False, "doc": ""}


def test_the_second_of_two_commits_on_one_base_is_refused_and_leaves_no_file(
    table: Any, catalog_of: Callable[[User], RestCatalog], alice: User
) -> None:
    late = catalog_of(alice).load_table("flights.delays")
    with table.update_schema() as update:
        update.add_column("early", LongType())
    files = metadata_files(delays())
    with pytest.raises(CommitFailedException), late.update_schema() as update:
        update.add_column("late", LongType())
    assert metadata_files(delays()) == files
    assert delays().table.version == 2


def test_two_commits_at_once_never_lose_one(
    table: Any, catalog_of: Callable[[User], RestCatalog], alice: User
) -> None:
    clients = [catalog_of(alice).load_table("flights.delays") for _ in range(2)]
    failed: list[Exception] = []

    def append(client: Any) -> None:
        try:
            client.append(ROWS)
        except CommitFailedException as error:
            failed.append(error)

    threads = [threading.Thread(target=append, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = IcebergTable.objects.get()
    assert row.rows == 2 + 2 * (2 - len(failed))
    assert Snapshot.objects.count() == 3 - len(failed)
    assert len(metadata_files(delays())) == row.version + 1


def test_a_table_is_created_once(table: Any, catalog_of: Callable[[User], RestCatalog], alice: User) -> None:
    files = metadata_files(delays())
    with pytest.raises(TableAlreadyExistsError):
        catalog_of(alice).create_table("flights.delays", SCHEMA)
    assert metadata_files(delays()) == files


def test_a_stranger_finds_no_table(
    table: Any, catalog_of: Callable[[User], RestCatalog], mallory: User
) -> None:
    catalog = catalog_of(mallory)
    with pytest.raises(NoSuchTableError):
        catalog.load_table("flights.delays")
    with pytest.raises(Exception, match="flights"):
        catalog.create_table("flights.mine", SCHEMA)
    assert ("flights",) not in catalog.list_namespaces()
    assert not Dataset.objects.filter(name="mine").exists()


def test_a_reader_loads_but_does_not_commit_and_the_denial_stays(
    table: Any, catalog_of: Callable[[User], RestCatalog], bob: User
) -> None:
    loaded = catalog_of(bob).load_table("flights.delays")
    with pytest.raises(ForbiddenError, match="WRITE"):
        loaded.append(ROWS)
    denied = AuditEvent.objects.get(actor="bob", outcome="denied")
    assert (denied.access, denied.target, denied.detail) == (
        "write",
        "delays",
        {"operation": "iceberg.commit"},
    )
    assert IcebergTable.objects.get().rows == 2


def test_nobody_without_a_token_gets_in(live_server: Any, flights: Namespace) -> None:
    with pytest.raises(HTTPError) as caught:
        urlopen(f"{live_server.url}/iceberg/v1/namespaces")  # noqa: S310
    with caught.value as error:
        assert error.code == 401
        assert error.headers["WWW-Authenticate"].startswith("Bearer")
        assert json.load(error)["error"]["type"] == "NotAuthorizedException"


def snapshot_update(**changes: Any) -> dict[str, Any]:
    """An update that adds a snapshot to the table."""
    import time

    snapshot = {
        "snapshot-id": 77,
        "sequence-number": 2,
        "timestamp-ms": int(time.time() * 1000),
        "manifest-list": f"{delays().location}/metadata/snap.avro",
        "summary": {"operation": "append"},
        "schema-id": 0,
    }
    kept = {key: value for key, value in (snapshot | changes).items() if value is not None}
    return {"action": "add-snapshot", "snapshot": kept}


def test_a_commit_that_says_there_is_no_main_branch_yet_conflicts(
    table: Any, post: Callable[..., tuple[int, dict[str, Any]]]
) -> None:
    requirement = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}
    status, body = post("flights/tables/delays", {"requirements": [requirement], "updates": []})
    assert (status, body["error"]["type"]) == (409, "CommitFailedException")


def test_a_commit_sent_twice_is_applied_once(
    table: Any, post: Callable[..., tuple[int, dict[str, Any]]]
) -> None:
    base = delays().table.current_snapshot_id
    requirement = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": base}
    branch = {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 77}
    body = {
        "requirements": [requirement],
        "updates": [snapshot_update(**{"parent-snapshot-id": base}), branch],
    }
    first, second = post("flights/tables/delays", body), post("flights/tables/delays", body)
    assert first[0] == 200
    assert first == second
    assert Snapshot.objects.filter(snapshot_id=77).count() == 1
    assert delays().table.version == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"manifest-list": "file:///etc/passwd"},
        {"manifest-list": "s3://elsewhere/snap.avro"},
        {"manifest-list": None},
        {"summary": None},
        {"timestamp-ms": 2**62},
        {"timestamp-ms": 0},
        {"snapshot-id": 2**70},
        {"schema-id": 2**40},
        {"parent-snapshot-id": 2**70},
        {"sequence-number": -1},
        {"snapshot-id": "x"},
    ],
)
def test_a_snapshot_that_does_not_belong_here_is_refused(
    table: Any, post: Callable[..., tuple[int, dict[str, Any]]], changes: dict[str, Any]
) -> None:
    files = metadata_files(delays())
    status, body = post(
        "flights/tables/delays", {"requirements": [], "updates": [snapshot_update(**changes)]}
    )
    assert (status, body["error"]["type"]) == (400, "BadRequestException"), body
    assert metadata_files(delays()) == files
    assert delays().table.version == 1


@pytest.mark.parametrize(
    "update",
    [
        {"action": "set-location", "location": "file:///tmp/elsewhere"},
        {"action": "upgrade-format-version", "format-version": 3},
        {"action": "set-properties", "updates": {"write.data.path": "file:///tmp"}},
        {"action": "set-properties", "updates": {"write.metadata.path": "file:///tmp"}},
        {"action": "set-properties", "updates": {"write.object-storage.path": "file:///tmp"}},
        {"action": "set-properties", "updates": {"comment": "a\x00b"}},
        {"action": "set-current-schema", "schema-id": 99},
        {"action": "set-default-spec", "spec-id": 99},
        {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 5},
        {"action": "remove-snapshots", "snapshot-ids": [5]},
        {"action": "explode"},
        {},
        "text",
    ],
)
def test_an_update_that_is_not_allowed_is_refused(
    table: Any, post: Callable[..., tuple[int, dict[str, Any]]], update: Any
) -> None:
    files = metadata_files(delays())
    status, body = post("flights/tables/delays", {"requirements": [], "updates": [update]})
    assert (status, body["error"]["type"]) == (400, "BadRequestException"), body
    assert metadata_files(delays()) == files
    assert delays().table.metadata["location"] == delays().location


FIELDS = [{"id": 1, "name": "a", "type": "string", "required": False}]
WHOLE = {"name": "t", "schema": {"type": "struct", "schema-id": 0, "fields": FIELDS}}


@pytest.mark.parametrize(
    "body",
    [
        WHOLE | {"location": "file:///tmp/elsewhere"},
        WHOLE | {"stage-create": True},
        WHOLE | {"properties": {"write.data.path": "file:///tmp"}},
        WHOLE | {"name": "Not A Name"},
        WHOLE | {"name": 3},
        WHOLE
        | {
            "partition-spec": {
                "spec-id": 0,
                "fields": [{"source-id": 9, "field-id": 1000, "transform": "identity", "name": "x"}],
            }
        },
        WHOLE
        | {
            "schema": {
                "type": "struct",
                "fields": [{"id": 1, "name": "a", "type": "thing", "required": False}],
            }
        },
        WHOLE | {"schema": None},
        {"name": "t"},
        {},
        [],
        "text",
    ],
)
def test_a_table_that_cannot_be_is_not_created_and_leaves_nothing(
    flights: Namespace, post: Callable[..., tuple[int, dict[str, Any]]], body: Any
) -> None:
    status, answer = post("flights/tables", body)
    assert (status, answer["error"]["type"]) == (400, "BadRequestException"), answer
    assert not Dataset.objects.exists()


def test_a_failure_while_storing_leaves_no_metadata_file(
    table: Any, monkeypatch: pytest.MonkeyPatch, post: Callable[..., tuple[int, dict[str, Any]]]
) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("the process is killed here")

    files = metadata_files(delays())
    monkeypatch.setattr(verbs, "_record_commit", fail)
    update = {"action": "set-properties", "updates": {"comment": "x"}}
    status, body = post("flights/tables/delays", {"requirements": [], "updates": [update]})
    assert status == 500
    assert "killed" not in json.dumps(body)
    assert metadata_files(delays()) == files
    assert delays().table.version == 1


@pytest.fixture
def opened(running: Run) -> Callable[[str, str, str], None]:
    """Open a dataset as the driver of the run does."""
    from lineage.database import DirectDatabase

    driver = DirectDatabase(WorkToken(Work.RUN, running.pk, running.attempt))

    def open_it(task: str, dataset: str, access: str) -> None:
        driver.call(contract.OPEN_DATASET, contract.OpenDataset(task, dataset, access, access))

    return open_it


@pytest.fixture
def run_catalog(catalog_of: Callable[[str], RestCatalog], running: Run) -> RestCatalog:
    """The catalog as the run."""
    return catalog_of(WorkToken(Work.RUN, running.pk, running.attempt).sign())


def test_a_run_writes_what_it_opened_and_is_named_in_the_snapshot(
    run_catalog: RestCatalog, opened: Callable[[str, str, str], None], running: Run
) -> None:
    opened("ingest", "flights", "write")
    run_catalog.create_table("flights.flights", SCHEMA).append(
        ROWS, snapshot_properties={"tenure.task": "ingest"}
    )
    snapshot = Snapshot.objects.get()
    assert (snapshot.pipeline, snapshot.run, snapshot.task, snapshot.actor) == (
        "flights/delays",
        running.number,
        "ingest",
        "alice",
    )


def test_a_run_touches_nothing_that_it_did_not_open(run_catalog: RestCatalog) -> None:
    with pytest.raises(ForbiddenError, match="has not opened"):
        run_catalog.create_table("flights.flights", SCHEMA)
    assert not IcebergTable.objects.exists()


def test_a_run_that_opened_to_read_does_not_write(
    run_catalog: RestCatalog, opened: Callable[[str, str, str], None], catalog_of: Any, alice: User
) -> None:
    catalog_of(alice).create_table("flights.flights", SCHEMA)
    opened("average", "flights", "read")
    loaded = run_catalog.load_table("flights.flights")
    with pytest.raises(ForbiddenError, match="has not opened"):
        loaded.append(ROWS)


def test_a_run_knows_nothing_beyond_its_graph(run_catalog: RestCatalog, table: Any) -> None:
    with pytest.raises(NoSuchTableError):
        run_catalog.load_table("flights.delays")
    with pytest.raises(Exception, match="needs WRITE"):
        run_catalog.create_table("flights.other", SCHEMA)
    assert not Dataset.objects.filter(name="other").exists()


def test_a_run_loses_what_its_owner_loses(
    run_catalog: RestCatalog, opened: Callable[[str, str, str], None], alice: User, flights: Namespace
) -> None:
    opened("ingest", "flights", "write")
    created = run_catalog.create_table("flights.flights", SCHEMA)
    Grant.objects.filter(user=alice).update(level="READ")
    with pytest.raises(ForbiddenError, match="WRITE"):
        created.append(ROWS)


def test_a_run_that_ended_has_no_token_any_more(run_catalog: RestCatalog, running: Run) -> None:
    Run.objects.filter(pk=running.pk).update(state="failed")
    with pytest.raises(Exception, match="spent"):
        run_catalog.list_namespaces()


def test_a_bad_request_is_told_in_the_catalogs_words(
    catalog_of: Callable[[User], RestCatalog], alice: User
) -> None:
    with pytest.raises(BadRequestError, match="location"):
        catalog_of(alice).create_table("flights.t", SCHEMA, location="file:///tmp/elsewhere")
