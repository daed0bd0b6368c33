"""What Tenure does with frames: read files, check and conform a frame to a table, write Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tenure.errors import InvalidData, InvalidInput
from tenure.spark.schemas import misfits, to_iceberg, to_spark

if TYPE_CHECKING:
    from pyiceberg.schema import Schema

FORMATS = ("csv", "json", "parquet", "text")


def read_files(
    spark: SparkSession, path: str, properties: Mapping[str, Any], options: Mapping[str, Any]
) -> DataFrame:
    """The files at `path`, read by the properties of a `file_set`; raises `InvalidInput` for others."""
    kind = properties.get("format", "csv")
    if kind not in FORMATS:
        raise InvalidInput(f"A file_set cannot be read as {kind!r}; use one of {', '.join(FORMATS)}.")
    reader = spark.read.format(kind)
    schema = options.get("schema", properties.get("schema"))
    if schema:
        # Spark's default turns a value that does not parse into null; here it fails the read.
        reader = reader.schema(schema).option("mode", "FAILFAST")
    if kind == "csv":
        reader = reader.option("header", properties.get("header", True)).option("inferSchema", False)
        reader = reader.option("sep", properties.get("delimiter", ","))
        if "null_value" in properties:
            reader = reader.option("nullValue", properties["null_value"])
    extra = {name: value for name, value in options.items() if name != "schema"}
    return reader.options(**extra).load(path)


def read_parquet(spark: SparkSession, schema: Schema, paths: Sequence[str]) -> DataFrame:
    """Exactly these Parquet files, with the table's columns found by field id."""
    columns = to_spark(schema)
    if not paths:
        return spark.createDataFrame([], columns)
    return spark.read.schema(columns).parquet(*paths)


def check_frame(frame: object) -> DataFrame:
    """`frame`, or `InvalidInput` if it is anything but a Spark DataFrame."""
    if not isinstance(frame, DataFrame):
        raise InvalidInput(f"A table is written from a Spark DataFrame, not from {type(frame).__name__}.")
    return frame


def frame_schema(frame: DataFrame) -> Schema:
    """The frame's columns as an Iceberg schema; raises `InvalidData` naming what Iceberg cannot hold."""
    return to_iceberg(frame.schema)


def conform(frame: DataFrame, schema: Schema) -> DataFrame:
    """The frame with the table's column order, types and field ids; raises `InvalidData`, a line a column."""
    lines = misfits(frame_schema(frame), schema)
    if lines:
        raise InvalidData("The data does not fit the table:\n" + "\n".join(lines))
    # `to` orders the columns, also inside structs. The ids come after it, in aliases: what `to` says
    # of metadata Spark's optimizer forgets where nothing else changes.
    return frame.to(to_spark(schema, ids=False)).select(
        *(
            F.col(_quoted(each.name)).cast(each.dataType).alias(each.name, metadata=each.metadata)
            for each in to_spark(schema).fields
        )
    )


def write_parquet(frame: DataFrame, path: str, partition_by: Sequence[str]) -> None:
    """Write the frame below `path`, each file holding the rows of one partition.

    The partition columns stay in the files, as Iceberg has it. Spark splits by hashes of them: by the
    values themselves it would put null and the empty string together, and long ones fit no directory.
    """
    copies = {f"_partition_{name}": F.xxhash64(F.col(_quoted(name))) for name in partition_by}
    if copies:
        # Otherwise each of Spark's tasks would write a file for each partition that it meets.
        frame = frame.withColumns(copies).hint("rebalance", *(F.col(_quoted(name)) for name in copies))
    writer = frame.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    writer.partitionBy(*copies).parquet(path) if copies else writer.parquet(path)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
