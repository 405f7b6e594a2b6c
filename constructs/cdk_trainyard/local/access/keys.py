"""The condition keys of a call: what policies may ask of it beside action, resource and principal."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from moto.autoscaling.models import autoscaling_backends
from moto.ec2.models import ec2_backends
from moto.rds.models import rds_backends
from moto.secretsmanager.models import secretsmanager_backends

from cdk_trainyard.local.access.actions import has_key
from cdk_trainyard.local.access.call import Call
from cdk_trainyard.policy.context import Values

_TLS = "1.3"  # what SDKs agree on with AWS; here they speak HTTP on the loopback


def keys_of(call: Call, resource: str) -> dict[str, Values]:
    """Return the condition keys of ``call`` as far as ``resource`` is concerned.

    Source: IAM User Guide, "AWS global condition context keys"; Service Authorization Reference, condition keys.
    """
    now = datetime.now(UTC)
    keys: dict[str, Values] = {
        "aws:CurrentTime": now.isoformat(timespec="seconds"),
        "aws:EpochTime": str(int(now.timestamp())),
        "aws:RequestedRegion": call.region,
        "aws:ResourceAccount": call.account,
        "aws:SecureTransport": "true",
        "aws:ViaAWSService": "false",
    }
    service = resource.split(":")[2] if resource.startswith("arn:") else call.service
    for name, value in _tags_of(call, resource).items():
        keys |= {f"aws:ResourceTag/{name}": value, f"{service}:ResourceTag/{name}": value}
    requested = _requested_tags(call)
    if requested:
        keys |= {f"aws:RequestTag/{name}": value for name, value in requested.items()}
        keys["aws:TagKeys"] = list(requested)
    return keys | dict(_OF_SERVICES.get(call.service, _nothing)(call, resource))


Found = Iterator[tuple[str, Values]]


def _nothing(_call: Call, _resource: str) -> Found:
    yield from ()


def _said(call: Call, parameters: Mapping[str, str]) -> Found:
    """Yield the keys whose values are parameters, as far as those are given."""
    for parameter, key in parameters.items():
        value = call.get(parameter)
        if value is not None:
            yield key, str(value).lower() if isinstance(value, bool) else str(value)


def _of_s3(call: Call, _resource: str) -> Found:
    yield "s3:TlsVersion", _TLS
    yield "s3:ResourceAccount", call.account
    yield from _said(
        call,
        {
            "ACL": "s3:x-amz-acl",
            "Delimiter": "s3:delimiter",
            "MaxKeys": "s3:max-keys",
            "Prefix": "s3:prefix",
            "SSEKMSKeyId": "s3:x-amz-server-side-encryption-aws-kms-key-id",
            "ServerSideEncryption": "s3:x-amz-server-side-encryption",
            "StorageClass": "s3:x-amz-storage-class",
            "VersionId": "s3:VersionId",
        },
    )


def _of_secrets(call: Call, _resource: str) -> Found:
    yield from _said(call, {"SecretId": "secretsmanager:SecretId", "VersionId": "secretsmanager:VersionId"})
    yield "secretsmanager:VersionStage", str(call.get("VersionStage") or "AWSCURRENT")


def _of_ec2(call: Call, resource: str) -> Found:
    yield "ec2:Region", call.region
    kind, _, name = resource.rpartition(":")[2].partition("/")
    backend = ec2_backends[call.account][call.region]
    if kind == "network-interface" and name in backend.enis:
        form = f"arn:{call.partition}:ec2:{call.region}:{call.account}"
        subnet = backend.enis[name].subnet
        yield "ec2:Subnet", f"{form}:subnet/{subnet.id}"
        yield "ec2:Vpc", f"{form}:vpc/{subnet.vpc_id}"


def _of_ecs(call: Call, _resource: str) -> Found:
    cluster = call.get("cluster")
    if cluster and has_key(call.operation, "ecs:cluster"):
        arn = f"arn:{call.partition}:ecs:{call.region}:{call.account}:cluster/{cluster}"
        yield "ecs:cluster", cluster if cluster.startswith("arn:") else arn


def _of_rds(call: Call, resource: str) -> Found:
    for name, value in _tags_of(call, resource).items():
        yield f"rds:{resource.split(':')[5]}-tag/{name}", value


_OF_SERVICES: Mapping[str, Callable[[Call, str], Found]] = {
    "cloudwatch": lambda call, _: _said(call, {"Namespace": "cloudwatch:namespace"}),
    "ec2": _of_ec2,
    "ecs": _of_ecs,
    "rds": _of_rds,
    "s3": _of_s3,
    "secretsmanager": _of_secrets,
    "sts": lambda call, _: _said(call, {"ExternalId": "sts:ExternalId", "RoleSessionName": "sts:RoleSessionName"}),
}
_SOMETIMES = (
    "aws:PrincipalOrg",  # the account is in no organization
    "aws:PrincipalTag/",
    "aws:RequestTag/",
    "aws:ResourceTag/",
    "aws:SourceAccount",  # of calls that a service makes for a resource: no session of a role makes such a call
    "aws:SourceArn",
    "aws:SourceVpc",
    "aws:TagKeys",
    "aws:username",
    "autoscaling:ResourceTag/",
    "cloudwatch:namespace",
    "ec2:ResourceTag/",
    "ec2:Subnet",
    "ec2:Vpc",
    "ecs:cluster",
    "kms:CallerAccount",
    "kms:EncryptionContext",
    "kms:GrantIsForAWSResource",
    "kms:ViaService",
    "rds:db-tag/",
    "s3:VersionId",
    "s3:delimiter",
    "s3:max-keys",
    "s3:prefix",
    "s3:x-amz-",
    "secretsmanager:ResourceTag/",
    "secretsmanager:VersionId",
    "sts:ExternalId",
)
"""How keys begin that a request may be without; every other one that a policy asks for must be known here."""


def may_be_absent(key: str) -> bool:
    """Whether a request without the key is one that AWS knows, and not one that is read too little of here."""
    return key.lower().startswith(tuple(start.lower() for start in _SOMETIMES))


def _requested_tags(call: Call) -> dict[str, str]:
    listed: Any = call.get("Tags") or call.get("tags") or []
    for specification in call.get("TagSpecifications") or []:
        listed = [*listed, *specification.get("Tags", [])]
    if isinstance(listed, Mapping):
        return {str(name): str(value) for name, value in listed.items()}
    pairs = [{key.lower(): value for key, value in tag.items()} for tag in listed]
    return {str(pair["key"]): str(pair.get("value", "")) for pair in pairs}


def _tags_of(call: Call, resource: str) -> dict[str, str]:
    """Return the tags that a resource has now."""
    parts = resource.split(":", 5)
    find = _TAGS.get(parts[2]) if resource.startswith("arn:") else None
    listed = find(call, parts[5]) if find else []
    return {str(tag.get("Key", tag.get("key"))): str(tag.get("Value", tag.get("value"))) for tag in listed}


def _ec2_tags(call: Call, name: str) -> list[Mapping[str, Any]]:
    filters = {"resource-id": [name.partition("/")[2]]}
    return list(ec2_backends[call.account][call.region].describe_tags(filters=filters))


def _group_tags(call: Call, name: str) -> list[Mapping[str, Any]]:
    groups = autoscaling_backends[call.account][call.region].autoscaling_groups
    group = groups.get(name.rpartition("/")[2])
    return list(group.tags) if group else []


def _database_tags(call: Call, name: str) -> list[Mapping[str, Any]]:
    kind, _, identifier = name.partition(":")
    databases = rds_backends[call.account][call.region].databases
    found = databases.get(identifier) if kind == "db" else None
    return list(found.get_tags()) if found else []


def _secret_tags(call: Call, name: str) -> list[Mapping[str, Any]]:
    secrets = secretsmanager_backends[call.account][call.region].secrets
    found = next((secret for secret in secrets.values() if secret.arn.endswith(name)), None)
    return list(getattr(found, "tags", None) or [])


_TAGS: Mapping[str, Callable[[Call, str], list[Mapping[str, Any]]]] = {
    "autoscaling": _group_tags,
    "ec2": _ec2_tags,
    "rds": _database_tags,
    "secretsmanager": _secret_tags,
}
