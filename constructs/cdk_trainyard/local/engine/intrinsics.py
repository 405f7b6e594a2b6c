"""The intrinsic functions of CloudFormation, evaluated against what a stack knows at the moment."""

import base64
import ipaddress
import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from cdk_trainyard.local.engine.template import placeholders, split_attribute
from cdk_trainyard.local.errors import ResourceFailed


class Scope(Protocol):
    """What a template's names stand for."""

    def ref(self, name: str) -> Any:
        """Return the value of a parameter, of a pseudo parameter, or the physical id of a resource."""

    def attribute(self, name: str, attribute: str) -> Any:
        """Return an attribute of a resource."""

    def condition(self, name: str) -> bool:
        """Return whether a condition holds."""

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a mapping of the template."""

    def import_value(self, name: str) -> Any:
        """Return what another stack exports."""

    def stack_output(self, stack_name: str, output_name: str, region: str | None) -> Any:
        """Return an output of another stack."""

    def zones(self, region: str) -> list[str]:
        """Return the names of the availability zones of a region."""

    def dynamic(self, text: str) -> str:
        """Return ``text`` with its dynamic references (``{{resolve:…}}``) resolved."""


class _NoValue:
    """``AWS::NoValue``: what carries it is left out."""


NO_VALUE = _NoValue()


def evaluate(fragment: Any, scope: Scope) -> Any:
    """Return ``fragment`` of a template with every function and reference replaced by its value.

    Raises:
        ResourceFailed: A function is unknown, or what it refers to does not exist.
    """
    if isinstance(fragment, str):
        return scope.dynamic(fragment)
    if isinstance(fragment, list):
        items = [evaluate(item, scope) for item in fragment]
        return [item for item in items if item is not NO_VALUE]
    if not isinstance(fragment, Mapping):
        return fragment
    if len(fragment) == 1:
        key, inner = next(iter(fragment.items()))
        function = _FUNCTIONS.get(key)
        if function:
            return function(inner, scope)
        if key.startswith("Fn::"):
            raise ResourceFailed(f"local AWS: the function {key} is not emulated")
    values = {key: evaluate(inner, scope) for key, inner in fragment.items()}
    return {key: value for key, value in values.items() if value is not NO_VALUE}


def _ref(inner: Any, scope: Scope) -> Any:
    return scope.ref(inner)


def _get_att(inner: Any, scope: Scope) -> Any:
    name, attribute = split_attribute(inner)
    return scope.attribute(name, evaluate(attribute, scope))


def _sub(inner: Any, scope: Scope) -> str:
    text, variables = (inner, {}) if isinstance(inner, str) else (inner[0], inner[1])
    given = {name: evaluate(value, scope) for name, value in variables.items()}
    for placeholder in placeholders(text):
        resource, _, attribute = placeholder.partition(".")
        if placeholder in given:
            value = given[placeholder]
        else:
            value = scope.attribute(resource, attribute) if attribute else scope.ref(resource)
        text = text.replace(f"${{{placeholder}}}", _text(value))
    return scope.dynamic(text.replace("${!", "${"))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _join(inner: Any, scope: Scope) -> str:
    separator, items = inner
    return scope.dynamic(separator.join(_text(item) for item in evaluate(items, scope)))


def _split(inner: Any, scope: Scope) -> list[str]:
    separator, text = inner
    return str(evaluate(text, scope)).split(separator)


def _select(inner: Any, scope: Scope) -> Any:
    index, items = int(evaluate(inner[0], scope)), evaluate(inner[1], scope)
    try:
        return items[index]
    except IndexError as error:
        raise ResourceFailed(f"Template error: Fn::Select cannot select nonexistent value at index {index}") from error


def _if(inner: Any, scope: Scope) -> Any:
    name, then, otherwise = inner
    return evaluate(then if scope.condition(name) else otherwise, scope)


def _find_in_map(inner: Any, scope: Scope) -> Any:
    name, first, second = (evaluate(part, scope) for part in inner[:3])
    found = scope.mapping(name).get(first, {}).get(second, NO_VALUE)
    if found is not NO_VALUE:
        return evaluate(found, scope)
    if len(inner) > 3:  # noqa: PLR2004  the fourth is {"DefaultValue": …}
        return evaluate(inner[3]["DefaultValue"], scope)
    raise ResourceFailed(f"Template error: Unable to get mapping for {name}::{first}::{second}")


def _import_value(inner: Any, scope: Scope) -> Any:
    return scope.import_value(evaluate(inner, scope))


def _get_stack_output(inner: Any, scope: Scope) -> Any:
    given = evaluate(inner, scope)
    return scope.stack_output(given["StackName"], given["OutputName"], given.get("Region"))


def _get_azs(inner: Any, scope: Scope) -> list[str]:
    return scope.zones(evaluate(inner, scope) or scope.ref("AWS::Region"))


def _cidr(inner: Any, scope: Scope) -> list[str]:
    block, count, *bits = evaluate(inner, scope)
    network = ipaddress.ip_network(block)
    prefix = network.max_prefixlen - int(bits[0] if bits else 8)
    subnets = network.subnets(new_prefix=prefix)
    return [str(subnet) for subnet, _ in zip(subnets, range(int(count)), strict=False)]


def _base64(inner: Any, scope: Scope) -> str:
    return base64.b64encode(str(evaluate(inner, scope)).encode()).decode()


def _to_json_string(inner: Any, scope: Scope) -> str:
    return json.dumps(evaluate(inner, scope), separators=(",", ":"))


def _length(inner: Any, scope: Scope) -> int:
    return len(evaluate(inner, scope))


def _condition(inner: Any, scope: Scope) -> Any:
    """Return whether a named condition holds; in a policy statement ``Condition`` is a key like any other."""
    return scope.condition(inner) if isinstance(inner, str) else {"Condition": evaluate(inner, scope)}


def _equals(inner: Any, scope: Scope) -> bool:
    left, right = (evaluate(side, scope) for side in inner)
    return _text(left) == _text(right)


def _contains(inner: Any, scope: Scope) -> bool:
    members, wanted = evaluate(inner, scope)
    return str(wanted) in map(str, members)


_FUNCTIONS: dict[str, Callable[[Any, Scope], Any]] = {
    "Ref": _ref,
    "Condition": _condition,
    "Fn::And": lambda inner, scope: all(evaluate(part, scope) for part in inner),
    "Fn::Base64": _base64,
    "Fn::Cidr": _cidr,
    "Fn::Contains": _contains,
    "Fn::Equals": _equals,
    "Fn::FindInMap": _find_in_map,
    "Fn::GetAZs": _get_azs,
    "Fn::GetAtt": _get_att,
    "Fn::GetStackOutput": _get_stack_output,
    "Fn::If": _if,
    "Fn::ImportValue": _import_value,
    "Fn::Join": _join,
    "Fn::Length": _length,
    "Fn::Not": lambda inner, scope: not evaluate(inner[0], scope),
    "Fn::Or": lambda inner, scope: any(evaluate(part, scope) for part in inner),
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::Sub": _sub,
    "Fn::ToJsonString": _to_json_string,
}
FUNCTIONS = frozenset(_FUNCTIONS)
"""Names of the functions that are emulated, ``Ref`` and ``Condition`` among them."""
