"""The generic rules, what is refused, and what people are told."""

from __future__ import annotations

import doctest
import hashlib
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import tenure.uri
from tenure.errors import InvalidURI
from tenure.uri import SCHEMES, canonical, from_openlineage, masked, parse, seems_to_carry_password
from tenure.uri.text import LIKE_DELIMITERS, MAX_BYTES

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "uris.md"


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("s3://b/a\nb", 8, "Character 9 of the URI is U+000A, a control character"),
        ("\ts3://b/a", 0, "Character 1 of the URI is U+0009"),
        ("a literal\x00", 9, "U+0000"),
        ("s3://b/a\x7f", 8, "U+007F"),
        ("s3://b/a\x85", 8, "U+0085"),
        ("s3://b/\ud800", 7, "U+D800, half of a surrogate pair"),
    ],
)
def test_control_characters_are_refused_by_their_position(text: str, position: int, said: str) -> None:
    for read in (parse, canonical):
        with pytest.raises(InvalidURI) as caught:
            read(text)
        assert said in caught.value.detail
        assert caught.value.members == {"position": position}
        assert (caught.value.code, caught.value.status) == ("invalid_uri", 400)


def test_control_characters_that_are_percent_encoded_are_data() -> None:
    assert parse("s3://b/a%0ab").denotes["key"] == "a\nb"


@pytest.mark.parametrize("text", ["airflow://x/y", "AIRFLOW:", "Airflow:x"])
def test_airflow_is_reserved(text: str) -> None:
    with pytest.raises(InvalidURI, match="reserves"):
        parse(text)


@pytest.mark.parametrize("start", ["s3://b/", "a literal ", "x-me:"])
def test_the_limit_is_4096_bytes_of_the_canonical_form(start: str) -> None:
    assert len(canonical(start + "a" * (MAX_BYTES - len(start)))) == MAX_BYTES
    for read in (parse, canonical):
        with pytest.raises(InvalidURI, match="4097 bytes"):
            read(start + "a" * (MAX_BYTES - len(start) + 1))


def test_the_limit_counts_what_is_added_and_not_what_is_dropped() -> None:
    with pytest.raises(InvalidURI, match="bytes"):
        canonical("s3://b/" + "é" * 700)
    assert canonical("s3://b/k#" + "f" * 5000) == "s3://b/k"
    assert canonical("s3://b/k" + "/" * 5000) == "s3://b/k"


