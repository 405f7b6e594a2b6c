"""What is done to several machines of a HyperPod cluster at once: each succeeds or fails for itself.

Members, bounds and error codes are botocore's model of SageMaker and its documentation; which code answers a controller
that is to be replaced is not published, and this project's choice.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request
from cdk_trainyard.local.services.constraints import check
from cdk_trainyard.local.services.sagemaker_nodes import find_node, launch, terminate
from cdk_trainyard.local.services.sagemaker_state import INVALID, RUNNING, Cluster, Event, Node, find

_ABLE = {RUNNING, "Failure"}
"""The states of a machine to which something can be done."""
Refusal = tuple[str, str]
"""A code and a message."""


def _batch(request: Request, operation: str, act: Callable[[Cluster, Node], Refusal | None]) -> dict[str, Any]:
    """Do something to machines, and answer with those that took it and those that did not."""
    check("sagemaker", operation, request.parameters)
    cluster = find(request, request["ClusterName"])
    ids, logical = request.get("NodeIds", []), request.get("NodeLogicalIds", [])
    if not ids and not logical:
        raise ApiError(INVALID, "Either NodeIds or NodeLogicalIds must be provided.")
    if logical and not cluster.is_continuous:
        raise ApiError(INVALID, "NodeLogicalIds are only supported for clusters with NodeProvisioningMode Continuous.")
    code = "Code" if operation == "BatchDeleteClusterNodes" else "ErrorCode"
    answer: dict[str, Any] = {}
    for names, key, good, bad in (
        (ids, "NodeId", "Successful", "Failed"),
        (logical, "NodeLogicalId", "SuccessfulNodeLogicalIds", "FailedNodeLogicalIds"),
    ):
        said = {name: _one(cluster, name, operation, act) for name in names}
        answer[good] = [name for name, refusal in said.items() if refusal is None] or None
        answer[bad] = [
            {key: name, code: refusal[0], "Message": refusal[1]} for name, refusal in said.items() if refusal
        ] or None
    return answer


def _one(cluster: Cluster, name: str, operation: str, act: Callable[[Cluster, Node], Refusal | None]) -> Refusal | None:
    deleted = operation == "BatchDeleteClusterNodes"
    node = find_node(cluster, name)
    if node is None:
        absent = f"Instance with id {name} could not be found in cluster {cluster.name}."
        return "NodeIdNotFound" if deleted else "InstanceIdNotFound", absent
    invalid = "InvalidNodeStatus" if deleted else "InvalidInstanceStatus"
    if node.status not in _ABLE:
        return invalid, f"Instance {name} is in status {node.status}."
    refusal = act(cluster, node)
    return (invalid, refusal[1]) if refusal else None


def _is_controller(cluster: Cluster, node: Node) -> bool:
    return bool(cluster.groups[node.group].get("SlurmConfig", {}).get("NodeType") == "Controller")


def _note(cluster: Cluster, node: Node, text: str) -> None:
    cluster.events.append(Event(text=text, group=node.group, instance_id=node.instance_id))


def batch_reboot_cluster_nodes(request: Request) -> dict[str, Any]:
    """Reboot machines: they are running again at once."""

    def reboot(cluster: Cluster, node: Node) -> None:
        node.status, node.message = RUNNING, ""
        _note(cluster, node, f"Instance {node.instance_id} was rebooted")

    return _batch(request, "BatchRebootClusterNodes", reboot)


def batch_replace_cluster_nodes(request: Request) -> dict[str, Any]:
    """Replace machines by others with the same address and logical id; no controller."""

    def replace(cluster: Cluster, node: Node) -> Refusal | None:
        if _is_controller(cluster, node):
            return "", f"Instance {node.instance_id} is a Slurm controller node and cannot be replaced."
        _note(cluster, node, f"Instance {node.instance_id} is replaced")
        node.instance_id, node.status, node.message = "", "Pending", ""
        return None

    answer = _batch(request, "BatchReplaceClusterNodes", replace)
    launch(request, find(request, request["ClusterName"]))
    return answer


def batch_delete_cluster_nodes(request: Request) -> dict[str, Any]:
    """Delete machines; their groups want fewer from then on."""

    def delete(cluster: Cluster, node: Node) -> Refusal | None:
        if _is_controller(cluster, node):
            return "", f"Instance {node.instance_id} is a Slurm controller node and cannot be deleted."
        _note(cluster, node, f"Instance {node.instance_id} was deleted")
        cluster.groups[node.group]["InstanceCount"] -= 1
        terminate(request, cluster, [node])
        return None

    return _batch(request, "BatchDeleteClusterNodes", delete)


def update_cluster_software(request: Request) -> dict[str, Any]:
    """Give the machines of groups, or of all, another image: done at once."""
    check("sagemaker", "UpdateClusterSoftware", request.parameters)
    cluster = find(request, request["ClusterName"])
    if cluster.status != "InService":
        raise ApiError("ConflictException", f"Cluster {cluster.name} is in status {cluster.status}.")
    named = [row["InstanceGroupName"] for row in request.get("InstanceGroups", [])] or list(cluster.groups)
    if unknown := [name for name in named if name not in cluster.groups]:
        raise ApiError(INVALID, f"Instance groups {', '.join(unknown)} do not exist in cluster {cluster.name}.")
    own = [name for name in named if str(cluster.groups[name].get("ImageId", "")).startswith("ami-")]
    if own and "ImageId" not in request.parameters:
        raise ApiError(INVALID, f"Instance groups {', '.join(own)} use a custom AMI: ImageId must be provided.")
    for name in named:
        cluster.software[name] = "Succeeded"
        if "ImageId" in request.parameters:
            cluster.groups[name]["ImageId"] = request["ImageId"]
        for node in cluster.nodes:
            if node.group == name:
                node.updated = datetime.now(UTC)
        cluster.events.append(Event(text=f"Software of instance group {name} was updated", group=name))
    return {"ClusterArn": cluster.arn}
