"""Celery tasks of `registry`: each calls one verb."""

from __future__ import annotations

from celery import shared_task

from registry.services import deletion


@shared_task(name="registry.remove_files")
def remove_files(operation_id: int) -> None:
    """Remove the files of a deleted dataset."""
    deletion.remove_files(operation_id)
