"""Celery tasks of `lineage`: each calls one verb."""

from __future__ import annotations

from celery import shared_task

from lineage.services import runs


@shared_task(name="lineage.sweep_runs")
def sweep_runs() -> None:
    """Find runs whose worker was lost or that nobody claimed."""
    runs.sweep_runs()


@shared_task(name="lineage.start_scheduled_runs")
def start_scheduled_runs() -> None:
    """Start the runs whose schedule is due."""
    runs.start_scheduled_runs()
