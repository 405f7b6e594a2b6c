"""A launch template with every EFA interface of its type: for fleets, EKS node groups, AWS Batch and AWS PCS."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from aws_cdk import CfnTag, Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge_checkov
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.fleet.capacity import FleetCapacity, FleetCapacityKind
from cdk_trainyard.fleet.image import AMAZON_LINUX_ROOT_DEVICE, NodeImage
from cdk_trainyard.fleet.resolved import ResolvedTemplate
from cdk_trainyard.fleet.rules_template import template_problems
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import (
    EfaBackend,
    EfaInterface,
    EfaSecurityGroup,
    PlacementGroup,
    launch_template_interfaces,
)

_Data = ec2.CfnLaunchTemplate.LaunchTemplateDataProperty
_MARKET = {FleetCapacityKind.SPOT: "spot", FleetCapacityKind.CAPACITY_BLOCK: "capacity-block"}
_PUBLIC_REASON = "a public address was asked for; the security group lets nothing in from outside"


class EfaLaunchTemplate(Construct):
    """A launch template whose instances use all the EFA bandwidth of their type.

    Defines the template: every network interface with its card, device and type; IMDSv2 only; an encrypted gp3 root
    volume; where the instances come from, and how close together. It can be used alone: in node groups of EKS, compute
    environments of AWS Batch and compute node groups of AWS PCS (``backend=EfaBackend.PCS``), which choose the subnet,
    the role and mostly the image themselves.

    Args:
        instance_type: A type with EFA.
        security_group: The security group of EFA, with its rules to itself; every interface gets it.
        extra_security_groups: Further groups of the primary interface. Default: none.
        subnet: The subnet. Default - whoever launches chooses it, as an Auto Scaling group does.
        backend: Who launches, and so how the interfaces are laid out; LEGACY for ``efa`` on every card.
            Default: LAUNCH_TEMPLATE.
        image: The machine image. Default - whoever launches chooses it.
        capacity: Where instances come from. Default - on demand.
        placement_group: The placement group; left out where a capacity block owns the placement. Default: none.
        role: The role of the instances. Default - whoever launches gives one.
        user_data: What runs at the first start. Default: nothing.
        volume_gib: Size of the root volume in GiB, gp3 and encrypted. Default: 200, more than any DLAMI's snapshot.
        root_device: Its name in the image. Default - the image's; /dev/xvda (Amazon Linux) when no image is given.
        volume_key: The key that encrypts it. Default - the account's key for EBS.
        threads_per_core: 1 switches simultaneous multithreading off. Default - the type's.
        public_address: Whether instances get a public address; only where the layout has one interface.
            Default: False.
        key_name: Name of an EC2 key pair for SSH. Default: none; reach the instances through SSM.
        instance_tags: Tags of instances and volumes. Default: none.

    Attributes:
        instance_type: The facts of the type. None: a Token.
        interfaces: The interfaces, the primary one first.
        launch_template: The L1 resource.

    Raises:
        ConfigurationError: Nothing could be launched from it; says everything that was found.
    """

    _efa_needed: ClassVar[bool] = True
    _sold_by_template: ClassVar[bool] = True  # and not by the group that launches from several templates

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        instance_type: str | InstanceType,
        security_group: EfaSecurityGroup,
        extra_security_groups: Sequence[ec2.ISecurityGroup] = (),
        subnet: ec2.ISubnet | None = None,
        backend: EfaBackend = EfaBackend.LAUNCH_TEMPLATE,
        image: NodeImage | None = None,
        capacity: FleetCapacity | None = None,
        placement_group: PlacementGroup | None = None,
        role: iam.IRole | None = None,
        user_data: ec2.UserData | None = None,
        volume_gib: int = 200,
        root_device: str | None = None,
        volume_key: kms.IKey | None = None,
        threads_per_core: int | None = None,
        public_address: bool = False,
        key_name: str | None = None,
        instance_tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        template = ResolvedTemplate(
            given=instance_type,
            type=InstanceType.find(instance_type),
            backend=backend,
            image=image,
            capacity=capacity or FleetCapacity.on_demand(),
            placement_group=placement_group is not None,
            public_address=public_address,
            volume_gib=volume_gib,
            threads_per_core=threads_per_core,
            efa_needed=self._efa_needed,
        )
        raise_problems(self.node.path, template_problems(template))
        self._template = template
        self.instance_type: InstanceType | None = template.type
        self.interfaces: tuple[EfaInterface, ...] = template.interfaces
        # a launch template takes an instance profile, not a role
        profile = iam.InstanceProfile(self, "InstanceProfile", role=role) if role else None
        interfaces = launch_template_interfaces(
            self.interfaces,
            security_group=security_group,
            primary_security_groups=extra_security_groups,
            subnet=subnet,
        )
        self.launch_template = ec2.CfnLaunchTemplate(
            self,
            "Resource",
            launch_template_data=_Data(
                instance_type=template.type.name if template.type else str(instance_type),
                image_id=image.render(self) if image else None,
                iam_instance_profile=_profile(profile),
                user_data=Fn.base64(user_data.render()) if user_data else None,
                key_name=key_name,
                network_interfaces=_public(interfaces) if public_address else interfaces,
                block_device_mappings=_volumes(template, root_device, volume_key),
                metadata_options=_metadata(),
                monitoring=ec2.CfnLaunchTemplate.MonitoringProperty(enabled=True),
                ebs_optimized=True,
                cpu_options=self._cpu_options(),
                placement=_placement(placement_group),
                instance_market_options=self._market_options(),
                capacity_reservation_specification=_reservation(template.capacity),
                tag_specifications=_tags(instance_tags or {}),
            ),
        )
        if public_address:
            acknowledge_checkov(self.launch_template, check="CKV_AWS_88", reason=_PUBLIC_REASON)
        self.launch_template.node.add_dependency(security_group.self_rules)

    @property
    def launch_template_id(self) -> str:
        """Its id."""
        return self.launch_template.ref

    @property
    def latest_version(self) -> str:
        """The number of its newest version: another one with every change."""
        return self.launch_template.attr_latest_version_number

    def _market_options(self) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None:
        market = _MARKET.get(self._template.capacity.kind)
        if market is None or not self._sold_by_template:
            return None
        return ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty(
            market_type=market,
            spot_options=ec2.CfnLaunchTemplate.SpotOptionsProperty(
                spot_instance_type="one-time", instance_interruption_behavior="terminate"
            )
            if market == "spot"
            else None,
        )

    def _cpu_options(self) -> ec2.CfnLaunchTemplate.CpuOptionsProperty | None:
        threads, kind = self._template.threads_per_core, self._template.type
        if threads is None or kind is None:
            return None
        # EC2 takes both or none
        return ec2.CfnLaunchTemplate.CpuOptionsProperty(
            core_count=kind.vcpus // kind.threads_per_core, threads_per_core=threads
        )


def _profile(
    profile: iam.InstanceProfile | None,
) -> ec2.CfnLaunchTemplate.IamInstanceProfileProperty | None:
    return ec2.CfnLaunchTemplate.IamInstanceProfileProperty(arn=profile.instance_profile_arn) if profile else None


def _public(
    interfaces: Sequence[ec2.CfnLaunchTemplate.NetworkInterfaceProperty],
) -> list[ec2.CfnLaunchTemplate.NetworkInterfaceProperty]:
    (only,) = interfaces
    return [
        ec2.CfnLaunchTemplate.NetworkInterfaceProperty(
            network_card_index=only.network_card_index,
            device_index=only.device_index,
            interface_type=only.interface_type,
            groups=only.groups,
            subnet_id=only.subnet_id,
            delete_on_termination=True,
            associate_public_ip_address=True,
        )
    ]


def _metadata() -> ec2.CfnLaunchTemplate.MetadataOptionsProperty:
    return ec2.CfnLaunchTemplate.MetadataOptionsProperty(
        http_endpoint="enabled",
        http_tokens="required",  # IMDSv2 only
        http_put_response_hop_limit=1,  # not for containers: they would have the node's role
    )


def _volumes(
    template: ResolvedTemplate, device: str | None, key: kms.IKey | None
) -> list[ec2.CfnLaunchTemplate.BlockDeviceMappingProperty]:
    return [
        ec2.CfnLaunchTemplate.BlockDeviceMappingProperty(
            device_name=device or (template.image.root_device if template.image else AMAZON_LINUX_ROOT_DEVICE),
            ebs=ec2.CfnLaunchTemplate.EbsProperty(
                volume_type="gp3",
                volume_size=template.volume_gib,
                encrypted=True,
                kms_key_id=key.key_arn if key else None,
                delete_on_termination=True,
            ),
        )
    ]


def _placement(group: PlacementGroup | None) -> ec2.CfnLaunchTemplate.PlacementProperty | None:
    return ec2.CfnLaunchTemplate.PlacementProperty(group_name=group.placement_group_name) if group else None


def _reservation(
    capacity: FleetCapacity,
) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None:
    if not capacity.owns_placement:
        return None
    return ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty(
        capacity_reservation_target=ec2.CfnLaunchTemplate.CapacityReservationTargetProperty(
            capacity_reservation_id=capacity.reservation_id,
            capacity_reservation_resource_group_arn=capacity.group_arn,
        )
    )


def _tags(tags: Mapping[str, str]) -> list[ec2.CfnLaunchTemplate.TagSpecificationProperty] | None:
    if not tags:
        return None
    rows = [CfnTag(key=key, value=value) for key, value in tags.items()]
    return [
        ec2.CfnLaunchTemplate.TagSpecificationProperty(resource_type=kind, tags=rows) for kind in ("instance", "volume")
    ]
