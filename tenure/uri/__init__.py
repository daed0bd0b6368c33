"""Dataset URIs: one resource, one canonical name, for every store.

`canonical("s3a://me:secret@bucket/orders/")` is `s3://bucket/orders`, and so is every other spelling
of it. Carries out AIP-60, with more stores, and needs the standard library alone. People build URIs
by the functions named after the stores: `postgres(host="db", database="shop", schema="public",
table="orders")`.
"""

from __future__ import annotations

from tenure.uri.model import DatasetURI
from tenure.uri.pattern_index import URIPatternIndex
from tenure.uri.patterns import URIPattern
from tenure.uri.registry import SCHEMES, Schemes
from tenure.uri.schemes.abfss import abfss
from tenure.uri.schemes.athena import athena
from tenure.uri.schemes.bigquery import bigquery
from tenure.uri.schemes.cassandra import cassandra
from tenure.uri.schemes.dbfs import dbfs
from tenure.uri.schemes.duckdb import duckdb
from tenure.uri.schemes.file import file
from tenure.uri.schemes.gcs import gcs
from tenure.uri.schemes.glue import glue
from tenure.uri.schemes.hdfs import hdfs
from tenure.uri.schemes.hive import hive
from tenure.uri.schemes.iceberg import iceberg
from tenure.uri.schemes.kafka import kafka
from tenure.uri.schemes.mongodb import mongodb
from tenure.uri.schemes.mssql import mssql
from tenure.uri.schemes.mysql import mysql
from tenure.uri.schemes.oracle import oracle
from tenure.uri.schemes.postgres import postgres
from tenure.uri.schemes.redshift import redshift
from tenure.uri.schemes.s3 import s3
from tenure.uri.schemes.snowflake import snowflake
from tenure.uri.schemes.sqlite import sqlite
from tenure.uri.schemes.trino import trino
from tenure.uri.schemes.unitycatalog import unitycatalog
from tenure.uri.schemes.wasbs import wasbs
from tenure.uri.secrets import masked, seems_to_carry_password

parse = SCHEMES.parse
canonical = SCHEMES.canonical
is_literal = SCHEMES.is_literal
from_openlineage = SCHEMES.from_openlineage

__all__ = [
    "SCHEMES",
    "DatasetURI",
    "Schemes",
    "URIPattern",
    "URIPatternIndex",
    "abfss",
    "athena",
    "bigquery",
    "canonical",
    "cassandra",
    "dbfs",
    "duckdb",
    "file",
    "from_openlineage",
    "gcs",
    "glue",
    "hdfs",
    "hive",
    "iceberg",
    "is_literal",
    "kafka",
    "masked",
    "mongodb",
    "mssql",
    "mysql",
    "oracle",
    "parse",
    "postgres",
    "redshift",
    "s3",
    "seems_to_carry_password",
    "snowflake",
    "sqlite",
    "trino",
    "unitycatalog",
    "wasbs",
]
