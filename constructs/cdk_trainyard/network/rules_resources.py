"""What the parts of a network may look like: placement groups, statements, selections of subnets."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.tokens import unresolved

_MOST_PARTITIONS = 7  # EC2 user guide, "Placement group rules": of a partition placement group in one zone


def placement_group_problems(
    strategy: ec2.PlacementGroupStrategy, partitions: int | None, spread_level: ec2.PlacementGroupSpreadLevel | None
) -> list[str]:
    """Check that partitions and spread level come with the strategy they belong to."""
    problems = []
    if partitions is not None and strategy is not ec2.PlacementGroupStrategy.PARTITION:
        problems.append(f"'partitions' must be left out for {strategy.name}, got {partitions}; use PARTITION")
    elif partitions is not None and not unresolved(partitions) and not 1 <= partitions <= _MOST_PARTITIONS:
        problems.append(f"'partitions' must be 1 to {_MOST_PARTITIONS}, got {partitions}")
    if spread_level is not None and strategy is not ec2.PlacementGroupStrategy.SPREAD:
        problems.append(f"'spread_level' must be left out for {strategy.name}, got {spread_level.name}; use SPREAD")
    return problems


def s3_statement_problems(statements: Sequence[iam.PolicyStatement] | None) -> list[str]:
    """Check that statements of an endpoint's policy say whom they are about, as EC2 asks."""
    return [
        f"'s3_statements' must each have a principal, got one without: number {number}; add iam.StarPrincipal() and "
        f"narrow it by a condition"
        for number, statement in enumerate(statements or (), start=1)
        if not statement.has_principal
    ]


def subnet_selection_problems(
    *, subnets_given: bool, group_name: str | None, type_name: str | None, groups: Mapping[str, str]
) -> list[str]:
    """Check that a selection of subnets says one thing, and one that there is.

    Args:
        subnets_given: Whether it lists the subnets.
        group_name: The subnet group it asks for.
        type_name: The subnet type it asks for.
        groups: The network's groups: name to type.
    """
    if sum((subnets_given, group_name is not None, type_name is not None)) > 1:
        return ["'subnets', 'subnet_type' and 'subnet_group_name' must each be given alone; keep one of them"]
    if group_name is not None and group_name not in groups:
        hint = did_you_mean(group_name, groups)
        return [f"'subnet_group_name' must be one of {', '.join(groups)}, got {group_name!r}{hint}"]
    if type_name is not None and type_name not in groups.values():
        types = ", ".join(dict.fromkeys(groups.values()))
        return [f"'subnet_type' must be one of {types} in this network, got {type_name}"]
    return []
