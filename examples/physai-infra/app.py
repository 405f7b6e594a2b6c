"""The shape of aws-samples' physai/infra: data, a shared file system, accounting, and Slurm on HyperPod."""

from aws_cdk import Aws, Fn, Stack
from aws_cdk import aws_ec2 as ec2

from cdk_trainyard import (
    AccountingDatabase,
    BucketPurpose,
    Containers,
    DatabaseEngine,
    DataRepository,
    EfaSecurityGroup,
    GroupRole,
    HyperPodCluster,
    InstanceGroup,
    Lifecycle,
    LustreFileSystem,
    Mount,
    Naming,
    NodeSetup,
    RepositoryEvent,
    TrainingBucket,
    TrainingNetwork,
)

NAME = "physai"


def define(stack: Stack, zones: tuple[str, str]) -> HyperPodCluster:
    """Define it all in one stack, the nodes in the first of the zones."""
    names = Naming(f"{NAME}-")
    network = TrainingNetwork(stack, "Network", zone=zones[0], cidr="10.0.0.0/16", service_zones=zones, names=names)
    group = EfaSecurityGroup(stack, "Cluster", vpc=network.vpc, names=names)
    place = f"{Aws.ACCOUNT_ID}-{Aws.REGION}"
    data = TrainingBucket(stack, "Data", purpose=BucketPurpose.DATASETS, bucket_name=f"{NAME}-data-{place}")
    scripts = TrainingBucket(stack, "Scripts", purpose=BucketPurpose.SCRIPTS, auto_delete=True, names=names)
    raw = DataRepository(
        file_system_path="/raw", bucket=data.bucket, prefix="raw/", import_events=list(RepositoryEvent)
    )
    fsx = LustreFileSystem(stack, "Fsx", network=network, security_group=group, data_repositories=[raw])
    fsx.metric_free_storage_of_fullest_disk().create_alarm(stack, "Full", threshold=100 * 2**30, evaluation_periods=3)
    small = ec2.InstanceType("t4g.small")
    slurm = AccountingDatabase(
        stack, "Slurm", network=network, engine=DatabaseEngine.MARIADB, instance_type=small, multi_az=False, names=names
    )
    suffix = Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Aws.STACK_ID))))  # another one for every creation
    return HyperPodCluster(
        stack,
        "HyperPod",
        cluster_name=f"{NAME}-{suffix}",
        network=network,
        security_group=group,
        scripts_bucket=scripts.bucket,
        lifecycle=Lifecycle(on_create="on_create.sh"),
        node_setup=NodeSetup(containers=Containers()),
        accounting=slurm,
        mounts=[Mount(file_system=fsx, at="/fsx")],
        names=names,
        groups=[
            machines("controller-machine", GroupRole.CONTROLLER, "ml.c5.large"),
            machines("login-group", GroupRole.LOGIN, "ml.c5.large"),
            machines("gpu-workers", GroupRole.COMPUTE, "ml.g6.12xlarge", partition="gpu"),
            machines("cpu-workers", GroupRole.COMPUTE, "ml.c5.4xlarge", partition="cpu"),
        ],
    )


def machines(name: str, role: GroupRole, kind: str, partition: str | None = None) -> InstanceGroup:
    """Return a group of one machine, a core a thread."""
    return InstanceGroup(name=name, role=role, instance_type=kind, count=1, partition=partition, threads_per_core=1)
