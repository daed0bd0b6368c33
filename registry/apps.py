"""The app `registry`."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    """What there is: datasets and the catalog."""

    name = "registry"

    def ready(self) -> None:
        """Make this app's kinds of operation known."""
        from namespaces.services.operations import register_kind
        from registry.services.deletion import DELETE_DATASET

        register_kind(DELETE_DATASET)
