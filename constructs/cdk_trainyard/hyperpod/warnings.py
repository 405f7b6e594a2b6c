"""What may go wrong with a cluster without being wrong: said once, at synthesis. Pure."""

from collections.abc import Callable, Iterator

from cdk_trainyard.data_files import load
from cdk_trainyard.hyperpod.limits import HOME
from cdk_trainyard.hyperpod.resolved import ResolvedCluster
from cdk_trainyard.hyperpod.rules_network import address_plan, by_subnet, mounts_across_zones
from cdk_trainyard.hyperpod.rules_reach import missing_packages
from cdk_trainyard.hyperpod.rules_versions import judge_neuron
from cdk_trainyard.instances import AcceleratorKind, InstanceType, UsageClass
from cdk_trainyard.lifecycle.rules_setup import image_warnings
from cdk_trainyard.lifecycle.spec import GroupRole
from cdk_trainyard.network.spec import HYPERPOD_ENDPOINTS, Endpoint
from cdk_trainyard.options.addresses import is_loopback
from cdk_trainyard.options.repositories import other_registries
from cdk_trainyard.reach import Route
from cdk_trainyard.storage.mount_facts import across_zones, efa_unused, hidden_home, named_twice, takes_efa
from cdk_trainyard.storage.rules_data import schema_warnings
from cdk_trainyard.tokens import unresolved

Warnings = Iterator[str]


def zone_without_type(cluster: ResolvedCluster) -> Warnings:
    """An instance type that its zone is not known to offer; the data have a date, so this is no error."""
    region = cluster.facts.environment.region
    for group in cluster.groups:
        zone = group.subnet.zone if group.subnet else None
        for known in group.types:
            if warning := known.offer_warning(region, [zone]):
                yield f"group {group.name!r}: {warning}"


def few_addresses(cluster: ResolvedCluster) -> Warnings:
    """A subnet that holds all nodes, and few that take the place of others."""
    for subnet, groups in by_subnet(cluster):
        yield from address_plan(cluster, subnet, groups).warnings(subnet.cidr)


def lustre_in_other_zone(cluster: ResolvedCluster) -> Warnings:
    """A file system without EFA in another zone than its clients: it works, slower, and its traffic is billed."""
    for group, _, mount in mounts_across_zones(cluster):
        if not mount.efa_enabled and group.subnet is not None:
            yield across_zones(f"nodes of group {group.name!r}", group.subnet.zone, mount.zone)


def lustre_over_tcp(cluster: ResolvedCluster) -> Warnings:
    """A file system with EFA without a node that reaches it so."""
    clients: dict[str, list[InstanceType]] = {}
    for group in cluster.groups:
        if len(group.types) < len(group.spec.names_of_types):
            return  # of one that is not known, nothing is
        for mount in group.mounts:
            if mount.efa_enabled is True:
                clients.setdefault(mount.path, []).extend(group.types)
    for path, types in clients.items():
        if not any(map(takes_efa, types)):
            yield efa_unused(path, types)


def home_hidden(cluster: ResolvedCluster) -> Warnings:
    """A file system over the home of the nodes' user, which the scripts keep beneath one of OpenZFS alone."""
    for mount in cluster.facts.mounts:
        kept = mount.kind == "OpenZFS" and cluster.runs_own_scripts
        if not unresolved(mount.path) and mount.path == HOME and not kept:
            yield hidden_home(mount.path, HOME.rpartition("/")[2])


def mount_path_twice(cluster: ResolvedCluster) -> Warnings:
    """A data repository whose directory has the path of the mount once more."""
    for mount in cluster.facts.mounts:
        yield from named_twice(mount.path, mount.repositories)


def mixed_architectures(cluster: ResolvedCluster) -> Warnings:
    """One bundle of scripts for x86 and Arm nodes: what it installs must exist for both."""
    bundles: dict[str, set[str]] = {}
    for group in cluster.groups:
        if group.lifecycle.script is not None:
            bundle = group.lifecycle.scripts.node.path if group.lifecycle.scripts else ""
            bundles.setdefault(bundle, set()).update(known.architecture for known in group.types)
    if any(len(architectures) > 1 for architectures in bundles.values()):
        yield "groups of x86_64 and of arm64 run the same lifecycle scripts; they must install nothing for one only"


