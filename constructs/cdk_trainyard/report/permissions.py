"""Roles of an assembly in plain words: who takes them on, what they may do to what, and who can read which data.

What a role may do is judged by `cdk_trainyard.policy` with conditions of Allow taken as met and those of Deny as they
stand: nobody can do more than it says here, as far as the templates know. AWS's managed policies are named, not read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Final

from cdk_trainyard.policy import Policies, Policy, PolicyError, PolicyKind, Principal, Request, evaluate, parse_policy
from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.identities import MADE_ELSEWHERE, USER, Identities, statements
from cdk_trainyard.report.identities import listed as _list
from cdk_trainyard.report.stand_ins import ACCOUNT, StandIns
from cdk_trainyard.report.stores import ACCESS
from cdk_trainyard.report.words import joined

_WILD: Final = re.compile(r"[*?$]")
_ALL_BUT: Final = "every action but "
_WHOEVER: Final = "whoever has the user's password or access keys"
_EVERY_ONE: Final = (":role/*", ":user/*", ":policy/*")
_RESOURCE_POLICIES: Final = {
    "AWS::S3::BucketPolicy": ("Bucket", "PolicyDocument"),
    "AWS::SecretsManager::ResourcePolicy": ("SecretId", "ResourcePolicy"),
}
_SECURE: Final = {"aws:SecureTransport": "true", "s3:TlsVersion": "1.3"}
ESCALATIONS: Final = {
    "iam:AttachRolePolicy": "attaches any policy to a role",
    "iam:AttachUserPolicy": "attaches any policy to a user",
    "iam:CreateAccessKey": "makes keys of another user",
    "iam:CreatePolicyVersion": "rewrites a managed policy",
    "iam:PassRole": "hands any role to a service",
    "iam:PutRolePolicy": "writes a role's policy",
    "iam:PutUserPolicy": "writes a user's policy",
    "iam:SetDefaultPolicyVersion": "brings back an older policy",
    "iam:UpdateAssumeRolePolicy": "decides who takes on a role",
    "sts:AssumeRole": "takes on any role that trusts the account",
}
"""Actions that give more than they say when any resource is theirs.

Source: AWS IAM User Guide, "IAM Access Analyzer policy check reference" (security warnings on PassRole with a star),
and AWS Prescriptive Guidance, "Preventing privilege escalation" (read 2026-11).
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """One statement of a role's policies.

    Attributes:
        effect: ``Allow`` or ``Deny``.
        actions: The actions.
        resources: What they are on, in words.
        condition: Under which condition, in words.
        source: The policy that says so.
        wildcards: What of it is for everything.
    """

    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    condition: str
    source: str
    wildcards: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """A role.

    Attributes:
        resource: The resource.
        trusts: Who may take it on, in words.
        grants: What it may do.
        managed: AWS's own policies that it has.
        escalations: What could give it more.
    """

    resource: Resource
    trusts: tuple[str, ...]
    grants: tuple[Grant, ...]
    managed: tuple[str, ...]
    escalations: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """Somebody who can do something with a store.

    Attributes:
        name: A role's path, or what a policy of the store names.
        trusts: Who may take the role on. Default - it is none.
        part: The part of the store that it is about. Nothing: all of it.
    """

    name: str
    trusts: tuple[str, ...] = ()
    part: str = ""


