"""SageMaker's HyperPod clusters, instead of moto's: every property is kept, updates work, nodes have addresses."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError
from moto.ec2.models import ec2_backends
from moto.ec2.models.elastic_network_interfaces import NetworkInterface
from moto.sagemaker.responses import SageMakerResponse

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.resources.steps import listed
from cdk_trainyard.local.services import network
from cdk_trainyard.local.services.api import Operation, Request, install
from cdk_trainyard.local.services.constraints import check
from cdk_trainyard.local.services.sagemaker_rules import failures, refusals
from cdk_trainyard.local.state import Store

_INVALID = "ValidationException"
_CLUSTER_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_KEPT = (
    "VpcConfig",
    "Orchestrator",
    "TieredStorageConfig",
    "NodeRecovery",
    "NodeProvisioningMode",
    "ClusterRole",
    "RestrictedInstanceGroupsConfig",
)


@dataclass(kw_only=True, slots=True)
class _Node:
    """A machine of a cluster."""

    instance_id: str
    group: str
    instance_type: str
    launched: datetime
    interface: NetworkInterface | None


@dataclass(kw_only=True, slots=True)
class _Cluster:
    """A cluster: what was asked for, and its machines."""

    arn: str
    name: str
    parameters: dict[str, Any]
    created: datetime
    tags: dict[str, str]
    status: str = "InService"
    failure: str = ""
    nodes: list[_Node] = field(default_factory=list)


_CLUSTERS: Store[dict[str, _Cluster]] = Store(lambda _account, _region: {})
_random = random.Random()  # noqa: S311  ids, not secrets


def _clusters(request: Request) -> dict[str, _Cluster]:
    return _CLUSTERS.of(request.account, request.region)


def _find(request: Request, name_or_arn: str) -> _Cluster:
    for cluster in _clusters(request).values():
        if name_or_arn in (cluster.name, cluster.arn):
            return cluster
    raise ApiError("ResourceNotFound", f"Cluster with name {name_or_arn} could not be found.")


def _accept(request: Request, operation: str, parameters: Mapping[str, Any]) -> None:
    """Refuse what the API refuses at once."""
    check("sagemaker", operation, request.parameters)
    problems = refusals(parameters)
    if problems:
        raise ApiError(_INVALID, " ".join(problems))
    for group in parameters.get("InstanceGroups") or []:
        _require_role(request, group["ExecutionRole"])
        _require_network(request, group.get("OverrideVpcConfig"))
    _require_network(request, parameters.get("VpcConfig"))


def _require_role(request: Request, role: str) -> None:
    try:
        client("iam", request.region).get_role(RoleName=role.rsplit("/", maxsplit=1)[-1])
    except ClientError as error:
        raise ApiError(_INVALID, f"Could not assume the role {role}: it does not exist.") from error


def _require_network(request: Request, config: Mapping[str, Any] | None) -> None:
    if config is not None:
        network.subnets(request.region, config["Subnets"], _INVALID)
        network.security_groups(request.region, config["SecurityGroupIds"], _INVALID)


# ---------------------------------------------------------------- nodes
def _scale(request: Request, cluster: _Cluster) -> None:
    """Add and remove machines until every group has as many as it wants; the newest go first."""
    wanted = {group["InstanceGroupName"]: group for group in cluster.parameters.get("InstanceGroups") or []}
    for group in wanted.values():
        present = [node for node in cluster.nodes if node.group == group["InstanceGroupName"]]
        for _ in range(len(present), group["InstanceCount"]):
            cluster.nodes.append(_launch(request, cluster, group))
        _terminate(request, cluster, present[group["InstanceCount"] :])
    _terminate(request, cluster, [node for node in cluster.nodes if node.group not in wanted])


def _launch(request: Request, cluster: _Cluster, group: Mapping[str, Any]) -> _Node:
    vpc = group.get("OverrideVpcConfig") or cluster.parameters.get("VpcConfig")
    instance_id = f"i-{_random.getrandbits(68):017x}"
    interface = None
    if vpc:  # all groups stand in one subnet: the first of the list
        backend = ec2_backends[request.account][request.region]
        subnet = backend.get_subnet(vpc["Subnets"][0])
        interface = backend.create_network_interface(
            subnet,
            subnet.get_available_subnet_ip(None),  # type: ignore[arg-type]  # moto's own choice may be taken
            group_ids=list(vpc["SecurityGroupIds"]),
            description=f"Created by SageMaker for cluster {cluster.arn}",
        )
    return _Node(
        instance_id=instance_id,
        group=group["InstanceGroupName"],
        instance_type=group.get("InstanceType") or group["InstanceRequirements"]["InstanceTypes"][0],
        launched=datetime.now(UTC),
        interface=interface,
    )


def vpc_of_node(account: str, region: str, instance_id: str) -> str:
    """Return the VPC in which a machine of a cluster stands; nothing when no cluster has it, or it stands in none."""
    nodes = (node for cluster in _CLUSTERS.of(account, region).values() for node in cluster.nodes)
    found = next((node.interface for node in nodes if node.instance_id == instance_id), None)
    return str(found.subnet.vpc_id) if found else ""


def _terminate(request: Request, cluster: _Cluster, nodes: list[_Node]) -> None:
    for node in nodes:
        cluster.nodes.remove(node)
        if node.interface:
            ec2_backends[request.account][request.region].delete_network_interface(node.interface.id)
            node.interface.subnet.del_subnet_ip(node.interface.private_ip_address)


# ---------------------------------------------------------------- clusters
def create_cluster(request: Request) -> dict[str, Any]:
    """Create a cluster; it is InService at once, or Failed when its nodes would not come up."""
    name = request["ClusterName"]
    _accept(request, "CreateCluster", request.parameters)
    if name in _clusters(request):
        raise ApiError("ResourceInUse", f"Resource in use: Cluster with name {name} already exists.")
    identifier = "".join(_random.choices(_CLUSTER_ID_LETTERS, k=12))
    cluster = _Cluster(
        arn=request.arn("sagemaker", f"cluster/{identifier}"),
        name=name,
        parameters=dict(request.parameters),
        created=datetime.now(UTC),
        tags={tag["Key"]: tag["Value"] for tag in request.get("Tags", [])},
    )
    _clusters(request)[name] = cluster
    problems = failures(cluster.parameters, request.region)
    if problems:
        cluster.status, cluster.failure = "Failed", " ".join(problems)
    else:
        _scale(request, cluster)
    return {"ClusterArn": cluster.arn}


def update_cluster(request: Request) -> dict[str, Any]:
    """Change a cluster in place; groups that are not named stay, until they are named for deletion."""
    cluster = _find(request, request["ClusterName"])
    gone = set(request.get("InstanceGroupsToDelete", []))
    named = {group["InstanceGroupName"]: group for group in request.get("InstanceGroups", [])}
    kept = [
        named.pop(group["InstanceGroupName"], group)
        for group in cluster.parameters.get("InstanceGroups") or []
        if group["InstanceGroupName"] not in gone
    ]
    changes = {name: value for name, value in request.parameters.items() if name in _KEPT}
    target = {**cluster.parameters, **changes, "InstanceGroups": [*kept, *named.values()]}
    _accept(request, "UpdateCluster", target)
    problems = failures(target, request.region)
    if problems:
        cluster.status, cluster.failure = "Failed", " ".join(problems)
    else:
        cluster.parameters, cluster.status, cluster.failure = target, "InService", ""
        _scale(request, cluster)
    return {"ClusterArn": cluster.arn}


def delete_cluster(request: Request) -> dict[str, Any]:
    """Delete a cluster with its machines."""
    cluster = _find(request, request["ClusterName"])
    _terminate(request, cluster, list(cluster.nodes))
    del _clusters(request)[cluster.name]
    return {"ClusterArn": cluster.arn}


def describe_cluster(request: Request) -> dict[str, Any]:
    """Return a cluster with all that was asked for."""
    cluster = _find(request, request["ClusterName"])
    return {
        **{name: cluster.parameters[name] for name in _KEPT if name in cluster.parameters},
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ClusterStatus": cluster.status,
        "CreationTime": cluster.created,
        "FailureMessage": cluster.failure,
        "InstanceGroups": [_group(cluster, row) for row in cluster.parameters.get("InstanceGroups") or []],
        "RestrictedInstanceGroups": [
            _group(cluster, row) for row in cluster.parameters.get("RestrictedInstanceGroups") or []
        ],
    }


def _group(cluster: _Cluster, group: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group as the API describes it: counts, and current and desired values, beside what was asked for."""
    present = sum(node.group == group["InstanceGroupName"] for node in cluster.nodes)
    row = {
        **group,
        "CurrentCount": present,
        "TargetCount": group["InstanceCount"],
        "TargetStateCount": group["InstanceCount"],
        "MinCount": group.get("MinInstanceCount"),
        "Status": cluster.status,
    }
    for name in ("ImageId", "ImageReleaseVersion"):
        row |= dict.fromkeys((f"Current{name}", f"Desired{name}"), group.get(name))
    for name, parts in _CURRENT_AND_DESIRED.items():
        if name in group:
            row[name] = dict(_twice(group[name], parts))
    return row


