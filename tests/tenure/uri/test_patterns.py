"""Patterns over URIs, each rule of them, and the index that finds those that match."""

from __future__ import annotations

import copy
import pickle
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import InvalidURI
from tenure.uri import parse
from tenure.uri.pattern_index import URIPatternIndex
from tenure.uri.patterns import URIPattern, Wild


def matches(pattern: str, uri: str) -> bool:
    """Whether the pattern of a text matches, by itself and in an index."""
    made, parsed = URIPattern(pattern), parse(uri)
    found = made.matches(parsed)
    assert URIPatternIndex([made]).matching(parsed) == [made] * found
    assert (made.captures(parsed) is not None) == found
    return found


def refusal(pattern: str) -> str:
    """Why a text is no pattern."""
    with pytest.raises(InvalidURI) as refused:
        URIPattern(pattern)
    return str(refused.value)


# One part


def test_plain_text_matches_itself_alone() -> None:
    assert matches("s3://bucket/orders/a", "s3://bucket/orders/a")
    for other in (
        "s3://bucket/orders",
        "s3://bucket/orders/b",
        "s3://bucket/orders/a/b",
        "s3://bucke/orders/a",
    ):
        assert not matches("s3://bucket/orders/a", other)


def test_a_question_mark_is_one_character() -> None:
    assert matches("s3://b/day=??", "s3://b/day=07")
    assert matches("s3://b/day=??", "s3://b/day=%C3%A97")
    for other in ("day=7", "day=007", "day=", "dax=07", "day=0/7"):
        assert not matches("s3://b/day=??", f"s3://b/{other}")


def test_a_star_is_any_number_of_characters() -> None:
    for part in ("part-.csv", "part-7.csv", "part-7.csv.csv"):
        assert matches("s3://b/part-*.csv", f"s3://b/{part}")
    for part in ("part.csv", "part-7.csv2", "apart-7.csv"):
        assert not matches("s3://b/part-*.csv", f"s3://b/{part}")


def test_a_star_stays_within_one_part() -> None:
    assert matches("s3://b/*/c", "s3://b/a/c")
    assert not matches("s3://b/*/c", "s3://b/a/a/c")
    assert not matches("s3://b/a*c", "s3://b/a/c")


def test_an_encoded_slash_is_a_character_like_others() -> None:
    assert matches("s3://b/a*c", "s3://b/a%2Fc")
    assert matches("s3://b/a%2fc", "s3://b/a%2Fc")
    assert not matches("s3://b/a%2Fc", "s3://b/a/c")


def test_a_star_matches_an_empty_part_but_not_a_missing_one() -> None:
    assert matches("s3://b/a/*/c", "s3://b/a//c")
    assert not matches("s3://b/a/*", "s3://b/a/")
    assert not matches("s3://b/a/{x}/c", "s3://b/a//c")
    assert not matches("s3://b/*", "s3://b")


def test_what_begins_and_what_ends_a_part_may_not_overlap() -> None:
    assert matches("s3://b/aba*aba", "s3://b/abaaba")
    assert not matches("s3://b/aba*aba", "s3://b/ababa")
    assert not matches("s3://b/aba*b*aba", "s3://b/abaaba")


@pytest.mark.parametrize("wild", ["a*", "a?b", "a{x}b", "*b*"])
def test_wildcards_match_newlines(wild: str) -> None:
    assert matches(f"s3://b/{wild}", "s3://b/a%0Ab")
    assert not matches("s3://b/a*b", "s3://b/a%0Ab%0A")


# Many parts


def test_two_stars_are_any_number_of_parts() -> None:
    for path in ("orders", "orders/", "orders/a", "orders//a", "orders/a/b/c"):
        assert matches("s3://b/orders/**", f"s3://b/{path}")
    assert not matches("s3://b/orders/**", "s3://b/orders2/a")
    assert matches("s3://b/**", "s3://b")


def test_two_stars_may_stand_anywhere_and_often() -> None:
    pattern = "s3://b/**/year=*/**/day=*/*.csv"
    assert matches(pattern, "s3://b/year=1/day=1/a.csv")
    assert matches(pattern, "s3://b/x/year=1/year=2/y/day=1/day=2/a.csv")
    assert not matches(pattern, "s3://b/day=1/year=1/a.csv")
    assert not matches(pattern, "s3://b/year=1/day=1/x/a.csv")
    assert not matches("s3://b/a/**/a", "s3://b/a")


