"""The database API: one contract, the same in both modes; over HTTP nothing gets past it."""

from __future__ import annotations

import dataclasses
import http.client
import json
import typing
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lineage.database import ANSWERS, DirectDatabase
from lineage.models import LogLine, Run
from namespaces.models import AuditEvent, Grant
from namespaces.tokens import Work, WorkToken
from tenure import database as contract
from tenure.database import CALLS, PROTOCOL_VERSION, IsolatedDatabase, decode, encode
from tenure.errors import Conflict, Forbidden, InvalidInput, NotAuthenticated, NotFound
from tests.asking import assert_problem
from tests.conftest import SOURCE

NOW = "2026-11-20T10:00:00+00:00"
NOTHING = contract.Nothing()
Connect = Callable[[WorkToken], typing.Any]


@pytest.fixture(params=["direct", "isolated"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """The database client of some work, in each mode."""
    if request.param == "direct":
        request.getfixturevalue("transactional_db")
        return DirectDatabase
    settings = request.getfixturevalue("settings")
    settings.ROOT_URLCONF = "console.database_api"
    settings.MIDDLEWARE = []
    url = request.getfixturevalue("live_server").url
    return lambda work: IsolatedDatabase(url, work.sign(), patience_seconds=0)


def token_of(run: Run, work: Work = Work.RUN) -> WorkToken:
    """A token for this attempt of the run."""
    return WorkToken(work, run.pk, run.attempt)


# --- The contract, in both modes -----------------------------------------------------------


def test_a_run_is_claimed_driven_and_finished(connect: Connect, run: Run) -> None:
    claimed = connect(token_of(run, Work.CLAIM)).call(contract.CLAIM_RUN, contract.ClaimRun("worker:1"))
    assert (claimed.namespace, claimed.pipeline, claimed.run, claimed.attempt) == ("flights", "delays", 1, 1)
    driver = connect(token_of(run))
    plan = driver.call(contract.LOAD_RUN, NOTHING)
    assert (plan.source, plan.owner, plan.version) == (SOURCE, "alice", 1)
    assert {task.name for task in plan.graph.tasks} == {"ingest", "average"}
    assert {dataset.name for dataset in plan.datasets} == {"raw", "flights", "by_carrier"}
    assert driver.call(contract.HEARTBEAT, NOTHING).stop == ""
    for task in ("ingest", "average"):
        for state in ("running", "succeeded"):
            assert driver.call(contract.REPORT_TASK, contract.TaskReport(task, state, NOW)) == NOTHING
    line = contract.LogLine(NOW, "ingest", "info", "hello")
    assert driver.call(contract.APPEND_LOG, contract.LogBatch(0, [line])) == NOTHING
    assert driver.call(contract.FINISH_RUN, contract.FinishRun("succeeded")) == NOTHING
    run.refresh_from_db()
    assert run.state == "succeeded"
    assert LogLine.objects.get().text == "hello"


def test_an_opened_dataset_is_recorded_with_task_and_run(connect: Connect, running: Run) -> None:
    opened = connect(token_of(running)).call(
        contract.OPEN_DATASET, contract.OpenDataset("ingest", "raw", "read", "read")
    )
    assert opened == contract.OpenedDataset(
        "flights", "raw", "file_set", "file://localhost/data/flights.csv", {"format": "csv", "header": True}
    )
    event = AuditEvent.objects.accesses().get()
    assert (event.actor, event.actor_kind, event.pipeline, event.run, event.task, event.outcome) == (
        "alice",
        "run",
        "flights/delays",
        1,
        "ingest",
        "allowed",
    )


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        (contract.OpenDataset("ingest", "nothing", "read", "read"), NotFound, "'nothing'"),
        (contract.OpenDataset("average", "raw", "read", "read"), NotFound, "'raw'"),
        (contract.OpenDataset("ingest", "raw", "write", "overwrite"), Forbidden, "WRITE is missing"),
        (contract.OpenDataset("ingest", "raw", "unknown", "read"), InvalidInput, "'unknown'"),
        (contract.OpenDataset("nobody", "raw", "read", "read"), InvalidInput, "'nobody'"),
    ],
)
def test_what_may_not_be_opened_raises_the_same_in_both_modes(
    connect: Connect, running: Run, params: contract.OpenDataset, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        connect(token_of(running)).call(contract.OPEN_DATASET, params)


def test_what_the_owner_loses_the_run_loses_at_its_next_open_and_the_denial_stays(
    connect: Connect, running: Run
) -> None:
    driver = connect(token_of(running))
    driver.call(contract.OPEN_DATASET, contract.OpenDataset("ingest", "flights", "write", "overwrite"))
    Grant.objects.filter(user__username="alice").update(level="READ")
    with pytest.raises(Forbidden, match="WRITE is missing"):
        driver.call(contract.OPEN_DATASET, contract.OpenDataset("ingest", "flights", "write", "overwrite"))
    assert list(AuditEvent.objects.accesses().order_by("pk").values_list("outcome", flat=True)) == [
        "allowed",
        "denied",
    ]


def test_a_token_is_good_for_its_own_work_alone(connect: Connect, running: Run) -> None:
    for name, (work, _) in ANSWERS.items():
        call = CALLS[name]
        params: Any = NOTHING if call.params is contract.Nothing else _example(call.params)
        for other in set(Work) - {work}:
            with pytest.raises(Forbidden, match="not good for"):
                connect(token_of(running, other)).call(call, params)


def test_a_token_of_an_attempt_that_is_over_is_spent(connect: Connect, running: Run) -> None:
    driver = connect(token_of(running))
    driver.call(contract.RELEASE_RUN, contract.ReleaseRun("stopping"))
    for call, params in (
        (contract.HEARTBEAT, NOTHING),
        (contract.LOAD_RUN, NOTHING),
        (contract.FINISH_RUN, contract.FinishRun("succeeded")),
        (contract.OPEN_DATASET, contract.OpenDataset("ingest", "raw", "read", "read")),
    ):
        with pytest.raises(NotAuthenticated, match="spent"):
            driver.call(call, params)
    with pytest.raises(NotAuthenticated, match="spent"):
        connect(WorkToken(Work.CLAIM, running.pk, 1)).call(contract.CLAIM_RUN, contract.ClaimRun("worker:2"))


def test_a_run_is_claimed_by_one_worker_alone(connect: Connect, run: Run) -> None:
    claim = connect(token_of(run, Work.CLAIM))
    claim.call(contract.CLAIM_RUN, contract.ClaimRun("w" * 300))
    with pytest.raises(Conflict, match="not to be had"):
        claim.call(contract.CLAIM_RUN, contract.ClaimRun("worker:2"))


@pytest.mark.parametrize(
    "at", ["yesterday", "2026-11-20", "2026-11-20T10:00:00", "", "9999-12-31T23:59:59-14:00", "\x00"]
)
def test_a_time_that_is_none_is_refused(connect: Connect, running: Run, at: str) -> None:
    with pytest.raises(InvalidInput, match="ISO 8601"):
        connect(token_of(running)).call(contract.REPORT_TASK, contract.TaskReport("ingest", "running", at))


def test_what_a_program_prints_never_breaks_the_log(connect: Connect, running: Run) -> None:
    driver = connect(token_of(running))
    driver.call(
        contract.APPEND_LOG,
        contract.LogBatch(0, [contract.LogLine(NOW, "in\x00gest", "odd", "a\x00b\ud800c")]),
    )
    driver.call(contract.REPORT_TASK, contract.TaskReport("ingest", "failed", NOW, "bad\x00byte"))
    driver.call(contract.FINISH_RUN, contract.FinishRun("failed", "bad\x00byte"))
    line = LogLine.objects.get()
    assert (line.text, line.level) == ("a�b?c", "info")
    running.refresh_from_db()
    assert (running.state, running.error) == ("failed", "bad�byte")


# --- HTTP alone ---------------------------------------------------------------------------------


@pytest.fixture
def http_api(settings: Any) -> Client:
    """A client of the database API without a token."""
    settings.ROOT_URLCONF = "console.database_api"
    settings.MIDDLEWARE = []
    return Client(raise_request_exception=False)


def post(client: Client, name: str, body: Any, token: WorkToken | str | None = None, version: int = 1) -> Any:
    """Send a call; `body` is JSON unless it is text."""
    text = body if isinstance(body, str) else json.dumps(body)
    signed = token.sign() if isinstance(token, WorkToken) else token
    headers = {"Authorization": f"Bearer {signed}"} if signed is not None else {}
    return client.post(f"/v{version}/{name}", text, content_type="application/json", headers=headers)


@pytest.mark.parametrize(
    "token", [None, "", "rubbish", "tenure-work:", "tenure-work:a:b:c", "tenure-work:é", "x" * 5000, "a b"]
)
def test_without_a_good_token_nothing_happens(http_api: Client, running: Run, token: str | None) -> None:
    for name in (*CALLS, "no.such.call"):
        response = post(http_api, name, {}, token)
        assert_problem(response, 401)
        assert response["WWW-Authenticate"] == "Bearer"


def test_a_token_that_was_tampered_with_is_refused(http_api: Client, running: Run) -> None:
    signed = token_of(running).sign()
    head, _, tail = signed.rpartition(":")
    for wrong in (
        signed[:-1],
        signed[:-3] + "abc",
        f"{head}:{tail[::-1]}",
        signed.replace("tenure-work:", ""),
    ):
        response = post(http_api, "runs.heartbeat", {}, wrong)
        assert response.status_code == 401 or wrong == signed.replace("tenure-work:", "")


def test_a_token_for_what_does_not_exist_is_spent(http_api: Client, db: None) -> None:
    for work in Work:
        name = next(name for name, (kind, _) in ANSWERS.items() if kind == work)
        body = encode(_example(CALLS[name].params))
        assert_problem(post(http_api, name, body, WorkToken(work, 999_999, 1)), 401, "spent")


@pytest.mark.parametrize(
    "name", ["os.system", "runs.claim.__class__", "DirectDatabase", "..", "runs", "RUNS.CLAIM"]
)
def test_an_unknown_call_is_not_found(http_api: Client, running: Run, name: str) -> None:
    assert post(http_api, name, {}, token_of(running)).status_code == 404


@pytest.mark.parametrize("version", [0, 2, 99, 10**20])
def test_an_unknown_version_is_told_which_is_spoken(http_api: Client, running: Run, version: int) -> None:
    response = post(http_api, "runs.heartbeat", {}, token_of(running), version)
    assert_problem(response, 404, f"speaks {PROTOCOL_VERSION}")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ('{"task": NaN}', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('"' + "\\ud800" + '"', "an object is needed"),
        ("9" * 5000, "no JSON"),
        ([], "an object is needed"),
        ("null", "an object is needed"),
        ({}, "missing"),
        ({"task": "ingest", "state": "running"}, "missing"),
        ({"task": "ingest", "state": "running", "at": NOW, "extra": 1}, "unknown field 'extra'"),
        ({"task": 1, "state": "running", "at": NOW}, "$.task: str is needed"),
        ({"task": None, "state": "running", "at": NOW}, "$.task"),
        ({"task": ["ingest"], "state": "running", "at": NOW}, "$.task"),
        ({"task": "ingest", "state": "paused", "at": NOW}, "'paused'"),
        ({"task": "nobody", "state": "running", "at": NOW}, "'nobody'"),
        (
            {"__class__": "os.system", "task": "ingest", "state": "running", "at": NOW},
            "unknown field '__class__'",
        ),
    ],
)
def test_a_body_that_does_not_fit_is_refused_with_its_field(
    http_api: Client, running: Run, body: Any, words: str
) -> None:
    assert_problem(post(http_api, "runs.report_task", body, token_of(running)), 400, words)


