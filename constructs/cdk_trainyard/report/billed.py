"""What of an assembly is paid by the hour or by its size, and as which items of a price list.

Sources: the pricing pages of EC2, SageMaker AI, VPC, Elastic Load Balancing, RDS, FSx for Lustre and Managed Service
for Prometheus (read 2026-11).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.machines import ON_DEMAND, Machines
from cdk_trainyard.report.metered import WORKSPACE, metered
from cdk_trainyard.report.prices import (
    INTERFACE_ENDPOINT,
    LOAD_BALANCERS,
    NAT_GATEWAY,
    PUBLIC_ADDRESS,
    database,
    hyperpod,
    instance,
    lustre,
)

_TRAINING: Final = "training"
_ENGINES: Final = {"mysql", "mariadb", "postgres"}
_CLUSTER: Final = "AWS::SageMaker::Cluster"


@dataclass(frozen=True, kw_only=True, slots=True)
class Billed:
    """One line of a bill.

    Attributes:
        resource: What is paid.
        name: What it is, in a word: an instance type, ``NAT gateway``.
        items: Items of a price list that it may be, the closest first, each with what it is the price of instead.
            Nothing: there is none, or it is paid in another way.
        count: How many, or how many GiB, when it is deployed.
        most: How many there may be.
        assumption: What was assumed.
        group: The part of the resource. Default - all of it.
        is_machine: Whether it is an instance of a cluster, a group or by itself.
        written: Where the deployment file or the app asks for it. Nothing: nobody says.
    """

    resource: Resource
    name: str
    items: tuple[tuple[str, str], ...]
    count: int
    most: int
    assumption: str
    group: str = ""
    is_machine: bool = False
    written: str = ""


def billed(graph: Graph, machines: Sequence[Machines]) -> Iterator[Billed]:
    """Yield what is paid by the hour or by its size.

    Args:
        graph: The resources.
        machines: The machines.
    """
    yield from map(_machines, machines)
    for resource in graph.resources.values():
        if of_type := _TYPES.get(resource.type):
            yield from of_type(graph, resource)
        for each in metered(graph, resource, machines):
            yield Billed(
                resource=resource,
                name=each.name,
                items=((each.item, ""),) if each.item else (),
                count=each.count,
                most=each.most,
                assumption=each.assumption,
            )


def _machines(each: Machines) -> Billed:
    spread = f", up to {each.most}" if each.most > each.count else ""
    assumption = f"on demand, Linux; {each.count} when it is deployed{spread}"
    items: tuple[tuple[str, str], ...] = ((instance(each.type), ""),)
    if each.resource.type == _CLUSTER:
        items = ((hyperpod(each.type), ""), (instance(each.type), _TRAINING))
    if each.paid != ON_DEMAND:
        items, assumption = (), f"paid as {each.paid}, which has a price of its own"
    return Billed(
        resource=each.resource,
        name=each.type,
        items=items,
        count=each.count,
        most=each.most,
        assumption=assumption,
        group=each.name,
        is_machine=True,
        written=each.written,
    )


def _one(resource: Resource, name: str, item: str, assumption: str, count: int = 1) -> Billed:
    return Billed(resource=resource, name=name, items=((item, ""),), count=count, most=count, assumption=assumption)


def _nat_gateway(_graph: Graph, resource: Resource) -> Iterator[Billed]:
    yield _one(resource, "NAT gateway", NAT_GATEWAY, "without what flows through it")


def _address(graph: Graph, resource: Resource) -> Iterator[Billed]:
    """Amazon VPC pricing: every public IPv4 address, used or idle, but those that one brings."""
    if "PublicIpv4Pool" not in graph.properties(resource):
        yield _one(resource, "Public IPv4 address", PUBLIC_ADDRESS, "used or idle")


def _endpoint(graph: Graph, resource: Resource) -> Iterator[Billed]:
    """AWS PrivateLink pricing: an interface endpoint by the hour in each zone; gateway endpoints are free."""
    properties = graph.properties(resource)
    if str(properties.get("VpcEndpointType", "Gateway")) == "Interface":
        zones = properties.get("SubnetIds")
        count = len(zones) if isinstance(zones, list) else 1
        yield _one(
            resource, "Interface endpoint", INTERFACE_ENDPOINT, "each zone; without what flows through it", count
        )


def _load_balancer(graph: Graph, resource: Resource) -> Iterator[Billed]:
    kind = str(graph.properties(resource).get("Type", "application"))
    if kind in LOAD_BALANCERS:
        yield _one(resource, "Load balancer", LOAD_BALANCERS[kind], "without capacity units")


def _database(graph: Graph, resource: Resource) -> Iterator[Billed]:
    """Amazon RDS for MySQL pricing: an instance with a standby is a class of its own; storage is paid beside it."""
    properties = graph.properties(resource)
    if str(properties.get("Engine", "")).lower() in _ENGINES:
        multi_az = str(properties.get("MultiAZ", "")).lower() == "true"
        item = database(str(properties.get("DBInstanceClass", "")), multi_az=multi_az)
        standby = "with a standby" if multi_az else "in one zone"
        yield _one(resource, "RDS DBInstance", item, f"{properties.get('Engine')}, {standby}; without storage")


def _lustre(graph: Graph, resource: Resource) -> Iterator[Billed]:
    properties = graph.properties(resource)
    config = properties.get("LustreConfiguration")
    given: dict[str, Any] = config if isinstance(config, dict) else {}
    size, speed = str(properties.get("StorageCapacity", "")), str(given.get("PerUnitStorageThroughput", 0))
    if properties.get("FileSystemType") == "LUSTRE" and size.isdigit() and speed.isdigit():
        storage = str(properties.get("StorageType", "SSD"))
        item = lustre(storage, int(speed))
        yield _one(resource, "FSx for Lustre", item, f"{storage}, {speed} MB/s per TiB; without backups", int(size))


_TYPES: Final = {
    "AWS::EC2::EIP": _address,
    "AWS::EC2::NatGateway": _nat_gateway,
    "AWS::EC2::VPCEndpoint": _endpoint,
    "AWS::ElasticLoadBalancingV2::LoadBalancer": _load_balancer,
    "AWS::FSx::FileSystem": _lustre,
    "AWS::RDS::DBInstance": _database,
}

BY_USE: Final = {
    WORKSPACE: "by samples that alarms and dashboards query; those that are written and kept are the clusters'",
    "AWS::ApiGateway::RestApi": "by calls",
    "AWS::CloudFront::Distribution": "by requests and traffic",
    "AWS::CloudWatch::Dashboard": "by the month: 3 USD each after the first three of an account (Amazon CloudWatch "
    "pricing, as public pages quote it, read 2026-11-24)",
    "AWS::DirectoryService::MicrosoftAD": "by the hour, each domain controller",
    "AWS::DocDB::DBInstance": "by the hour; storage and requests of its cluster",
    "AWS::DynamoDB::Table": "by what is stored, read and written",
    "AWS::EC2::Volume": "by size and performance",
    "AWS::ECS::TaskDefinition": "on Fargate by processor and memory; on instances nothing of its own",
    "AWS::EFS::FileSystem": "by what is stored",
    "AWS::EKS::Cluster": "by the hour",
    "AWS::ElastiCache::CacheCluster": "by the hour, each node",
    "AWS::ElastiCache::ReplicationGroup": "by the hour, each node",
    "AWS::FSx::FileSystem": "by size, performance and backups",
    "AWS::Grafana::Workspace": "by the month and user who signs in: 9 USD who edits or administers, 5 who looks, one "
    "who edits at least (Amazon Managed Grafana pricing, read 2026-11-23)",
    "AWS::KMS::Key": "by the month, and by use",
    "AWS::Lambda::Function": "by use",
    "AWS::Logs::LogGroup": "by what is written and stored",
    "AWS::Neptune::DBInstance": "by the hour; storage and requests of its cluster",
    "AWS::OpenSearchService::Domain": "by the hour, each node, and storage",
    "AWS::RDS::DBCluster": "by instance, storage and requests",
    "AWS::RDS::DBInstance": "by instance and storage",
    "AWS::Redshift::Cluster": "by the hour, each node, and storage",
    "AWS::S3::Bucket": "by what is stored and requested",
    "AWS::SecretsManager::Secret": "by the month, and by use",
}
"""What else costs, and by what."""
