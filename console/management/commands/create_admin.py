"""`manage.py create_admin`: make the first admin of a new console, and say so once."""

from __future__ import annotations

import os
import secrets
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

USERNAME = "admin"


class Command(BaseCommand):
    """Does nothing where an admin exists, so that every start may run it."""

    help = __doc__
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Create `admin` with the password of TENURE_ADMIN_PASSWORD, or a generated one that is printed."""
        if User.objects.filter(is_superuser=True).exists():
            return
        if User.objects.filter(username=USERNAME).exists():
            raise CommandError(
                "The user admin exists but is no admin: make one with `manage.py createsuperuser`."
            )
        given = os.environ.get("TENURE_ADMIN_PASSWORD", "")
        password = given or secrets.token_urlsafe(12)
        User.objects.create_superuser(USERNAME, email="", password=password)
        told = "of TENURE_ADMIN_PASSWORD" if given else f"{password} (shown only this once)"
        self.stdout.write(f"Created the first admin: user {USERNAME}, password {told}")
