"""Synthesized templates read for where things run, and what the network there lets them do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network
from typing import Any

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.reach.intrinsics import Templates, Writer
from cdk_trainyard.reach.place import Egress, Gateway, Interface, Place, Route
from cdk_trainyard.reach.table import Region

_DEFAULT_ROUTE = "0.0.0.0/0"
_HTTPS = 443


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A resource with its properties written out.

    Attributes:
        name: ``<stack>/<logical id>``.
        type: Its type.
        properties: Its properties.
    """

    name: str
    type: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Machine:
    """What runs somewhere: its subnets and security groups."""

    name: str
    room: str
    at: str
    subnets: Sequence[str]
    groups: Sequence[str]
    public_address: bool = False
    own_group: bool = False


def read_places(templates: Templates, region: Region) -> list[Place]:
    """Return every place where nodes, hosts or builds of some stacks run, one for each subnet.

    Args:
        templates: Stack → template, of one app.
        region: Where they are deployed.

    Raises:
        ValueError: A template refers to what no stack exports.
    """
    return _Account(Writer(templates, region)).places()


class _Account:
    """The resources of some stacks together."""

    def __init__(self, writer: Writer) -> None:
        self._resources = [
            Resource(name=f"{stack}/{name}", type=resource["Type"], properties=writer.write(_read(resource), stack))
            for stack, template in writer.templates.items()
            for name, resource in template["Resources"].items()
            if resource["Type"] in _READ
        ]

    def places(self) -> list[Place]:
        """Return the places."""
        outside = [
            Place(name=name, room=room, at="outside", route=Route.INTERNET, public_address=True)
            for name, room in self._outside()
        ]
        return [*outside, *(self._place(machine, subnet) for machine in self._machines() for subnet in machine.subnets)]

    def _of(self, *types: str) -> list[Resource]:
        return [resource for resource in self._resources if resource.type in types]

    # ---------------------------------------------------------------- machines
    def _outside(self) -> Iterator[tuple[str, str]]:
        for project in self._of("AWS::CodeBuild::Project"):
            if "VpcConfig" not in project.properties:
                yield project.name, "serving"

    def _machines(self) -> Iterator[_Machine]:
        for cluster in self._of("AWS::SageMaker::Cluster"):
            yield from _hyperpod(cluster)
        for cluster in self._of(PARALLELCLUSTER_TYPE):
            yield from _parallelcluster(cluster)
        for build in self._of("AWS::ImageBuilder::InfrastructureConfiguration"):
            properties = build.properties
            yield _Machine(
                name=build.name, room="fleet", at="image-build",
                subnets=[properties["SubnetId"]], groups=properties["SecurityGroupIds"],
            )  # fmt: skip
        yield from self._launched()

    def _launched(self) -> Iterator[_Machine]:
        templates = {resource.name: resource.properties for resource in self._of("AWS::EC2::LaunchTemplate")}
        hosts = {
            provider.properties["AutoScalingGroupProvider"]["AutoScalingGroupArn"]
            for provider in self._of("AWS::ECS::CapacityProvider")
        }
        for group in self._of("AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::Instance"):
            data = templates[_launch_template(group.properties)]["LaunchTemplateData"]
            interfaces = data.get("NetworkInterfaces", [])
            room, at = ("serving", "host") if group.name in hosts else ("fleet", "node")
            named = group.properties.get("VPCZoneIdentifier", [one.get("SubnetId") for one in interfaces])
            groups = [*data.get("SecurityGroupIds", []), *(id_ for one in interfaces for id_ in one.get("Groups", []))]
            public = any(one.get("AssociatePublicIpAddress") for one in interfaces)
            yield _Machine(
                name=group.name, room=room, at=at, subnets=_distinct(named), groups=_distinct(groups),
                public_address=public,
            )  # fmt: skip

    # ---------------------------------------------------------------- network
    def _place(self, machine: _Machine, subnet: str) -> Place:
        table = next(
            (
                association.properties["RouteTableId"]
                for association in self._of("AWS::EC2::SubnetRouteTableAssociation")
                if association.properties["SubnetId"] == subnet
            ),
            None,
        )
        known = self._subnets.get(subnet)
        vpc = known["VpcId"] if known else None
        return Place(
            name=machine.name,
            room=machine.room,
            at=machine.at,
            route=Route.UNKNOWN if known is None else self._route(table),
            address=IPv4Network(known["CidrBlock"]) if known else None,
            vpc=self._blocks(vpc),
            public_address=machine.public_address,
            groups=tuple(machine.groups),
            egress=(Egress(),) if machine.own_group else self._egress(machine.groups),
            gateways=self._gateways(table),
            interfaces=self._interfaces(vpc),
        )

    @cached_property
    def _subnets(self) -> Mapping[str, Mapping[str, Any]]:
        return {subnet.name: subnet.properties for subnet in self._of("AWS::EC2::Subnet")}

    def _blocks(self, vpc: str | None) -> list[IPv4Network]:
        own = [resource.properties for resource in self._of("AWS::EC2::VPC") if resource.name == vpc]
        more = [each.properties for each in self._of("AWS::EC2::VPCCidrBlock") if each.properties["VpcId"] == vpc]
        return [IPv4Network(properties["CidrBlock"]) for properties in (*own, *more)]

    def _route(self, table: str | None) -> Route:
        for route in self._of("AWS::EC2::Route"):
            properties = route.properties
            if properties["RouteTableId"] != table or properties.get("DestinationCidrBlock") != _DEFAULT_ROUTE:
                continue
            if gateway := properties.get("NatGatewayId"):
                return self._nat(gateway)
            attached = {each.properties.get("InternetGatewayId") for each in self._of("AWS::EC2::VPCGatewayAttachment")}
            if properties.get("GatewayId") in attached:
                return Route.INTERNET
        return Route.NONE

    def _nat(self, gateway: str) -> Route:
        """A NAT gateway is a route to the internet when its own subnet has one."""
        subnets = [each.properties["SubnetId"] for each in self._of("AWS::EC2::NatGateway") if each.name == gateway]
        tables = [
            each.properties["RouteTableId"]
            for each in self._of("AWS::EC2::SubnetRouteTableAssociation")
            if each.properties["SubnetId"] in subnets
        ]
        return Route.NAT if any(self._route(table) is Route.INTERNET for table in tables) else Route.NONE

    def _egress(self, groups: Sequence[str]) -> tuple[Egress, ...] | None:
        """Return what groups let out together; of one that exists already nobody knows."""
        defined = {group.name: group.properties for group in self._of("AWS::EC2::SecurityGroup")}
        if set(groups) - defined.keys():
            return None
        rules = [rule for name in groups for rule in defined[name].get("SecurityGroupEgress", [{"IpProtocol": "-1"}])]
        rules += [
            each.properties
            for each in self._of("AWS::EC2::SecurityGroupEgress")
            if each.properties["GroupId"] in groups
        ]
        return tuple(_egress(rule) for rule in rules)

    def _gateways(self, table: str | None) -> dict[str, Gateway]:
        return {
            _service(endpoint): Gateway(policy=endpoint.properties.get("PolicyDocument"))
            for endpoint in self._of("AWS::EC2::VPCEndpoint")
            if endpoint.properties.get("VpcEndpointType", "Gateway") == "Gateway"
            and table in endpoint.properties.get("RouteTableIds", [])
        }

    def _interfaces(self, vpc: str | None) -> dict[str, Interface]:
        return {
            _service(endpoint): self._interface(endpoint.properties)
            for endpoint in self._of("AWS::EC2::VPCEndpoint")
            if endpoint.properties.get("VpcEndpointType") == "Interface" and endpoint.properties["VpcId"] == vpc
        }

    def _interface(self, properties: Mapping[str, Any]) -> Interface:
        groups = properties.get("SecurityGroupIds", [])
        resolvable = any(
            vpc.properties.get("EnableDnsSupport", True) is True and vpc.properties.get("EnableDnsHostnames") is True
            for vpc in self._of("AWS::EC2::VPC")
            if vpc.name == properties["VpcId"]
        )
        rules = [
            rule
            for group in self._of("AWS::EC2::SecurityGroup")
            if group.name in groups
            for rule in group.properties.get("SecurityGroupIngress", [])
        ]
        rules += [
            each.properties
            for each in self._of("AWS::EC2::SecurityGroupIngress")
            if each.properties["GroupId"] in groups
        ]
        open_rules = [rule for rule in rules if _egress(rule).opens(_HTTPS)]
        return Interface(
            policy=properties.get("PolicyDocument"),
            private_dns=properties.get("PrivateDnsEnabled") is True and resolvable,
            groups=tuple(groups),
            from_cidrs=tuple(IPv4Network(rule["CidrIp"]) for rule in open_rules if "CidrIp" in rule),
            from_groups=tuple(rule["SourceSecurityGroupId"] for rule in open_rules if "SourceSecurityGroupId" in rule),
        )