@pytest.mark.parametrize(
    "batch",
    [
        {"first": -1, "lines": []},
        {"first": True, "lines": []},
        {"first": 1.5, "lines": []},
        {"first": 0, "lines": {}},
        {"first": 0, "lines": [[]]},
        {"first": 0, "lines": [{"at": NOW, "task": "x", "level": "info", "text": "x", "more": 1}]},
        {"first": 0, "lines": [{"at": NOW, "task": "x", "level": "info", "text": "x"}] * 1001},
    ],
)
def test_a_batch_that_does_not_fit_is_refused(http_api: Client, running: Run, batch: Any) -> None:
    assert_problem(post(http_api, "runs.append_log", batch, token_of(running)), 400)
    assert not LogLine.objects.exists()


def test_a_call_that_is_too_large_is_refused(http_api: Client, running: Run) -> None:
    body = json.dumps({"reason": "x" * (9 * 1024 * 1024)})
    assert_problem(post(http_api, "runs.release", body, token_of(running)), 413)


@pytest.mark.django_db(transaction=True)
def test_a_length_that_is_no_number_is_no_failure(settings: Any, live_server: Any, running: Run) -> None:
    settings.ROOT_URLCONF = "console.database_api"
    connection = http.client.HTTPConnection(urlsplit(live_server.url).netloc, timeout=10)
    connection.putrequest("POST", "/v1/runs.heartbeat")
    connection.putheader("Authorization", f"Bearer {token_of(running).sign()}")
    connection.putheader("Content-Length", "many")
    connection.endheaders()
    response = connection.getresponse()
    assert response.status < 500
    response.read()
    connection.close()


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch", "head"])
def test_other_methods_are_not_allowed(http_api: Client, running: Run, method: str) -> None:
    assert getattr(http_api, method)("/v1/runs.heartbeat").status_code == 405


