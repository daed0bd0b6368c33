"""What each built-in dataset type accepts: checks of URI and properties, as data about the type.

`configure` gives the URI, location and properties that are stored; it runs in the trusted process,
since these types are Tenure's own code.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from registry import places
from registry.models import DatasetType
from tenure.errors import InvalidInput
from tenure.names import check_name
from tenure.uri import DatasetURI, iceberg

FILE_FORMATS = ("csv", "json", "parquet", "text")


@dataclass(frozen=True)
class Configured:
    """What is stored of a dataset after its type has checked it. `typed` is empty where Tenure chose."""

    uri: str
    properties: dict[str, Any]
    typed: str = ""
    location: str = ""


def configure(
    type_name: str, namespace: str, name: str, uri: DatasetURI | None, properties: dict[str, Any]
) -> Configured:
    """Check a dataset's URI, None where none was given, and properties.

    Raises `InvalidInput` naming what is wrong.
    """
    if type_name not in CONFIGURE:
        raise InvalidInput(f"{type_name!r} is no dataset type; use one of {', '.join(CONFIGURE)}.")
    return CONFIGURE[type_name](namespace, name, uri, properties)


def _configure_table(
    namespace: str, name: str, uri: DatasetURI | None, properties: dict[str, Any]
) -> Configured:
    own = iceberg(namespace=namespace, name=name)
    if uri not in (None, own):
        raise InvalidInput(f"Leave out 'uri': Tenure names this table {own} and chooses where it lives.")
    _refuse_unknown(properties, {"partition_by"})
    columns = properties.get("partition_by", [])
    if not isinstance(columns, list) or not all(_is_column(column) for column in columns):
        raise InvalidInput("'partition_by' is a list of column names.")
    # The suffix keeps a table that was deleted and created again apart from what the first one left.
    location = f"{settings.TENURE_WAREHOUSE}/{namespace}/{name}-{uuid.uuid4().hex[:8]}"
    return Configured(own.canonical, properties, location=location)


def _is_column(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 255 and "\x00" not in name


def _configure_file_set(
    namespace: str, name: str, uri: DatasetURI | None, properties: dict[str, Any]
) -> Configured:
    if uri is None:
        raise InvalidInput("A file_set needs a 'uri': where its files are.")
    places.check_readable(uri)
    _refuse_unknown(properties, set(_FILE_SET_PROPERTIES))
    for key, value in properties.items():
        _FILE_SET_PROPERTIES[key](key, value)
    if "format" not in properties:
        raise InvalidInput(f"A file_set needs the property 'format': one of {', '.join(FILE_FORMATS)}.")
    return Configured(uri.canonical, properties, uri.typed)


def _configure_external(
    namespace: str, name: str, uri: DatasetURI | None, properties: dict[str, Any]
) -> Configured:
    if uri is None:
        raise InvalidInput("An external dataset needs a 'uri': what it is known by.")
    if uri.canonical.lower().startswith("iceberg:"):
        raise InvalidInput("Tenure itself gives iceberg:// URIs, to its tables: register a table instead.")
    _refuse_unknown(properties, set())
    return Configured(uri.canonical, properties, uri.typed)


def check_literal(uri: DatasetURI) -> None:
    """Raise `InvalidInput` for a literal that seems to carry a password: it would be kept byte for byte."""
    if uri.carries_password:
        raise InvalidInput(
            f"The URI seems to carry a password, and would be kept with it because {uri.reason}. "
            "Leave out the user, the password and any secret parameter."
        )


def _refuse_unknown(properties: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(set(properties) - known)
    if unknown:
        names = ", ".join(sorted(known)) or "none"
        raise InvalidInput(f"Unknown property {unknown[0]!r}; this type knows {names}.")


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

CONFIGURE: dict[str, Callable[[str, str, DatasetURI | None, dict[str, Any]], Configured]] = {
    DatasetType.TABLE: _configure_table,
    DatasetType.FILE_SET: _configure_file_set,
    DatasetType.EXTERNAL: _configure_external,
}


def check_dataset_name(name: str) -> str:
    """The name, or `InvalidInput` with the rule."""
    return check_name("dataset", name)
