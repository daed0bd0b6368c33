"""Deploying: what a file may say, what becomes a version, and that the child is not believed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, models, transaction
from rest_framework.test import APIClient

from lineage.database import DirectDatabase
from lineage.models import Pipeline, PipelineDataset, PipelineVersion
from lineage.services import pipelines
from namespaces.models import AuditEvent, Grant, Namespace, Operation
from namespaces.principals import principal_of
from namespaces.services.operations import cancel_operation
from namespaces.tokens import Work, WorkToken
from registry.models import Dataset
from tenure import database as contract
from tenure.errors import Forbidden, InvalidInput, InvalidPipeline, NotAuthenticated, TenureError
from tenure.pipeline import DatasetSpec, Graph, TaskSpec, canonical, graph_hash, load_source
from tests.asking import assert_problem, at_once
from tests.conftest import SOURCE, deploy

PIPELINE = "/api/v1/namespaces/flights/pipelines/delays"
MARK = "a_word_that_occurs_nowhere_else"


def child(operation: Operation) -> DirectDatabase:
    """The database as the parse child of this operation has it."""
    return DirectDatabase(WorkToken(Work.OPERATION, operation.pk, operation.attempt))


def start(user: User, namespace: Namespace, source: str = SOURCE, name: str = "delays") -> Operation:
    """A deployment that nobody has parsed yet."""
    return pipelines.deploy_pipeline(principal_of(user), namespace=namespace, name=name, source=source)


def everything_stored() -> str:
    """All text of all tables."""
    found = []
    for model in apps.get_models():
        texts = [
            f.name
            for f in model._meta.fields
            if isinstance(f, models.CharField | models.TextField | models.JSONField)
        ]
        found += [str(row) for row in model._default_manager.values_list(*texts)] if texts else []
    return "\n".join(found)


# --- What is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("from tenure import Pipeline\npipeline = Pipeline(\n", 2, "SyntaxError"),
        ("x = 1\ny = undefined\n", 2, "NameError"),
        ("raise SystemExit(3)\n", 1, "SystemExit"),
        ("x = 1\n", None, "defines one Pipeline; this one defines 0"),
        (SOURCE.replace('"delays"', '"others"'), None, "'others'"),
        (SOURCE.replace('"delays"', '"No Name"'), None, "No Name"),
        (SOURCE.replace('reads=["raw"]', 'reads=["nowhere"]').replace("(raw,", "(nowhere,"), 9, "nowhere"),
        (
            SOURCE.replace('writes=["flights"]', 'writes=["raw"]').replace("raw, flights", "raw"),
            9,
            "only tables",
        ),
        (
            SOURCE.replace('reads=["raw"]', 'reads=["by_carrier"]').replace("(raw,", "(by_carrier,"),
            9,
            "cycle",
        ),
        (SOURCE.replace("retries=1", 'schedule="@fortnightly"'), None, "@fortnightly"),
        (SOURCE.replace("retries=1", 'schedule="0 0 31 2 *"'), None, "0 0 31 2 *"),
        (SOURCE.replace("retries=1", 'schedule="61 * * * *"'), None, "61 * * * *"),
        (SOURCE.replace("retries=1", "retries=99"), None, "retries=99"),
        (
            SOURCE.replace('table("by_carrier")', 'table("by_carrier")\npipeline.table("raw")'),
            None,
            "is a file_set",
        ),
    ],
)
def test_a_file_that_is_no_pipeline_fails_with_line_and_reason(
    alice: User, flights: Namespace, raw: Dataset, source: str, line: int | None, words: str
) -> None:
    operation = start(alice, flights, f"{source}\n# {MARK}")
    database = child(operation)
    loaded = database.call(contract.LOAD_SOURCE, contract.Nothing())
    try:
        database.call(contract.STORE_GRAPH, load_source(loaded.source, loaded.name).graph())
    except InvalidPipeline as error:
        if not Operation.objects.filter(pk=operation.pk, state="failed").exists():
            database.call(contract.REFUSE_SOURCE, contract.ParseFailure(error.detail, error.line or 0))
    except TenureError:
        pass
    operation.refresh_from_db()
    assert operation.state == "failed"
    assert words in operation.error["detail"]
    if line is not None:
        assert operation.error["line"] == line
    assert not Pipeline.objects.exists()
    assert Dataset.objects.count() == 1
    assert MARK not in everything_stored()


@pytest.mark.parametrize("filler", ["# " + "x" * 2_097_152, "#\n" * 700_000])
def test_a_file_of_two_mebibytes_fails_at_once_and_is_stored_nowhere(
    api: Callable[..., APIClient], alice: User, flights: Namespace, filler: str
) -> None:
    answer = api(alice).put(PIPELINE, {"source": f"# {MARK}\n{filler}"}, format="json")
    assert answer.status_code == 202
    assert answer.json()["state"] == "failed"
    assert "limit of 1,048,576" in answer.json()["error"]["detail"]
    assert answer.json()["error"]["line"] > 1
    assert MARK not in everything_stored()


def test_a_nul_is_refused_and_stored_nowhere(
    api: Callable[..., APIClient], alice: User, flights: Namespace
) -> None:
    assert_problem(
        api(alice).put(PIPELINE, {"source": f"# {MARK}\n\x00"}, format="json"), 400, "source", "ull"
    )
    refused = start(alice, flights, f"# {MARK}\n\n\x00")
    assert (refused.state, refused.error["line"]) == ("failed", 3)
    assert MARK not in everything_stored()


def test_a_file_is_forgotten_when_its_deployment_is_cancelled(
    alice: User, flights: Namespace, raw: Dataset
) -> None:
    operation = start(alice, flights, f"{SOURCE}\n# {MARK}")
    assert MARK in everything_stored()
    cancel_operation(principal_of(alice), operation)
    assert MARK not in everything_stored()
    with pytest.raises(NotAuthenticated, match="spent"):
        child(operation).call(contract.LOAD_SOURCE, contract.Nothing())


def graph(**changes: Any) -> Graph:
    """What the child of a good file would send, or something else."""
    task = TaskSpec("ingest", reads=["raw"], writes=["flights"], line=9)
    return Graph(
        **({"name": "delays", "tasks": [task], "datasets": [DatasetSpec("flights", "table")]} | changes)
    )


LIES = [
    (graph(name="others"), InvalidPipeline, "'others'"),
    (graph(tasks=[]), InvalidPipeline, "no tasks"),
    (graph(retries=-1), InvalidPipeline, "retries=-1"),
    (graph(schedule="whenever"), InvalidPipeline, "whenever"),
    (graph(schedule="0," * 5000 + "0 * * * *"), InvalidPipeline, "characters"),
    (graph(description="a\x00b"), InvalidPipeline, "NUL"),
    (graph(description="x" * 2_000_000), InvalidPipeline, "bytes"),
    (graph(tasks=[TaskSpec(f"t{n}") for n in range(1001)]), InvalidPipeline, "1001 tasks"),
    (graph(tasks=[TaskSpec("t", after=["u"])]), InvalidPipeline, "'u'"),
    (graph(tasks=[TaskSpec("t", after=["u"]), TaskSpec("u", after=["t"])]), InvalidPipeline, "cycle"),
    (graph(tasks=[TaskSpec("t"), TaskSpec("t")]), InvalidPipeline, "Two tasks"),
    (graph(tasks=[TaskSpec("T")]), InvalidPipeline, "'T'"),
    (graph(tasks=[TaskSpec("t", reads=["secret"])]), InvalidPipeline, "'secret'"),
    (graph(tasks=[TaskSpec("t", reads=["../x"])]), InvalidPipeline, "../x"),
    (graph(tasks=[TaskSpec("t", writes=["raw"])]), InvalidPipeline, "only tables"),
    (graph(datasets=[DatasetSpec("new", "file_set")]), InvalidPipeline, "declares tables"),
    (graph(datasets=[DatasetSpec("flights", "os.system")]), InvalidPipeline, "os.system"),
    (graph(datasets=[DatasetSpec("flights", "table", "", {"path": "/"})]), InvalidInput, "'path'"),
    (
        graph(datasets=[DatasetSpec("flights", "table", "", {"partition_by": "x"})]),
        InvalidInput,
        "partition_by",
    ),
    (
        graph(datasets=[DatasetSpec("flights", "table", "", {"partition_by": ["a\x00"]})]),
        InvalidInput,
        "partition_by",
    ),
]


@pytest.mark.parametrize(("lie", "error", "words"), LIES)
def test_the_child_is_not_believed(
    alice: User, flights: Namespace, raw: Dataset, lie: Graph, error: type[TenureError], words: str
) -> None:
    operation = start(alice, flights)
    with pytest.raises(error, match=words):
        child(operation).call(contract.STORE_GRAPH, lie)
    operation.refresh_from_db()
    assert operation.state == "failed"
    assert words in operation.error["detail"]
    assert not PipelineVersion.objects.exists()
    assert Dataset.objects.count() == 1


def test_a_deployer_who_lost_their_grant_meanwhile_deploys_nothing(
    alice: User, flights: Namespace, raw: Dataset
) -> None:
    operation = start(alice, flights)
    alice.grant_set.all().delete()
    with pytest.raises(Forbidden, match="needs WRITE"):
        child(operation).call(contract.STORE_GRAPH, graph())
    assert not Pipeline.objects.exists()


# --- What becomes a version -----------------------------------------------------------------


def versions() -> list[PipelineVersion]:
    """All versions, oldest first."""
    return list(PipelineVersion.objects.order_by("number"))


def test_the_same_file_is_the_same_version(alice: User, flights: Namespace, delays: Pipeline) -> None:
    operation = deploy(alice, flights)
    assert operation.result == {"pipeline": "flights/delays", "version": 1, "created": False}
    assert len(versions()) == 1


def test_the_same_file_by_somebody_else_acts_for_them_from_now_on(
    alice: User, bob: User, flights: Namespace, delays: Pipeline
) -> None:
    Grant.objects.create(namespace=flights, user=bob, level="WRITE")
    alice.delete()
    operation = deploy(bob, flights)
    delays.refresh_from_db()
    assert operation.result["created"] is False
    assert delays.owner == bob
    assert AuditEvent.objects.filter(action="lineage:pipeline:taken_over", actor="bob").count() == 1


def test_a_comment_is_another_version_of_the_same_graph(
    alice: User, flights: Namespace, delays: Pipeline
) -> None:
    deploy(alice, flights, SOURCE + "\n# a comment\n")
    one, two = versions()
    assert (one.number, two.number) == (1, 2)
    assert one.graph_hash == two.graph_hash
    assert one.source_hash != two.source_hash


def test_going_back_is_going_on(alice: User, flights: Namespace, delays: Pipeline) -> None:
    deploy(alice, flights, SOURCE + "\n# B\n")
    deploy(alice, flights)
    assert [each.number for each in versions()] == [1, 2, 3]
    assert versions()[0].source == versions()[2].source
    delays.refresh_from_db()
    assert delays.current_version == versions()[2]


@pytest.mark.parametrize("column", ["source", "graph", "number", "source_hash"])
def test_a_version_never_changes(delays: Pipeline, column: str) -> None:
    with pytest.raises(DatabaseError, match="pgtrigger"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE lineage_pipelineversion SET {column} = {column}")  # noqa: S608  # names from above


def test_the_current_version_says_what_the_pipeline_uses(
    alice: User, flights: Namespace, delays: Pipeline
) -> None:
    names = PipelineDataset.objects.values_list("dataset__name", flat=True)
    assert set(names) == {"raw", "flights", "by_carrier"}
    shorter = SOURCE[: SOURCE.index('@pipeline.task(reads=["flights"]')]
    deploy(alice, flights, shorter)
    assert set(names.all()) == {"raw", "flights"}


@pytest.mark.django_db(transaction=True)
def test_deployments_at_once_are_numbered_without_a_gap(
    alice: User, flights: Namespace, raw: Dataset
) -> None:
    for _ in range(3):
        results = at_once(*[lambda n=n: deploy(alice, flights, f"{SOURCE}\n# {n}\n") for n in range(4)])
        assert all(isinstance(each, Operation) and each.state == "succeeded" for each in results), results
    numbers = [each.number for each in versions()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert Pipeline.objects.get().current_version == versions()[-1]


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_the_hash_of_a_graph_does_not_depend_on_the_process(seed: str) -> None:
    program = (
        "import sys; from tenure.pipeline import load_source, graph_hash\n"
        "print(graph_hash(load_source(sys.stdin.read(), 'delays').graph()))"
    )
    environment = {"PYTHONHASHSEED": seed, "PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd()}
    found = subprocess.run(
        [sys.executable, "-c", program],
        input=SOURCE,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == graph_hash(load_source(SOURCE, "delays").graph())


def test_the_hash_of_a_graph_does_not_depend_on_order_or_lines() -> None:
    one, two = TaskSpec("a", reads=["x", "y"], line=3), TaskSpec("b", after=["a"], line=7)
    first = Graph("p", tasks=[one, two], datasets=[DatasetSpec("x", "table"), DatasetSpec("y", "table")])
    moved = TaskSpec("a", reads=["y", "x"], line=99)
    second = Graph("p", tasks=[two, moved], datasets=[DatasetSpec("y", "table"), DatasetSpec("x", "table")])
    assert graph_hash(first) == graph_hash(second)
    assert json.loads(canonical(first))["format"] == 1
    assert graph_hash(first) != graph_hash(Graph("p", tasks=[one], datasets=first.datasets))


# --- Over the API ---------------------------------------------------------------------------


def test_versions_are_read_by_number(api: Callable[..., APIClient], bob: User, delays: Pipeline) -> None:
    listed = api(bob).get(f"{PIPELINE}/versions").json()["results"]
    assert [each["number"] for each in listed] == [1]
    assert "source" not in listed[0]
    one = api(bob).get(f"{PIPELINE}/versions/1").json()
    assert one["source"] == SOURCE
    assert {task["name"] for task in one["graph"]["tasks"]} == {"ingest", "average"}


def test_a_deployment_is_an_operation_that_can_be_followed(
    api: Callable[..., APIClient], alice: User, bob: User, flights: Namespace, raw: Dataset
) -> None:
    started = api(alice).put(PIPELINE, {"source": SOURCE}, format="json").json()
    assert (started["kind"], started["state"], started["target"]) == ("deploy_pipeline", "queued", "delays")
    assert "source" not in json.dumps(started)
    followed = api(bob).get(f"/api/v1/operations/{started['id']}")
    assert followed.status_code == 200
