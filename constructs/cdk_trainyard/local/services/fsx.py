"""FSx file systems and data repository associations, instead of moto's: everything is kept, updates work."""

import random
import string
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError
from moto.fsx.responses import FSxResponse

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.partition import url_suffix
from cdk_trainyard.local.services import network
from cdk_trainyard.local.services.api import Request, install
from cdk_trainyard.local.services.constraints import check
from cdk_trainyard.local.services.fsx_rules import LIMITS, growth_refusals, network_refusals, refusals
from cdk_trainyard.local.state import Store

Row = dict[str, Any]
_FILE_SYSTEMS: Store[dict[str, Row]] = Store(lambda _account, _region: {})
_ASSOCIATIONS: Store[dict[str, Row]] = Store(lambda _account, _region: {})
_CONFIGURATIONS = ("LustreConfiguration", "OpenZFSConfiguration")
_NOT_SHOWN = ("ClientRequestToken", "SecurityGroupIds", "Tags")
_FIXED_MOUNT_NAME = ("SCRATCH_1", "fsx")
_random = random.Random()  # noqa: S311  ids, not secrets


def _id(prefix: str) -> str:
    return f"{prefix}-{_random.getrandbits(68):017x}"


def _of(request: Request) -> dict[str, Row]:
    return _FILE_SYSTEMS.of(request.account, request.region)


def _find(request: Request, identifier: str) -> Row:
    if identifier not in _of(request):
        raise ApiError("FileSystemNotFound", f"File system '{identifier}' does not exist.")
    return _of(request)[identifier]


def _refuse(problems: list[str], code: str = "BadRequest") -> None:
    if problems:
        raise ApiError(code, ". ".join(problems))


# ---------------------------------------------------------------- file systems
def create_file_system(request: Request) -> Row:
    """Create a file system; it is AVAILABLE at once."""
    check("fsx", "CreateFileSystem", request.parameters)
    _refuse(refusals(request.parameters))
    subnets = network.subnets(request.region, request["SubnetIds"], "InvalidNetworkSettings")
    groups = _security_groups(request, subnets[0]["VpcId"])
    _refuse(network_refusals(request.parameters, groups), "InvalidNetworkSettings")
    identifier = _id("fs")
    row = {
        **{name: value for name, value in request.parameters.items() if name not in _NOT_SHOWN},
        "StorageType": request.get("StorageType", "SSD"),
        "OwnerId": request.account,
        "CreationTime": datetime.now(UTC),
        "FileSystemId": identifier,
        "Lifecycle": "AVAILABLE",
        "VpcId": subnets[0]["VpcId"],
        "NetworkInterfaceIds": [_interface(request, identifier, subnet, groups) for subnet in subnets],
        "DNSName": f"{identifier}.fsx.{request.region}.{url_suffix(request.partition)}",
        "ResourceARN": request.arn("fsx", f"file-system/{identifier}"),
        "Tags": request.get("Tags", []),
        **_DETAILS[request["FileSystemType"]](request),
    }
    _of(request)[identifier] = row
    return {"FileSystem": row}


def _security_groups(request: Request, vpc: str) -> list[Row]:
    ids = request.get("SecurityGroupIds", [])
    if not ids:
        filters = [{"Name": "vpc-id", "Values": [vpc]}, {"Name": "group-name", "Values": ["default"]}]
        found: list[Row] = client("ec2", request.region).describe_security_groups(Filters=filters)["SecurityGroups"]
        return found
    return network.security_groups(request.region, ids, "InvalidNetworkSettings")


def _interface(request: Request, identifier: str, subnet: Row, groups: list[Row]) -> str:
    """Make one network interface per subnet; a real file system has one per file server."""
    made = client("ec2", request.region).create_network_interface(
        SubnetId=subnet["SubnetId"],
        Groups=[group["GroupId"] for group in groups],
        Description=f"Created by Amazon FSx for file system {identifier}",
    )
    found: str = made["NetworkInterface"]["NetworkInterfaceId"]
    return found


