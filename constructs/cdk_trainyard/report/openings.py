"""Ways in from the internet and ways out to it, read from templates.

Each row names the AWS page that says when such a resource is public (read 2026-11).
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, Final

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.endpoints import HTTPS, endpoints
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.network import LAUNCH, Member, Network, under
from cdk_trainyard.report.public_policies import public_policies
from cdk_trainyard.report.security_groups import Rule

_ANYWHERE: Final = "0.0.0.0/0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Opening:
    """A way in from the internet.

    Attributes:
        resource: What is reached.
        ports: Protocol and ports, or what is open.
        who: Who may come: ``anybody``, or CIDR blocks.
        why: What makes it public.
    """

    resource: Resource
    ports: str
    who: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Exit:
    """A way out of the network.

    Attributes:
        resource: The route, or the endpoint.
        who: Which subnets take it.
        where: Where to.
    """

    resource: Resource
    who: str
    where: str


def openings(network: Network) -> list[Opening]:
    """Return every way in from the internet.

    Args:
        network: The network.
    """
    graph = network.graph
    found = [
        opening
        for resource in graph.resources.values()
        if resource.type in _KINDS
        for opening in _KINDS[resource.type](network, resource)
    ]
    found += [
        Opening(resource=resource, ports=ports, who=who, why=why)
        for resource in graph.resources.values()
        for ports, who, why in endpoints(graph, resource)
    ]
    elastic = _elastic(graph)
    found += [opening for member in network.members for opening in _addressed(network, member, elastic)]
    found += [
        Opening(resource=resource, ports=actions, who="anybody", why=why)
        for resource, actions, why in public_policies(graph)
    ]
    return sorted(dict.fromkeys(found), key=lambda each: (each.resource.path, each.ports, each.why))


def exits(network: Network) -> list[Exit]:
    """Return every way out: routes that leave a VPC, and endpoints.

    Args:
        network: The network.
    """
    graph = network.graph
    subnets: dict[str, list[str]] = {}
    for association in graph.of_type("AWS::EC2::SubnetRouteTableAssociation"):
        properties = graph.properties(association)
        for table in graph.targets(properties.get("RouteTableId")):
            subnets.setdefault(table.key, []).extend(each.path for each in graph.targets(properties.get("SubnetId")))
    found = []
    for route in graph.of_type("AWS::EC2::Route"):
        properties = graph.properties(route)
        target = next((name for name in _TARGETS if name in properties), "")
        by = _TARGETS.get(target, "a route")
        if graph.targets(properties.get("GatewayId"), "AWS::EC2::VPNGateway"):
            by = "a virtual private gateway"
        tables = graph.targets(properties.get("RouteTableId"))
        who = ", ".join(sorted(path for table in tables for path in subnets.get(table.key, [])))
        where = graph.said(
            properties.get("DestinationCidrBlock", properties.get("DestinationIpv6CidrBlock", "a prefix list"))
        )
        found.append(Exit(resource=route, who=who or "no subnet", where=f"{where} by {by}"))
    for endpoint in graph.of_type("AWS::EC2::VPCEndpoint"):
        properties = graph.properties(endpoint)
        kind = str(properties.get("VpcEndpointType", "Gateway")).lower()
        service = graph.said(properties.get("ServiceName", "?"))
        found.append(
            Exit(resource=endpoint, who="the VPC", where=f"{service} by a {kind} endpoint, not over the internet")
        )
    return sorted(found, key=lambda each: (each.who, each.where, each.resource.path))


_TARGETS: Final = {
    "GatewayId": "an internet gateway",
    "NatGatewayId": "a NAT gateway (outgoing connections only)",
    "EgressOnlyInternetGatewayId": "an egress-only internet gateway (outgoing connections only)",
    "TransitGatewayId": "a transit gateway",
    "VpcPeeringConnectionId": "a VPC peering",
    "NetworkInterfaceId": "a network interface",
    "InstanceId": "an instance",
    "VpcEndpointId": "a VPC endpoint",
    "CarrierGatewayId": "a carrier gateway",
    "CoreNetworkArn": "a core network",
    "LocalGatewayId": "a local gateway",
}


def _inward(network: Network, member: Member) -> Iterator[Rule]:
    """Yield the rules that let addresses in which are not the network's own."""
    for rule in network.rules_of(member):
        is_address = rule.inward and not (rule.peer_is_group or rule.is_foreign or rule.allows_nothing)
        if is_address and (rule.is_anywhere or not _is_private(rule.peer)):
            yield rule


