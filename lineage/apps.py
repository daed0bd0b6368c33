"""The app `lineage`."""

from django.apps import AppConfig


class LineageConfig(AppConfig):
    """What feeds what, declared and seen."""

    name = "lineage"

    def ready(self) -> None:
        """Make this app's kinds of operation known."""
        from lineage.services.pipelines import DEPLOY_PIPELINE
        from namespaces.services.operations import register_kind

        register_kind(DEPLOY_PIPELINE)
