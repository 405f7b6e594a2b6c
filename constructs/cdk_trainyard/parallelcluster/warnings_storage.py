"""What may go wrong with what a cluster mounts without being wrong. Pure."""

import re
from collections.abc import Iterator

from cdk_trainyard.instances.zones import differ
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.facts import user_of
from cdk_trainyard.parallelcluster.merge import value_at
from cdk_trainyard.parallelcluster.resolve import computes, known, max_nodes, type_names, types_of
from cdk_trainyard.parallelcluster.rules_storage import shared_places
from cdk_trainyard.parallelcluster.slurm_lines import texts
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.storage.mount_facts import across_zones, efa_unused, hidden_home, named_twice, takes_efa
from cdk_trainyard.tokens import unresolved

Warnings = Iterator[str]
_MANY_NODES = 100


def managed_file_system(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """A file system that ParallelCluster makes belongs to the cluster."""
    for one in spec.shared_storage.efs:
        if one.file_system_id is None:
            yield (
                f"shared storage {one.name!r} is made by ParallelCluster and ends with its cluster, or outlives it "
                "unmanaged; give the 'file_system_id' of one of your own instead"
            )


def lustre_over_tcp(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """A file system with EFA without nodes that reach it so."""
    nodes = [compute for _, _, compute in computes(spec)]
    if any(len(types_of(each)) < len(type_names(each)) for each in nodes):
        return  # of one that is not known, nothing is
    if any(each.efa is not False and takes_efa(kind) for each in nodes for kind in types_of(each)):
        return
    for _, mount in known(context.mounts):
        if mount.efa_enabled is True:
            yield efa_unused(mount.path, [kind for each in nodes for kind in types_of(each)])


def ebs_bottleneck(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """One machine serves a directory to all."""
    if max_nodes(spec) > _MANY_NODES and spec.shared_storage.ebs:
        yield (
            f"an EBS volume is shared with {max_nodes(spec)} nodes through the network of the head node; use FSx for "
            "Lustre for data"
        )


def shared_spool(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """A directory of slurmd that is the same one for every node.

    Source: slurm.conf(5), SlurmdSpoolDir: local to each node, and ``%h`` and ``%n`` in it are replaced.
    """
    for _at, path in texts(spec, "slurmdspooldir"):
        if not re.search("%[hn]", path) and (place := _shared(path, spec, context)):
            yield (
                f"SlurmdSpoolDir {path} is on {place}, which all nodes share: it must be each node's own, or they "
                "write over one another's jobs; leave it out, or end it with /%n"
            )


def shared_state(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """A directory of slurmctld on a file system whose root belongs to root.

    Source: slurm.conf(5), StateSaveLocation (SlurmUser reads and writes it); ParallelCluster's SlurmUser is slurm
    (``slurm.conf.erb`` of aws-parallelcluster-cookbook, read 2026-11).
    """
    for _at, path in texts(spec, "statesavelocation"):
        if (place := _shared(path, spec, context)) not in {"", "/home"}:
            yield (
                f"StateSaveLocation {path} is on {place}: slurmctld runs as slurm and ends where it cannot write "
                "there, and the root of a new file system belongs to root; the directory must be there and be "
                "slurm's before the cluster is made, or leave it out"
            )


def _shared(path: str, spec: ParallelClusterSpec, context: ParallelClusterFacts) -> str:
    """Return the shared directory that a path is in; nothing where it is on a node's own disk."""
    places = [place for place in shared_places(spec, context) if not unresolved(place)]
    return next((place for place in places if f"{path}/".startswith(f"{place.rstrip('/')}/")), "")


def home_hidden(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """A shared directory over the home of the nodes' user; only one at ``/home`` is given what was there.

    Source: ``mount_home.rb`` of aws-parallelcluster-cookbook, read 2026-11.
    """
    user, raw = user_of(spec.operating_system), spec.raw_overrides or {}
    if user is None or unresolved(raw) or value_at(raw, "DeploymentSettings.DefaultUserHome") is not None:
        return
    for place in shared_places(spec, context):
        if not unresolved(place) and place == f"/home/{user}":
            yield hidden_home(place, user)


def mount_path_twice(_spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """A data repository whose directory has the path of the mount once more."""
    for mount in context.mounts:
        yield from named_twice(mount.path, mount.repositories)


def lustre_in_other_zone(_: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """A file system in another zone than the nodes: it works, slower, and its traffic is billed."""
    zone = context.place.zone
    for mount in context.mounts:
        if not unresolved(mount) and not mount.efa_enabled and differ(mount.zone, zone):
            yield across_zones("the nodes", zone, mount.zone)
