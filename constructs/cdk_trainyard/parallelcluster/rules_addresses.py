"""Whether subnets have an address for every node. Pure: nothing is created here."""

from collections.abc import Iterator

from cdk_trainyard.network.address_plan import AddressPlan, AddressUse
from cdk_trainyard.network.subnet_layout import LARGEST_SUBNET, usable_addresses
from cdk_trainyard.parallelcluster.context import ClusterContext
from cdk_trainyard.parallelcluster.resolve import computes, known, subnet_of, subnets, type_names, types_of
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]


def address_problems(spec: ParallelClusterSpec, context: ClusterContext) -> Problems:
    """The accelerator subnet has an address for every node at its largest and every file server."""
    place = context.place
    cidr, subnet = place.accelerator_cidr, place.accelerator_subnet
    if cidr is None or unresolved(cidr):
        return
    uses = {
        (*at, "max_count"): AddressUse(
            name=f"{queue.name}/{compute.name}",
            instance_type=", ".join(map(str, type_names(compute))),
            count=compute.max_count,
            addresses_per_node=1
            if compute.efa
            else max((len(each.network_cards) for each in types_of(compute)), default=1),
        )
        for at, queue, compute in computes(spec)
        if subnet in subnets(queue, place) and not unresolved(compute.max_count) and compute.max_count > 0
    }
    pools = [pool for _, pool in known(spec.login_pools) if subnet_of(pool, place) == subnet]
    others = sum(pool.count for pool in pools if not unresolved(pool.count) and pool.count > 0)
    others += place.of_head_node(spec.head_node) == subnet
    servers = sum(mount.file_servers for _, mount in known(context.mounts) if mount.subnet == subnet)
    plan = AddressPlan([*uses.values()], lustre_file_servers=servers, other=others)
    where: At = ("network", "accelerator_cidr")
    if plan.required > usable_addresses(LARGEST_SUBNET) and uses:  # no block helps
        where = max(uses, key=lambda at: uses[at].addresses)
    for text in plan.problems(cidr, keyword=""):
        yield Problem(where, text.removeprefix("'' ").replace("the nodes must", "must let the nodes", 1))
