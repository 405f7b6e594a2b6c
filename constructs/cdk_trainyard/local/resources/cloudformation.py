"""CloudFormation's own types: nested stacks and wait-condition handles."""

from typing import Any

from cdk_trainyard.local.clients import endpoint
from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import answer, identity, nothing


def _deploy(it: Resource) -> dict[str, Any]:
    return it.where.host.deploy_nested(it)


def _outputs(it: Resource) -> Any:
    return it.result.get("Outputs", {})


def _handle(it: Resource) -> str:
    return f"{endpoint()}/wait-condition/{it.where.logical_id}"


TYPES = (
    ResourceType(
        name="AWS::CloudFormation::Stack",
        create=_deploy,
        identity=answer("StackId"),
        update=_deploy,
        delete=lambda it: it.where.host.delete_nested(it.id),
        attributes={"StackId": identity, "*": _outputs},
    ),
    ResourceType(
        name="AWS::CloudFormation::WaitConditionHandle",
        create=nothing,
        identity=_handle,
        delete=nothing,
        attributes={"Id": identity},
    ),
)
