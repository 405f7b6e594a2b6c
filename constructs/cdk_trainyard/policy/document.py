"""Policy documents: what they may contain, by the kind of policy, and what each statement is about.

Source: IAM User Guide, "Grammar of the IAM JSON policy language" and "IAM JSON policy elements reference" (2023-05-11).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from cdk_trainyard.policy.conditions import Condition
from cdk_trainyard.policy.context import Context
from cdk_trainyard.policy.errors import PolicyError
from cdk_trainyard.policy.principals import PrincipalElement
from cdk_trainyard.policy.request import Principal
from cdk_trainyard.policy.template import Template

_LANGUAGE = "2012-10-17"
_VERSIONS = (_LANGUAGE, "2008-10-17")
_POLICY_ELEMENTS = {"Version", "Id", "Statement"}
_PAIRS = {"Action": "NotAction", "Resource": "NotResource", "Principal": "NotPrincipal"}
_STATEMENT_ELEMENTS = {"Sid", "Effect", "Condition", *_PAIRS, *_PAIRS.values()}
_ACTION = re.compile(r"\*|(\*|[a-zA-Z0-9-]+):[a-zA-Z0-9*?]+")
_ARN_PARTS = 6
_SERVICE_PART = 2
_NOTHING = Context({})


@dataclass(frozen=True, slots=True)
class _Rules:
    """Whether a kind of policy must have an element (True), must not (False), or may (None)."""

    principal: bool
    resource: bool | None
    not_principal: bool = True


class PolicyKind(Enum):
    """What a policy is attached to."""

    IDENTITY = _Rules(principal=False, resource=True)
    RESOURCE = _Rules(principal=True, resource=None)
    TRUST = _Rules(principal=True, resource=False, not_principal=False)
    ENDPOINT = _Rules(principal=True, resource=True)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: is about an action, a resource, a principal and a context, or not."""

    source: Mapping[str, Any]
    is_deny: bool
    actions: tuple[str, ...]
    resources: tuple[Template, ...]
    conditions: tuple[Condition, ...]
    principal: PrincipalElement | None

    @property
    def sid(self) -> str:
        """Its Sid, as far as it has one."""
        return str(self.source.get("Sid", ""))

    def is_about_action(self, action: str) -> bool:
        """Whether Action, or NotAction, covers ``action``; neither service nor name is case-sensitive."""
        listed = any(_like_action(pattern, action) for pattern in self.actions)
        return listed != ("NotAction" in self.source)

    def is_about_resource(self, resource: str, context: Context) -> bool:
        """Whether Resource, or NotResource, covers ``resource``; a variable without value covers nothing."""
        listed = any(pattern.matches_resource(resource, context) for pattern in self.resources)
        return listed != ("NotResource" in self.source)

    def is_about_principal(self, principal: Principal) -> bool:
        """Whether Principal, or NotPrincipal, covers ``principal``; True where the kind of policy has neither."""
        return self.principal is None or self.principal.covers(principal, deny=self.is_deny)

    def unmet(self, context: Context) -> list[Condition]:
        """Return the conditions that the request does not meet."""
        return [condition for condition in self.conditions if not condition.holds(context)]


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy document that was read: its name is for messages."""

    name: str
    kind: PolicyKind
    statements: tuple[Statement, ...]


def parse_policy(document: str | Mapping[str, Any], *, kind: PolicyKind = PolicyKind.IDENTITY, name: str) -> Policy:
    """Read a policy document.

    Args:
        document: The document, or its JSON.
        kind: What it is attached to, which says what it may contain. Default - identity.
        name: What messages call it.

    Raises:
        PolicyError: A version, an element, an operator or a value that the policy language does not have, or that
            this kind of policy may not have; names it and where it stands.
    """
    try:
        content = json.loads(document) if isinstance(document, str) else document
        return Policy(name, kind, tuple(_statements(content, kind)))
    except (PolicyError, json.JSONDecodeError) as problem:
        raise PolicyError(f"{name}: {problem}") from problem


def _statements(content: Any, kind: PolicyKind) -> list[Statement]:
    if not isinstance(content, Mapping):
        raise PolicyError("a policy is a JSON object")
    _refuse_unknown(content, _POLICY_ELEMENTS, "")
    version = content.get("Version", "2008-10-17")
    if version not in _VERSIONS:
        raise PolicyError(f"Version {version!r} is unknown; there are {' and '.join(_VERSIONS)}")
    if "Statement" not in content:
        raise PolicyError("it has no Statement")
    listed = content["Statement"]
    found = []
    for number, statement in enumerate([listed] if isinstance(listed, Mapping) else listed, 1):
        try:
            found.append(_statement(statement, kind.value, variables=version == _LANGUAGE))
        except PolicyError as problem:
            raise PolicyError(f"statement {statement.get('Sid', number)}: {problem}") from None
    return found


def _statement(source: Mapping[str, Any], rules: _Rules, *, variables: bool) -> Statement:
    _refuse_unknown(source, _STATEMENT_ELEMENTS, "")
    if source.get("Effect") not in {"Allow", "Deny"}:
        raise PolicyError(f"Effect is {source.get('Effect')!r}; it is 'Allow' or 'Deny'")
    _require_one(source, "Action", needed=True)
    _require_one(source, "Resource", needed=rules.resource)
    _require_one(source, "Principal", needed=rules.principal)
    if "NotPrincipal" in source and not rules.not_principal:
        raise PolicyError("a trust policy has no NotPrincipal")
    actions = _list(source.get("Action", source.get("NotAction")))
    for action in actions:
        if not _ACTION.fullmatch(action):
            raise PolicyError(f"Action {action!r} is not of the form service:Name")
    resources = [Template.parse(text, variables=variables) for text in _list(_resource(source))]
    for resource in resources:
        _check_resource(resource)
    conditions = [
        Condition.parse(operator, key, _list(values), variables=variables)
        for operator, keys in source.get("Condition", {}).items()
        for key, values in keys.items()
    ]
    principal = None
    if rules.principal:
        named, negated = source.get("Principal", source.get("NotPrincipal")), "NotPrincipal" in source
        principal = PrincipalElement.parse(named, negated=negated)
    is_deny = source["Effect"] == "Deny"
    return Statement(source, is_deny, actions, tuple(resources), tuple(conditions), principal)


def _resource(source: Mapping[str, Any]) -> Any:
    return source.get("Resource", source.get("NotResource", "*"))


def _refuse_unknown(source: Mapping[str, Any], known: set[str], where: str) -> None:
    for element in source:
        if element not in known:
            raise PolicyError(f"{where}there is no element {element!r}")


def _require_one(source: Mapping[str, Any], element: str, *, needed: bool | None) -> None:
    negated = _PAIRS[element]
    count = (element in source) + (negated in source)
    if count > 1:
        raise PolicyError(f"it has both {element} and {negated}")
    if needed is True and not count:
        raise PolicyError(f"it has neither {element} nor {negated}")
    if needed is False and count:
        raise PolicyError(f"this kind of policy has no {element}")


def _list(value: Any) -> tuple[str, ...]:
    """Return the strings of a value or a list of them, as JSON would write numbers and truths."""
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(item if isinstance(item, str) else json.dumps(item) for item in items)


def _check_resource(resource: Template) -> None:
    shape = resource.shape
    if shape == "*":
        return
    parts = shape.split(":", _ARN_PARTS - 1)
    if parts[0] != "arn" or (len(parts) < _ARN_PARTS and not shape.endswith("*")):
        raise PolicyError(f"Resource {resource.source!r} is neither '*' nor an ARN")
    if len(parts) == _ARN_PARTS and set("*?") & set(parts[_SERVICE_PART]):
        raise PolicyError(f"Resource {resource.source!r} has a wildcard in place of the service")


def _like_action(pattern: str, action: str) -> bool:
    return Template(pattern, (pattern.lower(),)).matches(action.lower(), _NOTHING)