_CURRENT_AND_DESIRED = {
    "AutoPatchConfig": ("PatchSchedule",),
    "InstanceRequirements": ("InstanceTypes",),
    "KubernetesConfig": ("Labels", "Taints"),
}


def _twice(values: Mapping[str, Any], parts: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name in parts:
            yield f"Current{name}", value
            yield f"Desired{name}", value
        else:
            yield name, value


def list_clusters(request: Request) -> dict[str, Any]:
    """Return a line for every cluster."""
    wanted = request.get("NameContains", "")
    rows = [
        {
            "ClusterArn": cluster.arn,
            "ClusterName": cluster.name,
            "CreationTime": cluster.created,
            "ClusterStatus": cluster.status,
        }
        for cluster in _clusters(request).values()
        if wanted in cluster.name
    ]
    return {"ClusterSummaries": rows}


def list_cluster_nodes(request: Request) -> dict[str, Any]:
    """Return a line for every machine of a cluster, in pages."""
    cluster = _find(request, request["ClusterName"])
    wanted = request.get("InstanceGroupNameContains", "")
    nodes = [node for node in cluster.nodes if wanted in node.group]
    start, size = int(request.get("NextToken", 0)), request.get("MaxResults", 100)
    page = nodes[start : start + size]
    more = {"NextToken": str(start + size)} if start + size < len(nodes) else {}
    return {"ClusterNodeSummaries": [_node(request, node) for node in page], **more}


def describe_cluster_node(request: Request) -> dict[str, Any]:
    """Return one machine of a cluster, with its address."""
    cluster = _find(request, request["ClusterName"])
    wanted = request.get("NodeId") or request.get("NodeLogicalId")
    for node in cluster.nodes:
        if node.instance_id == wanted:
            group = next(row for row in cluster.parameters["InstanceGroups"] if row["InstanceGroupName"] == node.group)
            return {"NodeDetails": {**_group(cluster, group), **_node(request, node), **_placement(node)}}
    raise ApiError("ResourceNotFound", f"Instance with id {wanted} could not be found in cluster {cluster.name}.")


def _node(request: Request, node: _Node) -> dict[str, Any]:
    row: dict[str, Any] = {
        "InstanceGroupName": node.group,
        "InstanceId": node.instance_id,
        "InstanceType": node.instance_type,
        "LaunchTime": node.launched,
        "InstanceStatus": {"Status": "Running", "Message": ""},
    }
    if node.interface:
        address = str(node.interface.private_ip_address).replace(".", "-")
        row["PrivateDnsHostname"] = f"ip-{address}.{request.region}.compute.internal"
    return row


def _placement(node: _Node) -> dict[str, Any]:
    if node.interface is None:
        return {}
    subnet = node.interface.subnet
    zone = {"AvailabilityZone": subnet.availability_zone, "AvailabilityZoneId": subnet.availability_zone_id}
    return {"PrivatePrimaryIp": node.interface.private_ip_address, "Placement": zone}


# ---------------------------------------------------------------- tags
def _with_clusters(name: str, own: Operation) -> None:
    """Let tag operations work on clusters, and leave the other resources to moto."""
    original = getattr(SageMakerResponse, name)
    install(SageMakerResponse, {name: own})
    ours = getattr(SageMakerResponse, name)

    def choose(self: SageMakerResponse) -> Any:
        return (ours if ":cluster/" in self._get_param("ResourceArn") else original)(self)

    setattr(SageMakerResponse, name, choose)


def add_tags(request: Request) -> dict[str, Any]:
    """Add tags to a cluster."""
    tags = _find(request, request["ResourceArn"]).tags
    tags.update({tag["Key"]: tag["Value"] for tag in request["Tags"]})
    return {"Tags": listed(tags)}


def delete_tags(request: Request) -> dict[str, Any]:
    """Remove tags from a cluster."""
    tags = _find(request, request["ResourceArn"]).tags
    for key in request["TagKeys"]:
        tags.pop(key, None)
    return {}


def list_tags(request: Request) -> dict[str, Any]:
    """Return the tags of a cluster."""
    return {"Tags": listed(_find(request, request["ResourceArn"]).tags)}


def extend() -> None:
    """Put these clusters in the place of moto's."""
    operations = (
        create_cluster,
        delete_cluster,
        describe_cluster,
        describe_cluster_node,
        list_cluster_nodes,
        list_clusters,
        update_cluster,
    )
    install(SageMakerResponse, {operation.__name__: operation for operation in operations})
    for operation in (add_tags, delete_tags, list_tags):
        _with_clusters(operation.__name__, operation)
