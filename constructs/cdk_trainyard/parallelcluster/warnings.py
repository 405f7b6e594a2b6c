"""What may go wrong with a cluster without being wrong: said once, at synthesis. Pure."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from cdk_trainyard.lifecycle.rules_setup import image_warnings
from cdk_trainyard.options.addresses import is_loopback
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.facts import head_node_timeout_minutes, parallelcluster_version
from cdk_trainyard.parallelcluster.resolve import (
    computes,
    reservation,
    roles,
    subnets,
    types_of,
)
from cdk_trainyard.parallelcluster.rules_addresses import accelerator_plan
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec, QueueUpdateStrategy, SlurmAccounting
from cdk_trainyard.parallelcluster.spec_queues import Placement
from cdk_trainyard.parallelcluster.warnings_nodes import little_memory, private_head_node
from cdk_trainyard.parallelcluster.warnings_storage import (
    ebs_bottleneck,
    home_hidden,
    lustre_in_other_zone,
    lustre_over_tcp,
    managed_file_system,
    mount_path_twice,
    shared_spool,
    shared_state,
)
from cdk_trainyard.problems import either
from cdk_trainyard.storage.rules_data import schema_warnings
from cdk_trainyard.tokens import unresolved

Warnings = Iterator[str]
_MANY_KEPT = 100
_LONG_GRACE_MINUTES = 30
_NEEDED = {
    "EC2": "ec2",
    "CloudFormation": "cloudformation",
    "Secrets Manager": "secretsmanager",
    "CloudWatch Logs": "logs",
    "Systems Manager (ssm)": "ssm",
    "Session Manager (ssmmessages)": "ssmmessages",
}
"""What nodes reach over interface endpoints; Secrets Manager with accounting alone."""


def zone_without_type(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """An instance type that its zone is not known to offer; the data have a date, so this is no error."""
    for queue in spec.queues:
        if context.place.accelerator_subnet not in subnets(queue, context.place):
            continue
        for each in {each.name: each for compute in queue.compute for each in types_of(compute)}.values():
            if warning := each.offer_warning(context.region, [context.place.zone]):
                yield f"queue {queue.name!r}: {warning}"


def few_addresses(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """An accelerator subnet that holds all nodes, and few that take the place of others."""
    yield from accelerator_plan(spec, context).warnings(context.place.accelerator_cidr)


def other_version(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """Rules and schema are those of one version."""
    if not unresolved(spec.version) and spec.version != parallelcluster_version():
        yield (
            f"'version' is {spec.version}, and what is checked here is what {parallelcluster_version()} takes; run "
            "pcluster's own checks of your version before you deploy; one that AWS has not published has no provider"
        )


def fleet_stop(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """A strategy under which CloudFormation can change next to nothing."""
    if spec.slurm.update_strategy is QueueUpdateStrategy.COMPUTE_FLEET_STOP:
        yield (
            "'update_strategy' COMPUTE_FLEET_STOP refuses changes of queues while nodes run, and CloudFormation "
            "cannot stop them; use DRAIN"
        )


def kept_instances(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """Nodes that are always there must come up before the cluster is made: the head node waits for all of them.

    Source: aws/aws-parallelcluster#3373 ("Waiting for static fleet capacity provisioning", then the wait condition of
    the head node times out) and ParallelCluster's default timeout. Capacity that is reserved is there.
    """
    kept = sum(
        compute.min_count or 0 for _, queue, compute in computes(spec) if reservation(queue, compute) == (None, None)
    )
    given = spec.timeouts.head_node
    if kept > 0 and (given is None or kept > _MANY_KEPT):
        minutes = head_node_timeout_minutes() if given is None else given.to_minutes()
        yield (
            f"{kept} nodes are always there, and the head node waits for all of them before the cluster is made: its "
            f"own scripts included, {minutes:g} minutes at most, and CloudFormation's hour. Where EC2 lacks one, "
            "everything is rolled back; begin with 'min_count' 0 and raise it when the cluster stands, or give "
            "'head_node' of the timeouts"
        )


def mixed_accelerators(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """ParallelCluster gives Slurm one type of accelerator for all nodes of a kind, that of the first type."""
    for _at, queue, compute in computes(spec):
        names = dict.fromkeys(part.name for each in types_of(compute) for part in each.accelerators)
        if len(names) > 1:
            yield (
                f"compute resource {compute.name!r} of queue {queue.name!r} has types with {' and '.join(names)}: a "
                "job gets either; give each a compute resource of its own"
            )


def memory_of_smallest(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """Slurm shares out of every node of a kind the memory that its smallest type has.

    Source: AWS ParallelCluster user guide, "Slurm memory-based scheduling", read 2026-11;
    ``InstancesMemorySchedulingWarningValidator`` of ParallelCluster.
    """
    if spec.slurm.memory_scheduling is not True:
        return
    for _at, queue, compute in computes(spec):
        amounts = {each.memory_mib for each in types_of(compute) if "memory_mib" not in each.unknown}
        if len(amounts) > 1:
            least, most = (f"{amount(amounts) / 1024:g} GiB" for amount in (min, max))
            yield (
                f"compute resource {compute.name!r} of queue {queue.name!r} has types with {least} to {most} of "
                f"memory: with 'memory_scheduling' jobs get {least} of any of them; give each a compute resource of "
                "its own"
            )


def efa_not_used(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """Nodes that stand close together, of types with EFA, and without it: CPU nodes have it when it is asked for.

    Source: ``EfaValidator`` of ParallelCluster 3.16.1, which warns of every type with EFA.
    """
    for _at, queue, compute in computes(spec):
        if compute.efa is False and (compute.placement or queue.placement) is Placement.CLUSTER:
            types = types_of(compute)
            names = [each.name for each in types if each.efa_supported]
            if names and len(names) == len(types):
                yield (
                    f"compute resource {compute.name!r} of queue {queue.name!r} is placed close together without EFA, "
                    f"which {either(names)} has; give 'efa' true, at no additional charge, for jobs across nodes"
                )


def open_ssh(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """SSH for everybody."""
    nodes = [("the head node", spec.head_node.ssh_from)]
    nodes += [(f"login pool {pool.name!r}", pool.ssh_from) for pool in spec.login_pools]
    if found := [where for where, addresses in nodes if addresses == "0.0.0.0/0"]:
        yield f"SSH on {', '.join(found)} is open to the world; give 'ssh_from' the addresses of its users"


def no_route_to_internet(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """Nodes without NAT reach AWS through endpoints only."""
    place = context.place
    private = [queue.name for queue in spec.queues if place.accelerator_subnet in subnets(queue, place)]
    if not place.has_nat and private:
        needed = {name: service for name, service in _NEEDED.items() if service not in place.endpoints}
        if not spec.slurm.accounting:
            needed.pop("Secrets Manager", None)
        endpoints = f" need interface endpoints of {', '.join(needed)}, and" if needed else ""
        yield (
            f"queues {', '.join(private)} have no route to the internet: nodes{endpoints} install nothing from the "
            "internet"
        )


def long_grace(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """Login nodes whose going takes much of the hour that CloudFormation waits for a custom resource.

    Sources: AWS CloudFormation Template Reference, AWS::CloudFormation::CustomResource (``ServiceTimeout`` is 3600
    seconds at most, read 2026-11-28); aws/aws-parallelcluster#5656 (2023-08-18, an hour of grace: the deletion timed
    out), #6786 (2025-04-10, it took an hour); ``login_nodes_stack.py`` (the grace is how long a hook holds each node).
    """
    found: dict[float, list[str]] = {}
    for pool in spec.login_pools:
        grace = pool.grace_period
        if grace is None or unresolved(grace, pool.count) or pool.count == 0:
            continue
        if grace.to_minutes() > _LONG_GRACE_MINUTES:
            found.setdefault(grace.to_minutes(), []).append(repr(pool.name))
    for minutes, pools in found.items():
        yield (
            f"login nodes of {', '.join(pools)} stay {minutes:g} minutes after they are given up: whatever takes one "
            "away waits so long, as the deletion of the cluster does, for which CloudFormation waits an hour; where it "
            f"fails, run it again; {_LONG_GRACE_MINUTES} minutes leave time for the rest"
        )


def alarms_without_agent(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """Alarms on metrics of the CloudWatch agent, which is started for logs alone.

    Sources: ``_add_head_node_alarms`` in ``cluster_stack.py`` of aws-parallelcluster (2024-10-24), and
    ``cw_logging_enabled`` in ``_cloudwatch_common.rb`` of its cookbook (2024-10-21).
    """
    if spec.monitoring.logs is False and spec.monitoring.alarms is True:
        yield (
            "without 'logs' no CloudWatch agent runs: the head node's alarms on memory and disk never ring; those on "
            "its health and its processors do"
        )


def many_policies(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """More managed policies of a role than IAM attaches unless its quota is raised."""
    usual = limits.ROLE_POLICIES[0]
    most = max((count for _, count in roles(spec)), default=0)
    if most > usual:
        yield (
            f"a role of nodes gets {most} managed policies with those of the cluster, and IAM attaches {usual} unless "
            "the quota 'Managed policies per role' is raised; put their statements into fewer"
        )


def policy_of_aws(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """A policy of AWS's own that the role of ParallelCluster's provider may not attach to a role of nodes."""
    if context.provider_version is not None:  # whose role may be another
        return
    for where, nodes in _nodes(spec):
        for arn in (policy.managed_policy_arn for policy in nodes.policies):
            name = str(arn).rpartition(":iam::aws:policy/")[2]
            if not unresolved(arn) and name != arn and name not in limits.PROVIDER_ATTACHES:
                yield (
                    f"{where} has {arn}, which ParallelCluster's provider is not known to be allowed to attach: as up "
                    "to 3.15, the cluster would not be made; put its statements into a policy of yours whose path is "
                    "/parallelcluster/"
                )


def script_without_right(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """A script that a role of nodes may not read: ParallelCluster's own S3Access, or a policy, lets it."""
    found: dict[str, list[str]] = {}
    for where, nodes in _nodes(spec):
        raw = {} if unresolved(nodes.raw_overrides) else nodes.raw_overrides or {}
        if nodes.policies or raw.get("Iam"):
            continue
        for script in dict.fromkeys(action.script for action in _actions(nodes) if action.scripts is None):
            if not unresolved(script) and re.match(r"s3://(?![^/]*-aws-parallelcluster/)", script):
                found.setdefault(script, []).append(where)
    for script, wheres in found.items():
        yield (
            f"{', '.join(wheres)} {'fetch' if wheres[1:] else 'fetches'} {script}, and nothing is said that lets it: "
            f"give it a policy, or S3Access of Iam in its raw keys with BucketName {script.split('/')[2]}, unless the "
            "bucket's own policy does"
        )


