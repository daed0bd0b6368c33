"""What the untrusted side holds: no database, no broker, and a token that is good for one run."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.consoles import Console, eventually
from tests.whole.conftest import Workshop
from tests.whole.test_runs import drivers_of

NOSY = """
import os, sys, time
from tenure import Pipeline
pipeline = Pipeline("nosy")
pipeline.table("numbers")

@pipeline.task(writes=["numbers"])
def look(spark, numbers):
    print("pid", os.getpid())
    for name in ("django", "django.db", "console.settings", "namespaces.models", "lineage.models"):
        try:
            __import__(name)
            print("imported", name)
        except Exception as error:
            print("refused", name, type(error).__name__, error)
    os.environ["DJANGO_SETTINGS_MODULE"] = "console.settings"
    try:
        from namespaces.models import Namespace
        print("rows", Namespace.objects.count())
    except Exception as error:
        print("no orm:", type(error).__name__)
    print("environment", sorted(os.environ))
    while not os.path.exists(os.environ["HOME"] + "/go"):
        time.sleep(0.1)
"""


def secrets_of(console: Console) -> list[bytes]:
    """What must not be found: the passwords and addresses of Postgres and Redis, and the secret key."""
    runtime = console.runtime()
    database, broker = urlsplit(runtime["DATABASE_URL"]), urlsplit(runtime["REDIS_URL"])
    texts = [database.password, broker.password, runtime["TENURE_SECRET_KEY"]]
    texts += [f"127.0.0.1:{database.port}", f"127.0.0.1:{broker.port}"]
    return [text.encode() for text in texts if text]


@pytest.fixture
def nosy(workshop: Workshop) -> int:
    """A run whose task looks around and then waits."""
    workshop.deploy("nosy", NOSY)
    number = workshop.start("nosy")
    workshop.until("nosy", number, "look", "running")
    return number


def test_a_driver_holds_no_credential_and_has_no_orm(console: Console, workshop: Workshop, nosy: int) -> None:
    _wait_for(workshop, nosy, "environment")
    log = workshop.log("nosy", nosy)
    pid = int(log.split("pid ")[1].split()[0])
    driver = psutil.Process(pid)
    assert pid in {each.pid for each in drivers_of(console)}
    seen = Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
    memory = _readable_memory(pid)
    for secret in secrets_of(console):
        assert secret not in seen
        assert secret not in memory
    names = {name.partition("=")[0] for name in driver.environ()}
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "PYTHONPATH"} | _of_python(names)
    assert not [line for line in log.splitlines() if line.startswith("imported")]
    assert log.count("refused") == 5
    assert "A driver has no database" in log
    assert "no orm:" in log and "rows" not in log
    _let_go(driver)
    assert workshop.ended("nosy", nosy)["state"] == "succeeded"


def test_a_driver_talks_to_the_database_api_the_console_and_spark_alone(
    console: Console, workshop: Workshop, nosy: int
) -> None:
    _wait_for(workshop, nosy, "environment")
    pid = int(workshop.log("nosy", nosy).split("pid ")[1].split()[0])
    driver = psutil.Process(pid)
    runtime = console.runtime()
    allowed = {urlsplit(runtime["TENURE_DATABASE_API_URL"]).port, console.port}
    allowed.add(int(runtime["SPARK_REMOTE"].split("localhost:")[1].split("/")[0]))
    ports = {each.raddr.port for each in driver.net_connections() if each.raddr}
    assert ports <= allowed
    files = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    home = str(console.home)
    assert not [path for path in files if path.startswith(home)]
    _let_go(driver)
    assert workshop.ended("nosy", nosy)["state"] == "succeeded"


def test_the_spark_worker_knows_the_broker_and_no_database(console: Console) -> None:
    worker = psutil.Process(console.processes()["spark-worker"]["pid"])
    environment = worker.environ()
    runtime = console.runtime()
    assert "DATABASE_URL" not in environment
    assert runtime["DATABASE_URL"] not in environment.values()
    assert runtime["TENURE_SECRET_KEY"] not in environment.values()
    port = urlsplit(runtime["DATABASE_URL"]).port
    assert port not in {each.raddr.port for each in worker.net_connections() if each.raddr}


def test_spark_listens_on_loopback_alone_and_wants_its_token(console: Console) -> None:
    spark = psutil.Process(console.processes()["spark-connect"]["pid"])
    listening = [
        each.laddr.ip
        for process in (spark, *spark.children(recursive=True))
        for each in process.net_connections()
        if each.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert all(address.removeprefix("::ffff:").startswith("127.") for address in listening)


def test_the_secrets_of_a_console_are_its_owners_alone(console: Console) -> None:
    for name in ("secrets.json", "runtime.env"):
        assert (console.home / name).stat().st_mode & 0o077 == 0


def _wait_for(workshop: Workshop, number: int, text: str) -> None:
    eventually(lambda: text in workshop.log("nosy", number), 30)


def _let_go(driver: psutil.Process) -> None:
    Path(driver.environ()["HOME"], "go").touch()


def _of_python(names: set[str]) -> set[str]:
    """What pyspark and gRPC set for themselves."""
    return {name for name in names if name.startswith(("SPARK_CONNECT", "GRPC_"))}


def _readable_memory(pid: int) -> bytes:
    """The driver's heap, as far as this process may read it."""
    found = bytearray()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            addresses, permissions, *_ = line.split()
            if "[heap]" not in line or "r" not in permissions:
                continue
            start, end = (int(part, 16) for part in addresses.split("-"))
            memory.seek(start)
            found += memory.read(end - start)
    return bytes(found)
