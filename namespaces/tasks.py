"""Celery tasks of `namespaces`: each calls one verb."""

from __future__ import annotations

from celery import shared_task

from namespaces.services import operations


@shared_task(name="namespaces.sweep_operations")
def sweep_operations() -> None:
    """Find operations whose worker was lost."""
    operations.sweep_operations()