def _nodes(spec: ParallelClusterSpec) -> Iterator[tuple[str, Any]]:
    yield "the head node", spec.head_node
    yield from ((f"login pool {pool.name!r}", pool) for pool in spec.login_pools)
    yield from ((f"queue {queue.name!r}", queue) for queue in spec.queues)


def _actions(nodes: Any) -> Iterator[Any]:
    for event in ("on_start", "on_configured", "on_updated"):
        yield from getattr(nodes, event, ())


def name_of_head_node(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """A name for all that the head node alone takes: the launch templates of other nodes have one.

    Source: ``get_default_instance_tags`` of ParallelCluster 3.16.1; aws/aws-parallelcluster#5369 (2025-01-24).
    """
    if not unresolved(spec.tags) and "Name" in (spec.tags or {}):
        yield "'tags' have a Name, which the head node alone takes: ParallelCluster names the other nodes itself"


def features_of_nodes(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """A Feature of one's own takes the place of ParallelCluster's, which jobs may ask for.

    Source: ``config_renderer.py`` of ParallelCluster's cookbooks (2024-10-22) writes both into one line, of which
    Slurm's ``parse_config.c`` takes the last.
    """
    for _at, queue, compute in computes(spec):
        own = {} if compute.slurm is None or unresolved(compute.slurm) else compute.slurm
        if any(name.lower() == "feature" for name in own):
            yield (
                f"Feature of compute resource {compute.name!r} of queue {queue.name!r} takes the place of those that "
                "ParallelCluster gives its nodes: static or dynamic, the type, the name, efa and gpu; write what jobs "
                "ask for with --constraint beside your own"
            )


def private_gpu_image(_: ParallelClusterSpec, context: ParallelClusterFacts) -> Warnings:
    """An image of dcgm-exporter that Docker on the nodes has no password for."""
    yield from image_warnings(context.exporters)


def own_database(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """A database on the head node itself, where a script of the user's alone may set one up."""
    accounting = spec.slurm.accounting
    host = accounting.endpoint if isinstance(accounting, SlurmAccounting) else ""
    if not unresolved(host) and is_loopback(host.lower()):
        yield (
            f"Slurm's accounting asks {host}, which is the head node itself, and nothing here sets a database up "
            "there; give the host of one, unless a script of yours does so before Slurm starts"
        )


def reserved_schema(spec: ParallelClusterSpec, _: ParallelClusterFacts) -> Warnings:
    """A schema that slurmdbd cannot make in a database that exists."""
    if isinstance(accounting := spec.slurm.accounting, SlurmAccounting):
        yield from schema_warnings(accounting.schema_name)


WARNINGS: dict[str, Callable[[ParallelClusterSpec, ParallelClusterFacts], Warnings]] = {
    "zone-without-type": zone_without_type,
    "few-addresses": few_addresses,
    "other-version": other_version,
    "managed-file-system": managed_file_system,
    "lustre-over-tcp": lustre_over_tcp,
    "fleet-stop": fleet_stop,
    "ebs-bottleneck": ebs_bottleneck,
    "home-hidden": home_hidden,
    "mount-path-twice": mount_path_twice,
    "efa-not-used": efa_not_used,
    "kept-instances": kept_instances,
    "mixed-accelerators": mixed_accelerators,
    "memory-of-smallest": memory_of_smallest,
    "little-memory": little_memory,
    "shared-spool": shared_spool,
    "shared-state": shared_state,
    "node-features": features_of_nodes,
    "open-ssh": open_ssh,
    "private-head-node": private_head_node,
    "lustre-in-other-zone": lustre_in_other_zone,
    "name-tag": name_of_head_node,
    "no-way-out": no_route_to_internet,
    "long-grace": long_grace,
    "alarms-without-agent": alarms_without_agent,
    "many-policies": many_policies,
    "policy-of-aws": policy_of_aws,
    "script-without-right": script_without_right,
    "private-gpu-image": private_gpu_image,
    "own-database": own_database,
    "reserved-schema": reserved_schema,
}
"""Every warning by its id, which is API."""
