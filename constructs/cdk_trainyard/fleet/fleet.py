"""A fleet of EC2 instances that train together: one subnet, one placement group, EFA between all of them."""

from collections.abc import Sequence

import jsii
from aws_cdk import Annotations, Aws, Names, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct, DependencyGroup, IDependable

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.fleet import render
from cdk_trainyard.fleet.bootstrap import WORKER, NodeFacts, user_data
from cdk_trainyard.fleet.capacity import FleetCapacity, FleetPlacement, FleetSize
from cdk_trainyard.fleet.checks import everything_wrong
from cdk_trainyard.fleet.image import NodeImage
from cdk_trainyard.fleet.launch_template import EfaLaunchTemplate
from cdk_trainyard.fleet.log_group import node_logs
from cdk_trainyard.fleet.node_role import FLEET_TAG, ROLE_TAG, NodeRole
from cdk_trainyard.fleet.quotas import quota_text
from cdk_trainyard.fleet.resolved import ResolvedFleet, find_types
from cdk_trainyard.fleet.scripts import FleetScripts
from cdk_trainyard.fleet.templates import MixedTemplate
from cdk_trainyard.fleet.warnings import WARNINGS
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import EfaBackend, EfaSecurityGroup, Network, PlacementGroup
from cdk_trainyard.storage import Lustre, TrainingBuckets
from cdk_trainyard.storage.reach import open_lustre
from cdk_trainyard.tokens import unresolved


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class EfaFleet(Construct):
    """Accelerated instances in one subnet and one placement group, set up to run one MPI or torchrun job.

    Defines an Auto Scaling group and its launch template, the placement group where no reservation owns it, the nodes'
    role with a managed policy, a security group when none is given, an SSH key that only the members can read, a log
    group, and the upload of the set-up scripts. A node that lacks a device, or whose set-up fails, is given back; one
    that is lost is replaced, and joins the others.

    Nobody can log in from outside: there is no key pair and no open port. ``connect_command`` goes through SSM.

    A change of the template (image, scripts, types) reaches new nodes only: a job is never ended by a deployment.

    Args:
        network: The network; all nodes are in its accelerator subnet.
        scripts_bucket: Where the set-up scripts are uploaded.
        size: How many nodes.
        image: Their machine image.
        instance_type: Their type, with EFA. Default - ``instance_types`` are given.
        instance_types: Several types in order of preference; a job across different ones runs at the pace of the
            slowest. Default - ``instance_type`` is given.
        capacity: Where they come from. Default - on demand.
        placement: How close together they stand. Default - in a cluster placement group of their own; where a
            reservation says.
        backend: How interfaces are laid out; LEGACY for ``efa`` on every card. Default: LAUNCH_TEMPLATE.
        security_group: Their security group. Default - a new one.
        extra_security_groups: Up to four more. Default: none.
        lustre: The shared file system. Default: none.
        mount_at: Where it is mounted. Default: /fsx.
        fleet_name: The name that its members find one another by. Default - unique name made of the path.
        role: A role of yours for the nodes; it gets the policy attached. Default - a new one.
        volume_gib: Size of the root volume in GiB. Default: 200.
        volume_key: The key that encrypts it; its policy must let Auto Scaling's service-linked role use it.
            Default - the account's key for EBS.
        threads_per_core: 1 switches simultaneous multithreading off. Default - the type's.
        key_name: An EC2 key pair, for who wants to use SSH with a key of their own. Default: none.
        topic: Who is told of nodes that come and go. Default: nobody.
        log_retention: How long logs of set-ups are kept. Default: THREE_MONTHS.

    Attributes:
        network: The network.
        fleet_name: The name.
        placement_group: The placement group. None: there is none.
        security_groups: The security groups of the nodes, EFA's first.
        templates: The launch templates, one for each type.
        group: The L1 Auto Scaling group.
        log_group: Where the nodes' logs are.
        image: The machine image.
        node_role: The role with its policy.
        ready: What nodes wait for.
        quota: Which quota the fleet takes how much of, in words.

    Raises:
        ConfigurationError: The fleet cannot work; names everything that was found.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: Network,
        scripts_bucket: s3.IBucket,
        size: FleetSize,
        image: NodeImage,
        instance_type: str | InstanceType | None = None,
        instance_types: Sequence[str | InstanceType] = (),
        capacity: FleetCapacity | None = None,
        placement: FleetPlacement | None = None,
        backend: EfaBackend = EfaBackend.LAUNCH_TEMPLATE,
        security_group: EfaSecurityGroup | None = None,
        extra_security_groups: Sequence[EfaSecurityGroup] = (),
        lustre: Lustre | None = None,
        mount_at: str = "/fsx",
        fleet_name: str | None = None,
        role: iam.IRole | None = None,
        volume_gib: int = 200,
        volume_key: kms.IKey | None = None,
        threads_per_core: int | None = None,
        key_name: str | None = None,
        topic: sns.ITopic | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
    ) -> None:
        super().__init__(scope, construct_id)
        region, sold = Stack.of(self).region, capacity or FleetCapacity.on_demand()
        given = (*([instance_type] if instance_type is not None else []), *instance_types)
        groups = (*([security_group] if security_group else []), *extra_security_groups)
        fleet = ResolvedFleet(
            name=fleet_name or Names.unique_resource_name(self, max_length=63, separator="-"),
            region=None if unresolved(region) else region,
            network=network,
            given=given,
            types=find_types(given),
            one_type=instance_type is not None,
            size=size,
            capacity=sold,
            placement=placement or FleetPlacement(enabled=not sold.owns_placement),
            backend=backend,
            image=image,
            lustre=lustre,
            mount_at=mount_at,
            security_groups=groups,
        )
        raise_problems(self.node.path, everything_wrong(fleet))
        self._warn(fleet)
        self._fleet = fleet
        self.network: Network = network
        self.fleet_name: str = fleet.name
        self.image: NodeImage = image
        self.placement_group: PlacementGroup | None = self._place(fleet.placement)
        if security_group is None:
            groups = (EfaSecurityGroup(self, "SecurityGroup", vpc=network.vpc), *groups)
        self.security_groups: tuple[EfaSecurityGroup, ...] = groups
        self._connections = ec2.Connections(security_groups=[group.security_group for group in groups])
        self.log_group: logs.ILogGroup = node_logs(self, log_retention)
        self.scripts = FleetScripts.of(self, scripts_bucket)
        self._key = ec2.CfnKeyPair(self, "MemberKey", key_name=self._key_name(), key_type="ed25519")
        self.node_role = NodeRole(self, "Role", fleet_name=fleet.name, role=role)
        self._failures = ssm.CfnParameter(
            self,
            "Failures",
            type="String",
            value="0",
            description="Set-ups of nodes that failed since the last success",
        )
        self.node_role.allow_setup(
            scripts=self.scripts,
            key_parameter_arn=self._key_arn(),
            failures_parameter_arn=self._parameter_arn(self._failures.ref),
            log_group=self.log_group,
        )
        self.ready: IDependable = self._ready()
        template = MixedTemplate if len(given) > 1 else EfaLaunchTemplate
        facts = self.facts(WORKER, hook=render.HOOK)
        self.templates: tuple[EfaLaunchTemplate, ...] = tuple(
            template(
                self,
                "Template" if len(given) == 1 else f"Template{number}",
                instance_type=kind,
                security_group=groups[0],
                extra_security_groups=[group.security_group for group in groups[1:]],
                backend=backend,
                image=image,
                capacity=sold,
                placement_group=self.placement_group,
                role=self.node_role.role,
                user_data=user_data(self, self.scripts, facts),
                volume_gib=volume_gib,
                volume_key=volume_key,
                threads_per_core=threads_per_core,
                key_name=key_name,
            )
            for number, kind in enumerate(given)
        )
        self.group: autoscaling.CfnAutoScalingGroup = render.auto_scaling_group(
            self, fleet, self.templates, tags={FLEET_TAG: fleet.name, ROLE_TAG: WORKER, "Name": fleet.name}, topic=topic
        )
        self.group.node.add_dependency(self.ready)

    @property
    def connections(self) -> ec2.Connections:
        """The network connections of the nodes."""
        return self._connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The nodes' role; grants land in its managed policy."""
        return self.node_role.grant_principal

    @property
    def group_name(self) -> str:
        """Name of the Auto Scaling group."""
        return self.group.ref

    @property
    def resume_command(self) -> str:
        """The command that lets the group launch again, after three set-ups in a row have failed."""
        return (
            f"aws autoscaling resume-processes --region {Aws.REGION} --auto-scaling-group-name {self.group_name} "
            "--scaling-processes Launch"
        )

    @property
    def quota(self) -> str:
        """Which quotas the fleet takes how much of, in words."""
        return "; ".join(quota_text(kind, self._fleet.size.maximum, self._fleet.capacity) for kind in self._fleet.types)

    @property
    def nodes_command(self) -> str:
        """The command that lists the members: address, type, and the command that opens a session on each."""
        connect = f"join('',['{self.connect_command('')}',InstanceId])"
        return (
            f"aws ec2 describe-instances --region {Aws.REGION} "
            f"--filters Name=tag:{FLEET_TAG},Values={self.fleet_name} Name=instance-state-name,Values=running "
            f'--query "Reservations[].Instances[].[PrivateIpAddress,InstanceType,{connect}]" --output text'
        )

    def connect_command(self, instance_id: str = "<instance-id>") -> str:
        """Return the command that opens a session on a node.

        Args:
            instance_id: The node, from ``nodes_command``. Default - a placeholder.
        """
        return f"aws ssm start-session --region {Aws.REGION} --target {instance_id}"

    def use(self, buckets: TrainingBuckets) -> None:
        """Let jobs read the datasets, and read and write checkpoints and models. They cannot delete.

        Args:
            buckets: The buckets of the training environment.
        """
        self.node_role.allow_buckets(read=[buckets.datasets], read_write=[buckets.checkpoints, buckets.models])

    def facts(self, role: str, *, types: Sequence[InstanceType] = (), hook: str | None = None) -> NodeFacts:
        """Return what a member of the fleet is told.

        Args:
            role: ``worker`` or ``master``.
            types: Types that it may be, beside the fleet's. Default: none.
            hook: The lifecycle hook that waits for it. Default: none.
        """
        return NodeFacts(
            fleet=self.fleet_name,
            role=role,
            types=tuple(dict.fromkeys((*self._fleet.types, *types))),
            user=self.image.user,
            key_parameter=f"/ec2/keypair/{self._key.attr_key_pair_id}",
            log_group=self.log_group.log_group_name,
            hook=hook,
            failures=self._failures.ref if hook else None,
            lustre=self._fleet.lustre,
            mount_at=self._fleet.mount_at,
        )

    # ---------------------------------------------------------------- parts
    def _warn(self, fleet: ResolvedFleet) -> None:
        for slug, warning in WARNINGS.items():
            for text in warning(fleet):
                Annotations.of(self).add_warning_v2(f"@cdk-trainyard/fleet:{slug}", text)

    def _place(self, placement: FleetPlacement) -> PlacementGroup | None:
        if not placement.enabled:
            return None
        return placement.group or PlacementGroup(self, "PlacementGroup")

    def _key_name(self) -> str:
        return Names.unique_resource_name(self, max_length=200, separator="-")

    def _key_arn(self) -> str:
        # EC2 keeps the private half of a key pair that it makes in Parameter Store, encrypted
        return self._parameter_arn(f"ec2/keypair/{self._key.attr_key_pair_id}")

    def _parameter_arn(self, name: str) -> str:
        return Stack.of(self).format_arn(service="ssm", resource="parameter", resource_name=name)

    def _ready(self) -> IDependable:
        ready = DependencyGroup(
            self.node_role.policy,
            self.scripts.uploaded,
            self.network.route_out,
            self._key,
            self._failures,
            self.log_group,
        )
        for group in self.security_groups:
            ready.add(group.self_rules)
        lustre = self._fleet.lustre
        if lustre:
            ready.add(lustre.ready)
            if rules := open_lustre(self, lustre, self.security_groups):
                ready.add(rules)
        return ready
