"""Shapes of the API of `registry`."""

from __future__ import annotations

from rest_framework import serializers

from namespaces.serializers import RefusesUnknown
from registry.models import Dataset, DatasetType, Snapshot

MAX_TYPED_URI = 8192
"""In characters. What is typed may be longer than the canonical form, which has a limit of its own."""


class FieldSerializer(serializers.Serializer[dict[str, object]]):
    """One column of a schema, with Iceberg's type names."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    type = serializers.CharField()
    required = serializers.BooleanField()  # type: ignore[assignment]  # a Field has a `required` of its own
    doc = serializers.CharField(allow_blank=True)


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    """A dataset with its current specification and, for a table, its size."""

    namespace = serializers.CharField(source="namespace.name")
    literal = serializers.BooleanField(source="meaning.is_literal", help_text="It means nothing but itself.")
    literal_reason = serializers.CharField(source="meaning.reason", help_text="Why it is a literal.")
    denotes = serializers.DictField(
        child=serializers.CharField(),
        source="meaning.denotes",
        help_text="What the URI names, in its store's terms, decoded.",
    )
    warnings = serializers.ListField(
        child=serializers.CharField(),
        source="meaning.warnings",
        help_text="What may be meant otherwise in the URI as it was typed.",
    )
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True)
    version = serializers.IntegerField(source="specification.version")
    properties = serializers.DictField(source="specification.properties")
    schema = FieldSerializer(source="specification.schema", many=True)
    snapshot_id = serializers.CharField(source="table.current_snapshot_id", default=None, allow_null=True)
    rows = serializers.IntegerField(source="table.rows", default=None, allow_null=True)
    bytes = serializers.IntegerField(source="table.bytes", default=None, allow_null=True)
    files = serializers.IntegerField(source="table.files", default=None, allow_null=True)

    class Meta:
        model = Dataset
        fields = (
            "namespace",
            "name",
            "type",
            "uri",
            "typed_uri",
            "literal",
            "literal_reason",
            "denotes",
            "warnings",
            "location",
            "description",
            "owner",
            "version",
            "properties",
            "schema",
            "snapshot_id",
            "rows",
            "bytes",
            "files",
            "created_at",
            "updated_at",
        )
        extra_kwargs = {
            "uri": {"help_text": "The canonical form."},
            "typed_uri": {"help_text": "As it was sent, auth information masked; empty for a table."},
            "location": {"help_text": "Where a table's files lie; empty for the others."},
        }


class DatasetInputSerializer(RefusesUnknown, serializers.Serializer[dict[str, object]]):
    """What a PUT may set. `type` and `uri` are fixed once the dataset exists."""

    type = serializers.ChoiceField(choices=DatasetType.choices, required=False)
    uri = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=MAX_TYPED_URI,
        trim_whitespace=False,
        help_text="Any spelling.",
    )
    description = serializers.CharField(required=False, allow_blank=True, max_length=10_000)
    properties = serializers.DictField(required=False)


class SnapshotSerializer(serializers.ModelSerializer[Snapshot]):
    """One committed state of a table. Ids are texts, since they pass 2^53."""

    snapshot_id = serializers.CharField()
    parent_id = serializers.CharField(allow_null=True)

    class Meta:
        model = Snapshot
        fields = (
            "snapshot_id",
            "parent_id",
            "operation",
            "committed_at",
            "actor",
            "pipeline",
            "run",
            "task",
            "schema_id",
            "rows",
            "files",
            "bytes",
            "added_rows",
        )


class DeletionPreviewSerializer(serializers.Serializer[object]):
    """What deleting a dataset would remove."""

    dataset = serializers.CharField()
    uri = serializers.CharField()
    location = serializers.CharField()
    removes_files = serializers.BooleanField()
    files = serializers.IntegerField()
    bytes = serializers.IntegerField()
    rows = serializers.IntegerField()
    snapshots = serializers.IntegerField()
    specifications = serializers.IntegerField()
    grants = serializers.IntegerField()
    used_by = serializers.ListField(child=serializers.CharField())