@pytest.mark.parametrize(
    ("typed", "host"),
    [
        ("DB.Example.COM", "db.example.com"),
        ("db.example.com.", "db.example.com."),
        ("[2001:DB8:0:0:0:0:0:1]", "[2001:db8::1]"),
        ("[2001:db8:0:1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"),
        ("[2001:0:0:1:0:0:0:1]", "[2001:0:0:1::1]"),
        ("[::ffff:1.2.3.4]", "[::ffff:102:304]"),
        ("[0::]", "[::]"),
        ("[FE80::1%25eth0]", "[fe80::1%25eth0]"),
        ("[FE80::1%eth0]", "[fe80::1%25eth0]"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_a_host_has_one_spelling(typed: str, host: str) -> None:
    assert canonical(f"mysql://{typed}/d/t") == f"mysql://{host}:3306/d/t"


@pytest.mark.parametrize(
    "host", ["[::1", "[::g]", "[::1]x", "[v1.a]", "a b", "a%zz", "-\u00e9" * 40, "a\uff20b", "a[1]"]
)
def test_what_is_no_host_makes_a_literal(host: str) -> None:
    assert parse(f"mysql://{host}/d/t").is_literal


@pytest.mark.parametrize("port", ["0", "65536", "9" * 500, "-1", "+1", "1 ", "1_0", "\u0663"])
def test_what_is_no_port_makes_a_literal(port: str) -> None:
    assert "port" in parse(f"mysql://h:{port}/d/t").reason


def test_an_empty_port_is_the_default_one() -> None:
    assert canonical("mysql://h:/d/t") == "mysql://h:3306/d/t"


def test_characters_that_look_like_delimiters_are_those_of_unicode() -> None:
    found = {
        chr(code)
        for code in range(0x80, sys.maxunicode + 1)
        if not 0xD800 <= code < 0xE000 and set(unicodedata.normalize("NFKC", chr(code))) & set("/?#@:")
    }
    assert found == LIKE_DELIMITERS


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("b=2&a=1", "a=1&b=2"),
        ("a=2&b&a=1&b=", "a=2&a=1&b&b="),
        ("a-b=1&a=2", "a=2&a-b=1"),
        ("é=1&z=2&Z=3", "Z=3&z=2&é=1"),
        ("a=%2f+ ~&a=x", "a=%2f+ ~&a=x"),
        ("&&a&", "a"),
        ("?a=1?", "?a=1?"),
        ("v=1&token=t&clientSecret=x&pass=x", "v=1"),
        ("a0=1&a@=2", "a0=1&a@=2"),
    ],
)
def test_a_query_is_ordered_by_key_and_else_as_typed(typed: str, query: str) -> None:
    assert parse(f"s3://b/k?{typed}").query == query


def test_a_number_sign_in_a_key_is_warned_of() -> None:
    (warning,) = parse("s3://b/a#b/c").warnings
    assert "%23" in warning
    assert parse("s3://b/a%23b/c").warnings == ()
    assert parse("s3://b/a%23b/c").denotes["key"] == "a#b/c"
    assert parse("postgres://h/d/s/t#x").warnings == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("orders", "it has no scheme"),
        (" s3://b/k", "it has no scheme"),
        ("nothing://h/p", "the scheme 'nothing' is not one that Tenure knows"),
        ("X-mine:a", "never interpreted"),
        ("C:\\Users\\x", "file:///C:/path"),
        ("s://b/k", "the scheme 's' is not one"),
        ("hunter2" * 9 + ":x", "its scheme is not one"),
        ("hive://h/d/t", "no default port"),
    ],
)
def test_a_literal_says_why_it_is_one(text: str, reason: str) -> None:
    uri = parse(text)
    assert reason in uri.reason
    assert uri.typed == uri.canonical == canonical(uri) == str(uri) == text


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("postgres://me:pw@H/d/s/t", "postgres://***@H/d/s/t"),
        ("S3://token@b/k/", "S3://***@b/k/"),
        ("s3://b/k?a=1&X-Amz-Signature=0f", "s3://b/k?a=1&X-Amz-Signature=***"),
        ("abfs://c@a.dfs.core.windows.net/p", "abfs://c@a.dfs.core.windows.net/p"),
        ("s3://b/k?password=ab#cd", "s3://b/k?password=***#***"),
        ("s3://b/k?password=a b&c=d", "s3://b/k?password=***&c=d"),
        ("s3://b/a=1/token=2", "s3://b/a=1/token=2"),
        ("ftp://me:pw@h/a", "ftp://***@h/a"),
    ],
)
def test_what_was_typed_is_kept_without_auth_information(text: str, typed: str) -> None:
    assert parse(text).typed == typed


@pytest.mark.parametrize(
    ("text", "suspicious"),
    [
        ("ftp://user:password@localhost/foo.txt", True),
        ("//user:pw@host/path", True),
        ("postgres://user:pa/ss@host/db/s/t", True),
        ("jdbc:postgresql://h/d?user=x&password=y", True),
        ("jdbc:sqlserver://h:1433;user=x;password=y", True),
        ("jdbc:oracle:thin:scott/tiger@h:1521:orcl", True),
        ("jdbc:oracle:thin:@h:1521:orcl", False),
        ("https://user@example.com/a", False),
        ("https://example.com:8080/a:b", False),
        ("x-me://[::1]/a@b", False),
        ("mailto:me@example.com", False),
        (" postgres://me:pw@h/d/s/t", True),
        ("'postgres://me:pw@h/d/s/t'", True),
        ("me:pw@tcp(h:3306)/db", True),
        ("postgres:/me:pw@h/d", True),
        ("cosmos_db://u:pw@h", True),
        ("scott/pw@h:1521/x", True),
        ("Endpoint=sb://n/;SharedAccessKey=x", True),
        ("mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BPWD%3Dy", True),
        ("C:\\Users\\x@y", False),
        ("s3x://lake/token=5/part", False),
        ("org/package@1.2", False),
        ("a plain name", False),
    ],
)
def test_a_password_in_a_literal_is_suspected(text: str, suspicious: bool) -> None:
    assert seems_to_carry_password(text) is suspicious
    assert ("***" in masked(text)) or not suspicious


