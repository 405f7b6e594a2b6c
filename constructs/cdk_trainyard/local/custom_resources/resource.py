"""The resource type behind ``Custom::…`` and ``AWS::CloudFormation::CustomResource``."""

from typing import Any
from uuid import uuid4

from cdk_trainyard.local.custom_resources.bucket_deployment import bucket_deployment
from cdk_trainyard.local.custom_resources.functions import ask, function_of
from cdk_trainyard.local.custom_resources.helpers import (
    auto_delete_images,
    auto_delete_objects,
    log_retention,
    restrict_default_security_group,
)
from cdk_trainyard.local.custom_resources.request import Answer, Helper, Kind, Request, stringified
from cdk_trainyard.local.custom_resources.sdk_call import sdk_call
from cdk_trainyard.local.errors import ResourceFailed
from cdk_trainyard.local.parallelcluster import requests as parallelcluster
from cdk_trainyard.local.parallelcluster.provider import is_provider
from cdk_trainyard.local.resources.model import Resource, ResourceType

_BUCKET_DEPLOYMENT = "Custom::CDKBucketDeployment"
_NODE_HELPERS: dict[str, Helper] = {
    "Custom::AWS": sdk_call,
    "Custom::ECRAutoDeleteImages": auto_delete_images,
    "Custom::LogRetention": log_retention,
    "Custom::S3AutoDeleteObjects": auto_delete_objects,
    "Custom::VpcRestrictDefaultSG": restrict_default_security_group,
}
_SDK_CALL_PROPERTY = "InstallLatestAwsSdk"
"""Only ``AwsCustomResource`` sets it, and users may call the resource type what they like."""
_TOKEN = "ServiceToken"  # noqa: S105  not a secret: the function's ARN


def _request(it: Resource, kind: Kind) -> Request:
    it.taken.update(it.properties)
    properties = stringified(it.properties)
    return Request(
        kind=kind,
        where=it.where,
        properties=properties,
        previous=stringified(it.previous),
        physical_id=it.id,
        function=function_of(it.where.region, str(properties.get(_TOKEN))),
    )


def _answer(it: Resource, request: Request) -> Answer:
    if is_provider(str(request.properties.get(_TOKEN))):
        return parallelcluster.answer(request)
    if it.where.type_name == _BUCKET_DEPLOYMENT:
        return bucket_deployment(request)
    helper = _NODE_HELPERS.get(it.where.type_name) or (sdk_call if _SDK_CALL_PROPERTY in it.properties else None)
    runs_here = request.function is not None and request.function.runtime.startswith("python")
    return helper(request) if helper and not runs_here else ask(request)  # a type says not what is behind it


def _create(it: Resource) -> dict[str, Any]:
    try:
        answer = _answer(it, _request(it, "Create"))
    except ResourceFailed as failure:
        it.id = failure.physical_id  # CloudFormation sends a Delete for it in the rollback
        raise
    made_up = f"{it.where.stack_name}-{it.where.logical_id}-{uuid4().hex[:12].upper()}"
    return {
        "PhysicalResourceId": answer.physical_id or made_up,
        "Data": dict(answer.data),
        _TOKEN: it.get(_TOKEN),
    }


def _update(it: Resource) -> dict[str, Any]:
    if it.get(_TOKEN) != it.result.get(_TOKEN):  # in a rollback it is what it was
        raise ResourceFailed("Modifying service token is not allowed.")
    answer = _answer(it, _request(it, "Update"))
    it.id = answer.physical_id or it.id
    return {"PhysicalResourceId": it.id, "Data": dict(answer.data)}


def _delete(it: Resource) -> None:
    _answer(it, _request(it, "Delete"))


CUSTOM = ResourceType(
    name="AWS::CloudFormation::CustomResource",
    create=_create,
    identity=lambda it: it.result["PhysicalResourceId"],
    update=_update,
    delete=_delete,
    attributes={"*": lambda it: it.result["Data"]},
)