class Permissions:
    """The roles of an assembly."""

    def __init__(self, graph: Graph) -> None:
        """Take an assembly.

        Args:
            graph: Its graph.
        """
        self.graph = graph
        self.stand_ins = StandIns(graph)
        self._identities = Identities(graph)
        self.notes: list[str] = []
        self._resources: dict[tuple[str, str], tuple[str, ...]] = {}

    @cached_property
    def roles(self) -> list[Role]:
        """Every role and user, and for what makes its own elsewhere, what its policies here give it."""
        return sorted(map(self._role, self._identities.holders), key=lambda role: role.resource.path)

    def _role(self, resource: Resource) -> Role:
        properties = self.graph.properties(resource)
        trust = statements(properties.get("AssumeRolePolicyDocument"))
        grants = tuple(
            self._grant(each, name)
            for name, document in self._identities.documents[resource.key]
            for each in statements(document)
        )
        return Role(
            resource=resource,
            trusts=(_TAKEN_ON[resource.type],)
            if resource.type in _TAKEN_ON
            else tuple(dict.fromkeys(said for each in trust for said in self._trusts(each))),
            grants=grants,
            managed=tuple(dict.fromkeys(self._identities.managed(resource))),
            escalations=tuple(dict.fromkeys(said for grant in grants for said in _escalations(grant))),
        )

    def _trusts(self, statement: Mapping[str, Any]) -> Iterator[str]:
        principal = statement.get("Principal", statement.get("NotPrincipal", "?"))
        condition = self._condition(statement.get("Condition"))
        under = f", only where {condition}" if condition else ""
        if not isinstance(principal, Mapping):
            yield f"anybody{under}" if principal == "*" else f"{self.graph.said(principal)}{under}"
            return
        for kind, names in principal.items():
            for name in names if isinstance(names, list) else [names]:
                yield f"{'anybody' if name == '*' else f'{_KINDS.get(kind, kind)} {self.graph.said(name)}'}{under}"

    def _grant(self, statement: Mapping[str, Any], source: str) -> Grant:
        negated = [name for name in ("NotAction", "NotResource") if name in statement]
        actions = _list(statement.get("Action", statement.get("NotAction", [])))
        resources = [
            self.graph.said(each) for each in _list(statement.get("Resource", statement.get("NotResource", [])))
        ]
        wide = [each for each in actions if "NotAction" not in negated and (each == "*" or each.endswith(":*"))]
        wide += ["any resource"] if "*" in resources else []
        return Grant(
            effect=str(statement.get("Effect", "?")),
            actions=tuple((_ALL_BUT if "NotAction" in negated else "") + self.graph.said(each) for each in actions),
            resources=tuple(("everything but " if "NotResource" in negated else "") + each for each in resources),
            condition=self._condition(statement.get("Condition")),
            source=source,
            wildcards=(*wide, *negated) if statement.get("Effect") == "Allow" else (),
        )

    def _condition(self, condition: Any) -> str:
        if not isinstance(condition, Mapping):
            return ""
        return " and ".join(
            f"{key} {_OPERATORS.get(operator, operator)} {self.graph.said(value)}"
            for operator, keys in condition.items()
            if isinstance(keys, Mapping)
            for key, value in keys.items()
        )

    def readers(self, store: Resource) -> list[Holder]:
        """Return who can read what is in a store, at most.

        Args:
            store: A store; of a type that `ACCESS` does not know, nobody is known.
        """
        return self._who(store, ACCESS[store.type].read) if store.type in ACCESS else []

    def writers(self, store: Resource) -> list[Holder]:
        """Return who can write into a store, at most.

        Args:
            store: As above.
        """
        return self._who(store, ACCESS[store.type].write) if store.type in ACCESS else []

    def _who(self, store: Resource, action: str) -> list[Holder]:
        arn = self.stand_ins.of(store, "Arn").removesuffix(":*")
        policies = self._resource_policies.get(store.key, ())
        found = []
        is_named = any(not each.is_deny for policy in policies for each in policy.statements)
        for role in self.roles:
            if not is_named and not any(_begins(text, arn) for text in self._allowed(role.resource.key, action)):
                continue  # whoever is allowed nothing like it need not be judged
            if self._may(role.resource, action, f"{arn}{ACCESS[store.type].within}", policies):
                found.append(Holder(name=role.resource.path, trusts=role.trusts))
                continue
            parts = [
                part
                for part in self._parts(role.resource, arn)
                if self._may(role.resource, action, f"{arn}{part}", policies)
            ]
            if parts:
                said = ", ".join(part.lstrip("/:") for part in parts)
                found.append(Holder(name=role.resource.path, trusts=role.trusts, part=said))
        return [*found, *self._guests(policies, action)]

    def _allowed(self, role: str, action: str) -> tuple[str, ...]:
        """Return what a role's policies allow an action on; of everything but something, everything."""
        if (role, action) not in self._resources:
            self._resources[role, action] = tuple(
                "*" if "NotResource" in each.source else text.source
                for policy in self._parsed[role]
                for each in policy.statements
                if not each.is_deny and each.is_about_action(action)
                for text in each.resources
            )
        return self._resources[role, action]

    def _guests(self, policies: Sequence[Policy], action: str) -> list[Holder]:
        """Return whom a store's own policies name beside the roles of the assembly: services, accounts, users."""
        ours = {self.stand_ins.of(role.resource, "Arn") for role in self.roles} | {
            f"arn:aws:iam::{ACCOUNT}:root",
            ACCOUNT,
        }
        found = []
        for statement in (each for policy in policies for each in policy.statements):
            principal = statement.source.get("Principal")
            if statement.is_deny or not statement.is_about_action(action):
                continue
            if "NotPrincipal" in statement.source:
                found.append("anybody but whom its policy excludes")
                continue
            for kind, names in (principal if isinstance(principal, Mapping) else {"AWS": principal}).items():
                others = [name for name in _list(names) if name not in ours]
                found += [f"{_KINDS.get(kind, kind)} {'anybody' if name == '*' else name}".strip() for name in others]
        return [Holder(name=name) for name in dict.fromkeys(found)]

    def _parts(self, role: Resource, arn: str) -> list[str]:
        """Return the parts of a store that a role's policies name."""
        texts = (
            text.source for policy in self._parsed[role.key] for each in policy.statements for text in each.resources
        )
        return list(dict.fromkeys(text.removeprefix(arn) for text in texts if text.startswith(arn) and text != arn))

    def _may(self, role: Resource, action: str, resource: str, policies: tuple[Policy, ...]) -> bool:
        request = Request(
            principal=Principal.user(self.stand_ins.of(role, "Arn"))
            if role.type == USER
            else Principal.role_session(self.stand_ins.role(role), "session"),
            action=action,
            resource=resource,
            keys=_SECURE,
            resource_account=ACCOUNT,
        )
        try:
            return evaluate(request, Policies(identity=self._parsed[role.key], resource=policies)).allowed
        except PolicyError as error:
            self.notes.append(f"{role.path}: {error}")
            return False

    @cached_property
    def _parsed(self) -> dict[str, tuple[Policy, ...]]:
        return {
            key: tuple(
                policy for name, document in listed for policy in self._policy(document, PolicyKind.IDENTITY, name)
            )
            for key, listed in self._identities.documents.items()
        }

    @cached_property
    def _resource_policies(self) -> dict[str, tuple[Policy, ...]]:
        found: dict[str, tuple[Policy, ...]] = {}
        for resource in self.graph.of_type(*_RESOURCE_POLICIES):
            of, document = _RESOURCE_POLICIES[resource.type]
            properties = self.graph.properties(resource)
            parsed = self._policy(properties.get(document), PolicyKind.RESOURCE, resource.path)
            for store in self.graph.targets(properties.get(of)):
                found[store.key] = (*found.get(store.key, ()), *parsed)
        for key in self.graph.of_type("AWS::KMS::Key"):
            found[key.key] = tuple(
                self._policy(self.graph.properties(key).get("KeyPolicy"), PolicyKind.RESOURCE, key.path)
            )
        return found

    def _policy(self, document: Any, kind: PolicyKind, name: str) -> list[Policy]:
        """Read a policy statement by statement, so that one that nobody understands does not hide the others."""
        found = []
        for statement in statements(self.stand_ins.value(document)):
            said = {
                key: value
                for key, value in statement.items()
                if key != "Condition" or statement.get("Effect") == "Deny"
            }
            try:
                found.append(parse_policy({"Version": "2012-10-17", "Statement": [said]}, kind=kind, name=name))
            except (PolicyError, TypeError, AttributeError, ValueError):
                self.notes.append(f"{name}: a statement that is no policy language that AWS describes")
        return found


