"""IAM's policy simulation, by the evaluator that judges roles' calls here. Source: botocore's model of IAM."""

from typing import Any

from moto.iam.models import Role, User, iam_backends
from moto.iam.responses import IamResponse

from cdk_trainyard.local.access.attached import boundary_of, identity_of
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install
from cdk_trainyard.policy import Decision, Policies, PolicyError, Principal, evaluate
from cdk_trainyard.policy import Request as Asked

_SIMULATION = "simulation"


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


def extend() -> None:
    """Give moto's IAM what it lacks."""
    install(IamResponse, {"simulate_principal_policy": simulate_principal_policy})