def test_a_failure_gives_an_id_and_no_traceback(
    http_api: Client, running: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(run: Run, params: Any) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setitem(ANSWERS, "runs.heartbeat", (Work.RUN, fail))
    response = post(http_api, "runs.heartbeat", {}, token_of(running))
    problem = assert_problem(response, 500, "logged as")
    assert problem["error_id"] in problem["detail"]
    assert "secret" not in response.content.decode()


def test_the_process_says_that_it_is_up(http_api: Client) -> None:
    assert http_api.get("/health").json() == {"status": "ok"}
    for path in ("/", "/login/", "/v1", "/v1/runs.heartbeat/more", "/vone/runs.heartbeat"):
        assert_problem(http_api.get(path), 404, path)


def test_a_run_token_opens_nothing_of_the_rest_api(client: Client, running: Run) -> None:
    headers = {"Authorization": f"Bearer {token_of(running).sign()}"}
    for path in ("/api/v1/namespaces", "/api/v1/namespaces/flights", "/api/v1/audit"):
        response = client.get(path, headers=headers)
        assert_problem(response, 401, "Iceberg catalog alone")


# --- The wire ------------------------------------------------------------------------------------

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=5,
)
MESSAGES = sorted(
    {kind for call in CALLS.values() for kind in (call.params, call.result)}, key=lambda k: k.__name__
)


