"""The project's own app (it has commands, checks and templates, no tables) and its admin site."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ConsoleConfig(AppConfig):
    """Commands, system checks and template tags."""

    name = "console"

    def ready(self) -> None:
        """Register the system checks and load the Celery app, so that tasks can be sent by name."""
        from console import celery, checks  # noqa: F401  # loading them is what registers them


class TenureAdminConfig(AdminConfig):
    """The admin site, with Tenure's pages in it."""

    default_site = "console.admin_site.TenureSite"
