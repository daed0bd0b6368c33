"""Pipelines and their immutable versions."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from namespaces.models import Grant, Namespace
from namespaces.principals import Principal
from registry.models import Dataset
from tenure.names import NAME_PATTERN
from tenure.pipeline import Graph, graph_from_dict


class PipelineQuerySet(models.QuerySet["Pipeline"]):
    """Lookups of pipelines."""

    def visible_to(self, principal: Principal) -> PipelineQuerySet:
        """Pipelines of namespaces on which (as a whole) the principal holds a grant."""
        if principal.sees_everything:
            return self.all()
        held = Grant.objects.held_by(principal).filter(dataset="")
        return self.filter(namespace__in=held.values("namespace"))

    def with_facts(self) -> PipelineQuerySet:
        """With the rows that lists and pages show."""
        return self.select_related("namespace", "owner", "current_version")


class Pipeline(models.Model):
    """A graph of tasks, by name. What runs is its `current_version`; its runs act for `owner`."""

    namespace = models.ForeignKey(Namespace, on_delete=models.PROTECT, related_name="pipelines")
    name = models.CharField(max_length=63)
    description = models.TextField(blank=True)
    schedule = models.CharField(max_length=100, blank=True)
    retries = models.PositiveIntegerField(default=1)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    current_version = models.ForeignKey(
        "PipelineVersion", null=True, on_delete=models.PROTECT, related_name="+"
    )
    last_run_number = models.PositiveIntegerField(default=0)
    next_run_at = models.DateTimeField(
        null=True, blank=True, help_text="When the schedule starts the next run."
    )
    created_at = models.DateTimeField(default=timezone.now)

    objects = PipelineQuerySet.as_manager()

    class Meta:
        ordering = ("namespace__name", "name")
        constraints = (
            models.UniqueConstraint(fields=("namespace", "name"), name="pipeline_name_once"),
            models.CheckConstraint(condition=Q(name__regex=f"^{NAME_PATTERN}$"), name="pipeline_name_rule"),
        )
        indexes = (
            models.Index(
                fields=("next_run_at",), name="pipeline_due", condition=Q(next_run_at__isnull=False)
            ),
        )

    def __str__(self) -> str:
        return f"{self.namespace.name}/{self.name}"


class PipelineVersion(models.Model):
    """One version: the file's text and its graph, never changed afterwards.

    Source and structure have an identity each: a comment changes `source_hash` alone. `lines`
    maps tasks to lines of the file, which the graph's canonical form leaves out.
    """

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    source = models.TextField()
    source_hash = models.CharField(max_length=64)
    graph = models.JSONField()
    graph_hash = models.CharField(max_length=64)
    lines = models.JSONField(default=dict)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-pk",)
        constraints = (models.UniqueConstraint(fields=("pipeline", "number"), name="pipeline_version_once"),)
        triggers = (pgtrigger.Protect(name="immutable", operation=pgtrigger.Update),)

    def __str__(self) -> str:
        return f"{self.pipeline} version {self.number}"

    @property
    def short_hash(self) -> str:
        """The start of the source's hash, as pages show it."""
        return self.source_hash[:6]

    def parsed_graph(self) -> Graph:
        """The graph as data."""
        return graph_from_dict(self.graph)


class PipelineDataset(models.Model):
    """Which datasets the current version uses: this protected key keeps them from being deleted."""

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="uses")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="used_by")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("pipeline", "dataset"), name="pipeline_dataset_once"),)

    def __str__(self) -> str:
        return f"pipeline {self.pipeline}"
