"""The alarm clock: wake a worker once the transaction is committed.

A message is a hint and never the truth: when the broker is away the row stays and the sweep
calls again. Tasks are named, not imported, since the spark worker's code is not the console's.
"""

from __future__ import annotations

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def wake_on_commit(task: str, *args: Any) -> None:
    """Send the Celery task by name after the current transaction commits."""
    transaction.on_commit(lambda: wake(task, *args))


def wake(task: str, *args: Any) -> None:
    """Send the Celery task by name now; a broker that is away is logged and left to the sweep."""
    try:
        current_app.send_task(task, args=args, retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("%s was not sent, the sweep will: %s", task, error)
