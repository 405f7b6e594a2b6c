"""What a call needs: each action of IAM with its resource and the condition keys that belong to them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from moto.s3.models import FakeBucket, s3_backends

from cdk_trainyard.local.access.actions import actions_of
from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.access.encryption import KeyUse, keys_used
from cdk_trainyard.local.access.keys import keys_of
from cdk_trainyard.local.access.resources import arn, resources_of
from cdk_trainyard.policy.context import Values


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """One permission that a call needs.

    Attributes:
        action: ``s3:GetObject``.
        resource: ARN, or ``*``.
        keys: Condition keys of the request, without those of the principal.
        because: Why, where the call does not say it itself.
    """

    action: str
    resource: str
    keys: Mapping[str, Values] = field(default_factory=dict)
    because: str = ""


def needs_of(call: Call) -> list[Need]:
    """Return every permission that a call needs.

    Raises:
        ApiError: No table knows the operation, or a type of resource of its action.
    """
    if call.service == "amp" and call.operation in {"QueryMetrics", "RemoteWrite"}:  # of no service model
        workspace = f"arn:{call.partition}:aps:{call.region}:{call.account}:workspace/{call.get('workspaceId')}"
        return [Need(action=f"aps:{call.operation}", resource=workspace)]
    own = _COPIES[call.operation](call) if call.service == "s3" and call.operation in _COPIES else _plain(call)
    return [*own, *_hidden_keys(call), *(_of_key(call, use) for use in keys_used(call))]


def _plain(call: Call) -> Iterator[Need]:
    actions = [*actions_of(call), *_also(call)]
    for action in actions:
        for resource in resources_of(call, action):
            yield Need(action=action, resource=resource, keys=keys_of(call, resource))


def _also(call: Call) -> list[str]:
    """Return what parameters of PutObject and CreateMultipartUpload need beside ``s3:PutObject``."""
    if call.service != "s3" or call.operation not in {"PutObject", "CreateMultipartUpload"}:
        return []
    wanted = {"Tagging": "s3:PutObjectTagging", "ACL": "s3:PutObjectAcl"}
    return [action for parameter, action in wanted.items() if call.get(parameter)]


def _copy(call: Call) -> Iterator[Need]:
    """A copy reads one object and writes another."""
    source, _, _ = unquote(str(call.get("CopySource"))).lstrip("/").partition("?versionId=")
    read = f"arn:{call.partition}:s3:::{source}"
    yield Need(action="s3:GetObject", resource=read, keys=keys_of(call, read))
    written = f"arn:{call.partition}:s3:::{call.get('Bucket')}/{call.get('Key')}"
    yield Need(action="s3:PutObject", resource=written, keys=keys_of(call, written))


_COPIES: Mapping[str, Callable[[Call], Iterator[Need]]] = {"CopyObject": _copy, "UploadPartCopy": _copy}
_ANSWERS_FOR_A_KEY = {"GetObject", "HeadObject", "GetObjectAttributes", "GetObjectTagging"}


def bucket_of(call: Call) -> FakeBucket | None:
    """Return the bucket that a call of S3 is about, if there is such a bucket."""
    name = call.get("Bucket")
    backend = s3_backends[call.account][call.partition]
    return backend.buckets.get(name) if name else None


def _hidden_keys(call: Call) -> Iterator[Need]:
    """S3 says that a key does not exist only to those who may list the bucket.

    Source: Amazon S3 API Reference, GetObject and HeadObject, Permissions: 404 with ``s3:ListBucket``, else 403.
    """
    if call.service == "s3" and call.operation in _ANSWERS_FOR_A_KEY:
        bucket = bucket_of(call)
        if bucket is not None and call.get("Key") not in bucket.keys:
            resource = f"arn:{call.partition}:s3:::{call.get('Bucket')}"
            because = f"there is no key {call.get('Key')}, which S3 says only to those who may list the bucket"
            yield Need(
                action="s3:ListBucket", resource=resource, keys=_without_parameters(call, resource), because=because
            )


def _without_parameters(call: Call, resource: str) -> Mapping[str, Any]:
    plain = Call(service=call.service, operation="HeadBucket", parameters={}, region=call.region)
    return keys_of(plain, resource)


def _of_key(call: Call, use: KeyUse) -> Need:
    domain = "amazonaws.com.cn" if call.partition == "aws-cn" else "amazonaws.com"
    keys = {
        **keys_of(Call(service="kms", operation="Decrypt", parameters={}, region=call.region), use.key),
        "kms:ViaService": f"{call.service}.{call.region}.{domain}",
        "kms:CallerAccount": call.account,
        **{f"kms:EncryptionContext:{name}": value for name, value in use.context.items()},
        **({"kms:EncryptionContextKeys": list(use.context)} if use.context else {}),
    }
    resource = use.key if use.key.startswith("arn:") else arn(call, "kms", "key", use.key)
    return Need(action=use.action, resource=resource, keys=keys, because=use.because)
