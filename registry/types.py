"""What each built-in dataset type accepts: checks of URI and properties, as data about the type.

`configure` gives the URI and properties that are stored; it runs in the trusted process, since
these types are Tenure's own code.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from registry.models import DatasetType
from tenure.errors import InvalidInput
from tenure.names import check_name

MAX_URI = 1500
FILE_SCHEMES = ("file", "s3", "s3a", "gs", "abfss", "hdfs")
FILE_FORMATS = ("csv", "json", "parquet", "text")


@dataclass(frozen=True)
class Configured:
    """A dataset's URI and properties after its type has checked them."""

    uri: str
    properties: dict[str, Any]


def configure(type_name: str, namespace: str, name: str, uri: str, properties: dict[str, Any]) -> Configured:
    """Check a new dataset's URI and properties; raises `InvalidInput` naming what is wrong."""
    if type_name not in CONFIGURE:
        raise InvalidInput(f"{type_name!r} is no dataset type; use one of {', '.join(CONFIGURE)}.")
    return CONFIGURE[type_name](namespace, name, uri, properties)


def _configure_table(namespace: str, name: str, uri: str, properties: dict[str, Any]) -> Configured:
    if uri:
        raise InvalidInput("Leave out 'uri': Tenure chooses where a table lives, inside the warehouse.")
    _refuse_unknown(properties, {"partition_by"})
    columns = properties.get("partition_by", [])
    if not isinstance(columns, list) or not all(_is_column(column) for column in columns):
        raise InvalidInput("'partition_by' is a list of column names.")
    # The suffix keeps a table that was deleted and created again apart from what the first one left.
    location = f"{settings.TENURE_WAREHOUSE}/{namespace}/{name}-{uuid.uuid4().hex[:8]}"
    return Configured(location, properties)


def _is_column(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 255 and "\x00" not in name


def _configure_file_set(namespace: str, name: str, uri: str, properties: dict[str, Any]) -> Configured:
    _check_uri(uri)
    _refuse_unknown(properties, set(_FILE_SET_PROPERTIES))
    for key, value in properties.items():
        _FILE_SET_PROPERTIES[key](key, value)
    if "format" not in properties:
        raise InvalidInput(f"A file_set needs the property 'format': one of {', '.join(FILE_FORMATS)}.")
    return Configured(uri, properties)


def _check_uri(uri: str) -> None:
    if not uri or len(uri) > MAX_URI:
        raise InvalidInput(f"A file_set needs a 'uri' of up to {MAX_URI} characters.")
    parts = urlsplit(uri)
    if parts.scheme == "file" and not uri.startswith("file:///"):
        raise InvalidInput("A file's URI starts with 'file:///'.")
    if parts.scheme not in FILE_SCHEMES or not parts.path.startswith("/"):
        raise InvalidInput(
            f"{parts.scheme or 'This'} URI cannot be read; use one of {', '.join(FILE_SCHEMES)}://…."
        )
    if parts.username or parts.password:
        raise InvalidInput("A URI holds no user name or password: remove what stands before '@'.")
    # One place has one spelling: otherwise the comparisons below could be talked around.
    if any(part in ("", ".", "..") for part in parts.path.rstrip("/").split("/")[1:]):
        raise InvalidInput("A URI's path holds no '..', no '.' and no empty part.")
    if set(uri) & set("*?[]{}#\\"):
        raise InvalidInput("A URI names one file or one folder: it holds none of * ? [ ] { } # \\.")
    if _overlaps(uri, settings.TENURE_WAREHOUSE):
        raise InvalidInput(
            "The URI meets the warehouse, which only tables write to. Put the files elsewhere."
        )
    home = f"file://{settings.TENURE_HOME}"
    if _overlaps(uri, home) and not _inside(uri, f"{home}/demonstration"):
        raise InvalidInput("The URI meets the console's own directory. Put the files elsewhere.")


def _overlaps(uri: str, place: str) -> bool:
    """Whether either holds the other: a folder above the warehouse holds it as well."""
    return _inside(uri, place) or _inside(place, uri)


def _inside(uri: str, place: str) -> bool:
    return _comparable(uri).startswith(_comparable(place))


def _comparable(uri: str) -> str:
    scheme, _, rest = uri.partition("://")
    scheme = "s3" if scheme in ("s3a", "s3n") else scheme
    return f"{scheme}://{rest.rstrip('/')}/"


def _refuse_unknown(properties: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(set(properties) - known)
    if unknown:
        raise InvalidInput(f"Unknown property {unknown[0]!r}; this type knows {', '.join(sorted(known))}.")


def _check_format(key: str, value: object) -> None:
    if value not in FILE_FORMATS:
        raise InvalidInput(f"{key!r} is one of {', '.join(FILE_FORMATS)}, not {value!r}.")


def _check_boolean(key: str, value: object) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"{key!r} is true or false, not {value!r}.")


def _check_text(key: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{key!r} is a text, not {value!r}.")


_FILE_SET_PROPERTIES: dict[str, Callable[[str, object], None]] = {
    "format": _check_format,
    "header": _check_boolean,
    "null_value": _check_text,
    "delimiter": _check_text,
    "schema": _check_text,
}

CONFIGURE: dict[str, Callable[[str, str, str, dict[str, Any]], Configured]] = {
    DatasetType.TABLE: _configure_table,
    DatasetType.FILE_SET: _configure_file_set,
}


def check_dataset_name(name: str) -> str:
    """The name, or `InvalidInput` with the rule."""
    return check_name("dataset", name)
