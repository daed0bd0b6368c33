"""Deciding who may do what, and changing who may."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from namespaces.models import Action, Grant, Level, Namespace
from namespaces.principals import Principal, PrincipalKind
from namespaces.services.audit import record
from tenure.errors import Forbidden, InvalidInput, NotFound
from tenure.names import check_name


def levels_held(principal: Principal, namespace: Namespace, dataset: str = "") -> set[str]:
    """The levels that the principal holds on the namespace, or on one dataset of it. One query.

    A run holds what its owner holds, as far as its graph names the dataset.
    """
    if principal.scope is None and (principal.is_admin or principal.kind == PrincipalKind.SYSTEM):
        return {Level.READ, Level.WRITE, Level.ADMIN}
    if principal.scope is not None and namespace.name != principal.scope.namespace:
        return set()
    levels = _granted(principal, namespace, dataset)
    return levels if principal.scope is None else levels & _scoped(principal, dataset)


def _granted(principal: Principal, namespace: Namespace, dataset: str) -> set[str]:
    if principal.is_admin:
        return {Level.READ, Level.WRITE, Level.ADMIN}
    held = Grant.objects.held_by(principal).filter(namespace=namespace, dataset__in={"", dataset})
    levels: set[str] = set(held.values_list("level", flat=True))
    if Level.ADMIN in levels:
        levels |= {Level.READ, Level.WRITE}
    if principal.is_auditor:
        levels.add(Level.READ)
    return levels


def _scoped(principal: Principal, dataset: str) -> set[str]:
    scope = principal.scope
    assert scope is not None
    levels: set[str] = set()
    if dataset in scope.reads:
        levels.add(Level.READ)
    if dataset in scope.writes:
        levels.add(Level.WRITE)
    return levels


def require(principal: Principal, level: Level, namespace: Namespace, dataset: str = "") -> None:
    """Raise `Forbidden`, saying what is missing, unless the principal holds the level."""
    held = levels_held(principal, namespace, dataset)
    if level in held:
        return
    where = f"{namespace.name}/{dataset}" if dataset else f"namespace {namespace.name!r}"
    has = f"holds {', '.join(sorted(held))}" if held else "holds none of the needed grants"
    raise Forbidden(
        f"{principal} needs {level.value} on {where} and {has}. An ADMIN of the namespace can grant it."
    )


def sees_whole(principal: Principal, namespace: Namespace) -> bool:
    """Whether the principal may see all of a namespace, and not only single datasets of it."""
    return principal.sees_everything or bool(levels_held(principal, namespace))


def require_platform_admin(principal: Principal, what: str) -> None:
    """Raise `Forbidden` unless a platform admin (or Tenure itself) acts."""
    if principal.scope is not None or not principal.is_admin:
        raise Forbidden(f"Only a platform admin may {what}.")


@transaction.atomic
def add_grant(
    actor: Principal, *, namespace: Namespace, level: str, dataset: str = "", user: str = "", group: str = ""
) -> tuple[Grant, bool]:
    """Grant a level to one user or group, by name. Doing it again changes nothing and returns False."""
    require(actor, Level.ADMIN, namespace)
    if level not in Level.values:
        raise InvalidInput(f"{level!r} is no level; use one of {', '.join(Level.values)}.")
    if dataset:
        check_name("dataset", dataset)
    if bool(user) == bool(group):
        raise InvalidInput("Name either a user or a group.")
    holder: dict[str, Any] = {"user": _user(user)} if user else {"group": _group(group)}
    grant, created = Grant.objects.get_or_create(namespace=namespace, dataset=dataset, level=level, **holder)
    if created:
        _record_change(actor, Action.GRANT_ADDED, grant)
    return grant, created


@transaction.atomic
def remove_grant(actor: Principal, grant: Grant) -> None:
    """Take a grant back."""
    require(actor, Level.ADMIN, grant.namespace)
    _record_change(actor, Action.GRANT_REMOVED, grant)
    grant.delete()


def _record_change(actor: Principal, action: Action, grant: Grant) -> None:
    record(
        actor,
        action,
        "grant",
        f"{grant.user or grant.group}",
        namespace=grant.namespace.name,
        detail={"level": grant.level, "dataset": grant.dataset, "to": "user" if grant.user else "group"},
    )


def _user(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise NotFound(f"There is no user {name!r}.")
    return user


def _group(name: str) -> Group:
    group = Group.objects.filter(name=name).first()
    if group is None:
        raise NotFound(f"There is no group {name!r}.")
    return group
