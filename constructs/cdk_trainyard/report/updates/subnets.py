"""Subnets that are removed under what is kept: they stay.

Sources: botocore 1.44.5, ``ec2/2016-11-15``, DeleteSubnet, and Amazon EC2 API Reference, "Error codes for the Amazon
EC2 API", DependencyViolation (a subnet goes when nothing is in it); Amazon RDS User Guide, "Working with a DB instance
in a VPC", and FSx for Lustre User Guide, "File system access control with Amazon VPC" (network interfaces in the
subnets); AWS CloudFormation User Guide, "Stack status codes" (what a clean-up cannot delete, the update leaves). Read
2026-11-28.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, Final

from cdk_trainyard.report.data import KEPT
from cdk_trainyard.report.nested import imports, properties_of, references
from cdk_trainyard.report.replacement import exports, resources
from cdk_trainyard.report.updates.effects import PlanRow

Template = Mapping[str, Any]
Key = tuple[str, str]
_SUBNET: Final = "AWS::EC2::Subnet"
_IN_SUBNETS: Final = {"AWS::FSx::FileSystem", "AWS::RDS::DBInstance"}
_STAYS: Final = (
    "{} is kept, with network interfaces in it, and EC2 deletes no such subnet: the update leaves it in the account; "
    "delete it when that is gone"
)


def with_kept_inside(
    rows: Iterable[PlanRow], old: Mapping[str, Template], new: Mapping[str, Template]
) -> Iterator[PlanRow]:
    """Yield rows, with what keeps those subnets from going that are removed.

    Args:
        rows: What happens to resources.
        old: Stack to its template, before.
        new: Stack to its template, after.
    """
    there = {(stack, name) for stack, each in new.items() for name in resources(each)}
    inside = _subnets_of_kept(old, there)
    for row in rows:
        holder = None if row.remedy or row.key in there else inside.get(row.key)
        yield replace(row, remedy=_STAYS.format("/".join(holder))) if holder else row


def _subnets_of_kept(old: Mapping[str, Template], there: AbstractSet[Key]) -> dict[Key, Key]:
    """Return the subnets of what leaves its stack and is kept, and what that is."""
    everything = {(stack, name): body for stack, each in old.items() for name, body in resources(each).items()}
    exported = {name: (stack, value) for stack, each in old.items() for name, value in exports(each).items()}
    return {
        subnet: key
        for key, body in everything.items()
        if body["Type"] in _IN_SUBNETS and body.get("DeletionPolicy") in KEPT
        if key not in there
        for subnet in _reached(key, everything, exported)
        if everything[subnet]["Type"] == _SUBNET
    }


def _reached(key: Key, everything: Mapping[Key, Template], exported: Mapping[str, tuple[str, Any]]) -> set[Key]:
    """Return all that a resource refers to, at once or through others, in its stack and in others."""
    found: set[Key] = set()
    left = [key]
    while left:
        stack, name = left.pop()
        body = properties_of(everything[stack, name])
        values = [(stack, body), *(exported[each] for each in imports(body) if each in exported)]
        next_ones = {(owner, each) for owner, value in values for each in references(value)}
        left += [each for each in next_ones if each in everything and each not in found]
        found |= {*left}
    return found
