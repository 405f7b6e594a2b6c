"""Machines of HyperPod clusters: they come and go, are listed, rebooted, replaced, deleted, and get other images.

What each operation takes and answers is botocore's model of SageMaker, with its documentation of error codes; which
lines nodes log, awslabs/awsome-distributed-ai, hyperpod-mental-model.md, 2026-07.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from moto.core.utils import unix_time_millis
from moto.ec2.models import ec2_backends
from moto.logs.models import logs_backends

from cdk_trainyard.local.mishaps import lacks
from cdk_trainyard.local.services.api import Request
from cdk_trainyard.local.services.sagemaker_state import (
    RUNNING,
    Cluster,
    Event,
    Node,
    Scaling,
    clusters_of,
    every_cluster,
    find,
    new_instance_id,
)

PENDING = "Pending"
_LIFECYCLE_LINES = ("[SageMaker] Downloading lifecycle scripts", "The lifecycle scripts succeeded.")


# ---------------------------------------------------------------- come and go
def scale(request: Request, cluster: Cluster) -> None:
    """Add and remove machines until every group has as many as it wants; the newest go first."""
    wanted = cluster.groups
    before = {name: count(cluster, name) for name in wanted}
    for name, group in wanted.items():
        there = [node for node in cluster.nodes if node.group == name]
        for _ in range(len(there), group["InstanceCount"]):
            cluster.nodes.append(_ordered(group))
        terminate(request, cluster, there[group["InstanceCount"] :])
    terminate(request, cluster, [node for node in cluster.nodes if node.group not in wanted])
    targets = {name: (before[name], row["InstanceCount"]) for name, row in wanted.items()}
    if changed := {name: pair for name, pair in targets.items() if pair[0] != pair[1]}:
        cluster.operations.append(Scaling(groups=changed, done=False))
    launch(request, cluster)


def launch(request: Request, cluster: Cluster) -> None:
    """Let machines come that have not, as far as there is capacity."""
    operation = cluster.operations[-1].id if cluster.operations else ""
    for node in cluster.nodes:
        if node.instance_id:
            continue
        node.message = lacks(node.instance_type)
        if not node.message:
            _come(request, cluster, node)
            text = f"Instance {node.instance_id} was provisioned"
            cluster.events.append(Event(text=text, group=node.group, instance_id=node.instance_id, operation=operation))
        elif not any(event.failure == node.message and event.operation == operation for event in cluster.events):
            text = "Provisioning of instances failed"
            cluster.events.append(_failure(text, node.message, group=node.group, operation=operation))
    if cluster.operations:
        cluster.operations[-1].done = all(node.instance_id for node in cluster.nodes)


def _failure(text: str, failure: str, **more: str) -> Event:
    return Event(text=text, level="Error", failure=failure, **more)  # type: ignore[arg-type]  # texts alone are given


def count(cluster: Cluster, group: str) -> int:
    """Return how many machines of a group there are."""
    return sum(node.group == group and bool(node.instance_id) for node in cluster.nodes)


def _ordered(group: Mapping[str, Any]) -> Node:
    """Return a machine that has not come yet."""
    return Node(
        instance_id="",
        group=group["InstanceGroupName"],
        instance_type=group.get("InstanceType") or group["InstanceRequirements"]["InstanceTypes"][0],
        launched=datetime.now(UTC),
        interface=None,
        status=PENDING,
    )


def _come(request: Request, cluster: Cluster, node: Node) -> None:
    group = cluster.groups[node.group]
    node.instance_id, node.status, node.launched = new_instance_id(), RUNNING, datetime.now(UTC)
    vpc = group.get("OverrideVpcConfig") or cluster.parameters.get("VpcConfig")
    if vpc and node.interface is None:  # all groups stand in one subnet: the first of the list
        backend = ec2_backends[request.account][request.region]
        subnet = backend.get_subnet(vpc["Subnets"][0])
        node.interface = backend.create_network_interface(
            subnet,
            subnet.get_available_subnet_ip(None),  # type: ignore[arg-type]  # moto's own choice may be taken
            group_ids=list(vpc["SecurityGroupIds"]),
            description=f"Created by SageMaker for cluster {cluster.arn}",
        )
    if "LifeCycleConfig" in group:
        log(request, cluster, f"LifecycleConfig/{node.group}/{node.instance_id}", _LIFECYCLE_LINES)


def log(request: Request, cluster: Cluster, stream: str, lines: Iterable[str]) -> None:
    """Write lines into a stream of a cluster's log group."""
    backend = logs_backends[request.account][request.region]
    backend.ensure_log_group(cluster.log_group)
    streams = backend.groups[cluster.log_group].streams
    if stream not in streams:
        backend.create_log_stream(cluster.log_group, stream)
    now = int(unix_time_millis())
    streams[stream].put_log_events([{"timestamp": now, "message": line} for line in lines])


