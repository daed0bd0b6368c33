"""The admin site: Tenure's pages are in it, and everybody who may sign in may enter."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest


class TenureSite(admin.AdminSite):
    """Stock admin in Tenure's look. Pages decide by grants; model lists stay with platform admins."""

    site_header = "Tenure"
    site_title = "Tenure"
    index_title = "Home"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        """Any active user: what is shown is filtered by `visible_to`."""
        return request.user.is_active and request.user.is_authenticated
