"""Amazon Managed Grafana: workspaces."""

from typing import Any

from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, identity, pairs

GRAFANA = Api("grafana")
_RENAMED = {
    "Name": "workspaceName",
    "Description": "workspaceDescription",
    "RoleArn": "workspaceRoleArn",
    "DataSources": "workspaceDataSources",
    "NotificationDestinations": "workspaceNotificationDestinations",
    "OrganizationalUnits": "workspaceOrganizationalUnits",
}
"""Properties that the API calls otherwise."""


def _said(it: Resource) -> dict[str, Any]:
    said = {name: it.get(property_) for property_, name in _RENAMED.items() if it.get(property_) is not None}
    if access := it.get("NetworkAccessControl"):
        said["networkAccessControl"] = {"prefixListIds": [], "vpceIds": [], **_lowered(access)}
    return said


def _lowered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name[0].lower() + name[1:]: _lowered(inner) for name, inner in value.items()}
    return value


def _named(it: Resource) -> dict[str, Any]:
    return {"workspaceId": it.id}


def _settle(it: Resource) -> None:
    """Say how users sign in by SAML: the creation does not take it."""
    said = it.get("SamlConfiguration")
    providers = it.get("AuthenticationProviders")
    if said or providers != it.previous.get("AuthenticationProviders", providers):
        saml = {"samlConfiguration": _lowered(said)} if said else {}
        wanted = {**_named(it), "authenticationProviders": providers, **saml}
        it.call("grafana", "update_workspace_authentication", wanted)


def _update(it: Resource) -> None:
    gone = it.previous.get("NetworkAccessControl") and not it.get("NetworkAccessControl")
    removed = {"removeNetworkAccessConfiguration": True} if gone else {}
    GRAFANA.apply("update_workspace", lambda it: {**_named(it), **_said(it), **removed}, but=_OTHERWISE)(it)
    _settle(it)


_OTHERWISE = ("NetworkAccessControl", "Tags")


def _arn(it: Resource) -> str:
    return it.where.arn("grafana", f"/workspaces/{it.id}")


def _tags(it: Resource) -> None:
    new, old = pairs(it.get("Tags")), pairs(it.previous.get("Tags"))
    if gone := sorted(set(old) - set(new)):
        it.call("grafana", "untag_resource", {"resourceArn": _arn(it), "tagKeys": gone})
    if new:
        it.call("grafana", "tag_resource", {"resourceArn": _arn(it), "tags": new})


TYPES = (
    ResourceType(
        name="AWS::Grafana::Workspace",
        create=GRAFANA.apply(
            "create_workspace", lambda it: {**_said(it), "tags": pairs(it.get("Tags"))}, but=_OTHERWISE
        ),
        identity=answer("workspace.id"),
        settle=_settle,
        update=_update,
        retag=_tags,
        delete=GRAFANA.forget("delete_workspace", _named),
        read=GRAFANA.read("describe_workspace", _named, "workspace.{Name: name}"),
        attributes={
            "Id": identity,
            "Endpoint": answer("workspace.endpoint"),
            "GrafanaVersion": answer("workspace.grafanaVersion"),
            "Status": answer("workspace.status"),
            "CreationTimestamp": lambda it: str(answer("workspace.created")(it)),
            "ModificationTimestamp": lambda it: str(answer("workspace.modified")(it)),
        },
    ),
)
