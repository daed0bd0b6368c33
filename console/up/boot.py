"""The way from nothing to a console that serves: runs beside the supervisor's loop and tells of each step."""

from __future__ import annotations

import http.client
import os
import sys
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from console.up.child import ChildSpec
from console.up.errors import CannotStart
from console.up.home import Home
from console.up.options import REPOSITORY, Options
from console.up.ports import LOOPBACK, free_port
from console.up.postgres import Postgres
from console.up.processes import Processes
from console.up.redis import Redis
from console.up.spark import Spark
from console.up.steps import done, say, step
from console.up.supervisor import Supervisor

START_SECONDS = 90.0
TOKEN_MINUTES = 15


class Boot:
    """One start of one console."""

    def __init__(self, supervisor: Supervisor, options: Options) -> None:
        self.supervisor = supervisor
        self.options = options
        self.home: Home = supervisor.home
        self.since = time.monotonic()
        secrets = self.home.secrets()
        self.postgres = None if options.database_url else Postgres(self.home, free_port(), secrets)
        self.redis = None if options.redis_url else Redis(self.home, free_port(), secrets)
        self.spark = None if options.spark_remote else Spark(self.home, free_port(), secrets)
        self.processes = self._plan(secrets["django"])

    def _plan(self, secret_key: str) -> Processes:
        port = free_port()
        chosen = {
            "TENURE_HOME": str(self.home.path),
            "TENURE_PORT": str(self.options.port),
            "TENURE_URL": self.options.url or self.options.local_url,
            "TENURE_ALLOWED_HOSTS": self.options.allowed_hosts,
            # Drivers run on this machine: they need not find the public address, nor its proxy.
            "TENURE_CATALOG_URL": self.options.catalog_url or f"{self.options.local_url}/iceberg",
            "TENURE_DATABASE_API_URL": f"http://{LOOPBACK}:{port}",
            "TENURE_SECRET_KEY": os.environ.get("TENURE_SECRET_KEY") or secret_key,
            "DATABASE_URL": self.postgres.url if self.postgres else self.options.database_url,
            "REDIS_URL": self.redis.url if self.redis else self.options.redis_url,
            "SPARK_REMOTE": self.spark.url if self.spark else self.options.spark_remote,
        }
        return Processes(self.home, self.options, chosen, port)

    def bring_up(self) -> None:
        """Start everything; raises `CannotStart` with the reason when a part does not come."""
        say(f"Tenure starts; its state is in {self.home.path}")
        # They start while the database is prepared: Spark takes longest.
        if self.redis:
            self.supervisor.add(self.redis.spec())
        if self.spark:
            self.supervisor.add(self.spark.spec())
        if self.postgres:
            self._start_postgres(self.postgres)
        published = {
            name: value for name, value in self.processes.environment.items() if name != "TENURE_HOME"
        }
        self.home.write_runtime_env(published)
        with step("Database schema"):
            self._manage("migrate", "--no-input", "--verbosity", "0")
        web, database_api = self.processes.web(), self.processes.database_api()
        self.supervisor.add(web)
        self.supervisor.add(database_api)
        news = self._manage("create_admin").strip()
        if self.redis:
            self.supervisor.wait_until(self.redis.answers, "redis", START_SECONDS)
        self._start_workers()
        self._wait_for_web(web, database_api)
        if news:
            say(f"\n{news}\n")

    def _start_postgres(self, postgres: Postgres) -> None:
        with step("Postgres"):
            postgres.prepare(self.supervisor)
            self.supervisor.add(postgres.spec())
            self.supervisor.wait_until(postgres.answers, "postgres", START_SECONDS)
            postgres.ensure_database()

    def _start_workers(self) -> None:
        self.supervisor.add(self.processes.control_worker())
        self.supervisor.add(self.processes.beat())
        if self.spark:
            self.supervisor.wait_until(self.spark.answers, "spark-connect", START_SECONDS)
            done("Spark Connect", time.monotonic() - self.since)
        self.supervisor.add(self.processes.spark_worker())

    def _wait_for_web(self, web: ChildSpec, database_api: ChildSpec) -> None:
        with step("Web and database API"):
            url, inner = self.options.local_url, self.processes.environment["TENURE_DATABASE_API_URL"]
            self.supervisor.wait_until(
                lambda: is_healthy(f"{inner}/health"), database_api.name, START_SECONDS
            )
            self.supervisor.wait_until(lambda: is_healthy(f"{url}/health/ready"), web.name, START_SECONDS)

    def _manage(self, *arguments: str) -> str:
        command = [sys.executable, str(REPOSITORY / "manage.py"), *arguments]
        return self.supervisor.run_command(command, self.processes.trusted("setup"), REPOSITORY)

    def demonstrate(self) -> None:
        """Deploy and run the demonstration unless it ran before; with `--once` also check its answers."""
        done_before = self.home.path / "demonstration" / "done"
        if done_before.exists() and not self.options.once:
            return
        token = self._manage("create_token", "--any-admin", "--minutes", str(TOKEN_MINUTES)).strip()
        command = [sys.executable, "-m", "console.demonstration", *(["--check"] if self.options.once else [])]
        environment = self._demonstration_environment(token)
        self.supervisor.run_command(command, environment, REPOSITORY, capture=False)
        done_before.touch()

    def _demonstration_environment(self, token: str) -> Mapping[str, str]:
        # A client like any other: it reaches the console with a token, and has no database.
        passed = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return passed | {
            "TENURE_HOME": str(self.home.path),
            "TENURE_URL": self.options.local_url,
            "TENURE_TOKEN": token,
        }

    def tell_address(self) -> None:
        """The last words of a start."""
        address = self.processes.environment["TENURE_URL"]
        say(f"\nReady after {time.monotonic() - self.since:.0f} s: {address}   (Ctrl-C stops it)")

    def tell_memory(self) -> None:
        """A table of what each process holds."""
        supervisor = {"name": "supervisor", "memory_bytes": self.supervisor.own_memory()}
        entries = [*self.supervisor.report(), supervisor]
        say("\nMemory, idle")
        for entry in entries:
            say(f"  {entry['name']:<44}{entry['memory_bytes'] / 2**20:6.0f} MiB")
        say(f"  {'all':<44}{sum(entry['memory_bytes'] for entry in entries) / 2**20:6.0f} MiB")


def is_healthy(url: str) -> bool:
    """Whether a health address of this machine answers well."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=5.0)
    try:
        connection.request("GET", parts.path, headers={"Host": f"localhost:{parts.port}"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def run_boot(supervisor: Supervisor, options: Options) -> None:
    """Bring up a console, show what it does, and with `--once` end it."""
    boot = Boot(supervisor, options)
    boot.bring_up()
    if options.demonstration:
        try:
            boot.demonstrate()
        except CannotStart as error:
            if options.once:
                raise
            # The console itself is fine, and its pages show best what went wrong.
            say(f"  The demonstration failed: {error}")
    if options.once:
        boot.tell_memory()
        supervisor.stop()
    else:
        boot.tell_address()
