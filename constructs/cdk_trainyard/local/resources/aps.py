"""Amazon Managed Service for Prometheus: workspaces and their rules."""

from typing import Any

from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, identity, pairs

AMP = Api("amp")


def _id(it: Resource) -> str:
    return str(it.id).rpartition("/")[2]


def _endpoint(it: Resource) -> str:
    """The answer of the creation does not have it (botocore, CreateWorkspaceResponse)."""
    return str(it.call("amp", "describe_workspace", {"workspaceId": _id(it)})["workspace"]["prometheusEndpoint"])


def _workspace(it: Resource) -> dict[str, Any]:
    said = {"alias": it.get("Alias"), "kmsKeyArn": it.get("KmsKeyArn")}
    return {"tags": pairs(it.get("Tags")), **{name: value for name, value in said.items() if value}}


def _settle(it: Resource) -> None:
    named = {"workspaceId": _id(it)}
    if text := it.get("AlertManagerDefinition"):
        it.call("amp", "put_alert_manager_definition", {**named, "data": text.encode()})
    elif it.previous.get("AlertManagerDefinition"):
        it.call("amp", "delete_alert_manager_definition", named)
    if configuration := it.get("WorkspaceConfiguration"):
        said = {name[0].lower() + name[1:]: value for name, value in configuration.items()}
        it.call("amp", "update_workspace_configuration", {**named, **said})
    if logging := it.get("LoggingConfiguration"):
        parameters = {**named, "logGroupArn": logging["LogGroupArn"]}
        it.call("amp", "create_logging_configuration", parameters)


def _update(it: Resource) -> None:
    if it.changed("Alias"):
        it.call("amp", "update_workspace_alias", {"workspaceId": _id(it), "alias": it.get("Alias", "")})
    _settle(it)


def _tags(it: Resource) -> None:
    new, old = pairs(it.get("Tags")), pairs(it.previous.get("Tags"))
    if gone := sorted(set(old) - set(new)):
        it.call("amp", "untag_resource", {"resourceArn": it.id, "tagKeys": gone})
    if new:
        it.call("amp", "tag_resource", {"resourceArn": it.id, "tags": new})


def _rules(it: Resource) -> dict[str, Any]:
    return {"workspaceId": it["Workspace"].rpartition("/")[2], "name": it["Name"]}


TYPES = (
    ResourceType(
        name="AWS::APS::Workspace",
        create=AMP.call("create_workspace", _workspace),
        identity=answer("arn"),
        settle=_settle,
        update=_update,
        retag=_tags,
        delete=AMP.forget("delete_workspace", lambda it: {"workspaceId": _id(it)}),
        read=AMP.read("describe_workspace", lambda it: {"workspaceId": _id(it)}, "{Alias: workspace.alias}"),
        attributes={
            "Arn": identity,
            "WorkspaceId": _id,
            "PrometheusEndpoint": _endpoint,
        },
    ),
    ResourceType(
        name="AWS::APS::RuleGroupsNamespace",
        create=AMP.call(
            "create_rule_groups_namespace",
            lambda it: {**_rules(it), "data": it["Data"].encode(), "tags": pairs(it.get("Tags"))},
        ),
        identity=answer("arn"),
        update=AMP.call("put_rule_groups_namespace", lambda it: {**_rules(it), "data": it["Data"].encode()}),
        retag=_tags,
        delete=AMP.forget("delete_rule_groups_namespace", _rules),
        read=AMP.read("describe_rule_groups_namespace", _rules, "{Name: ruleGroupsNamespace.name}"),
        attributes={"Arn": identity},
    ),
)
