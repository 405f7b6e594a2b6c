"""A launch template with every EFA interface of its type: for fleets, EKS node groups, AWS Batch and AWS PCS."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from aws_cdk import CfnTag, Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.fleet.image import AMAZON_LINUX_ROOT_DEVICE, image_id, root_device
from cdk_trainyard.fleet.images import known_image
from cdk_trainyard.fleet.rules_nodes import interfaces_of, template_problems
from cdk_trainyard.fleet.spec import LaunchTemplateSpec
from cdk_trainyard.fleet.spec_image import NodeImage
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network import (
    EfaBackend,
    EfaInterface,
    EfaSecurityGroup,
    PlacementGroup,
    launch_template_interfaces,
)
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.surroundings import surroundings

_Data = ec2.CfnLaunchTemplate.LaunchTemplateDataProperty
_PUBLIC_REASON = "a public address was asked for; the security group lets nothing in from outside"


class EfaLaunchTemplate(Construct):
    """A launch template whose instances use all the EFA bandwidth of their type.

    Defines the template: every network interface with its card, device and type; IMDSv2 only; an encrypted gp3 root
    volume; where the instances come from, and how close together. It can be used alone: in node groups of EKS, compute
    environments of AWS Batch and compute node groups of AWS PCS (``backend=EfaBackend.PCS``), which choose the subnet,
    the role and mostly the image themselves.

    Args:
        security_group: The security group of EFA, with its rules to itself; every interface gets it.
        extra_security_groups: Further groups of the primary interface. Default - none.
        subnet: The subnet. Default - whoever launches chooses it, as an Auto Scaling group does.
        placement_group: The placement group; left out where a capacity block owns the placement. Default - none.
        role: The role of the instances. Default - whoever launches gives one.
        user_data: What runs at the first start. Default - nothing.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        instance_type: A type with EFA.
        backend: Who launches, and so how the interfaces are laid out; LEGACY for ``efa`` on every card.
            Default: LAUNCH_TEMPLATE.
        image: The machine image. Default - whoever launches chooses it.
        capacity: How instances are bought. Default: ON_DEMAND.
        reservation_id: The capacity reservation, or with CAPACITY_BLOCK the capacity block. Default - none.
        reservation_group_arn: A resource group of reservations instead. Default - none.
        volume_gib: Size of the root volume in GiB, gp3 and encrypted; 200 is more than any DLAMI's snapshot.
            Default: 200.
        root_device: Name of the root volume in the image.
            Default - the image's; /dev/xvda (Amazon Linux) when no image is given.
        volume_key: The KMS key that encrypts it. Default - the account's key for EBS.
        threads_per_core: Threads of a core; 1 switches simultaneous multithreading off. Default - the type's.
        public_address: Whether instances get a public address; only where the layout has one interface. Default: False.
        key_pair: An EC2 key pair. Default - none; sessions are opened by Session Manager.
        instance_tags: Tags of instances and volumes. Default - none.

    Attributes:
        instance_type: The facts of the type. None: CDK has yet to look its name up.
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
        security_group: EfaSecurityGroup | ec2.ISecurityGroup,
        extra_security_groups: Sequence[ec2.ISecurityGroup] = (),
        subnet: ec2.ISubnet | None = None,
        placement_group: PlacementGroup | None = None,
        role: iam.IRole | None = None,
        user_data: ec2.UserData | None = None,
        names: Naming | None = None,
        instance_type: str | InstanceType | ec2.InstanceType,
        backend: EfaBackend = EfaBackend.LAUNCH_TEMPLATE,
        image: NodeImage | None = None,
        capacity: UsageClass = UsageClass.ON_DEMAND,
        reservation_id: str | None = None,
        reservation_group_arn: str | None = None,
        volume_gib: int = 200,
        root_device: str | None = None,
        volume_key: kms.IKey | None = None,
        threads_per_core: Literal[1, 2] | None = None,
        public_address: bool = False,
        key_pair: ec2.IKeyPair | None = None,
        instance_tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(LaunchTemplateSpec, locals()))
        together, efa = placement_group is not None, self._efa_needed
        problems = template_problems(spec, judge.environment, placement_group=together, efa_needed=efa)
        raise_problems(self, [*judge.problems, *problems])
        self._spec, security_group = spec, EfaSecurityGroup.of(security_group)
        self.instance_type: InstanceType | None = InstanceType.find(spec.instance_type)
        self.interfaces: tuple[EfaInterface, ...] = interfaces_of(self.instance_type, backend)
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
                instance_type=self.instance_type.name if self.instance_type else str(spec.instance_type),
                image_id=image_id(self, image) if image else None,
                iam_instance_profile=_profile(profile),
                user_data=Fn.base64(user_data.render()) if user_data else None,
                key_name=key_pair.key_pair_name if key_pair else None,
                network_interfaces=_public(interfaces) if public_address else interfaces,
                block_device_mappings=_volumes(spec),
                metadata_options=_metadata(),
                monitoring=ec2.CfnLaunchTemplate.MonitoringProperty(enabled=True),
                ebs_optimized=True,
                cpu_options=self._cpu_options(),
                placement=_placement(placement_group),
                instance_market_options=self._market_options(),
                capacity_reservation_specification=_reservation(spec),
                tag_specifications=_tags(spec.instance_tags),
            ),
        )
        if public_address:
            acknowledge(self.launch_template, {"CKV_AWS_88": _PUBLIC_REASON})
        self.launch_template.node.add_dependency(security_group.self_rules)
        if image is not None and image.build is not None:
            self.launch_template.node.add_dependency(image.build.parameter.resource)

    @property
    def launch_template_id(self) -> str:
        """Its id."""
        return self.launch_template.ref

    @property
    def latest_version(self) -> str:
        """The number of its newest version: another one with every change."""
        return self.launch_template.attr_latest_version_number

    def _market_options(self) -> ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None:
        market = self._spec.capacity
        if market is UsageClass.ON_DEMAND or not self._sold_by_template:
            return None
        return ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty(
            market_type=market.value,
            spot_options=ec2.CfnLaunchTemplate.SpotOptionsProperty(
                spot_instance_type="one-time", instance_interruption_behavior="terminate"
            )
            if market is UsageClass.SPOT
            else None,
        )

    def _cpu_options(self) -> ec2.CfnLaunchTemplate.CpuOptionsProperty | None:
        threads, kind = self._spec.threads_per_core, self.instance_type
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


