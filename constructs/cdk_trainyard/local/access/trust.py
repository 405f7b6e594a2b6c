"""Whether a service may assume a role: by the role's trust policy, as when a function, an instance or a task starts."""

from collections.abc import Mapping
from typing import Literal

from moto.ec2.models import ec2_backends
from moto.iam.models import Role

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.policy import Policies, PolicyError, PolicyKind, Principal, Request, evaluate, parse_policy

Kind = Literal["assumed", "function", "instance", "task", "build"]
_SERVICES: Mapping[Kind, str] = {"function": "lambda", "task": "ecs-tasks", "build": "codebuild"}


def check_trust(role: Role, name: str, kind: Kind, region: str) -> None:
    """Refuse a service a role that does not trust it.

    Args:
        role: The role.
        name: Name of the session; of an instance its id.
        kind: What has the session.
        region: Where it is.

    Raises:
        ApiError: The trust policy does not allow it; the message says which statement is missing.
    """
    if kind == "assumed":
        return  # an administrator's own call
    service = _SERVICES.get(kind) or _of_instance(role.account_id, region, name)
    request = Request(
        principal=Principal.service(f"{service}.amazonaws.com"),
        action="sts:AssumeRole",
        resource=role.arn,
        keys={"aws:SourceAccount": role.account_id},
    )
    try:
        trust = parse_policy(
            role.assume_role_policy_document, kind=PolicyKind.TRUST, name=f"trust policy of {role.arn}"
        )
        decision = evaluate(request, Policies(resource=(trust,)))
    except PolicyError as problem:
        raise ApiError("NotImplemented", f"local AWS: {problem}") from problem
    if not decision.allowed:
        raise ApiError("AccessDenied", decision.reason)


def _of_instance(account: str, region: str, instance_id: str) -> str:
    """Return who starts an instance: EC2, or SageMaker when EC2 does not know it."""
    reservations = ec2_backends[account][region].reservations.values()
    is_known = any(one.id == instance_id for reservation in reservations for one in reservation.instances)
    return "ec2" if is_known else "sagemaker"
