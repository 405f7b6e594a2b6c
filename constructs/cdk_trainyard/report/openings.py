"""Ways in from the internet and ways out to it, read from templates.

Each row names the AWS page that says when such a resource is public (read 2026-11).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, Final

from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.network import LAUNCH, Member, Network, under
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
    found += [opening for member in network.members for opening in _addressed(network, member)]
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
        target = next((name for name in _TARGETS if name in properties), None)
        tables = graph.targets(properties.get("RouteTableId"))
        who = ", ".join(sorted(path for table in tables for path in subnets.get(table.key, [])))
        where = graph.said(
            properties.get("DestinationCidrBlock", properties.get("DestinationIpv6CidrBlock", "a prefix list"))
        )
        found.append(
            Exit(resource=route, who=who or "no subnet", where=f"{where} by {_TARGETS.get(target or '', 'a route')}")
        )
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
}


def _inward(network: Network, member: Member) -> Iterator[Rule]:
    """Yield the rules that let addresses in which are not the network's own."""
    for rule in network.rules_of(member):
        is_address = rule.inward and not rule.peer_is_group and not rule.allows_nothing
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


def _addressed(network: Network, member: Member) -> Iterator[Opening]:
    """Yield what is open on instances that get a public address."""
    why = _public_address(network, member)
    if why:
        for rule in _inward(network, member):
            yield Opening(resource=member.resource, ports=rule.ports, who=_who(rule), why=why)


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
    given = [key for key in member.subnets if key in network.public_subnets and _maps(graph, key)]
    if given and not asked and member.resource.type in {"AWS::EC2::Instance", "AWS::AutoScaling::AutoScalingGroup"}:
        return f"stands in {graph.resources[given[0]].path}, which gives public addresses"
    return ""


def _maps(graph: Graph, subnet: str) -> bool:
    return str(graph.properties(graph.resources[subnet]).get("MapPublicIpOnLaunch", "")).lower() == "true"


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
    if str(network.graph.properties(resource).get("Scheme", "internet-facing")) != "internet-facing":
        return
    what = f"TCP {network.graph.said(port)} ({network.graph.said(protocol)})"
    member = next((each for each in network.members if each.resource.key == resource.key), None)
    if member is None:
        why = "is internet-facing, without a security group here"
        yield Opening(resource=resource, ports=what, who="anybody", why=why)
        return
    for rule in _inward(network, member):
        if rule.protocol in {"tcp", "all"} and port.isdigit() and rule.first <= int(port) <= rule.last:
            yield Opening(resource=resource, ports=what, who=_who(rule), why="is internet-facing")


def _function_url(network: Network, resource: Resource) -> Iterator[Opening]:
    """AWS Lambda Developer Guide, "Control access to Lambda function URLs"."""
    kind = str(network.graph.properties(resource).get("AuthType", "NONE"))
    why = "is a function URL without authentication" if kind == "NONE" else "is a function URL; callers sign with IAM"
    yield Opening(resource=resource, ports="TCP 443 (HTTPS)", who="anybody", why=why)


def _always(ports: str, why: str) -> Callable[[Network, Resource], Iterator[Opening]]:
    def one(_network: Network, resource: Resource) -> Iterator[Opening]:
        yield Opening(resource=resource, ports=ports, who="anybody", why=why)

    return one


def _rest_api(network: Network, resource: Resource) -> Iterator[Opening]:
    """Amazon API Gateway Developer Guide, "API endpoint types": EDGE is the default, PRIVATE is for VPCs only."""
    if "PRIVATE" not in str(network.graph.properties(resource).get("EndpointConfiguration", "")):
        yield Opening(resource=resource, ports="TCP 443 (HTTPS)", who="anybody", why="is a public API endpoint")


def _database(network: Network, resource: Resource) -> Iterator[Opening]:
    """Amazon RDS User Guide, "Working with a DB instance in a VPC": PubliclyAccessible."""
    if str(network.graph.properties(resource).get("PubliclyAccessible", "")).lower() == "true":
        yield Opening(
            resource=resource, ports="its port", who="whom its security groups let in", why="is publicly accessible"
        )


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


def _bucket_policy(network: Network, resource: Resource) -> Iterator[Opening]:
    """Amazon S3 User Guide, "The meaning of public": a statement for everybody, without a condition that limits it."""
    graph = network.graph
    properties = graph.properties(resource)
    document = properties.get("PolicyDocument", {})
    listed = document.get("Statement", []) if isinstance(document, Mapping) else []
    for statement in listed if isinstance(listed, list) else [listed]:
        if not isinstance(statement, Mapping) or statement.get("Effect") != "Allow" or statement.get("Condition"):
            continue
        if statement.get("Principal") in ("*", {"AWS": "*"}, {"AWS": ["*"]}):
            for bucket in graph.targets(properties.get("Bucket")) or [resource]:
                yield Opening(
                    resource=bucket,
                    ports=graph.said(statement.get("Action", "?")),
                    who="anybody",
                    why="its policy is for everybody",
                )


_KINDS: Final[Mapping[str, Callable[[Network, Resource], Iterator[Opening]]]] = {
    "AWS::ApiGateway::RestApi": _rest_api,
    "AWS::ApiGatewayV2::Api": _always("TCP 443 (HTTPS)", "is a public API endpoint"),
    "AWS::CloudFront::Distribution": _always("TCP 443 (HTTPS)", "is a CloudFront distribution"),
    "AWS::EKS::Cluster": _eks,
    "AWS::ElasticLoadBalancing::LoadBalancer": _classic_load_balancer,
    "AWS::ElasticLoadBalancingV2::LoadBalancer": _load_balancer,
    "AWS::Lambda::Url": _function_url,
    "AWS::RDS::DBCluster": _database,
    "AWS::RDS::DBInstance": _database,
    "AWS::S3::BucketPolicy": _bucket_policy,
    "Custom::PclusterCluster": _head_node,
}