def _lustre(request: Request) -> Row:
    config = dict(request.get("LustreConfiguration", {}))
    deployment = config.setdefault("DeploymentType", "SCRATCH_1")
    random_name = "".join(_random.choices(string.ascii_lowercase + string.digits, k=8))
    config["MountName"] = _FIXED_MOUNT_NAME[1] if deployment == _FIXED_MOUNT_NAME[0] else random_name
    version = "2.12" if deployment == "PERSISTENT_2" else "2.10"
    return {"LustreConfiguration": config, "FileSystemTypeVersion": request.get("FileSystemTypeVersion", version)}


def _openzfs(request: Request) -> Row:
    config = {
        name: value for name, value in request["OpenZFSConfiguration"].items() if name != "RootVolumeConfiguration"
    }
    return {"OpenZFSConfiguration": {**config, "RootVolumeId": _id("fsvol")}}


_DETAILS = {"LUSTRE": _lustre, "OPENZFS": _openzfs}


def describe_file_systems(request: Request) -> Row:
    """Return file systems."""
    rows, wanted = _of(request), request.get("FileSystemIds", [])
    for identifier in wanted:
        _find(request, identifier)
    return {"FileSystems": [row for identifier, row in rows.items() if not wanted or identifier in wanted]}


def update_file_system(request: Request) -> Row:
    """Change a file system in place; it is AVAILABLE again at once."""
    check("fsx", "UpdateFileSystem", request.parameters)
    row = _find(request, request["FileSystemId"])
    changed = {name: value for name, value in request.parameters.items() if name not in _CONFIGURATIONS}
    changed |= {name: {**row.get(name, {}), **request[name]} for name in _CONFIGURATIONS if name in request.parameters}
    _refuse([*_backup_refusals(request), *growth_refusals(row, {**row, **changed})])
    row.update(changed)
    return {"FileSystem": row}


def _backup_refusals(request: Request) -> list[str]:
    """FSx refuses even 0 (aws-cloudformation/cloudformation-coverage-roadmap#1687, 2023-05-15)."""
    asked = "AutomaticBackupRetentionDays" in request.get("LustreConfiguration", {})
    if asked and _links(request):
        return ["Backups are not supported on file systems that are linked to a data repository"]
    return []


def delete_file_system(request: Request) -> Row:
    """Delete a file system with its network interfaces and associations."""
    row = _find(request, request["FileSystemId"])
    ec2 = client("ec2", request.region)
    for interface in row["NetworkInterfaceIds"]:
        ec2.delete_network_interface(NetworkInterfaceId=interface)
    associations = _ASSOCIATIONS.of(request.account, request.region)
    for identifier in [name for name, found in associations.items() if found["FileSystemId"] == row["FileSystemId"]]:
        del associations[identifier]
    del _of(request)[row["FileSystemId"]]
    return {"FileSystemId": row["FileSystemId"], "Lifecycle": "DELETING"}


# ---------------------------------------------------------------- data repository associations
def create_data_repository_association(request: Request) -> Row:
    """Link a path of a Lustre file system to a path of a bucket."""
    check("fsx", "CreateDataRepositoryAssociation", request.parameters)
    file_system = _find(request, request["FileSystemId"])
    associations = _ASSOCIATIONS.of(request.account, request.region)
    _refuse(_association_refusals(request, file_system, _links(request)))
    identifier = _id("dra")
    row = {
        **{name: value for name, value in request.parameters.items() if name != "ClientRequestToken"},
        "Lifecycle": "AVAILABLE",
        "AssociationId": identifier,
        "ResourceARN": request.arn("fsx", f"association/{request['FileSystemId']}/{identifier}"),
        "Tags": request.get("Tags", []),
        "CreationTime": datetime.now(UTC),
    }
    associations[identifier] = row
    return {"Association": row}


def _links(request: Request) -> list[Row]:
    associations = _ASSOCIATIONS.of(request.account, request.region).values()
    return [row for row in associations if row["FileSystemId"] == request["FileSystemId"]]


