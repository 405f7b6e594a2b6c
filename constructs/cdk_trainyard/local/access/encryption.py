"""KMS keys that a service uses in the caller's name: of buckets, secrets, parameters, queues and topics."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.kms.models import kms_backends
from moto.s3.models import FakeBucket, FakeKey, s3_backends
from moto.secretsmanager.models import secretsmanager_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends
from moto.ssm.models import ssm_backends

from cdk_trainyard.local.access.call import Call

_DECRYPT, _GENERATE = "kms:Decrypt", "kms:GenerateDataKey"


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyUse:
    """One use of a key.

    Attributes:
        action: ``kms:Decrypt`` or ``kms:GenerateDataKey``.
        key: ARN of the key.
        because: What is encrypted with it.
        context: The encryption context.
    """

    action: str
    key: str
    because: str
    context: Mapping[str, str] = field(default_factory=dict)


def keys_used(call: Call) -> list[KeyUse]:
    """Return every use of a customer's key that a call leads to; keys of AWS's own ask nobody."""
    finder = _FINDERS.get(call.service)
    return list(finder(call)) if finder else []


def _customer_key(call: Call, name: Any) -> str:
    """Return the ARN of a key that exists here, by id, ARN or alias; nothing for AWS's own."""
    backend = kms_backends[call.account][call.region]
    found = (
        backend.keys.get(backend.get_key_id(backend.get_key_id_from_alias(str(name)) or str(name))) if name else None
    )
    return found.arn if found and not str(name).startswith("alias/aws/") else ""


def _of_objects(call: Call) -> Iterator[KeyUse]:
    """SSE-KMS. Source: Amazon S3 User Guide, "Using server-side encryption with AWS KMS keys", Permissions."""
    bucket = s3_backends[call.account][call.partition].buckets.get(call.get("Bucket") or "")
    key = bucket.keys.get(call.get("Key")) if bucket and call.get("Key") else None
    reads = call.operation == "GetObject" or (call.operation == "HeadObject" and call.get("ChecksumMode") == "ENABLED")
    if reads and isinstance(key, FakeKey):
        yield from _reading(call, key)
    if bucket and call.operation in _WRITES:
        yield from _writing(call, bucket)
    if call.operation in {"CopyObject", "UploadPartCopy"}:
        name, _, rest = str(call.get("CopySource")).lstrip("/").partition("/")
        source = s3_backends[call.account][call.partition].buckets.get(name)
        copied = source.keys.get(rest.partition("?")[0]) if source else None
        if isinstance(copied, FakeKey):
            yield from _reading(call, copied)


_WRITES: Mapping[str, tuple[str, ...]] = {
    "PutObject": (_GENERATE,),
    "CopyObject": (_GENERATE,),
    "CreateMultipartUpload": (_GENERATE,),
    "UploadPart": (_GENERATE, _DECRYPT),
    "UploadPartCopy": (_GENERATE, _DECRYPT),
    "CompleteMultipartUpload": (_DECRYPT,),
}


def _reading(call: Call, key: FakeKey) -> Iterator[KeyUse]:
    arn = _customer_key(call, key.kms_key_id) if str(key.encryption).startswith("aws:kms") else ""
    if arn:
        said = f"arn:{call.partition}:s3:::{key.bucket_name}" + ("" if key.bucket_key_enabled else f"/{key.name}")
        because = f"s3://{key.bucket_name}/{key.name} is encrypted with it"
        yield KeyUse(action=_DECRYPT, key=arn, because=because, context={"aws:s3:arn": said})