def test_two_stars_in_a_row_are_one_of_them() -> None:
    assert URIPattern("s3://b/**/**/a/**/**").text == "s3://b/**/a/**"


# Captures


def test_captures_are_read_by_name() -> None:
    pattern = URIPattern("s3://{bucket}/orders/{region}/day={day}/**")
    assert pattern.captures("s3a://shop/orders/eu%20west/day=07/a/b") == {
        "bucket": "shop",
        "region": "eu west",
        "day": "07",
    }
    assert pattern.captures("s3://shop/orders/eu") is None


def test_a_pattern_without_captures_captures_nothing() -> None:
    assert URIPattern("s3://b/*/?").captures("s3://b/a/b") == {}


def test_a_capture_is_one_character_or_more() -> None:
    assert matches("s3://b/a{x}c", "s3://b/abc")
    assert not matches("s3://b/a{x}c", "s3://b/ac")


def test_captures_take_as_little_as_they_can_from_left_to_right() -> None:
    assert URIPattern("s3://b/{x}-{y}").captures("s3://b/a-b-c") == {"x": "a", "y": "b-c"}
    assert URIPattern("s3://b/*{x}*{y}").captures("s3://b/abc") == {"x": "a", "y": "bc"}
    assert URIPattern("s3://b/**/{x}/**/{y}").captures("s3://b/a/b/c") == {"x": "a", "y": "c"}


def test_captures_after_two_stars_belong_to_the_parts_that_match() -> None:
    pattern = URIPattern("s3://b/**/year={year}/**/{file}.csv")
    assert pattern.captures("s3://b/x/year=1/year=2/y/a.csv") == {"year": "1", "file": "a"}


def test_the_names_of_captures_tell_patterns_apart_in_the_index_too() -> None:
    index = URIPatternIndex([URIPattern("s3://b/{x}"), URIPattern("s3://b/{y}")])
    assert [each.text for each in index.matching("s3://b/a")] == ["s3://b/{x}", "s3://b/{y}"]


# Spellings


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("S3A://b/*", "s3://b/*"),
        ("gs://b/*", "gcs://b/*"),
        ("postgresql://DB/shop/public/*", "postgres://db:5432/shop/public/*"),
        ("s3://b", "s3://b/"),
        ("s3://b/a/**//", "s3://b/a/**"),
        ("s3://b/%7e/%41/é/ ", "s3://b/~/A/%C3%A9/%20"),
        ("s3://b/%2a%3f%7b%7d%40", "s3://b/%2A%3F%7B%7D%40"),
        ("s3://b/50%/@*", "s3://b/50%25/%40*"),
        ("s3://b//a/*", "s3://b//a/*"),
        ("file:///data/*", "file://localhost/data/*"),
        ("file://*/data", "file://*/data"),
        ("hdfs://[::1]/a@*", "hdfs://[::1]:8020/a%40*"),
        ("postgres://*.Example.COM/shop/**", "postgres://*.example.com:5432/shop/**"),
        ("postgres://{Host}/shop/**", "postgres://{Host}:5432/shop/**"),
        ("postgres://DB:*/shop/**", "postgres://db:*/shop/**"),
        ("postgres://*:05432/shop/**", "postgres://*:5432/shop/**"),
        ("postgres://[::0:1]:54??/shop/**", "postgres://[::1]:54??/shop/**"),
        ("postgres://bücher.de:*/shop/**", "postgres://xn--bcher-kva.de:*/shop/**"),
        ("abfss://Raw*@Account*.dfs.core.windows.net/**", "abfss://Raw*@account*.dfs.core.windows.net/**"),
        ("snowflake://Org-*.snowflakecomputing.com/**", "snowflake://org-*/**"),
        ("awsathena://athena.{Region}.amazonaws.com/**", "athena://{Region}/**"),
        ("s3://Bucket-*/**", "s3://Bucket-*/**"),
    ],
)
def test_every_spelling_has_one_canonical_text(typed: str, text: str) -> None:
    assert URIPattern(typed).text == text
    assert URIPattern(text).text == text
    assert URIPattern(typed) == URIPattern(text)


