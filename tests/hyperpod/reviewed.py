"""What the reviewers' tools are asked about: what this room builds."""

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from cdk_trainyard.hyperpod import (
    EbsVolume,
    HyperPodCluster,
    Lifecycle,
    MultiHead,
    NodeProvisioning,
)
from cdk_trainyard.lifecycle import LifecycleScripts, SlurmTopology
from cdk_trainyard.storage import AccountingDatabase, Mount, OpenZfs
from tests.hyperpod.parts import (
    ACCOUNT,
    REGION,
    SCRIPTS,
    controller,
    existing_lustre,
    legacy_scripts,
    service_subnets,
    shared_group,
    worker,
)
from tests.parts import existing_network
from tests.review.tools import Room

KEY = "12345678-1234-1234-1234-123456789012"
ZFS = OpenZfs(dns_name="fs-0abcdef0.fsx.us-west-2.example")


def smallest(stack: Stack) -> None:
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker()])


def with_everything(stack: Stack) -> None:
    zones = service_subnets(stack, "us-west-2a", "us-west-2b")
    network = existing_network(stack, service_subnets=zones)
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "some-lifecycle-scripts")
    key = kms.Key.from_key_arn(
        stack, "Key", Stack.of(stack).format_arn(service="kms", resource="key", resource_name=KEY)
    )
    file_system = existing_lustre(stack, shared_group(stack, network, "Servers"), efa_enabled=True)
    HyperPodCluster(
        stack,
        "Cluster",
        groups=[
            controller(volumes=[EbsVolume(root=True, key=key)]),
            worker(network=existing_network(stack, "Far"), mounts=[]),
        ],
        network=network,
        security_group=shared_group(stack, network),
        provisioning=NodeProvisioning.CONTINUOUS,
        lifecycle=Lifecycle(
            on_create="on_create.sh", scripts=LifecycleScripts(stack, "Scripts", bucket=bucket, folder=SCRIPTS)
        ),
        mounts=[Mount(file_system=file_system), Mount(file_system=ZFS)],
        accounting=AccountingDatabase(stack, "Database", network=network),
        image_repositories=[ecr.Repository.from_repository_name(stack, "Repositories", "*")],
        prometheus_workspace_arn=Stack.of(stack).format_arn(
            service="aps", resource="workspace", resource_name="ws-12345678-1234-1234-1234-123456789012"
        ),
    )


def legacy_with_several_controllers(stack: Stack) -> None:
    network = existing_network(stack, service_subnets=service_subnets(stack, "us-west-2a", "us-west-2b"))
    key = kms.Key.from_key_arn(
        stack, "Key", Stack.of(stack).format_arn(service="kms", resource="key", resource_name=KEY)
    )
    HyperPodCluster(
        stack,
        "Cluster",
        groups=[controller(count=2), worker()],
        network=network,
        topology=SlurmTopology.LEGACY,
        multi_head=MultiHead(
            database=AccountingDatabase(stack, "Database", network=network, key=key, port=3307, require_tls=True)
        ),
        lifecycle=Lifecycle(on_create="on_create.sh", scripts=legacy_scripts(stack)),
        role=iam.Role.from_role_arn(stack, "Role", f"arn:aws:iam::{ACCOUNT}:role/hyperpod"),
        controller_role=iam.Role.from_role_arn(stack, "ControllerRole", f"arn:aws:iam::{ACCOUNT}:role/controllers"),
    )


def opened_to_more(stack: Stack) -> None:
    cluster = HyperPodCluster(stack, "Cluster", groups=[controller(), worker()], network=existing_network(stack))
    cluster.mount(ZFS)
    cluster.metric_node_health_events()
    cluster.metric_node_faults()
    cluster.connections.allow_from(ec2.Peer.ipv4("10.9.0.0/16"), ec2.Port.tcp(2222))


def new_stack(app: App) -> Stack:
    return Stack(app, "Stack", env=Environment(account=ACCOUNT, region=REGION))


ROOM = Room(new_stack, [smallest, with_everything, legacy_with_several_controllers, opened_to_more])