def _is_private(peer: str) -> bool:
    """Whether a peer is an address range of private networks; what is not known is not."""
    try:
        return ip_network(peer, strict=False).is_private
    except ValueError:
        return False


def _who(rule: Rule) -> str:
    return "anybody" if rule.is_anywhere else rule.peer


def _elastic(graph: Graph) -> set[str]:
    """Return the keys of instances and network interfaces that an Elastic IP address is given to."""
    given = map(graph.properties, graph.of_type("AWS::EC2::EIP", "AWS::EC2::EIPAssociation"))
    named = [each.get(name) for each in given for name in ("InstanceId", "NetworkInterfaceId")]
    return {each.key for each in graph.targets(named)}


def _addressed(network: Network, member: Member, elastic: Collection[str]) -> Iterator[Opening]:
    """Yield what is open on instances that get a public address."""
    graph = network.graph
    addresses = {member.resource.key, *(each.key for each in graph.targets(graph.properties(member.resource), *LAUNCH))}
    why = "has an Elastic IP address" if addresses & {*elastic} else _public_address(network, member)
    six = _ipv6_address(network, member)
    for rule in _inward(network, member):
        if reason := why or (six if ":" in rule.peer else ""):
            yield Opening(resource=member.resource, ports=rule.ports, who=_who(rule), why=reason)


def _ipv6_address(network: Network, member: Member) -> str:
    """Amazon VPC User Guide, "IP addressing for your VPCs and subnets": every IPv6 address of a subnet is public."""
    graph = network.graph
    given = (each for each in member.subnets if each in network.public_subnets)
    named = next((each for each in given if _gives(graph, each, "AssignIpv6AddressOnCreation")), None)
    return f"stands in {graph.resources[named].path}, which gives IPv6 addresses" if named else ""


def _public_address(network: Network, member: Member) -> str:
    graph = network.graph
    properties = graph.properties(member.resource)
    templates = [graph.properties(each) for each in graph.targets(properties, *LAUNCH)]
    asked = [
        value
        for each in (properties, *templates)
        for value in under(each, {"AssociatePublicIpAddress", "AssignPublicIp"})
    ]
    if any(str(value).lower() in {"true", "enabled"} for value in asked):
        return "asks for a public address"
    if asked or member.resource.type not in {"AWS::EC2::Instance", "AWS::AutoScaling::AutoScalingGroup"}:
        return ""
    public = (key for key in member.subnets if key in network.public_subnets)
    if given := next((key for key in public if _gives(graph, key, "MapPublicIpOnLaunch")), None):
        return f"stands in {graph.resources[given].path}, which gives public addresses"
    if member.subnets:
        return ""
    named = [value for each in (properties, *templates) for value in under(each, {"SubnetId", "VPCZoneIdentifier"})]
    if named:
        return f"may get a public address: its subnet, {graph.said(named[0])}, is not of these templates"
    return "stands in the default VPC, whose subnets give public addresses"


def _gives(graph: Graph, subnet: str, flag: str) -> bool:
    return str(graph.properties(graph.resources[subnet]).get(flag, "")).lower() == "true"


def _load_balancer(network: Network, resource: Resource) -> Iterator[Opening]:
    """Elastic Load Balancing, "How Elastic Load Balancing works": internet-facing is the default."""
    graph = network.graph
    for listener in map(graph.properties, graph.of_type("AWS::ElasticLoadBalancingV2::Listener")):
        if resource in graph.targets(listener.get("LoadBalancerArn")):
            yield from _listening(network, resource, str(listener.get("Port", "?")), str(listener.get("Protocol", "?")))


def _classic_load_balancer(network: Network, resource: Resource) -> Iterator[Opening]:
    """Classic Load Balancers say their listeners themselves."""
    listed = network.graph.properties(resource).get("Listeners")
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, Mapping):
            yield from _listening(
                network, resource, str(each.get("LoadBalancerPort", "?")), str(each.get("Protocol", "?"))
            )


