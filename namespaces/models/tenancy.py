"""Namespaces: the tenants."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from namespaces.principals import Principal
from tenure.names import NAME_PATTERN


class NamespaceQuerySet(models.QuerySet["Namespace"]):
    """Lookups of namespaces."""

    def visible_to(self, principal: Principal) -> NamespaceQuerySet:
        """Namespaces in which the principal holds any grant, on the whole or on one dataset."""
        from namespaces.models.grants import Grant

        if principal.scope is not None:
            return self.filter(name=principal.scope.namespace)
        if principal.sees_everything:
            return self.all()
        return self.filter(
            models.Exists(Grant.objects.held_by(principal).filter(namespace=models.OuterRef("pk")))
        )


class Namespace(models.Model):
    """A tenant: it owns datasets, pipelines and the rest by name."""

    name = models.CharField(max_length=63, unique=True)
    description = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1, help_text="Raised by each update; the ETag.")
    created_at = models.DateTimeField(default=timezone.now)

    objects = NamespaceQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(name__regex=f"^{NAME_PATTERN}$"), name="namespace_name_rule"
            ),
        )

    def __str__(self) -> str:
        return self.name
