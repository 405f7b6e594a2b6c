"""EFS: file systems, mount targets, access points."""

from typing import Any
from uuid import uuid4

from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, after, answer, identity, tagger

EFS = Api("efs")
_THROUGHPUT = ("ThroughputMode", "ProvisionedThroughputInMibps")


def _named(it: Resource) -> dict[str, Any]:
    return {"FileSystemId": it.id}


def _file_system(it: Resource) -> dict[str, Any]:
    return {"CreationToken": uuid4().hex, "Tags": it.get("FileSystemTags", [])}


def _access_point(it: Resource) -> dict[str, Any]:
    return {"ClientToken": it.get("ClientToken", uuid4().hex), "Tags": it.get("AccessPointTags", [])}


def _lifecycle(it: Resource) -> None:
    if it.changed("LifecyclePolicies"):
        policies = {"LifecyclePolicies": it.get("LifecyclePolicies", [])}
        it.call("efs", "put_lifecycle_configuration", {**_named(it), **policies})


def _backup(it: Resource) -> None:
    if it.changed("BackupPolicy"):
        policy = {"BackupPolicy": it.get("BackupPolicy", {"Status": "DISABLED"})}
        it.call("efs", "put_backup_policy", {**_named(it), **policy})


def _policy(it: Resource) -> None:
    if it.changed("FileSystemPolicy"):
        if it.get("FileSystemPolicy"):
            it.call("efs", "put_file_system_policy", {**_named(it), "Policy": it["FileSystemPolicy"]})
        else:
            it.call("efs", "delete_file_system_policy", _named(it))


def _update(it: Resource) -> None:
    if any(it.changed(name) for name in _THROUGHPUT):
        it.call("efs", "update_file_system", {**_named(it), **it.pick(*_THROUGHPUT)})
    _rest(it)


def _groups(it: Resource) -> dict[str, Any]:
    return {"MountTargetId": it.id, **it.pick("SecurityGroups")}


def _tagged(property_: str) -> Any:
    return tagger("efs", "tag_resource", "untag_resource", lambda it: {"ResourceId": it.id}, of=property_)


_rest = after(_lifecycle, _backup, _policy, _tagged("FileSystemTags"))

TYPES = (
    ResourceType(
        name="AWS::EFS::FileSystem",
        create=EFS.apply("create_file_system", _file_system),
        identity=answer("FileSystemId"),
        settle=_rest,
        update=_update,
        delete=EFS.forget("delete_file_system", _named),
        read=EFS.read(
            "describe_file_systems",
            _named,
            "FileSystems[0].{ThroughputMode: ThroughputMode, Encrypted: Encrypted}",
        ),
        attributes={"Arn": answer("FileSystemArn"), "FileSystemId": identity},
    ),
    ResourceType(
        name="AWS::EFS::MountTarget",
        create=EFS.apply("create_mount_target"),
        identity=answer("MountTargetId"),
        update=EFS.call("modify_mount_target_security_groups", _groups),
        delete=EFS.forget("delete_mount_target", lambda it: {"MountTargetId": it.id}),
        read=EFS.read(
            "describe_mount_targets", lambda it: {"MountTargetId": it.id}, "MountTargets[0].{SubnetId: SubnetId}"
        ),
        attributes={"Id": identity, "IpAddress": answer("IpAddress")},
    ),
    ResourceType(
        name="AWS::EFS::AccessPoint",
        create=EFS.apply("create_access_point", _access_point),
        identity=answer("AccessPointId"),
        update=_tagged("AccessPointTags"),
        delete=EFS.forget("delete_access_point", lambda it: {"AccessPointId": it.id}),
        read=EFS.read("describe_access_points", lambda it: {"AccessPointId": it.id}, "AccessPoints[0] && `{}`"),
        attributes={"AccessPointId": identity, "Arn": answer("AccessPointArn")},
    ),
)
