"""Security groups, what stands behind them, and what may reach what: EC2's rules in plain words.

Source: Amazon VPC User Guide, "Security group rules" (stateful; a rule names a protocol, ports and a peer), and
CloudFormation's page on ``AWS::EC2::SecurityGroup`` (all traffic may leave until an egress rule is given; 2026-11).
Network ACLs and routes between VPCs are not judged here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph, strings
from cdk_trainyard.report.security_groups import ANYWHERE, PORTS, WITH_PORTS, Rule, Way, common, is_within, overlap

GROUP: Final = "AWS::EC2::SecurityGroup"
SUBNET: Final = "AWS::EC2::Subnet"
LAUNCH: Final = ("AWS::EC2::LaunchTemplate", "AWS::AutoScaling::LaunchConfiguration", "AWS::EC2::NetworkInterface")
"""Types that say how instances of others are made."""
_SUBNET_GROUPS: Final = ("AWS::RDS::DBSubnetGroup",)
"""Types by which others say where they stand."""
_RULES: Final = {"AWS::EC2::SecurityGroupIngress": True, "AWS::EC2::SecurityGroupEgress": False}
_LISTS: Final = {"SecurityGroupIngress": True, "SecurityGroupEgress": False}
_GROUP_KEYS: Final = {
    "SecurityGroups",
    "SecurityGroupIds",
    "AdditionalSecurityGroups",
    "VpcSecurityGroupIds",
    "VPCSecurityGroups",
    "Groups",
    "GroupSet",
}
_SUBNET_KEYS: Final = {"SubnetId", "SubnetIds", "Subnets", "SubnetMappings", "VPCZoneIdentifier"}
_PEERS: Final = (
    "CidrIp",
    "CidrIpv6",
    "SourceSecurityGroupId",
    "DestinationSecurityGroupId",
    "SourcePrefixListId",
    "DestinationPrefixListId",
    "SourceSecurityGroupName",
)
_PROTOCOLS: Final = {"-1": "all", "6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6"}
EFA: Final = (
    "EFA's traffic bypasses the operating system, and needs a group that lets everything in from itself and out to "
    "itself (EC2 User Guide, 'Get started with EFA and MPI')"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """What stands behind security groups: a cluster, a service, a load balancer, a file system.

    Attributes:
        resource: The resource.
        groups: Keys of its groups.
        subnets: Keys of its subnets.
    """

    resource: Resource
    groups: tuple[str, ...]
    subnets: tuple[str, ...]


class Network:
    """The network of an assembly."""

    def __init__(self, graph: Graph) -> None:
        """Take an assembly.

        Args:
            graph: Its graph.
        """
        self.graph = graph

    @cached_property
    def rules(self) -> list[Rule]:
        """Every rule of every group of the assembly, also those that EC2 gives a group by itself."""
        found = [*self._inline(), *self._separate()]
        with_egress = {rule.group for rule in found if not rule.inward}
        found += [_all_out(each.key) for each in self.graph.of_type(GROUP) if each.key not in with_egress]
        return sorted(
            dict.fromkeys(found), key=lambda rule: (rule.group, not rule.inward, rule.peer, rule.protocol, rule.first)
        )

    def _inline(self) -> Iterator[Rule]:
        for group in self.graph.of_type(GROUP):
            properties = self.graph.properties(group)
            for key, inward in _LISTS.items():
                listed = properties.get(key)
                for each in listed if isinstance(listed, list) else []:
                    if isinstance(each, Mapping):
                        yield self._rule(group.key, each, inward=inward)

    def _separate(self) -> Iterator[Rule]:
        for resource in self.graph.of_type(*_RULES):
            properties = self.graph.properties(resource)
            for group in self.graph.targets(properties.get("GroupId"), GROUP):
                yield self._rule(group.key, properties, inward=_RULES[resource.type])

    def _rule(self, group: str, properties: Mapping[str, Any], *, inward: bool) -> Rule:
        protocol = str(properties.get("IpProtocol", "-1"))
        protocol = _PROTOCOLS.get(protocol, protocol.lower())
        named = next((name for name in _PEERS if name in properties), "")
        peer = properties.get(named, "nobody that is named")
        groups = self.graph.targets(peer, GROUP)
        with_ports = protocol in WITH_PORTS
        return Rule(
            group=group,
            inward=inward,
            protocol=protocol,
            first=_port(properties.get("FromPort"), 0) if with_ports else 0,
            last=_port(properties.get("ToPort"), PORTS) if with_ports else PORTS,
            peer=groups[0].key if groups else self.graph.said(peer),
            peer_is_group=bool(groups),
            description=self.graph.said(properties.get("Description", "")),
            is_foreign="SecurityGroup" in named and not groups,
        )

    @cached_property
    def _by_group(self) -> dict[str, list[Rule]]:
        found: dict[str, list[Rule]] = {}
        for rule in self.rules:
            found.setdefault(rule.group, []).append(rule)
        return found

    def rules_of(self, member: Member) -> list[Rule]:
        """Return the rules of a member's groups.

        Args:
            member: The member.
        """
        return [rule for group in member.groups for rule in self._by_group.get(group, [])]

    @cached_property
    def members(self) -> list[Member]:
        """What stands behind the groups; instances of a launch template belong to what uses it."""
        templates = {each.key: self._groups_of(each) for each in self.graph.of_type(*LAUNCH)}
        found = []
        used: set[str] = set()
        for resource in self.graph.resources.values():
            if resource.type in {GROUP, *LAUNCH, *_RULES, *_SUBNET_GROUPS} or resource.type.startswith("AWS::IAM::"):
                continue
            behind = [each.key for each in self.graph.targets(self.graph.properties(resource), *LAUNCH)]
            used.update(behind)
            groups = [*self._groups_of(resource), *(group for key in behind for group in templates[key])]
            if groups:
                found.append(self._member(resource, groups))
        unused = (each for each in self.graph.of_type(*LAUNCH) if each.key not in used and templates[each.key])
        found += [self._member(each, templates[each.key]) for each in unused]
        return sorted(found, key=lambda each: each.resource.path)

    def _member(self, resource: Resource, groups: list[str]) -> Member:
        return Member(
            resource=resource,
            groups=tuple(dict.fromkeys(groups)),
            subnets=tuple(dict.fromkeys(self.subnets_of(resource))),
        )

    def _groups_of(self, resource: Resource) -> list[str]:
        values = under(self.graph.properties(resource), _GROUP_KEYS)
        return [group.key for value in values for group in self.graph.targets(value, GROUP)]

    def subnets_of(self, resource: Resource) -> list[str]:
        """Return the keys of the subnets that a resource stands in.

        Args:
            resource: The resource.
        """
        properties = self.graph.properties(resource)
        behind = self.graph.targets(properties, *LAUNCH, *_SUBNET_GROUPS)
        made = [properties, *map(self.graph.properties, behind)]
        values = (value for each in made for value in under(each, _SUBNET_KEYS))
        return [subnet.key for value in values for subnet in self.graph.targets(value, SUBNET)]

    @cached_property
    def public_subnets(self) -> set[str]:
        """Keys of the subnets whose default route goes to an internet gateway."""
        open_tables = {
            table.key
            for route in self.graph.of_type("AWS::EC2::Route")
            if self.graph.targets(self.graph.properties(route).get("GatewayId"), "AWS::EC2::InternetGateway")
            and ANYWHERE & {*strings(self.graph.properties(route))}
            for table in self.graph.targets(self.graph.properties(route).get("RouteTableId"))
        }
        found: set[str] = set()
        for association in self.graph.of_type("AWS::EC2::SubnetRouteTableAssociation"):
            properties = self.graph.properties(association)
            if {each.key for each in self.graph.targets(properties.get("RouteTableId"))} & open_tables:
                found |= {each.key for each in self.graph.targets(properties.get("SubnetId"), SUBNET)}
        return found

    def ways(self, start: Member, end: Member) -> list[Way]:
        """Return the ways from one member to another, by security groups alone.

        Args:
            start: Who begins.
            end: Who is called.
        """
        if not self._same_network(start, end):
            return []
        outs = [rule for rule in self.rules_of(start) if not rule.inward and self._covers(rule, end)]
        ins = [rule for rule in self.rules_of(end) if rule.inward and self._covers(rule, start)]
        found: dict[tuple[str, int, int], Way] = {}
        for out in outs:
            for into in ins:
                if (way := common(out, into)) is not None:
                    found.setdefault((way.protocol, way.first, way.last), way)
        widest = [way for way in found.values() if not any(is_within(way, other) for other in found.values())]
        return sorted(widest, key=lambda way: (way.protocol, way.first))

    def can_reach(self, start: Member, end: Member, port: int, protocol: str = "tcp") -> Way | None:
        """Return the way from one member to another on a port; None when there is none.

        Args:
            start: Who begins.
            end: Who is called.
            port: The port.
            protocol: The protocol.
        """
        fitting = (w for w in self.ways(start, end) if w.protocol in {protocol, "all"} and w.first <= port <= w.last)
        return next(fitting, None)

    def _covers(self, rule: Rule, member: Member) -> bool:
        if rule.peer_is_group:
            return rule.peer in member.groups
        if rule.is_anywhere:
            return True
        if rule.allows_nothing:
            return False
        blocks = [self.graph.properties(self.graph.resources[key]).get("CidrBlock") for key in member.subnets]
        return any(overlap(rule.peer, str(block)) for block in blocks)

    def _same_network(self, start: Member, end: Member) -> bool:
        one, other = self._networks(start), self._networks(end)
        return not one or not other or bool(one & other)

    def _networks(self, member: Member) -> set[str]:
        return {
            each.key
            for key in member.groups
            for each in self.graph.targets(self.graph.properties(self.graph.resources[key]).get("VpcId"))
        }

    def sentence(self, rule: Rule) -> str:
        """Return a rule in plain words.

        Args:
            rule: The rule.
        """
        group = self.graph.resources[rule.group].path
        peer = self.graph.resources[rule.peer].path if rule.peer_is_group else rule.peer
        if rule.allows_nothing:
            return f"Nothing may leave {group}: its one egress rule is for an address that nobody has."
        if rule.peer_is_group and rule.peer == rule.group:
            way = "accept {} from" if rule.inward else "may send {} to"
            return f"Members of {group} {way.format(rule.ports)} one another."
        peer = f"members of {peer}" if rule.is_foreign else peer
        who = "anybody on the internet" if rule.is_anywhere else peer
        if rule.inward:
            return f"{_capital(who)} may reach {group} by {rule.ports}."
        where = "any address" if rule.is_anywhere else peer
        return f"{group} may reach {where} by {rule.ports}."

    def explains_efa(self, rule: Rule) -> bool:
        """Whether it is a rule that EFA needs: all traffic of a group with itself.

        Args:
            rule: The rule.
        """
        return rule.peer_is_group and rule.peer == rule.group and rule.protocol == "all"


def under(value: Any, names: set[str]) -> Iterator[Any]:
    """Yield what stands under some names, anywhere in a value.

    Args:
        value: The value.
        names: The names.
    """
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            for name, inner in each.items():
                if name in names:
                    yield inner
                waiting.append(inner)
        elif isinstance(each, list):
            waiting += each


def _all_out(group: str) -> Rule:
    description = "EC2's own, where a template has no egress rule"
    return Rule(
        group=group, inward=False, protocol="all", first=0, last=PORTS, peer="0.0.0.0/0", description=description
    )


def _port(value: Any, default: int) -> int:
    try:
        number = int(str(value))
    except ValueError:
        return default
    return number if 0 <= number <= PORTS else default


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith(("anybody", "members", "nobody")) else text