def test_plain_text_is_compared_decoded() -> None:
    assert matches("s3://b/%7E/%41*", "s3://b/~/AB")
    assert matches("s3://b/~/A*", "s3://b/%7e/%41B")
    assert matches("s3://b/@*", "s3://b/%40a")


@pytest.mark.parametrize("character", "*?{}")
def test_a_wildcard_that_is_encoded_is_plain_text(character: str) -> None:
    code = quote(character, safe="")
    assert matches(f"s3://b/x{code}{code}*", f"s3://b/x{code}{code}y")
    assert not matches(f"s3://b/x{code}{code}", "s3://b/xyy")
    assert matches(f"s3://b/{code}{code}", f"s3://b/{code}{code}")
    assert not matches(f"s3://b/{code}{code}", "s3://b/a/b")


def test_a_pattern_matches_whatever_the_query() -> None:
    assert matches("mysql://h/shop/*", "mysql://h/shop/orders?charset=utf8")
    assert matches("s3://b/orders", "s3://b/orders?versionId=7")
    assert not matches("s3://b/orders?versionId=7", "s3://b/orders?versionId=7")


def test_user_and_password_are_dropped() -> None:
    pattern = URIPattern("postgres://me:s3*?{r}et@*.example.com/shop/**")
    assert pattern.text == "postgres://*.example.com:5432/shop/**"
    assert "s3*" not in repr(pattern)
    assert URIPattern("s3://{user}:{password}@{bucket}/a").captures("s3://b/a") == {"bucket": "b"}


# Before the path


def test_wildcards_stand_for_buckets() -> None:
    assert matches("s3://shop-*/a", "s3://shop-eu/a")
    assert not matches("s3://shop-*/a", "s3://store-eu/a")
    assert not matches("s3://*/a", "s3://shop/b/a")


def test_a_host_that_is_a_wildcard_has_the_default_port() -> None:
    assert matches("postgres://*/shop/public/*", "postgres://db/shop/public/orders")
    assert matches("postgres://*/shop/public/*", "postgres://[::1]:5432/shop/public/orders")
    assert not matches("postgres://*/shop/public/*", "postgres://db:5433/shop/public/orders")
    assert matches("postgres://*:*/shop/public/*", "postgres://db:5433/shop/public/orders")


def test_wildcards_reach_across_no_port_and_no_container() -> None:
    pattern = URIPattern("postgres://{host}:{port}/**")
    assert pattern.captures("postgres://[::5]:99/a/b/c") == {"host": "[::5]", "port": "99"}
    assert not matches("postgres://*:5*/**", "postgres://[::5]:99/a/b/c")
    container = URIPattern("abfss://{container}@{account}.dfs.core.windows.net/**")
    assert container.captures("abfss://raw@Me.dfs.core.windows.net/a") == {
        "container": "raw",
        "account": "me",
    }


def test_hosts_are_compared_in_lower_case_and_buckets_as_they_are() -> None:
    assert matches("postgres://DB*/shop/**", "postgres://Db1/shop/a/b")
    assert matches("s3://Shop*/**", "s3://Shop1/a")
    assert not matches("s3://Shop*/**", "s3://shop1/a")


def test_nothing_is_decoded_before_the_path() -> None:
    assert matches("s3://b%2A*/a", "s3://b%2Ac/a")
    assert not matches("s3://b%2A*/a", "s3://b*c/a")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("s3:///a/*", "it names no bucket"),
        ("postgres:///shop/**", "it names no host"),
        ("postgres://*:5x*/shop/**", "its port holds more than digits and wildcards"),
        ("postgres://*:70000/shop/**", "its port is not a number from 1 to 65535"),
        ("postgres://[::*]/shop/**", "there is no IPv6 address in the brackets of its host"),
        ("postgres://bü*/shop/**", "a host with wildcards is written in ASCII"),
        ("postgres://a b*/shop/**", "its host holds characters that no host name has"),
        ("file://*:80/a", "its host holds characters that no host name has"),
        ("abfss://*/a", "it names no container and account, as in *@account.host"),
        ("abfss://a:*@*/a", "a container's name holds none of : [ ]"),
        ("s3://[*]/a", "brackets before its path hold no IPv6 address"),
        ("s3://*／/a", "a character before its path only looks like"),
        ("s3://a**/b", "** stands for whole parts of the path"),
        ("s3://**/b", "** stands for whole parts of the path"),
    ],
)
def test_an_authority_that_no_uri_has_is_refused(pattern: str, reason: str) -> None:
    assert reason in refusal(pattern)


