"""Values to the configuration of ParallelCluster, in one order. Nothing is decided here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cdk_trainyard.instances.kind import UsageClass
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.merge import merged
from cdk_trainyard.parallelcluster.render_storage import mounted_lustre, shared_storage
from cdk_trainyard.parallelcluster.resolve import (
    NOWHERE,
    known,
    managed_dns,
    nodes_at_most,
    subnet_of,
    subnets,
    type_name,
    volumes,
)
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec, SlurmAccounting
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction, Dcv, LoginNode, LoginPool, NodeSoftware, RootVolume
from cdk_trainyard.parallelcluster.spec_queues import ComputeResource, NodeAllocation, Placement, Queue
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:
    from aws_cdk import Duration

Config = dict[str, Any]
Call = tuple[str, Sequence[str]]
"""A script's address and its arguments."""
Calls = Callable[[str, str, Sequence[CustomAction]], list[Call]]
"""Turns the actions of a node and an event into calls."""

CAPACITY: Final = {
    UsageClass.ON_DEMAND: "ONDEMAND",
    UsageClass.SPOT: "SPOT",
    UsageClass.CAPACITY_BLOCK: "CAPACITY_BLOCK",
}
"""``UsageClass`` as ParallelCluster spells it."""
_LOG_DAYS: Final = 180
HEAD, LOGIN, COMPUTE = "head", "login", "compute"
"""Kinds of nodes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wiring:
    """What the configuration refers to and the user did not write.

    Attributes:
        security_groups: Ids of the security groups of every node.
        policies: Kind of node to the ARNs of the policies of its role.
        calls: Turns actions into calls. The node is ``"head"``, or ``"login/<pool>"``, or ``"compute/<queue>"``.
        region: The Region.
        head_security_groups: Ids of further security groups of the head node.
        subnet_id: Turns what a subnet is called before it exists into its id. Default - it has its id.
    """

    security_groups: tuple[str, ...]
    policies: Mapping[str, Sequence[str]]
    calls: Calls
    region: str
    head_security_groups: tuple[str, ...] = ()
    subnet_id: Callable[[str], str] = str


def cluster_config(spec: ParallelClusterSpec, context: ParallelClusterFacts, wiring: Wiring) -> Config:
    """Return the whole configuration.

    Args:
        spec: The resolved cluster.
        context: What it stands in.
        wiring: What it refers to.
    """
    return merged(typed_config(spec, context, wiring), spec.raw_overrides)


def typed_config(spec: ParallelClusterSpec, context: ParallelClusterFacts, wiring: Wiring) -> Config:
    """Return the configuration without the raw keys of the cluster.

    Args:
        spec: The resolved cluster.
        context: What it stands in.
        wiring: What it refers to.
    """
    boundary, role, timeouts = spec.iam.permissions_boundary, spec.iam.lambda_role, spec.timeouts
    config = _without_nothing(
        {
            "Region": wiring.region,
            "Image": {"Os": _text(spec.operating_system), "CustomAmi": spec.image_id},
            "HeadNode": head_node(spec, context, wiring),
            "LoginNodes": {
                "Pools": [
                    merged(login_pool(pool, context, wiring), pool.raw_overrides) for _, pool in known(spec.login_pools)
                ]
            },
            "Scheduling": {
                "Scheduler": "slurm",
                "ScalingStrategy": spec.slurm.scaling and spec.slurm.scaling.value,
                "SlurmSettings": _slurm_settings(spec, context),
                "SlurmQueues": [
                    merged(queue_section(queue, context, wiring), queue.raw_overrides)
                    for _, queue in known(spec.queues)
                ],
            },
            "SharedStorage": [
                *(mounted_lustre(mount) for mount in context.mounts),
                *(shared_storage(one, str(at[1])) for at, one in volumes(spec.shared_storage)),
            ],
            "Monitoring": _monitoring(spec),
            "Iam": {
                "PermissionsBoundary": boundary and boundary.managed_policy_arn,
                "ResourcePrefix": spec.iam.resource_prefix,
                "Roles": {"LambdaFunctionsRole": role and role.role_arn},
            },
            "Imds": {"ImdsSupport": "v2.0"},
            "DevSettings": {
                "Timeouts": {
                    "HeadNodeBootstrapTimeout": timeouts.head_node and timeouts.head_node.to_seconds(),
                    "ComputeNodeBootstrapTimeout": timeouts.compute_node and timeouts.compute_node.to_seconds(),
                }
            },
            "Tags": _tags(spec.tags),
        }
    )
    return config | {"HeadNode": merged(config["HeadNode"], spec.head_node.raw_overrides)}


def head_node(spec: ParallelClusterSpec, context: ParallelClusterFacts, wiring: Wiring) -> Config:
    """Return the section of the head node, without raw keys.

    Args:
        spec: The resolved cluster.
        context: What it stands in.
        wiring: What it refers to.
    """
    head = spec.head_node
    subnet = context.place.of_head_node(head)
    return _without_nothing(
        {
            "InstanceType": type_name(head.instance_type),
            **_threads(head.threads_per_core),
            "Networking": {
                "SubnetId": subnet and wiring.subnet_id(subnet),
                "ElasticIp": head.elastic_ip_id or head.elastic_ip or None,
                "AdditionalSecurityGroups": [*wiring.security_groups, *wiring.head_security_groups],
            },
            "Ssh": {
                "KeyName": head.key_pair and head.key_pair.key_pair_name,
                "AllowedIps": head.ssh_from or NOWHERE,
            },
            "LocalStorage": _local_storage(head.root_volume, head.scratch_at),
            "Dcv": _dcv(head.dcv),
            **_software(HEAD, head, wiring),
        }
    )


def login_pool(pool: LoginPool, context: ParallelClusterFacts, wiring: Wiring) -> Config:
    """Return one entry of the login pools, without raw keys.

    Args:
        pool: The pool.
        context: What it stands in.
        wiring: What it refers to.
    """
    return _without_nothing(
        {
            "Name": pool.name,
            "InstanceType": type_name(pool.instance_type),
            "Count": pool.count,
            "GracetimePeriod": _minutes(pool.grace_period),
            "Networking": {
                "SubnetIds": [wiring.subnet_id(subnet_of(pool, context.place))],
                "AdditionalSecurityGroups": list(wiring.security_groups),
            },
            "Ssh": {"AllowedIps": pool.ssh_from},
            "Dcv": _dcv(pool.dcv),
            **_software(f"{LOGIN}/{pool.name}", pool, wiring),
        }
    )


def queue_section(queue: Queue, context: ParallelClusterFacts, wiring: Wiring) -> Config:
    """Return one entry of the queues, without raw keys.

    Args:
        queue: The queue.
        context: What it stands in.
        wiring: What it refers to.
    """
    return _without_nothing(
        {
            "Name": queue.name,
            "CapacityType": CAPACITY.get(queue.capacity),
            "AllocationStrategy": queue.allocation and queue.allocation.value,
            "CapacityReservationTarget": _reservation(queue),
            "JobExclusiveAllocation": queue.exclusive or None,
            "Networking": {
                "SubnetIds": [wiring.subnet_id(subnet) for subnet in subnets(queue, context.place)],
                "AdditionalSecurityGroups": list(wiring.security_groups),
                "AssignPublicIp": queue.public_ip,
                "PlacementGroup": _placement(queue),
            },
            "ComputeSettings": {"LocalStorage": _local_storage(queue.root_volume, queue.scratch_at)},
            **_software(f"{COMPUTE}/{queue.name}", queue, wiring),
            "HealthChecks": {"Gpu": {"Enabled": queue.gpu_health_check}},
            "CustomSlurmSettings": dict(queue.slurm or {}),
            "Tags": _tags(queue.tags),
            "ComputeResources": [merged(compute_resource(one), one.raw_overrides) for _, one in known(queue.compute)],
        }
    )


def compute_resource(compute: ComputeResource) -> Config:
    """Return one kind of node of a queue, without raw keys.

    Args:
        compute: The compute resource.
    """
    return _without_nothing(
        {
            "Name": compute.name,
            "InstanceType": compute.instance_type and type_name(compute.instance_type),
            "Instances": [{"InstanceType": type_name(one)} for one in compute.instance_types],
            "MinCount": compute.min_count,
            "MaxCount": nodes_at_most(compute),
            "SpotPrice": compute.spot_price,
            "Efa": {"Enabled": True} if compute.efa is True else None,
            **_threads(compute.threads_per_core),
            "SchedulableMemory": compute.schedulable_memory_mib,
            "CapacityReservationTarget": _reservation(compute),
            "Networking": {"PlacementGroup": _placement(compute)},
            "HealthChecks": {"Gpu": {"Enabled": compute.gpu_health_check}},
            "CustomSlurmSettings": dict(compute.slurm or {}),
            "StaticNodePriority": compute.static_node_priority,
            "DynamicNodePriority": compute.dynamic_node_priority,
            "Tags": _tags(compute.tags),
        }
    )


# ---------------------------------------------------------------- parts
def _slurm_settings(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Config:
    slurm, said = spec.slurm, spec.slurm.accounting
    accounting = said if isinstance(said, SlurmAccounting) else None  # a new database is exchanged for it
    return {
        "QueueUpdateStrategy": slurm.update_strategy.value,
        "ScaledownIdletime": _minutes(slurm.idle_time),
        "EnableMemoryBasedScheduling": slurm.memory_scheduling or None,
        "Dns": None if managed_dns(spec, context.place) else {"DisableManagedDns": True, "UseEc2Hostnames": True},
        "Database": accounting
        and {
            "Uri": f"{accounting.endpoint}:{accounting.port}",
            "UserName": accounting.user_name,
            "PasswordSecretArn": accounting.password_secret.secret_arn,
            "DatabaseName": accounting.schema_name,
        },
        "CustomSlurmSettings": [dict(line) for _, line in known(slurm.custom)],
    }


def _minutes(time: "Duration | None") -> int | None:
    return None if time is None or unresolved(time) else int(time.to_minutes())


def _monitoring(spec: ParallelClusterSpec) -> Config:
    monitoring = spec.monitoring
    logs = {
        "Enabled": True,
        "RetentionInDays": _LOG_DAYS if monitoring.log_retention_days is None else monitoring.log_retention_days,
        "DeletionPolicy": "Delete" if monitoring.keep_logs is False else "Retain",
    }
    return {
        "DetailedMonitoring": monitoring.detailed or None,
        "Logs": {"CloudWatch": logs if monitoring.logs else {"Enabled": False}},
        "Dashboards": {"CloudWatch": {"Enabled": monitoring.dashboard}},
        "Alarms": {"Enabled": monitoring.alarms},
    }


def _action(calls: Sequence[Call]) -> Config | None:
    sections = [_without_nothing({"Script": script, "Args": list(args)}) for script, args in calls]
    if len(sections) > 1:
        return {"Sequence": sections}
    return sections[0] if sections else None


def _software(node: str, given: NodeSoftware, wiring: Wiring) -> Config:
    """What runs on a node, what it may do, and what it starts from; nodes of queues are replaced, never updated."""
    events = {"OnNodeStart": given.on_start, "OnNodeConfigured": given.on_configured}
    if isinstance(given, LoginNode):
        events["OnNodeUpdated"] = given.on_updated
    own = [policy.managed_policy_arn for policy in given.policies]
    policies = [*wiring.policies.get(node.partition("/")[0], ()), *own]
    return {
        "CustomActions": {
            event: _action(wiring.calls(node, event, [action for _, action in known(actions)]))
            for event, actions in events.items()
        },
        "Iam": {"AdditionalIamPolicies": [{"Policy": arn} for arn in policies]},
        "Image": {"CustomAmi": given.image_id},
    }


def _text(value: str) -> str:
    return value if unresolved(value) else str(value)


def _threads(threads_per_core: int | None) -> Config:
    return {"DisableSimultaneousMultithreading": True if threads_per_core == 1 else None}


def _local_storage(root: RootVolume | None, scratch_at: str | None) -> Config:
    volume = root and {
        "Size": root.size_gib,
        "VolumeType": root.type and root.type.value,
        "Iops": root.iops,
        "Throughput": root.throughput_mb_s,
    }
    return {"RootVolume": volume, "EphemeralVolume": {"MountDir": scratch_at}}


def _dcv(dcv: Dcv | None) -> Config | None:
    return None if dcv is None else {"Enabled": True, "Port": dcv.port, "AllowedIps": dcv.allowed_from}


def _placement(given: NodeAllocation) -> Config | None:
    if given.placement is None or unresolved(given.placement):
        return None
    group = given.placement_group
    return {"Enabled": given.placement is Placement.CLUSTER, "Name": group and group.placement_group_name}


def _reservation(given: NodeAllocation) -> Config:
    return {
        "CapacityReservationId": given.reservation_id,
        "CapacityReservationResourceGroupArn": given.reservation_group_arn,
    }


def _tags(tags: Mapping[str, str] | None) -> list[Config]:
    return [{"Key": key, "Value": value} for key, value in (tags or {}).items()]


def _without_nothing(section: Mapping[str, Any]) -> Config:
    """Leave out what is not given: None, and sections and lists with nothing in them."""
    result: Config = {}
    for key, value in section.items():
        kept = _without_nothing(value) if isinstance(value, Mapping) else value
        if kept is not None and kept not in ({}, []):
            result[key] = kept
    return result