def terminate(request: Request, cluster: Cluster, nodes: list[Node]) -> None:
    """Let machines go."""
    for node in nodes:
        cluster.nodes.remove(node)
        if node.interface:
            ec2_backends[request.account][request.region].delete_network_interface(node.interface.id)
            node.interface.subnet.del_subnet_ip(node.interface.private_ip_address)


def vpc_of_node(account: str, region: str, instance_id: str) -> str:
    """Return the VPC in which a machine of a cluster stands; nothing when no cluster has it, or it stands in none."""
    nodes = (node for cluster in clusters_of(account, region) for node in cluster.nodes)
    found = next((node.interface for node in nodes if node.instance_id == instance_id), None)
    return str(found.subnet.vpc_id) if found else ""


def fail(instance_id: str, message: str) -> None:
    """Have a machine fail.

    Raises:
        ValueError: No cluster has it.
    """
    for cluster in every_cluster():
        node = find_node(cluster, instance_id)
        if node is not None:
            node.status, node.message = "Failure", message
            text = f"Instance {instance_id} is unhealthy"
            cluster.events.append(_failure(text, message, group=node.group, instance_id=instance_id))
            return
    raise ValueError(f"no cluster has the instance {instance_id}")


# ---------------------------------------------------------------- are listed
def list_cluster_nodes(request: Request) -> dict[str, Any]:
    """Return a line for every machine of a cluster, in pages; for those that have not come, when it is asked for."""
    cluster = find(request, request["ClusterName"])
    launch(request, cluster)
    wanted, everyone = request.get("InstanceGroupNameContains", ""), request.get("IncludeNodeLogicalIds", False)
    nodes = [node for node in cluster.nodes if wanted in node.group and (everyone or node.instance_id)]
    start, size = int(request.get("NextToken", 0)), request.get("MaxResults", 100)
    page = nodes[start : start + size]
    more = {"NextToken": str(start + size)} if start + size < len(nodes) else {}
    logical = [{"NodeLogicalId": node.logical_id} if everyone else {} for node in page]
    rows = [{**described(request, node), **more} for node, more in zip(page, logical, strict=True)]
    return {"ClusterNodeSummaries": rows, **more}


def described(request: Request, node: Node) -> dict[str, Any]:
    """Return what a list says of a machine."""
    row: dict[str, Any] = {
        "InstanceGroupName": node.group,
        "InstanceId": node.instance_id,
        "InstanceType": node.instance_type,
        "LaunchTime": node.launched,
        "LastSoftwareUpdateTime": node.updated,
        "InstanceStatus": {"Status": node.status, "Message": node.message},
    }
    if node.interface:
        address = str(node.interface.private_ip_address).replace(".", "-")
        row["PrivateDnsHostname"] = f"ip-{address}.{request.region}.compute.internal"
    return row


def placement(node: Node) -> dict[str, Any]:
    """Return where a machine stands."""
    if node.interface is None:
        return {}
    subnet = node.interface.subnet
    zone = {"AvailabilityZone": subnet.availability_zone, "AvailabilityZoneId": subnet.availability_zone_id}
    return {"PrivatePrimaryIp": node.interface.private_ip_address, "Placement": zone}


def find_node(cluster: Cluster, identifier: str) -> Node | None:
    """Return a machine by its instance id or its logical id."""
    return next((node for node in cluster.nodes if identifier in {node.instance_id, node.logical_id}), None)
