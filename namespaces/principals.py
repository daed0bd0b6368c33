"""Principals: who acts. A user, a run (which acts for its owner, with less), or Tenure itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

AUDITORS = "auditors"
"""The group whose members read everything and change nothing."""


class PrincipalKind(StrEnum):
    """The kinds of principal, as the audit log names them."""

    USER = "user"
    RUN = "run"
    SYSTEM = "system"


@dataclass(frozen=True)
class RunScope:
    """What a run is confined to: its namespace, and the datasets that its version's graph names."""

    pipeline: str
    run: int
    attempt: int
    namespace: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    @property
    def datasets(self) -> frozenset[str]:
        """Every dataset that the run may know of."""
        return self.reads | self.writes


@dataclass(frozen=True)
class Principal:
    """Who acts. For a run, `user_id` and the flags are its owner's, and `scope` takes away from them."""

    kind: PrincipalKind
    name: str
    user_id: int | None = None
    is_admin: bool = False
    is_auditor: bool = False
    scope: RunScope | None = field(default=None)

    @property
    def sees_everything(self) -> bool:
        """Platform admins, auditors and Tenure itself see every namespace; a run never does."""
        return self.scope is None and (self.is_admin or self.is_auditor or self.kind == PrincipalKind.SYSTEM)

    def confined_to(self, scope: RunScope) -> Principal:
        """The principal of a run that acts for this one."""
        return replace(self, kind=PrincipalKind.RUN, scope=scope)

    def __str__(self) -> str:
        if self.scope is None:
            return self.name
        return f"run {self.scope.run} of {self.scope.pipeline} for {self.name}"


SYSTEM = Principal(PrincipalKind.SYSTEM, "tenure", is_admin=True)
"""Tenure itself: sweeps, schedules and the first set-up."""


def principal_of(user: User | AnonymousUser) -> Principal:
    """The principal of a signed-in user; one query for users who are not platform admins."""
    if user.is_anonymous or not user.is_active:
        return Principal(PrincipalKind.USER, "anonymous")
    auditor = not user.is_superuser and user.groups.filter(name=AUDITORS).exists()
    return Principal(
        PrincipalKind.USER, user.username, user.pk, is_admin=user.is_superuser, is_auditor=auditor
    )
