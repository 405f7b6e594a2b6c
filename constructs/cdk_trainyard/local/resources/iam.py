"""IAM: roles, policies, instance profiles, users."""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType, Value
from cdk_trainyard.local.resources.steps import Api, answer, given, identity, is_missing, tagger

IAM = Api("iam")
_HOLDERS = (("Roles", "role", "RoleName"), ("Users", "user", "UserName"), ("Groups", "group", "GroupName"))


def _holders(properties: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    return {(kind, key, name) for plural, kind, key in _HOLDERS for name in properties.get(plural) or []}


# ---------------------------------------------------------------- roles and users
def _inline(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {row["PolicyName"]: row["PolicyDocument"] for row in properties.get("Policies") or []}


class _Principal:
    """The steps that roles and users share: attached and inline policies.

    Args:
        kind: ``role`` or ``user``, as in the names of the operations.
        key: Parameter that names one.
    """

    def __init__(self, kind: str, key: str) -> None:
        self._kind = kind
        self._key = key

    def policies(self, it: Resource) -> None:
        """Attach and write the policies that the properties name, and no others of theirs."""
        it.pick("ManagedPolicyArns", "Policies")
        old, new = set(it.previous.get("ManagedPolicyArns") or []), set(it.properties.get("ManagedPolicyArns") or [])
        for verb, arns in (("detach", old - new), ("attach", new - old)):
            for policy in sorted(arns):
                it.call("iam", f"{verb}_{self._kind}_policy", {self._key: it.id, "PolicyArn": policy})
        for name in sorted(set(_inline(it.previous)) - set(_inline(it.properties))):
            it.call("iam", f"delete_{self._kind}_policy", {self._key: it.id, "PolicyName": name})
        for name, document in _inline(it.properties).items():
            policy = {"PolicyName": name, "PolicyDocument": document}
            it.call("iam", f"put_{self._kind}_policy", {self._key: it.id, **policy})

    def delete(self, it: Resource) -> None:
        """Delete the principal, with whatever policies it has by now."""
        try:
            self._strip(it)
            it.call("iam", f"delete_{self._kind}", {self._key: it.id})
        except ClientError as error:
            if not is_missing(error):
                raise

    def _strip(self, it: Resource) -> None:
        mine = {self._key: it.id}
        for policy in it.call("iam", f"list_attached_{self._kind}_policies", mine)["AttachedPolicies"]:
            it.call("iam", f"detach_{self._kind}_policy", {**mine, "PolicyArn": policy["PolicyArn"]})
        for name in it.call("iam", f"list_{self._kind}_policies", mine)["PolicyNames"]:
            it.call("iam", f"delete_{self._kind}_policy", {**mine, "PolicyName": name})


_ROLE = _Principal("role", "RoleName")
_USER = _Principal("user", "UserName")


def _change_role(it: Resource) -> None:
    if it.changed("AssumeRolePolicyDocument"):
        policy = {"RoleName": it.id, "PolicyDocument": it["AssumeRolePolicyDocument"]}
        it.call("iam", "update_assume_role_policy", policy)
    if it.changed("Description") or it.changed("MaxSessionDuration"):
        it.call("iam", "update_role", {"RoleName": it.id, **it.pick("Description", "MaxSessionDuration")})
    if it.changed("PermissionsBoundary"):
        _change_boundary(it)
    _ROLE.policies(it)


def _change_boundary(it: Resource) -> None:
    if "PermissionsBoundary" in it:
        boundary = {"RoleName": it.id, "PermissionsBoundary": it["PermissionsBoundary"]}
        it.call("iam", "put_role_permissions_boundary", boundary)
    else:
        it.call("iam", "delete_role_permissions_boundary", {"RoleName": it.id})


# ---------------------------------------------------------------- policies
def _put_inline(it: Resource) -> None:
    """Write an inline policy to its holders; take it from those that no longer hold it."""
    name = it["PolicyName"]
    old_name = it.previous.get("PolicyName", name)
    it.pick("Roles", "Users", "Groups")
    wanted = _holders(it.properties)
    kept = wanted if old_name == name else set()
    for kind, key, holder in sorted(_holders(it.previous) - kept):
        it.call("iam", f"delete_{kind}_policy", {key: holder, "PolicyName": old_name})
    document = it["PolicyDocument"]
    for kind, key, holder in sorted(wanted):
        it.call("iam", f"put_{kind}_policy", {key: holder, "PolicyName": name, "PolicyDocument": document})


def _delete_inline(it: Resource) -> None:
    for kind, key, holder in sorted(_holders(it.properties)):
        IAM.forget(f"delete_{kind}_policy", _policy_of(key, holder, it["PolicyName"]))(it)


def _policy_of(key: str, holder: str, name: str) -> Value:
    return lambda _: {key: holder, "PolicyName": name}


def _attach_managed(it: Resource) -> None:
    it.pick("Roles", "Users", "Groups")
    old, new = _holders(it.previous), _holders(it.properties)
    for kind, key, holder in sorted(old - new):  # a roll-back lets go of a holder that never was
        IAM.forget(f"detach_{kind}_policy", _attached_to(key, holder))(it)
    for kind, key, holder in sorted(new - old):
        it.call("iam", f"attach_{kind}_policy", {key: holder, "PolicyArn": it.id})


def _change_managed(it: Resource) -> None:
    if it.changed("PolicyDocument"):
        it.call(
            "iam",
            "create_policy_version",
            {"PolicyArn": it.id, "PolicyDocument": it["PolicyDocument"], "SetAsDefault": True},
        )
        for version in _old_versions(it):
            it.call("iam", "delete_policy_version", {"PolicyArn": it.id, "VersionId": version})
    _attach_managed(it)


def _old_versions(it: Resource) -> Iterator[str]:
    for row in it.call("iam", "list_policy_versions", {"PolicyArn": it.id})["Versions"]:
        if not row["IsDefaultVersion"]:
            yield row["VersionId"]


def _delete_managed(it: Resource) -> None:
    holders = _holders(it.properties)
    for kind, key, holder in sorted(holders):
        IAM.forget(f"detach_{kind}_policy", _attached_to(key, holder))(it)
    IAM.forget("delete_policy", lambda it: {"PolicyArn": it.id})(it)


def _attached_to(key: str, holder: str) -> Value:
    return lambda it: {key: holder, "PolicyArn": it.id}


# ---------------------------------------------------------------- instance profiles
def _profile_roles(it: Resource) -> None:
    old, new = set(it.previous.get("Roles") or []), set(it["Roles"])
    for verb, roles in (("remove_role_from", old - new), ("add_role_to", new - old)):
        for role in sorted(roles):
            it.call("iam", f"{verb}_instance_profile", {"InstanceProfileName": it.id, "RoleName": role})


def _delete_profile(it: Resource) -> None:
    for role in it["Roles"]:
        IAM.forget("remove_role_from_instance_profile", _in_profile(role))(it)
    IAM.forget("delete_instance_profile", lambda it: {"InstanceProfileName": it.id})(it)


def _in_profile(role: str) -> Value:
    return lambda it: {"InstanceProfileName": it.id, "RoleName": role}


_ROLE_TAGS = tagger("iam", "tag_role", "untag_role", lambda it: {"RoleName": it.id})

TYPES = (
    ResourceType(
        name="AWS::IAM::Role",
        create=IAM.apply("create_role"),
        identity=given("RoleName"),
        settle=_ROLE.policies,
        update=_change_role,
        retag=_ROLE_TAGS,
        delete=_ROLE.delete,
        read=IAM.read(
            "get_role",
            lambda it: {"RoleName": it.id},
            "Role.{AssumeRolePolicyDocument: AssumeRolePolicyDocument, Description: Description}",
        ),
        attributes={"Arn": answer("Role.Arn"), "RoleId": answer("Role.RoleId")},
        named=Name(property="RoleName", limit=64),
    ),
    ResourceType(
        name="AWS::IAM::User",
        create=IAM.apply("create_user"),
        identity=given("UserName"),
        settle=_USER.policies,
        update=_USER.policies,
        delete=_USER.delete,
        read=IAM.read("get_user", lambda it: {"UserName": it.id}),
        attributes={"Arn": answer("User.Arn")},
        named=Name(property="UserName", limit=64),
    ),
    ResourceType(
        name="AWS::IAM::Policy",
        create=_put_inline,
        identity=given("PolicyName"),
        update=_put_inline,
        delete=_delete_inline,
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::IAM::ManagedPolicy",
        create=IAM.apply("create_policy", lambda it: {"PolicyName": it["ManagedPolicyName"]}),
        identity=answer("Policy.Arn"),
        settle=_attach_managed,
        update=_change_managed,
        delete=_delete_managed,
        read=IAM.read("get_policy", lambda it: {"PolicyArn": it.id}),
        attributes={"PolicyArn": identity, "PolicyId": answer("Policy.PolicyId")},
        named=Name(property="ManagedPolicyName", limit=128),
    ),
    ResourceType(
        name="AWS::IAM::InstanceProfile",
        create=IAM.apply("create_instance_profile"),
        identity=given("InstanceProfileName"),
        settle=_profile_roles,
        update=_profile_roles,
        delete=_delete_profile,
        read=IAM.read("get_instance_profile", lambda it: {"InstanceProfileName": it.id}),
        attributes={"Arn": answer("InstanceProfile.Arn")},
        named=Name(property="InstanceProfileName", limit=128),
    ),
    ResourceType(
        name="AWS::IAM::ServiceLinkedRole",
        create=IAM.apply("create_service_linked_role"),
        identity=answer("Role.RoleName"),
        delete=IAM.forget("delete_service_linked_role", lambda it: {"RoleName": it.id}),
        attributes={"RoleName": identity},
    ),
)
