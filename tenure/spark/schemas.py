"""Columns in Spark's types and in Iceberg's, and whether data of one schema fits a table of another.

Source: the Iceberg table specification, "Primitive Types" and "Schema Evolution".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from pyiceberg import types as iceberg
from pyiceberg.exceptions import ResolveError
from pyiceberg.schema import Schema, promote
from pyspark.sql import types as spark

from tenure.errors import InvalidData

FIELD_ID = "parquet.field.id"
"""The key of a column's metadata under which Spark's Parquet reader and writer look for its id."""

_TO_ICEBERG: dict[type[spark.DataType], iceberg.PrimitiveType] = {
    spark.BooleanType: iceberg.BooleanType(),
    spark.ByteType: iceberg.IntegerType(),
    spark.ShortType: iceberg.IntegerType(),
    spark.IntegerType: iceberg.IntegerType(),
    spark.LongType: iceberg.LongType(),
    spark.FloatType: iceberg.FloatType(),
    spark.DoubleType: iceberg.DoubleType(),
    spark.DateType: iceberg.DateType(),
    spark.TimestampType: iceberg.TimestamptzType(),
    spark.TimestampNTZType: iceberg.TimestampType(),
    spark.StringType: iceberg.StringType(),
    spark.CharType: iceberg.StringType(),
    spark.VarcharType: iceberg.StringType(),
    spark.BinaryType: iceberg.BinaryType(),
}
_TO_SPARK: dict[type[iceberg.IcebergType], spark.DataType] = {
    iceberg.BooleanType: spark.BooleanType(),
    iceberg.IntegerType: spark.IntegerType(),
    iceberg.LongType: spark.LongType(),
    iceberg.FloatType: spark.FloatType(),
    iceberg.DoubleType: spark.DoubleType(),
    iceberg.DateType: spark.DateType(),
    iceberg.TimestamptzType: spark.TimestampType(),
    iceberg.TimestampType: spark.TimestampNTZType(),
    iceberg.StringType: spark.StringType(),
    iceberg.UUIDType: spark.StringType(),
    iceberg.BinaryType: spark.BinaryType(),
    iceberg.FixedType: spark.BinaryType(),
}


def to_iceberg(schema: spark.StructType) -> Schema:
    """Spark's columns as an Iceberg schema of optional fields, numbered from 1.

    Raises `InvalidData` naming each column twice given, or of a type that Iceberg cannot hold.
    """
    names = schema.fieldNames()
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidData(f"The frame has more than one column {twice[0]!r}: rename or drop one of them.")
    return Schema(*_iceberg_fields(schema, "", count(1)))


def _iceberg_fields(struct: spark.StructType, path: str, ids: Iterator[int]) -> list[iceberg.NestedField]:
    return [
        iceberg.NestedField(
            next(ids), each.name, _iceberg_type(each.dataType, f"{path}{each.name}", ids), required=False
        )
        for each in struct.fields
    ]


def _iceberg_type(kind: spark.DataType, path: str, ids: Iterator[int]) -> iceberg.IcebergType:
    if isinstance(kind, spark.StructType):
        return iceberg.StructType(*_iceberg_fields(kind, f"{path}.", ids))
    if isinstance(kind, spark.ArrayType):
        element = _iceberg_type(kind.elementType, f"{path}.element", ids)
        return iceberg.ListType(next(ids), element, element_required=False)
    if isinstance(kind, spark.MapType):
        key = _iceberg_type(kind.keyType, f"{path}.key", ids)
        value = _iceberg_type(kind.valueType, f"{path}.value", ids)
        return iceberg.MapType(next(ids), key, next(ids), value, value_required=False)
    if isinstance(kind, spark.DecimalType):
        return iceberg.DecimalType(kind.precision, kind.scale)
    found = _TO_ICEBERG.get(type(kind))
    if found is None:
        raise InvalidData(
            f"Column {path}: a table cannot hold {kind.simpleString()}; cast it to another type."
        )
    return found


def to_spark(schema: Schema, *, ids: bool = True) -> spark.StructType:
    """An Iceberg schema as Spark's columns, each with its field id unless told otherwise.

    Raises `InvalidData` for types that Spark does not have.
    """
    return _spark_struct(schema.as_struct(), "", ids)


def _spark_struct(struct: iceberg.StructType, path: str, ids: bool) -> spark.StructType:
    return spark.StructType(
        [
            spark.StructField(
                each.name,
                _spark_type(each.field_type, f"{path}{each.name}", ids),
                not each.required,
                {FIELD_ID: each.field_id} if ids else {},
            )
            for each in struct.fields
        ]
    )


def _spark_type(kind: iceberg.IcebergType, path: str, ids: bool) -> spark.DataType:
    if isinstance(kind, iceberg.StructType):
        return _spark_struct(kind, f"{path}.", ids)
    if isinstance(kind, iceberg.ListType):
        element = _spark_type(kind.element_type, f"{path}.element", ids)
        return spark.ArrayType(element, not kind.element_required)
    if isinstance(kind, iceberg.MapType):
        key, value = (_spark_type(each, path, ids) for each in (kind.key_type, kind.value_type))
        return spark.MapType(key, value, not kind.value_required)
    if isinstance(kind, iceberg.DecimalType):
        return spark.DecimalType(kind.precision, kind.scale)
    found = _TO_SPARK.get(type(kind))
    if found is None:
        raise InvalidData(f"Column {path}: Spark has no type for Iceberg's {kind}.")
    return found


def misfits(found: Schema, wanted: Schema) -> list[str]:
    """Why data of schema `found` cannot be written to a table of schema `wanted`: one line a column."""
    return _struct_misfits(found.as_struct(), wanted.as_struct(), "")


def _struct_misfits(found: iceberg.StructType, wanted: iceberg.StructType, path: str) -> list[str]:
    have = {each.name: each for each in found.fields}
    lines = []
    for column in wanted.fields:
        name = f"{path}{column.name}"
        given = have.pop(column.name, None)
        if given is None:
            lines.append(
                f"column {name}: missing from the data; add it, with nulls if need be ({column.field_type})."
            )
        elif column.required:
            lines.append(f"column {name}: the table requires a value, and a frame cannot promise one.")
        else:
            lines += _type_misfits(given.field_type, column.field_type, name)
    lines += [f"column {path}{name}: not in the table; drop it from the data." for name in have]
    return lines


def _type_misfits(found: iceberg.IcebergType, wanted: iceberg.IcebergType, path: str) -> list[str]:
    if isinstance(found, iceberg.StructType) and isinstance(wanted, iceberg.StructType):
        return _struct_misfits(found, wanted, f"{path}.")
    if isinstance(found, iceberg.ListType) and isinstance(wanted, iceberg.ListType):
        return _type_misfits(found.element_type, wanted.element_type, f"{path}.element")
    if isinstance(found, iceberg.MapType) and isinstance(wanted, iceberg.MapType):
        return [
            *_type_misfits(found.key_type, wanted.key_type, f"{path}.key"),
            *_type_misfits(found.value_type, wanted.value_type, f"{path}.value"),
        ]
    if _widens(found, wanted):
        return []
    return [f"column {path}: the data has {found}, the table {wanted}; cast it to {wanted} first."]


def _widens(found: iceberg.IcebergType, wanted: iceberg.IcebergType) -> bool:
    if found == wanted:
        return True
    if isinstance(found, iceberg.DecimalType) and isinstance(wanted, iceberg.DecimalType):
        # pyiceberg's `promote` looks at the precision alone; another scale would round.
        return found.scale == wanted.scale and found.precision <= wanted.precision
    try:
        return bool(promote(found, wanted) == wanted)
    except ResolveError:
        return False
