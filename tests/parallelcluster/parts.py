"""Stacks, networks and the four deployments, as apps of users would define them."""

from collections.abc import Callable
from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from cdk_trainyard.instances import UsageClass
from cdk_trainyard.network import EfaSecurityGroup, Nat, Network, TrainingNetwork
from cdk_trainyard.parallelcluster import (
    ComputeResource,
    HeadNode,
    LoginPool,
    NodeScripts,
    ParallelCluster,
    Placement,
    Queue,
    SharedEbs,
    SharedStorage,
    SlurmAccounting,
    SlurmSettings,
)
from cdk_trainyard.storage import (
    AccountingDatabase,
    BucketPurpose,
    LustreDeployment,
    LustreFileSystem,
    Mount,
    TrainingBucket,
)
from tests import parts

REGION, ZONE = "us-east-1", "us-east-1a"
TYPE = "Custom::PclusterCluster"


def new_stack(app: App | None = None, *, region: str = REGION, name: str = "Stack") -> Stack:
    """Return an empty stack."""
    return Stack(app or App(), name, env=Environment(account="111111111111", region=region))


def new_network(stack: Stack, **changes: Any) -> TrainingNetwork:
    """Return a network with one public and one private subnet, with changes."""
    return TrainingNetwork(stack, "Network", **{"zone": ZONE, **changes})


def existing_network(stack: Stack, **changes: Any) -> Network:
    """Return a network that exists, with a public subnet, too: for who looks at the cluster alone."""
    public = ec2.Subnet.from_subnet_attributes(stack, "Public", subnet_id="subnet-22222222", availability_zone=ZONE)
    return parts.existing_network(stack, zone=ZONE, public_subnets=[public], **changes)


def head(**changes: Any) -> HeadNode:
    """Return a head node in the public subnet, with changes."""
    return HeadNode(**{"instance_type": "c5.xlarge", "public": True, **changes})


def cpu(**changes: Any) -> ComputeResource:
    """Return CPU nodes, with changes."""
    return ComputeResource(**{"instance_type": "c5.xlarge", "max_count": 8, **changes})


def trn1(**changes: Any) -> ComputeResource:
    """Return Trainium nodes, with changes."""
    return ComputeResource(**{"instance_type": "trn1.32xlarge", "max_count": 16, **changes})


def queue(*compute: ComputeResource, **changes: Any) -> Queue:
    """Return a queue, with changes."""
    return Queue(**{"name": "compute", "compute": compute or (cpu(),), **changes})


def hello(stack: Stack) -> ParallelCluster:
    """The first slides' example on a current system: CPU nodes, EBS on /shared."""
    return ParallelCluster(
        stack,
        "Cluster",
        network=new_network(stack),
        head_node=head(),
        queues=[queue(placement=Placement.CLUSTER)],
        shared_storage=SharedStorage(ebs=[SharedEbs(at="/shared")]),
    )


def trainium(stack: Stack) -> ParallelCluster:
    """Trainium with EFA, Lustre on /fsx, /apps shared, and the Neuron SDK installed on every node."""
    network = new_network(stack)
    group = EfaSecurityGroup(stack, "Efa", vpc=network.vpc)
    lustre = LustreFileSystem(
        stack,
        "Lustre",
        network=network,
        security_group=group,
        capacity_gib=4800,
        deployment=LustreDeployment.persistent_2(throughput_mb_s_per_tib=250),
    )
    storage = Stack(stack.node.root, "Storage", env=Environment(account=stack.account, region=stack.region))
    bucket = TrainingBucket(storage, "Bucket", purpose=BucketPurpose.SCRIPTS)
    scripts = NodeScripts(stack, "Scripts", bucket=bucket.bucket)
    neuron = scripts.action("neuron.sh", "--venv", "/apps/neuron")
    return ParallelCluster(
        stack,
        "Cluster",
        network=network,
        security_group=group,
        operating_system="ubuntu2404",
        head_node=head(instance_type="c5.4xlarge", on_configured=[neuron]),
        queues=[queue(trn1(), name="trn1", placement=Placement.CLUSTER, on_configured=[neuron])],
        mounts=[Mount(file_system=lustre)],
        shared_storage=SharedStorage(ebs=[SharedEbs(at="/apps", size_gib=200)]),
    )


def ultracluster(stack: Stack) -> ParallelCluster:
    """Several queues, nodes kept warm, login nodes, accounting; compute behind NAT."""
    network = new_network(stack, service_zones=["us-east-1a", "us-east-1b"])
    group = EfaSecurityGroup(stack, "Efa", vpc=network.vpc)
    lustre = LustreFileSystem(stack, "Lustre", network=network, security_group=group, capacity_gib=4800)
    database = AccountingDatabase(stack, "Accounting", network=network)
    return ParallelCluster(
        stack,
        "Cluster",
        network=network,
        security_group=group,
        head_node=head(instance_type="m5.8xlarge"),
        login_pools=[LoginPool(name="login", instance_type="m5.2xlarge", count=2)],
        queues=[
            queue(trn1(min_count=4, max_count=128), name="warm", placement=Placement.CLUSTER),
            queue(trn1(max_count=512), name="large", placement=Placement.CLUSTER),
            queue(cpu(instance_type="c6i.8xlarge"), cpu(instance_type="trn1.2xlarge"), name="small"),
        ],
        mounts=[Mount(file_system=lustre)],
        slurm=SlurmSettings(accounting=SlurmAccounting.of(database)),
    )


def p5_capacity_block(stack: Stack) -> ParallelCluster:
    """GPU nodes on a capacity block."""
    return ParallelCluster(
        stack,
        "Cluster",
        network=new_network(stack),
        head_node=head(instance_type="m5.8xlarge"),
        queues=[
            queue(
                ComputeResource(instance_type="p5.48xlarge", max_count=4),
                name="p5",
                capacity=UsageClass.CAPACITY_BLOCK,
                reservation_id="cr-0123456789abcdef0",
                gpu_health_check=True,
            )
        ],
    )


DEPLOYMENTS: dict[str, Callable[[Stack], ParallelCluster]] = {
    "hello": hello,
    "trn1": trainium,
    "trn1-ultracluster": ultracluster,
    "p5-capacity-block": p5_capacity_block,
}


def closed(stack: Stack) -> ParallelCluster:
    """No route to the internet: endpoints only."""
    return ParallelCluster(
        stack, "Cluster", network=new_network(stack, nat=Nat.NONE), head_node=head(public=False), queues=[queue()]
    )


def encrypted(stack: Stack) -> ParallelCluster:
    """An accounting database with a key of one's own."""
    network = new_network(stack, service_zones=["us-east-1a", "us-east-1b"])
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    database = AccountingDatabase(stack, "Accounting", network=network, key=key, require_tls=True)
    return ParallelCluster(
        stack,
        "Cluster",
        network=network,
        head_node=head(),
        queues=[queue()],
        slurm=SlurmSettings(accounting=SlurmAccounting.of(database)),
    )


def resource(template: Template) -> dict[str, Any]:
    (found,) = template.find_resources(TYPE).values()
    return dict(found)


def config(template: Template) -> dict[str, Any]:
    return dict(resource(template)["Properties"]["ClusterConfiguration"])
