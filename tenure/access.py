"""What a dataset's methods do to its data, said at the method and asked for at each call.

Entering an annotated method asks the database client, which authorises and records the access
before any data moves. A method called within another one of the same dataset is part of that
access: it is not recorded again, and may do no more than the outer one announced. Source: the
`@ReadOnly`, `@WriteOnly`, `@ReadWrite` and `@NoAccess` annotations of CDAP's dataset framework.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from enum import StrEnum
from typing import Any, TypeVar, cast

from tenure.errors import Forbidden

Method = TypeVar("Method", bound=Callable[..., Any])


class Access(StrEnum):
    """What an operation does to a dataset."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    READ_WRITE = "read_write"

    def within(self, outer: Access) -> bool:
        """Whether an operation that announced `outer` covers this access."""
        return self in (outer, Access.NONE) or outer is Access.READ_WRITE


_STACK: ContextVar[tuple[tuple[int, Access], ...]] = ContextVar("dataset_access_stack", default=())


def _annotated(access: Access, method: Method) -> Method:
    """`method`, entered only after its access was authorised, or covered by an outer method's."""

    @functools.wraps(method)
    def enter(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        stack = _STACK.get()
        outer = next((held for owner, held in reversed(stack) if owner == id(dataset)), None)
        if outer is None and access is not Access.NONE:
            dataset.context.authorize(dataset, access, method.__name__)
        elif outer is not None and not access.within(outer):
            raise Forbidden(
                f"{dataset.name}.{method.__name__} is {access.value}, which a method that announced "
                f"{outer.value} cannot call: annotate the outer method with what it does in all."
            )
        token = _STACK.set((*stack, (id(dataset), access)))
        try:
            return method(dataset, *args, **kwargs)
        finally:
            _STACK.reset(token)

    enter.__dict__["access"] = access
    return cast(Method, enter)


def reads(method: Method) -> Method:
    """The method only reads the dataset's data."""
    return _annotated(Access.READ, method)


def writes(method: Method) -> Method:
    """The method only writes the dataset's data."""
    return _annotated(Access.WRITE, method)


def reads_and_writes(method: Method) -> Method:
    """The method reads and writes the dataset's data."""
    return _annotated(Access.READ_WRITE, method)


def no_access(method: Method) -> Method:
    """The method touches no data: it asks nobody and leaves no record."""
    return _annotated(Access.NONE, method)
