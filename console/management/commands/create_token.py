"""`manage.py create_token USER`: print a new API token of a user."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from knox.models import AuthToken


class Command(BaseCommand):
    """Prints the token alone, for scripts; it is stored as a hash and cannot be shown again."""

    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose token, and for how long."""
        parser.add_argument("user", nargs="?", help="the user name")
        parser.add_argument("--any-admin", action="store_true", help="of the first active admin instead")
        parser.add_argument("--minutes", type=int, help="its life; otherwise TENURE_TOKEN_DAYS")

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the token; the user's expired ones go, so that they do not pile up."""
        if bool(options["user"]) == options["any_admin"]:
            raise CommandError("Say whose token: a user name, or --any-admin.")
        user = _any_admin() if options["any_admin"] else _user(options["user"])
        life = _life(options["minutes"])
        AuthToken.objects.filter(user=user, expiry__lt=timezone.now()).delete()
        _, token = AuthToken.objects.create(user, expiry=life)
        self.stdout.write(token)


def _user(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no user {name!r}.")
    if not user.is_active:
        raise CommandError(f"The user {name!r} is not active: a token would open nothing.")
    return user


def _any_admin() -> User:
    user = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if user is None:
        raise CommandError("There is no active admin: make one with `manage.py createsuperuser`.")
    return user


def _life(minutes: int | None) -> timedelta:
    if minutes is None:
        return timedelta(days=settings.TENURE_TOKEN_DAYS)
    if minutes < 1:
        raise CommandError(f"--minutes {minutes} is no life for a token: use 1 or more.")
    return timedelta(minutes=minutes)
