"""Namespaces: looking up, creating and updating."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from namespaces.models import Action, Level, Namespace
from namespaces.principals import Principal
from namespaces.services.audit import record
from namespaces.services.grants import require, require_platform_admin
from tenure.errors import InvalidInput, NotFound, PreconditionFailed
from tenure.names import check_name

BUILT_IN = {
    "default": "For whatever has no namespace of its own",
    "system": "What Tenure itself brings along, shared by all",
}
"""These always exist."""

RESERVED = frozenset({"system"})
"""Nobody changes these."""


def get_namespace(principal: Principal, name: str) -> Namespace:
    """The namespace, or `NotFound` when there is none that the principal may see."""
    namespace = Namespace.objects.visible_to(principal).filter(name=name).first()
    if namespace is None:
        raise NotFound(f"There is no namespace {name!r}.")
    return namespace


def ensure_built_in() -> None:
    """Create the built-in namespaces that are missing; called whenever the tables were migrated."""
    for name, description in BUILT_IN.items():
        # They come with the tables: nobody did this, so nothing is recorded.
        Namespace.objects.get_or_create(name=name, defaults={"description": description})


def put_namespace(
    actor: Principal, *, name: str, description: str | None = None, expected_version: int | None = None
) -> tuple[Namespace, bool]:
    """Create the namespace or update what is given; returns it and whether it is new. Idempotent."""
    check_name("namespace", name)
    if name in RESERVED:
        raise InvalidInput(f"Namespace {name!r} is reserved.")
    existing = Namespace.objects.visible_to(actor).filter(name=name).first()
    if existing is None:
        if expected_version is not None:
            raise PreconditionFailed(
                f"There is no namespace {name!r} that you may see, so If-Match cannot hold."
            )
        return _create(actor, name, description or "")
    return _update(actor, existing, description, expected_version), False


@transaction.atomic
def _create(actor: Principal, name: str, description: str) -> tuple[Namespace, bool]:
    require_platform_admin(actor, f"create namespace {name!r}")
    namespace, created = Namespace.objects.get_or_create(name=name, defaults={"description": description})
    if created:
        record(actor, Action.NAMESPACE_CREATED, "namespace", name, namespace=name)
    return namespace, created


@transaction.atomic
def _update(
    actor: Principal, namespace: Namespace, description: str | None, expected_version: int | None
) -> Namespace:
    require(actor, Level.ADMIN, namespace)
    if expected_version is not None and expected_version != namespace.version:
        raise PreconditionFailed(
            f"Namespace {namespace.name!r} is at version {namespace.version}: read it again."
        )
    if description is None or description == namespace.description:
        return namespace
    changed = Namespace.objects.filter(pk=namespace.pk, version=namespace.version).update(
        description=description, version=F("version") + 1
    )
    if not changed:
        raise PreconditionFailed(f"Namespace {namespace.name!r} was changed meanwhile: read it again.")
    record(actor, Action.NAMESPACE_UPDATED, "namespace", namespace.name, namespace=namespace.name)
    namespace.refresh_from_db()
    return namespace
