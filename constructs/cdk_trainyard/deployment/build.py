"""Network and storage of a deployment as constructs, for the stacks: defined, or taken as they exist."""

from aws_cdk import CfnResource, CfnWaitConditionHandle, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.deployment.exchange import Exchange
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.deployment.storage import ExistingLustreSection, LustreSection, StorageSection
from cdk_trainyard.network import EfaSecurityGroup, Network, TrainingNetwork
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.storage import (
    AccountingDatabase,
    Lustre,
    LustreFileSystem,
    Mount,
    TrainingBuckets,
)
from cdk_trainyard.storage.spec import AccountingSpec, BucketsSpec


def environment(deployment: DeploymentSpec) -> Environment:
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
    return TrainingNetwork(scope, construct_id, **Exchange(existing=Existing.of(scope)).keywords(section))


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
def buckets(scope: Construct, construct_id: str, section: BucketsSpec) -> TrainingBuckets:
    """Define the buckets, except those that exist."""
    return TrainingBuckets(scope, construct_id, **Exchange(existing=Existing.of(scope)).keywords(section))


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
            rules_exist=section.rules_exist,
            zone=section.zone,
            efa_enabled=section.efa_enabled,
        )
    said = Exchange(existing=existing, buckets=buckets).keywords(section)
    said.pop("at")
    return LustreFileSystem(scope, construct_id, security_group=security_group, network=network, **said)


def mounts(section: StorageSection, file_system: Lustre | None) -> list[Mount]:
    """Return what every node mounts."""
    found = []
    if section.lustre is not None and file_system is not None:
        found.append(Mount(file_system=file_system, at=section.lustre.at))
    if section.open_zfs is not None:
        found.append(Mount(file_system=section.open_zfs, at=section.open_zfs.at))
    return found


def accounting_database(
    scope: Construct, construct_id: str, section: AccountingSpec | None, network: Network
) -> AccountingDatabase | None:
    """Define the database of Slurm's accounting, if the deployment has one of its own."""
    if section is None:
        return None
    keywords = Exchange(existing=Existing.of(scope)).keywords(section)
    return AccountingDatabase(scope, construct_id, network=network, **keywords)
