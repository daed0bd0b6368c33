"""The console's Celery app: the `control` queue and beat. Spark work is sent by task name, never imported."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("console")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.task_routes = {"tenure.*": {"queue": "spark"}}
