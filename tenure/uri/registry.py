"""Which schemes there are: the built-in ones, and those that installed packages bring."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from tenure.errors import InvalidURI
from tenure.uri.forms import Scheme
from tenure.uri.model import DatasetURI
from tenure.uri.schemes import built_in
from tenure.uri.secrets import masked, seems_to_carry_password
from tenure.uri.text import MAX_BYTES, NotOfForm, Split, check_characters, check_length, split

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log = logging.getLogger(__name__)

GROUP = "tenure.uri_schemes"
"""The entry point group: each of its objects is a `tenure.uri.forms.Scheme`."""

RESERVED = "airflow"
_LONG = 30

R = TypeVar("R")


@dataclass(repr=False)
class Schemes:
    """Schemes by name and alias, and what they make of texts.

    `problems` says which plug-ins could not be used, and why. They are loaded when a scheme is met
    that is not built in, or by `load_plugins`.
    """

    by_name: dict[str, Scheme] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    group: str = GROUP
    _plugins: dict[str, str] = field(default_factory=dict)
    _loaded: bool = False
    _installing: threading.Lock = field(default_factory=threading.Lock)
    _here: threading.local = field(default_factory=threading.local)

    def add(self, scheme: Scheme) -> None:
        """Make a scheme known; raises `ValueError` for a name that is reserved, taken or none."""
        names = (scheme.name, *scheme.aliases)
        for name in names:
            if name in self.by_name or name == RESERVED or name.startswith("x-") or not _is_scheme(name):
                raise ValueError(f"the scheme name {name!r} is taken, reserved or none")
        self.by_name.update(dict.fromkeys(names, scheme))

    @property
    def all(self) -> list[Scheme]:
        """Each scheme once, whatever its aliases; plug-ins after what is built in."""
        return list({scheme.name: scheme for scheme in self.by_name.values()}.values())

    def load_plugins(self) -> None:
        """Add the schemes of installed packages. A broken one is reported, and breaks nothing."""
        # A module that is being loaded may itself read URIs. No lock is held while modules are imported:
        # each has a lock of its own, which another thread may hold while it waits for this one.
        if self._loaded or getattr(self._here, "loading", False):
            return
        self._here.loading = True
        try:
            found = [(point, _load(point)) for point in self._entry_points()]
        finally:
            self._here.loading = False
        with self._installing:
            if not self._loaded:
                for point, scheme in found:
                    self._install(point, scheme)
            self._loaded = True

    def _entry_points(self) -> list[EntryPoint]:
        from importlib.metadata import entry_points  # It takes a third of this package's time to import.

        try:
            return sorted(entry_points(group=self.group), key=lambda point: (point.name, point.value))
        except Exception as error:  # noqa: BLE001  # of whatever package
            self._report(f"The list of URI schemes that packages bring cannot be read: {_said(error)}")
            return []

    def _install(self, point: EntryPoint, scheme: Scheme | BaseException) -> None:
        problem = scheme
        if isinstance(scheme, Scheme):
            before = self._plugins
            # First this, then `by_name`: whoever finds the scheme is to know that it is a plug-in's.
            self._plugins = before | dict.fromkeys((scheme.name, *scheme.aliases), point.value)
            try:
                return self.add(scheme)
            except Exception as error:  # noqa: BLE001  # of a name that is none, in whatever way
                self._plugins, problem = before, error
        assert isinstance(problem, BaseException)
        self._report(f"The URI scheme {point.name!r} of {point.value} cannot be used: {_said(problem)}")

    def _report(self, problem: str) -> None:
        self.problems.append(problem)
        log.warning("%s", problem)

    def parse(self, text: str | DatasetURI) -> DatasetURI:
        """What a text denotes: a URI of a known scheme, or a literal with the reason why it is one.

        Raises `InvalidURI` for control characters, for more than `MAX_BYTES`, and for `airflow:`.
        """
        if isinstance(text, DatasetURI):
            return text
        if not isinstance(text, str):
            raise TypeError(f"A URI is a text, not {type(text).__name__}.")
        check_characters(text)
        typed = split(text)
        try:
            scheme = self._scheme(typed)
            return self._guarded(typed.scheme, lambda: scheme.read(typed, text))
        except NotOfForm as reason:
            return _literal(text, str(reason))

    def canonical(self, text: str | DatasetURI) -> str:
        """The one text of a resource, whatever the spelling; a literal's is its own. Raises as `parse`."""
        if text.__class__ is not str:
            return self.parse(text).canonical
        name = text.partition(":")[0]
        known = self.by_name.get(name)
        if known is not None and not (self._plugins and name in self._plugins):
            plain = known.shortcut(text)
            if plain is not None and len(plain) <= MAX_BYTES:
                return plain  # It is ASCII.
        return check_length(self._canonical(text))

    def _canonical(self, text: str) -> str:
        check_characters(text)
        if ":" not in text:
            return text
        typed = split(text)
        try:
            scheme = self._scheme(typed)
            return self.parse(text).canonical if typed.scheme in self._plugins else scheme.canonical(typed)
        except NotOfForm:
            return text

    def _guarded(self, name: str, work: Callable[[], R]) -> R:
        """What the work gives. A plug-in that raises is reported, and its text is not of its form."""
        if name not in self._plugins:
            return work()
        try:
            return work()
        except (NotOfForm, InvalidURI):
            raise
        except Exception as error:  # noqa: BLE001  # of a plug-in
            # Its message could quote the text, and so a password.
            log.warning("The URI scheme %r of %s raised %s", name, self._plugins[name], type(error).__name__)
            raise NotOfForm(f"the plug-in for its scheme {name!r} failed") from None

    def is_literal(self, text: str | DatasetURI) -> bool:
        """Whether a text means nothing but itself. Raises as `parse`."""
        return self.parse(text).is_literal

    def from_openlineage(self, namespace: str, name: str) -> DatasetURI:
        """The URI of OpenLineage's namespace and name; raises `InvalidURI` when no scheme has such names."""
        self.load_plugins()
        head, mark, rest = namespace.partition("://")
        alias = self.by_name.get(head.lower()) if mark else None
        if alias is not None:
            namespace = f"{alias.openlineage.namespace.partition('://')[0]}://{rest}"
        for scheme in self.all:
            uri = self._from_openlineage(scheme, namespace, name)
            if uri is not None:
                return uri
        raise InvalidURI("No known scheme has an OpenLineage namespace of this form.")

    def _from_openlineage(self, scheme: Scheme, namespace: str, name: str) -> DatasetURI | None:
        try:
            return self._guarded(scheme.name, lambda: scheme.from_openlineage(namespace, name))
        except NotOfForm:
            return None

    def _scheme(self, typed: Split) -> Scheme:
        return self.by_name.get(typed.scheme) or self._other(typed)

    def _other(self, typed: Split) -> Scheme:
        name = typed.scheme
        if not name:
            raise NotOfForm("it has no scheme, as in s3://")
        if name == RESERVED:
            raise InvalidURI("AIP-60 reserves the scheme 'airflow': no dataset has it. Use its store's own.")
        if name.startswith("x-"):
            raise NotOfForm("schemes that begin with x- are its users' own and never interpreted")
        self.load_plugins()
        scheme = self.by_name.get(name)
        if scheme is None:
            raise NotOfForm(_unknown(typed))
        return scheme


