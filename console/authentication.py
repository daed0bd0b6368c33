"""Who sends a request: a person by session, a program by API token, a run by its run token."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from lineage.services.driving import find_run
from lineage.services.runs import principal_of_run
from namespaces.principals import Principal
from namespaces.tokens import Work, is_work_token, read_token
from tenure.errors import TenureError


class BearerAuthentication(TokenAuthentication):
    """`Authorization: Bearer …` with an API token, or, at the Iceberg catalog alone, a run token."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """The user and token; sets `request.principal` for a run."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and is_work_token(token.strip()):
            return _authenticate_run(request, token.strip())
        if not token.isascii():
            raise exceptions.AuthenticationFailed("No token holds such characters.")
        return super().authenticate(request)  # type: ignore[no-any-return]  # knox has no types


def _authenticate_run(request: Request, token: str) -> tuple[User | AnonymousUser, str]:
    if not request.path.startswith("/iceberg/"):
        raise exceptions.AuthenticationFailed("A run's token is good for the Iceberg catalog alone.")
    try:
        work = read_token(token)
        if work.work != Work.RUN:
            raise exceptions.AuthenticationFailed("This token is not a run's.")
        run = find_run(work)
        principal: Principal = principal_of_run(run)
    except TenureError as error:
        raise exceptions.AuthenticationFailed(error.detail) from None
    # On Django's request as well, where the faces look.
    request._request.principal = principal  # type: ignore[attr-defined]
    request.principal = principal  # type: ignore[attr-defined]
    return run.owner or AnonymousUser(), token


class SessionAuthentication(authentication.SessionAuthentication):
    """The browser's session, with its CSRF check."""


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How OpenAPI describes the token."""

    target_class = "console.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """A bearer token."""
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How OpenAPI describes the session."""

    target_class = "console.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """A session cookie."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
