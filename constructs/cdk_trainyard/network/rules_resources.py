"""What the parts of a network may look like: endpoints, interfaces, placement groups, selections, existing networks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.instances import InstanceType, is_zone_id
from cdk_trainyard.network.endpoints import Endpoint
from cdk_trainyard.network.rules import parse_cidr, zone_problems
from cdk_trainyard.tokens import unresolved

_ZONES_OF_A_SERVICE = 2  # RDS subnet groups, load balancers and EKS control planes ask for two
_MOST_PARTITIONS = 7  # EC2 user guide, "Placement group rules": of a partition placement group in one zone

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")  # Amazon S3 user guide, "General purpose bucket naming rules"


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetFacts:
    """What is known of a subnet that exists already.

    Attributes:
        subnet_id: Its id.
        zone: Its zone. None: not known.
        cidr: Its block. None: not known.
    """

    subnet_id: str
    zone: str | None
    cidr: str | None


def efa_problems(instance_type: InstanceType) -> list[str]:
    """Check that a type takes EFA interfaces."""
    if instance_type.efa_supported:
        return []
    return [f"'instance_type' must be one with EFA, got {instance_type.name!r}; launch it without EFA interfaces"]


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


def endpoint_problems(endpoints: Sequence[Endpoint]) -> list[str]:
    """Check that each service is asked for once."""
    repeated = sorted({endpoint for endpoint in endpoints if list(endpoints).count(endpoint) > 1})
    return [f"'interface_endpoints' must name each service once, got {', '.join(repeated)} again"] if repeated else []


def s3_statement_problems(statements: Sequence[iam.PolicyStatement] | None) -> list[str]:
    """Check that statements of an endpoint's policy say whom they are about, as EC2 asks."""
    return [
        f"'s3_statements' must each have a principal, got one without: number {number}; add iam.StarPrincipal() and "
        f"narrow it by a condition"
        for number, statement in enumerate(statements or (), start=1)
        if not statement.has_principal
    ]


def public_bucket_problems(names: Sequence[str]) -> list[str]:
    """Check that buckets which everybody may read are names, each once."""
    given = [name for name in names if not unresolved(name)]
    repeated = sorted({name for name in given if given.count(name) > 1})
    return [
        *(
            f"'public_buckets' must be names of buckets, without s3:// and path, got {name!r}"
            for name in given
            if not _BUCKET.fullmatch(name)
        ),
        *([f"'public_buckets' must name each bucket once, got {', '.join(repeated)} again"] if repeated else []),
    ]


def flow_logs_problems(*, kept: bool, key_given: bool) -> list[str]:
    """Check that a key has flow logs to encrypt."""
    if kept or not key_given:
        return []
    return ["'flow_logs_key' must be left out without flow logs, got a key; give 'flow_logs_retention' too"]


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
        return ["'subnets', 'subnet_type' and 'subnet_group_name' must not be given together; keep one of them"]
    if group_name is not None and group_name not in groups:
        hint = did_you_mean(group_name, groups)
        return [f"'subnet_group_name' must be one of {', '.join(groups)}, got {group_name!r}{hint}"]
    if type_name is not None and type_name not in groups.values():
        types = ", ".join(dict.fromkeys(groups.values()))
        return [f"'subnet_type' must be one of {types} in this network, got {type_name}"]
    return []


def existing_zone_problems(zone: str, region: str | None, accelerator: SubnetFacts) -> list[str]:
    """Check that an existing accelerator subnet stands in the zone that is said."""
    if unresolved(zone):
        return []
    problems = zone_problems("zone", zone, region)
    known = accelerator.zone
    comparable = known is not None and not unresolved(known) and is_zone_id(known) == is_zone_id(zone)
    if not problems and comparable and known != zone:
        problems.append(f"'zone' must be that of 'accelerator_subnet', {known!r}, got {zone!r}")
    return problems


def existing_cidr_problems(accelerator_cidr: str | None, accelerator: SubnetFacts) -> list[str]:
    """Check that the block said of an existing accelerator subnet is its own."""
    if accelerator_cidr is None or unresolved(accelerator_cidr):
        return []
    if parse_cidr(accelerator_cidr) is None:
        return [f"'accelerator_cidr' must be an IPv4 block, as '10.1.128.0/17', got {accelerator_cidr!r}"]
    if accelerator.cidr is not None and not unresolved(accelerator.cidr) and accelerator.cidr != accelerator_cidr:
        return [
            f"'accelerator_cidr' must be that of 'accelerator_subnet', {accelerator.cidr!r}, got {accelerator_cidr!r}"
        ]
    return []


def existing_subnets_problems(
    accelerator: SubnetFacts, public: Sequence[SubnetFacts], service: Sequence[SubnetFacts]
) -> list[str]:
    """Check that existing subnets are each what they are said to be, and services get at least two zones."""
    problems = []
    public_ids, service_ids = [subnet.subnet_id for subnet in public], [subnet.subnet_id for subnet in service]
    if accelerator.subnet_id in public_ids:
        problems.append(
            f"'public_subnets' must not hold 'accelerator_subnet', got {accelerator.subnet_id}; an instance with "
            f"several interfaces gets no public address, so it needs a private subnet"
        )
    problems += [
        f"'service_subnets' must be private, got {both}, which is in 'public_subnets' too"
        for both in sorted(set(public_ids) & set(service_ids))
    ]
    for keyword, ids in (("public_subnets", public_ids), ("service_subnets", service_ids)):
        repeated = sorted({subnet_id for subnet_id in ids if ids.count(subnet_id) > 1})
        if repeated:
            problems.append(f"{keyword!r} must name each subnet once, got {', '.join(repeated)} again")
    zones = {subnet.zone for subnet in service}
    if service and None not in zones and not unresolved(*zones) and len(zones) < _ZONES_OF_A_SERVICE:
        problems.append(
            f"'service_subnets' must stand in at least {_ZONES_OF_A_SERVICE} zones, got {', '.join(map(str, zones))} "
            f"alone; add a subnet, or leave them out"
        )
    return problems
