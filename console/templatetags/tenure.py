"""Filters that every template has: sizes, durations, times as people read them."""

from __future__ import annotations

from django import template

register = template.Library()
