"""Numbers and times as people read them: pure functions, used by the template filters."""

from __future__ import annotations

import datetime
import re

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PRESETS = {"@hourly": "every hour", "@daily": "daily at 00:00", "@weekly": "Sundays at 00:00"}
_PRESETS["@monthly"] = "on day 1 at 00:00"


def ago(at: datetime.datetime, now: datetime.datetime) -> str:
    """How long ago (or in how long) a time is, from "just now" to a date."""
    seconds = (now - at).total_seconds()
    if seconds < 0:
        return _ahead(-seconds, at)
    if seconds < 5:
        return "just now"
    if seconds < 24 * 3600:
        return f"{_rough(seconds)} ago"
    days = (now.date() - at.date()).days
    if days <= 1:
        return "yesterday"
    return f"{days} days ago" if days < 14 else at.strftime("%Y-%m-%d")


def _ahead(seconds: float, at: datetime.datetime) -> str:
    return f"in {_rough(seconds)}" if seconds < 24 * 3600 else at.strftime("%Y-%m-%d %H:%M")


def _rough(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min"
    return f"{seconds // 3600:.0f} h"


def duration(seconds: float | str | None) -> str:
    """Seconds as "0.8 s", "42 s", "3 min 08 s" or "2 h 05 min"; a dash when there are none."""
    if seconds is None or isinstance(seconds, str):
        return "–"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(count: int | str | None) -> str:
    """Bytes with a decimal unit, "6.1 MB"; a dash when there are none."""
    # A template gives "" for what is missing.
    if not isinstance(count, int):
        return "–"
    value, unit = float(count), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    if unit == 0:
        return f"{count} byte{'' if count == 1 else 's'}"
    return f"{value:.1f} {_UNITS[unit]}" if value < 99.95 else f"{value:.0f} {_UNITS[unit]}"


def thousands(number: int | str | None) -> str:
    """A whole number with separators; a dash when there is none (a template gives "" for what is missing)."""
    return f"{number:,}" if isinstance(number, int) else "–"


def schedule(line: str) -> str:
    """A pipeline's schedule in words where it is a common one, else the cron line itself."""
    if not line:
        return "by hand"
    if line in _PRESETS:
        return _PRESETS[line]
    fields = line.split()
    if len(fields) != 5:
        return line
    return _cron(fields) or f"cron {line}"


def _cron(fields: list[str]) -> str:
    minute, hour, day, month, weekday = fields
    every = re.fullmatch(r"\*/(\d+)", minute)
    if every and fields[1:] == ["*"] * 4:
        return f"every {every[1]} minutes"
    if not minute.isdecimal() or month != "*" or day != "*":
        return ""
    if hour == "*":
        return f"hourly at :{int(minute):02d}" if weekday == "*" else ""
    if not hour.isdecimal():
        return ""
    time = f"{int(hour):02d}:{int(minute):02d}"
    if weekday == "*":
        return f"daily at {time}"
    return f"{_DAYS[int(weekday)]}s at {time}" if re.fullmatch("[0-7]", weekday) else ""


def count(number: int, word: str) -> str:
    """A number and its noun: "1 run", "2 runs"."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def visible(text: str) -> str:
    """A text in which nothing hides: control and format characters are written as escapes."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def spelled(number: int) -> str:
    """Small numbers as words, to begin a sentence with."""
    words = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
    return words[number] if number < len(words) else str(number)
