"""FSx for Lustre file systems: the shared directory of a cluster."""

from collections.abc import Iterator, Sequence

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, DependencyGroup, IDependable

from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.log_groups import acknowledge_logs_own_key, unique_of_stack
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import Problem, option
from cdk_trainyard.retention import KEPT
from cdk_trainyard.storage import rules
from cdk_trainyard.storage.data_repository import associate
from cdk_trainyard.storage.lustre_base import Lustre
from cdk_trainyard.storage.lustre_deployment import LustreDeployment
from cdk_trainyard.storage.render import lustre_configuration
from cdk_trainyard.storage.resolve import file_servers, is_persistent, resolve_lustre
from cdk_trainyard.storage.root_squash import RootSquashSetting
from cdk_trainyard.storage.spec import (
    DataRepository,
    ExistingLustreSpec,
    LustreBackups,
    LustreCompression,
    LustreLogLevel,
    LustreSpec,
    MaintenanceTime,
    RootSquash,
)
from cdk_trainyard.surroundings import surroundings
from cdk_trainyard.tokens import unresolved

_LOGS_REASON = (
    "holds names of files that could not be exchanged with S3, none of their content; "
    "CloudWatch Logs encrypts it with its own key"
)


class LustreFileSystem(Lustre):
    """An FSx for Lustre file system, in one subnet, shared with the nodes through their security group.

    It defines the file system, a log group, its links to S3 and, when asked, its root squash. It waits for the rules of
    the security group, without which FSx refuses to make it.

    Changing the type of ``deployment``, ``key``, ``security_group`` or the subnet replaces the file system: an empty
    one is made, and the old one stays behind. Capacity only grows; throughput changes in place unless EFA is enabled.

    Args:
        scope: Where it is defined.
        construct_id: Its id; another id is another file system.
        security_group: The group of the cluster.
        network: The network of the cluster: the file system stands in its accelerator subnet.
            Default - ``subnet`` is given.
        subnet: Another subnet. Keep it in the zone of the nodes, and for EFA in their /16.
            Default - the accelerator subnet of ``network``.
        deployment: Deployment type, storage class and throughput; another type is another, empty file system.
            Default - PERSISTENT_2 on SSD at 250 MB/s per TiB.
        capacity_gib: Storage in GiB, none for INTELLIGENT_TIERING; it can grow and never shrink.
            Default - the smallest of the kind: 1200 of SSD, with EFA 4800 to 38400.
        efa_enabled: Whether nodes reach it over EFA as well; fixed when it is made. Default: False.
        metadata_iops: Metadata operations of the disks per second; can only grow.
            Default - PERSISTENT_2: FSx decides by capacity, INTELLIGENT_TIERING: 6000; other types have no such
            setting.
        lustre_version: Version of Lustre. PERSISTENT_2 has a metadata configuration with 2.15 only. Default: 2.15.
        compression: How the servers compress what is written. Default: LZ4.
        root_squash: Whom the clients' root is; set by a small Lambda function, as CloudFormation cannot.
            Default - root is root.
        data_repositories: Up to 8 links to S3. Default - none.
        key: KMS key of a persistent file system. Default - the account's FSx key; scratch file systems have their own.
        backups: Automatic daily backups, deleted with the file system.
            Default - kept for a week; none for scratch file systems and with ``data_repositories``.
        maintenance: When FSx may patch it, once a week. Default - FSx chooses.
        log_level: Which events of the data repositories are logged. Default: WARN_ERROR.
        log_retention: How long those logs are kept. Default: THREE_MONTHS.
        removal_policy: What becomes of the file system and its log when they leave the stack.
            Default - they are retained; scratch file systems, which keep nothing for long anyway, are deleted.

    Attributes:
        log_group: Where events of the data repositories go. None: they are not logged.

    Raises:
        ConfigurationError: With everything that FSx would refuse.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        security_group: EfaSecurityGroup | ec2.ISecurityGroup,
        network: Network | None = None,
        subnet: ec2.ISubnet | None = None,
        deployment: LustreDeployment | None = None,
        capacity_gib: int | None = None,
        efa_enabled: bool = False,
        metadata_iops: int | None = None,
        lustre_version: str = "2.15",
        compression: LustreCompression = LustreCompression.LZ4,
        root_squash: RootSquash | None = None,
        data_repositories: Sequence[DataRepository] = (),
        key: kms.IKey | None = None,
        backups: LustreBackups | None = None,
        maintenance: MaintenanceTime | None = None,
        log_level: LustreLogLevel = LustreLogLevel.WARN_ERROR,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        removal_policy: RemovalPolicy | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        judge = Judge(environment=surroundings(self))
        spec = resolve_lustre(judge.judged(given(LustreSpec, locals())))
        place = place_problems(network, subnet)
        raise_problems(self, [*place, *judge.problems, *rules.lustre_problems(spec)])
        cidr = network.accelerator_cidr if network else None
        say_warnings(self, rules.lustre_warnings(spec, judge.environment.region, cidr))

        self.security_group = EfaSecurityGroup.of(security_group)
        self.subnet = subnet or _subnet_of(network)
        self.zone = _zone(network, self.subnet)
        self.capacity_gib = spec.capacity_gib
        known = not unresolved(spec.capacity_gib)
        self.throughput_mb_s = spec.deployment.provisioned_mb_s(spec.capacity_gib) if known else None
        self.efa_enabled = efa_enabled
        self.lustre_version = lustre_version
        self.file_servers = file_servers(spec)
        self.repositories = tuple("/".join(("", *link.segments)) for link in data_repositories)
        kept = removal_policy or (KEPT if is_persistent(spec) else RemovalPolicy.DESTROY)
        self.log_group = None if log_level == LustreLogLevel.DISABLED else self._log_group(log_retention, kept)
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=lustre_version,
            storage_type=str(spec.deployment.storage),
            storage_capacity=spec.capacity_gib,
            subnet_ids=[self.subnet.subnet_id],
            security_group_ids=[self.security_group.security_group_id],
            kms_key_id=None if key is None else key.key_arn,
            lustre_configuration=lustre_configuration(spec, self.log_group),
        )
        self._resource.apply_removal_policy(kept)
        self._resource.node.add_dependency(self.security_group.self_rules)
        if network is not None:
            self._resource.node.add_dependency(network.route_out)
        self.file_system_id = self._resource.ref
        self.file_system_arn = self._resource.attr_resource_arn
        self.dns_name = self._resource.attr_dns_name
        self.mount_name = self._resource.attr_lustre_mount_name
        self.ready = DependencyGroup(self._resource, *self._attachments(data_repositories, root_squash))

    @staticmethod
    def from_attributes(
        scope: Construct,
        construct_id: str,
        *,
        security_group: EfaSecurityGroup,
        file_system_id: str,
        dns_name: str,
        mount_name: str,
        rules_exist: bool = False,
        zone: str | None = None,
        efa_enabled: bool = False,
    ) -> Lustre:
        """Take a file system that exists.

        Args:
            scope: Where it is taken.
            construct_id: Its id there.
            security_group: Its group, which the nodes share, or which lets them in and is let in by theirs.
            file_system_id: Its id, as ``fs-0123456789abcdef0``.
            dns_name: Its DNS name, as the FSx console shows it.
            mount_name: Its mount name, as the FSx console shows it: 1 to 8 letters, digits, ``_`` or ``-``.
            rules_exist: Whether both groups do so already: EC2 refuses a rule that exists. Otherwise the rules are
                added.
                Default: False.
            zone: Its zone. Default - not known; nothing is checked against it.
            efa_enabled: Whether it was made with EFA. Default: False.

        Raises:
            ConfigurationError: When an attribute cannot be one of FSx for Lustre.
        """
        said = given(ExistingLustreSpec, locals() | {"security_group_id": security_group.security_group_id})
        return _ImportedLustre(scope, construct_id, said, security_group)

    def _attachments(
        self, data_repositories: Sequence[DataRepository], root_squash: RootSquash | None
    ) -> list[IDependable]:
        attachments: list[IDependable] = []
        if data_repositories:
            attachments += associate(Construct(self, "DataRepositories"), self.file_system_id, data_repositories)
        if root_squash is not None:
            setting = RootSquashSetting(
                self,
                "RootSquash",
                file_system_id=self.file_system_id,
                file_system_arn=self.file_system_arn,
                root_squash=root_squash,
            )
            setting.resource.node.add_dependency(*attachments)  # FSx changes a file system, or makes a link to it
            attachments.append(setting.resource)
        return attachments

    def _log_group(self, retention: logs.RetentionDays, removal_policy: RemovalPolicy) -> logs.LogGroup:
        """Define the log group, for which FSx demands a name under ``/aws/fsx``."""
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/fsx/{unique_of_stack(self)}",
            retention=retention,
            removal_policy=removal_policy,
        )
        acknowledge_logs_own_key(log_group, _LOGS_REASON)
        return log_group


class _ImportedLustre(Lustre):
    """A file system that stood there before."""

    def __init__(
        self, scope: Construct, construct_id: str, said: ExistingLustreSpec, security_group: EfaSecurityGroup
    ) -> None:
        super().__init__(scope, construct_id)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(said)
        problems = rules.existing_lustre_problems(spec, judge.environment.region)
        raise_problems(self, [*judge.problems, *problems])
        self.file_system_id = spec.file_system_id
        self.file_system_arn = Stack.of(self).format_arn(
            service="fsx", resource="file-system", resource_name=spec.file_system_id
        )
        self.dns_name = spec.dns_name
        self.mount_name = spec.mount_name
        self.security_group = security_group
        self.zone = spec.zone
        self.subnet = None
        self.capacity_gib = None
        self.efa_enabled = spec.efa_enabled
        self.rules_exist = spec.rules_exist
        self.file_servers = None
        self.ready = DependencyGroup(security_group.self_rules)


def place_problems(network: Network | None, subnet: ec2.ISubnet | None) -> Iterator[Problem]:
    """Check that a file system has a subnet to stand in."""
    if network is None and subnet is None:
        text = f"or {option('subnet')} is required: a file system stands in one subnet, that of the nodes"
        yield Problem(("network",), text)


def _subnet_of(network: Network | None) -> ec2.ISubnet:
    if network is None:
        raise TypeError("a file system without a place was not refused")
    return network.accelerator_subnet


def _zone(network: Network | None, subnet: ec2.ISubnet) -> str | None:
    if network is not None and subnet.subnet_id == network.accelerator_subnet.subnet_id:
        return network.zone
    return None if unresolved(subnet.availability_zone) else subnet.availability_zone
