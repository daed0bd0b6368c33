"""What the Iceberg catalog keeps: the current metadata of each table, and its snapshots."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from registry.models.datasets import Dataset


class IcebergTable(models.Model):
    """The catalog's pointer. A commit is a conditional UPDATE of `metadata_location`.

    `metadata` repeats the file at that location, so that a page or a commit check reads no storage.
    """

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, related_name="table")
    table_uuid = models.UUIDField(unique=True)
    metadata_location = models.TextField()
    metadata = models.JSONField()
    version = models.PositiveIntegerField(
        default=0, help_text="Number of commits; in the metadata file's name."
    )
    current_snapshot_id = models.BigIntegerField(null=True, blank=True)
    rows = models.BigIntegerField(default=0)
    files = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    committed_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"table {self.dataset}"


class Snapshot(models.Model):
    """One committed state of a table, with who committed it. `rows`, `files`, `bytes` are totals after it."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="snapshots")
    snapshot_id = models.BigIntegerField()
    parent_id = models.BigIntegerField(null=True, blank=True)
    operation = models.CharField(max_length=20)
    committed_at = models.DateTimeField()
    actor = models.CharField(max_length=200)
    pipeline = models.CharField(max_length=130, blank=True)
    run = models.PositiveIntegerField(null=True, blank=True)
    task = models.CharField(max_length=63, blank=True)
    schema_id = models.IntegerField(null=True, blank=True)
    rows = models.BigIntegerField(default=0)
    files = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    added_rows = models.BigIntegerField(default=0)
    summary = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)
        constraints = (models.UniqueConstraint(fields=("dataset", "snapshot_id"), name="snapshot_once"),)

    def __str__(self) -> str:
        return f"{self.dataset} at {self.snapshot_id}"