def test_what_other_spellings_put_around_a_name_is_taken_off_wholly() -> None:
    assert canonical("athena://athena.cn-north-1.amazonaws.com.cn:443/c/d/t") == "athena://cn-north-1/c/d/t"
    assert canonical("snowflake://A.snowflakecomputing.com:443/d/s/t") == "snowflake://a/d/s/t"
    assert canonical("snowflake://a" + ".snowflakecomputing.com" * 2 + "/d/s/t") == "snowflake://a/d/s/t"


def test_two_spellings_are_equal_and_hash_alike() -> None:
    one, two = parse("s3a://b/k/"), parse("s3://b/k#x")
    assert one == two
    assert len({one, two, parse("s3://b/k2")}) == 2
    assert parse(one) is one
    assert repr(one) == "<DatasetURI 's3://b/k'>"


@pytest.mark.parametrize(
    ("typed", "canonical_text"),
    [
        ("s3://b:80/k%40x", "s3://b:80/k%40x"),
        ("bigquery://domain.com:proj/d/t%40x", "bigquery://domain.com:proj/d/t%40x"),
        ("mysql://h/d/t?a0=1&a@=2", "mysql://h:3306/d/t?a%40=2&a0=1"),
        ("s3://b/k@x", "s3://b/k@x"),
        ("s3://u:p@b/k@x", "s3://u:p@b/k@x"),
    ],
)
def test_an_at_sign_after_a_colon_is_written_as_data(typed: str, canonical_text: str) -> None:
    assert canonical(typed) == parse(typed).canonical == canonical(canonical_text) == canonical_text


def test_what_is_dropped_may_be_long() -> None:
    assert parse("s3://" + "u" * 5000 + "@b/k").canonical == "s3://b/k"


@pytest.mark.parametrize(
    "host", ["fa\u00df.de", "a\u03c2.gr", "a\u200cb.de", "a\ua7c0.de", "h;user=sa", "a=b", "a!b"]
)
def test_names_that_have_no_one_host_are_literals(host: str) -> None:
    assert parse(f"mysql://{host}/d/t").is_literal


def test_builders_take_zones_and_brackets_as_people_write_them() -> None:
    for host in ("fe80::1%eth0", "[fe80::1%eth0]"):
        uri = tenure.uri.mysql(host=host, database="d", table="t")
        assert str(uri) == "mysql://[fe80::1%25eth0]:3306/d/t"
        assert uri.denotes["host"] == "fe80::1%eth0"


@pytest.mark.parametrize("key", [None, b"k", True, 1.5])
def test_builders_refuse_what_is_no_text(key: object) -> None:
    with pytest.raises(InvalidURI, match="is a text, not"):
        tenure.uri.s3(bucket="b", key=key)  # type: ignore[arg-type]


def test_builders_refuse_relative_paths_and_halves_of_pairs() -> None:
    for build in (
        lambda: tenure.uri.file(path="a/b"),
        lambda: tenure.uri.sqlite(database=":memory:", table="t"),
        lambda: from_openlineage("file", "a"),
        lambda: tenure.uri.s3(bucket="b", key="\ud800"),
        lambda: from_openlineage("bigquery", "a.b.\ud800"),
    ):
        with pytest.raises(InvalidURI):
            build()


def test_paths_keep_their_slashes_before_a_name() -> None:
    uri = parse("sqlite:///a//t")
    assert uri.denotes["database"] == "/a/"
    assert tenure.uri.sqlite(**uri.denotes) == from_openlineage(*uri.openlineage) == uri


@pytest.mark.parametrize("text", [None, b"s3://b/k", 5])
def test_what_is_no_text_is_a_type_error(text: object) -> None:
    for read in (parse, canonical):
        with pytest.raises(TypeError, match="A URI is a text"):
            read(text)  # type: ignore[arg-type]


