"""A fleet of EC2 instances that train together: one subnet, one placement group, EFA between all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import jsii
from aws_cdk import CfnResource, Names, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.cluster import Gate
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.fleet import render
from cdk_trainyard.fleet.bootstrap import WORKER, NodeFacts, user_data
from cdk_trainyard.fleet.facts import FleetFacts
from cdk_trainyard.fleet.fleet_base import FleetBase
from cdk_trainyard.fleet.images import known_image
from cdk_trainyard.fleet.launch_template import EfaLaunchTemplate
from cdk_trainyard.fleet.node_role import FLEET_TAG, NodeRole
from cdk_trainyard.fleet.quotas import quota_text
from cdk_trainyard.fleet.rules import fleet_problems
from cdk_trainyard.fleet.scripts import FleetScripts
from cdk_trainyard.fleet.spec import FleetPlacement, FleetSpec
from cdk_trainyard.fleet.spec_image import NodeImage
from cdk_trainyard.fleet.templates import MixedTemplate
from cdk_trainyard.fleet.warnings import WARNINGS
from cdk_trainyard.identifiers import ROLE_TAG
from cdk_trainyard.instances import InstanceType, UsageClass, zone_region
from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.lifecycle.spec import Exporters
from cdk_trainyard.log_groups import log_group
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource
from cdk_trainyard.monitoring.nodes import exporters_of, node_settings, sources_of
from cdk_trainyard.monitoring.series import SERIES, series_metadata
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network import EfaSecurityGroup, Network, PlacementGroup, TrainingNetwork
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import warnings_of
from cdk_trainyard.storage import Lustre, Mount, TrainingBuckets
from cdk_trainyard.surroundings import surroundings
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:  # a large module: only who names a repository waits for it
    from aws_cdk import aws_ecr as ecr

_LOGS = "says which steps a node ran and what failed: holds no data and no secrets, since no values are logged"


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class EfaFleet(FleetBase):
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
        security_group: Their security group. Default - a new one.
        extra_security_groups: Up to four more. Default - none.
        placement_group: A placement group of yours: of other instances, or the one that a reservation was made in.
            Default - the fleet defines one, where ``placement`` asks for it.
        mounts: The shared file system, FSx for Lustre. Default - none.
        metrics: Where its metrics go: every node runs exporters, and an agent that asks them. Default - nowhere.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        image: Their machine image.
        instance_type: Their type, with EFA; EC2 has types whose facts are not known here, which are refused.
            Default - instance_types is given instead.
        instance_types: Several types in order of preference; a job across different ones runs at the pace of the
            slowest.
            Default - instance_type is given.
        count: How many nodes; one that is lost is replaced. Default - min_count and max_count are given instead.
        min_count: Nodes that there always are, when people decide how many there are. Default - count is given.
        max_count: Nodes that there can be. Default - count is given.
        capacity: How they are bought. Default: ON_DEMAND.
        reservation_id: The capacity reservation, or with capacity-block the capacity block; its zone must be the
            network's.
            Default - none.
        reservation_group_arn: A resource group of reservations instead. Default - none.
        reserved_instances: Instances that the capacity block holds, all of which are paid for.
            Default - not known, nothing is compared.
        starts: When the capacity block starts, in UTC: no nodes until then. Leave it out once that has passed, as Auto
            Scaling takes no such time.
            Default - it has started.
        ends: When the capacity block ends, in UTC: 40 minutes before, there are no nodes.
            Default - not known; instances are launched in vain when it is over.
        placement: Whether they are close together, in a placement group (cluster), or not (anywhere).
            Default - cluster; where a reservation says.
        interfaces: How network interfaces are laid out: one address a node, or with legacy one a card.
            Default: launch-template.
        fleet_name: The name that its members find one another by. Default - a unique name made of the stack's.
        role: An IAM role of yours for the nodes; it gets the policy attached. Default - one is made.
        volume_gib: Size of the root volume in GiB. Default: 200.
        volume_key: The KMS key that encrypts it, and a master's; its policy must let Auto Scaling's service-linked role
            use it, and for a master the role that deploys.
            Default - the account's key for EBS.
        threads_per_core: Threads of a core; 1 switches simultaneous multithreading off. Default - the type's.
        key_pair: An EC2 key pair. Default - none; sessions are opened by Session Manager.
        log_retention: How long logs of set-ups are kept, in days. Default: THREE_MONTHS.
        image_repositories: Private repositories (ECR) from which nodes pull container images; in a file names, ARNs, or
            "*" for all of the account in its Region.
            Default - none.
        prometheus_workspace_arn: A workspace of Amazon Managed Service for Prometheus to which jobs may write metrics
            of their own, beside that of the nodes' metrics.
            Default - none.

    Attributes:
        network: The network.
        fleet_name: The name.
        placement_group: The placement group. None: there is none.
        security_groups: The security groups of the nodes, EFA's first.
        templates: The launch templates, one for each type.
        group: The L1 Auto Scaling group.
        log_group: Where the nodes' logs are.
        scripts: The upload of their set-up scripts, which a stack's fleets with the same bucket share.
        image: The machine image.
        node_role: The role with its policy.
        types: The types of the nodes that are known.
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
        security_group: EfaSecurityGroup | ec2.ISecurityGroup | None = None,
        extra_security_groups: Sequence[EfaSecurityGroup | ec2.ISecurityGroup] = (),
        placement_group: PlacementGroup | None = None,
        mounts: Sequence[Mount] = (),
        metrics: ClusterMonitoring | None = None,
        names: Naming | None = None,
        image: NodeImage,
        instance_type: str | InstanceType | ec2.InstanceType | None = None,
        instance_types: Sequence[str | InstanceType | ec2.InstanceType] = (),
        count: int | None = None,
        min_count: int | None = None,
        max_count: int | None = None,
        capacity: UsageClass = UsageClass.ON_DEMAND,
        reservation_id: str | None = None,
        reservation_group_arn: str | None = None,
        reserved_instances: int | None = None,
        starts: str | None = None,
        ends: str | None = None,
        placement: FleetPlacement | None = None,
        interfaces: Literal["launch-template", "legacy"] = "launch-template",
        fleet_name: str | None = None,
        role: iam.IRole | None = None,
        volume_gib: int = 200,
        volume_key: kms.IKey | None = None,
        threads_per_core: Literal[1, 2] | None = None,
        key_pair: ec2.IKeyPair | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        image_repositories: "Sequence[ecr.IRepository]" = (),
        prometheus_workspace_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(FleetSpec, locals()))
        around = FleetFacts(
            environment=judge.environment,
            zone=network.zone,
            network_region=None if unresolved(network.zone) else zone_region(network.zone),
            accelerator_subnet=network.accelerator_subnet.subnet_id,
            accelerator_cidr=network.accelerator_cidr,
            endpoint_addresses=network.endpoint_addresses,
            has_nat=network.has_nat,
            endpoints=network.interface_endpoints if isinstance(network, TrainingNetwork) else (),
            mounts=[mount.facts for mount in mounts],
            placement_group=placement_group is not None,
            extra_security_groups=len(extra_security_groups),
            scrape_seconds=None if metrics is None else metrics.scrape_seconds,
            exporters=None if metrics is None else metrics.judged(judge),
        )
        raise_problems(self, [*judge.problems, *fleet_problems(spec, around)])
        say_warnings(self, warnings_of("fleet", WARNINGS, spec, around))
        self._spec, self._around = spec, around
        self._mounts, self._metrics = list(mounts), metrics
        self.network: Network = network
        self.fleet_name: str = fleet_name or Names.unique_resource_name(self, max_length=63, separator="-")
        self.image: NodeImage = image
        self.placement_group: PlacementGroup | None = placement_group or self._new_placement_group()
        given_groups = (
            security_group or EfaSecurityGroup(self, "SecurityGroup", vpc=network.vpc),
            *extra_security_groups,
        )
        self.security_groups: tuple[EfaSecurityGroup, ...] = tuple(map(EfaSecurityGroup.of, given_groups))
        self._connections = ec2.Connections(security_groups=[group.security_group for group in self.security_groups])
        self.log_group: logs.ILogGroup = log_group(self, "Logs", retention=log_retention, reason=_LOGS)
        self.scripts = FleetScripts.of(self, scripts_bucket)
        self._key = ec2.CfnKeyPair(self, "MemberKey", key_name=self._key_name(), key_type="ed25519")
        self.node_role = NodeRole(self, "Role", fleet_name=self.fleet_name, role=role)
        self._failures = self._failure_count()
        self._allow_nodes()
        self.ready: Gate = self._new_gate()
        for mount in mounts:
            self.ready.reach(mount.file_system, self.security_groups)
        self.templates: tuple[EfaLaunchTemplate, ...] = self._templates()
        tags = {FLEET_TAG: self.fleet_name, ROLE_TAG: WORKER, "Name": self.fleet_name}
        self.group: autoscaling.CfnAutoScalingGroup = render.auto_scaling_group(
            self, spec, self.templates, network=network, tags=tags
        )
        self.group.node.add_dependency(self.ready)
        self.say_series(self.group, spec.types)

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The nodes' role; grants land in its managed policy."""
        return self.node_role.grant_principal

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """The types of the nodes that are known."""
        return self._spec.types

    @property
    def volume_key(self) -> kms.IKey | None:
        """The KMS key of the nodes' root volumes. None: the account's key for EBS."""
        return self._spec.volume_key

    @property
    def quota(self) -> str:
        """Which quotas the fleet takes how much of, in words."""
        spec = self._spec
        return "; ".join(quota_text(kind, spec.most, spec.capacity) for kind in spec.types)

    @property
    def cluster_name(self) -> str:
        """Its name, as the label ``cluster`` of its metrics says it."""
        return self.fleet_name

    @property
    def metrics_sources(self) -> Sequence[MetricsSource]:
        """Whose metrics its nodes give, when they go anywhere."""
        if self._metrics is None:
            return ()
        spec = self._spec
        lustre = any(isinstance(mount.file_system, Lustre) for mount in self._mounts)
        return sources_of(self._exporters(spec.types), spec.types, lustre=lustre, always_on=spec.always_on)

    def mount(self, file_system: Lustre, *, at: str = "/fsx") -> None:
        """Mount a file system on every node, the master among them.

        Args:
            file_system: The file system.
            at: Where, an absolute path. Default: ``/fsx``.

        Raises:
            ConfigurationError: The fleet cannot take it.
        """
        added = Mount(file_system=file_system, at=at)
        around = replace(self._around, mounts=[*self._around.mounts, added.facts])
        raise_problems(self, fleet_problems(self._spec, around))
        self._around = around
        self._mounts.append(added)
        self.say_series(self.group, self._spec.types)
        self.ready.reach(file_system, self.security_groups)

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
            types: Types that it may be, beside the fleet's. Default - none.
            hook: The lifecycle hook that waits for it. Default - none.
        """
        known = tuple(dict.fromkeys((*self._spec.types, *types)))
        return NodeFacts(
            fleet=self.fleet_name,
            role=role,
            types=known,
            user=known_image(self.image).user,
            key_parameter=f"/ec2/keypair/{self._key.attr_key_pair_id}",
            log_group=self.log_group.log_group_name,
            hook=hook,
            failures=self._failures.ref if hook else None,
            mounts=self._mounts,
            metrics=self._metrics_settings(known),
        )

    def say_series(self, resource: CfnResource, types: Sequence[InstanceType]) -> None:
        """Let a resource say how many series of metrics its nodes give, when they go anywhere: each has its own agent.

        Args:
            resource: What nodes of the fleet are made by.
            types: The types that they may have.
        """
        if self._metrics is not None:
            seconds = self._metrics.scrape_seconds
            said = series_metadata([("", types)], self.metrics_sources, scrape_seconds=seconds, alone=True)
            resource.add_metadata(SERIES, said)

    # ---------------------------------------------------------------- parts
    def _new_placement_group(self) -> PlacementGroup | None:
        return PlacementGroup(self, "PlacementGroup") if self._spec.clustered else None

    def _failure_count(self) -> ssm.CfnParameter:
        description = "Set-ups of nodes that failed since the last success"
        return ssm.CfnParameter(self, "Failures", type="String", value="0", description=description)

    def _allow_nodes(self) -> None:
        self.node_role.allow_setup(
            scripts=self.scripts,
            key_parameter_arn=self._key_arn(),
            failures_parameter_arn=self._parameter_arn(self._failures.ref),
            log_group=self.log_group,
        )
        self.node_role.allow_pull(self._spec.image_repositories)
        own = self._metrics.workspace.workspace_arn if self._metrics else None
        self.node_role.allow_remote_write(own, self._spec.prometheus_workspace_arn)

    def _exporters(self, types: Sequence[InstanceType]) -> Exporters:
        return exporters_of(self._around.exporters, types, slurm=False)

    def _metrics_settings(self, types: Sequence[InstanceType]) -> Mapping[str, JsonValue] | None:
        if self._metrics is None:
            return None
        agent = self._metrics.agent(self.fleet_name, alone=True)
        return node_settings(self._exporters(types), agent, types)

    def _templates(self) -> tuple[EfaLaunchTemplate, ...]:
        """Define a template for each type, since each has interfaces of its own."""
        spec, groups = self._spec, self.security_groups
        alone = len(spec.given_types) == 1
        template = EfaLaunchTemplate if alone else MixedTemplate
        data = user_data(self, self.scripts, self.facts(WORKER, hook=render.HOOK))
        return tuple(
            template(
                self,
                "Template" if alone else f"Template{number}",
                instance_type=kind,
                security_group=groups[0],
                extra_security_groups=[group.security_group for group in groups[1:]],
                backend=spec.backend,
                image=spec.image,
                capacity=spec.capacity,
                reservation_id=spec.reservation_id,
                reservation_group_arn=spec.reservation_group_arn,
                placement_group=self.placement_group,
                role=self.node_role.role,
                user_data=data,
                volume_gib=spec.volume_gib,
                volume_key=spec.volume_key,
                threads_per_core=spec.threads_per_core,
                key_pair=spec.key_pair,
            )
            for number, kind in enumerate(spec.given_types)
        )

    def _key_name(self) -> str:
        return Names.unique_resource_name(self, max_length=200, separator="-")

    def _key_arn(self) -> str:
        # EC2 keeps the private half of a key pair that it makes in Parameter Store, encrypted
        return self._parameter_arn(f"ec2/keypair/{self._key.attr_key_pair_id}")

    def _parameter_arn(self, name: str) -> str:
        return Stack.of(self).format_arn(service="ssm", resource="parameter", resource_name=name)

    def _new_gate(self) -> Gate:
        return Gate(
            self,
            networks=[self.network],
            security_groups=self.security_groups,
            policies=self.node_role.policies,
            scripts=[self.scripts.uploaded],
            also=[self._key, self._failures, self.log_group],
        )