def _writing(call: Call, bucket: FakeBucket) -> Iterator[KeyUse]:
    rule = (bucket.encryption or {}).get("Rule", {})
    default = rule.get("ApplyServerSideEncryptionByDefault", {})
    method = call.get("ServerSideEncryption") or default.get("SSEAlgorithm", "")
    arn = _customer_key(call, call.get("SSEKMSKeyId") or default.get("KMSMasterKeyID"))
    if not arn or not method.startswith("aws:kms"):
        return
    by_bucket = str(call.get("BucketKeyEnabled") or rule.get("BucketKeyEnabled")).lower() == "true"
    said = f"arn:{call.partition}:s3:::{bucket.name}" + ("" if by_bucket else f"/{call.get('Key')}")
    for action in _WRITES[call.operation]:
        because = f"objects in s3://{bucket.name} are encrypted with it"
        yield KeyUse(action=action, key=arn, because=because, context={"aws:s3:arn": said})


def _of_secrets(call: Call) -> Iterator[KeyUse]:
    """Source: Secrets Manager User Guide, "Secret encryption and decryption", Permissions for the KMS key."""
    actions = {"GetSecretValue": (_DECRYPT,), "PutSecretValue": (_GENERATE, _DECRYPT)}.get(call.operation, ())
    backend = secretsmanager_backends[call.account][call.region]
    if actions and call.get("SecretId") in backend.secrets:
        secret = backend.secrets.get(call.get("SecretId"))
        arn = _customer_key(call, getattr(secret, "kms_key_id", None))
        for action in actions if secret and arn else ():
            because = f"the secret {call.get('SecretId')} is encrypted with it"
            yield KeyUse(
                action=action, key=arn, because=because, context={"SecretARN": str(getattr(secret, "arn", ""))}
            )


def _of_parameters(call: Call) -> Iterator[KeyUse]:
    """Source: KMS Developer Guide, "How AWS Systems Manager Parameter Store uses AWS KMS"."""
    names = call.get("Names") or [call.get("Name")]
    if call.operation not in {"GetParameter", "GetParameters"} or not call.get("WithDecryption"):
        return
    backend = ssm_backends[call.account][call.region]
    for parameter in backend.get_parameters([str(name) for name in names]).values():
        arn = _customer_key(call, parameter.keyid) if parameter.parameter_type == "SecureString" else ""
        if arn:
            because = f"the parameter {parameter.name} is encrypted with it"
            yield KeyUse(
                action=_DECRYPT,
                key=arn,
                because=because,
                context={"PARAMETER_ARN": _arn_of_parameter(call, parameter.name)},
            )


def _arn_of_parameter(call: Call, name: str) -> str:
    return f"arn:{call.partition}:ssm:{call.region}:{call.account}:parameter/{name.lstrip('/')}"


def _of_topics(call: Call) -> Iterator[KeyUse]:
    """Source: SNS Developer Guide, "Managing Amazon SNS encryption keys and costs": who publishes uses the key."""
    topic = sns_backends[call.account][call.region].topics.get(call.get("TopicArn") or "")
    arn = _customer_key(call, topic.kms_master_key_id) if topic and call.operation.startswith("Publish") else ""
    for action in (_GENERATE, _DECRYPT) if arn else ():
        yield KeyUse(action=action, key=arn, because="messages of the topic are encrypted with it")


def _of_queues(call: Call) -> Iterator[KeyUse]:
    """Source: SQS Developer Guide, "Key management", Configuring KMS permissions for producers and consumers."""
    actions = {"SendMessage": (_GENERATE, _DECRYPT), "ReceiveMessage": (_DECRYPT,)}
    name = str(call.get("QueueUrl") or "").rpartition("/")[2]
    queue = sqs_backends[call.account][call.region].queues.get(name)
    arn = _customer_key(call, getattr(queue, "kms_master_key_id", None)) if queue else ""
    for action in actions.get(call.operation.removesuffix("Batch"), ()) if arn else ():
        yield KeyUse(action=action, key=arn, because=f"messages of the queue {name} are encrypted with it")


_FINDERS: Mapping[str, Callable[[Call], Iterator[KeyUse]]] = {
    "s3": _of_objects,
    "secretsmanager": _of_secrets,
    "sns": _of_topics,
    "sqs": _of_queues,
    "ssm": _of_parameters,
}
