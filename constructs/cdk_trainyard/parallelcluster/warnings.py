"""What may go wrong with a cluster without being wrong: said once, at synthesis. Pure."""

from collections.abc import Callable, Iterator

from cdk_trainyard.parallelcluster.facts import head_node_timeout_minutes, parallelcluster_version
from cdk_trainyard.parallelcluster.resolved import ResolvedCluster
from cdk_trainyard.parallelcluster.settings import QueueUpdateStrategy
from cdk_trainyard.parallelcluster.shared_storage import SharedEbs, SharedEfs, SharedLustre
from cdk_trainyard.tokens import unresolved

Warnings = Iterator[str]
_MANY_NODES = 100


def zone_without_type(cluster: ResolvedCluster) -> Warnings:
    """An instance type that its zone is not known to offer; the data have a date, so this is no error."""
    zone, region = cluster.place.zone, cluster.region
    if zone is None or region is None or unresolved(zone):
        return
    for queue in cluster.queues:
        if cluster.place.accelerator_subnet not in queue.subnets:
            continue
        for known in {known.name: known for compute in queue.compute for known in compute.types}.values():
            if warning := known.offer_warning(region, [zone]):
                yield f"queue {queue.name!r}: {warning}"


def other_version(cluster: ResolvedCluster) -> Warnings:
    """Rules and schema are those of one version."""
    if not unresolved(cluster.version) and cluster.version != parallelcluster_version():
        yield (
            f"'version' is {cluster.version}, and what is checked here is what {parallelcluster_version()} takes; run "
            "pcluster's own checks of your version before you deploy"
        )


def managed_file_system(cluster: ResolvedCluster) -> Warnings:
    """A file system that ParallelCluster makes belongs to the cluster."""
    for one in cluster.storage:
        if isinstance(one.given, (SharedLustre, SharedEfs)) and one.given.file_system is None:
            yield (
                f"storage {one.name!r} is made by ParallelCluster and ends with its cluster or outlives it unmanaged; "
                "give a 'file_system' of this app instead"
            )


def fleet_stop(cluster: ResolvedCluster) -> Warnings:
    """A strategy under which CloudFormation can change next to nothing."""
    if cluster.slurm.update_strategy is QueueUpdateStrategy.COMPUTE_FLEET_STOP:
        yield (
            "'update_strategy' COMPUTE_FLEET_STOP refuses changes of queues while nodes run, and CloudFormation "
            "cannot stop them; use DRAIN"
        )


def ebs_bottleneck(cluster: ResolvedCluster) -> Warnings:
    """One machine serves a directory to all."""
    if cluster.max_nodes > _MANY_NODES and any(isinstance(one.given, SharedEbs) for one in cluster.storage):
        yield (
            f"an EBS volume is shared with {cluster.max_nodes} nodes through the network of the head node; use FSx for "
            "Lustre for data"
        )


def kept_instances(cluster: ResolvedCluster) -> Warnings:
    """Nodes that are always there must come up before the cluster is made: the head node waits for all of them.

    Source: aws/aws-parallelcluster#3373 ("Waiting for static fleet capacity provisioning", then the wait condition of
    the head node times out) and ParallelCluster's default timeout. Capacity that is reserved is there.
    """
    kept = sum(
        compute.min_count for queue in cluster.queues for compute in queue.compute if compute.reservation is None
    )
    given = cluster.timeouts.head_node
    if kept > 0 and (given is None or kept > _MANY_NODES):
        minutes = head_node_timeout_minutes() if given is None else given.to_minutes()
        yield (
            f"{kept} nodes are always there, and the head node waits for all of them before the cluster is made: its "
            f"own scripts included, {minutes:g} minutes at most, and CloudFormation's hour. Where EC2 lacks one, "
            "everything is rolled back; begin with 'min_count' 0 and raise it when the cluster stands, or give "
            "'head_node' of the timeouts"
        )


def open_ssh(cluster: ResolvedCluster) -> Warnings:
    """SSH for everybody."""
    nodes = [("the head node", cluster.head.given.ssh_from)]
    nodes += [(f"login pool {pool.given.name!r}", pool.given.ssh_from) for pool in cluster.pools]
    for where, addresses in nodes:
        if addresses == "0.0.0.0/0":
            yield f"SSH on {where} is open to the world; give 'ssh_from' the addresses of its users"


def no_way_out(cluster: ResolvedCluster) -> Warnings:
    """Nodes without NAT reach AWS through endpoints only."""
    place = cluster.place
    private = [queue.name for queue in cluster.queues if place.accelerator_subnet in queue.subnets]
    if not place.has_nat and private:
        secrets = " Secrets Manager," if cluster.slurm.accounting else ""
        yield (
            f"queues {', '.join(private)} have no way out: nodes need interface endpoints of EC2, CloudFormation,"
            f"{secrets} CloudWatch Logs and Session Manager, and install nothing from the internet"
        )


WARNINGS: dict[str, Callable[[ResolvedCluster], Warnings]] = {
    "zone-without-type": zone_without_type,
    "other-version": other_version,
    "managed-file-system": managed_file_system,
    "fleet-stop": fleet_stop,
    "ebs-bottleneck": ebs_bottleneck,
    "kept-instances": kept_instances,
    "open-ssh": open_ssh,
    "no-way-out": no_way_out,
}
"""Every warning by its id, which is API."""
