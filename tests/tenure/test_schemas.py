"""Spark's columns and Iceberg's: there and back, and what fits a table."""

from __future__ import annotations

import pytest
from pyiceberg import types as iceberg
from pyiceberg.schema import Schema
from pyspark.sql import types as spark

from tenure.errors import InvalidData
from tenure.spark.schemas import FIELD_ID, misfits, to_iceberg, to_spark

INT, LONG, STRING = spark.IntegerType(), spark.LongType(), spark.StringType()
TYPES: list[spark.DataType] = [
    spark.BooleanType(),
    INT,
    LONG,
    spark.FloatType(),
    spark.DoubleType(),
    spark.DecimalType(10, 2),
    spark.DateType(),
    spark.TimestampType(),
    spark.TimestampNTZType(),
    STRING,
    spark.BinaryType(),
    spark.ArrayType(INT),
    spark.MapType(STRING, spark.DoubleType()),
    spark.StructType().add("a", INT).add("b", spark.ArrayType(spark.StructType().add("c", LONG))),
]


def frame(**columns: spark.DataType) -> spark.StructType:
    """The schema of a frame with these columns."""
    return spark.StructType([spark.StructField(name, kind) for name, kind in columns.items()])


def table(**columns: iceberg.IcebergType) -> Schema:
    """The schema of a table with these columns, none of them required."""
    numbered = enumerate(columns.items(), 1)
    return Schema(*(iceberg.NestedField(id_, name, kind, required=False) for id_, (name, kind) in numbered))


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.simpleString())
def test_a_type_survives_the_way_there_and_back(kind: spark.DataType) -> None:
    assert to_spark(to_iceberg(frame(x=kind)), ids=False) == frame(x=kind)


def test_small_integers_become_ints() -> None:
    small = frame(a=spark.ByteType(), b=spark.ShortType())
    assert to_spark(to_iceberg(small), ids=False) == frame(a=INT, b=INT)


def test_every_column_also_inside_structs_carries_its_field_id() -> None:
    columns = to_spark(to_iceberg(frame(a=INT, s=frame(b=INT))))
    inner = columns["s"].dataType
    assert isinstance(inner, spark.StructType)
    ids = [columns["a"].metadata[FIELD_ID], columns["s"].metadata[FIELD_ID], inner["b"].metadata[FIELD_ID]]
    assert len(set(ids)) == 3


def test_a_type_that_iceberg_cannot_hold_is_named_with_its_column() -> None:
    with pytest.raises(InvalidData, match=r"Column s\.wait: a table cannot hold interval"):
        to_iceberg(frame(s=frame(wait=spark.DayTimeIntervalType())))


def test_a_column_given_twice_is_refused() -> None:
    with pytest.raises(InvalidData, match="more than one column 'a'"):
        to_iceberg(spark.StructType([*frame(a=INT).fields, *frame(a=STRING).fields]))


def test_types_that_widen_fit() -> None:
    wanted = table(a=iceberg.LongType(), b=iceberg.DoubleType(), c=iceberg.DecimalType(12, 2))
    assert misfits(to_iceberg(frame(a=INT, b=spark.FloatType(), c=spark.DecimalType(10, 2))), wanted) == []


def test_each_column_that_does_not_fit_has_a_line_that_says_what_to_do() -> None:
    wanted = table(a=iceberg.IntegerType(), b=iceberg.StringType(), d=iceberg.DecimalType(12, 2))
    lines = misfits(to_iceberg(frame(a=LONG, c=INT, d=spark.DecimalType(12, 3))), wanted)
    assert [line.split(";")[1].strip() for line in lines] == [
        "cast it to int first.",
        "add it, with nulls if need be (string).",
        "cast it to decimal(12, 2) first.",
        "drop it from the data.",
    ]


def test_structs_are_compared_by_name_and_not_by_position() -> None:
    wanted = to_iceberg(frame(s=frame(a=INT, b=STRING)))
    assert misfits(to_iceberg(frame(s=frame(b=STRING, a=INT))), wanted) == []
    assert misfits(to_iceberg(frame(s=frame(a=INT))), wanted)[0].startswith("column s.b: missing")