def _load(point: EntryPoint) -> Scheme | BaseException:
    """The scheme, or what loading it raised: also a `SystemExit` of a stranger's module is only that."""
    try:
        scheme = point.load()
        if not isinstance(scheme, Scheme):
            raise TypeError(f"it is a {type(scheme).__name__}, not a tenure.uri.forms.Scheme")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return error
    return scheme


def _said(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001  # an error may fail at saying what it is
        return type(error).__name__


def _literal(text: str, reason: str) -> DatasetURI:
    check_length(text)
    return DatasetURI(text, reason=reason, typed=masked(text) if seems_to_carry_password(text) else text)


def _unknown(typed: Split) -> str:
    name = typed.scheme
    if len(name) == 1 and typed.authority is None and typed.path[:1] in ("/", "\\"):
        return "it looks like a path of Windows: such a file is written file:///C:/path"
    if len(name) > _LONG:
        return "its scheme is not one that Tenure knows"
    return f"the scheme {name!r} is not one that Tenure knows"


def _is_scheme(name: str) -> bool:
    return bool(name) and split(f"{name}:").scheme == name


def _default() -> Schemes:
    schemes = Schemes()
    for scheme in built_in():
        schemes.add(scheme)
    return schemes


SCHEMES = _default()
"""What `tenure.uri.parse` and its companions use."""