def _association_refusals(request: Request, file_system: Row, others: list[Row]) -> list[str]:
    problems = []
    deployment = file_system.get("LustreConfiguration", {}).get("DeploymentType", "SCRATCH_1")
    if file_system["FileSystemType"] != "LUSTRE" or deployment == "SCRATCH_1":
        problems.append("Data repository associations are supported for Lustre file systems other than SCRATCH_1")
    most = LIMITS["data_repository_associations"]
    if len(others) >= most:
        problems.append(f"A file system can have at most {most} data repository associations")
    problems += [
        f"{name} {request[name]} overlaps with that of another association"
        for name in ("FileSystemPath", "DataRepositoryPath")
        if any(_overlap(request[name], other[name]) for other in others)
    ]
    bucket = request["DataRepositoryPath"].removeprefix("s3://").split("/")[0]
    try:
        client("s3", request.region).head_bucket(Bucket=bucket)
    except ClientError:
        problems.append(f"The bucket {bucket} does not exist or cannot be accessed")
    return problems


def _overlap(left: str, right: str) -> bool:
    left, right = f"{left.rstrip('/')}/", f"{right.rstrip('/')}/"
    return left.startswith(right) or right.startswith(left)


def _find_association(request: Request, identifier: str) -> Row:
    rows = _ASSOCIATIONS.of(request.account, request.region)
    if identifier not in rows:
        raise ApiError(
            "DataRepositoryAssociationNotFound", f"Data repository association '{identifier}' does not exist."
        )
    return rows[identifier]


def describe_data_repository_associations(request: Request) -> Row:
    """Return associations."""
    rows = _ASSOCIATIONS.of(request.account, request.region)
    wanted = request.get("AssociationIds", [])
    for identifier in wanted:
        _find_association(request, identifier)
    filters = {row["Name"]: row["Values"] for row in request.get("Filters", [])}
    systems = filters.get("file-system-id")
    found = [row for identifier, row in rows.items() if not wanted or identifier in wanted]
    return {"Associations": [row for row in found if not systems or row["FileSystemId"] in systems]}


def update_data_repository_association(request: Request) -> Row:
    """Change what an association imports and exports."""
    row = _find_association(request, request["AssociationId"])
    row.update({name: request[name] for name in ("ImportedFileChunkSize", "S3") if name in request.parameters})
    return {"Association": row}


def delete_data_repository_association(request: Request) -> Row:
    """Delete an association."""
    row = _find_association(request, request["AssociationId"])
    del _ASSOCIATIONS.of(request.account, request.region)[row["AssociationId"]]
    return {"AssociationId": row["AssociationId"], "Lifecycle": "DELETING"}


# ---------------------------------------------------------------- tags
def _tagged(request: Request) -> Row:
    stores: tuple[Mapping[str, Row], ...] = (_of(request), _ASSOCIATIONS.of(request.account, request.region))
    for row in (row for store in stores for row in store.values()):
        if row["ResourceARN"] == request["ResourceARN"]:
            return row
    raise ApiError("ResourceNotFound", f"Resource '{request['ResourceARN']}' does not exist.")


def tag_resource(request: Request) -> Row:
    """Add tags."""
    row = _tagged(request)
    new = {tag["Key"] for tag in request["Tags"]}
    row["Tags"] = [*(tag for tag in row["Tags"] if tag["Key"] not in new), *request["Tags"]]
    return {}


def untag_resource(request: Request) -> Row:
    """Remove tags."""
    row = _tagged(request)
    row["Tags"] = [tag for tag in row["Tags"] if tag["Key"] not in request["TagKeys"]]
    return {}


def list_tags_for_resource(request: Request) -> Row:
    """Return tags."""
    return {"Tags": _tagged(request)["Tags"]}


def extend() -> None:
    """Put this FSx in the place of moto's."""
    operations = (
        create_data_repository_association,
        create_file_system,
        delete_data_repository_association,
        delete_file_system,
        describe_data_repository_associations,
        describe_file_systems,
        list_tags_for_resource,
        tag_resource,
        untag_resource,
        update_data_repository_association,
        update_file_system,
    )
    install(FSxResponse, {operation.__name__: operation for operation in operations})
