"""Pages of the API's lists, by cursor: stable while rows are added, the thousandth as cheap as the first."""

from __future__ import annotations

from typing import Any

from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from namespaces.paging import PAGE_SIZE, Page, page_of
from tenure.errors import InvalidInput

MAX_PAGE_SIZE = 200


class CursorPages(BasePagination):
    """The pages of `namespaces.paging` in the API; newest first where a view has no `ordering`."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """The rows of the page that `after` or `before` names, `page_size` of them."""
        ordering = getattr(view, "ordering", "-pk")
        ordering = (ordering,) if isinstance(ordering, str) else ordering
        self.address = request.build_absolute_uri(request.path)
        self.page: Page[Any] = page_of(queryset, request._request, ordering, _size(request))
        return self.page.rows

    def get_paginated_response(self, data: Any) -> Response:
        """`next` and `previous` are addresses, or null at the ends."""
        following, previous = (link and self.address + link for link in (self.page.next, self.page.previous))
        return Response({"next": following or None, "previous": previous or None, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """How OpenAPI describes a page."""
        link = {"type": "string", "nullable": True, "format": "uri"}
        properties = {"next": link, "previous": link, "results": schema}
        return {"type": "object", "required": ["next", "previous", "results"], "properties": properties}

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """How OpenAPI describes what chooses a page."""
        text, number = {"type": "string"}, {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE}
        return [
            _parameter("after", "From `next`: the page after a row.", text),
            _parameter("before", "From `previous`: the page before a row.", text),
            _parameter("page_size", f"Rows on a page; {PAGE_SIZE} by default.", number),
        ]


def _parameter(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


def _size(request: Request) -> int:
    text = request.query_params.get("page_size", str(PAGE_SIZE))
    if not text.isdecimal() or not 1 <= int(text[:9]) <= MAX_PAGE_SIZE:
        raise InvalidInput(f"page_size={text[:20]!r} is outside 1 to {MAX_PAGE_SIZE}.")
    return int(text)
