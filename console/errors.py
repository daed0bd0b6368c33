"""From errors to HTTP: problem+json for the API, a page for people."""

from __future__ import annotations

import logging
import uuid
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from tenure.errors import (
    Forbidden,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    TenureError,
    TooLarge,
    Unavailable,
)

logger = logging.getLogger(__name__)
PROBLEM = "application/problem+json"


def problem_handler(exc: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler: every failure is an RFC 9457 problem document."""
    set_rollback()
    error = as_tenure_error(exc)
    response = Response(error.problem(), error.status, content_type=PROBLEM)
    if isinstance(exc, exceptions.APIException):
        for header in ("auth_header", "wait"):
            if value := getattr(exc, header, None):
                response[{"auth_header": "WWW-Authenticate", "wait": "Retry-After"}[header]] = str(value)
    return response


def as_tenure_error(exc: Exception) -> TenureError:
    """The `TenureError` for whatever was raised; what has no name gets an id and stays in the log."""
    if isinstance(exc, TenureError):
        return exc
    if isinstance(exc, exceptions.ValidationError):
        return InvalidInput(_first_message(exc.detail), errors=exc.detail)
    if isinstance(exc, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return NotAuthenticated(f"{exc.detail} Send 'Authorization: Bearer TOKEN' or sign in.")
    if isinstance(exc, Http404 | exceptions.NotFound):
        return NotFound(str(exc) or "There is nothing at this address.")
    if isinstance(exc, PermissionDenied | exceptions.PermissionDenied):
        return Forbidden(str(exc) or "Not allowed.")
    if isinstance(exc, exceptions.APIException):
        return _api_error(exc)
    if isinstance(exc, RequestDataTooBig):
        return TooLarge(f"A request's body holds up to {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes.")
    if isinstance(exc, OperationalError | InterfaceError):
        logger.warning("the database is away: %s", exc)
        return Unavailable("The database does not answer. Nothing was changed; try again.")
    if isinstance(exc, DataError | UnicodeEncodeError):
        return InvalidInput(
            "A value cannot be stored: a number out of range, or a text with a NUL or half a character."
        )
    return unexpected(exc)


def _api_error(exc: exceptions.APIException) -> TenureError:
    error = TooLarge(str(exc.detail)) if exc.status_code == 413 else InvalidInput(str(exc.detail))
    error.status = exc.status_code
    return error


def unexpected(exc: Exception) -> TenureError:
    """A failure without a name: the caller gets an id, the log gets the traceback."""
    error_id = uuid.uuid4().hex[:12]
    logger.error("unexpected error %s", error_id, exc_info=exc)
    return TenureError(f"An unexpected error was logged as {error_id}.", error_id=error_id)


def _first_message(detail: Any, path: str = "") -> str:
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        return _first_message(inner, f"{path}{name}: " if name != "non_field_errors" else path)
    if isinstance(detail, list):
        return _first_message(detail[0], path) if detail else path
    return f"{path}{detail}"
