"""The policies that apply to a session and a resource, as they are deployed now."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from moto.awslambda.models import lambda_backends
from moto.dynamodb.models import dynamodb_backends
from moto.ec2.models import ec2_backends
from moto.ecr.models import ecr_backends
from moto.events.models import events_backends
from moto.iam.models import ManagedPolicy, Role, User, iam_backends
from moto.kinesis.models import kinesis_backends
from moto.kms.models import kms_backends
from moto.s3.models import s3_backends
from moto.secretsmanager.models import secretsmanager_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends
from moto.sts.models import sts_backends

from cdk_trainyard.local.access.call import Call
from cdk_trainyard.policy import Policies, Policy, PolicyKind, parse_policy

_PARTS = 6


def policies_for(call: Call, role: Role, access_key_id: str, resource: str, endpoint: Policy | None) -> Policies:
    """Return every policy that applies to a call of a role's session.

    Raises:
        PolicyError: One of them says what the evaluator does not know.
    """
    return Policies(
        identity=identity_of(role),
        boundary=boundary_of(role, call.account, call.partition),
        session=_session(call, access_key_id),
        resource=resource_policies(call, resource),
        endpoint=endpoint,
    )


def identity_of(role: Role | User) -> tuple[Policy, ...]:
    """Return the policies of a role or a user, inline and managed."""
    inline = [_read(text, PolicyKind.IDENTITY, f"policy {name} of {role.arn}") for name, text in role.policies.items()]
    managed = [_read(_document(found), PolicyKind.IDENTITY, found.arn) for found in role.managed_policies.values()]
    return (*inline, *managed)


def _document(policy: ManagedPolicy) -> str:
    return next(version.document for version in policy.versions if version.is_default)


@lru_cache(maxsize=1024)
def _read(document: str, kind: PolicyKind, name: str) -> Policy:
    return parse_policy(document, kind=kind, name=name)


def boundary_of(role: Role | User, account: str, partition: str) -> Policy | None:
    """Return the permissions boundary of a role or a user; None: it has none."""
    arn = getattr(role, "permissions_boundary_arn", None)
    if not arn:
        return None
    found = iam_backends[account][partition].managed_policies[arn]
    return _read(_document(found), PolicyKind.IDENTITY, arn)


def _session(call: Call, access_key_id: str) -> tuple[Policy, ...]:
    roles = sts_backends[call.account][call.partition].assumed_roles
    given = next((assumed.policy for assumed in roles if assumed.access_key_id == access_key_id), "")
    return (_read(given, PolicyKind.IDENTITY, "the session's policy"),) if given else ()


def resource_policies(call: Call, resource: str) -> tuple[Policy, ...]:
    """Return the policy of a resource, if it has one."""
    parts = resource.split(":", _PARTS - 1)
    find = _OF_RESOURCES.get(parts[2]) if len(parts) == _PARTS else None
    document = find(call, parts[5]) if find else None
    if not document:
        return ()
    kind = PolicyKind.TRUST if parts[2] == "iam" else PolicyKind.RESOURCE
    return (_read(document, kind, f"policy of {resource.partition('/')[0] if parts[2] == 's3' else resource}"),)


def _bucket(call: Call, name: str) -> str | None:
    bucket = s3_backends[call.account][call.partition].buckets.get(name.partition("/")[0])
    return bucket.policy.decode() if bucket and bucket.policy else None


def _key(call: Call, name: str) -> str | None:
    key = kms_backends[call.account][call.region].keys.get(name.removeprefix("key/"))
    return key.policy if key else None


def _secret(call: Call, name: str) -> str | None:
    secrets = secretsmanager_backends[call.account][call.region].secrets
    found = next((secret for secret in secrets.values() if secret.arn.endswith(f":{name}")), None)
    return getattr(found, "policy", None)


def _queue(call: Call, name: str) -> str | None:
    policy = getattr(sqs_backends[call.account][call.region].queues.get(name), "policy", None)
    return str(policy) if policy else None


def _topic(call: Call, name: str) -> str | None:
    topics = sns_backends[call.account][call.region].topics
    found = next((topic for arn, topic in topics.items() if arn.endswith(f":{name}")), None)
    return found.policy if found else None


def _repository(call: Call, name: str) -> str | None:
    return getattr(
        ecr_backends[call.account][call.region].repositories.get(name.removeprefix("repository/")), "policy", None
    )


def _function(call: Call, name: str) -> str | None:
    backend = lambda_backends[call.account][call.region]
    found: Any = next(
        (function for function in backend.list_functions() if function.function_name == name.split(":")[1]), None
    )
    return str(found.policy.wire_format()) if found and found.policy.statements else None


def _trust(call: Call, name: str) -> str | None:
    roles = iam_backends[call.account][call.partition].get_roles()
    found = next((role for role in roles if role.arn.endswith(f":{name}")), None)
    return str(found.assume_role_policy_document) if found else None


def _table(call: Call, name: str) -> str | None:
    policies = dynamodb_backends[call.account][call.region].resource_policies
    found = next((policy for arn, policy in policies.items() if arn.endswith(f":{name}")), None)
    return found.policy_doc if found else None


def _bus(call: Call, name: str) -> str | None:
    bus = events_backends[call.account][call.region].event_buses.get(name.removeprefix("event-bus/"))
    return bus.policy if bus else None


def _stream(call: Call, name: str) -> str | None:
    policies = kinesis_backends[call.account][call.region].resource_policies
    return next((policy for arn, policy in policies.items() if arn.endswith(f":{name}")), None)


_OF_RESOURCES: Mapping[str, Callable[[Call, str], str | None]] = {
    "dynamodb": _table,
    "ecr": _repository,
    "events": _bus,
    "iam": _trust,
    "kinesis": _stream,
    "kms": _key,
    "lambda": _function,
    "s3": _bucket,
    "secretsmanager": _secret,
    "sns": _topic,
    "sqs": _queue,
}


def endpoint_policy(call: Call, vpc_id: str) -> tuple[str, Policy] | None:
    """Return the endpoint of a VPC through which a call goes, and its policy; None when it has none for the service."""
    endpoints = ec2_backends[call.account][call.region].vpc_end_points.values()
    for endpoint in endpoints:
        if endpoint.vpc_id == vpc_id and endpoint.service_name.endswith(f".{call.region}.{call.service}"):
            return endpoint.id, _read(endpoint.policy_document, PolicyKind.ENDPOINT, f"{endpoint.id} ({call.service})")
    return None
