"""Sessions of Spark Connect, set up so that a run's result depends on nothing but its inputs."""

from __future__ import annotations

import logging
import os

from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    # Iceberg wants microseconds; Spark's default is the INT96 of old Hive.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.compression.codec": "zstd",
    # Columns are found by Iceberg's field ids, so that a rename does not lose data.
    "spark.sql.parquet.fieldId.write.enabled": "true",
    "spark.sql.parquet.fieldId.read.enabled": "true",
    # A file without ids fails the read; otherwise its columns would be silently null.
    "spark.sql.parquet.fieldId.read.ignoreMissing": "false",
}


def use_connect() -> None:
    """Make `pyspark.sql.functions` build Connect columns, also before the session is open."""
    # It prints each error with its JVM stack, which the exception carries already.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"


def open_session(address: str) -> SparkSession:
    """A session of its own at `address` (`sc://…`); raises pyspark's error when nobody answers there."""
    builder = SparkSession.builder.remote(address)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.create()


def interrupt(session: SparkSession) -> None:
    """Stop every job of the session."""
    session.interruptAll()
