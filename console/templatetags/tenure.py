"""Filters and tags that every template has: times, sizes and durations as people read them, and states."""

from __future__ import annotations

import datetime
from typing import Any

from django import template
from django.template.context import RequestContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console import words
from namespaces.models import AuditEvent
from namespaces.sentences import Sentence, describe

register = template.Library()

NOTHING = format_html('<span class="quiet">{}</span>', "–")

STATE_CLASSES = {
    "succeeded": "good",
    "allowed": "good",
    "up": "good",
    "running": "running",
    "queued": "rest",
    "waiting": "rest",
    "skipped": "rest",
    "cancelled": "rest",
    "unknown": "rest",
    "stopping": "warn",
    "restarted": "warn",
    "retrying": "warn",
    "failed": "bad",
    "denied": "bad",
    "down": "bad",
}


@register.filter
def state_class(state: str) -> str:
    """The class that colours a state."""
    return STATE_CLASSES.get(state, "rest")


@register.filter
def state(value: str) -> SafeString:
    """A state as a dot and its word: colour never stands alone."""
    return format_html('<span class="state {}">{}</span>', state_class(value), value)


@register.filter
def ago(at: datetime.datetime | str | None) -> SafeString:
    """A time in words, the exact one in its title."""
    if not isinstance(at, datetime.datetime):
        return NOTHING
    exact = at.astimezone(datetime.UTC)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        exact.strftime("%Y-%m-%d %H:%M:%S UTC"),
        words.ago(exact, timezone.now()),
    )


@register.filter
def moment(at: datetime.datetime | None) -> SafeString:
    """A time to the second, in UTC."""
    if at is None:
        return NOTHING
    exact = at.astimezone(datetime.UTC)
    text = exact.strftime("%Y-%m-%d %H:%M:%S")
    return format_html('<time datetime="{}" title="UTC">{}</time>', exact.isoformat(timespec="seconds"), text)


@register.filter
def clock(at: datetime.datetime) -> str:
    """The time of day with milliseconds, as logs show it."""
    return at.astimezone(datetime.UTC).strftime("%H:%M:%S.%f")[:-3]


register.filter("duration", words.duration)
register.filter("size", words.size)
register.filter("thousands", words.thousands)
register.filter("schedule", words.schedule)
register.filter("count", words.count)
register.filter("visible", words.visible)


@register.filter
def short_id(value: object) -> str:
    """A long number by its first and last digits."""
    text = "" if value is None else str(value)
    return f"{text[:4]}…{text[-4:]}" if len(text) > 10 else text


@register.filter
def sentence(event: AuditEvent) -> Sentence:
    """What an audit event says, in words and links."""
    return describe(event)


@register.simple_tag(takes_context=True)
def nav(context: RequestContext, name: str, label: str) -> SafeString:
    """An entry of the main navigation; the one that the page belongs to is marked."""
    request = context.get("request")
    url = reverse(f"admin:{name}")
    path = request.path if request else ""
    here = path == url if url == reverse("admin:index") else path.startswith(url)
    current = format_html(' aria-current="{}"', "page") if here else ""
    return format_html('<a href="{}"{}>{}</a>', url, current, label)


@register.simple_tag
def tab(current: str, name: str, label: str) -> SafeString:
    """One tab of a page, a link that sets `?tab=`."""
    mark = format_html(' aria-current="{}"', "page") if current == name else ""
    return format_html('<a href="?tab={}"{}>{}</a>', name, mark, label)


@register.filter
def get(mapping: dict[Any, Any], key: object) -> Any:
    """An entry of a dict, by a key that the template has in a variable."""
    return mapping.get(key)


@register.filter
def cut_underscores(name: str) -> str:
    """A name in the machine's spelling, as words."""
    return name.replace("_", " ")


@register.filter
def plain(value: Any) -> str:
    """A property's value as text: lists with commas, booleans in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return str(value) if value != "" else "(empty)"


@register.filter
def after_slash(path: str) -> str:
    """The last part of a name with slashes."""
    return path.rpartition("/")[2]


@register.filter
def run_url(pipeline: str, number: int) -> str:
    """Where a run is, from "namespace/pipeline" and its number."""
    return reverse("admin:run", args=[*pipeline.split("/", 1), number])


@register.filter
def last_line(text: str) -> str:
    """The last line of a traceback, which names the error."""
    return text.strip().rpartition("\n")[2]
