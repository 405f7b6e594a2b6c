"""EFS's changes of file systems, which moto lacks."""

from typing import Any

from moto.efs.models import FileSystem, efs_backends
from moto.efs.responses import EFSResponse

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install, remember


def _known(request: Request) -> FileSystem:
    identifier = request["FileSystemId"]
    found = efs_backends[request.account][request.region].file_systems_by_id.get(identifier)
    if found is None:
        raise ApiError("FileSystemNotFound", f"File system '{identifier}' does not exist.")
    return found


def update_file_system(request: Request) -> dict[str, Any]:
    """Change the throughput."""
    found, mode = _known(request), request.get("ThroughputMode")
    throughput = request.get("ProvisionedThroughputInMibps") if mode in (None, "provisioned") else None
    remember(found, {"throughput_mode": mode or found.throughput_mode, "provisioned_throughput_in_mibps": throughput})
    return dict(found.info_json())


def put_backup_policy(request: Request) -> dict[str, Any]:
    """Switch automatic backups on or off."""
    status = request["BackupPolicy"]["Status"]
    remember(_known(request), {"_backup": status == "ENABLED"})
    return {"BackupPolicy": {"Status": status}}


def delete_file_system_policy(request: Request) -> dict[str, Any]:
    """Delete the policy."""
    _known(request).file_system_policy = None
    return {}


def extend() -> None:
    """Give moto's EFS what it lacks."""
    operations = (update_file_system, put_backup_policy, delete_file_system_policy)
    install(EFSResponse, {operation.__name__: operation for operation in operations})
