"""Lambda: functions, layers, permissions, versions, aliases, event source mappings."""

import io
import re
import zipfile
from importlib.resources import files
from typing import Any
from uuid import uuid4

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, arn, given, identity, tagger

LAMBDA = Api("lambda")
_CUSTOM_RESOURCES = "cdk_trainyard.local.custom_resources"
_ASKS_FOR_ANSWERS = re.compile(r"^[ \t]*import cfnresponse[ \t]*(#.*)?$", re.MULTILINE)
"""CloudFormation adds its module for this exact statement only (CloudFormation User Guide, "cfn-response module")."""
_NOT_OF_A_MAPPING = (
    "AmazonManagedKafkaEventSourceConfig",
    "LoggingConfig",
    "SelfManagedKafkaEventSourceConfig",
    "Tags",
)
_MAPPING = arn("lambda", "event-source-mapping:{}")
_NOT_CONFIGURATION = ("Tags", "Code", "Architectures", "PackageType", "FunctionName")


def _archive(it: Resource) -> dict[str, Any]:
    """Return where the code is; code in the template becomes an archive, with the module for answers if it asks."""
    code = dict(it["Code"])
    if "ZipFile" not in code:
        return code
    extension = "js" if str(it.get("Runtime", "")).startswith("nodejs") else "py"
    content = {f"index.{extension}": code["ZipFile"]}
    if extension == "py" and _ASKS_FOR_ANSWERS.search(code["ZipFile"]):
        content["cfnresponse.py"] = files(_CUSTOM_RESOURCES).joinpath("cfnresponse.py").read_text(encoding="utf-8")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in content.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return {"ZipFile": packed.getvalue()}


def _function(it: Resource) -> dict[str, Any]:
    return {"Code": _archive(it)}


def _reserve(it: Resource) -> None:
    if "ReservedConcurrentExecutions" in it:
        it.call(
            "lambda", "put_function_concurrency", {"FunctionName": it.id, **it.pick("ReservedConcurrentExecutions")}
        )


def _update(it: Resource) -> None:
    if it.changed("Code") or it.changed("Architectures"):
        code = {"FunctionName": it.id, **_archive(it), **it.pick("Architectures")}
        it.call("lambda", "update_function_code", code)
    LAMBDA.apply("update_function_configuration", lambda it: {"FunctionName": it.id}, but=_NOT_CONFIGURATION)(it)
    if it.changed("ReservedConcurrentExecutions"):
        _reserve(it)


def _permission(it: Resource) -> dict[str, Any]:
    statement = f"{it.where.stack_name}-{it.where.logical_id}-{uuid4().hex[:12]}"[:100]
    LAMBDA.apply("add_permission", lambda _: {"StatementId": statement})(it)
    return {"Id": statement}


def _layer_version(it: Resource) -> dict[str, Any]:
    name, number = it.id.split(":")[-2:]
    return {"LayerName": name, "VersionNumber": number}


TYPES = (
    ResourceType(
        name="AWS::Lambda::Function",
        create=LAMBDA.apply("create_function", _function, but=("Code",)),
        identity=given("FunctionName"),
        settle=_reserve,
        update=_update,
        retag=tagger("lambda", "tag_resource", "untag_resource", lambda it: {"Resource": answer("FunctionArn")(it)}),
        delete=LAMBDA.forget("delete_function", lambda it: {"FunctionName": it.id}),
        read=LAMBDA.read(
            "get_function_configuration", lambda it: {"FunctionName": it.id}, "{Handler: Handler, Runtime: Runtime}"
        ),
        attributes={"Arn": answer("FunctionArn")},
        named=Name(property="FunctionName", limit=64),
    ),
    ResourceType(
        name="AWS::Lambda::LayerVersion",
        create=LAMBDA.apply("publish_layer_version"),
        identity=answer("LayerVersionArn"),
        delete=LAMBDA.forget("delete_layer_version", _layer_version),
        attributes={"LayerVersionArn": identity},
        named=Name(property="LayerName", limit=64),
        revised=True,
    ),
    ResourceType(
        name="AWS::Lambda::Permission",
        create=_permission,
        identity=answer("Id"),
        delete=LAMBDA.forget(
            "remove_permission", lambda it: {"FunctionName": it["FunctionName"], "StatementId": it.id}
        ),
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::Lambda::Version",
        create=LAMBDA.apply("publish_version"),
        identity=answer("FunctionArn"),
        delete=LAMBDA.forget("delete_function", lambda it: {"FunctionName": it.id}),
        attributes={"FunctionArn": identity, "Version": answer("Version")},
    ),
    ResourceType(
        name="AWS::Lambda::Alias",
        create=LAMBDA.apply("create_alias"),
        identity=answer("AliasArn"),
        update=LAMBDA.apply("update_alias"),
        delete=LAMBDA.forget("delete_alias", lambda it: it.pick("FunctionName", "Name")),
        attributes={"AliasArn": identity},
    ),
    ResourceType(
        name="AWS::Lambda::EventSourceMapping",
        create=LAMBDA.apply("create_event_source_mapping"),
        identity=answer("UUID"),
        update=LAMBDA.apply("update_event_source_mapping", lambda it: {"UUID": it.id}, but=_NOT_OF_A_MAPPING),
        retag=tagger("lambda", "tag_resource", "untag_resource", lambda it: {"Resource": _MAPPING(it)}),
        delete=LAMBDA.forget("delete_event_source_mapping", lambda it: {"UUID": it.id}),
        read=LAMBDA.read("get_event_source_mapping", lambda it: {"UUID": it.id}, "{BatchSize: BatchSize}"),
        attributes={"EventSourceMappingArn": _MAPPING, "Id": identity},
    ),
)