def test_builders_say_what_cannot_be_written() -> None:
    for build, said in (
        (lambda: tenure.uri.s3(bucket="a/b", key="k"), "cannot carry"),
        (lambda: tenure.uri.s3(bucket="", key="k"), "bucket"),
        (lambda: tenure.uri.postgres(host="h", port=70000, database="d", schema="s", table="t"), "port"),
        (lambda: tenure.uri.postgres(host="h", database="d", schema="", table="t"), "empty"),
        (lambda: tenure.uri.postgres(host="me:pw@h", database="d", schema="s", table="t"), "cannot carry"),
        (lambda: tenure.uri.iceberg(namespace="n", name="Bad Name"), "match"),
    ):
        with pytest.raises(InvalidURI, match=said):
            build()


def test_builders_encode_even_control_characters() -> None:
    assert str(tenure.uri.s3(bucket="b", key="a\nb\x00")) == "s3://b/a%0Ab%00"


def test_builders_fill_in_what_is_usual() -> None:
    assert str(tenure.uri.mysql(host="H", database="d", table="a/b %")) == "mysql://h:3306/d/a%2Fb%20%25"
    assert str(tenure.uri.file(path="/a b/")) == "file://localhost/a%20b"
    assert (
        str(tenure.uri.postgres(host="::1", database="d", schema="s", table="t"))
        == "postgres://[::1]:5432/d/s/t"
    )


@pytest.mark.parametrize(
    ("namespace", "name", "canonical_text"),
    [
        ("s3a://b", "k/1", "s3://b/k/1"),
        ("postgres://me:pw@h:5432", "d.s.t", "postgres://h:5432/d/s/t"),
        ("postgres://h", "d.s.t", "postgres://h:5432/d/s/t"),
        ("hdfs://nn", "a/b", "hdfs://nn:8020/a/b"),
        ("file", "/a#b", "file://localhost/a%23b"),
    ],
)
def test_names_of_other_producers_are_read(namespace: str, name: str, canonical_text: str) -> None:
    assert from_openlineage(namespace, name).canonical == canonical_text


@pytest.mark.parametrize(
    ("namespace", "name", "said"),
    [
        ("inmemory://", "t", "No known scheme"),
        ("postgres://h:5432", "d.t", "not of the form {database}.{schema}.{table}"),
        ("postgres://h:5432", "d.s.a.b", "not of the form"),
        ("postgres://h:5432", 'd.s."a"b', "follows a quoted part"),
        ("hive://h", "d.t", "no default port"),
        ("s3://a#b", "k", "cannot carry"),
    ],
)
def test_names_that_fit_no_store_are_refused(namespace: str, name: str, said: str) -> None:
    with pytest.raises(InvalidURI, match=said.replace("{", r"\{")):
        from_openlineage(namespace, name)


def test_the_examples_in_the_documentation_are_true() -> None:
    failed, tried = doctest.testfile(str(DOCUMENTATION), module_relative=False)
    assert (failed, tried > 0) == (0, True)


def test_the_documentation_names_every_scheme() -> None:
    text = DOCUMENTATION.read_text()
    assert all(f"`{name}`" in text for name in SCHEMES.by_name)


def test_importing_it_loads_the_standard_library_alone() -> None:
    program = (
        "import sys; before = set(sys.modules); import tenure.uri; "
        "names = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(names - sys.stdlib_module_names - {'tenure'}))"
    )
    assert subprocess.check_output([sys.executable, "-S", "-c", program], text=True).strip() == "[]"


def test_every_version_of_python_gives_the_same_result() -> None:
    """The digest was computed with Python 3.11, 3.12 and 3.13, whose Unicode differs."""
    digest = hashlib.sha256()
    for code in (*range(0x20, 0x2000), *range(0x2000, 0x30000, 17)):
        for form in (
            "mysql://a{0}b/d/t",
            "s3://a{0}b/k",
            "snowflake://a{0}b/d/s/t",
            "file:///a{0}b?{0}=1&a=2",
            "{0}",
        ):
            try:
                said = canonical(form.format(chr(code)))
            except InvalidURI as error:
                said = error.detail
            digest.update(f"{said}\n".encode())
    assert digest.hexdigest() == "ee127c836799b85b026fe0fe942544ddec115b1340fd4dda8f03f2cb12ce5534"
