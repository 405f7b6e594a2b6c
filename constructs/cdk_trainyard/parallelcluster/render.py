"""Values to the configuration of ParallelCluster, in one order. Nothing is decided here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cdk_trainyard.parallelcluster.capacity import Placement, Reservation
from cdk_trainyard.parallelcluster.merge import merged
from cdk_trainyard.parallelcluster.nodes import Dcv, HeadNode, LoginPool, RootVolume
from cdk_trainyard.parallelcluster.queue import Queue
from cdk_trainyard.parallelcluster.render_storage import shared_storage
from cdk_trainyard.parallelcluster.resolved import (
    NOWHERE,
    ResolvedCluster,
    ResolvedCompute,
    ResolvedHead,
    ResolvedPool,
    ResolvedQueue,
    type_name,
)
from cdk_trainyard.parallelcluster.scripts import CustomAction

Config = dict[str, Any]
Call = tuple[str, Sequence[str]]
"""A script's address and its arguments."""
Calls = Callable[[str, str, Sequence[CustomAction]], list[Call]]
"""Turns the actions of a node and an event into calls."""

HEAD, LOGIN, COMPUTE = "head", "login", "compute"
"""Kinds of nodes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wiring:
    """What the configuration refers to and the user did not write.

    Attributes:
        security_groups: Ids of the security groups of every node.
        head_security_groups: Ids of further security groups of the head node.
        policies: Kind of node to the ARNs of the policies of its role.
        calls: Turns actions into calls. The node is ``"head"``, or ``"login/<pool>"``, or ``"compute/<queue>"``.
        region: The Region.
    """

    security_groups: tuple[str, ...]
    policies: Mapping[str, Sequence[str]]
    calls: Calls
    region: str
    head_security_groups: tuple[str, ...] = ()


def cluster_config(cluster: ResolvedCluster, wiring: Wiring) -> Config:
    """Return the whole configuration.

    Args:
        cluster: The cluster.
        wiring: What it refers to.
    """
    return merged(typed_config(cluster, wiring), cluster.extra)


def typed_config(cluster: ResolvedCluster, wiring: Wiring) -> Config:
    """Return the configuration without the raw keys of the cluster.

    Args:
        cluster: The cluster.
        wiring: What it refers to.
    """
    config = _without_nothing(
        {
            "Region": wiring.region,
            "Image": {"Os": str(cluster.operating_system), "CustomAmi": cluster.image_id},
            "HeadNode": head_node(cluster.head, wiring),
            "LoginNodes": {"Pools": [merged(login_pool(pool, wiring), pool.given.extra) for pool in cluster.pools]},
            "Scheduling": {
                "Scheduler": "slurm",
                "ScalingStrategy": cluster.slurm.scaling and cluster.slurm.scaling.value,
                "SlurmSettings": _slurm_settings(cluster),
                "SlurmQueues": [_queue_with_extra(queue, wiring) for queue in cluster.queues],
            },
            "SharedStorage": [shared_storage(one) for one in cluster.storage],
            "Monitoring": _monitoring(cluster),
            "Iam": {
                "PermissionsBoundary": cluster.iam.permissions_boundary
                and cluster.iam.permissions_boundary.managed_policy_arn,
                "ResourcePrefix": cluster.iam.resource_prefix,
                "Roles": {"LambdaFunctionsRole": cluster.iam.lambda_role and cluster.iam.lambda_role.role_arn},
            },
            "Imds": {"ImdsSupport": "v2.0"},
            "DevSettings": {
                "Timeouts": {
                    "HeadNodeBootstrapTimeout": cluster.timeouts.head_node and cluster.timeouts.head_node.to_seconds(),
                    "ComputeNodeBootstrapTimeout": cluster.timeouts.compute_node
                    and cluster.timeouts.compute_node.to_seconds(),
                }
            },
            "Tags": _tags(cluster.tags),
        }
    )
    return config | {"HeadNode": merged(config["HeadNode"], cluster.head.given.extra)}


def head_node(head: ResolvedHead, wiring: Wiring) -> Config:
    """Return the section of the head node, without raw keys.

    Args:
        head: The head node.
        wiring: What it refers to.
    """
    given = head.given
    return _without_nothing(
        {
            "InstanceType": head.type_name,
            "DisableSimultaneousMultithreading": None if given.simultaneous_multithreading else True,
            "Networking": {
                "SubnetId": head.subnet,
                "ElasticIp": head.elastic_ip or None,
                "AdditionalSecurityGroups": [*wiring.security_groups, *wiring.head_security_groups],
            },
            "Ssh": {
                "KeyName": given.key_pair and given.key_pair.key_pair_name,
                "AllowedIps": given.ssh_from or NOWHERE,
            },
            "LocalStorage": _local_storage(given.root_volume, given.scratch_at),
            "Dcv": _dcv(given.dcv),
            **_software(HEAD, given, wiring),
        }
    )


def login_pool(pool: ResolvedPool, wiring: Wiring) -> Config:
    """Return one entry of the login pools, without raw keys.

    Args:
        pool: The pool.
        wiring: What it refers to.
    """
    given = pool.given
    return _without_nothing(
        {
            "Name": given.name,
            "InstanceType": pool.type_name,
            "Count": given.count,
            "GracetimePeriod": given.grace_period and given.grace_period.to_minutes(),
            "Networking": {
                "SubnetIds": [pool.subnet],
                "AdditionalSecurityGroups": list(wiring.security_groups),
            },
            "Ssh": {"AllowedIps": pool.ssh_from},
            "Dcv": _dcv(given.dcv),
            **_software(f"{LOGIN}/{given.name}", given, wiring),
        }
    )


def queue_section(queue: ResolvedQueue, wiring: Wiring) -> Config:
    """Return one entry of the queues, without raw keys.

    Args:
        queue: The queue.
        wiring: What it refers to.
    """
    given = queue.given
    return _without_nothing(
        {
            "Name": given.name,
            "CapacityType": queue.capacity.type.value,
            "AllocationStrategy": queue.capacity.allocation and queue.capacity.allocation.value,
            "CapacityReservationTarget": _reservation(queue.capacity.reservation),
            "JobExclusiveAllocation": queue.exclusive or None,
            "Networking": {
                "SubnetIds": list(queue.subnets),
                "AdditionalSecurityGroups": list(wiring.security_groups),
                "AssignPublicIp": given.public_ip,
                "PlacementGroup": _placement(queue.placement),
            },
            "ComputeSettings": {"LocalStorage": _local_storage(given.root_volume, given.scratch_at)},
            **_software(f"{COMPUTE}/{given.name}", given, wiring),
            "HealthChecks": {"Gpu": {"Enabled": given.gpu_health_check}},
            "CustomSlurmSettings": dict(given.slurm or {}),
            "Tags": _tags(given.tags),
            "ComputeResources": [merged(compute_resource(one), one.given.extra) for one in queue.compute],
        }
    )


def compute_resource(compute: ResolvedCompute) -> Config:
    """Return one kind of node of a queue, without raw keys.

    Args:
        compute: The compute resource.
    """
    given = compute.given
    return _without_nothing(
        {
            "Name": compute.name,
            "InstanceType": given.instance_type and type_name(given.instance_type),
            "Instances": [{"InstanceType": type_name(one)} for one in given.instance_types],
            "MinCount": compute.min_count,
            "MaxCount": compute.max_count,
            "SpotPrice": given.spot_price,
            "Efa": {"Enabled": True} if compute.efa else None,
            "DisableSimultaneousMultithreading": None if given.simultaneous_multithreading else True,
            "SchedulableMemory": given.schedulable_memory_mib,
            "CapacityReservationTarget": _reservation(given.reservation),
            "Networking": {"PlacementGroup": _placement(given.placement)},
            "HealthChecks": {"Gpu": {"Enabled": given.gpu_health_check}},
            "CustomSlurmSettings": dict(given.slurm or {}),
            "StaticNodePriority": given.static_node_priority,
            "DynamicNodePriority": given.dynamic_node_priority,
            "Tags": _tags(given.tags),
        }
    )


# ---------------------------------------------------------------- parts
def _queue_with_extra(queue: ResolvedQueue, wiring: Wiring) -> Config:
    return merged(queue_section(queue, wiring), queue.given.extra)


def _slurm_settings(cluster: ResolvedCluster) -> Config:
    slurm, accounting = cluster.slurm, cluster.slurm.accounting
    return {
        "QueueUpdateStrategy": slurm.update_strategy.value,
        "ScaledownIdletime": slurm.idle_time and slurm.idle_time.to_minutes(),
        "EnableMemoryBasedScheduling": slurm.memory_scheduling or None,
        "Dns": None if cluster.managed_dns else {"DisableManagedDns": True, "UseEc2Hostnames": True},
        "Database": accounting
        and {
            "Uri": f"{accounting.endpoint}:{accounting.port}",
            "UserName": accounting.user_name,
            "PasswordSecretArn": accounting.password.secret_arn,
            "DatabaseName": accounting.schema_name,
        },
        "CustomSlurmSettings": [dict(line) for line in slurm.custom],
    }


def _monitoring(cluster: ResolvedCluster) -> Config:
    monitoring = cluster.monitoring
    logs = {
        "Enabled": True,
        "RetentionInDays": monitoring.log_retention_days,
        "DeletionPolicy": "Retain" if monitoring.keep_logs else "Delete",
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


def _software(node: str, given: HeadNode | LoginPool | Queue, wiring: Wiring) -> Config:
    """What runs on a node, what it may do, and what it starts from; nodes of queues are replaced, never updated."""
    events = {"OnNodeStart": given.on_start, "OnNodeConfigured": given.on_configured}
    if not isinstance(given, Queue):
        events["OnNodeUpdated"] = given.on_updated
    own = [policy.managed_policy_arn for policy in given.policies]
    policies = [*wiring.policies.get(node.partition("/")[0], ()), *own]
    return {
        "CustomActions": {event: _action(wiring.calls(node, event, actions)) for event, actions in events.items()},
        "Iam": {"AdditionalIamPolicies": [{"Policy": arn} for arn in policies]},
        "Image": {"CustomAmi": given.image_id},
    }


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


def _placement(placement: Placement | None) -> Config | None:
    if placement is None:
        return None
    return {"Enabled": placement.enabled, "Name": placement.group and placement.group.placement_group_name}


def _reservation(reservation: Reservation | None) -> Config | None:
    if reservation is None:
        return None
    return {
        "CapacityReservationId": reservation.reservation_id,
        "CapacityReservationResourceGroupArn": reservation.group_arn,
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
