"""When a schedule is due: presets and five-field cron lines, in UTC."""

from __future__ import annotations

import datetime

from celery.schedules import ParseException, crontab

from tenure.errors import InvalidPipeline

PRESETS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *"}


def next_time(schedule: str, after: datetime.datetime) -> datetime.datetime | None:
    """The first time after `after` (aware) at which the schedule is due; None for no schedule.

    Raises `InvalidPipeline` unless the schedule is empty, a preset or a cron line.
    """
    if not schedule:
        return None
    fields = PRESETS.get(schedule, schedule).split()
    try:
        minute, hour, day_of_month, month_of_year, day_of_week = fields
        cron = crontab(
            minute=minute,
            hour=hour,
            day_of_month=day_of_month,
            month_of_year=month_of_year,
            day_of_week=day_of_week,
            nowfun=lambda: after,
        )
        return after + cron.remaining_estimate(after)
    except (ParseException, ValueError, RuntimeError) as error:
        presets = ", ".join(PRESETS)
        reason = f"schedule={schedule!r} is none of {presets} and no five-field cron line: {error}"
        raise InvalidPipeline(reason) from None
