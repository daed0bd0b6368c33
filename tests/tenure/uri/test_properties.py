"""What holds for all texts: one name for one resource, and no two resources with one name."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tenure.uri
from tenure.errors import InvalidURI
from tenure.uri import (
    SCHEMES,
    DatasetURI,
    canonical,
    from_openlineage,
    masked,
    parse,
)
from tests.tenure.uri.resources import Resource, identity, neighbours, of_form, resources, spellings, typed

PIECES = st.sampled_from(
    [
        *SCHEMES.by_name,
        "airflow",
        "x-me",
        "S3",
        "://",
        "://",
        ":",
        "/",
        "/",
        "//",
        "@",
        "?",
        "#",
        "&",
        "=",
        "%",
        "%2F",
        "%2f",
        "%7E",
        "~",
        "%FF",
        "%C3%A9",
        "é",
        "[::1]",
        "[",
        "]",
        "5432",
        "a",
        "b.c",
        "..",
        " ",
        "\\",
        "*",
        "\uff0f",
        "a=1",
        "password=x",
        "me:pw@",
        "athena.",
        ".snowflakecomputing.com",
        "\n",
        "\x00",
        "\ud800",
        "İ",
        "ß",
        "bücher.example",
    ]
)
NAMES = sorted(SCHEMES.by_name)
URIS = of_form(NAMES) | typed(NAMES) | st.lists(PIECES, max_size=10).map("".join)
TEXTS = URIS | st.text(max_size=40)


def read(text: str) -> DatasetURI | None:
    """The URI; None when the text is refused, as documented."""
    try:
        return parse(text)
    except InvalidURI:
        return None


def uri_of(text: str) -> DatasetURI:
    """The URI; one that has no faults for a text that is refused, so that few texts are tried in vain."""
    return read(text) or parse("s3://b/k")


@given(TEXTS)
@example("")
@example("s3:\\\\b\\k")
@example("file:////a")
def test_any_text_is_a_uri_a_literal_or_refused(text: str) -> None:
    uri = read(text)
    if uri is None:
        with pytest.raises(InvalidURI):
            canonical(text)
    else:
        assert canonical(text) == uri.canonical
        assert uri.is_literal == bool(uri.reason)
        assert not uri.is_literal or uri.canonical == text


@given(TEXTS)
def test_a_canonical_text_is_its_own(text: str) -> None:
    uri = uri_of(text)
    again = parse(uri.canonical)
    assert again == uri
    assert (again.canonical, again.denotes, again.query, again.is_literal) == (
        (uri.canonical, uri.denotes, uri.query, uri.is_literal)
    )


@given(TEXTS)
def test_what_was_typed_still_leads_to_the_same_resource_once_it_is_masked(text: str) -> None:
    uri = uri_of(text)
    # A literal with a password is kept nowhere, so its masked text need not lead back.
    assert uri.carries_password or parse(uri.typed) == uri


@given(st.data(), resources())
def test_every_spelling_of_a_resource_is_one_name(data: st.DataObject, resource: Resource) -> None:
    texts = [data.draw(spellings(resource)) for _ in range(3)]
    assert {identity(text) for text in texts} == {resource}
    assert len({canonical(text) for text in texts}) == 1
    uri = parse(texts[0])
    assert (uri.scheme, uri.parts, uri.is_literal) == (resource.scheme, resource.parts, False)


@given(st.data(), resources())
def test_two_resources_never_become_one(data: st.DataObject, resource: Resource) -> None:
    other = data.draw(neighbours(resource))
    texts = [data.draw(spellings(each)) for each in (resource, other)]
    assert (canonical(texts[0]) == canonical(texts[1])) == (resource == other)
    assert (identity(texts[0]) == identity(texts[1])) == (resource == other)


@given(of_form(NAMES), of_form(NAMES))
def test_a_name_says_all_that_it_denotes_and_no_more(one: str, two: str) -> None:
    first, second = uri_of(one), uri_of(two)
    said = [(uri.scheme, uri.denotes, uri.query, uri.reason and uri.canonical) for uri in (first, second)]
    assert (first == second) == (said[0] == said[1])


def test_these_tests_try_uris_and_not_literals_alone() -> None:
    found = []
    given(of_form(NAMES))(lambda text: found.append(uri_of(text).is_literal))()
    assert found.count(False) > len(found) / 3


@given(URIS)
def test_openlineage_names_lead_back(text: str) -> None:
    uri = uri_of(text)
    assert uri.is_literal or from_openlineage(*uri.openlineage) == uri


@given(st.sampled_from(sorted(SCHEMES.by_name)), st.text(max_size=12), st.text(max_size=12))
def test_any_openlineage_name_is_a_uri_with_that_name_or_refused(
    scheme: str, authority: str, name: str
) -> None:
    try:
        uri = from_openlineage(f"{scheme}://{authority}", name)
    except InvalidURI:
        return
    assert from_openlineage(*uri.openlineage) == uri


QUOTABLE = st.text(st.sampled_from("ab.%?#@:[]25F \\é"), min_size=1, max_size=8)
VALUES = st.text(max_size=8) | st.text(st.sampled_from("ab./%?#@:[]25F \\é"), max_size=8)


@given(VALUES, VALUES, VALUES)
def test_builders_quote_every_name(database: str, schema: str, table: str) -> None:
    given = {"database": database, "schema": schema, "table": table}
    try:
        uri = tenure.uri.postgres(host="db", **given)
    except InvalidURI:
        assert not all(given.values()) or any(read(f"x{value}") is None for value in given.values())
        return
    assert uri.denotes == {"host": "db", "port": "5432", **given}
    assert parse(uri.canonical) == uri


@given(VALUES, VALUES)
def test_builders_quote_every_key(bucket: str, key: str) -> None:
    try:
        uri = tenure.uri.s3(bucket=bucket, key=key)
    except InvalidURI:
        return
    assert uri.denotes == {"bucket": bucket, "key": key.rstrip("/")}
    assert parse(uri.canonical) == uri


@given(st.data(), st.sampled_from(sorted({scheme.name for scheme in SCHEMES.by_name.values()})))
def test_what_a_builder_makes_reads_as_what_it_was_given(data: st.DataObject, name: str) -> None:
    scheme = SCHEMES.by_name[name]
    words = st.from_regex("[a-z][a-z0-9_]{0,8}", fullmatch=True) if scheme.path.pattern else QUOTABLE
    sample = {field: data.draw(words) for field in scheme.path.names}
    if scheme.path.tree:
        sample[scheme.path.tree] = ("/" if scheme.path.rooted else "") + data.draw(QUOTABLE)
    fields = {**scheme.authority.fields(scheme.authority.write(Place(host="h", port="77"))), **sample}
    uri = scheme.build(fields)
    assert parse(uri.canonical) == uri
    assert {field: uri.denotes[field] for field in sample} == sample


class Place(dict[str, str]):
    """Fields of an authority, `a` for those that it has no name for."""

    def __missing__(self, name: str) -> str:
        return "a"


SECRET_KEYS = (
    "password",
    "PassWord",
    "sig",
    "X-Amz-Signature",
    "api-key",
    "p%61ssword",
    "accessToken",
    "OSSAccessKeyId",
)
PASSWORDS = st.text(st.sampled_from("ab12:/?#@%[]=&;. "), max_size=4)
STORES = st.sampled_from(
    [
        "s3://{}b/k",
        "gs://{}b/k",
        "file://{}h/a",
        "postgres://{}h/d/s/t",
        "mysql://{}h:1/d/t",
        "trino://{}[::1]/c/s/t",
        "bigquery://{}p/d/t",
        "hdfs://{}nn/a",
        "kafka://{}b/t",
        "snowflake://{}a/d/s/t",
        "sqlite://{}h/a/t",
        "abfss://c{}acct.dfs.core.windows.net/p",
        "ftp://{}h/p",
        "x-me://{}h/p",
        "//{}h/p",
        "postgres://{}/d/s/t",
        "jdbc:postgresql://{}h/d",
        "jdbc:oracle:thin:{}h:1521/x",
        "hive://{}h/d/t",
        "glue://{}r/1/d/t",
    ]
)


@given(STORES, PASSWORDS, PASSWORDS)
def test_no_password_survives(store: str, before: str, after: str) -> None:
    separator = "/" if "oracle" in store else ":"
    text = store.format(f"me{separator}{before}SECRET{after}@")
    try:
        uri = parse(text)
    except InvalidURI as error:
        assert "SECRET" not in str(error)
        return
    said = repr(uri) + masked(text) + uri.reason + "".join(uri.warnings) + uri.typed
    if uri.is_literal:
        assert uri.carries_password
    else:
        said += uri.canonical + uri.query + str(uri.denotes) + str(uri.openlineage)
    assert "secret" not in said.lower()


@given(
    st.sampled_from(
        [
            "s3://b/k?{}",
            "postgres://h/d/s/t?a=1&{}",
            "x-me://h?{}",
            "jdbc:sqlserver://h;{}",
            "mssql://h;{}/d/s/t",
            "postgres://h/d/s/t;{}",
            "postgres://h/d/s/t&{}",
            "s3://b/k?a=1?{}",
            "postgres://h/d/s/t?a=1;{}",
            "s3://b/k;{}",
            "Endpoint=sb://n/;{}",
            "file:///a?{}#x",
        ]
    )
)
def test_no_secret_parameter_survives(template: str) -> None:
    for key in SECRET_KEYS:
        text = template.format(f"{key}=SECRET")
        uri = parse(text)
        assert "secret" not in (repr(uri) + masked(text) + uri.typed + uri.reason).lower()
        assert uri.carries_password or "secret" not in (uri.canonical + str(uri.openlineage)).lower()


@given(URIS)
def test_uris_survive_pickling(text: str) -> None:
    uri = uri_of(text)
    canonical(uri.canonical)
    again = pickle.loads(pickle.dumps(uri))  # noqa: S301  # our own bytes
    assert (again, again.denotes, again.reason) == (uri, uri.denotes, uri.reason)