# Bad patterns


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "it does not begin with a scheme and //"),
        ("orders/*", "it does not begin with a scheme and //"),
        ("file:/data/*", "it does not begin with a scheme and //"),
        ("*://b/a", "it does not begin with a scheme and //"),
        ("s3://", "nothing follows its scheme"),
        ("foo://b/*", "its scheme is not one that Tenure knows"),
        ("airflow://b/*", "reserved by AIP-60"),
        ("x-me://b/*", "schemes that begin with x- are never interpreted"),
        ("s3://b/a**", "** stands for whole parts of the path"),
        ("s3://b/***", "** stands for whole parts of the path"),
        ("s3://b/{a", "its braces are not balanced"),
        ("s3://b/a}", "its braces are not balanced"),
        ("s3://b/{a/b}", "its braces are not balanced"),
        ("s3://b/{a{b}}", "its braces are not balanced"),
        ("s3://b/{}", "the name of a capture"),
        ("s3://b/{1a}", "the name of a capture"),
        ("s3://b/{a-b}", "the name of a capture"),
        ("s3://b/{é}", "the name of a capture"),
        ("s3://b/{a}/{b}/x{a}", "it captures {a} more than once"),
        ("s3://{a}/{a}", "it captures {a} more than once"),
        ("s3://b/a#b", "write %23 for a # that belongs to a name"),
        ("s3://b/a?X-Amz-Signature=secret", "it has no query"),
        ("s3://b/a?x=1&token=secret", "it has no query"),
        ("s3://b/%FF*", "not UTF-8"),
        ("s3://b/%C3{x}", "not UTF-8"),
        ("s3://b/\n*", "Character 8 of the URI is U+000A, a control character"),
        ("s3://me:pa/ss@b/*", "it seems to begin with a user and a password"),
        ("postgres://me:1*/ss@h/a/b/c", "it seems to begin with a user and a password"),
    ],
)
def test_a_text_that_is_no_pattern_is_refused_with_the_reason(pattern: str, reason: str) -> None:
    assert reason in refusal(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "s3://me:secret@b/{a",
        "foo://me:secret@b",
        "s3://me:{secret}/{secret}@b",
        "postgres://h:secret*/x",
        "s3://b/{se-cret}",
    ],
)
def test_no_reason_quotes_the_pattern(pattern: str) -> None:
    assert "secret" not in refusal(pattern)
    assert "se-cret" not in refusal(pattern)


def test_a_pattern_is_as_short_as_a_uri() -> None:
    longest = f"s3://b/{'*a' * 2044}*"
    assert len(URIPattern(longest).text) == 4096
    assert "at most 4096" in refusal(f"{longest}a")
    assert "at most 4096" in refusal(f"s3://b/{'é' * 700}*")


@pytest.mark.parametrize(
    ("pattern", "form"),
    [
        ("postgres://*/shop/*", "/{database}/{schema}/{table}"),
        ("postgres://*/shop/public/orders/*", "/{database}/{schema}/{table}"),
        ("postgres://*/a/b/**/c/d", "/{database}/{schema}/{table}"),
        ("postgres://h", "/{database}/{schema}/{table}"),
        ("kafka://*/a/*", "/{topic}"),
        ("duckdb:///schema/*", "/{database}/{schema}/{table}"),
    ],
)
def test_a_path_that_no_uri_of_the_scheme_has_is_refused(pattern: str, form: str) -> None:
    assert f"its path is not of the form {form}" in refusal(pattern)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("kafka://*/a b", "a name in its path does not match"),
        ("iceberg://*/Orders", "a name in its path does not match"),
        ("postgres://*/shop//orders", "a name in its path is empty"),
        ("duckdb:///**/main//orders", "a name in its path is empty"),
    ],
)
def test_a_name_that_no_uri_of_the_scheme_has_is_refused(pattern: str, reason: str) -> None:
    assert reason in refusal(pattern)


