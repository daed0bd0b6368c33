"""A slow model of dataset URIs, too simple to be wrong, and strategies that spell resources at random.

The model (`identity`) shares no code with `tenure.uri`: it reads one character after the other, knows four
schemes, and names a resource by a tuple of what it denotes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tenure.uri import SCHEMES

ALIASES = {
    "s3": ("s3", "s3a", "s3n"),
    "file": ("file",),
    "postgres": ("postgres", "postgresql"),
    "mysql": ("mysql", "mariadb"),
}
PORTS = {"postgres": 5432, "mysql": 3306}
NAMES = {"postgres": 3, "mysql": 2}


@dataclass(frozen=True)
class Resource:
    """What a URI denotes: `place` is a bucket or a host in lower case; `query` is sorted by key."""

    scheme: str
    place: str
    port: int
    parts: tuple[str, ...]
    query: tuple[tuple[str, str], ...]


def identity(text: str) -> Resource | str:
    """The resource that a text denotes, or the text itself."""
    scheme, mark, rest = text.partition("://")
    name = next((name for name, aliases in ALIASES.items() if scheme.lower() in aliases), "")
    if not mark or not name:
        return text
    rest = rest.partition("#")[0]
    rest, _, query = rest.partition("?")
    place, slash, path = rest.partition("/")
    place = place.rpartition("@")[2]
    port = PORTS.get(name, 0)
    if name in PORTS:
        place, _, given = place.partition(":")
        port = int(given or port)
    if name != "s3":
        place = place.lower()
    if name == "file":
        place = place or "localhost"
    parts = tuple(map(decoded, (slash + path).rstrip("/").split("/")[1:]))
    items = [item for item in query.split("&") if item]
    return Resource(name, place, port, parts, tuple(sorted(map(pair, items), key=lambda item: item[0])))


def pair(item: str) -> tuple[str, str]:
    key, mark, value = item.partition("=")
    return key, mark + value


def decoded(part: str) -> str:
    """Percent-decoded, one character after the other; a percent sign that escapes nothing is itself."""
    found = bytearray()
    at = 0
    while at < len(part):
        digits = part[at + 1 : at + 3]
        if (
            part[at] == "%"
            and len(digits) == 2
            and all(digit in "0123456789abcdefABCDEF" for digit in digits)
        ):
            found.append(int(digits, 16))
            at += 3
        else:
            found += part[at].encode()
            at += 1
    return found.decode()


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=6)
ODD = st.text(st.sampled_from("ab/.%~ é#?@:25F+&=*"), min_size=1, max_size=6)
PART = TEXT | ODD
KEY = st.text(st.sampled_from("abAB%61.-"), min_size=1, max_size=3)
QUERY = st.lists(st.tuples(KEY, st.sampled_from(["", "=", "=1", "=x%20y", "=/"])), max_size=3)


@st.composite
def resources(draw: st.DrawFn) -> Resource:
    """Any resource of the four schemes, with names as odd as the stores allow."""
    scheme = draw(st.sampled_from(sorted(ALIASES)))
    count = NAMES.get(scheme)
    least, most = (count, count) if count else (1, 4)
    parts = tuple(draw(st.lists(PART, min_size=least, max_size=most)))
    place = draw(
        st.sampled_from(
            ["b", "a.b-c_d", "Bucket"] if scheme == "s3" else ["h", "db.example.com", "127.0.0.1"]
        )
    )
    port = draw(st.sampled_from([PORTS[scheme], 1, 65535])) if scheme in PORTS else 0
    query = tuple(sorted(draw(QUERY), key=lambda item: item[0]))
    return Resource(scheme, place, port, parts, query)


@st.composite
def spellings(draw: st.DrawFn, resource: Resource) -> str:
    """One of the many ways to write a resource."""
    scheme = draw(cased(draw(st.sampled_from(ALIASES[resource.scheme]))))
    place = resource.place if resource.scheme == "s3" else draw(cased(resource.place))
    if resource.port and (resource.port != PORTS[resource.scheme] or draw(st.booleans())):
        place += f":{draw(st.sampled_from(['', '0', '00']))}{resource.port}"
    user = draw(st.sampled_from(["", "@", "me@", "me:secret@", "me:s@cret@"]))
    path = "".join([f"/{draw(escaped(part))}" for part in resource.parts])
    path += draw(st.sampled_from(["", "/", "//"]))
    query = "&".join(key + value for key, value in draw(reordered(resource.query)))
    fragment = draw(st.sampled_from(["", "#", "#top?a=1"]))
    return f"{scheme}://{user}{place}{path}{'?' + query if query else ''}{fragment}"


@st.composite
def cased(draw: st.DrawFn, text: str) -> str:
    """The text with capitals here and there."""
    return "".join(draw(st.sampled_from([each.lower(), each.upper()])) for each in text)


@st.composite
def escaped(draw: st.DrawFn, part: str) -> str:
    """A part with characters percent-encoded: all that must be, others here and there."""
    pieces = []
    for each in part:
        if each in "/?#%@:" or draw(st.integers(0, 3)) == 0:
            code = "".join(f"%{byte:02x}" for byte in each.encode())
            pieces.append(draw(st.sampled_from([code, code.upper()])))
        else:
            pieces.append(each)
    return "".join(pieces)


@st.composite
def reordered(draw: st.DrawFn, query: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """The items in another order, those with the same key still one after the other as before."""
    keys = draw(st.permutations(sorted({key for key, _ in query})))
    return [item for key in keys for item in query if item[0] == key]


@st.composite
def neighbours(draw: st.DrawFn, resource: Resource) -> Resource:
    """A resource that differs in one thing, if in any."""
    at = draw(st.integers(0, len(resource.parts) - 1))
    part = draw(st.text(st.sampled_from("ab/%2F.~5é @"), min_size=1, max_size=4))
    changes: list[dict[str, object]] = [
        {"parts": (*resource.parts[:at], part, *resource.parts[at + 1 :])},
        {"place": draw(st.sampled_from(["b", "h", "Bucket" if resource.scheme == "s3" else "localhost"]))},
        {"query": tuple(sorted(draw(QUERY), key=lambda item: item[0]))},
    ]
    if resource.scheme in PORTS:
        changes.append({"port": draw(st.sampled_from([1, 3306, 5432]))})
    return replace(resource, **draw(st.sampled_from(changes)))  # type: ignore[arg-type]


# fmt: off
USERS = ["", "", "", "me@", "me:pw@", "@", ":@", "me:p@w@", "%40@", "[a]@", "me[@"]
PLACES = [
    "b", "B", "h", "DB.x", "127.0.0.1", "[::1]", "[0:0::1]", "[fe80::1%25eTh0]", "é", "bücher.x", "a b",
    "a%41", "h1,h2", "h.", "", "athena.x.amazonaws.com", "x.SNOWFLAKEcomputing.com", "c@h", "c@H",
    "LOCALHOST", "a\\b",
]
PORTS_TYPED = ["", "", "", ":", ":1", ":0", ":01", ":5432", ":443", ":99999", ":x"]
SEGMENTS = [
    "a", "b", "A", "~", "%7E", "%7e", "%2F", "%2f", "%252F", "%25", "%", "%zz", "é", "%C3%A9", "%FF", "..",
    ".", "", " ", "%20", "@", "%40", ":", "?", "#", "%3F", "%23", "*", "a=b", "a;b", ";token=1",
    "password=x", "\\", '"', "%22", "😀", "%00", "%0A", "o\u0308", "[", "{", "%5B",
]
QUERIES = [
    "", "", "?", "?a", "?a=", "?a=1", "?b=2&a=1", "?a=1&a=2", "?&&a", "?a=%2f", "?a@=1&a0=2",
    "?a0=1&a@=2", "?a=@", "?%61=1&a=2", "?é=1&z=2", "?token=x", "?a;b", "?a=1;sig=x", "?=x", "?a?b",
]
# fmt: on


@st.composite
def typed(draw: st.DrawFn, schemes: list[str]) -> str:
    """A text with the parts of a URI, each as odd as people and programs write them."""
    segment = st.lists(st.sampled_from(SEGMENTS), max_size=2).map("".join)
    place = draw(st.sampled_from(USERS)) + draw(st.sampled_from(PLACES)) + draw(st.sampled_from(PORTS_TYPED))
    path = "".join(f"/{draw(segment)}" for _ in range(draw(st.integers(0, 4))))
    end = draw(st.sampled_from(["", "", "/", "//"])) + draw(st.sampled_from(QUERIES))
    scheme = draw(st.sampled_from(schemes))
    mark = draw(st.sampled_from(["://"] * 8 + [":/", ":"]))
    return f"{scheme}{mark}{place}{path}{end}{draw(st.sampled_from(['', '', '#', '#x', '#a@b']))}"


@st.composite
def of_form(draw: st.DrawFn, schemes: list[str]) -> str:
    """A text that is of its scheme's form more often than not."""
    scheme = draw(st.sampled_from(schemes))
    kind = SCHEMES.by_name[scheme]
    container = "c@" if kind.authority.keeps_user else draw(st.sampled_from(["", "me@", "me:pw@"]))
    port = (
        draw(st.sampled_from([":1", ":05432"]))
        if kind.authority.has_port
        else draw(st.sampled_from(["", ":80"]))
    )
    part = st.lists(
        st.sampled_from(["a", "b", "A", "~", "%7e", "%2f", "%25", "%", "é", " ", "%40", "."]),
        min_size=1,
        max_size=3,
    )
    depth = len(kind.path.names) + (draw(st.integers(1, 3)) if kind.path.tree else 0)
    path = "".join("/" + "".join(draw(part)) for _ in range(depth))
    place = draw(st.sampled_from(["h", "B-1", "x.y"]))
    return f"{scheme}://{container}{place}{port}{path}{draw(st.sampled_from(QUERIES))}"
