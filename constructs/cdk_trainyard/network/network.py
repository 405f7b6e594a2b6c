"""Networks that clusters train in: one accelerator subnet in one named zone, and what it needs around it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, DependencyGroup, IDependable

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network.address_plan import endpoint_addresses
from cdk_trainyard.network.default_security_group import ClosedDefaultSecurityGroup
from cdk_trainyard.network.endpoints import Endpoints
from cdk_trainyard.network.first_synthesis import provisional
from cdk_trainyard.network.flow_logs import FlowLogs
from cdk_trainyard.network.rules import is_local, layout_request, network_problems
from cdk_trainyard.network.rules_existing import accelerator_subnet_problems, existing_network_problems
from cdk_trainyard.network.rules_resources import s3_statement_problems
from cdk_trainyard.network.spec import Endpoint, ExistingNetworkSpec, Nat, NetworkSpec, SubnetSpec
from cdk_trainyard.network.subnet_layout import LayoutRequest, plan_subnets
from cdk_trainyard.network.subnets import SERVICE, add_nat, define_subnets
from cdk_trainyard.network.vpc import NetworkVpc
from cdk_trainyard.network.warnings import WARNINGS
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import At, warnings_of
from cdk_trainyard.surroundings import known, surroundings
from cdk_trainyard.tokens import Unknown, dummy

# What a choice of the user's makes true, and the rules of cdk-nag's packs that would say so.
_NO_FLOW_LOGS = dict.fromkeys(
    ("AwsSolutions-VPC7", "NIST.800.53.R5-VPCFlowLogsEnabled"),
    "asked for with 'flow_logs_retention': who spoke to whom is recorded elsewhere, or not at all",
)
_OPEN_DEFAULT_GROUP = {
    "NIST.800.53.R5-VPCDefaultSecurityGroupClosed": (
        "asked for with 'restrict_default_security_group': the account closes it, or something uses it"
    )
}


class Network(Construct):
    """What clusters, file systems and services need of a network, whoever made it.

    Attributes:
        vpc: The VPC.
        zone: The zone of the accelerator subnet, by name or by id, as it was given.
        accelerator_subnet: The private subnet of the nodes with accelerators and of their file system.
        accelerator_cidr: Its block. None: not known.
        public_subnets: Subnets with a route to the internet.
        service_subnets: Private subnets for services that ask for several zones: databases, load balancers.
        service_zones: Their zones, by name or by id, as they were given. None for one that is not known.
        route_out: The nodes' way to packages, S3 and AWS services. Nodes that start before it stands fail.
        has_nat: Whether the nodes reach the internet.
        nat_gateway_ids: The NAT gateways that were made for it; none where they are somebody else's.
        endpoint_addresses: How many addresses of the accelerator subnet its interface endpoints take, as far as known.
    """

    vpc: ec2.IVpc
    zone: str
    accelerator_subnet: ec2.ISubnet
    accelerator_cidr: str | None
    public_subnets: tuple[ec2.ISubnet, ...]
    service_subnets: tuple[ec2.ISubnet, ...]
    service_zones: tuple[str | None, ...]
    route_out: IDependable
    has_nat: bool
    nat_gateway_ids: tuple[str, ...] = ()
    endpoint_addresses: int = 0


class TrainingNetwork(Network):
    """A VPC for training: one large private subnet for the accelerators in the zone that has them.

    Defines the VPC; the accelerator subnet; a public subnet in its zone, and one in each of ``public_zones``; a service
    subnet in each of ``service_zones``; NAT; an S3 endpoint with a policy; flow logs; a closed default security group.
    No zone is guessed and nothing is looked up.

    The zones, the blocks and the accelerator subnet's size cannot change once nodes run: CloudFormation would make the
    new subnet before it deletes the old one. Public and service zones can be added and removed at any time.

    Args:
        s3_statements: What may pass through the S3 endpoint, each with a principal. The buckets of AWS's own that
            nodes need are always added. Default - whatever principals of this account may do.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        zone: Zone of the accelerator subnet, by name (``us-east-1a``) or by id (``use1-az4``); an id is the same place
            for every account, and capacity is sold by it.
        cidr: Block of the VPC, a /16 to a /28. Default: 10.1.0.0/16.
        public_zones: Zones with a public subnet, beside the accelerator subnet's, which has one for its NAT gateway.
            Default - none.
        accelerator_mask: Prefix length of the accelerator subnet.
            Default - half of the VPC, a /17 of a /16; with ``secondary_cidr`` all of that.
        accelerator_cidr: Block of the accelerator subnet, instead of ``accelerator_mask``.
            Default - the upper half of the VPC.
        service_zones: Zones with a private subnet for services that want several, as databases and load balancers: at
            least two, of which ``zone`` may be one.
            Default - none.
        nat: NAT gateways: one, per-zone or none. With none there is an internet gateway only for ``public_zones``.
            Default: ONE.
        secondary_cidr: A second block, for the accelerator subnet alone: 100.64.0.0/10 is not routed to corporate
            networks, so it can be large.
            Default - none.
        interface_endpoints: AWS services that are reached inside the VPC, at a price by the hour.
            Default - none; S3 always is, for free.
        public_buckets: Names of buckets that nodes read without credentials, as public data sets
            (``--no-sign-request``): the S3 endpoint lets everybody list and read them. Buckets of other Regions need
            NAT instead.
            Default - none.
        flow_logs_retention: How long the VPC's flow logs are kept; with None, which a file writes as 0, there are none.
            Default: THREE_MONTHS.
        flow_logs_key: KMS key that encrypts the flow logs. Default - one of CloudWatch Logs.
        restrict_default_security_group: Whether the VPC's default security group is closed. Default: True.

    Attributes:
        s3_endpoint: The endpoint of S3; ``add_to_policy`` widens it.
        interface_endpoints: As given.
        flow_log_group: Where the flow logs are. None: there are none.

    Raises:
        ConfigurationError: A zone, a block or a combination cannot work; says all of them at once.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        s3_statements: Sequence[iam.PolicyStatement] | None = None,
        names: Naming | None = None,
        zone: str,
        cidr: str = "10.1.0.0/16",
        public_zones: Sequence[str] = (),
        accelerator_mask: int | None = None,
        accelerator_cidr: str | None = None,
        service_zones: Sequence[str] = (),
        nat: Nat = Nat.ONE,
        secondary_cidr: str | None = None,
        interface_endpoints: Sequence[Endpoint] = (),
        public_buckets: Sequence[str] = (),
        flow_logs_retention: logs.RetentionDays | None = logs.RetentionDays.THREE_MONTHS,
        flow_logs_key: kms.IKey | None = None,
        restrict_default_security_group: bool = True,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(NetworkSpec, locals()))
        rules = network_problems(spec, judge.environment.region)
        raise_problems(self, [*judge.problems, *rules, *s3_statement_problems(s3_statements)])
        spec = provisional(spec, judge.environment.region)
        zone, cidr, secondary_cidr = spec.zone, spec.cidr, spec.secondary_cidr
        request = cast("LayoutRequest", layout_request(spec))
        say_warnings(self, warnings_of("network", WARNINGS, spec))
        layout = plan_subnets(request)
        vpc = self._define_vpc(cidr)
        subnets = define_subnets(self, vpc, request, layout)
        self.nat_gateway_ids = add_nat(subnets, zone, nat)
        self.zone = zone
        self.accelerator_subnet = subnets.accelerator
        self.accelerator_cidr = str(layout.accelerator)
        self.endpoint_addresses = endpoint_addresses(spec)
        self.public_subnets = tuple(subnets.public.values())
        self.service_subnets = tuple(subnets.service.values())
        self.service_zones = tuple(subnets.service)
        self.has_nat = nat != Nat.NONE
        self.vpc = NetworkVpc(self, "Vpc", vpc=vpc, cidr=cidr, groups=subnets.groups(nat))
        endpoints = Endpoints(
            self,
            "Endpoints",
            vpc=self.vpc,
            group=SERVICE if subnets.service and is_local(zone) else None,  # a Local Zone has no endpoints
            cidrs=[block for block in (cidr, secondary_cidr) if block is not None],
            endpoints=interface_endpoints,
            s3_statements=s3_statements,
            public_buckets=public_buckets,
        )
        self.s3_endpoint = endpoints.s3
        self.interface_endpoints = tuple(interface_endpoints)
        self.route_out = DependencyGroup(self.vpc.internet_connectivity_established, endpoints)
        self.flow_log_group = self._log_flows(vpc, flow_logs_retention, flow_logs_key)
        if restrict_default_security_group:
            ClosedDefaultSecurityGroup(self, "DefaultSecurityGroup", vpc=vpc)
        else:
            acknowledge(vpc, _OPEN_DEFAULT_GROUP)

    @staticmethod
    def from_existing(
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        accelerator_subnet: ec2.ISubnet,
        zone: str,
        accelerator_cidr: str | None = None,
        public_subnets: Sequence[ec2.ISubnet] = (),
        service_subnets: Sequence[ec2.ISubnet] = (),
        route_out: IDependable | None = None,
    ) -> Network:
        """Take a network that exists already. Defines nothing.

        Args:
            scope: The parent.
            construct_id: The id in it.
            vpc: The VPC.
            accelerator_subnet: The private subnet for the nodes.
            zone: Its zone, by name or by id.
            accelerator_cidr: Its block; without it nobody can tell whether the nodes fit.
                Default - what ``accelerator_subnet`` knows.
            public_subnets: Public subnets. Default - none.
            service_subnets: Private subnets in at least two zones, for services that ask for them. Default - none.
            route_out: What the nodes must wait for. Default - the routes of ``accelerator_subnet``, when they are
                made in this app.

        Raises:
            ConfigurationError: What is said of the network contradicts itself.
        """
        return _ExistingNetwork(
            scope,
            construct_id,
            vpc=vpc,
            accelerator_subnet=accelerator_subnet,
            zone=zone,
            accelerator_cidr=accelerator_cidr,
            public_subnets=public_subnets,
            service_subnets=service_subnets,
            route_out=route_out,
        )

    def _define_vpc(self, cidr: str) -> ec2.CfnVPC:
        return ec2.CfnVPC(
            self,
            "Resource",
            cidr_block=cidr,
            enable_dns_hostnames=True,  # file systems and interface endpoints are found by name
            enable_dns_support=True,
            tags=[CfnTag(key="Name", value=self.node.path)],
        )

    def _log_flows(
        self, vpc: ec2.CfnVPC, retention: logs.RetentionDays | None, key: kms.IKey | None
    ) -> logs.ILogGroup | None:
        if retention is None:
            acknowledge(vpc, _NO_FLOW_LOGS)
            return None
        return FlowLogs(self, "FlowLogs", vpc=vpc, retention=retention, key=key).log_group


