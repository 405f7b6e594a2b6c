"""YAML in, data and places out; and everything that YAML can be instead."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cdk_trainyard.deployment._document import Place, read_document
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.tokens import Unknown

FILE = "deployments/x.yaml"
NO_TEMPLATE = "nothing is put in its place, write the value itself"
UNTIL_KNOWN = "an app of CDK writes this until it knows one"

NO_BLANK = "is no blank to the file's reader; indent with spaces"
LIKE_A_BLANK = "which looks like one; write a blank"
TOO_DEEP = "it is indented below a key that has a value; align it with its neighbors, or remove that value"
MERGE_ALL = "write one, as '<<: [*one, *other]'"
ONE_OF_BOTH = "begin it with '- ', or write a key instead of each item"
BELOW_A_KEY = "indent it below the key that it is of, or write a key"
CONFLICT = "<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n"
NO_ENGINE = "engine, which does not run here; check what it makes of it"
MARKERS = "'<<<<<<<', '=======' and '>>>>>>>'; choose one of both and remove them"
EN_DASH = "\u2013"
QUOTE_ALL = "put all of it in quotes"
ALL_OF_IT = f"ends where that is closed; {QUOTE_ALL}"
TOO_MUCH = "a ',' stands only between values in brackets; remove it, and write each key on a line of its own"
NO_FUNCTIONS = "write what the function of CloudFormation would give"
NO_TAGS = "write the value itself, and text that begins with '!' in quotes"
ONE_PAIR = "put all of it into one pair of quotes"

FENCE = "this is a fence of Markdown; leave"
MAIL = "'>' is the sign of a quoted mail; leave it out of every line"
NO_YAML = "a deployment file is YAML ('name: …', 'region: …')"
SCRIPT = f"this looks like a script; {NO_YAML}"
ASSIGNED = f"this looks like HCL, INI or TOML; {NO_YAML}"
UNKNOWN_ESCAPE = "unknown escape in double quotes; use single quotes or double the backslash"

NO_COLON = "a key needs ': ' after it, as in 'name: value'"
WIDE_COLON = "'\uff1a' is U+FF1A (FULLWIDTH COLON); write ': '"
COMMENT = "a comment begins with '#', got '//'; write '# …', or put the value in quotes"


def problems_of(text: str) -> list[str]:
    """Everything that is said about ``text``, whether it could be read or not."""
    try:
        document = read_document(text, FILE)
        document.refuse(list(document.problems))
    except ConfigurationError as error:
        return list(error.problems)
    return []


def test_every_key_and_value_has_its_place() -> None:
    document = read_document("name: cpu\nnetwork:\n  zones: [a, b]\n  zone: 'use1-az4' # here\n", FILE)
    assert document.data == {"name": "cpu", "network": {"zones": ("a", "b"), "zone": "use1-az4"}}
    assert document.place(("name",)) == Place(line=1, column=7)
    assert document.place(("network", "zone")) == Place(line=4, column=9)
    assert document.place(("network", "zones", 1)) == Place(line=3, column=14)
    assert document.at(("network",)) == f"{FILE}:2:1"


def test_what_the_file_lacks_is_looked_for_in_its_section() -> None:
    document = read_document("name: cpu\ncluster:\n  groups:\n    workers:\n      count: 2\n", FILE)
    assert document.at(("cluster", "groups", "workers", "instance_type")) == f"{FILE}:4:5"
    assert document.at(("storage", "lustre")) == f"{FILE}:1:1"


def test_scalars_are_read_as_editors_read_them() -> None:
    text = "a: on\nb: 1:30\nc: 2026-11-20\nd: 0o17\ne: 010\nf: 1_000\n"
    text += "g: .5\nh: -3\ni: TRUE\nj: .inf\nk: 1e3\nl: '5'\n1: x\n"
    assert read_document(text, FILE).data == {
        "a": "on",
        "b": "1:30",
        "c": "2026-11-20",
        "d": "0o17",
        "e": 10,
        "f": "1_000",
        "g": 0.5,
        "h": -3,
        "i": True,
        "j": ".inf",
        "k": 1000.0,
        "l": "5",
        "1": "x",
    }


def test_what_has_no_value_in_a_list_keeps_its_place() -> None:
    document = read_document("a: [1, ~, 2]", FILE)
    one, nothing, two = document.data["a"]
    assert (one, type(nothing), two) == (1, Unknown, 2)
    assert document.at(("a", 2)) == f"{FILE}:1:11"


def test_numbers_beyond_every_count_stay_text() -> None:
    assert read_document(f"a: {'9' * 4300}", FILE).data == {"a": "9" * 4300}


def test_aliases_and_merge_keys_repeat_what_stands_elsewhere() -> None:
    text = "a: &a {type: x, count: 1}\nb:\n  <<: *a\n  count: 2\nc: *a\nd: {<<: [*a, {type: z, more: 1}]}\n"
    document = read_document(text, FILE)
    assert document.data == {
        "a": {"type": "x", "count": 1},
        "b": {"type": "x", "count": 2},
        "c": {"type": "x", "count": 1},
        "d": {"type": "x", "count": 1, "more": 1},
    }
    assert document.at(("b", "count")) == f"{FILE}:4:10"
    assert document.at(("b", "type")) == f"{FILE}:1:14"
    assert document.at(("c",)) == f"{FILE}:5:1"


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("a: 1\n\tb: 2\n", "2:1", "a tab stands where the file's reader wants spaces; indent with spaces"),
        ('{\n\t"a": 1\n}', "2:1", "a tab stands where the file's reader wants spaces; indent with spaces"),
        ("a: 1\nb:\t2\n", "2:3", "a tab stands where the file's reader wants a space; write a space"),
        (f"a:\n  {'k' * 1100}: 1\n", "2:3", "a key of YAML has at most 1024 characters; shorten it"),
        (f"a: 1\n{'b' * 1100}\nc: 2\n", "2:1", NO_COLON),
        ("a: b: c\n", "1:5", "a second ':' in one line; put the value in quotes, or indent it as a new line"),
        ("a: 1\nb\nc: 2\n", "2:1", NO_COLON),
        ("a: 1\nb:2\nc: 2\n", "2:1", NO_COLON),
        ("# d: 1\nb 1\n\nc: 2\n", "2:1", NO_COLON),
        ("b 1 # not\n# here\nc: 2\n", "1:1", NO_COLON),
        ("a:\n  b 1\n  c: 2\n", "2:3", NO_COLON),
        ("a:\xa0b\nc: 2\n", "1:3", f"a blank must be after ':', got U+00A0 (NO-BREAK SPACE), {LIKE_A_BLANK}"),
        (
            "a: 1\nb:\xa0{c: d, e: 1}\n",
            "2:3",
            f"a blank must be after ':', got U+00A0 (NO-BREAK SPACE), {LIKE_A_BLANK}",
        ),
        ("a: {b:\xa0c}\n", "1:5", f"a blank must be after ':', got U+00A0 (NO-BREAK SPACE), {LIKE_A_BLANK}"),
        ("a: 1\nb:\u200b2\nc: 2\n", "2:3", f"a blank must be after ':', got U+200B (ZERO WIDTH SPACE), {LIKE_A_BLANK}"),
        ("a: 1\n  b: 2\n", "2:3", TOO_DEEP),
        ("a: 1\n  b\n  c: 2\n", "3:3", TOO_DEEP),
        ("a:\n  b: 1\n c: 2\n", "3:2", "the indentation fits none of the lines above; align it with its neighbors"),
        ("a: [1, 2\nb: 1\n", "1:4", "a '[' list is not closed with ']'"),
        ("a: {b: 1\n", "1:4", "a '{' mapping is not closed with '}'"),
        ("a: {b: 1\nc: 2\nd: {e: 3}\n", "1:4", "a '{' mapping is not closed with '}'"),
        ("a: {b: 1 # }\n", "1:4", "a '{' mapping is not closed with '}'"),
        ('a: [b, "]", c\nd: {}\n', "1:4", "a '[' list is not closed with ']'"),
        ("a: {b: 1\n  c: 2}\n", "2:3", "a ',' is missing before this in a '{' mapping; put it between two values"),
        ("a: [b: 1 c: 2]\n", "1:10", "a ',' is missing before this in a '[' list; put it between two values"),
        ("a: {b: c d: [e]}\n", "1:10", "a ',' is missing before this in a '{' mapping; put it between two values"),
        ("a: {b: 'c' d: e}\n", "1:12", "a ',' is missing before this in a '{' mapping; put it between two values"),
        ("a: {b:c}\n", "1:5", f"{NO_COLON}, got 'b:c'"),
        ("a: {b: 1, c = d}\n", "1:11", f"{NO_COLON}, got 'c = d'"),
        ("a: {'b:c'}\n", "1:10", "'a.b:c' has no value; write one, or remove the key"),
        ("a: {b:c: }\n", "1:9", "'a.b:c' has no value; write one, or remove the key"),
        ("b:c:\n", "1:5", "'b:c' has no value; write one, or remove the key"),
        ('{\n  // d\n  "a":"b",\n  "c":1\n}\n', "2:3", "a comment begins with '#', got '//'; write '# …'"),
        ("a: {b=c, d=[e]}\n", "1:10", NO_COLON),
        ("// d\nb: 1\n", "1:1", "a comment begins with '#', got '//'; write '# …'"),
        ("a: 1\n/* d */\nb: 1\n", "2:1", "a comment begins with '#', got '/*'; write '# …'"),
        ('a: {"\ufeff": 1, b: ~}\n', "1:16", "'a.b' has no value; write one, or remove the key"),
        ('a: "\ufeff" b\n', "1:8", f"text stands after the quote that closes the value; {ONE_PAIR}"),
        ("a: b\u2028\nc: ~\n", "2:4", "'c' has no value; write one, or remove the key"),
        ("a: 'b\x85 c'\r\nd:  ~\r\n", "2:5", "'d' has no value; write one, or remove the key"),
        ("a: de\x85mo\nb: 1\n", "1:6", "U+0085 ends a line for the file's reader, and in no editor; remove it"),
        ("a: 1\nb:\n\u00a0 c: 1\n  d: 1\n", "3:1", f"U+00A0 (NO-BREAK SPACE) {NO_BLANK}"),
        ("a: 1\nb:\n  c: 1\n \u3000d: 1\n", "4:2", f"U+3000 (IDEOGRAPHIC SPACE) {NO_BLANK}"),
        ("a: 1 # b\u2028 c\nd: 1\n", "1:9", "U+2028 ends a line for the file's reader, and in no editor; remove it"),
        ("a: [b] // d\n", "1:8", COMMENT),
        ("a: 'b' // d\n", "1:8", COMMENT),
        ("a: b // 'd': e\n", "1:6", COMMENT),
        ("a: {b: 1}\nc: // d\n  e: 1\n", "2:4", COMMENT),
        ('{\n  "a": "b", // d\n  "c": 1\n}\n', "2:13", COMMENT),
        ('{\n// d\n  "a": "b",\n  "c": 1\n}\n', "2:1", COMMENT),
        ('{\n  "a": "// b", /* d */\n  "c": 1\n}\n', "2:16", COMMENT.replace("//", "/*")),
        (
            '{\n  "a": "// b"\n  "c": 1\n}\n',
            "3:3",
            "a ',' is missing before this in a '{' mapping; put it between two values",
        ),
        ('"a": "b",\n"c": 1\n', "1:9", TOO_MUCH),
        ("a:\n  - 'b',\n  - 'c'\n", "2:8", TOO_MUCH),
        ("a: 'b // d' e\n", "1:13", f"text stands after the quote that closes the value; {ONE_PAIR}"),
        ("a: b // d\n  c: 1\n", "2:3", TOO_DEEP),
        ("a:\n  - b\n  -c\nd: 1\n", "3:3", "an item of a list has a blank after '-', got '-c'; write '- c'"),
        (f"a:\n{EN_DASH} b\nd: 1\n", "2:1", f"an item of a list begins with '- ', got '{EN_DASH}'; write '- b'"),
        (
            f"a:\n  {EN_DASH} b: 1\n    c: 2\n",
            "2:3",
            f"an item of a list begins with '- ', got '{EN_DASH}'; write '- b: 1'",
        ),
        ("a:\n  \uff0db: 1\n   c: 2\n", "2:3", "an item of a list begins with '- ', got '\uff0d'; write '- b: 1'"),
        ("a:\n  -b: 1\n   c: 2\n", "2:3", "an item of a list has a blank after '-', got '-b: 1'; write '- b: 1'"),
        ("a:\n  * b\n  * c\n", "2:3", "an item of a list begins with '- ', got '*'; write '- b'"),
        ("a:\n  - b\n  c: 2\n", "3:3", f"a key stands among the items of a list; {ONE_OF_BOTH}"),
        ("a\uff1a 1\nb: 2\n", "1:2", WIDE_COLON),
        ("a: 1\nb\uff1a2\n", "2:2", WIDE_COLON),
        ("a: {b: 1}\nc:\n  d\uff1a\n    e: 1\n", "3:4", WIDE_COLON),
        ("a: {b\uff1a c, d: 1}\n", "1:5", f"{NO_COLON}, got 'b\uff1a c': {WIDE_COLON}"),
        ("a: {b\uff1a c\uff0c d: 1, e: f: g}\n", "1:6", WIDE_COLON),
        ("a: {b: c\uff0c d: 1}\n", "1:9", "'\uff0c' is U+FF0C (FULLWIDTH COMMA); write ','"),
        ("a: {b: c\u3001d: 1}\n", "1:9", "'\u3001' is U+3001 (IDEOGRAPHIC COMMA); write ','"),
        ("a: {b: c\u060c d: 1}\n", "1:9", "'\u060c' is U+060C (ARABIC COMMA); write ','"),
        ("a: \uff5bb: c, d: 1\uff5d\n", "1:4", "'\uff5b' is U+FF5B (FULLWIDTH LEFT CURLY BRACKET); write '{'"),
        ("a:\n  - \uff5bb: c, d: 1\uff5d\n", "2:5", "'\uff5b' is U+FF5B (FULLWIDTH LEFT CURLY BRACKET); write '{'"),
        ("a: [b, c\uff3d\n", "1:9", "'\uff3d' is U+FF3D (FULLWIDTH RIGHT SQUARE BRACKET); write ']'"),
        ("a: {b: c, d: 1\uff5d\ne: 1\n", "1:15", "'\uff5d' is U+FF5D (FULLWIDTH RIGHT CURLY BRACKET); write '}'"),
        (
            "a: b\uff0cc: d\n",
            "1:7",
            "a second ':' in one line; put the value in quotes, or indent it as a new line",
        ),
        ("a:\n  b: 1\n  - c\n", "3:3", f"an item of a list stands among keys; {BELOW_A_KEY}"),
        ("a: 1\n{{- if .Values.x }}\nb: 2\n{{- end }}\n", "2:1", f"'{{{{-' begins a line for a template {NO_ENGINE}"),
        ("a: 1\n{% if x %}\nb: 2\n", "2:1", f"'{{%' begins a line for a template {NO_ENGINE}"),
        ("# a\n```yaml\nb: 1\n```\n", "2:1", f"{FENCE} this line and line 4 out"),
        ("~~~\na: 1\n~~~\n", "1:1", f"{FENCE} this line and line 3 out"),
        ("Here it is:\n\n````yaml\nb: 1\n````\n", "3:1", f"{FENCE} this line and line 5 out"),
        ("a: 1\n```\n", "2:1", f"{FENCE} this line out"),
        ("a: 1\n~~~\n", "2:1", f"{FENCE} this line out"),
        ("a: b: c\n```\n", "1:5", "a second ':' in one line; put the value in quotes, or indent it as a new line"),
        ("\n> a: 1\n>\n> b:\n>   c: 1\n", "2:1", MAIL),
        (">a: 1\n>b: 2", "1:1", MAIL),
        ('a = "b"\nc {\n  d = 1\n}\n', "1:1", ASSIGNED),
        ('# a\nresource "b" "c" {\n  d = {\n    e: 1\n  }\n}\n', "2:1", ASSIGNED),
        ("; a\n[b c]\nd = e\nf = g: h\n", "2:1", ASSIGNED),
        ("A=b\n", "1:1", ASSIGNED),
        ("#!/bin/bash\n#SBATCH -N 4\nsrun python a.py\n", "1:1", SCRIPT),
        ("#SBATCH -N 4\nsrun python 'a.py' b\necho 'a': b\n", "1:1", SCRIPT),
        ("#!/bin/sh\na: 1\nb\n", "3:1", NO_COLON),
        ("a = 1\nb: 2\n", "1:1", NO_COLON),
        (f"a: 1\n{CONFLICT}", "2:1", f"git could not merge this, and left its markers {MARKERS}"),
        (f"{CONFLICT}a: [\n", "1:1", f"git could not merge this, and left its markers {MARKERS}"),
        ("a: &a {b: 1}\nc:\n  <<: *a\n  <<: {d: 1}\n", "4:3", f"'<<' is given twice, first in line 3; {MERGE_ALL}"),
        ("a: [1, 2]]\n", "1:10", "nothing is open that this closes; remove it, or put the value in quotes"),
        ("a: - b\n", "1:4", "a '- ' item cannot begin here; put it on a line of its own below its key"),
        ("a: 'b\n", "1:4", "a quote that was opened is not closed"),
        ('a: "b\nc: "d"\n', "1:4", "a quote that was opened is not closed"),
        ("a: 1\nb: 'c\n---\n", "2:4", "a quote that was opened is not closed before '---'"),
        ("a: 'it's'\n", "1:8", f"text stands after the quote that closes the value; {ONE_PAIR}"),
        ("a: [*]\n", "1:5", "a plain value cannot begin with '*'; put it in quotes: \"*\""),
        ("a:\n  - *.b.c\n", "2:5", "a plain value cannot begin with '*'; put it in quotes: \"*.b.c\""),
        ("a: &\n", "1:4", "a plain value cannot begin with '&'; put it in quotes: \"&\""),
        ('a: "b\\q"\n', "1:7", UNKNOWN_ESCAPE),
        ('a: "b\\Users"\n', "1:8", UNKNOWN_ESCAPE),
        ('a: "b\\x"\n', "1:8", UNKNOWN_ESCAPE),
        ('a: "b\\u12"\n', "1:8", UNKNOWN_ESCAPE),
        ('a: "\\UFFFFFFFF"\n', "1:7", "an escape or a number here is beyond all range"),
        ("a: @b\n", "1:4", "a plain value cannot begin with '@' or '`'; put it in quotes"),
        ("a: %b\n", "1:4", "a plain value cannot begin with '%'; put it in quotes"),
        ("a: *b\n", "1:4", "the alias names no anchor above it; write '&name' at the value that it repeats"),
        (
            "a: &neuron\n  b: 1\nc: *Neuron\n",
            "3:4",
            "the alias '*Neuron' names no anchor above it; did you mean '*neuron'?",
        ),
        (
            "a: &neuron\n  b: 1\nc: &neuron # of all\nd: 2\n",
            "3:4",
            "the anchor '&neuron' is there already; write '*neuron' to repeat what it has",
        ),
        ("a: &a 1\nb: &a\n", "2:4", "the anchor '&a' is there already; write '*a' to repeat what it has"),
        ("a: 1\n---\na: 2\n", "2:1", "a second document begins here; write one deployment per file"),
        ("a: \x00\n", "1:4", "character '\\x00' is not allowed in YAML; remove it"),
        ("a: !x!b 1\n", "1:4", "tags ('!…') have no meaning here; put the value in quotes"),
        ("a: !# 1\n", "1:5", "tags ('!…') have no meaning here; put the value in quotes"),
        ("a: |b\n", "1:5", "'|' and '>' begin text of several lines; put the value in quotes"),
        ("a: > b\n", "1:6", "'|' and '>' begin text of several lines; put the value in quotes"),
        (
            "a: !!python/name:os.system x\n",
            "1:4",
            f"'a' must be a value without a tag, got !!python/name:os.system; {NO_TAGS}",
        ),
        ("a: !Ref x\n", "1:4", f"'a' must be a value without a tag, got !Ref; {NO_FUNCTIONS}"),
        ("a:\n  - !Sub [b, {}]\n", "2:5", f"'a[0]' must be a value without a tag, got !Sub; {NO_FUNCTIONS}"),
        ("a: !b {c: 1}\n", "1:4", f"'a' must be a value without a tag, got !b; {NO_TAGS}"),
        ("a: !!int x\n", "1:4", f"'a' must be a value without a tag, got !!int; {NO_TAGS}"),
        (
            "a: !include b.yaml\n",
            "1:4",
            "'a' must be a value without a tag, got !include; files are not included, write what is in it",
        ),
        ("a: 1\nb: 1\na: 2\n", "3:1", "'a' is given twice, first in line 1; remove one"),
        (
            f"a:\n  {EN_DASH} b: 1\n  {EN_DASH} b: 1\n",
            "3:3",
            f"'{EN_DASH} b' is given twice, first in line 2; begin items of a list with '- '",
        ),
        ("a:\n", "1:3", "'a' has no value; write one, or remove the key"),
        ("a: ~\n", "1:4", "'a' has no value; write one, or remove the key"),
        ("a:\n  b:\n    c: ~\n", "3:8", "'a.b.c' has no value; write one, or remove the key"),
        ('a: {"": ~}\n', "1:9", "'a.\"\"' has no value; write one, or remove the key"),
        ("a\xa0:\n", "1:4", "'a\\xa0' has no value; write one, or remove the key"),
        ("a: [1, null]\n", "1:8", "'a[1]' has no value; write one"),
        ("a: '${Token[T.1]}'\n", "1:4", f"'a' must be a value, got '${{Token[T.1]}}': {UNTIL_KNOWN}"),
        ("a: [1, '#{Token[T.1]}']\n", "1:8", f"'a[1]' must be a value, got '#{{Token[T.1]}}': {UNTIL_KNOWN}"),
        ("'${Token[T.1]}': 1\n", "1:1", f"a key must be plain text, got '${{Token[T.1]}}': {UNTIL_KNOWN}"),
        ("a: {{ b }} is down\n", "1:4", f"a value that begins with '{{' {ALL_OF_IT}"),
        ('a: {b="c",$d} < 1\n', "1:4", f"a value that begins with '{{' {ALL_OF_IT}"),
        ("a: {b} != 1\n", "1:4", f"a value that begins with '{{' {ALL_OF_IT}"),
        ("a: {b: {c=d}[5m], e: 1}\n", "1:8", f"a value that begins with '{{' {ALL_OF_IT}"),
        ("a:\n  - [b] c\n", "2:5", f"a value that begins with '[' {ALL_OF_IT}"),
        ("a: {b: up{$c} < 1, d: 2}\n", "1:8", f"a plain value in brackets has no brackets of its own; {QUOTE_ALL}"),
        ("a: [b, c[5m]]\n", "1:8", f"a plain value in brackets has no brackets of its own; {QUOTE_ALL}"),
        ("a: [{b: 1} {c: 2}]\n", "1:12", "a ',' is missing before this in a '[' list; put it between two values"),
        ("a: {b: {c: 1} d: 2}\n", "1:15", "a ',' is missing before this in a '{' mapping; put it between two values"),
        (f"a: 1.{'9' * 4301}\n", "1:4", f"'a' must have at most 4300 digits in a row, got '1.{'9' * 55}…'"),
        ("a: {{ b }}\n", "1:4", f"'a' must be a value, got '{{{{ b }}}}'; {NO_TEMPLATE}"),
        ("a: {{b: 1}: 2}\n", "1:5", "a key must be plain text; put a value that begins with '{' or '[' in quotes"),
        ("<<: 1\n", "1:5", "'<<' must be an alias of a mapping, as '<<: *common'"),
        ("a: &a [*a]\n", "1:4", "an alias stands inside its own anchor; write the values out"),
        ("a: " + "[" * 1000, "1:27", "nested too deeply; a deployment needs no more than eight levels"),
    ],
)
def test_fails_with_the_place_and_the_remedy(text: str, place: str, says: str) -> None:
    assert problems_of(text) == [f"{FILE}:{place}: {says}"]


def test_markers_of_git_may_be_text() -> None:
    document = read_document("a: |\n  " + CONFLICT.replace("\n", "\n  "), FILE)
    assert (document.data, document.problems) == ({"a": CONFLICT}, ())


@pytest.mark.parametrize(
    "text", ["a: |\n  ```\n  > b\n  c = 1\n", '#!/bin/sh\n{"a": "\\n> b\\n> c"}\n', '{\n"a":\n  "b = 1"\n}']
)
def test_what_other_formats_have_may_be_text(text: str) -> None:
    assert read_document(text, FILE).problems == ()


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "~\n"])
def test_fails_for_an_empty_file(text: str) -> None:
    assert problems_of(text) == ["the file is empty; a deployment has at least 'name', 'region' and 'network'"]


@pytest.mark.parametrize(
    ("text", "got"), [("- a\n", "a list"), ("hello\n", "the text 'hello'"), ("'x'\n", "the text 'x'")]
)
def test_fails_for_yaml_that_is_not_a_mapping(text: str, got: str) -> None:
    assert problems_of(text) == [f"the file must be a mapping ('name: …', 'region: …'), got {got}"]


@pytest.mark.parametrize("value", ["cron(0 4 ? * SUN *)", "a?b", "is it ?", "a ? b"])
def test_a_question_mark_in_brackets_is_text_as_it_is_elsewhere(value: str) -> None:
    document = read_document(f"a: {{b: {value}, c: [{value}]}}\n? d\n: {value}\n", FILE)
    assert document.data == {"a": {"b": value, "c": (value,)}, "d": value}
    assert document.at(("a", "c")) == f"{FILE}:1:{10 + len(value)}"


def test_an_anchor_that_is_defined_again_holds_from_there() -> None:
    assert read_document("a: &a {b: 1}\nc: *a\nd: &a [2]\ne: *a\n", FILE).data == {
        "a": {"b": 1},
        "c": {"b": 1},
        "d": (2,),
        "e": (2,),
    }


def test_fails_for_aliases_that_expand_without_bound() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert problems_of("\n".join(lines)) == [
        f"{FILE}:1:10: aliases expand the file to more than 20000 values; write them out"
    ]


def test_problems_come_all_at_once_in_the_order_of_the_lines() -> None:
    assert [problem.split(": ")[0] for problem in problems_of("a: 1\nb:\na: 2\nc: !x 1\nd: [~]\n")] == [
        f"{FILE}:2:3",
        f"{FILE}:3:1",
        f"{FILE}:4:4",
        f"{FILE}:5:5",
    ]


SIGNS = st.sampled_from([*"ab:- \n\t[]{},'\"&*!#|>%@`?~<0123.eE\\xuU\r\u2028\u00e9\x85\ufeff"])
WORDS = st.sampled_from([
    "key: ", "- ", "&a ", "*a", "<<: ", "!!int ", "!!null ", "---\n", "...\n", "%YAML 1.1\n", "\\UFFFFFFFF", "\\ud800",
    "null",
])  # fmt: skip


@settings(max_examples=3 * settings().max_examples)
@given(st.lists(st.one_of(SIGNS, WORDS)).map("".join))
def test_text_of_any_kind_is_read_or_refused(text: str) -> None:
    for problem in problems_of(text):
        assert problem.encode()  # it can be printed
