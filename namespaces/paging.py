"""Pages of the lists that people see: by key, so that page 1,000 costs what page 1 costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from tenure.errors import InvalidInput

PAGE_SIZE = 50
DAMAGED = "This link to a page of a list is damaged: start at the list's first page."
T = TypeVar("T", bound=Model)


@dataclass(frozen=True)
class Page(Generic[T]):
    """The rows of one page and the query strings of its neighbours, empty where there are none."""

    rows: list[T]
    previous: str
    next: str


def page_of(
    queryset: QuerySet[T], request: HttpRequest, ordering: Sequence[str] = ("-pk",), size: int = PAGE_SIZE
) -> Page[T]:
    """The page that `?after=` or `?before=` names; `ordering` must end in something unique. One query."""
    after, before = request.GET.get("after", ""), request.GET.get("before", "")
    wanted = [_flipped(field) for field in ordering] if before else list(ordering)
    if cursor := after or before:
        queryset = _after(queryset, wanted, cursor)
    rows = list(queryset.order_by(*wanted)[: size + 1])
    more, rows = len(rows) > size, rows[:size]
    if before:
        rows.reverse()
    has_previous, has_next = (more, True) if before else (bool(after), more)
    return Page(
        rows,
        previous=_link(request, "before", rows[0], ordering) if rows and has_previous else "",
        next=_link(request, "after", rows[-1], ordering) if rows and has_next else "",
    )


def _after(queryset: QuerySet[T], ordering: Sequence[str], cursor: str) -> QuerySet[T]:
    try:
        return queryset.filter(_beyond(ordering, _read_cursor(cursor, len(ordering))))
    except (TypeError, ValueError):
        raise InvalidInput(DAMAGED) from None


def _flipped(field: str) -> str:
    return field[1:] if field.startswith("-") else f"-{field}"


def _beyond(ordering: Sequence[str], values: Sequence[Any]) -> Q:
    """Rows after the one with these values: a greater first key, or the same and a greater second, …"""
    cases = []
    for position, field in enumerate(ordering):
        same = {each.lstrip("-"): values[index] for index, each in enumerate(ordering[:position])}
        comparison = "lt" if field.startswith("-") else "gt"
        cases.append(Q(**same, **{f"{field.lstrip('-')}__{comparison}": values[position]}))
    return reduce(or_, cases)


def _link(request: HttpRequest, direction: str, row: Model, ordering: Sequence[str]) -> str:
    values = [_value(row, field.lstrip("-")) for field in ordering]
    query = request.GET.copy()
    for name in ("after", "before"):
        query.pop(name, None)
    cursor = signing.b64_encode(json.dumps(values).encode()).decode()
    kept = [(key, value) for key, each in query.lists() for value in each]
    return "?" + urlencode([*kept, (direction, cursor)])


def _value(row: Model, path: str) -> Any:
    return reduce(getattr, path.split("__"), row)


def _read_cursor(text: str, length: int) -> list[Any]:
    try:
        values = json.loads(signing.b64_decode(text.encode()))
    except ValueError:
        values = None
    if (
        not isinstance(values, list)
        or len(values) != length
        or not all(isinstance(v, str | int) for v in values)
    ):
        raise InvalidInput(DAMAGED)
    return values