def spot_controller(cluster: ResolvedCluster) -> Warnings:
    """A controller that can be taken away takes the cluster with it."""
    for group in cluster.of_role(GroupRole.CONTROLLER):
        if group.spec.capacity is UsageClass.SPOT:
            yield f"controller group {group.name!r} is on Spot capacity; when it is taken back, Slurm stops"


def deep_health_checks_on_neuron(cluster: ResolvedCluster) -> Warnings:
    """The documentation lists GPU tests only for Slurm clusters."""
    for group in cluster.groups:
        if not group.spec.deep_health_checks:
            continue
        if any(part.kind is AcceleratorKind.NEURON for known in group.types for part in known.accelerators):
            yield (
                f"group {group.name!r} asks for deep health checks on Neuron devices; for Slurm clusters the SageMaker "
                f"developer guide lists tests of GPUs only"
            )


def job_hooks_left_out(cluster: ResolvedCluster) -> Warnings:
    """Whoever says what nodes are set up with may expect prolog and epilog too."""
    setup = cluster.spec.node_setup
    if cluster.runs_own_scripts and setup is not None and setup.job_hooks and not cluster.scripts_hook_jobs:
        yield (
            "no job gets prolog and epilog of 'node_setup', since HyperPod's image or other scripts configure some "
            "groups: nodes without them would be drained; set 'job_hooks' to false, or give every group on_create"
        )


def node_setup_unheeded(cluster: ResolvedCluster) -> Warnings:
    """Groups with scripts of a folder of their own, beside groups whose scripts heed ``node_setup``."""
    scripted = [group for group in cluster.groups if group.lifecycle.script is not None]
    setup, others = cluster.spec.node_setup, [group for group in scripted if not group.lifecycle.is_own]
    if cluster.runs_own_scripts and setup is not None and others:
        yield (
            f"'node_setup' does nothing in {', '.join(repr(group.name) for group in others)}, whose scripts are of "
            "another folder: the scripts that come with cdk-trainyard alone heed it"
        )


def unknown_neuron_packages(cluster: ResolvedCluster) -> Warnings:
    """Neuron's packages of which no source says that they work on the image of the nodes."""
    yield from judge_neuron(cluster).unknown


def no_nat(cluster: ResolvedCluster) -> Warnings:
    """Without NAT, endpoints that nodes need and the network lacks; no list of AWS's is known."""
    place = cluster.facts.place
    missing = [each for each in HYPERPOD_ENDPOINTS if place is not None and each not in place.interfaces]
    if place is not None and place.route is Route.NONE and missing:
        yield (
            "without NAT the nodes reach S3 and 'interface_endpoints' of the network alone; HyperPod nodes use "
            f"{', '.join(missing)} too (HYPERPOD_ENDPOINTS), and containers {Endpoint.ECR_API}, {Endpoint.ECR_DKR}"
        )


def accounting_out_of_reach(cluster: ResolvedCluster) -> Warnings:
    """Without NAT and endpoint, a database that HyperPod sets up itself.

    Source: AWS CloudFormation Template Reference, AWS::SageMaker::Cluster AccountingDatabase, read 2026-11: it has the
    ARN of the secret, and who reads that is not said.
    """
    place = cluster.facts.place
    closed = place is not None and place.route is Route.NONE and Endpoint.SECRETS_MANAGER not in place.interfaces
    if closed and cluster.facts.accounting and not cluster.runs_own_scripts:
        yield (
            "without NAT the controller reaches no AWS Secrets Manager, and AWS does not say who fetches the password "
            "of the accounting database: add secretsmanager to 'interface_endpoints'"
        )


def own_database(cluster: ResolvedCluster) -> Warnings:
    """A database on the controller itself, where a script of the user's alone may set one up."""
    host = cluster.facts.accounting_host
    if not unresolved(host) and is_loopback(host.lower()):
        yield (
            f"Slurm's accounting asks {host}, which is the controller itself, and nothing here sets up the database "
            "that 'accounting' describes; leave it out for the MariaDB that HyperPod's image, or 'local_accounting' of "
            "'node_setup', sets up there, or give the host of one, unless a script of yours does so before Slurm starts"
        )


