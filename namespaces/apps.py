"""The app `namespaces`."""

from django.apps import AppConfig


class NamespacesConfig(AppConfig):
    """Who is there, may do what, did what."""

    name = "namespaces"
