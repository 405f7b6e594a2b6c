"""KMS: keys and aliases."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, given, identity, pairs

KMS = Api("kms")


def _key(it: Resource) -> dict[str, Any]:
    policy = {"Policy": it["KeyPolicy"]} if "KeyPolicy" in it else {}
    return {**policy, "Tags": _tags(pairs(it.get("Tags")))}


def _tags(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"TagKey": key, "TagValue": value} for key, value in tags.items()]


def _settle(it: Resource) -> None:
    if it.flag("EnableKeyRotation"):
        it.call("kms", "enable_key_rotation", {"KeyId": it.id, **it.pick("RotationPeriodInDays")})
    if not it.flag("Enabled", default=True):
        it.call("kms", "disable_key", {"KeyId": it.id})
    it.get("PendingWindowInDays")


def _update(it: Resource) -> None:
    if it.changed("KeyPolicy") and "KeyPolicy" in it:
        it.call("kms", "put_key_policy", {"KeyId": it.id, "PolicyName": "default", "Policy": it["KeyPolicy"]})
    if it.changed("Description"):
        it.call("kms", "update_key_description", {"KeyId": it.id, "Description": it.get("Description", "")})
    if it.changed("EnableKeyRotation") or it.changed("RotationPeriodInDays"):
        verb = "enable" if it.flag("EnableKeyRotation") else "disable"
        more = it.pick("RotationPeriodInDays") if verb == "enable" else {}
        it.call("kms", f"{verb}_key_rotation", {"KeyId": it.id, **more})
    if it.changed("Enabled"):
        it.call("kms", "enable_key" if it.flag("Enabled", default=True) else "disable_key", {"KeyId": it.id})
    it.get("PendingWindowInDays")


def _retag(it: Resource) -> None:
    new, old = pairs(it.get("Tags")), pairs(it.previous.get("Tags"))
    it.call("kms", "tag_resource", {"KeyId": it.id, "Tags": _tags(new)})
    it.call("kms", "untag_resource", {"KeyId": it.id, "TagKeys": sorted(set(old) - set(new))})


TYPES = (
    ResourceType(
        name="AWS::KMS::Key",
        create=KMS.apply("create_key", _key, but=("Tags",)),
        identity=answer("KeyMetadata.KeyId"),
        settle=_settle,
        update=_update,
        retag=_retag,
        delete=KMS.forget("schedule_key_deletion", lambda it: {"KeyId": it.id, **it.pick("PendingWindowInDays")}),
        read=KMS.read(
            "describe_key",
            lambda it: {"KeyId": it.id},
            "KeyMetadata.{Description: Description}",
        ),
        attributes={"KeyId": identity, "Arn": answer("KeyMetadata.Arn")},
    ),
    ResourceType(
        name="AWS::KMS::Alias",
        create=KMS.apply("create_alias"),
        identity=given("AliasName"),
        update=KMS.apply("update_alias"),
        delete=KMS.forget("delete_alias", lambda it: {"AliasName": it.id}),
    ),
)
