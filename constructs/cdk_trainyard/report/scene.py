"""What a picture of an assembly shows: networks, subnets and what stands in them, stores, and how they are joined."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.identities import ROLE
from cdk_trainyard.report.machines import Machines
from cdk_trainyard.report.network import LAUNCH, SUBNET, Member, Network
from cdk_trainyard.report.openings import Opening
from cdk_trainyard.report.words import counted, joined

_VPC: Final = "AWS::EC2::VPC"
_KINDS: Final = {
    "AWS::AutoScaling::AutoScalingGroup": ("compute", "Auto Scaling group"),
    "AWS::EC2::Instance": ("compute", "EC2 instance"),
    "AWS::EC2::NatGateway": ("door", "NAT gateway"),
    "AWS::ECS::Service": ("compute", "ECS service"),
    "AWS::EFS::FileSystem": ("store", "EFS file system"),
    "AWS::EKS::Cluster": ("compute", "EKS cluster"),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": ("door", "Load balancer"),
    "AWS::FSx::FileSystem": ("store", "FSx file system"),
    "AWS::Lambda::Function": ("compute", "Lambda function"),
    "AWS::RDS::DBCluster": ("store", "RDS cluster"),
    "AWS::RDS::DBInstance": ("store", "RDS instance"),
    "AWS::SageMaker::Cluster": ("compute", "SageMaker HyperPod cluster"),
    PARALLELCLUSTER_TYPE: ("compute", "ParallelCluster"),
}
_STORES: Final = {
    "AWS::DynamoDB::Table": "DynamoDB table",
    "AWS::KMS::Key": "KMS key",
    "AWS::S3::Bucket": "S3 bucket",
    "AWS::SecretsManager::Secret": "Secret",
}
_READ: Final = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret"}
"""Stores for which the picture shows who may read them: a key encrypts what is in the others."""
_MADE_FROM: Final = (*LAUNCH, "AWS::ECS::TaskDefinition", "AWS::IAM::InstanceProfile")
"""Types that say what others are made from: their file systems and their roles."""
_FILE_SYSTEMS: Final = {"AWS::FSx::FileSystem", "AWS::EFS::FileSystem"}
_MOST: Final = 40
_MOST_ARROWS: Final = 24

Scene = dict[str, Any]


def scene(
    graph: Graph,
    network: Network,
    machines: Sequence[Machines],
    openings: Sequence[Opening],
    access: Sequence[Mapping[str, Any]],
) -> Scene | None:
    """Return what a picture shows, as data; None where there is nothing to draw.

    Args:
        graph: The resources.
        network: Their network.
        machines: Their machines.
        openings: Ways in from the internet.
        access: Who can read and write what, as ``review.json`` has it.
    """
    members = {each.resource.key: each for each in network.members}
    placed = [each for each in graph.resources.values() if each.type in _KINDS and _is_placed(network, each, members)]
    cards = {each.key: _card(graph, each, members, machines) for each in placed[:_MOST]}
    kept = graph.of_type(*_STORES)[:_MOST]
    stores = [_store(each, access) for each in kept]
    if not cards and not stores:
        return None
    arrows = [
        *_mounts(graph, placed),
        *_traffic(network, members, openings),
        *_reads(graph, placed, [each for each in kept if each.type in _READ], access),
    ]
    drawn = {*cards, *(each["id"] for each in stores), "internet"}
    regions = joined(sorted({stack.region for stack in graph.assembly.stacks} - {""}) or [""])
    return {
        "title": f"Region {regions}" if regions else "A Region that the templates do not name",
        "region": regions or "a Region that the templates do not name",
        "networks": [*_networks(graph, network, [each for each in placed if each.key in cards], cards)],
        "stores": stores,
        "arrows": [each for each in arrows if {each["from"], each["to"]} <= drawn][:_MOST_ARROWS],
        "left_out": len(placed) - len(cards) + len(graph.of_type(*_STORES)) - len(kept),
    }


def _is_placed(network: Network, resource: Resource, members: Mapping[str, Member]) -> bool:
    return resource.key in members or bool(network.subnets_of(resource))


def _card(graph: Graph, resource: Resource, members: Mapping[str, Member], machines: Sequence[Machines]) -> Scene:
    kind, noun = _KINDS[resource.type]
    lines = [_said(each) for each in machines if each.resource.key == resource.key]
    lines += [*_details(graph, resource)]
    if resource.key in members:
        groups = [graph.resources[key].path for key in members[resource.key].groups]
        lines.append(f"security group{'s' * (len(groups) > 1)} {joined(groups)}")
    return {"id": resource.key, "title": resource.path, "kind": kind, "noun": noun, "lines": lines}


def _said(each: Machines) -> str:
    count = f"{each.count}" if each.count == each.most else f"{each.count} to {each.most}"
    paid = "" if each.paid == "on demand" else f", {each.paid}"
    return f"{count} of {each.type}{f' ({each.name})' if each.name else ''}{paid}"


def _details(graph: Graph, resource: Resource) -> Iterator[str]:
    properties = graph.properties(resource)
    if resource.type == "AWS::FSx::FileSystem":
        config = properties.get("LustreConfiguration")
        config = config if isinstance(config, Mapping) else {}
        kind = (
            f"{graph.said(properties.get('FileSystemType', ''))} {graph.said(config.get('DeploymentType', ''))}".strip()
        )
        speed = config.get("PerUnitStorageThroughput")
        size = f"{graph.said(properties.get('StorageCapacity', '?'))} GiB"
        yield ", ".join([kind, size, *([f"{graph.said(speed)} MB/s per TiB"] if speed else [])])
    if resource.type == "AWS::ElasticLoadBalancingV2::LoadBalancer":
        ports = [
            f"{graph.said(listener.get('Protocol', '?'))} {graph.said(listener.get('Port', '?'))}"
            for listener in map(graph.properties, graph.of_type("AWS::ElasticLoadBalancingV2::Listener"))
            if resource in graph.targets(listener.get("LoadBalancerArn"))
        ]
        yield ", ".join([graph.said(properties.get("Scheme", "internet-facing")), *ports])


def _store(resource: Resource, access: Sequence[Mapping[str, Any]]) -> Scene:
    nobody: Mapping[str, Any] = {"readers": [], "writers": []}
    found = next((each for each in access if each["store"] == resource.path), nobody)
    lines = [
        f"{verb} by {joined(names)}"
        for verb, who in (("read", found["readers"]), ("written", found["writers"]))
        if (names := [each["role"] for each in who])
    ]
    noun = _STORES[resource.type]
    if resource.type == "AWS::KMS::Key":
        lines = [line.replace("read by", "decrypts for").replace("written by", "encrypts for") for line in lines]
    return {
        "id": resource.key,
        "title": resource.path,
        "kind": "store",
        "noun": noun,
        "lines": lines or ["no role of these templates may use it"],
    }


def _networks(
    graph: Graph, network: Network, placed: Sequence[Resource], cards: Mapping[str, Scene]
) -> Iterator[Scene]:
    homes: dict[str, list[Scene]] = defaultdict(list)
    shared: dict[str, list[str]] = defaultdict(list)
    spread: dict[str, list[Scene]] = defaultdict(list)
    for each in placed:
        named, card = list(dict.fromkeys(network.subnets_of(each))), cards[each.key]
        if len(named) == 1:
            homes[named[0]].append(card)
        else:
            where = [f"in {joined([graph.resources[key].path for key in named])}"] if named else []
            spread[_vpc_of(graph, network, each, named)].append({**card, "lines": [*card["lines"], *where]})
            for key in named:
                shared[key].append(card["title"])
    subnets = graph.of_type(SUBNET)
    owners = {each.key: _owner(graph, each) for each in subnets}
    for key in dict.fromkeys([*(each.key for each in graph.of_type(_VPC)), *owners.values(), *spread]):
        vpc = graph.resources.get(key)
        block = graph.said(graph.properties(vpc).get("CidrBlock", "")) if vpc else ""
        own = [each for each in subnets if owners[each.key] == key]
        own.sort(key=lambda each: (each.key not in network.public_subnets, each.path))
        yield {
            "title": f"VPC {vpc.path}" if vpc else "A VPC that is not in these templates",
            "note": block,
            "subnets": [_subnet(graph, network, one, homes[one.key], shared[one.key]) for one in own],
            "spread": spread[key],
        }


def _subnet(graph: Graph, network: Network, subnet: Resource, cards: Sequence[Scene], shared: Sequence[str]) -> Scene:
    properties = graph.properties(subnet)
    zone = graph.said(properties.get("AvailabilityZone", properties.get("AvailabilityZoneId", "")))
    zone = "a zone of the Region" if zone.startswith("<") else zone
    note = ", ".join(each for each in (graph.said(properties.get("CidrBlock", "")), zone) if each)
    is_public = subnet.key in network.public_subnets
    return {
        "title": f"{'Public' if is_public else 'Private'} subnet {subnet.path}",
        "note": note,
        "is_public": is_public,
        "cards": cards,
        "shared": f"shared with other subnets: {joined(shared)}" if shared else "",
    }


def _owner(graph: Graph, subnet: Resource) -> str:
    return next((each.key for each in graph.targets(graph.properties(subnet).get("VpcId"), _VPC)), "")


def _vpc_of(graph: Graph, network: Network, resource: Resource, subnets: Sequence[str]) -> str:
    owners = [_owner(graph, graph.resources[key]) for key in subnets]
    member = next((each for each in network.members if each.resource.key == resource.key), None)
    groups = member.groups if member else ()
    behind = [
        each.key for key in groups for each in graph.targets(graph.properties(graph.resources[key]).get("VpcId"), _VPC)
    ]
    return next((key for key in [*owners, *behind] if key), "")


def _mounts(graph: Graph, placed: Sequence[Resource]) -> Iterator[Scene]:
    """Yield what names a file system, itself or in what its machines are set up with."""
    for each in placed:
        if each.type in _FILE_SYSTEMS:
            continue
        properties = [graph.properties(one) for one in _made_from(graph, each)]
        for found in dict.fromkeys(t.key for one in properties for t in graph.targets(one, *_FILE_SYSTEMS)):
            yield {"from": each.key, "to": found, "kind": "mounts"}


def _made_from(graph: Graph, resource: Resource) -> list[Resource]:
    """Return a resource, and what it is made from: launch templates, task definitions, instance profiles."""
    found = {resource.key: resource}
    waiting = [resource]
    while waiting:
        behind = graph.targets(graph.properties(waiting.pop()), *_MADE_FROM)
        waiting += [each for each in behind if each.key not in found]
        found |= {each.key: each for each in behind}
    return [*found.values()]


def _reads(
    graph: Graph, placed: Sequence[Resource], stores: Sequence[Resource], access: Sequence[Mapping[str, Any]]
) -> Iterator[Scene]:
    """Yield which machines may read which stores, by the roles that they take on."""
    readers = {each["store"]: {one["role"] for one in each["readers"]} for each in access}
    for each in placed:
        properties = [graph.properties(one) for one in _made_from(graph, each)]
        roles = {each.path} | {role.path for one in properties for role in graph.targets(one, ROLE)}
        for store in stores:
            if roles & readers.get(store.path, set()):
                yield {"from": each.key, "to": store.key, "kind": "reads"}


def _traffic(network: Network, members: Mapping[str, Member], openings: Sequence[Opening]) -> Iterator[Scene]:
    for key in dict.fromkeys(each.resource.key for each in openings):
        yield {"from": "internet", "to": key, "kind": "traffic"}
    doors = [each for each in members.values() if each.resource.type.endswith("::LoadBalancer")]
    for door in doors:
        for member in members.values():
            if member is not door and network.ways(door, member):
                yield {"from": door.resource.key, "to": member.resource.key, "kind": "traffic"}


def described(found: Mapping[str, Any]) -> str:
    """Return what the picture shows, for those who do not see it.

    Args:
        found: The scene.
    """
    cards = [*cards_of(found), *found["stores"]]
    titles = {card["id"]: card["title"] for card in cards} | {"internet": "the internet"}
    said = [f"{titles[each['from']]} {_VERBS[each['kind']]} {titles[each['to']]}" for each in found["arrows"]]
    what = f"{counted(len(found['networks']), 'network')} and {counted(len(found['stores']), 'store')}"
    where = found["region"]
    return f"{'; '.join([f'{what} in {where}', *said])}."


def cards_of(found: Mapping[str, Any]) -> Iterator[Scene]:
    """Yield every card of the networks, from the top.

    Args:
        found: The scene.
    """
    for network in found["networks"]:
        for subnet in network["subnets"]:
            yield from subnet["cards"]
        yield from network["spread"]


_VERBS: Final = {"mounts": "mounts", "traffic": "reaches", "reads": "may read"}