def _values(kind: Any) -> st.SearchStrategy[Any]:
    scalars = {
        str: _TEXT,
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        dict[str, Any]: st.dictionaries(_TEXT, _PLAIN, max_size=3),
    }
    if kind in scalars:
        return scalars[kind]
    if typing.get_origin(kind) is list:
        return st.lists(_values(typing.get_args(kind)[0]), max_size=3)
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{each.name: _values(hints[each.name]) for each in dataclasses.fields(kind)})


def _example(kind: Any) -> Any:
    plain = {str: "x", int: 1, float: 1.0}
    hints = typing.get_type_hints(kind)
    return kind(**{each.name: plain.get(hints[each.name], []) for each in dataclasses.fields(kind)})


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
@hypothesis_settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_message_travels_unchanged(kind: Any, data: st.DataObject) -> None:
    message = data.draw(_values(kind))
    assert decode(kind, json.loads(json.dumps(encode(message)))) == message


@hypothesis_settings(max_examples=100, deadline=None)
@given(data=_PLAIN)
def test_whatever_arrives_is_decoded_or_refused(data: Any) -> None:
    for call in CALLS.values():
        try:
            decode(call.params, data)
        except InvalidInput as error:
            assert error.detail.startswith("$")


def test_every_call_has_an_answer() -> None:
    assert set(ANSWERS) == set(CALLS)
