"""Networks that exist already: made in moto's EC2 under their very ids."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend, ec2_backends

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.errors import describe
from cdk_trainyard.local.existing_arn import Arn
from cdk_trainyard.local.services.accounts import current
from cdk_trainyard.local.services.ec2 import choosing

_ANYWHERE = "0.0.0.0/0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of thing of a network, as its ARN calls it.

    Attributes:
        prefix: How its ids begin (EC2 User Guide, "Resource IDs").
        there: Returns those that there are.
        make: Makes one in moto's backend.
        finish: Calls the API for what is left.
        needs: What must be said of it beside its ARN; the names are those of EC2's API.
        may: What may be said, too.
    """

    prefix: str
    there: Callable[[EC2Backend], Any]
    make: Callable[[EC2Backend, Arn], Any]
    finish: Callable[[Any, Arn], None] = lambda _ec2, _arn: None
    needs: tuple[str, ...]
    may: tuple[str, ...] = ()


def _subnet(ec2: EC2Backend, arn: Arn) -> None:
    """Make a subnet in a zone of this name, or of this id, as ``use1-az4``."""
    zone, is_id = arn.said["AvailabilityZone"], "-az" in arn.said["AvailabilityZone"]
    ec2.create_subnet(
        arn.said["VpcId"],
        arn.said["CidrBlock"],
        availability_zone=None if is_id else zone,
        availability_zone_id=zone if is_id else None,
    )


def _nat_gateway(ec2: EC2Backend, arn: Arn) -> None:
    ec2.create_nat_gateway(arn.said["SubnetId"], str(ec2.allocate_address("vpc").allocation_id))


def _finish_vpc(ec2: Any, arn: Arn) -> None:
    ec2.modify_vpc_attribute(VpcId=arn.name, EnableDnsHostnames={"Value": True})


def _finish_subnet(ec2: Any, arn: Arn) -> None:
    public = arn.said.get("MapPublicIpOnLaunch", "false").lower() == "true"
    ec2.modify_subnet_attribute(SubnetId=arn.name, MapPublicIpOnLaunch={"Value": public})


def _finish_gateway(ec2: Any, arn: Arn) -> None:
    ec2.attach_internet_gateway(InternetGatewayId=arn.name, VpcId=arn.said["VpcId"])


def _finish_routes(ec2: Any, arn: Arn) -> None:
    for subnet in arn.listed("SubnetIds"):
        ec2.associate_route_table(RouteTableId=arn.name, SubnetId=subnet)
    way = {key: arn.said[key] for key in ("GatewayId", "NatGatewayId") if key in arn.said}
    if way:
        ec2.create_route(RouteTableId=arn.name, DestinationCidrBlock=_ANYWHERE, **way)


def _finish_group(ec2: Any, arn: Arn) -> None:
    """Let all traffic in from the group itself and out to itself, as EFA needs."""
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": arn.name}]}
    for side in (ec2.authorize_security_group_ingress, ec2.authorize_security_group_egress):
        side(GroupId=arn.name, IpPermissions=[rule])


KINDS: Mapping[str, Kind] = {
    "internet-gateway": Kind(
        prefix="igw-",
        there=lambda ec2: ec2.internet_gateways,
        make=lambda ec2, _: ec2.create_internet_gateway(),
        finish=_finish_gateway,
        needs=("VpcId",),
    ),
    "natgateway": Kind(
        prefix="nat-",
        there=lambda ec2: ec2.nat_gateways,
        make=_nat_gateway,
        needs=("SubnetId",),
    ),
    "route-table": Kind(
        prefix="rtb-",
        there=lambda ec2: ec2.route_tables,
        make=lambda ec2, arn: ec2.create_route_table(arn.said["VpcId"]),
        finish=_finish_routes,
        needs=("VpcId",),
        may=("SubnetIds", "GatewayId", "NatGatewayId"),
    ),
    "security-group": Kind(
        prefix="sg-",
        there=lambda ec2: [name for groups in ec2.groups.values() for name in groups],
        make=lambda ec2, arn: ec2.create_security_group(
            arn.said.get("GroupName", arn.name), "exists already", arn.said["VpcId"]
        ),
        finish=_finish_group,
        needs=("VpcId",),
        may=("GroupName",),
    ),
    "subnet": Kind(
        prefix="subnet-",
        there=lambda ec2: [name for subnets in ec2.subnets.values() for name in subnets],
        make=_subnet,
        finish=_finish_subnet,
        needs=("VpcId", "CidrBlock", "AvailabilityZone"),
        may=("MapPublicIpOnLaunch",),
    ),
    "vpc": Kind(
        prefix="vpc-",
        there=lambda ec2: ec2.vpcs,
        make=lambda ec2, arn: ec2.create_vpc(arn.said["CidrBlock"]),
        finish=_finish_vpc,
        needs=("CidrBlock",),
    ),
}


def make(arn: Arn) -> None:
    """Make a thing of a network.

    Raises:
        ValueError: It cannot be made, as EC2 says; or its id is none of its kind, or taken.
    """
    backend, kind = ec2_backends[current()][arn.region], KINDS[arn.kind]
    if not arn.name.startswith(kind.prefix):
        raise ValueError(f"'{arn.text}' cannot be made up: the id of a {arn.kind} begins with {kind.prefix}")
    if arn.name in kind.there(backend):
        raise ValueError(f"'{arn.text}' exists already")
    try:
        with choosing(arn.name):
            kind.make(backend, arn)
        kind.finish(client("ec2", arn.region), arn)
    except (EC2ClientError, ClientError) as error:
        raise ValueError(f"'{arn.text}' cannot be made up: {describe(error)}") from error
