"""Runs, task runs and their log."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from lineage.models.pipelines import Pipeline, PipelineVersion
from namespaces.principals import Principal


class RunState(models.TextChoices):
    """The states of a run. A lost run goes back to `queued` (another attempt) or to `failed`."""

    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    SUCCEEDED = "succeeded", "succeeded"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


class TaskState(models.TextChoices):
    """The states of a task run."""

    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    SUCCEEDED = "succeeded", "succeeded"
    FAILED = "failed", "failed"
    SKIPPED = "skipped", "skipped"
    CANCELLED = "cancelled", "cancelled"


class Trigger(models.TextChoices):
    """What started a run."""

    MANUAL = "manual", "by hand"
    SCHEDULE = "schedule", "by schedule"


ACTIVE = (RunState.QUEUED, RunState.RUNNING)


class RunQuerySet(models.QuerySet["Run"]):
    """Lookups of runs."""

    def visible_to(self, principal: Principal) -> RunQuerySet:
        """Runs of the pipelines that the principal may see."""
        if principal.sees_everything:
            return self.all()
        return self.filter(pipeline__in=Pipeline.objects.visible_to(principal))

    def with_facts(self) -> RunQuerySet:
        """With the rows that lists and pages show; without the source text of the version."""
        related = self.select_related("pipeline__namespace", "owner", "version")
        return related.defer("version__source", "version__graph")


class Run(models.Model):
    """One execution of one pipeline version. Only conditional UPDATEs move its state."""

    MOVES: ClassVar[dict[str, frozenset[str]]] = {
        RunState.QUEUED: frozenset({RunState.RUNNING, RunState.CANCELLED, RunState.FAILED}),
        RunState.RUNNING: frozenset(
            {RunState.QUEUED, RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED}
        ),
    }

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="runs")
    version = models.ForeignKey(PipelineVersion, on_delete=models.PROTECT, related_name="runs")
    number = models.PositiveIntegerField()
    trigger = models.CharField(max_length=10, choices=Trigger.choices, default=Trigger.MANUAL)
    scheduled_for = models.DateTimeField(null=True, blank=True)
    started_by = models.CharField(max_length=200)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Whose grants it has: who owned the pipeline when this version was current.",
    )
    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.QUEUED)
    attempt = models.PositiveIntegerField(default=1)
    max_attempts = models.PositiveIntegerField(default=2)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    woken_at = models.DateTimeField(
        default=timezone.now, help_text="When its worker was last called or heard of."
    )
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("pipeline", "number"), name="run_number_once"),
            models.UniqueConstraint(fields=("pipeline", "scheduled_for"), name="run_schedule_once"),
        )
        indexes = (
            models.Index(fields=("woken_at",), name="run_active", condition=Q(state__in=ACTIVE)),
            models.Index(fields=("pipeline", "-id"), name="run_of_pipeline"),
            models.Index(F("created_at").desc(), name="run_created"),
        )

    def __str__(self) -> str:
        return f"{self.pipeline}/{self.number}"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in ACTIVE

    @property
    def seconds(self) -> float | None:
        """How long it ran or has been running, in seconds; None before it started."""
        if self.started_at is None:
            return None
        return ((self.finished_at or timezone.now()) - self.started_at).total_seconds()


class TaskRun(models.Model):
    """One execution of one task in one attempt of a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tasks")
    attempt = models.PositiveIntegerField()
    task = models.CharField(max_length=63)
    state = models.CharField(max_length=10, choices=TaskState.choices, default=TaskState.WAITING)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ("run", "attempt", "id")
        constraints = (models.UniqueConstraint(fields=("run", "attempt", "task"), name="task_run_once"),)

    def __str__(self) -> str:
        return f"{self.run}/{self.task}"

    @property
    def seconds(self) -> float | None:
        """How long it ran or has been running, in seconds; None before it started."""
        if self.started_at is None:
            return None
        return ((self.finished_at or timezone.now()) - self.started_at).total_seconds()


class LogLine(models.Model):
    """One line that a run printed. `number` counts the lines of an attempt, from 0."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="log")
    attempt = models.PositiveIntegerField()
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    task = models.CharField(max_length=63, blank=True)
    level = models.CharField(max_length=7)
    text = models.TextField()

    class Meta:
        ordering = ("run", "attempt", "number")
        constraints = (models.UniqueConstraint(fields=("run", "attempt", "number"), name="log_line_once"),)

    def __str__(self) -> str:
        return self.text
