"""The project's own middleware: who acts, and errors as pages."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject

from console.errors import as_tenure_error
from namespaces.principals import principal_of
from tenure.errors import TenureError

GetResponse = Callable[[HttpRequest], HttpResponse]


class PrincipalMiddleware:
    """Sets `request.principal`, looked up at its first use."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Attach the principal of the session's user."""
        request.principal = SimpleLazyObject(lambda: principal_of(request.user))  # type: ignore[attr-defined]
        return self.get_response(request)


class ErrorPageMiddleware:
    """A `TenureError` raised by a page becomes a page that says what was wrong and what to do."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Render a `TenureError`, and what the database cannot hold; leave everything else to Django."""
        if not isinstance(exception, TenureError | DataError):
            return None
        problem = as_tenure_error(exception)
        return render(request, "problem.html", {"problem": problem}, status=problem.status)
