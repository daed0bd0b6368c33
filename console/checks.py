"""System checks: wrong combinations of settings, each with an id and what to do."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

from tenure.uri import SCHEMES

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]", "testserver"})


@register(Tags.compatibility)
def check_settings(**kwargs: Any) -> list[CheckMessage]:
    """Every wrong combination that can be told from the settings alone."""
    return [message for check in _CHECKS for message in check()]


def _check_database() -> list[CheckMessage]:
    url = settings.DATABASE_URL
    if url and urlsplit(url).scheme not in ("postgres", "postgresql"):
        hint = "Use DATABASE_URL=postgresql://user:password@host/name."
        return [
            Error(
                "DATABASE_URL names no Postgres: Tenure runs on Postgres alone.", hint=hint, id="tenure.E001"
            )
        ]
    if url and not _has_secret_key():
        hint = "Set TENURE_SECRET_KEY to at least 50 random characters."
        return [Error("There is a database but no secret key.", hint=hint, id="tenure.E002")]
    return []


def _has_secret_key() -> bool:
    try:
        return bool(settings.SECRET_KEY)
    except ImproperlyConfigured:
        # Django raises already when an empty one is read.
        return False


def _check_times() -> list[CheckMessage]:
    if settings.TENURE_LOST_AFTER_SECONDS < 5 * settings.TENURE_HEARTBEAT_SECONDS:
        hint = "Set TENURE_LOST_AFTER_SECONDS to at least five times TENURE_HEARTBEAT_SECONDS."
        return [Error("Living runs would be taken for lost.", hint=hint, id="tenure.E003")]
    return []


def _check_warehouse() -> list[CheckMessage]:
    parts = urlsplit(settings.TENURE_WAREHOUSE)
    if not parts.scheme or (parts.scheme == "file" and not parts.path.startswith("/")):
        hint = "Use TENURE_WAREHOUSE=file:///path or s3://bucket/path."
        return [Error("TENURE_WAREHOUSE is no absolute URI.", hint=hint, id="tenure.E004")]
    return []


def _check_exposure() -> list[CheckMessage]:
    if set(settings.ALLOWED_HOSTS) - LOOPBACK_HOSTS and not settings.TENURE_HTTPS:
        hint = "Set TENURE_HTTPS=1 behind a proxy that speaks TLS."
        return [Warning("Passwords and tokens travel in clear text.", hint=hint, id="tenure.W001")]
    return []


def _check_uri_schemes() -> list[CheckMessage]:
    SCHEMES.load_plugins()
    hint = "Repair or remove the package; until then its URIs are literals."
    return [Warning(problem, hint=hint, id="tenure.W002") for problem in SCHEMES.problems]


_CHECKS = (_check_database, _check_times, _check_warehouse, _check_exposure, _check_uri_schemes)