def _listening(network: Network, resource: Resource, port: str, protocol: str) -> Iterator[Opening]:
    scheme = str(network.graph.properties(resource).get("Scheme", "internet-facing"))
    if scheme == "internal":
        return
    facing = (
        "is internet-facing"
        if scheme == "internet-facing"
        else f"may be, by {network.graph.said(scheme)}, internet-facing"
    )
    what = f"TCP {network.graph.said(port)} ({network.graph.said(protocol)})"
    member = next((each for each in network.members if each.resource.key == resource.key), None)
    if member is None:
        why = f"{facing}, without a security group here"
        yield Opening(resource=resource, ports=what, who="anybody", why=why)
        return
    for rule in _inward(network, member):
        if rule.protocol in {"tcp", "all"} and port.isdigit() and rule.first <= int(port) <= rule.last:
            yield Opening(resource=resource, ports=what, who=_who(rule), why=facing)


def _function_url(network: Network, resource: Resource) -> Iterator[Opening]:
    """AWS Lambda Developer Guide, "Control access to Lambda function URLs"."""
    kind = str(network.graph.properties(resource).get("AuthType", "NONE"))
    why = "is a function URL without authentication" if kind == "NONE" else "is a function URL; callers sign with IAM"
    yield Opening(resource=resource, ports=HTTPS, who="anybody", why=why)


def _always(ports: str, why: str) -> Callable[[Network, Resource], Iterator[Opening]]:
    def one(_network: Network, resource: Resource) -> Iterator[Opening]:
        yield Opening(resource=resource, ports=ports, who="anybody", why=why)

    return one


def _rest_api(network: Network, resource: Resource) -> Iterator[Opening]:
    """Amazon API Gateway Developer Guide, "API endpoint types": EDGE is the default, PRIVATE is for VPCs only."""
    if "PRIVATE" not in str(network.graph.properties(resource).get("EndpointConfiguration", "")):
        yield Opening(resource=resource, ports=HTTPS, who="anybody", why="is a public API endpoint")


def _eks(network: Network, resource: Resource) -> Iterator[Opening]:
    """Amazon EKS User Guide, "Cluster API server endpoint": public, and open to every address, by default."""
    config = network.graph.properties(resource).get("ResourcesVpcConfig", {})
    given = config if isinstance(config, Mapping) else {}
    if str(given.get("EndpointPublicAccess", "true")).lower() == "true":
        blocks = network.graph.said(given.get("PublicAccessCidrs", [_ANYWHERE]))
        who = "anybody" if _ANYWHERE in blocks else blocks
        yield Opening(resource=resource, ports="TCP 443 (the Kubernetes API)", who=who, why="has a public endpoint")


def _head_node(network: Network, resource: Resource) -> Iterator[Opening]:
    """AWS ParallelCluster User Guide, "HeadNode section": Ssh/AllowedIps, 0.0.0.0/0 by default."""
    config = network.graph.properties(resource).get("ClusterConfiguration", {})
    head: Any = config.get("HeadNode", {}) if isinstance(config, Mapping) else {}
    if not isinstance(head, Mapping):
        return
    subnets = {each.key for value in under(head, {"SubnetId"}) for each in network.graph.targets(value)}
    ssh = head.get("Ssh", {})
    allowed = str(ssh.get("AllowedIps", _ANYWHERE)) if isinstance(ssh, Mapping) else _ANYWHERE
    if subnets & network.public_subnets and not allowed.startswith("127."):
        who = "anybody" if allowed == _ANYWHERE else allowed
        yield Opening(
            resource=resource, ports="TCP 22 (SSH to the head node)", who=who, why="its head node is in a public subnet"
        )


_KINDS: Final[Mapping[str, Callable[[Network, Resource], Iterator[Opening]]]] = {
    "AWS::ApiGateway::RestApi": _rest_api,
    "AWS::ApiGatewayV2::Api": _always(HTTPS, "is a public API endpoint"),
    "AWS::CloudFront::Distribution": _always(HTTPS, "is a CloudFront distribution"),
    "AWS::EKS::Cluster": _eks,
    "AWS::ElasticLoadBalancing::LoadBalancer": _classic_load_balancer,
    "AWS::ElasticLoadBalancingV2::LoadBalancer": _load_balancer,
    "AWS::Lambda::Url": _function_url,
    PARALLELCLUSTER_TYPE: _head_node,
}
