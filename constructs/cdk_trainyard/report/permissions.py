"""Roles of an assembly in plain words: who takes them on, what they may do to what, and who can read which data.

What a role may do is judged by `cdk_trainyard.policy` with conditions of Allow taken as met and those of Deny as they
stand: nobody can do more than it says here, as far as the templates know. AWS's managed policies are named, not read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from cdk_trainyard.policy import Policies, Policy, PolicyError, PolicyKind, Principal, Request, evaluate, parse_policy
from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.stand_ins import ACCOUNT, StandIns
from cdk_trainyard.report.stores import ACCESS

_WILD: Final = re.compile(r"[*?$]")
ROLE: Final = "AWS::IAM::Role"
_MADE_ELSEWHERE: Final = {"Custom::PclusterCluster": "nodes, by roles that ParallelCluster makes in a stack of its own"}
"""Types whose roles are in no template, though their policies are; and who takes such a role on."""
_POLICIES: Final = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
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
        self.notes: list[str] = []
        self._resources: dict[tuple[str, str], tuple[str, ...]] = {}

    @cached_property
    def roles(self) -> list[Role]:
        """Every role, and for what makes its own elsewhere, what its policies here give it."""
        return sorted(map(self._role, self._holders), key=lambda role: role.resource.path)

    @cached_property
    def _holders(self) -> list[Resource]:
        return self.graph.of_type(ROLE, *_MADE_ELSEWHERE)

    def _role(self, resource: Resource) -> Role:
        properties = self.graph.properties(resource)
        trust = statements(properties.get("AssumeRolePolicyDocument"))
        grants = tuple(
            self._grant(each, name) for name, document in self.documents[resource.key] for each in statements(document)
        )
        return Role(
            resource=resource,
            trusts=tuple(
                [_MADE_ELSEWHERE[resource.type]]
                if resource.type in _MADE_ELSEWHERE
                else dict.fromkeys(said for each in trust for said in self._trusts(each))
            ),
            grants=grants,
            managed=tuple(self._managed(properties)),
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
        wide = [action for action in actions if action == "*" or action.endswith(":*")]
        wide += ["any resource"] if "*" in resources else []
        return Grant(
            effect=str(statement.get("Effect", "?")),
            actions=tuple(
                ("every action but " if "NotAction" in negated else "") + self.graph.said(each) for each in actions
            ),
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

    def _managed(self, properties: Mapping[str, Any]) -> Iterator[str]:
        for arn in _list(properties.get("ManagedPolicyArns", [])):
            text = self.graph.said(arn)
            if ":iam::aws:policy/" in text:
                yield text.partition(":policy/")[2]

    @cached_property
    def documents(self) -> dict[str, list[tuple[str, Any]]]:
        """Key of a role to its policies: their names and documents."""
        found: dict[str, list[tuple[str, Any]]] = {role.key: [] for role in self._holders}
        for cluster in self.graph.of_type(*_MADE_ELSEWHERE):
            for policy in self.graph.targets(self.graph.properties(cluster), *_POLICIES):
                self._attach(found, cluster.key, policy)
        for role in self.graph.of_type(ROLE):
            properties = self.graph.properties(role)
            for each in _list(properties.get("Policies", [])):
                if isinstance(each, Mapping):
                    found[role.key].append(
                        (
                            f"{role.path} ({self.graph.said(each.get('PolicyName', 'inline'))})",
                            each.get("PolicyDocument"),
                        )
                    )
            for policy in self.graph.targets(properties.get("ManagedPolicyArns"), *_POLICIES):
                self._attach(found, role.key, policy)
        for policy in self.graph.of_type(*_POLICIES):
            for role in self.graph.targets(self.graph.properties(policy).get("Roles"), ROLE):
                self._attach(found, role.key, policy)
        return found

    def _attach(self, found: dict[str, list[tuple[str, Any]]], role: str, policy: Resource) -> None:
        if all(name != policy.path for name, _ in found[role]):
            found[role].append((policy.path, self.graph.properties(policy).get("PolicyDocument")))

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
            principal=Principal.role_session(self.stand_ins.role(role), "session"),
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
            for key, listed in self.documents.items()
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
_OPERATORS: Final = {
    "StringEquals": "is", "StringLike": "is like", "ArnLike": "is like", "ArnEquals": "is", "Bool": "is",
    "StringNotEquals": "is not", "Null": "is absent:", "NumericLessThan": "is below", "IpAddress": "is in",
    "ForAnyValue:StringEquals": "has one of", "ForAllValues:StringEquals": "has only",
}  # fmt: skip


def statements(document: Any) -> list[Mapping[str, Any]]:
    """Return the statements of a policy document.

    Args:
        document: The document; what is none has none.
    """
    listed = document.get("Statement", []) if isinstance(document, Mapping) else []
    return [each for each in _list(listed) if isinstance(each, Mapping)]


def _begins(pattern: str, arn: str) -> bool:
    """Whether what a pattern matches may begin as an ARN does: the same up to its first wildcard or variable."""
    fixed = _WILD.split(pattern, maxsplit=1)[0]
    return arn.startswith(fixed) or fixed.startswith(arn)


def _escalations(grant: Grant) -> Iterator[str]:
    if grant.effect != "Allow" or "any resource" not in grant.wildcards:
        return
    for action in grant.actions:
        if action in {"*", "iam:*"}:
            yield f"{action} on any resource: it can give itself every permission"
        elif action in ESCALATIONS:
            narrowed = f", only where {grant.condition}" if grant.condition else ""
            yield f"{action} on any resource: {ESCALATIONS[action]}{narrowed}"


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]
