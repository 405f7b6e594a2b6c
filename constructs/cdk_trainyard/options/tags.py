r"""Tags, as every service takes them.

Source: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html, "Tag naming limits and
requirements" (2026-11-22): 50 tags, keys of 128 and values of 256 characters, the signs that all services allow, and no
key that begins with ``aws:``. Letters, digits and blanks are those of all scripts (``tagValueType`` of IAM in
botocore's model, 1.44.5: ``[\p{L}\p{Z}\p{N}_.:/=+\-@]*``). IAM tells keys apart without regard to case (IAM user guide,
"Tags for IAM resources"). No blanks at the ends: "Do not use leading or trailing spaces" (user guide for Application
Load Balancers, "Tag an Application Load Balancer", 2026-11-28).
``trainyard:`` begins the tags by which nodes of a fleet find one another, and by which their roles may.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final
from unicodedata import category

from cdk_trainyard.options.kinds import Environment, Text
from cdk_trainyard.problems import At, Flaw, Problem, shown
from cdk_trainyard.tokens import unresolved

MOST_TAGS: Final = 50
"""Tags of one resource."""
_LETTERS, _BLANKS = r"\w", r" \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SIGNS: Final = rf"[{_LETTERS}{_BLANKS}.:/=+@-]"
_KEPT: Final = "([aA][wW][sS]|[tT][rR][aA][iI][nN][yY][aA][rR][dD])"  # JSON Schema has no flag for it


class _TagText(Text):
    """Text of a tag, whose letters are those of Unicode."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match it; what this Python's Unicode does not have yet may be a letter of a newer one."""
        known = "".join("_" if category(sign) == "Cn" else sign for sign in value)
        return Text.problem(self, known, environment) and Text.problem(self, value, environment)

    def schema(self) -> dict[str, Any]:
        r"""Return the same for ECMA-262, whose ``\w`` is ASCII alone (JSON Schema 2020-12, "Regular Expressions")."""
        said = Text.schema(self)
        signs = _SIGNS.replace(_LETTERS, r"\p{L}\p{N}_").replace(_BLANKS, r"\p{Z}")
        return said | {"pattern": said["pattern"].replace(_SIGNS, signs).replace(_BLANKS, r"\p{Z}")}


TagKey = Annotated[
    str,
    _TagText(
        pattern=rf"(?!{_KEPT}:)(?![{_BLANKS}]){_SIGNS}+(?<![{_BLANKS}])",
        words="letters, digits, spaces between them and _ . : / = + - @, not beginning with aws: or trainyard:",
        example="team",
        longest=128,
    ),
]
TagValue = Annotated[
    str,
    _TagText(
        pattern=rf"(?![{_BLANKS}]){_SIGNS}*(?<![{_BLANKS}])",
        words="letters, digits, spaces between them and _ . : / = + - @",
        example="research",
        longest=256,
        shortest=0,
    ),
]
Tags = Mapping[TagKey, TagValue]
_OF_A_LIST: Final = {"Key", "Value"}
"""What CloudFormation's templates have of a tag (``Tag`` of its resource types)."""


def tags_problems(at: At, tags: Mapping[str, str], *, added: int = 0, iam: bool = True) -> Iterator[Problem]:
    """Check that there are not too many tags, and that no two keys differ in case only where IAM has them.

    Args:
        at: Where the tags are said.
        tags: The tags.
        added: How many a service or this library adds to them.
        iam: Whether roles get them, too. EC2 alone tells case apart (botocore 1.44.5, ec2, ``Tag``).
    """
    if len(tags) + added > MOST_TAGS:
        beside = f" beside {added} that are added" if added else ""
        yield Problem(at, f"must be at most {MOST_TAGS - added} tags{beside}, got {len(tags)}")
    if {*tags} == _OF_A_LIST:
        pair = [tags[name] for name in ("Key", "Value") if not unresolved(tags[name]) and tags[name]]
        remedy = f"write {pair[0]}: {pair[1]}" if len(pair) > 1 else "write what is behind them, <key>: <value>"
        yield Problem(at, f"must be a mapping of keys to values, got the keys 'Key' and 'Value' themselves; {remedy}")
    known: dict[str, str] = {}
    for key in tags:
        if unresolved(key):
            continue
        first = known.setdefault(key.lower(), key)
        if first != key and iam:
            yield Problem((*at, key), f"must differ from {shown(first)} in more than case, as IAM demands", of_key=True)
