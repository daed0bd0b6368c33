"""The cast of every test: alice owns namespace flights, bob reads it, mallory lives elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connections
from django.db.backends.postgresql.operations import DatabaseOperations
from django.test import Client
from rest_framework.test import APIClient

from lineage.database import DirectDatabase
from lineage.models import Pipeline, Run
from lineage.services import pipelines, runs
from namespaces.models import AuditEvent, Grant, Level, Namespace, Operation
from namespaces.principals import AUDITORS, SYSTEM, Principal, principal_of
from namespaces.services.tenancy import put_namespace
from namespaces.tokens import Work, WorkToken
from registry.models import Dataset
from registry.services.datasets import put_dataset
from tenure import database as contract
from tenure.pipeline import Graph, load_source

SOURCE = '''
from tenure import Pipeline

pipeline = Pipeline("delays", description="Delays by carrier", retries=1)
pipeline.table("flights", partition_by=["month"])
pipeline.table("by_carrier")


@pipeline.task(reads=["raw"], writes=["flights"])
def ingest(raw, flights):
    """Type the raw file."""
    flights.overwrite(raw.read())


@pipeline.task(reads=["flights"], writes=["by_carrier"])
def average(flights, by_carrier):
    by_carrier.overwrite(flights.read().groupBy("carrier").avg("arr_delay"))
'''


@pytest.fixture(autouse=True)
def no_broker(settings: Any) -> None:
    """Verbs are tested without a broker: a message is a hint, and the row is the truth."""
    from celery import current_app

    current_app.conf.broker_url = "memory://"


@pytest.fixture(scope="session", autouse=True)
def static_files() -> None:
    """The directory that `collectstatic` would have made."""
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="session", autouse=True)
def no_connection_outlives_its_request() -> None:
    """The threads of a live server keep none, or the test database could not be removed."""
    connections.settings["default"]["CONN_MAX_AGE"] = 0


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Hashing that is slow on purpose is slow in tests too."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session", autouse=True)
def emptied_between_tests() -> Iterator[None]:
    """Tests with real transactions empty all tables afterwards; the audit log, rightly, refuses that."""
    original = DatabaseOperations.execute_sql_flush

    def flush(operations: DatabaseOperations, statements: list[str]) -> None:
        table = AuditEvent._meta.db_table
        with operations.connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            original(operations, statements)
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "execute_sql_flush", flush)
        yield


@pytest.fixture
def admin(db: None) -> User:
    """A platform admin."""
    return User.objects.create_superuser("root", password="correct horse battery")


@pytest.fixture
def alice(db: None, flights: Namespace) -> User:
    """She administers namespace flights."""
    user = User.objects.create_user("alice", password="correct horse battery")
    Grant.objects.create(namespace=flights, user=user, level=Level.ADMIN)
    return user


@pytest.fixture
def bob(db: None, flights: Namespace) -> User:
    """He reads namespace flights."""
    user = User.objects.create_user("bob", password="correct horse battery")
    Grant.objects.create(namespace=flights, user=user, level=Level.READ)
    return user


@pytest.fixture
def mallory(db: None) -> User:
    """She administers another namespace, and is a stranger to flights."""
    elsewhere, _ = put_namespace(SYSTEM, name="elsewhere")
    user = User.objects.create_user("mallory", password="correct horse battery")
    Grant.objects.create(namespace=elsewhere, user=user, level=Level.ADMIN)
    return user


@pytest.fixture
def auditor(db: None) -> User:
    """She reads everything and changes nothing."""
    user = User.objects.create_user("audrey", password="correct horse battery")
    user.groups.add(Group.objects.get_or_create(name=AUDITORS)[0])
    return user


@pytest.fixture
def flights(db: None) -> Namespace:
    """The namespace that the tests are about."""
    return put_namespace(SYSTEM, name="flights", description="Flights from New York")[0]


@pytest.fixture
def raw(alice: User, flights: Namespace) -> Dataset:
    """A file_set that alice registered."""
    return put_dataset(
        principal_of(alice),
        namespace=flights,
        name="raw",
        type="file_set",
        uri="file:///data/flights.csv",
        properties={"format": "csv", "header": True},
    )[0]


def deploy(user: User, namespace: Namespace, source: str = SOURCE, name: str = "delays") -> Operation:
    """Deploy a file the way that the spark worker does, in direct mode."""
    operation = pipelines.deploy_pipeline(principal_of(user), namespace=namespace, name=name, source=source)
    database = DirectDatabase(WorkToken(Work.OPERATION, operation.pk, operation.attempt))
    loaded = database.call(contract.LOAD_SOURCE, contract.Nothing())
    graph: Graph = load_source(loaded.source, loaded.name).graph()
    database.call(contract.STORE_GRAPH, graph)
    operation.refresh_from_db()
    return operation


@pytest.fixture
def delays(alice: User, flights: Namespace, raw: Dataset) -> Pipeline:
    """A pipeline that alice deployed."""
    deploy(alice, flights)
    return Pipeline.objects.with_facts().get(namespace=flights, name="delays")


@pytest.fixture
def run(alice: User, delays: Pipeline) -> Run:
    """A queued run of it."""
    return runs.start_run(principal_of(alice), delays)


@pytest.fixture
def running(run: Run) -> Run:
    """A run that a worker has claimed."""
    database = DirectDatabase(WorkToken(Work.CLAIM, run.pk, run.attempt))
    database.call(contract.CLAIM_RUN, contract.ClaimRun("worker:1"))
    run.refresh_from_db()
    return run


@pytest.fixture
def driver(running: Run) -> DirectDatabase:
    """The database as the driver of that run has it, in direct mode."""
    return DirectDatabase(WorkToken(Work.RUN, running.pk, running.attempt))


@pytest.fixture
def api() -> Callable[..., APIClient]:
    """A client of the REST API for a user, or for nobody."""

    def client_of(user: User | None = None) -> APIClient:
        client = APIClient()
        if user is not None:
            client.force_login(user)
        return client

    return client_of


@pytest.fixture
def browser_of() -> Callable[[User], Client]:
    """A signed-in client of the pages."""

    def client_of(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return client_of


@pytest.fixture
def who() -> Callable[[User], Principal]:
    """A user as a principal."""
    return principal_of


@pytest.fixture(autouse=True)
def warehouse() -> Iterator[str]:
    """Where tables live in tests."""
    yield settings.TENURE_WAREHOUSE
