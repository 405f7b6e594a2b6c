"""IAM's policy simulation, by the evaluator that judges roles' calls here. Source: botocore's model of IAM.

AWS's own policies are moto's; they are read and made once, and each account has a copy.
"""

import pickle
from functools import cache
from typing import Any

from moto.iam.models import AWSManagedPolicy, IAMBackend, Role, User, iam_backends
from moto.iam.responses import IamResponse

from cdk_trainyard.local.access.attached import boundary_of, identity_of
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install, replace
from cdk_trainyard.policy import Decision, Policies, PolicyError, Principal, evaluate
from cdk_trainyard.policy import Request as Asked

_SIMULATION = "simulation"
_read = IAMBackend._init_aws_policies  # noqa: SLF001  what is read once here


def simulate_principal_policy(request: Request) -> dict[str, Any]:
    """Say what the policies of a user or role allow.

    Raises:
        ApiError: There is no such user or role; or a policy says what the evaluator does not know.
    """
    found = _find(request)
    policies = Policies(identity=identity_of(found), boundary=boundary_of(found, request.account, request.partition))
    rows = []
    for action in request["ActionNames"]:
        for resource in request.get("ResourceArns", ["*"]):
            asked = Asked(
                principal=_principal(found),
                action=action,
                resource=resource,
                keys={row["ContextKeyName"]: row["ContextKeyValues"] for row in request.get("ContextEntries", [])},
                resource_account=request.account,
            )
            try:
                decision = evaluate(asked, policies)
            except PolicyError as problem:
                raise ApiError("NotImplemented", f"local AWS: {problem}") from None
            rows.append(
                {"EvalActionName": action, "EvalResourceName": resource, "EvalDecision": _decision(decision)}
                | {"MatchedStatements": [], "MissingContextValues": []}
            )
    return {"EvaluationResults": rows, "IsTruncated": False}


def _find(request: Request) -> Role | User:
    arn, backend = request["PolicySourceArn"], iam_backends[request.account][request.partition]
    known: list[Role | User] = [*backend.get_roles(), *backend.users.values()]
    for each in known:
        if each.arn == arn:
            return each
    raise ApiError("NoSuchEntity", f"The policy source {arn} does not exist.")


def _principal(found: Role | User) -> Principal:
    if isinstance(found, User):
        return Principal.user(found.arn, found.id)
    return Principal.role_session(found.arn, _SIMULATION, found.id)


def _decision(decision: Decision) -> str:
    if decision.allowed:
        return "allowed"
    return "explicitDeny" if decision.statement else "implicitDeny"


@cache
def _aws_policies(region: str) -> bytes:
    """Return AWS's own policies as a partition has them, for copies."""
    backend = IAMBackend.__new__(IAMBackend)
    backend.region_name, backend.account_id = region, ""
    return pickle.dumps(_read(backend))


def _init_aws_policies(self: IAMBackend) -> list[AWSManagedPolicy]:
    policies: list[AWSManagedPolicy] = pickle.loads(_aws_policies(self.region_name))  # noqa: S301  made above
    for policy in policies:
        policy.account_id = self.account_id
    return policies


def extend() -> None:
    """Give moto's IAM what it lacks."""
    replace(IAMBackend, {"_init_aws_policies": _init_aws_policies})
    install(IamResponse, {"simulate_principal_policy": simulate_principal_policy})
