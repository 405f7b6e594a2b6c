"""A cluster that no control plane has made."""

from collections.abc import Sequence
from ipaddress import IPv4Network

from cdk_trainyard.rehearsal import Cluster, Group, HyperPodMachines, LifecycleConfig, Lustre, Node

SUBNET = IPv4Network("10.1.128.0/17")
SYSTEM = Lustre(dns_name="fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com", mount_name="abcdefgh")
MOUNT = (SYSTEM.dns_name, SYSTEM.mount_name, "/fsx")
PATIENCE_SECONDS = 600
"""How long tests wait for what takes seconds: a busy machine is slow, and they must not fail there."""


def make_cluster(workers: int = 2, *, lifecycle: LifecycleConfig | None = None) -> Cluster:
    """One controller and some workers, which mount a file system."""
    kinds = [
        ("controller-group", "controller", "ml.m5.large", 1),
        ("worker-group", "compute", "ml.c5.4xlarge", workers),
    ]
    groups: list[Group] = []
    nodes: list[Node] = []
    for name, role, instance_type, count in kinds:
        partition = "workers" if role == "compute" else None
        groups.append(
            Group(
                name=name,
                role=role,
                instance_type=instance_type,
                partition=partition,
                lifecycle=lifecycle,
                lustre=MOUNT,
            )
        )
        for number in range(1, count + 1):
            address = SUBNET[10 + len(nodes)]
            nodes.append(Node(group=name, number=number, address=address, instance_id=f"i-{len(nodes):017x}"))
    return Cluster(
        name="demo",
        arn="arn:aws:sagemaker:us-east-1:123456789012:cluster/abcdefghijkl",
        region="us-east-1",
        zone="us-east-1d",
        subnet=SUBNET,
        groups=groups,
        nodes=nodes,
        file_systems=[SYSTEM],
    )


def wait_until_idle(machines: HyperPodMachines, nodes: Sequence[Node] = ()) -> None:
    """Wait until Slurm says that nodes are idle. Default - all of compute."""
    hosts = [node.host for node in nodes or machines.cluster.with_role("compute")]
    machines.slurm.wait_until("idle", hosts, seconds=PATIENCE_SECONDS)