def test_two_stars_stand_for_any_names() -> None:
    table = "postgres://db/shop/public/orders"
    for path in ("**", "shop/**", "**/orders", "shop/**/orders", "shop/public/orders/**", "**/*/public/*"):
        assert matches(f"postgres://db/{path}", table)
    assert matches("duckdb:///data//x/**", "duckdb:///data//x/y.db/main/orders")


# Patterns as objects


def test_patterns_are_equal_by_their_canonical_text() -> None:
    one, same, other = URIPattern("s3a://b/*"), URIPattern("s3://b/*/"), URIPattern("s3://b/{x}")
    assert one == same and hash(one) == hash(same) and one != other
    assert len({one, same, other}) == 2
    assert repr(one) == "URIPattern(text='s3://b/*')"


def test_a_pattern_does_not_change() -> None:
    with pytest.raises(AttributeError):
        URIPattern("s3://b/*").text = "s3://c/*"  # type: ignore[misc]


def test_a_pattern_survives_pickling_and_copying() -> None:
    pattern = URIPattern("postgres://{host}/**/a?{x}")
    for again in (pickle.loads(pickle.dumps(pattern)), copy.deepcopy(pattern)):  # noqa: S301
        assert again == pattern
        assert again.captures("postgres://db/s/p/abc") == {"host": "db", "x": "c"}


def test_uris_are_taken_parsed_or_as_text() -> None:
    pattern = URIPattern("s3://b/*")
    assert pattern.matches("S3A://b/a") and pattern.matches(parse("S3A://b/a"))
    assert URIPatternIndex([pattern]).matching(parse("s3n://b/a/")) == [pattern]


@pytest.mark.parametrize("text", ["orders", "x-me://b/a", "s3://", "foo://b/a", "postgres://h/a"])
def test_no_pattern_matches_a_literal(text: str) -> None:
    assert not URIPattern("s3://*/**").matches(text)
    assert URIPattern("s3://*/**").captures(text) is None
    assert URIPatternIndex([URIPattern("s3://*/**"), URIPattern("postgres://*/**")]).matching(text) == []


def test_a_text_that_is_no_uri_at_all_is_refused() -> None:
    for ask in (URIPattern("s3://b/*").matches, URIPattern("s3://b/*").captures, URIPatternIndex().matching):
        with pytest.raises(InvalidURI):
            ask("s3://b/\n")


def test_another_scheme_never_matches() -> None:
    assert not matches("s3://b/**", "gs://b/a")


# However long: each of these would not end in a lifetime if a wildcard were tried again and again


def test_many_stars_on_a_long_part_are_soon_done() -> None:
    uri = f"s3://b/{'a' * 4000}"
    assert not matches(f"s3://b/{'*a' * 1000}*b", uri)
    assert not matches(f"s3://b/{'*a' * 1000}*b*", uri)
    assert not matches(f"s3://b/{'*?a' * 1000}*b", uri)
    assert matches(f"s3://b/{'*a' * 1000}*", uri)


def test_many_captures_on_a_long_part_are_soon_done() -> None:
    captures = "".join(f"{{c{number}}}a" for number in range(500))
    assert not matches(f"s3://b/{captures}b", f"s3://b/{'a' * 4000}")
    assert matches(f"s3://b/{captures}", f"s3://b/{'a' * 4000}")


def test_many_double_stars_on_a_long_path_are_soon_done() -> None:
    uri = f"s3://b{'/a' * 1000}"
    assert not matches(f"s3://b{'/**/a' * 100}/**/b", uri)
    assert not matches(f"s3://b{'/**/*' * 100}/b/**", uri)
    assert matches(f"s3://b{'/**/?' * 100}/**", uri)


# The index


def test_the_index_finds_all_patterns_that_match_sorted_by_text() -> None:
    texts = [
        "s3://b/**",
        "s3://b/orders/*",
        "s3://*/orders/7",
        "s3://b/orders/7",
        "s3://{b}/**/7",
        "s3://c/**",
        "gs://b/**",
    ]
    index = URIPatternIndex(map(URIPattern, texts))
    assert [each.text for each in index.matching("s3://b/orders/7")] == [
        "s3://*/orders/7",
        "s3://b/**",
        "s3://b/orders/*",
        "s3://b/orders/7",
        "s3://{b}/**/7",
    ]
    assert index.matching("hdfs://b/orders/7") == []


