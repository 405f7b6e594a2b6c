"""Strings of policies with wildcards (``*``, ``?``) and policy variables (``${aws:username}``).

Source: IAM User Guide, "IAM policy elements: Variables and tags", "IAM JSON policy elements: Resource" and
"… Condition operators" (2023-05-11).
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from cdk_trainyard.policy.context import Context
from cdk_trainyard.policy.errors import PolicyError

_VARIABLE = re.compile(r"\$\{(?P<inner>[^{}]*)\}")
_INNER = re.compile(r"\s*(?P<key>[^\s,']+)\s*(?:,\s*'(?P<default>[^']*)'\s*)?")
_CHARACTERS = {"*", "?", "$"}
_ARN_COLONS = 5


@dataclass(frozen=True, slots=True)
class Variable:
    """``${key, 'default'}``."""

    key: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """``${*}``, ``${?}``, ``${$}``: the character itself."""

    text: str


Part = str | Variable | Literal


@dataclass(frozen=True, slots=True)
class Template:
    """A string of a policy: text in which wildcards count, variables, and escaped characters."""

    source: str
    parts: tuple[Part, ...]

    @classmethod
    def parse(cls, source: str, *, variables: bool) -> "Template":
        """Read ``source``; without ``variables`` (version 2008-10-17) ``${…}`` is text as any other.

        Raises:
            PolicyError: A ``${`` is not closed, or what is in it is neither a key nor a character.
        """
        if not variables:
            return cls(source, (source,))
        parts: list[Part] = []
        end = 0
        for found in _VARIABLE.finditer(source):
            parts += [source[end : found.start()], _variable(found["inner"], source)]
            end = found.end()
        parts.append(source[end:])
        if any(isinstance(part, str) and "${" in part for part in parts):
            raise PolicyError(f"{source!r}: a policy variable that is not closed, or that has another inside")
        return cls(source, tuple(part for part in parts if part))

    @property
    def shape(self) -> str:
        """The string with every variable as one character: what stands there whatever the request says."""
        return "".join(part if isinstance(part, str) else "v" for part in self.parts)

    def text(self, context: Context) -> str | None:
        """Return the string with its variables' values, wildcards as they are; None when one has no value."""
        pieces = self._pieces(context)
        return None if pieces is None else "".join(text for text, _ in pieces)

    def matches(self, value: str, context: Context) -> bool:
        """Whether ``value`` is like this string: ``*`` is any characters, ``?`` is one."""
        return self._matches(value, context, one=".")

    def matches_arn(self, value: str, context: Context) -> bool:
        """Whether ``value`` is like this ARN, each of its six parts like the one here (operators ``Arn…``)."""
        return value.count(":") >= _ARN_COLONS and self._matches(value, context, one="[^:]")

    def matches_resource(self, value: str, context: Context) -> bool:
        """As `matches_arn`, but a ``*`` at the very end also stands for all the parts that follow."""
        return self._matches(value, context, one="[^:]", open_end=True)

    def _matches(self, value: str, context: Context, *, one: str, open_end: bool = False) -> bool:
        pieces = self._pieces(context)
        return pieces is not None and _expression(tuple(pieces), one, open_end).fullmatch(value) is not None

    def _pieces(self, context: Context) -> list[tuple[str, bool]] | None:
        """Return texts, and whether wildcards in them count; None when a variable has no value."""
        pieces = []
        for part in self.parts:
            if isinstance(part, str):
                pieces.append((part, True))
            elif isinstance(part, Literal):
                pieces.append((part.text, False))
            else:
                values = context.values(part.key) or (() if part.default is None else (part.default,))
                if len(values) > 1:
                    raise PolicyError(f"{self.source!r}: {part.key} has several values and cannot be a policy variable")
                if not values:
                    return None
                pieces.append((values[0], False))
        return pieces


def _variable(inner: str, source: str) -> Variable | Literal:
    if inner in _CHARACTERS:
        return Literal(inner)
    found = _INNER.fullmatch(inner)
    if found is None:
        raise PolicyError(f"{source!r}: ${{{inner}}} is neither a condition key, nor one of ${{*}}, ${{?}} and ${{$}}")
    return Variable(found["key"], found["default"])


@lru_cache(maxsize=65536)
def _expression(pieces: tuple[tuple[str, bool], ...], one: str, open_end: bool) -> re.Pattern[str]:
    """Return the regular expression of texts, in which ``one`` is a character of the first five parts of an ARN."""
    tokens: list[str] = []
    colons = 0
    for character, is_wild in ((character, wild) for text, wild in pieces for character in text):
        colons += character == ":"
        any_one = "." if colons >= _ARN_COLONS else one
        wild = {"*": f"{any_one}*", "?": any_one} if is_wild else {}
        tokens.append(wild.get(character, re.escape(character)))
    if open_end and tokens[-1:] == [f"{one}*"]:
        tokens[-1] = ".*"
    return re.compile("".join(tokens), re.DOTALL)
