"""Whether a session of a role may make a call, by the policies as they are deployed."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from moto.core.utils import get_service_model
from moto.ec2.models import ec2_backends
from moto.iam.models import Role, iam_backends

from cdk_trainyard.local.access import recording
from cdk_trainyard.local.access.attached import endpoint_policy, policies_for
from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.access.keys import may_be_absent
from cdk_trainyard.local.access.needs import Need, bucket_of, needs_of
from cdk_trainyard.local.access.sessions import Session
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.sagemaker_nodes import vpc_of_node
from cdk_trainyard.policy import Decision, Policies, PolicyError, Principal, Request, evaluate

_log = logging.getLogger(__name__)
_CODES = {"ec2": "UnauthorizedOperation", "sns": "AuthorizationError"}
_BOOTSTRAP_TAG = "aws-cdk:bootstrap-role"
_QUERY = {"autoscaling", "cloudformation", "elb", "elbv2", "iam", "s3", "sqs", "sts"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgment:
    """One permission that a call needs, and what the policies say of it."""

    need: Need
    request: Request
    policies: Policies
    decision: Decision


def judge(session: Session, call: Call) -> Iterator[Judgment]:
    """Yield every permission that ``call`` needs, and whether the session has it.

    Raises:
        ApiError: No table knows which permission the call needs.
        PolicyError: A policy says what the evaluator does not know.
    """
    if call.service == "s3" and call.get("Bucket") and bucket_of(call) is None:
        return  # S3 says "no such bucket" to everybody
    role = iam_backends[call.account][call.partition].get_role_by_arn(session.role_arn)
    principal = Principal.role_session(role.arn, session.name, role.id)
    vpc_id = _vpc_of(session, call)
    through = endpoint_policy(call, vpc_id) if vpc_id else None
    network = {"aws:SourceVpc": vpc_id, "aws:SourceVpce": through[0]} if vpc_id and through else {}
    for need in needs_of(call):
        keys = {**need.keys, **network, **_of_role(role)}
        request = Request(
            principal=principal,
            action=need.action,
            resource=need.resource,
            keys=keys,
            resource_account=call.account,
        )
        # what a service asks of KMS does not go through the caller's endpoint
        endpoint = through[1] if through and need.action.startswith(f"{call.service}:") else None
        policies = policies_for(call, role, session.credentials.access_key_id, need.resource, endpoint)
        _check_keys(request, policies)
        yield Judgment(need=need, request=request, policies=policies, decision=evaluate(request, policies))


def _check_keys(request: Request, policies: Policies) -> None:
    """Refuse to guess about a condition key that requests have at AWS, and that nothing here reads from them.

    Raises:
        ApiError: A statement about the action asks for such a key.
    """
    for policy in policies.all():
        for statement in policy.statements:
            for condition in statement.conditions if statement.is_about_action(request.action) else ():
                if not request.context.values(condition.key) and not may_be_absent(condition.key):
                    message = f"local AWS: {policy.name} asks for {condition.key}, which is not known to it"
                    raise ApiError("NotImplemented", message)


def authorize(session: Session, call: Call) -> list[Judgment]:
    """Let a call pass, or refuse it as its service does.

    Returns:
        What was asked and granted.

    Raises:
        ApiError: The session lacks a permission; the message says which statement is missing.
    """
    if _is_administrator(session, call):
        return []
    judgments: list[Judgment] = []
    error: ApiError | None = None
    try:
        judgments += judge(session, call)
        denied = next((judgment for judgment in judgments if not judgment.decision.allowed), None)
        error = refusal(call, denied) if denied else None
    except PolicyError as problem:
        error = ApiError("NotImplemented", f"local AWS: {problem}")
    except ApiError as problem:
        error = problem
    recording.note(session, call, judgments, error)
    if error:
        _log.error("refused: %s", error.message)
        raise error
    return judgments


def refusal(call: Call, judgment: Judgment) -> ApiError:
    """Return the error of the service: its code, and AWS's words with the statement that is missing."""
    code = _CODES.get(call.service, "AccessDenied" if call.service in _QUERY else "AccessDeniedException")
    because = f" ({judgment.need.because})" if judgment.need.because else ""
    return ApiError(code, f"User: {judgment.decision.reason}{because}")


def status_of(error: ApiError, service: str) -> HTTPStatus:
    """Return the status of an answer that refuses.

    The services of botocore's protocol ``json`` say 400, those of ``rest-json`` and all others 403: 169 of their 175
    models with an ``AccessDeniedException`` give that number, and no model of ``json`` gives any.
    """
    if error.code == "NotImplemented":
        return HTTPStatus.NOT_IMPLEMENTED
    if error.code == "AccessDeniedException" and get_service_model(service).metadata["protocol"] == "json":
        return HTTPStatus.BAD_REQUEST
    return HTTPStatus.FORBIDDEN


def _is_administrator(session: Session, call: Call) -> bool:
    """Whether it is the cdk CLI's own role: the bootstrap template tags deploy, publishing and lookup roles."""
    role = iam_backends[call.account][call.partition].get_role_by_arn(session.role_arn)
    return f"aws:PrincipalTag/{_BOOTSTRAP_TAG}" in _of_role(role)


def _of_role(role: Role) -> dict[str, str]:
    tags: Any = role.tags or {}
    listed = tags.values() if isinstance(tags, dict) else tags
    return {f"aws:PrincipalTag/{tag['Key']}": str(tag["Value"]) for tag in listed}


def _vpc_of(session: Session, call: Call) -> str:
    """Return the VPC of the instance whose session it is; nothing for a session of something else."""
    backend = ec2_backends[call.account][call.region]
    for reservation in backend.reservations.values():
        for instance in reservation.instances:
            if instance.id == session.name:
                return str(instance.vpc_id or "")
    return vpc_of_node(call.account, call.region, session.name)
