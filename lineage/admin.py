"""The rows of `lineage` for platform admins, to look at: runs are moved by verbs alone."""

from __future__ import annotations

from django.contrib import admin

from lineage.models import Pipeline, Run
from namespaces.admin import ReadOnlyAdmin


@admin.register(Pipeline)
class PipelineAdmin(ReadOnlyAdmin):
    """Pipelines, as rows."""

    list_display = ("name", "namespace", "schedule", "owner", "next_run_at")
    list_filter = ("namespace",)
    search_fields = ("name", "description")
    list_select_related = ("namespace", "owner")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs, as rows."""

    list_display = ("pipeline", "number", "state", "attempt", "started_by", "created_at", "finished_at")
    list_filter = ("state", "trigger")
    list_select_related = ("pipeline__namespace",)
