"""What every REST face shares: the request's principal, `If-Match` and `ETag`."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from rest_framework.request import Request

from namespaces.models import Namespace
from namespaces.principals import Principal, principal_of
from namespaces.services.grants import sees_whole
from tenure.errors import InvalidInput


def principal(request: Request | HttpRequest) -> Principal:
    """Who acts in this request; a token of a run sets it at authentication."""
    known = getattr(request, "principal", None)
    if known is None:
        known = principal_of(request.user)
        request.principal = known  # type: ignore[union-attr]  # kept for the rest of the request
    return cast(Principal, known)


def hide_programs(who: Principal, namespace: Namespace, rows: list[Any]) -> list[Any]:
    """Accesses or snapshots of a dataset, without the runs of a namespace that one may not see as a whole."""
    if not sees_whole(who, namespace):
        for row in rows:
            row.pipeline, row.run, row.attempt, row.task = "", None, None, ""
    return rows


def expected_version(request: Request) -> int | None:
    """The version in `If-Match`, or None when the caller does not care."""
    header = request.headers.get("If-Match", "")
    if not header or header == "*":
        return None
    value = header.strip().removeprefix("W/").strip('"')
    if not (value.isdecimal() and len(value) < 10):
        raise InvalidInput(f"If-Match: {header!r} is no ETag of this API; send the one that GET returned.")
    return int(value)


def etag(version: int) -> dict[str, str]:
    """The header that carries a version."""
    return {"ETag": f'"{version}"'}
