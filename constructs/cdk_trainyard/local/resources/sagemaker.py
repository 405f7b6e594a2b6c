"""SageMaker: HyperPod clusters."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.errors import ResourceFailed
from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, tagger

SAGEMAKER = Api("sagemaker")
_GROUP_COUNTS = "InstanceGroups[].{InstanceGroupName: InstanceGroupName, InstanceCount: TargetCount}"


def _cluster(it: Resource) -> Any:
    return it.call("sagemaker", "describe_cluster", {"ClusterName": it.id})


def _until_in_service(it: Resource) -> Mapping[str, Any]:
    """Return the cluster, or fail as CloudFormation does when the cluster ends up in another state."""
    found = _cluster(it)
    if found["ClusterStatus"] != "InService":
        message = f"Cluster {found['ClusterName']} is in {found['ClusterStatus']} status: {found.get('FailureMessage')}"
        raise ResourceFailed(f'Resource handler returned message: "{message}" (HandlerErrorCode: NotStabilized)')
    return {"CreationTime": found["CreationTime"].isoformat()}


def _removed(it: Resource) -> dict[str, Any]:
    """Name the groups that the template no longer has: that is how the API deletes them."""
    old = {group["InstanceGroupName"] for group in it.previous.get("InstanceGroups") or []}
    new = {group["InstanceGroupName"] for group in it.get("InstanceGroups") or []}
    gone = sorted(old - new)
    return {"ClusterName": it.id, **({"InstanceGroupsToDelete": gone} if gone else {})}


def _update(it: Resource) -> Mapping[str, Any]:
    SAGEMAKER.apply("update_cluster", _removed, but=("ClusterName",))(it)
    return _until_in_service(it)


TYPES = (
    ResourceType(
        name="AWS::SageMaker::Cluster",
        create=SAGEMAKER.apply("create_cluster"),
        identity=answer("ClusterArn"),
        settle=_until_in_service,
        update=_update,
        retag=tagger("sagemaker", "add_tags", "delete_tags", lambda it: {"ResourceArn": it.id}),
        delete=SAGEMAKER.forget("delete_cluster", lambda it: {"ClusterName": it.id}),
        read=SAGEMAKER.read(
            "describe_cluster",
            lambda it: {"ClusterName": it.id},
            f"{{InstanceGroups: {_GROUP_COUNTS}, NodeRecovery: NodeRecovery}}",
        ),
        attributes={
            "ClusterArn": answer("ClusterArn"),
            "ClusterStatus": lambda it: _cluster(it)["ClusterStatus"],
            "CreationTime": answer("CreationTime"),
            "FailureMessage": lambda it: _cluster(it).get("FailureMessage", ""),
        },
        named=Name(property="ClusterName", limit=63),
    ),
)
