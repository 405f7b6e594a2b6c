"""How much of a quota the account uses already, beside what the deployment itself has made."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.account import Call
from cdk_trainyard.doctor.check import Answers
from cdk_trainyard.identifiers import AUTO_SCALING_GROUP_TAG, PARALLELCLUSTER_TAG, STACK_TAG
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.quotas.instances import Market, instance_quota

Row = Mapping[str, Any]

_PAGE: Final = {"MaxResults": 1000}
"""The most that EC2 tells at once. Asked for all at once it may throttle or time out: botocore's model of EC2."""
INSTANCES: Final = Call(
    "ec2",
    "DescribeInstances",
    {
        "Filters": [{"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "shutting-down"]}],
        **_PAGE,
    },
)
ADDRESSES: Final = Call("ec2", "DescribeAddresses")
VPCS: Final = Call("ec2", "DescribeVpcs", _PAGE)
GATEWAYS: Final = Call("ec2", "DescribeInternetGateways", _PAGE)
NATS: Final = Call(
    "ec2", "DescribeNatGateways", {"Filter": [{"Name": "state", "Values": ["pending", "available"]}], **_PAGE}
)
SUBNETS: Final = Call("ec2", "DescribeSubnets", _PAGE)
ENDPOINTS: Final = Call("ec2", "DescribeVpcEndpoints", _PAGE)
INTERFACES: Final = Call("ec2", "DescribeNetworkInterfaces", _PAGE)
FILE_SYSTEMS: Final = Call("fsx", "DescribeFileSystems")
BALANCERS: Final = Call("elbv2", "DescribeLoadBalancers")
DATABASES: Final = Call("rds", "DescribeDBInstances")
CLUSTERS: Final = Call("sagemaker", "ListClusters")
ECS_CLUSTERS: Final = Call("ecs", "ListClusters")
RECIPES: Final = Call("imagebuilder", "ListImageRecipes")
INFRASTRUCTURES: Final = Call("imagebuilder", "ListInfrastructureConfigurations")
_OWN_TAGS: Final = (STACK_TAG, AUTO_SCALING_GROUP_TAG, PARALLELCLUSTER_TAG)


def clusters(answers: Answers) -> list[Call]:
    """Return the calls that describe every HyperPod cluster of the account.

    Args:
        answers: What was said to `CLUSTERS`.
    """
    names = [row["ClusterName"] for row in answers.items(CLUSTERS, "ClusterSummaries")]
    return [Call("sagemaker", "DescribeCluster", {"ClusterName": name}) for name in names]


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """How the used part of quotas is counted.

    Attributes:
        names: What the quotas' names match.
        calls: What tells it.
        count: The used part: of the answers, what is the deployment's own, and the quota's name.
    """

    names: str
    calls: Sequence[Call]
    count: Callable[[Answers, "Own", str], int]


@dataclass(frozen=True, slots=True)
class Own:
    """What the deployment has made already.

    Attributes:
        ids: Physical ids of its stacks' resources.
        names: Names of its stacks, and of its cluster.
    """

    ids: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def has(self, row: Row, *keys: str) -> bool:
        """Whether something is the deployment's own, by its ids or its tags."""
        tags = {tag.get("Key"): str(tag.get("Value")) for tag in row.get("Tags") or row.get("TagSet") or ()}
        mine = self.ids | self.names
        return any(str(row.get(key)) in self.ids for key in keys) or any(tags.get(each) in mine for each in _OWN_TAGS)


def _count(call: Call, member: str, *keys: str, **wanted: str) -> Callable[[Answers, Own, str], int]:
    def count(answers: Answers, own: Own, _name: str) -> int:
        rows = (row for row in answers.items(call, member) if not own.has(row, *keys))
        return sum(all(row.get(key) == value for key, value in wanted.items()) for row in rows)

    return count


def _vcpus(answers: Answers, own: Own, name: str) -> int:
    """Return the vCPUs of the running instances that count against a quota: as many as their types have."""
    rows = (row for each in answers.items(INSTANCES, "Reservations") for row in each["Instances"])
    return sum(_vcpus_of(row, name) for row in rows if not own.has(row, "InstanceId"))


def _vcpus_of(row: Row, name: str) -> int:
    market = {"spot": Market.SPOT, "capacity-block": Market.RESERVED}.get(row.get("InstanceLifecycle", ""))
    kind = InstanceType.find(row["InstanceType"])
    if kind is None:
        return 0
    quota = instance_quota(kind, market or Market.ON_DEMAND)
    return kind.vcpus if quota is not None and quota.name == name else 0


def _nats(answers: Answers, own: Own, _name: str) -> int:
    """Return the NAT gateways of the zone that has the most."""
    zones = {row["SubnetId"]: row["AvailabilityZone"] for row in answers.items(SUBNETS, "Subnets")}
    used: dict[str, int] = {}
    for row in answers.items(NATS, "NatGateways"):
        if not own.has(row, "NatGatewayId"):
            zone = zones.get(row.get("SubnetId", ""), "")
            used[zone] = used.get(zone, 0) + 1
    return max(used.values(), default=0)


def _lustre(answers: Answers, own: Own) -> Iterator[tuple[Row, Row]]:
    for row in answers.items(FILE_SYSTEMS, "FileSystems"):
        if row.get("FileSystemType") == "LUSTRE" and not own.has(row, "FileSystemId"):
            yield row, row.get("LustreConfiguration", {})


def _file_systems(answers: Answers, own: Own, name: str) -> int:
    """Return the Lustre file systems of a deployment type, or their capacity: ``Lustre Persistent_2 file systems``."""
    kind = name.split()[1].upper()
    found = [row for row, said in _lustre(answers, own) if str(said.get("DeploymentType")).startswith(kind)]
    if "storage" in name:
        return sum(row.get("StorageCapacity") or 0 for row in found if row.get("StorageType") == "SSD")
    return len(found)


def _tiering(answers: Answers, own: Own, name: str) -> int:
    found = [said for row, said in _lustre(answers, own) if row.get("StorageType") == "INTELLIGENT_TIERING"]
    if "throughput" in name:
        return sum(said.get("ThroughputCapacity") or 0 for said in found)
    return sum((said.get("DataReadCacheConfiguration") or {}).get("SizeGiB") or 0 for said in found)


def _nodes(answers: Answers, own: Own, name: str) -> int:
    """Return the instances of HyperPod clusters that count against a quota: those that are there or are to come."""
    described = [answers[call].value for call in clusters(answers)]
    groups = [
        group
        for cluster in described
        if not {cluster.get("ClusterArn"), cluster.get("ClusterName")} & own.ids
        for group in (*cluster.get("InstanceGroups", ()), *cluster.get("RestrictedInstanceGroups", ()))
    ]
    return sum(_instances(group) for each in groups for group in _by_type(each) if _counts(group, name))


def _instances(group: Row) -> int:
    return max(group.get("CurrentCount") or 0, group.get("TargetCount") or 0)


def _by_type(group: Row) -> Iterator[Row]:
    """Yield a group, or one for each type of a group that takes several: which are to come nobody knows."""
    kinds = group.get("InstanceTypeDetails") or ()
    if group.get("InstanceType") or not kinds:
        yield group
        return
    rest = _instances(group)
    for kind in kinds:
        rest -= kind.get("CurrentCount") or 0
        yield {**group, **kind, "TargetCount": 0}
    yield {**group, "CurrentCount": 0, "TargetCount": max(0, rest)}


def _counts(group: Row, name: str) -> bool:
    spot = "Spot" in (group.get("CapacityRequirements") or {})
    if " across SageMaker " in name:
        return spot or "Spot" not in name
    typed = re.search(r"\bml\.[\w.-]+", name)
    of_type = typed is not None and group.get("InstanceType") == typed[0]
    if "training plans" in name:
        return of_type and bool(group.get("TrainingPlanArn"))
    return of_type and spot is ("spot" in name) and not group.get("TrainingPlanArn")


def _ecs_clusters(answers: Answers, own: Own, _name: str) -> int:
    arns = answers.items(ECS_CLUSTERS, "clusterArns")
    return sum(not {arn, arn.rpartition("/")[2]} & own.ids for arn in arns)


def _none(_answers: Answers, _own: Own, _name: str) -> int:
    return 0


USAGES: Final = (
    Usage(names=r"Running On-Demand .*|All .* Spot Instance Requests", calls=[INSTANCES], count=_vcpus),
    Usage(
        names="EC2-VPC Elastic IPs",
        calls=[ADDRESSES],
        count=_count(ADDRESSES, "Addresses", "AllocationId", "PublicIp"),
    ),
    Usage(names="VPCs per Region", calls=[VPCS], count=_count(VPCS, "Vpcs", "VpcId")),
    Usage(
        names="Internet gateways per Region",
        calls=[GATEWAYS],
        count=_count(GATEWAYS, "InternetGateways", "InternetGatewayId"),
    ),
    Usage(names="NAT gateways per Availability Zone", calls=[NATS, SUBNETS], count=_nats),
    Usage(
        names="Gateway VPC endpoints per Region",
        calls=[ENDPOINTS],
        count=_count(ENDPOINTS, "VpcEndpoints", "VpcEndpointId", VpcEndpointType="Gateway"),
    ),
    Usage(
        names="Network interfaces per Region",
        calls=[INTERFACES],
        count=_count(INTERFACES, "NetworkInterfaces", "NetworkInterfaceId", "VpcId"),
    ),
    Usage(names=r".* \(per file system\)", calls=[], count=_none),
    Usage(names=r"Lustre Persistent Intelligent-Tiering .*", calls=[FILE_SYSTEMS], count=_tiering),
    Usage(
        names=r"Lustre (Persistent_\d|Scratch) (file systems|storage capacity)",
        calls=[FILE_SYSTEMS],
        count=_file_systems,
    ),
    Usage(
        names=r"ml\.\S+ for cluster .*usage|.* across SageMaker HyperPod clusters|.* across training plans per Region",
        calls=[CLUSTERS],
        count=_nodes,
    ),
    Usage(
        names="Application Load Balancers per Region",
        calls=[BALANCERS],
        count=_count(BALANCERS, "LoadBalancers", "LoadBalancerArn", Type="application"),
    ),
    Usage(
        names="Network Load Balancers per Region",
        calls=[BALANCERS],
        count=_count(BALANCERS, "LoadBalancers", "LoadBalancerArn", Type="network"),
    ),
    Usage(names="Clusters per account", calls=[ECS_CLUSTERS], count=_ecs_clusters),
    Usage(names="Image recipes", calls=[RECIPES], count=_count(RECIPES, "imageRecipeSummaryList", "arn")),
    Usage(
        names="Infrastructure configurations",
        calls=[INFRASTRUCTURES],
        count=_count(INFRASTRUCTURES, "infrastructureConfigurationSummaryList", "arn"),
    ),
    Usage(
        names="DB instances",
        calls=[DATABASES],
        count=_count(DATABASES, "DBInstances", "DBInstanceIdentifier"),
    ),
)
"""The first row whose names match counts. What no row matches has no used part: it is of one VPC, one cluster or one
volume, or of what runs at once."""


def usage_of(name: str) -> Usage:
    """Return how the used part of a quota is counted.

    Args:
        name: The quota's name.
    """
    found = next((row for row in USAGES if re.fullmatch(row.names, name)), None)
    return found or Usage(names=name, calls=[], count=_none)