def packages_out_of_reach(cluster: ResolvedCluster) -> Warnings:
    """What HyperPod's image has, and another image may lack: then nodes without NAT cannot install it."""
    setup, place = cluster.spec.node_setup, cluster.facts.place
    closed = place is not None and place.route is Route.NONE and cluster.runs_own_scripts
    lacking = missing_packages(setup) if setup is not None and closed else []
    if lacking:
        yield (
            f"without NAT the nodes cannot install {'; '.join(lacking)} from Ubuntu's archive "
            "(<region>.ec2.archive.ubuntu.com, security.ubuntu.com): their image must have it, as HyperPod's has"
        )


def unlisted_region(cluster: ResolvedCluster) -> Warnings:
    """A Region that has a name, and of which no list says whether there are clusters."""
    lists, region = load("hyperpod", "regions"), cluster.facts.environment.region
    if region is not None and region not in (*lists["with"], *lists["without"]):
        yield (
            f"whether CloudFormation makes HyperPod clusters in {region} is not known here (data of {lists['date']}); "
            "look before you deploy"
        )


def batches_on_slurm(cluster: ResolvedCluster) -> Warnings:
    """Updates in batches, which the documentation has for clusters of EKS alone, and the API for any.

    Sources: SageMaker developer guide, "Update your AMI version in your SageMaker HyperPod cluster" (read 2026-11);
    ``DeploymentConfig`` of ``ClusterAutoPatchConfig`` in botocore's model: only for a strategy that is rolling.
    """
    for group in cluster.groups:
        for name in ("scheduled_update", "auto_patch"):
            update = getattr(group.spec, name)
            if update is not None and not unresolved(update) and update.rolling is not None:
                yield (
                    f"group {group.name!r} has 'rolling' in its '{name}', and AWS's page 'Update your AMI version in "
                    "your SageMaker HyperPod cluster' has updates in batches for clusters of EKS alone: on Slurm all "
                    "nodes may go at once"
                )


def private_gpu_image(cluster: ResolvedCluster) -> Warnings:
    """An image of dcgm-exporter that Docker on the nodes has no password for."""
    setup = cluster.spec.node_setup
    if cluster.runs_own_scripts and setup is not None and not unresolved(setup):
        yield from image_warnings(setup.exporters)


def repositories_elsewhere(cluster: ResolvedCluster) -> Warnings:
    """Repositories that are called as those of other registries."""
    yield from other_registries(each.repository_arn for each in cluster.spec.image_repositories)


def reserved_schema(cluster: ResolvedCluster) -> Warnings:
    """A schema that slurmdbd cannot make in a database that exists."""
    yield from schema_warnings(cluster.facts.existing_schema)


WARNINGS: dict[str, Callable[[ResolvedCluster], Warnings]] = {
    "zone-without-type": zone_without_type,
    "few-addresses": few_addresses,
    "lustre-in-other-zone": lustre_in_other_zone,
    "lustre-over-tcp": lustre_over_tcp,
    "home-hidden": home_hidden,
    "mount-path-twice": mount_path_twice,
    "mixed-architectures": mixed_architectures,
    "spot-controller": spot_controller,
    "deep-health-checks-on-neuron": deep_health_checks_on_neuron,
    "job-hooks-left-out": job_hooks_left_out,
    "node-setup-unheeded": node_setup_unheeded,
    "unknown-neuron-packages": unknown_neuron_packages,
    "no-nat": no_nat,
    "accounting-out-of-reach": accounting_out_of_reach,
    "own-database": own_database,
    "packages-out-of-reach": packages_out_of_reach,
    "unlisted-region": unlisted_region,
    "batches-on-slurm": batches_on_slurm,
    "private-gpu-image": private_gpu_image,
    "other-registry": repositories_elsewhere,
    "reserved-schema": reserved_schema,
}
"""Every warning by its id, which is API."""