_KEYWORDS: Final[Mapping[At, At]] = {
    ("accelerator_subnet", "zone"): ("zone",),
    ("accelerator_subnet", "cidr"): ("accelerator_cidr",),
}
"""Options that ``from_existing`` takes beside the subnet."""


class _ExistingNetwork(Network):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        accelerator_subnet: ec2.ISubnet,
        zone: str,
        accelerator_cidr: str | None,
        public_subnets: Sequence[ec2.ISubnet],
        service_subnets: Sequence[ec2.ISubnet],
        route_out: IDependable | None,
    ) -> None:
        super().__init__(scope, construct_id)
        facts, environment = _facts(accelerator_subnet), surroundings(self)
        accelerator = replace(facts, zone=zone, cidr=facts.cidr if accelerator_cidr is None else accelerator_cidr)
        spec = ExistingNetworkSpec(
            vpc_id=vpc.vpc_id,
            accelerator_subnet=accelerator,
            public_subnets=[_facts(each) for each in public_subnets],
            service_subnets=[_facts(each) for each in service_subnets],
        )
        problems = [
            *existing_network_problems(spec, environment.region),
            *accelerator_subnet_problems(zone, accelerator_cidr, facts),
        ]
        raise_problems(self, [replace(each, at=_KEYWORDS.get(each.at, each.at)) for each in problems])
        self.vpc = vpc
        self.zone = zone
        self.accelerator_subnet = accelerator_subnet
        self.accelerator_cidr = accelerator.cidr
        self.public_subnets = tuple(public_subnets)
        self.service_subnets = tuple(service_subnets)
        zones: list[str | Unknown] = [each.zone for each in spec.service_subnets]
        self.service_zones = tuple(None if isinstance(zone, Unknown) else zone for zone in zones)
        self.route_out = route_out if route_out is not None else accelerator_subnet.internet_connectivity_established
        isolated = {subnet.subnet_id for subnet in vpc.isolated_subnets}
        # before it is looked up, private and isolated subnets of a VPC are the same
        self.has_nat = dummy(facts.subnet_id) or facts.subnet_id not in isolated


def _facts(subnet: ec2.ISubnet) -> SubnetSpec:
    return SubnetSpec(
        subnet_id=subnet.subnet_id,
        zone=known(lambda: subnet.availability_zone) or cast("str", Unknown()),
        cidr=known(lambda: subnet.ipv4_cidr_block),
    )
