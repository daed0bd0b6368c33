"""The demonstration's transformations as a plain PySpark script: the baseline of `bench.demonstration`.

    python -m bench.plain SPARK_REMOTE INPUT_DIRECTORY OUTPUT_DIRECTORY

It reads the same files, writes the same Parquet, and knows nothing of Tenure: no authorisation,
no record, no tables, and no order but that of its lines. Prints its seconds.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

COLUMNS = {
    "flights": """year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int,
        sched_arr_time int, arr_delay int, carrier string, flight int, tailnum string, origin string,
        dest string, air_time int, distance int, hour int, minute int, time_hour timestamp""",
    "airlines": "carrier string, name string",
    "airports": "faa string, name string, lat double, lon double, alt int, tz int, dst string, tzone string",
    "planes": """tailnum string, year int, type string, manufacturer string, model string, engines int,
        seats int, speed int, engine string""",
    "weather": """origin string, time_hour timestamp, temp double, dewp double, humid double, wind_dir int,
        wind_speed double, wind_gust double, precip double, pressure double, visib double""",
}


def main(remote: str, source: str, target: str) -> None:
    """Do the work once and print how long it took."""
    spark = SparkSession.builder.remote(remote).create()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.parquet.compression.codec", "zstd")
    began = time.monotonic()
    for name, columns in COLUMNS.items():
        ingest(spark, name, columns, source, target)
    flights, airlines, weather = (
        spark.read.parquet(f"{target}/{name}") for name in ("flights", "airlines", "weather")
    )
    means(flights.groupBy("carrier")).join(airlines, "carrier").write.parquet(f"{target}/delays_by_carrier")
    flights.join(weather, ["origin", "time_hour"]).write.parquet(f"{target}/delays_by_weather")
    means(flights.groupBy("origin", "year", "month", "day")).write.parquet(f"{target}/daily_delays")
    print(time.monotonic() - began)
    spark.stop()


def ingest(spark: SparkSession, name: str, columns: str, source: str, target: str) -> None:
    """One CSV file, typed, as Parquet; flights by month."""
    rows = spark.read.option("header", True).option("nullValue", "NA").csv(f"{source}/{name}.csv")
    pairs = [column.split() for column in columns.split(",")]
    typed = rows.select([rows[column].cast(kind).alias(column) for column, kind in pairs])
    if name == "flights":
        typed.hint("rebalance", "month").write.partitionBy("month").parquet(f"{target}/{name}")
    else:
        typed.write.parquet(f"{target}/{name}")


def means(groups: Any) -> DataFrame:
    """Flights and mean delays of each group."""
    frame: DataFrame = groups.agg(
        F.count("*").alias("flights"), *[F.avg(x).alias(x) for x in ("dep_delay", "arr_delay")]
    )
    return frame


if __name__ == "__main__":
    main(*sys.argv[1:])
