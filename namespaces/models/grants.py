"""Grants: who may read, write or administer what."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils import timezone

from namespaces.models.tenancy import Namespace
from namespaces.principals import Principal


class Level(models.TextChoices):
    """What a grant allows. `READ` and `WRITE` stand apart; `ADMIN` holds both and manages."""

    READ = "READ", "read"
    WRITE = "WRITE", "write"
    ADMIN = "ADMIN", "admin"


class GrantQuerySet(models.QuerySet["Grant"]):
    """Lookups of grants."""

    def held_by(self, principal: Principal) -> GrantQuerySet:
        """Grants that the principal (for a run: its owner) holds itself or through a group."""
        if principal.user_id is None:
            return self.none()
        groups = Group.objects.filter(user=principal.user_id)
        return self.filter(Q(user_id=principal.user_id) | Q(group__in=groups))

    def visible_to(self, principal: Principal) -> GrantQuerySet:
        """One's own grants, and all grants of the namespaces that one administers."""
        if principal.sees_everything:
            return self.all()
        own = self.model.objects.held_by(principal)
        administered = own.filter(level=Level.ADMIN, dataset="").values("namespace")
        return self.filter(Q(pk__in=own.values("pk")) | Q(namespace__in=administered))


class Grant(models.Model):
    """Principal or group × namespace or one dataset of it × level. `dataset` is a name; empty means all."""

    namespace = models.ForeignKey(Namespace, on_delete=models.CASCADE, related_name="grants")
    dataset = models.CharField(
        max_length=63, blank=True, help_text="A dataset's name; empty for all of the namespace."
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True)
    group = models.ForeignKey(Group, on_delete=models.CASCADE, null=True, blank=True)
    level = models.CharField(max_length=5, choices=Level.choices)
    created_at = models.DateTimeField(default=timezone.now)

    objects = GrantQuerySet.as_manager()

    class Meta:
        ordering = ("namespace", "dataset", "level")
        constraints = (
            models.CheckConstraint(
                condition=Q(user__isnull=True) ^ Q(group__isnull=True), name="grant_user_or_group"
            ),
            models.UniqueConstraint(
                fields=("namespace", "dataset", "user", "group", "level"),
                nulls_distinct=False,
                name="grant_once",
            ),
        )

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.dataset}" if self.dataset else str(self.namespace)
        return f"{self.user or self.group}: {self.level} on {where}"
