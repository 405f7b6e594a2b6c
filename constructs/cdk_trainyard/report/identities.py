"""Who has policies in templates, roles and users, and which documents: their own, attached ones, those of groups.

Source: AWS CloudFormation User Guide, resource types of AWS::IAM (read 2026-11).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph

ROLE: Final = "AWS::IAM::Role"
USER: Final = "AWS::IAM::User"
_GROUP: Final = "AWS::IAM::Group"
_NAMES: Final = {ROLE: "RoleName", USER: "UserName", _GROUP: "GroupName"}
_LISTED: Final = {ROLE: "Roles", USER: "Users", _GROUP: "Groups"}
"""The properties by which attached policies name each type."""
_INLINE: Final = {"AWS::IAM::RolePolicy": ROLE, "AWS::IAM::UserPolicy": USER, "AWS::IAM::GroupPolicy": _GROUP}
"""Types that are one inline policy, and whose."""
_POLICIES: Final = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
MADE_ELSEWHERE: Final = {PARALLELCLUSTER_TYPE: "nodes, by roles that ParallelCluster makes in a stack of its own"}
"""Types whose roles are in no template, though their policies are; and who takes such a role on."""


class Identities:
    """Roles and users of an assembly, and their policies."""

    def __init__(self, graph: Graph) -> None:
        """Take an assembly.

        Args:
            graph: Its graph.
        """
        self._graph = graph

    @cached_property
    def holders(self) -> list[Resource]:
        """Roles, users, and what makes its own roles elsewhere."""
        return self._graph.of_type(ROLE, USER, *MADE_ELSEWHERE)

    @cached_property
    def documents(self) -> dict[str, list[tuple[str, Any]]]:
        """Key of a holder to its policies: their names and documents."""
        found: dict[str, list[tuple[str, Any]]] = {
            each.key: [] for each in (*self.holders, *self._graph.of_type(_GROUP))
        }
        for cluster in self._graph.of_type(*MADE_ELSEWHERE):
            self._attach(found, cluster, self._graph.targets(self._graph.properties(cluster), *_POLICIES))
        for owner in self._graph.of_type(*_NAMES):
            properties = self._graph.properties(owner)
            for each in listed(properties.get("Policies", [])):
                if isinstance(each, Mapping):
                    name = self._graph.said(each.get("PolicyName", "inline"))
                    found[owner.key].append((f"{owner.path} ({name})", each.get("PolicyDocument")))
            self._attach(found, owner, self._graph.targets(properties.get("ManagedPolicyArns"), *_POLICIES))
        for policy in self._graph.of_type(*_POLICIES, *_INLINE):
            for kind, owners in _LISTED.items():
                named = self._graph.properties(policy).get(_NAMES[kind] if policy.type in _INLINE else owners)
                if _INLINE.get(policy.type, kind) == kind:
                    for owner in self._named(named, kind):
                        self._attach(found, owner, [policy])
        for user, group in self._memberships():
            found[user.key] += [each for each in found[group.key] if each not in found[user.key]]
        return found

    def managed(self, holder: Resource) -> Iterator[str]:
        """Yield AWS's own policies that a holder has, by itself or by its groups.

        Args:
            holder: The holder.
        """
        groups = [group for user, group in self._memberships() if user.key == holder.key]
        for each in (holder, *groups):
            for arn in listed(self._graph.properties(each).get("ManagedPolicyArns", [])):
                text = self._graph.said(arn)
                if ":iam::aws:policy/" in text:
                    yield text.partition(":policy/")[2]

    def _memberships(self) -> Iterator[tuple[Resource, Resource]]:
        for user in self._graph.of_type(USER):
            for group in self._named(self._graph.properties(user).get("Groups"), _GROUP):
                yield user, group
        for addition in map(self._graph.properties, self._graph.of_type("AWS::IAM::UserToGroupAddition")):
            for group in self._named(addition.get("GroupName"), _GROUP):
                for user in self._named(addition.get("Users"), USER):
                    yield user, group

    def _named(self, value: Any, kind: str) -> list[Resource]:
        """Return whom a value refers to, or names as the template does."""
        names = [each for each in listed(value) if isinstance(each, str)]
        given = (each for each in self._graph.of_type(kind) if self._graph.properties(each).get(_NAMES[kind]) in names)
        return list({each.key: each for each in (*self._graph.targets(value, kind), *given)}.values())

    def _attach(self, found: dict[str, list[tuple[str, Any]]], owner: Resource, policies: Sequence[Resource]) -> None:
        for policy in policies:
            if all(name != policy.path for name, _ in found[owner.key]):
                found[owner.key].append((policy.path, self._graph.properties(policy).get("PolicyDocument")))


def listed(value: Any) -> Sequence[Any]:
    """Return what policies write as one or as a list, as a list.

    Args:
        value: The value.
    """
    return value if isinstance(value, list) else [value]


def statements(document: Any) -> list[Mapping[str, Any]]:
    """Return the statements of a policy document.

    Args:
        document: The document; what is none has none.
    """
    found = document.get("Statement", []) if isinstance(document, Mapping) else []
    return [each for each in listed(found) if isinstance(each, Mapping)]
