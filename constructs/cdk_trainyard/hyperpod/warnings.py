"""What may go wrong with a cluster without being wrong: said once, at synthesis. Pure."""

from collections.abc import Callable, Iterator

from cdk_trainyard.hyperpod.capacity import CapacityKind
from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.hyperpod.rules_network import mounts_across_zones
from cdk_trainyard.hyperpod.rules_reach import missing_packages, stands_closed
from cdk_trainyard.hyperpod.rules_versions import judge_neuron
from cdk_trainyard.instances import AcceleratorKind
from cdk_trainyard.lifecycle import GroupRole
from cdk_trainyard.tokens import unresolved

Warnings = Iterator[str]


def zone_without_type(cluster: ResolvedCluster) -> Warnings:
    """An instance type that its zone is not known to offer (R14); the data have a date, so this is no error."""
    for group in cluster.groups:
        network = group.given.network or cluster.network
        if network is None or cluster.region is None or unresolved(network.zone):
            continue
        for known in group.types:
            if warning := known.offer_warning(cluster.region, [network.zone]):
                yield f"group {group.name!r}: {warning}"


def lustre_in_other_zone(cluster: ResolvedCluster) -> Warnings:
    """A file system without EFA in another zone than its clients (R11): it works, slower, and its traffic is billed."""
    for group_name, zone, file_system in mounts_across_zones(cluster):
        if not file_system.efa_enabled:
            yield (
                f"group {group_name!r} in {zone} mounts a file system in {file_system.zone}: "
                f"traffic between zones is slower and is billed"
            )


def mixed_architectures(cluster: ResolvedCluster) -> Warnings:
    """One bundle of scripts for x86 and Arm nodes: what it installs must exist for both."""
    bundles: dict[int, set[str]] = {}
    for group in cluster.groups:
        if group.lifecycle.runs_scripts:
            bundles.setdefault(id(group.lifecycle.scripts), set()).update(known.architecture for known in group.types)
    if any(len(architectures) > 1 for architectures in bundles.values()):
        yield "groups of x86_64 and of arm64 run the same lifecycle scripts; they must install nothing for one only"


def spot_controller(cluster: ResolvedCluster) -> Warnings:
    """A controller that can be taken away takes the cluster with it."""
    for group in cluster.of_role(GroupRole.CONTROLLER):
        if group.given.capacity and group.given.capacity.kind is CapacityKind.SPOT:
            yield f"controller group {group.name!r} is on Spot capacity; when it is taken back, Slurm stops"


def deep_health_checks_on_neuron(cluster: ResolvedCluster) -> Warnings:
    """The documentation lists GPU tests only for Slurm clusters."""
    for group in cluster.groups:
        if not group.given.deep_health_checks:
            continue
        if any(part.kind is AcceleratorKind.NEURON for known in group.types for part in known.accelerators):
            yield (
                f"group {group.name!r} asks for deep health checks on Neuron devices; for Slurm clusters the SageMaker "
                f"developer guide lists tests of GPUs only"
            )


def job_hooks_left_out(cluster: ResolvedCluster) -> Warnings:
    """Whoever says what nodes are set up with may expect prolog and epilog too."""
    setup = cluster.node_setup
    ours = any(group.lifecycle.runs_scripts and not group.lifecycle.scripts for group in cluster.groups)
    if ours and setup is not None and setup.job_hooks and not cluster.scripts_hook_jobs:
        yield (
            "no job gets prolog and epilog of 'node_setup', since HyperPod's image or other scripts configure some "
            "groups: nodes without them would be drained; set 'job_hooks' to False, or give every group on_create"
        )


def unknown_neuron_packages(cluster: ResolvedCluster) -> Warnings:
    """Neuron's packages of which no source says that they work on the image of the nodes."""
    yield from judge_neuron(cluster).unknown


def packages_out_of_reach(cluster: ResolvedCluster) -> Warnings:
    """What HyperPod's image has, and another image may lack: then nodes without NAT cannot install it."""
    setup = cluster.node_setup
    lacking = missing_packages(setup) if setup is not None and stands_closed(cluster) else []
    if lacking:
        yield (
            f"without NAT the nodes cannot install {'; '.join(lacking)} from Ubuntu's archive "
            "(<region>.ec2.archive.ubuntu.com, security.ubuntu.com): their image must have it, as HyperPod's has"
        )


WARNINGS: dict[str, Callable[[ResolvedCluster], Warnings]] = {
    "zone-without-type": zone_without_type,
    "lustre-in-other-zone": lustre_in_other_zone,
    "mixed-architectures": mixed_architectures,
    "spot-controller": spot_controller,
    "deep-health-checks-on-neuron": deep_health_checks_on_neuron,
    "job-hooks-left-out": job_hooks_left_out,
    "unknown-neuron-packages": unknown_neuron_packages,
    "packages-out-of-reach": packages_out_of_reach,
}
"""Every warning by its id, which is API."""
