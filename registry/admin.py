"""The registry's rows for platform admins, to look at: datasets are written by verbs alone."""

from __future__ import annotations

from django.contrib import admin

from namespaces.admin import ReadOnlyAdmin
from registry.models import Dataset


@admin.register(Dataset)
class DatasetAdmin(ReadOnlyAdmin):
    """Datasets, as rows."""

    list_display = ("name", "namespace", "type", "owner", "updated_at")
    list_filter = ("type", "namespace")
    search_fields = ("name", "description")
    list_select_related = ("namespace", "owner")
