"""The Condition element: operators, several values, absent keys.

Source: IAM User Guide, "IAM JSON policy elements: Condition operators" and "Creating a condition with multiple keys
or values" (2023-05-11).
"""

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from cdk_trainyard.policy.context import Context
from cdk_trainyard.policy.errors import PolicyError
from cdk_trainyard.policy.template import Template

_FOR_ALL, _FOR_ANY = "ForAllValues", "ForAnyValue"
_ARN_PARTS = 6


@dataclass(frozen=True, slots=True)
class _Operator:
    """How one value of the request is held against one value of the policy."""

    matches: Callable[[str, Template, Context], bool]
    negated: bool = False
    variables: bool = False
    check: Callable[[str], Any] = str  # raises ValueError for what a policy may not have here


@dataclass(frozen=True, slots=True)
class Condition:
    """One operator with one key: ``{"StringEquals": {"aws:SourceVpc": ["vpc-1"]}}``."""

    name: str
    operator: str
    quantifier: str
    if_exists: bool
    key: str
    values: tuple[Template, ...]

    @classmethod
    def parse(cls, name: str, key: str, values: tuple[str, ...], *, variables: bool) -> "Condition":
        """Read one key of one operator.

        Raises:
            PolicyError: There is no such operator, or a value is not of its kind.
        """
        quantifier, _, rest = name.rpartition(":")
        operator = rest.removesuffix("IfExists")
        known = operator in _OPERATORS and quantifier in {"", _FOR_ALL, _FOR_ANY}
        if not known or (operator == "Null" and name != "Null"):
            raise PolicyError(f"Condition: there is no operator {name!r}")
        row = _OPERATORS[operator]
        for value in values:
            try:
                row.check(value)
            except ValueError as problem:
                raise PolicyError(f"Condition: {name} of {key}: {value!r} is {problem}") from None
        templates = tuple(Template.parse(value, variables=variables and row.variables) for value in values)
        if row.check is _arn:
            templates = tuple(_arn_template(template, name, key) for template in templates)
        return cls(name, operator, quantifier, rest != operator, key, templates)

    def holds(self, context: Context) -> bool:
        """Whether the request meets it.

        Raises:
            PolicyError: The key has several values and the operator neither ForAllValues nor ForAnyValue.
        """
        values = context.values(self.key)
        if self.operator == "Null":
            return any((wanted.source.lower() == "true") == (not values) for wanted in self.values)
        if self.quantifier:
            values = tuple(value for value in values if value)  # "a null data set, such as an empty string"
        if not values:
            return self.if_exists or self.quantifier == _FOR_ALL or (not self.quantifier and self._row.negated)
        if self.quantifier == _FOR_ALL:
            return all(self._holds_for(value, context) for value in values)
        if not self.quantifier and len(values) > 1:
            raise PolicyError(f"Condition: {self.name} of {self.key}, which has several values: {', '.join(values)}")
        return any(self._holds_for(value, context) for value in values)

    @property
    def _row(self) -> _Operator:
        return _OPERATORS[self.operator]

    def _holds_for(self, value: str, context: Context) -> bool:
        return any(self._row.matches(value, wanted, context) for wanted in self.values) != self._row.negated


def _arn_template(template: Template, name: str, key: str) -> Template:
    if template.shape == template.source and template.source.count(":") < _ARN_PARTS - 1:
        raise PolicyError(f"Condition: {name} of {key}: {template.source!r} does not have the six parts of an ARN")
    return template


def _equals(value: str, wanted: Template, context: Context) -> bool:
    return value == wanted.text(context)


def _equals_ignoring_case(value: str, wanted: Template, context: Context) -> bool:
    text = wanted.text(context)
    return text is not None and value.casefold() == text.casefold()


def _like(value: str, wanted: Template, context: Context) -> bool:
    return wanted.matches(value, context)


def _arn_like(value: str, wanted: Template, context: Context) -> bool:
    return wanted.matches_arn(value, context)


def _typed(read: Callable[[str], Any], compare: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    """Compare values of a type; a value of the request that is not of that type matches nothing."""

    def matches(value: str, wanted: Template, _context: Context) -> bool:
        try:
            found = read(value)
        except ValueError:
            return False
        return compare(found, read(wanted.source))

    return matches


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("not a number") from None


def _date(text: str) -> datetime:
    """Read a date of ISO 8601 as W3C writes it (a year alone, too), or seconds since 1970."""
    try:
        if re.fullmatch(r"\d{4}", text):
            return datetime(int(text), 1, 1, tzinfo=UTC)
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return datetime.fromtimestamp(float(text), UTC)
        found = datetime.fromisoformat(f"{text}-01" if re.fullmatch(r"\d{4}-\d\d", text) else text)
    except (ValueError, OverflowError, OSError):
        raise ValueError("not a date") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _boolean(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError("neither true nor false")
    return text.lower() == "true"


def _binary(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("not base64") from None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError("neither an IP address nor a range of them") from None


def _within(value: Any, wanted: Any) -> bool:
    return bool(value.version == wanted.version and value.subnet_of(wanted))


def _arn(text: str) -> str:
    return text


def _ordered(kind: str, read: Callable[[str], Any]) -> dict[str, _Operator]:
    comparisons: dict[str, Callable[[Any, Any], bool]] = {
        "LessThan": lambda value, wanted: value < wanted,
        "LessThanEquals": lambda value, wanted: value <= wanted,
        "GreaterThan": lambda value, wanted: value > wanted,
        "GreaterThanEquals": lambda value, wanted: value >= wanted,
    }
    equals = _typed(read, lambda value, wanted: value == wanted)
    return {
        f"{kind}Equals": _Operator(equals, check=read),
        f"{kind}NotEquals": _Operator(equals, negated=True, check=read),
        **{f"{kind}{name}": _Operator(_typed(read, compare), check=read) for name, compare in comparisons.items()},
    }


_OPERATORS = {
    "StringEquals": _Operator(_equals, variables=True),
    "StringNotEquals": _Operator(_equals, variables=True, negated=True),
    "StringEqualsIgnoreCase": _Operator(_equals_ignoring_case, variables=True),
    "StringNotEqualsIgnoreCase": _Operator(_equals_ignoring_case, variables=True, negated=True),
    "StringLike": _Operator(_like, variables=True),
    "StringNotLike": _Operator(_like, variables=True, negated=True),
    **_ordered("Numeric", _number),
    **_ordered("Date", _date),
    "Bool": _Operator(_typed(_boolean, lambda value, wanted: value == wanted), check=_boolean),
    "BinaryEquals": _Operator(_typed(_binary, lambda value, wanted: value == wanted), check=_binary),
    "IpAddress": _Operator(_typed(_network, _within), check=_network),
    "NotIpAddress": _Operator(_typed(_network, _within), check=_network, negated=True),
    "ArnEquals": _Operator(_arn_like, variables=True, check=_arn),
    "ArnLike": _Operator(_arn_like, variables=True, check=_arn),
    "ArnNotEquals": _Operator(_arn_like, variables=True, check=_arn, negated=True),
    "ArnNotLike": _Operator(_arn_like, variables=True, check=_arn, negated=True),
    "Null": _Operator(_equals, check=_boolean),
}
