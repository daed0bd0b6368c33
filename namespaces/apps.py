"""The app `namespaces`."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class NamespacesConfig(AppConfig):
    """Who is there, may do what, did what."""

    name = "namespaces"

    def ready(self) -> None:
        """See to it that the built-in namespaces exist once there are tables."""
        post_migrate.connect(_ensure_built_in, sender=self)


def _ensure_built_in(using: str, **kwargs: Any) -> None:
    from namespaces.services.tenancy import ensure_built_in

    if using == "default":
        ensure_built_in()
