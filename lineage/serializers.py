"""Shapes of the API of `lineage`."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from lineage.models import LogLine, Pipeline, PipelineVersion, Run, TaskRun
from lineage.services.driving import latest_task_runs
from namespaces.models import AuditEvent
from namespaces.serializers import RefusesUnknown


class PipelineSerializer(serializers.ModelSerializer[Pipeline]):
    """A pipeline and its current version."""

    namespace = serializers.CharField(source="namespace.name")
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True)
    version = serializers.IntegerField(source="current_version.number", default=None, allow_null=True)

    class Meta:
        model = Pipeline
        fields = (
            "namespace",
            "name",
            "description",
            "schedule",
            "retries",
            "owner",
            "version",
            "last_run_number",
            "next_run_at",
            "created_at",
        )


class PipelineInputSerializer(RefusesUnknown, serializers.Serializer[dict[str, str]]):
    """A pipeline file's text."""

    # Trimming would change line numbers; the limit is the verb's, so that it can say the line.
    source = serializers.CharField(  # type: ignore[assignment]  # a Field has a `source` of its own
        trim_whitespace=False, allow_blank=True
    )


class VersionSummarySerializer(serializers.ModelSerializer[PipelineVersion]):
    """A version without its text."""

    class Meta:
        model = PipelineVersion
        fields: tuple[str, ...] = ("number", "source_hash", "graph_hash", "created_by", "created_at")


class VersionSerializer(VersionSummarySerializer):
    """A version with its text and graph."""

    graph = serializers.JSONField()

    class Meta(VersionSummarySerializer.Meta):
        fields = (*VersionSummarySerializer.Meta.fields, "source", "graph")


class TaskRunSerializer(serializers.ModelSerializer[TaskRun]):
    """One task of a run."""

    seconds = serializers.FloatField(allow_null=True)

    class Meta:
        model = TaskRun
        fields = ("task", "state", "attempt", "started_at", "finished_at", "seconds", "error")


class RunSummarySerializer(serializers.ModelSerializer[Run]):
    """A run without its tasks."""

    namespace = serializers.CharField(source="pipeline.namespace.name")
    pipeline = serializers.CharField(source="pipeline.name")
    version = serializers.IntegerField(source="version.number")
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True)
    seconds = serializers.FloatField(allow_null=True)

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "namespace",
            "pipeline",
            "number",
            "version",
            "state",
            "attempt",
            "max_attempts",
            "trigger",
            "scheduled_for",
            "started_by",
            "owner",
            "error",
            "cancel_requested_at",
            "created_at",
            "started_at",
            "finished_at",
            "seconds",
        )


class RunSerializer(RunSummarySerializer):
    """A run with the newest state of each task."""

    tasks = serializers.SerializerMethodField()

    class Meta(RunSummarySerializer.Meta):
        fields = (*RunSummarySerializer.Meta.fields, "tasks")

    @extend_schema_field(TaskRunSerializer(many=True))
    def get_tasks(self, run: Run) -> list[dict[str, object]]:
        """The newest row of each task."""
        return list(TaskRunSerializer(latest_task_runs(run), many=True).data)


class LogLineSerializer(serializers.ModelSerializer[LogLine]):
    """One line of a run's log."""

    class Meta:
        model = LogLine
        fields = ("at", "attempt", "number", "task", "level", "text")


class AccessSerializer(serializers.ModelSerializer[AuditEvent]):
    """One data operation."""

    operation = serializers.CharField(source="detail.operation", default="")

    class Meta:
        model = AuditEvent
        fields = (
            "at",
            "actor_kind",
            "actor",
            "access",
            "operation",
            "outcome",
            "pipeline",
            "run",
            "attempt",
            "task",
        )


class NodeSerializer(serializers.Serializer[object]):
    """A dataset or a task in a lineage graph."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=("dataset", "task"))
    namespace = serializers.CharField(allow_blank=True)
    name = serializers.CharField(allow_blank=True)
    label = serializers.CharField()  # type: ignore[assignment]  # a Field has a `label` of its own
    pipeline = serializers.CharField(allow_blank=True)
    last_run = serializers.IntegerField(allow_null=True)
    last_at = serializers.CharField(allow_blank=True)
    type = serializers.CharField(allow_blank=True)
    rows = serializers.IntegerField(allow_null=True)
    hidden = serializers.BooleanField()
    deleted = serializers.BooleanField()


class LineageSerializer(serializers.Serializer[object]):
    """What fed a dataset and what it fed."""

    dataset = serializers.CharField()
    levels = serializers.IntegerField()
    nodes = NodeSerializer(many=True)
    edges = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