def test_the_index_is_a_set_in_the_order_in_which_patterns_came() -> None:
    first, second, third = map(URIPattern, ("s3://b/z", "s3://b/*", "s3://b/a"))
    index = URIPatternIndex([first, second])
    index.add(third)
    index.add(URIPattern("s3a://b/z/"))
    assert list(index) == [first, second, third] and len(index) == 3
    assert second in index and URIPattern("s3://b/?") not in index and "s3://b/*" not in index


def test_a_discarded_pattern_is_found_no_longer() -> None:
    one, other = URIPattern("s3://b/in-{x}/**"), URIPattern("s3://b/in-{y}/**")
    index = URIPatternIndex([one, other])
    index.discard(one)
    index.discard(one)
    index.discard(URIPattern("gs://b/**"))
    assert index.matching("s3://b/in-7/a") == [other]
    assert one not in index and len(index) == 1
    index.add(one)
    assert index.matching("s3://b/in-7/a") == [one, other]


def test_discarding_leaves_no_empty_nodes() -> None:
    texts = [
        "s3://b/a/b/c",
        "s3://b/a*c*/**/x",
        "s3://*/**",
        "postgres://*/{x}/**",
        "s3://b/a",
        "s3://b/a*d*/?",
    ]
    index = URIPatternIndex(map(URIPattern, texts))
    only = URIPatternIndex([URIPattern("s3://b/a")])
    for text in texts:
        if text != "s3://b/a":
            index.discard(URIPattern(text))
    assert nodes(index) == nodes(only) == 3
    index.discard(URIPattern("s3://b/a"))
    assert nodes(index) == 0


def nodes(index: URIPatternIndex) -> int:
    """How many nodes an index holds."""
    waiting, count = list(index._roots.values()), 0
    while waiting:
        node = waiting.pop()
        count += 1
        waiting += node.exact.values()
        waiting += [node.deep] if node.deep else []
        for group in node.wild.groups.values() if node.wild else ():
            waiting += group.values()
    return count


