"""The audit log: append-only, and the stream of events that everything else listens to."""

from __future__ import annotations

import datetime
from enum import StrEnum

import pgtrigger
from django.db import models
from django.db.models import Func
from django.utils import timezone

from namespaces.models.grants import Grant, Level
from namespaces.models.tenancy import Namespace
from namespaces.principals import Principal, PrincipalKind


class Action(StrEnum):
    """What was done, as `source:subject:action`. A new verb adds its line here."""

    NAMESPACE_CREATED = "namespaces:namespace:created"
    NAMESPACE_UPDATED = "namespaces:namespace:updated"
    GRANT_ADDED = "namespaces:grant:added"
    GRANT_REMOVED = "namespaces:grant:removed"
    OPERATION_CANCELLED = "namespaces:operation:cancelled"
    OPERATION_FAILED = "namespaces:operation:failed"
    DATASET_CREATED = "registry:dataset:created"
    DATASET_UPDATED = "registry:dataset:updated"
    DATASET_DELETED = "registry:dataset:deleted"
    DATASET_ACCESSED = "registry:dataset:accessed"
    DATASET_FILES_REMOVED = "registry:dataset:files_removed"
    TABLE_CREATED = "registry:table:created"
    TABLE_COMMITTED = "registry:table:committed"
    PIPELINE_VERSION_CREATED = "lineage:pipeline:version_created"
    PIPELINE_TAKEN_OVER = "lineage:pipeline:taken_over"
    RUN_STARTED = "lineage:run:started"
    RUN_CANCELLED = "lineage:run:cancelled"
    RUN_RELEASED = "lineage:run:released"
    RUN_LOST = "lineage:run:lost"
    RUN_FINISHED = "lineage:run:finished"


class Outcome(models.TextChoices):
    """How it ended."""

    ALLOWED = "allowed", "allowed"
    DENIED = "denied", "denied"
    FAILED = "failed", "failed"


class AccessKind(models.TextChoices):
    """What a data operation did to the data."""

    READ = "read", "read"
    WRITE = "write", "write"
    READ_WRITE = "read_write", "read and write"
    UNKNOWN = "unknown", "unknown"


class CurrentTransaction(Func):
    """Postgres' number of this transaction: listeners order by it, so that late commits are not missed."""

    function = "pg_current_xact_id"
    template = "%(function)s()::text::bigint"
    arity = 0


class AuditQuerySet(models.QuerySet["AuditEvent"]):
    """Lookups of audit events."""

    def visible_to(self, principal: Principal) -> AuditQuerySet:
        """Auditors and platform admins read all; a namespace's admins read what happened in it."""
        if principal.sees_everything:
            return self.all()
        held = Grant.objects.held_by(principal).filter(level=Level.ADMIN, dataset="")
        return self.filter(namespace__in=Namespace.objects.filter(grants__in=held).values("name"))

    def of_dataset(self, namespace: str, dataset: str, since: datetime.datetime) -> AuditQuerySet:
        """What happened to one dataset. Whoever may see the dataset may see this.

        `since` is its creation: an earlier one of that name was another dataset.
        """
        return self.filter(namespace=namespace, target_kind="dataset", target=dataset, at__gte=since)

    def accesses(self) -> AuditQuerySet:
        """Data operations alone."""
        return self.exclude(access="")


class AuditEvent(models.Model):
    """One append-only row: who did what to what, when, with which outcome.

    Actor and target are kept as text, so that the row outlives both. A data operation (an
    *access*) has `access`, and, when a run did it, `pipeline` ("namespace/name"), `run` and `task`.
    """

    id = models.BigAutoField(primary_key=True)
    transaction_id = models.BigIntegerField(db_default=CurrentTransaction(), editable=False)
    at = models.DateTimeField(default=timezone.now)
    action = models.CharField(max_length=64)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, default=Outcome.ALLOWED)
    actor_kind = models.CharField(max_length=8, choices=[(kind.value, kind.value) for kind in PrincipalKind])
    actor = models.CharField(max_length=200)
    namespace = models.CharField(max_length=63, blank=True)
    target_kind = models.CharField(max_length=32)
    target = models.CharField(max_length=200)
    access = models.CharField(max_length=10, blank=True, choices=AccessKind.choices)
    pipeline = models.CharField(max_length=130, blank=True)
    run = models.PositiveIntegerField(null=True, blank=True)
    attempt = models.PositiveIntegerField(null=True, blank=True)
    task = models.CharField(max_length=63, blank=True)
    detail = models.JSONField(default=dict, blank=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=("namespace", "target_kind", "target", "-id"), name="audit_target"),
            models.Index(fields=("transaction_id", "id"), name="audit_stream"),
            models.Index(fields=("-at",), name="audit_at"),
            models.Index(fields=("pipeline", "task"), name="audit_program", condition=~models.Q(access="")),
            models.Index(fields=("pipeline", "run"), name="audit_run", condition=~models.Q(pipeline="")),
        )
        triggers = (
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
            # Protecting rows does not stop TRUNCATE: it needs a trigger of its own.
            pgtrigger.Trigger(
                name="no_truncate",
                level=pgtrigger.Statement,
                when=pgtrigger.Before,
                operation=pgtrigger.Truncate,
                func="RAISE EXCEPTION 'pgtrigger: the audit log is append-only';",
            ),
        )

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.target}"
