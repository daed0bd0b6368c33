"""Pages of lists, by cursor: stable while rows are added, and as cheap on page 1,000 as on page 1."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination


class CursorPages(CursorPagination):
    """Newest first by primary key; a view that orders otherwise says so with `ordering`."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
    ordering = "-pk"

    def get_ordering(self, request, queryset, view):  # type: ignore[no-untyped-def]  # stubs lack this hook
        """The view's own order, which must end in something unique."""
        ordering = getattr(view, "ordering", self.ordering)
        return (ordering,) if isinstance(ordering, str) else tuple(ordering)
