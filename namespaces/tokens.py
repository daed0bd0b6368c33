"""Tokens for untrusted processes: each names one piece of work and dies with it.

A token is signed, not stored: what it names is a row, and the row's state and attempt decide
whether it is alive. A `claim` token is good for claiming one attempt of a run, a `run` token
for that attempt while it runs, an `operation` token for one attempt of an operation.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum

from django.core import signing

from tenure.errors import NotAuthenticated

PREFIX = "tenure-work:"
_SALT = "tenure.work"


class Work(StrEnum):
    """What a token is good for."""

    CLAIM = "claim"
    RUN = "run"
    OPERATION = "operation"


@dataclass(frozen=True)
class WorkToken:
    """The named work: the row's primary key and which attempt at it."""

    work: Work
    id: int
    attempt: int

    def sign(self) -> str:
        """The token as it travels."""
        return PREFIX + signing.dumps(asdict(self), salt=_SALT, compress=False)


def is_work_token(text: str) -> bool:
    """Whether the text claims to be such a token (a user's API token does not)."""
    return text.startswith(PREFIX)


def read_token(text: str) -> WorkToken:
    """The work that a token names; raises `NotAuthenticated` if it was not signed here."""
    try:
        body = signing.loads(text.removeprefix(PREFIX), salt=_SALT)
    except signing.BadSignature:
        raise NotAuthenticated("The token was not issued by this console.") from None
    return WorkToken(Work(body["work"]), body["id"], body["attempt"])