_KINDS: Final = {"AWS": "", "Service": "the service", "Federated": "the identity provider", "CanonicalUser": "the user"}
_TAKEN_ON: Final = {**MADE_ELSEWHERE, USER: _WHOEVER}
_OPERATORS: Final = {
    "StringEquals": "is", "StringLike": "is like", "ArnLike": "is like", "ArnEquals": "is", "Bool": "is",
    "StringNotEquals": "is not", "Null": "is absent:", "NumericLessThan": "is below", "IpAddress": "is in",
    "ForAnyValue:StringEquals": "has one of", "ForAllValues:StringEquals": "has only",
}  # fmt: skip


def _begins(pattern: str, arn: str) -> bool:
    """Whether what a pattern matches may begin as an ARN does: the same up to its first wildcard or variable."""
    fixed = _WILD.split(pattern, maxsplit=1)[0]
    return arn.startswith(fixed) or fixed.startswith(arn)


def _escalations(grant: Grant) -> Iterator[str]:
    wide = [each for each in grant.resources if each.endswith(_EVERY_ONE)]
    if {"any resource", "NotResource"} & {*grant.wildcards}:
        wide = ["any resource"]
    if grant.effect != "Allow" or not wide:
        return
    narrowed = f", only where {grant.condition}" if grant.condition else ""
    excluded = [each.removeprefix(_ALL_BUT) for each in grant.actions if each.startswith(_ALL_BUT)]
    patterns = [(f"{_ALL_BUT}{', '.join(excluded)}", "*")] if excluded else [(each, each) for each in grant.actions]
    for name, pattern in patterns:
        gained = [
            each for each in ESCALATIONS if _matches(pattern, each) and not any(_matches(no, each) for no in excluded)
        ]
        if {"iam:AttachRolePolicy", "iam:PutRolePolicy", "iam:PutUserPolicy"} <= {*gained}:
            yield f"{name} on {joined(wide)}: it can give itself every permission{narrowed}"
        elif gained:
            yield f"{name} on {joined(wide)}: {joined([ESCALATIONS[each] for each in gained])}{narrowed}"


def _matches(pattern: str, action: str) -> bool:
    return fnmatchcase(action.lower(), pattern.lower())
