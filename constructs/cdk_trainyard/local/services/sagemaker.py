"""SageMaker's HyperPod clusters, instead of moto's: every property is kept, updates work, nodes have addresses."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError
from moto.sagemaker.responses import SageMakerResponse

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.resources.steps import listed
from cdk_trainyard.local.services import network, sagemaker_batch, sagemaker_events, sagemaker_nodes
from cdk_trainyard.local.services.api import Operation, Request, install
from cdk_trainyard.local.services.constraints import check
from cdk_trainyard.local.services.sagemaker_nodes import (
    count,
    described,
    find_node,
    launch,
    placement,
    scale,
    terminate,
)
from cdk_trainyard.local.services.sagemaker_rules import failures, refusals
from cdk_trainyard.local.services.sagemaker_state import INVALID, Cluster, clusters, find, randomness

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


def _accept(request: Request, operation: str, parameters: Mapping[str, Any]) -> None:
    """Refuse what the API refuses at once."""
    check("sagemaker", operation, request.parameters)
    problems = refusals(parameters)
    if problems:
        raise ApiError(INVALID, " ".join(problems))
    for group in parameters.get("InstanceGroups") or []:
        _require_role(request, group["ExecutionRole"])
        _require_network(request, group.get("OverrideVpcConfig"))
    _require_network(request, parameters.get("VpcConfig"))


def _require_role(request: Request, role: str) -> None:
    try:
        client("iam", request.region).get_role(RoleName=role.rsplit("/", maxsplit=1)[-1])
    except ClientError as error:
        raise ApiError(INVALID, f"Could not assume the role {role}: it does not exist.") from error


def _require_network(request: Request, config: Mapping[str, Any] | None) -> None:
    if config is not None:
        network.subnets(request.region, config["Subnets"], INVALID)
        network.security_groups(request.region, config["SecurityGroupIds"], INVALID)


# ---------------------------------------------------------------- clusters
def create_cluster(request: Request) -> dict[str, Any]:
    """Create a cluster; it is InService at once, or Failed when its nodes would not come up."""
    name = request["ClusterName"]
    _accept(request, "CreateCluster", request.parameters)
    if name in clusters(request):
        raise ApiError("ResourceInUse", f"Resource in use: Cluster with name {name} already exists.")
    identifier = "".join(randomness.choices(_CLUSTER_ID_LETTERS, k=12))
    cluster = Cluster(
        arn=request.arn("sagemaker", f"cluster/{identifier}"),
        name=name,
        parameters=dict(request.parameters),
        created=datetime.now(UTC),
        tags={tag["Key"]: tag["Value"] for tag in request.get("Tags", [])},
    )
    clusters(request)[name] = cluster
    problems = failures(cluster.parameters, request.region)
    if problems:
        cluster.status, cluster.failure = "Failed", " ".join(problems)
    else:
        _fill(request, cluster)
    return {"ClusterArn": cluster.arn}


def update_cluster(request: Request) -> dict[str, Any]:
    """Change a cluster in place; groups that are not named stay, until they are named for deletion."""
    cluster = find(request, request["ClusterName"])
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
        _fill(request, cluster)
    return {"ClusterArn": cluster.arn}


def _fill(request: Request, cluster: Cluster) -> None:
    """Let machines come; a cluster whose groups come whole or not at all fails when one does not."""
    scale(request, cluster)
    missing = next((node for node in cluster.nodes if not node.instance_id), None)
    if missing and not cluster.is_continuous:
        cluster.status, cluster.failure = "Failed", f"Instance group {missing.group}: {missing.message}"


def delete_cluster(request: Request) -> dict[str, Any]:
    """Delete a cluster with its machines."""
    cluster = find(request, request["ClusterName"])
    terminate(request, cluster, list(cluster.nodes))
    del clusters(request)[cluster.name]
    return {"ClusterArn": cluster.arn}


def describe_cluster(request: Request) -> dict[str, Any]:
    """Return a cluster with all that was asked for."""
    cluster = find(request, request["ClusterName"])
    launch(request, cluster)
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


def _group(cluster: Cluster, group: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group as the API describes it: counts, and current and desired values, beside what was asked for."""
    present = count(cluster, group["InstanceGroupName"])
    row = {
        **group,
        "CurrentCount": present,
        "TargetCount": group["InstanceCount"],
        "TargetStateCount": group["InstanceCount"],
        "MinCount": group.get("MinInstanceCount"),
        "Status": cluster.status,
        "SoftwareUpdateStatus": cluster.software.get(group["InstanceGroupName"]),
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
        for cluster in clusters(request).values()
        if wanted in cluster.name
    ]
    return {"ClusterSummaries": rows}


def describe_cluster_node(request: Request) -> dict[str, Any]:
    """Return one machine of a cluster, with its address."""
    cluster = find(request, request["ClusterName"])
    wanted = request.get("NodeId") or request.get("NodeLogicalId")
    node = find_node(cluster, wanted)
    if node is None:
        raise ApiError("ResourceNotFound", f"Instance with id {wanted} could not be found in cluster {cluster.name}.")
    row = {**_group(cluster, cluster.groups[node.group]), **described(request, node), **placement(node)}
    return {"NodeDetails": {**row, "NodeLogicalId": node.logical_id}}


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
    tags = find(request, request["ResourceArn"]).tags
    tags.update({tag["Key"]: tag["Value"] for tag in request["Tags"]})
    return {"Tags": listed(tags)}


def delete_tags(request: Request) -> dict[str, Any]:
    """Remove tags from a cluster."""
    tags = find(request, request["ResourceArn"]).tags
    for key in request["TagKeys"]:
        tags.pop(key, None)
    return {}


def list_tags(request: Request) -> dict[str, Any]:
    """Return the tags of a cluster."""
    return {"Tags": listed(find(request, request["ResourceArn"]).tags)}


def extend() -> None:
    """Put these clusters in the place of moto's."""
    operations = (
        create_cluster,
        delete_cluster,
        describe_cluster,
        describe_cluster_node,
        list_clusters,
        update_cluster,
        sagemaker_batch.batch_delete_cluster_nodes,
        sagemaker_batch.batch_reboot_cluster_nodes,
        sagemaker_batch.batch_replace_cluster_nodes,
        sagemaker_batch.update_cluster_software,
        sagemaker_events.describe_cluster_event,
        sagemaker_events.describe_cluster_operation,
        sagemaker_events.list_cluster_events,
        sagemaker_events.list_cluster_operations,
        sagemaker_nodes.list_cluster_nodes,
    )
    install(SageMakerResponse, {operation.__name__: operation for operation in operations})
    for operation in (add_tags, delete_tags, list_tags):
        _with_clusters(operation.__name__, operation)
