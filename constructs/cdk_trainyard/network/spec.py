"""What can be said of a network: a new VPC, or one that exists. No CDK: a deployment file is judged with it alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, nonmember
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Annotated, Any, Final

from cdk_trainyard.data_files import load
from cdk_trainyard.options.fields import NoneAs
from cdk_trainyard.options.kinds import Cidr, Environment, Number, Open, Text, resource_id
from cdk_trainyard.options.stand_ins import Retention
from cdk_trainyard.problems import Flaw, shown

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_logs as logs

Zone = Annotated[str, Open(rule="zone_problems", examples=("use1-az4", "us-east-1a"))]
Block = Annotated[str, Cidr(masks=(16, 28))]
"""A block of a VPC or a subnet. Source: VPC user guide, "VPC CIDR blocks" and "Subnet CIDR blocks", read 2026-11."""
CARRIER_GRADE: Final = IPv4Network("100.64.0.0/10")
RFC_1918: Final = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("192.168.0.0/16"))
PRIVATE: Final = (*RFC_1918, CARRIER_GRADE)
NewBlock = Annotated[str, Cidr(masks=(16, 28), within=PRIVATE)]
"""A block of a VPC, or a subnet, that is made."""
_RESERVED: Final = {
    "formed as an IP address": r"[0-9]{1,3}(\.[0-9]{1,3}){3}",
    "one that begins with amzn-s3-demo-, sthree- or xn--, which S3 reserves": r"(amzn-s3-demo-|sthree-|xn--).*",
    "one that ends with .mrap, -s3alias, --ol-s3, --x-s3 or --table-s3, which S3 reserves": (
        r".*(\.mrap|-s3alias|--ol-s3|--x-s3|--table-s3)"
    ),
    "one with '.' beside '.' or '-'": r".*(\.\.|\.-|-\.).*",
    "a word for none, or for any": r"none|null|nil|nothing|true|false|default",
}
"""What no bucket is named, though its signs are right (Amazon S3 user guide, "General purpose bucket naming rules": a
name is unique in its partition, so that of a word is somebody else's; a hyphen beside a period is refused by the CDK,
and by S3 in names of DNS)."""


_DIRECTORY: Final = "--x-s3"
"""How names of directory buckets end (Amazon S3 user guide, "Directory bucket naming rules", read 2026-11)."""
_BUCKET: Final = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
_BUCKET_FORM: Final = Text(
    pattern=rf"(?!({'|'.join(_RESERVED.values())})$){_BUCKET}",
    words="the name of a bucket, 3 to 63 lowercase letters, digits, '-' and '.' that begin and end with a letter or a "
    "digit, without s3:// and path",
    example="my-bucket",
)


@dataclass(frozen=True, slots=True)
class BucketForm:
    """The name of a general purpose bucket of S3."""

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match the name, and say of one that S3 reserves why."""
        if re.fullmatch(_BUCKET, value):
            if value.endswith(_DIRECTORY):
                remedy = "; directory buckets of S3 Express One Zone are not taken"
                return Flaw("must be the name of a general purpose bucket", got=shown(value), remedy=remedy)
            found = next((words for words, form in _RESERVED.items() if re.fullmatch(form, value)), None)
            return Flaw(f"must be the name of a bucket, which is not {found}", got=shown(value)) if found else None
        wrong = _BUCKET_FORM.problem(value, environment)
        named = re.match(rf"(?:s3://|arn:.*:::)({_BUCKET})(/|$)", value)
        return replace(wrong, remedy=f"; use {shown(named[1])}") if wrong and named else wrong

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return _BUCKET_FORM.schema()


BucketName = Annotated[str, BucketForm()]
VpcId = Annotated[str, resource_id("vpc", "a VPC")]
SubnetId = Annotated[str, resource_id("subnet", "a subnet")]
RouteTableId = Annotated[str, resource_id("rtb", "a route table")]
SecurityGroupId = Annotated[str, resource_id("sg", "a security group")]


class Nat(StrEnum):
    """NAT gateways of a network: each costs by the hour and by the gigabyte."""

    FORMER_VALUES = nonmember({"0": "write none", "1": "write one", "true": "write one, or per-zone"})

    ONE = "one"
    """One, in the accelerator subnet's zone: the nodes' traffic stays in the zone, other zones share it."""
    PER_ZONE = "per-zone"
    """One in every zone that has a private subnet: no zone depends on another."""
    NONE = "none"
    """None, and without public zones no internet gateway either: nodes reach S3 and the interface endpoints."""


class Endpoint(StrEnum):
    """Services that a network can reach through an endpoint. S3 always has one."""

    FORMER_VALUES = nonmember(
        {
            "s3": "leave it out: S3 is always reached inside the VPC, for free",
            **dict.fromkeys(
                load("network", "other_endpoints")["services"], "no endpoint of it is made here; leave it out"
            ),
            "sagemaker.runtime": "leave it out: no model is served by SageMaker here",
        }
    )

    AUTOSCALING = "autoscaling"
    """Amazon EC2 Auto Scaling. Nodes of a fleet tell it that they are set up."""
    CLOUDFORMATION = "cloudformation"
    """AWS CloudFormation. Nodes of ParallelCluster tell it that they are ready."""
    DYNAMODB = "dynamodb"
    """DynamoDB, as a gateway in the route tables: free of charge, no address. ParallelCluster keeps its state there."""
    EC2 = "ec2"
    """Amazon EC2."""
    EC2_MESSAGES = "ec2messages"
    """Systems Manager's messages to its agent."""
    ECR_API = "ecr.api"
    """Amazon ECR: which images there are. Pulling one needs ``ECR_DKR`` too; its layers come from S3."""
    ECR_DKR = "ecr.dkr"
    """Amazon ECR's Docker registry."""
    ELASTIC_LOAD_BALANCING = "elasticloadbalancing"
    """Elastic Load Balancing. Login nodes of ParallelCluster stand behind a load balancer."""
    FSX = "fsx"
    """Amazon FSx's API. Mounting needs no endpoint."""
    LOGS = "logs"
    """CloudWatch Logs."""
    MONITORING = "monitoring"
    """CloudWatch metrics."""
    PROMETHEUS = "aps-workspaces"
    """Amazon Managed Service for Prometheus: metrics that are written, and read."""
    SAGEMAKER_API = "sagemaker.api"
    """Amazon SageMaker's API, HyperPod's too."""
    SECRETS_MANAGER = "secretsmanager"
    """AWS Secrets Manager."""
    SSM = "ssm"
    """Systems Manager."""
    SSM_MESSAGES = "ssmmessages"
    """Session Manager's channel to the nodes."""
    STS = "sts"
    """AWS STS."""


