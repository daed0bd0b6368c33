"""The stores whose URIs Tenure reads: one module each, with a `SCHEME` and its builder."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tenure.uri.forms import Scheme


def built_in() -> list[Scheme]:
    """The schemes of all modules in this package."""
    return [import_module(f"{__name__}.{module.name}").SCHEME for module in iter_modules(__path__)]
