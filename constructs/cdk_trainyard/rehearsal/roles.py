"""The roles of nodes: what the metadata service says of them, with credentials that the local AWS gives out."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.model import Node

RoleOf = Callable[[Node], Mapping[str, str]]
"""Returns what the metadata service says of a node's role, by path."""
_EXPIRATION = "2099-01-01T00:00:00Z"
_STAMP = "2026-01-01T00:00:00Z"


class InstanceRoles:
    """Roles by instance profile, as EC2 has them.

    Args:
        control_plane: The local AWS, which knows instances and profiles.
    """

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._known: dict[str, Mapping[str, str]] = {}

    def __call__(self, node: Node) -> Mapping[str, str]:
        """Return what the metadata service says of a node's role; nothing of an instance without a profile."""
        if node.instance_id not in self._known:
            self._known[node.instance_id] = self._look_up(node)
        return self._known[node.instance_id]

    def _look_up(self, node: Node) -> Mapping[str, str]:
        filters = [{"Name": "instance-id", "Values": [node.instance_id]}]
        found = self._control_plane.client("ec2").describe_iam_instance_profile_associations(Filters=filters)
        profiles = [row["IamInstanceProfile"]["Arn"] for row in found["IamInstanceProfileAssociations"]]
        if not profiles:
            return {}
        name = profiles[0].rpartition("/")[2]
        profile = self._control_plane.client("iam").get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
        info = {
            "Code": "Success",
            "LastUpdated": _STAMP,
            "InstanceProfileArn": profile["Arn"],
            "InstanceProfileId": profile["InstanceProfileId"],
        }
        credentials = role_credentials(self._control_plane, profile["Roles"][0]["Arn"], node)
        return {"iam/info": json.dumps(info), **credentials}


def role_credentials(control_plane: ControlPlane, role_arn: str, node: Node) -> Mapping[str, str]:
    """Return a role's credentials as the metadata service hands them out: of a session with the instance's id."""
    made = control_plane.credentials_of(role_arn, node.instance_id)
    return {f"iam/security-credentials/{role_arn.rpartition('/')[2]}": json.dumps(_document(made))}


def _document(credentials: Mapping[str, Any]) -> Mapping[str, str]:
    return {
        "Code": "Success",
        "LastUpdated": _STAMP,
        "Type": "AWS-HMAC",
        "AccessKeyId": credentials["AccessKeyId"],
        "SecretAccessKey": credentials["SecretAccessKey"],
        "Token": credentials["SessionToken"],
        "Expiration": _EXPIRATION,
    }
