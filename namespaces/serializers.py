"""Shapes of the API of `namespaces`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from namespaces.models import AuditEvent, Grant, Level, Namespace, Operation


class RefusesUnknown:
    """For what callers send: a field that nobody knows is an error, not silence."""

    def to_internal_value(self, data: Any) -> Any:
        """The validated values; names an unknown field."""
        known = self.fields  # type: ignore[attr-defined]  # a serializer's
        unknown = sorted(str(name) for name in data if name not in known) if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({unknown[0]: [f"Unknown field; known are {', '.join(known)}."]})
        return super().to_internal_value(data)  # type: ignore[misc]


class NamespaceSerializer(RefusesUnknown, serializers.ModelSerializer[Namespace]):
    """A namespace."""

    class Meta:
        model = Namespace
        fields = ("name", "description", "version", "created_at")
        read_only_fields = ("name", "version", "created_at")
        extra_kwargs = {"description": {"required": False, "max_length": 10_000}}


class GrantSerializer(RefusesUnknown, serializers.ModelSerializer[Grant]):
    """A grant: to a user or to a group, by name."""

    user = serializers.CharField(source="user.username", default="", required=False, allow_blank=True)
    group = serializers.CharField(source="group.name", default="", required=False, allow_blank=True)
    namespace = serializers.CharField(source="namespace.name", read_only=True)
    dataset = serializers.CharField(required=False, allow_blank=True, default="", max_length=63)
    level = serializers.ChoiceField(choices=Level.choices)

    class Meta:
        model = Grant
        fields = ("id", "namespace", "dataset", "user", "group", "level", "created_at")
        read_only_fields = ("id", "namespace", "created_at")


class ProblemSerializer(serializers.Serializer[dict[str, object]]):
    """An RFC 9457 problem document."""

    type = serializers.CharField()
    code = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    line = serializers.IntegerField(required=False, allow_null=True)


class OperationSerializer(serializers.ModelSerializer[Operation]):
    """A long job. `error` is null, or a problem document once it failed."""

    error = serializers.SerializerMethodField()
    result = serializers.JSONField()

    class Meta:
        model = Operation
        fields = (
            "id",
            "kind",
            "namespace",
            "target",
            "actor",
            "state",
            "attempt",
            "progress",
            "total",
            "message",
            "result",
            "error",
            "created_at",
            "started_at",
            "finished_at",
        )

    @extend_schema_field(ProblemSerializer(allow_null=True))
    def get_error(self, operation: Operation) -> dict[str, Any] | None:
        """The problem document, or null."""
        return operation.error or None


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """One row of the audit log."""

    detail = serializers.JSONField()

    class Meta:
        model = AuditEvent
        fields = (
            "id",
            "at",
            "action",
            "outcome",
            "actor_kind",
            "actor",
            "namespace",
            "target_kind",
            "target",
            "access",
            "pipeline",
            "run",
            "attempt",
            "task",
            "detail",
        )
