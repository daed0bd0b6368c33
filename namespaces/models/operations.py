"""Operations: long jobs on the console's side, with a state, progress and an end."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from namespaces.models.grants import Grant
from namespaces.models.tenancy import Namespace
from namespaces.principals import Principal


class OperationState(models.TextChoices):
    """The states of an operation. `MOVES` on the model says which may follow which."""

    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    SUCCEEDED = "succeeded", "succeeded"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


PENDING = (OperationState.QUEUED, OperationState.RUNNING)


class OperationQuerySet(models.QuerySet["Operation"]):
    """Lookups of operations."""

    def visible_to(self, principal: Principal) -> OperationQuerySet:
        """One's own operations, and those in namespaces on which (as a whole) one holds a grant."""
        if principal.sees_everything:
            return self.all()
        held = Grant.objects.held_by(principal).filter(dataset="")
        namespaces = Namespace.objects.filter(grants__in=held).values("name")
        own = Q(owner=principal.user_id, owner__isnull=False)
        return self.filter(Q(namespace__in=namespaces) | own)

    def pending(self) -> OperationQuerySet:
        """Operations that have not ended."""
        return self.filter(state__in=PENDING)


class Operation(models.Model):
    """A long job: the row is the truth, and a sweep finds what was lost.

    `input` is what the job needs and is emptied when it ends; `error` is a problem document.
    """

    MOVES: ClassVar[dict[str, frozenset[str]]] = {
        OperationState.QUEUED: frozenset(
            {
                OperationState.RUNNING,
                OperationState.FAILED,
                OperationState.CANCELLED,
                OperationState.SUCCEEDED,
            }
        ),
        OperationState.RUNNING: frozenset(
            {OperationState.QUEUED, OperationState.SUCCEEDED, OperationState.FAILED, OperationState.CANCELLED}
        ),
    }

    kind = models.CharField(max_length=40)
    namespace = models.CharField(max_length=63, blank=True)
    target = models.CharField(max_length=200, help_text="What it works on, by name.")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    actor = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=OperationState.choices, default=OperationState.QUEUED)
    attempt = models.PositiveIntegerField(default=1)
    progress = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0, help_text="0 where the length is not known.")
    message = models.TextField(blank=True)
    input = models.JSONField(default=dict, blank=True)
    result = models.JSONField(default=dict, blank=True)
    error = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    woken_at = models.DateTimeField(
        default=timezone.now, help_text="When its worker was last called or heard of."
    )
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = OperationQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=("woken_at",), name="operation_pending", condition=Q(state__in=PENDING)),
            models.Index(fields=("namespace", "-id"), name="operation_namespace"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.target}"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in PENDING
