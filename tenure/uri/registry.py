"""Which schemes there are: the built-in ones, and those that installed packages bring."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from tenure.errors import InvalidURI
from tenure.uri.forms import Scheme
from tenure.uri.model import DatasetURI
from tenure.uri.schemes import built_in
from tenure.uri.text import MAX_BYTES, NotOfForm, check_characters, check_length, split

log = logging.getLogger(__name__)

GROUP = "tenure.uri_schemes"
"""The entry point group: each of its objects is a `tenure.uri.forms.Scheme`."""

RESERVED = "airflow"
_RESERVED = InvalidURI(
    "The scheme 'airflow' is reserved by AIP-60 and names no dataset: use the store's own."
)


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
    # A module that is being loaded may parse URIs itself.
    _loading: threading.RLock = field(default_factory=threading.RLock)

    def add(self, scheme: Scheme) -> None:
        """Make a scheme known; raises `ValueError` for a name that is reserved, taken or none."""
        names = (scheme.name, *scheme.aliases)
        for name in names:
            if name in self.by_name or name == RESERVED or name.startswith("x-") or not _is_scheme(name):
                raise ValueError(f"the scheme name {name!r} is taken, reserved or none")
        self.by_name.update(dict.fromkeys(names, scheme))

    def load_plugins(self) -> None:
        """Add the schemes of installed packages. A broken one is reported, and breaks nothing."""
        with self._loading:
            if self._loaded:
                return
            self._loaded = True
            for point in sorted(entry_points(group=self.group), key=lambda point: (point.name, point.value)):
                self._load(point)

    def _load(self, point: EntryPoint) -> None:
        try:
            scheme = point.load()
            if not isinstance(scheme, Scheme):
                raise TypeError(f"it is a {type(scheme).__name__}, not a tenure.uri.forms.Scheme")
            self.add(scheme)
            self._plugins |= dict.fromkeys((scheme.name, *scheme.aliases), point.value)
        except Exception as error:  # noqa: BLE001  # whatever a stranger's module raises, parsing goes on
            problem = f"The URI scheme {point.name!r} of {point.value} cannot be used: {error!r}"
            self.problems.append(problem)
            log.warning("%s", problem)

    def parse(self, text: str | DatasetURI) -> DatasetURI:
        """What a text denotes: a URI of a known scheme, or a literal with the reason why it is one.

        Raises `InvalidURI` for control characters, for more than `MAX_BYTES`, and for `airflow:`.
        """
        if isinstance(text, DatasetURI):
            return text
        check_characters(text)
        typed = split(text)
        try:
            return self._scheme(typed.scheme).read(typed, text)
        except NotOfForm as reason:
            return _literal(text, str(reason))
        except InvalidURI:
            raise
        except Exception as error:  # noqa: BLE001  # of a plug-in
            return _literal(text, self._failed(typed.scheme, error))

    def canonical(self, text: str) -> str:
        """The one text of a resource, whatever the spelling; a literal's is its own. Raises as `parse`."""
        known = self.by_name.get(text.partition(":")[0])
        plain = known.shortcut(text) if known is not None else None
        if plain is not None and len(plain) <= MAX_BYTES:
            return plain  # It is ASCII.
        return check_length(self._canonical(text))

    def _canonical(self, text: str) -> str:
        check_characters(text)
        if ":" not in text:
            return text
        typed = split(text)
        try:
            return self._scheme(typed.scheme).canonical(typed)
        except NotOfForm:
            return text
        except InvalidURI:
            raise
        except Exception as error:  # noqa: BLE001  # of a plug-in
            self._failed(typed.scheme, error)
            return text

    def _failed(self, name: str, error: Exception) -> str:
        """Report what a plug-in raised, and give the literal's reason; raise what a built-in scheme did."""
        if name not in self._plugins:
            raise error
        # Its message could quote the text, and so a password.
        log.warning("The URI scheme %r of %s raised %s", name, self._plugins[name], type(error).__name__)
        return f"the plug-in for its scheme {name!r} failed"

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
        for scheme in {each.name: each for each in self.by_name.values()}.values():
            uri = scheme.from_openlineage(namespace, name)
            if uri is not None:
                return uri
        raise InvalidURI("No known scheme has an OpenLineage namespace of this form.")

    def _scheme(self, name: str) -> Scheme:
        return self.by_name.get(name) or self._other(name)

    def _other(self, name: str) -> Scheme:
        if not name:
            raise NotOfForm("it has no scheme, as in s3://")
        if name == RESERVED:
            raise InvalidURI("AIP-60 reserves the scheme 'airflow': no dataset has it. Use its store's own.")
        if name.startswith("x-"):
            raise NotOfForm("schemes that begin with x- are its users' own and never interpreted")
        self.load_plugins()
        scheme = self.by_name.get(name)
        if scheme is None:
            raise NotOfForm(_unknown(name))
        return scheme


def _literal(text: str, reason: str) -> DatasetURI:
    return DatasetURI(check_length(text), reason=reason, typed=text)


def _unknown(name: str) -> str:
    if len(name) == 1:
        return "it looks like a path of Windows: such a file is written file:///C:/path"
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