def _volumes(spec: LaunchTemplateSpec) -> list[ec2.CfnLaunchTemplate.BlockDeviceMappingProperty]:
    own = root_device(known_image(spec.image).user) if spec.image else AMAZON_LINUX_ROOT_DEVICE
    return [
        ec2.CfnLaunchTemplate.BlockDeviceMappingProperty(
            device_name=spec.root_device or own,
            ebs=ec2.CfnLaunchTemplate.EbsProperty(
                volume_type="gp3",
                volume_size=spec.volume_gib,
                encrypted=True,
                kms_key_id=spec.volume_key.key_arn if spec.volume_key else None,
                delete_on_termination=True,
            ),
        )
    ]


def _placement(group: PlacementGroup | None) -> ec2.CfnLaunchTemplate.PlacementProperty | None:
    return ec2.CfnLaunchTemplate.PlacementProperty(group_name=group.placement_group_name) if group else None


def _reservation(
    spec: LaunchTemplateSpec,
) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None:
    if spec.reservation_id is None and spec.reservation_group_arn is None:
        return None
    return ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty(
        capacity_reservation_target=ec2.CfnLaunchTemplate.CapacityReservationTargetProperty(
            capacity_reservation_id=spec.reservation_id,
            capacity_reservation_resource_group_arn=spec.reservation_group_arn,
        )
    )


def _tags(tags: Mapping[str, str]) -> list[ec2.CfnLaunchTemplate.TagSpecificationProperty] | None:
    if not tags:
        return None
    rows = [CfnTag(key=key, value=value) for key, value in tags.items()]
    return [
        ec2.CfnLaunchTemplate.TagSpecificationProperty(resource_type=kind, tags=rows) for kind in ("instance", "volume")
    ]
