"""Clusters that our rules refuse, with the reason why ParallelCluster takes them."""

from typing import Any, cast

from aws_cdk import Duration

from cdk_trainyard.parallelcluster import (
    ClusterIam,
    Dcv,
    HeadNode,
    Placement,
    Queue,
    SharedEbs,
    SharedStorage,
    Timeouts,
)
from cdk_trainyard.storage import Mount
from tools.contract.table.clusters import BLOCK, Candidate, Imported, cluster, cpu, head, p5, queue, trn1

_PATHS = "ParallelCluster means to refuse it, and compares the names of directories instead of their paths"


def stricter(parts: Imported) -> list[tuple[str, Candidate, str]]:
    """Return name, cluster and reason of what our rules refuse and ParallelCluster takes.

    Args:
        parts: Parts that exist already.
    """
    block = cast("Any", p5())
    return [
        (
            "a placement group on a capacity block",
            cluster(
                Queue(
                    name="p5",
                    compute=block.compute,
                    capacity=block.capacity,
                    reservation_id=BLOCK,
                    placement=Placement.CLUSTER,
                )
            ),
            "ParallelCluster warns that instances may not be found inside the block",
        ),
        (
            "a name twice in the app",
            cluster(other_names=("train",)),
            "ParallelCluster sees one cluster only, and the provider deletes the first when the second cannot be made",
        ),
        ("a name that is the stack's", cluster(stack_name="train"), "the two stacks would have one name"),
        (
            "a key without an address that may use it",
            cluster(head=head(key_pair=parts.ed25519)),
            "ParallelCluster would open SSH to the world, and we to nobody",
        ),
        ("a price on demand", cluster(queue(cpu(spot_price=0.1))), "ParallelCluster ignores it"),
        (
            "an elastic address in a private subnet",
            cluster(head=HeadNode(instance_type="c5.xlarge", elastic_ip=True)),
            "nobody reaches it",
        ),
        (
            "an hour for the head node",
            cluster(timeouts=Timeouts(head_node=Duration.hours(1))),
            "CloudFormation gives up first",
        ),
        (
            "a prefix elsewhere",
            cluster(iam=ClusterIam(resource_prefix="/mine/")),
            "the provider's role may make roles under /parallelcluster/ only",
        ),
        (
            "a desktop for the world",
            cluster(head=head(instance_type="g5.xlarge", dcv=Dcv(allowed_from="0.0.0.0/0"))),
            "ParallelCluster warns",
        ),
        (
            "one thing inside another",
            cluster(
                mounts=[Mount(file_system=parts.lustre)], shared_storage=SharedStorage(ebs=[SharedEbs(at="/fsx/home")])
            ),
            _PATHS,
        ),
        (
            "a directory inside the local disks",
            cluster(
                queue(trn1(), placement=Placement.CLUSTER),
                shared_storage=SharedStorage(ebs=[SharedEbs(at="/scratch/shared")]),
            ),
            _PATHS,
        ),
        (
            "a check that there is not",
            cluster(suppress_validators=("type:NoSuchValidator",)),
            "the configuration does not hold it; the provider takes any name and leaves nothing out",
        ),
        (
            "more nodes than addresses",
            cluster(queue(cpu(max_count=40000)), head=head(instance_type="c5.9xlarge")),
            "ParallelCluster does not add up the addresses of the subnet",
        ),
        (
            "a driver that there is not",
            cluster(queue(cpu(instance_type="p3dn.24xlarge"), placement=Placement.CLUSTER)),
            "whether the image has the driver is looked up in an account",
        ),
        (
            "a raw key that a keyword says",
            cluster(queue(raw_overrides={"CapacityType": "SPOT"})),
            "one of the two would be lost",
        ),
        (
            "a directory on the local disks",
            cluster(
                queue(trn1(), placement=Placement.CLUSTER), shared_storage=SharedStorage(ebs=[SharedEbs(at="/scratch")])
            ),
            "ParallelCluster warns",
        ),
    ]