HYPERPOD_ENDPOINTS = (
    Endpoint.EC2_MESSAGES,
    Endpoint.LOGS,
    Endpoint.SAGEMAKER_API,
    Endpoint.SSM,
    Endpoint.SSM_MESSAGES,
    Endpoint.STS,
)
"""What HyperPod nodes use beside S3: sessions, logs, the service itself. AWS lists none for Slurm clusters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkSpec:
    """A new VPC with one accelerator subnet, in the zone that is named."""

    zone: Zone
    """Zone of the accelerator subnet, by name (``us-east-1a``) or by id (``use1-az4``); an id is the same place for
    every account, and capacity is sold by it."""
    cidr: NewBlock = "10.1.0.0/16"
    """Block of the VPC, a /16 to a /28. Default: 10.1.0.0/16."""
    public_zones: Sequence[Zone] = ()
    """Zones with a public subnet, beside the accelerator subnet's, which has one for its NAT gateway.
    Default - none."""
    accelerator_mask: Annotated[int | None, Number(minimum=16, maximum=28)] = None
    """Prefix length of the accelerator subnet. Default - half of the VPC, a /17 of a /16; with ``secondary_cidr`` all
    of that."""
    accelerator_cidr: NewBlock | None = None
    """Block of the accelerator subnet, instead of ``accelerator_mask``. Default - the upper half of the VPC."""
    service_zones: Sequence[Zone] = ()
    """Zones with a private subnet for services that want several, as databases and load balancers: at least two, of
    which ``zone`` may be one. Default - none."""
    nat: Nat = Nat.ONE
    """NAT gateways: one, per-zone or none. With none there is an internet gateway only for ``public_zones``.
    Default: one."""
    secondary_cidr: NewBlock | None = None
    """A second block, for the accelerator subnet alone: 100.64.0.0/10 is not routed to corporate networks, so it can be
    large. Default - none."""
    interface_endpoints: Sequence[Endpoint] = ()
    """AWS services that are reached inside the VPC, at a price by the hour. Default - none; S3 always is, for free."""
    public_buckets: Sequence[BucketName] = ()
    """Names of buckets that nodes read without credentials, as public data sets (``--no-sign-request``): the S3
    endpoint lets everybody list and read them. Buckets of other Regions need NAT instead. Default - none."""
    flow_logs_retention: Annotated["logs.RetentionDays | None", NoneAs(0)] = Retention(90)  # type: ignore[assignment]  # noqa: RUF009  stands for three months
    """How long the VPC's flow logs are kept; with None, which a file writes as 0, there are none. Default: 90."""
    flow_logs_key: "kms.IKey | None" = None
    """KMS key that encrypts the flow logs. Default - one of CloudWatch Logs."""
    restrict_default_security_group: bool = True
    """Whether the VPC's default security group is closed. Default: true."""

    @property
    def has_nat(self) -> bool:
        """Whether the accelerator subnet reaches the internet."""
        return self.nat is not Nat.NONE

    @property
    def zones_of_public_subnets(self) -> tuple[str, ...]:
        """Every zone with a public subnet, the accelerator subnet's first where a NAT gateway stands in it."""
        return tuple(dict.fromkeys([*([self.zone] if self.has_nat else []), *self.public_zones]))


@dataclass(frozen=True, kw_only=True, slots=True)
class SubnetSpec:
    """A subnet that exists already."""

    subnet_id: SubnetId
    """Its id."""
    zone: Zone
    """Its zone."""
    cidr: Block | None = None
    """Its block. Default - not known; whether the nodes fit is not checked."""
    route_table_id: RouteTableId | None = None
    """Its route table, which nothing of a file needs, but stacks of one's own may. Default - not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingNetworkSpec:
    """A VPC that exists already."""

    vpc_id: VpcId
    """Its id."""
    accelerator_subnet: SubnetSpec
    """The private subnet of nodes and file systems."""
    public_subnets: Sequence[SubnetSpec] = ()
    """Subnets with a route to an internet gateway. Default - none."""
    service_subnets: Sequence[SubnetSpec] = ()
    """Private subnets for services, in two zones or more. Default - none."""
    cidr: Block | None = None
    """Block of the VPC. Default - not known."""
    security_group_id: SecurityGroupId | None = None
    """A security group of yours for nodes and file systems. Default - one is made."""
    self_rules_exist: bool = False
    """Whether that group lets all traffic to and from itself already; otherwise both rules are added.
    Default: false."""

    @property
    def zone(self) -> str:
        """The zone of nodes and file systems."""
        return self.accelerator_subnet.zone

    @property
    def has_nat(self) -> bool:
        """Whether the accelerator subnet reaches the internet: taken for granted, as routes are not looked up."""
        return True
