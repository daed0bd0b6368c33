"""The console's own processes: how each is run, and what each is allowed to know.

`docs/processes.md` lists the same commands for people who run them without `up`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from console.up.child import ChildSpec
from console.up.home import Home
from console.up.options import REPOSITORY, Options
from console.up.ports import LOOPBACK

_QUIET_CELERY = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"]
_PASSED_TO_THE_SPARK_WORKER = ("PATH", "HOME", "LANG", "JAVA_HOME", "TENURE_RUNS_AT_ONCE")


@dataclass(frozen=True)
class Processes:
    """The specs of one start. `environment` holds what was chosen for it: addresses and the secret key."""

    home: Home
    options: Options
    environment: Mapping[str, str]
    database_api_port: int

    def trusted(self, name: str) -> dict[str, str]:
        """The environment of a process that may use the database: ours, and what was chosen."""
        return {**os.environ, **self.environment, "TENURE_PROCESS": name}

    def web(self) -> ChildSpec:
        """Pages, the REST API and the Iceberg catalog."""
        host = f"[{self.options.bind}]" if ":" in self.options.bind else self.options.bind
        return self._gunicorn("web", f"{host}:{self.options.port}", threads=8)

    def database_api(self) -> ChildSpec:
        """The only way from untrusted processes to the database."""
        return self._gunicorn("database-api", f"{LOOPBACK}:{self.database_api_port}", threads=8)

    def _gunicorn(self, name: str, address: str, threads: int) -> ChildSpec:
        command = [sys.executable, "-m", "gunicorn", "console.wsgi", "--bind", address, "--name", name]
        command += ["--config", "python:console.gunicorn_settings"]
        # One process with threads: a second one costs 100 MB and the work waits for the database anyway.
        command += ["--worker-class", "gthread", "--workers", "1", "--threads", str(threads)]
        # Task graphs and catalog commits come as one burst on kept connections.
        command += ["--keep-alive", "75", "--graceful-timeout", "2", "--timeout", "60", "--no-control-socket"]
        return self._django(name, command, phase=1, patience_seconds=2.5)

    def control_worker(self) -> ChildSpec:
        """The console's own background work. Threads: a long operation must not hold up the sweeps."""
        command = [sys.executable, "-m", "celery", "-A", "console.celery", "worker", "-Q", "control"]
        command += ["--hostname", "control@%h", "--pool", "threads", "--concurrency", "4", *_QUIET_CELERY]
        return self._django("control-worker", command, phase=0, patience_seconds=2.5)

    def beat(self) -> ChildSpec:
        """The clock of the sweeps and of schedules."""
        schedule = self.home.path / "beat" / "schedule"
        command = [sys.executable, "-m", "celery", "-A", "console.celery", "beat"]
        command += ["--schedule", str(schedule)]
        return self._django("beat", command, phase=0, patience_seconds=2.5)

    def _django(self, name: str, command: list[str], phase: int, patience_seconds: float) -> ChildSpec:
        return ChildSpec(
            name=name,
            command=command,
            environment=self.trusted(name),
            directory=REPOSITORY,
            log=self.home.log(name),
            phase=phase,
            patience_seconds=patience_seconds,
        )

    def spark_worker(self) -> ChildSpec:
        """Runs what teams wrote: it is told where broker, database API and Spark are, and no more."""
        command = [sys.executable, "-m", "celery", "-A", "tenure.worker", "worker", "-Q", "spark"]
        command += ["--hostname", "spark@%h", "--pool", "threads", "--concurrency", "8", *_QUIET_CELERY]
        return ChildSpec(
            name="spark-worker",
            command=command,
            environment=self._spark_worker_environment(),
            directory=self.home.path / "spark-worker",
            log=self.home.log("spark-worker"),
            phase=0,
            patience_seconds=2.5,
        )

    def _spark_worker_environment(self) -> dict[str, str]:
        passed = {
            name: value
            for name, value in os.environ.items()
            if name in _PASSED_TO_THE_SPARK_WORKER or name.startswith(("TENURE_DRIVER_", "TENURE_PARSE_"))
        }
        return passed | {
            "PYTHONPATH": str(REPOSITORY),
            "TENURE_PROCESS": "spark-worker",
            "TENURE_BROKER_URL": self.environment["REDIS_URL"],
            "TENURE_DATABASE_API_URL": self.environment["TENURE_DATABASE_API_URL"],
            "SPARK_REMOTE": self.environment["SPARK_REMOTE"],
        }
