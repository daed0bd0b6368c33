"""The errors that Tenure raises: one code for one failure, the same in the console, the API and the SDK.

A `TenureError` carries what a caller needs to act: a stable `code` to test for, the HTTP
`status` that a face answers with, and a `detail` that says what was wrong and what to do.
The console's `DomainError` is this class; the database API sends it as RFC 9457 problem+json
and the client raises it again on the other side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STANDARD_MEMBERS = frozenset({"type", "code", "title", "status", "detail"})
"""What every problem document has; all else belongs to one kind of error."""


class TenureError(Exception):
    """Base of every failure that has a name. `detail` is for people, `code` is for programs."""

    code = "error"
    title = "Something went wrong"
    status = 500

    def __init__(self, detail: str = "", **members: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.members = members

    def problem(self) -> dict[str, Any]:
        """The failure as an RFC 9457 problem document."""
        return {
            "type": f"urn:tenure:error:{self.code}",
            "code": self.code,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **self.members,
        }

    @staticmethod
    def from_problem(problem: Mapping[str, Any], status: int) -> TenureError:
        """Raise on this side what was refused on the other side: the class is found by its code."""
        kind = BY_CODE.get(str(problem.get("code")), TenureError)
        members = {name: value for name, value in problem.items() if name not in STANDARD_MEMBERS}
        error = kind(str(problem.get("detail") or problem.get("title") or f"HTTP {status}"), **members)
        if kind is TenureError:
            error.code = str(problem.get("code") or "error")
            error.status = status
        return error


class InvalidInput(TenureError):
    """What was sent breaks a rule; the detail says which."""

    code, title, status = "invalid_input", "The request breaks a rule", 400


class InvalidURI(InvalidInput):
    """The text cannot be a dataset's URI. The detail never quotes it, since it may hold a password.

    `position`, where it applies, is the index of the character that is wrong.
    """

    code, title = "invalid_uri", "Not a URI for a dataset"


class NotAuthenticated(TenureError):
    """Nobody is signed in, or the token is unknown, expired or spent."""

    code, title, status = "not_authenticated", "Sign in first", 401


class Forbidden(TenureError):
    """The principal may see the thing but not do this to it."""

    code, title, status = "forbidden", "Not allowed", 403


class NotFound(TenureError):
    """There is no such thing, or the principal may not know that there is."""

    code, title, status = "not_found", "Not found", 404


class Conflict(TenureError):
    """The thing is not in a state that allows this; reading it again tells why."""

    code, title, status = "conflict", "Conflict with the current state", 409


class PreconditionFailed(TenureError):
    """`If-Match` names an older version than the stored one."""

    code, title, status = "precondition_failed", "Changed by somebody else", 412


class TooLarge(TenureError):
    """The input is larger than the stated limit."""

    code, title, status = "too_large", "Too large", 413


class InvalidPipeline(TenureError):
    """A pipeline file does not describe a graph that can run; `line` says where, when known."""

    code, title, status = "invalid_pipeline", "The pipeline file is not valid", 422

    def __init__(self, detail: str = "", line: int | None = None, **members: Any) -> None:
        super().__init__(detail, line=line, **members)
        self.line = line


class InvalidData(TenureError):
    """A frame does not fit the schema of the dataset that it is written to."""

    code, title, status = "invalid_data", "The data does not fit the dataset", 422


class Unavailable(TenureError):
    """The other side could not be reached, or did not answer in time."""

    code, title, status = "unavailable", "Not reachable", 503


BY_CODE: dict[str, type[TenureError]] = {
    kind.code: kind
    for kind in (
        InvalidInput,
        InvalidURI,
        NotAuthenticated,
        Forbidden,
        NotFound,
        Conflict,
        PreconditionFailed,
        TooLarge,
        InvalidPipeline,
        InvalidData,
        Unavailable,
    )
}
