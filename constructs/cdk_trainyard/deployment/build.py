"""Network and storage of a deployment as constructs, for the stacks: defined, or taken as they exist."""

from aws_cdk import CfnResource, CfnWaitConditionHandle, Duration, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.deployment import values
from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.exchange import RETENTION, keywords
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.deployment.storage import (
    BucketsSection,
    DataRepositorySection,
    ExistingLustreSection,
    LustreSection,
    StorageSection,
)
from cdk_trainyard.network import EfaSecurityGroup, Network, TrainingNetwork
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.storage import (
    AccountingDatabase,
    DataRepository,
    Lustre,
    LustreFileSystem,
    Mount,
    OpenZfs,
    TrainingBuckets,
)


def environment(deployment: Deployment) -> Environment:
    """Return account and Region of the stacks."""
    return Environment(account=deployment.account, region=deployment.region)


def occupy(stack: Stack) -> None:
    """Keep a stack from being empty, which CloudFormation refuses: everything in it may exist already."""
    if not any(isinstance(child, CfnResource) for child in stack.node.find_all()):
        CfnWaitConditionHandle(stack, "Nothing")  # the one resource that is nothing


# ---------------------------------------------------------------- network
def network(scope: Construct, construct_id: str, section: NetworkSpec | ExistingNetworkSpec) -> Network:
    """Define the network, or take the one that exists."""
    if isinstance(section, ExistingNetworkSpec):
        return _existing_network(scope, construct_id, section)
    return TrainingNetwork(scope, construct_id, **keywords(section, Existing.of(scope)))


def _existing_network(scope: Construct, construct_id: str, section: ExistingNetworkSpec) -> Network:
    existing = Existing.of(scope)
    zones = [subnet.zone for subnet in (section.accelerator_subnet, *section.public_subnets, *section.service_subnets)]
    return TrainingNetwork.from_existing(
        scope,
        construct_id,
        vpc=ec2.Vpc.from_vpc_attributes(
            existing,
            "Vpc",
            vpc_id=section.vpc_id,
            availability_zones=list(dict.fromkeys(zones)),
            vpc_cidr_block=section.cidr,
        ),
        accelerator_subnet=existing.subnet(section.accelerator_subnet),
        zone=section.zone,
        public_subnets=[existing.subnet(subnet) for subnet in section.public_subnets],
        service_subnets=[existing.subnet(subnet) for subnet in section.service_subnets],
    )


def security_group(
    scope: Construct, construct_id: str, section: NetworkSpec | ExistingNetworkSpec, vpc: ec2.IVpc
) -> EfaSecurityGroup:
    """Define the security group of nodes and file systems, or complete the one that exists."""
    if isinstance(section, NetworkSpec) or section.security_group_id is None:
        return EfaSecurityGroup(scope, construct_id, vpc=vpc)
    group = Existing.of(scope).security_group(section.security_group_id)
    return EfaSecurityGroup.from_security_group(scope, construct_id, group, self_rules_exist=section.self_rules_exist)


# ---------------------------------------------------------------- storage
def buckets(scope: Construct, construct_id: str, section: BucketsSection) -> TrainingBuckets:
    """Define the buckets, except those that exist."""
    existing = Existing.of(scope)
    return TrainingBuckets(
        scope,
        construct_id,
        scripts=existing.bucket(section.scripts),
        datasets=existing.bucket(section.datasets),
        checkpoints=existing.bucket(section.checkpoints),
        models=existing.bucket(section.models),
        access_logs=existing.bucket(section.access_logs),
        key=existing.key(section.key_arn),
        checkpoint_days=section.checkpoint_days,
        auto_delete=section.auto_delete,
    )


def lustre(
    scope: Construct,
    construct_id: str,
    section: LustreSection | ExistingLustreSection,
    *,
    network: Network,
    security_group: EfaSecurityGroup,
    buckets: TrainingBuckets,
) -> Lustre:
    """Define the file system, or take the one that exists."""
    existing = Existing.of(scope)
    if isinstance(section, ExistingLustreSection):
        own = existing.security_group(section.security_group_id)
        return LustreFileSystem.from_attributes(
            scope,
            construct_id,
            file_system_id=section.file_system_id,
            dns_name=section.dns_name,
            mount_name=section.mount_name,
            security_group=EfaSecurityGroup.from_security_group(
                scope, f"{construct_id}SecurityGroup", own, self_rules_exist=True
            ),
            zone=section.zone,
            efa_enabled=section.efa_enabled,
        )
    return LustreFileSystem(
        scope,
        construct_id,
        security_group=security_group,
        network=network,
        deployment=values.lustre_deployment(section),
        capacity_gib=section.capacity_gib,
        efa_enabled=section.efa_enabled,
        metadata_iops=section.metadata_iops,
        lustre_version=section.lustre_version,
        compression=section.compression,
        root_squash=values.root_squash(section),
        data_repositories=[_data_repository(link, buckets) for link in section.data_repositories],
        key=existing.key(section.key_arn),
        backups=values.backups(section),
        maintenance=values.maintenance(section),
        log_level=section.log_level,
        log_retention=RETENTION[section.log_retention_days],
        removal_policy=values.removal_policy(section),
    )


def _data_repository(section: DataRepositorySection, buckets: TrainingBuckets) -> DataRepository:
    bucket: s3.IBucket = getattr(buckets, section.bucket)
    return DataRepository(
        file_system_path=section.file_system_path,
        bucket=bucket,
        prefix=section.prefix,
        import_events=section.import_events,
        export_events=section.export_events,
        import_existing=section.import_existing,
        chunk_mib=section.chunk_mib,
    )


def mounts(section: StorageSection, file_system: Lustre | None) -> list[Mount]:
    """Return what every node mounts."""
    found = []
    if section.lustre is not None and file_system is not None:
        found.append(Mount(file_system=file_system, at=section.lustre.at))
    if section.open_zfs is not None:
        found.append(Mount(file_system=OpenZfs(dns_name=section.open_zfs.dns_name), at=section.open_zfs.at))
    return found


def accounting_database(
    scope: Construct, construct_id: str, section: AccountingSection | None, network: Network
) -> AccountingDatabase | None:
    """Define the database of Slurm's accounting, if the deployment has one of its own."""
    if section is None:
        return None
    return AccountingDatabase(
        scope,
        construct_id,
        network=network,
        schema_name=section.schema_name,
        instance_type=ec2.InstanceType(section.instance_type),
        storage_gb=section.storage_gb,
        max_storage_gb=section.max_storage_gb,
        multi_az=section.multi_az,
        backup_retention=Duration.days(section.backup_retention_days),
        key=Existing.of(scope).key(section.key_arn),
        deletion_protection=section.deletion_protection,
    )
