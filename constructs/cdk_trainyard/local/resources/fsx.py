"""FSx: file systems (Lustre and OpenZFS) and their links to S3."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, identity, tagger

FSX = Api("fsx")
_CHANGEABLE = ("StorageCapacity", "StorageType", "FileSystemTypeVersion", "LustreConfiguration", "OpenZFSConfiguration")


def _changes(it: Resource) -> dict[str, Any]:
    """Return what changed, and only that: the API refuses values that stay the same."""
    changed = {name: it[name] for name in _CHANGEABLE if it.changed(name) and name in it.properties}
    return {"FileSystemId": it.id, **{name: _difference(it.previous.get(name), new) for name, new in changed.items()}}


def _difference(old: Any, new: Any) -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {key: value for key, value in new.items() if old.get(key) != value}
    return new


TYPES = (
    ResourceType(
        name="AWS::FSx::FileSystem",
        create=FSX.apply("create_file_system"),
        identity=answer("FileSystem.FileSystemId"),
        update=FSX.call("update_file_system", _changes),
        retag=tagger(
            "fsx", "tag_resource", "untag_resource", lambda it: {"ResourceARN": answer("FileSystem.ResourceARN")(it)}
        ),
        delete=FSX.forget("delete_file_system", lambda it: {"FileSystemId": it.id}),
        read=FSX.read(
            "describe_file_systems",
            lambda it: {"FileSystemIds": [it.id]},
            "FileSystems[0].{StorageCapacity: StorageCapacity}",
        ),
        attributes={
            "DNSName": answer("FileSystem.DNSName"),
            "Id": identity,
            "LustreMountName": answer("FileSystem.LustreConfiguration.MountName"),
            "ResourceARN": answer("FileSystem.ResourceARN"),
            "RootVolumeId": answer("FileSystem.OpenZFSConfiguration.RootVolumeId"),
        },
        # the schema calls none of them create-only, the property pages of the user guide say Replacement
        replace_also=frozenset(
            {
                "StorageType",
                "LustreConfiguration/DeploymentType",
                "LustreConfiguration/DriveCacheType",
                "LustreConfiguration/EfaEnabled",
                "LustreConfiguration/ImportPath",
                "LustreConfiguration/ExportPath",
                "LustreConfiguration/ImportedFileChunkSize",
                "OpenZFSConfiguration/DeploymentType",
            }
        ),
    ),
    ResourceType(
        name="AWS::FSx::DataRepositoryAssociation",
        create=FSX.apply("create_data_repository_association"),
        identity=answer("Association.AssociationId"),
        update=FSX.call(
            "update_data_repository_association",
            lambda it: {"AssociationId": it.id, **it.pick("ImportedFileChunkSize", "S3")},
        ),
        retag=tagger(
            "fsx", "tag_resource", "untag_resource", lambda it: {"ResourceARN": answer("Association.ResourceARN")(it)}
        ),
        delete=FSX.forget(
            "delete_data_repository_association", lambda it: {"AssociationId": it.id, "DeleteDataInFileSystem": False}
        ),
        read=FSX.read(
            "describe_data_repository_associations",
            lambda it: {"AssociationIds": [it.id]},
            "Associations[0].{S3: S3}",
        ),
        attributes={"AssociationId": identity, "ResourceARN": answer("Association.ResourceARN")},
    ),
)
