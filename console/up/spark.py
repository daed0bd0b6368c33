"""The embedded Spark: one Spark Connect server, kept warm, on loopback and behind a token.

It runs what teams wrote, so its environment is as small as the spark worker's.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from console.up.child import ChildSpec
from console.up.errors import CannotStart
from console.up.home import Home
from console.up.ports import LOOPBACK, answers

# One compacting collector thread and eager shrinking: a console that idles gives memory back.
_JVM_OPTIONS = (
    "-XX:+UseSerialGC",
    "-Xss4m",
    "-Xms128m",
    "-XX:MinHeapFreeRatio=10",
    "-XX:MaxHeapFreeRatio=25",
    "-XX:ReservedCodeCacheSize=160m",
    "-Dfile.encoding=UTF-8",
    "-Duser.timezone=UTC",
)
_PASSED = ("PATH", "HOME", "LANG", "JAVA_HOME")
_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.stdout.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex
"""


@dataclass(frozen=True)
class Spark:
    """One embedded Spark Connect server and where it listens."""

    home: Home
    port: int
    secrets: Mapping[str, str]

    @property
    def url(self) -> str:
        """What `SPARK_REMOTE` is set to. The client sends a token without TLS to `localhost` only."""
        return f"sc://localhost:{self.port}/;token={self.secrets['spark']};user_id=tenure"

    @property
    def _directory(self) -> Path:
        return self.home.path / "spark"

    def _configuration(self) -> dict[str, str]:
        return {
            "spark.connect.grpc.binding.address": LOOPBACK,
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.ui.enabled": "false",
            "spark.local.dir": str(self._directory / "local"),
            "spark.sql.warehouse.dir": f"file://{self._directory}/warehouse",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.session.timeZone": "UTC",
            # Iceberg wants microseconds; Spark's own default is the deprecated INT96.
            "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
            # One machine: the default of 200 makes most time of a small query scheduling.
            "spark.sql.shuffle.partitions": "4",
            # Plans and metrics of finished queries; nobody looks at them without the UI.
            "spark.sql.ui.retainedExecutions": "10",
            "spark.ui.retainedJobs": "20",
            "spark.ui.retainedStages": "20",
        }

    def spec(self) -> ChildSpec:
        """How to run the server in the foreground."""
        (self._directory / "local").mkdir(mode=0o700, exist_ok=True)
        log4j = "log4j2.properties"
        (self._directory / log4j).write_text(_LOG4J)
        # Relative to the server's own directory: spark-submit splits these options at spaces.
        options = " ".join((*_JVM_OPTIONS, f"-Dlog4j2.configurationFile={log4j}"))
        spark_home = _spark_home()
        command = [str(spark_home / "bin" / "spark-submit")]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
        command += ["--master", "local[*]", "--driver-memory", "1g", "--driver-java-options", options]
        for name, value in self._configuration().items():
            command += ["--conf", f"{name}={value}"]
        return ChildSpec(
            name="spark-connect",
            command=[*command, "spark-internal"],
            environment=self._environment(spark_home),
            directory=self._directory,
            log=self.home.log("spark-connect"),
            phase=2,
            patience_seconds=2.0,
        )

    def _environment(self, spark_home: Path) -> dict[str, str]:
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        return passed | {
            "SPARK_HOME": str(spark_home),
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": self.secrets["spark"],
            "SPARK_LOCAL_IP": LOOPBACK,
            "PYSPARK_PYTHON": sys.executable,
        }

    def answers(self) -> bool:
        """Whether the server accepts connections, which it does once its session is up."""
        return answers(self.port)


def _spark_home() -> Path:
    # Found without importing pyspark: the supervisor would hold it in memory for nothing.
    package = importlib.util.find_spec("pyspark")
    if package is None or package.origin is None:
        raise CannotStart("pyspark is missing: pip install -r requirements.txt, or set SPARK_REMOTE.")
    return Path(package.origin).parent