@pytest.mark.parametrize(
    ("form", "uri"),
    [
        ("s3://b/in/customer-%d-*/**", "s3://b/in/customer-77-eu/a/b"),
        ("s3://b/in/*-%d.csv", "s3://b/in/eu-77.csv"),
        ("s3://b/in/a*-%d-*z", "s3://b/in/a-77-z"),
        ("s3://b/**/{x}-%d-{y}/*", "s3://b/a/b/x-77-y/c"),
        ("s3://bucket-%d-{x}/**", "s3://bucket-77-x/a"),
        ("postgres://*.db%d.example.com:*/**", "postgres://a.db77.example.com/a/b/c"),
        ("s3://b/**/customer-%d/**", "s3://b/a/customer-77/c"),
    ],
)
def test_a_lookup_tries_few_of_many_patterns(form: str, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    index = URIPatternIndex(URIPattern(form % number) for number in range(5000))
    really, tried = Wild.matches, []

    def counted(piece: Wild, text: str) -> bool:
        tried.append(text)
        return really(piece, text)

    monkeypatch.setattr(Wild, "matches", counted)
    assert index.matching(uri) == [URIPattern(form % 77)]
    assert len(tried) <= 8


# What holds for all patterns: against a model that tries everything

Tokens = list[tuple[str, str]]
CHARACTERS = ["a", "a", "a", "b", "b", "*", "?", "{", "é", "\n", "/", "%", "@"]
TOKEN = st.sampled_from(
    [*(("text", each) for each in CHARACTERS), *(("wild", each) for each in ("*", "?", "{}") * 2)]
)


def without_double_stars(tokens: Tokens) -> Tokens:
    """The tokens with one star for each row of them."""
    return [
        token for at, token in enumerate(tokens) if token != ("wild", "*") or tokens[at - 1 : at] != [token]
    ]


def without_final_slashes(parts: list[Tokens | None]) -> list[Tokens | None]:
    """The parts without empty ones at the end, which no URI has."""
    while parts and parts[-1] == []:
        parts = parts[:-1]
    return parts


TOKENS = st.lists(TOKEN, max_size=6).map(without_double_stars)
PATHS = st.lists(st.one_of(TOKENS, TOKENS, st.none()), max_size=5).map(without_final_slashes)
AUTHORITIES = st.sampled_from(["b", "b", "b", "c", "?", "*", "b*", "{bucket}"])
URIS = st.builds(
    lambda bucket, parts: f"s3://{bucket}/" + "/".join(quote(part, safe="") for part in parts).rstrip("/"),
    st.sampled_from(["b", "b", "c", "bc"]),
    st.lists(st.one_of(st.text("ab", max_size=4), st.text(CHARACTERS, max_size=4)), max_size=6),
)


def written(parts: list[Tokens | None]) -> str:
    """The text of a path of which the model knows what it means."""
    names = iter(range(100))

    def token(kind: str, text: str) -> str:
        if kind == "text":
            return quote(text, safe="")
        return f"{{c{next(names)}}}" if text == "{}" else text

    return "/".join("**" if part is None else "".join(token(*each) for each in part) for part in parts)


def model_part(tokens: Tokens, text: str) -> bool:
    """Whether tokens match a part, trying all that can be tried."""
    if not tokens:
        return not text
    (kind, first), rest = tokens[0], tokens[1:]
    if kind == "text" or first == "?":
        return bool(text) and (kind == "wild" or text[0] == first) and model_part(rest, text[1:])
    return any(model_part(rest, text[size:]) for size in range(first == "{}", len(text) + 1))


def model_path(parts: list[Tokens | None], texts: tuple[str, ...]) -> bool:
    """Whether parts match a path, trying all that can be tried."""
    if not parts:
        return not texts
    if parts[0] is None:
        return any(model_path(parts[1:], texts[size:]) for size in range(len(texts) + 1))
    return bool(texts) and model_part(parts[0], texts[0]) and model_path(parts[1:], texts[1:])


@given(parts=PATHS, uri=URIS)
def test_a_pattern_matches_what_trying_everything_finds(parts: list[Tokens | None], uri: str) -> None:
    pattern, parsed = URIPattern(f"s3://*/{written(parts)}"), parse(uri)
    assert pattern.matches(parsed) == model_path(parts, parsed.parts)
    assert (pattern.captures(parsed) is not None) == model_path(parts, parsed.parts)


@given(parts=PATHS)
def test_a_canonical_text_is_its_own(parts: list[Tokens | None]) -> None:
    pattern = URIPattern(f"s3://{{bucket}}/{written(parts)}")
    assert URIPattern(pattern.text).text == pattern.text
    assert URIPattern(pattern.text).runs == pattern.runs


@given(tokens=TOKENS, text=st.text("ab", max_size=8))
def test_captures_are_those_of_a_plain_expression_that_tries_everything(tokens: Tokens, text: str) -> None:
    lazy = {"?": "(.)", "*": "(.*?)", "{}": "(?P<c%d>.+?)"}
    expression, count = "", 0
    for kind, each in tokens:
        expression += (
            re.escape(each) if kind == "text" else lazy[each] % count if each == "{}" else lazy[each]
        )
        count += each == "{}"
    expected = re.fullmatch(expression, text, re.DOTALL)
    found = URIPattern(f"s3://b/x/-{written([tokens])}").captures(f"s3://b/x/-{text}")
    assert found == (expected and expected.groupdict())


@given(
    patterns=st.lists(
        st.builds(
            lambda authority, parts: URIPattern(f"s3://{authority}/{written(parts)}"), AUTHORITIES, PATHS
        )
    ),
    uris=st.lists(URIS, min_size=1, max_size=5),
    kept=st.integers(0, 5),
)
def test_the_index_finds_what_trying_each_pattern_finds(
    patterns: list[URIPattern], uris: list[str], kept: int
) -> None:
    index = URIPatternIndex(patterns)
    for uri in uris:
        assert index.matching(uri) == tried(set(patterns), uri)
    for pattern in patterns[kept:]:
        index.discard(pattern)
    left = set(patterns) - set(patterns[kept:])
    for uri in uris:
        assert index.matching(uri) == tried(left, uri)
    assert nodes(index) == nodes(URIPatternIndex(left))


def tried(patterns: set[URIPattern], uri: str) -> list[URIPattern]:
    """The patterns that match, each of them tried."""
    return sorted((each for each in patterns if each.matches(uri)), key=lambda pattern: pattern.text)