_READ = frozenset(
    {
        "AWS::AutoScaling::AutoScalingGroup", "AWS::CodeBuild::Project", "AWS::EC2::Instance",
        "AWS::EC2::LaunchTemplate", "AWS::EC2::NatGateway", "AWS::EC2::Route", "AWS::EC2::SecurityGroup",
        "AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress", "AWS::EC2::Subnet",
        "AWS::EC2::SubnetRouteTableAssociation", "AWS::EC2::VPC", "AWS::EC2::VPCCidrBlock", "AWS::EC2::VPCEndpoint",
        "AWS::EC2::VPCGatewayAttachment", "AWS::ECS::CapacityProvider",
        "AWS::ImageBuilder::InfrastructureConfiguration", "AWS::SageMaker::Cluster", PARALLELCLUSTER_TYPE,
    }
)  # fmt: skip
_NOT_READ = frozenset({"UserData", "BuildSpec", "Source"})


def _read(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties without programs, which say nothing of the network."""

    def without(value: Any) -> Any:
        return {key: value[key] for key in value if key not in _NOT_READ} if isinstance(value, dict) else value

    return {key: without(value) for key, value in without(resource.get("Properties", {})).items()}


def _service(endpoint: Resource) -> str:
    """Return the service of an endpoint: what follows its Region, in China too (``cn.com.amazonaws.…``)."""
    _, _, after = str(endpoint.properties["ServiceName"]).partition("amazonaws.")
    return after.partition(".")[2]


def _egress(rule: Mapping[str, Any]) -> Egress:
    group = rule.get("DestinationSecurityGroupId") or rule.get("SourceSecurityGroupId")
    addressed = {"CidrIp", "CidrIpv6", "DestinationPrefixListId", "SourcePrefixListId"} & rule.keys()
    block = rule.get("CidrIp", None if addressed or group else _DEFAULT_ROUTE)
    return Egress(
        protocol=str(rule["IpProtocol"]),
        first=int(rule.get("FromPort", 0)),
        last=int(rule.get("ToPort", 65535)),
        cidr=IPv4Network(block) if block else None,
        group=group,
    )


def _launch_template(properties: Mapping[str, Any]) -> str:
    mixed = properties.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {}).get("LaunchTemplateSpecification")
    return str((properties.get("LaunchTemplate") or mixed)["LaunchTemplateId"])


def _hyperpod(cluster: Resource) -> Iterator[_Machine]:
    common = cluster.properties.get("VpcConfig")
    for group in cluster.properties["InstanceGroups"]:
        config = group.get("OverrideVpcConfig", common)
        if config is not None:  # in HyperPod's own VPC otherwise, which has a route to the internet
            name = f"{cluster.name} ({group['InstanceGroupName']})"
            yield _Machine(
                name=name, room="hyperpod", at="node", subnets=config["Subnets"], groups=config["SecurityGroupIds"]
            )


def _parallelcluster(cluster: Resource) -> Iterator[_Machine]:
    config = cluster.properties["ClusterConfiguration"]
    head = config["HeadNode"]["Networking"]
    queues = config["Scheduling"]["SlurmQueues"]
    pools = config.get("LoginNodes", {}).get("Pools", [])
    parts = [
        ("head", "head node", {**head, "SubnetIds": [head["SubnetId"]]}),
        *(("node", f"queue {queue['Name']}", queue["Networking"]) for queue in queues),
        *(("login", f"pool {pool['Name']}", pool["Networking"]) for pool in pools),
    ]
    for at, name, networking in parts:
        own = networking.get("SecurityGroups", [])
        yield _Machine(
            name=f"{cluster.name} ({name})",
            room="parallelcluster",
            at=at,
            subnets=networking["SubnetIds"],
            groups=[*own, *networking.get("AdditionalSecurityGroups", [])],
            public_address=bool(networking.get("ElasticIp") or networking.get("AssignPublicIp")),
            own_group=not own,
        )


def _distinct(values: Sequence[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value is not None))
