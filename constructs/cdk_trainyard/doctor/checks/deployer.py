"""Whether who deploys may do what CloudFormation does: asked of IAM's policy simulation.

With the cdk CLI that is the role of its bootstrap, with which CloudFormation works, and the caller needs no more than
to assume the CLI's roles. Without a bootstrap it is the caller.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.account import Call
from cdk_trainyard.data_files import load
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import IDENTITY, Answers, Check
from cdk_trainyard.doctor.checks.bootstrap import role_name, version
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.doctor.parts import parts_of

NAME: Final = "deployer"
_AT_ONCE: Final = 100
ALLOWED: Final = "allowed"
"""What IAM says of an action that may be done."""
_IMPLICIT: Final = "implicitDeny"
_EVERY: Final = "* (what is to be made has no ARN yet)"
"""The resource that is asked about, and why: names of most of what is made are CloudFormation's."""


def types_of(deployment: DeploymentSpec) -> list[str]:
    """Return the resource types that the deployment makes, those that every deployment with its parts has.

    Args:
        deployment: The deployment.
    """
    made = load("doctor", "deployer")["types"]
    return sorted({kind for part in parts_of(deployment) for kind in made.get(part, ())})


def actions_of(kinds: Sequence[str]) -> list[str]:
    """Return the actions that CloudFormation calls to make resources, and to delete them when it rolls back.

    Args:
        kinds: The resource types.
    """
    known = load("doctor", "deployer")["permissions"]
    return sorted({action for kind in kinds for action in known.get(kind, ())})


def principal_of(arn: str) -> str:
    """Return the user or role behind an ARN of STS: IAM simulates no sessions. Empty: it is nobody's.

    A role's path is in no ARN of its sessions, so roles with one, as those of IAM Identity Center, are not found.

    Args:
        arn: ARN of who asks.
    """
    parts = arn.split(":")
    if len(parts) < 6 or parts[5] == "root":  # noqa: PLR2004  arn:partition:service:region:account:resource
        return ""
    kind, _, name = parts[5].partition("/")
    if parts[2] == "iam":
        return arn
    if kind == "assumed-role":
        return f"arn:{parts[1]}:iam::{parts[4]}:role/{name.partition('/')[0]}"
    return ""


def simulated(
    principal: str, actions: Sequence[str], resources: Sequence[str] = (), keys: Mapping[str, str] | None = None
) -> Call:
    """Return the call that asks IAM whether somebody may do something.

    Args:
        principal: ARN of a user or role.
        actions: The actions.
        resources: The resources. Default: every one.
        keys: The condition keys that are known, texts all of them. Default - none.
    """
    entries = [
        {"ContextKeyName": name, "ContextKeyValues": [text], "ContextKeyType": "string"}
        for name, text in (keys or {}).items()
    ]
    more: dict[str, Any] = {"ResourceArns": list(resources)} if resources else {}
    more |= {"ContextEntries": entries} if entries else {}
    parameters = {"PolicySourceArn": principal, "ActionNames": list(actions), **more}
    return Call("iam", "SimulatePrincipalPolicy", parameters)


def _is_bootstrapped(answers: Answers) -> bool:
    return answers[version(answers)].refusal is None


def worker_of(deployment: DeploymentSpec, answers: Answers) -> str:
    """Return ARN of the role, or user, that makes the resources; empty where it is not known.

    Args:
        deployment: The deployment.
        answers: What was said: who asks, and whether the account is bootstrapped.
    """
    if _is_bootstrapped(answers):
        return f"arn:{answers.partition}:iam::{answers.account}:role/{role_name(deployment, answers)}"
    return principal_of(answers.caller)


def _may_work(deployment: DeploymentSpec, answers: Answers) -> list[Call]:
    actions, worker = actions_of(types_of(deployment)), worker_of(deployment, answers)
    parts = range(0, len(actions), _AT_ONCE)
    return [simulated(worker, actions[start : start + _AT_ONCE]) for start in parts] if worker else []


def _may_assume(deployment: DeploymentSpec, answers: Answers) -> Call | None:
    """Return the call that asks whether the caller may assume the cdk CLI's roles."""
    caller = principal_of(answers.caller)
    if not caller or not _is_bootstrapped(answers):
        return None
    roles = [role_name(deployment, answers, kind) for kind in ("deploy", "file-publishing")]
    arns = [f"arn:{answers.partition}:iam::{answers.account}:role/{role}" for role in roles]
    return simulated(caller, ["sts:AssumeRole"], arns)


def calls(_deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield who asks."""
    yield IDENTITY


def then(deployment: DeploymentSpec, answers: Answers) -> Iterator[Call]:
    """Yield whether the account is bootstrapped, and then the simulations."""
    yield version(answers)
    if answers.account and version(answers) in answers.said:
        yield from _may_work(deployment, answers)
        assume = _may_assume(deployment, answers)
        yield from [assume] if assume else []


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether the stacks' resources may be made, and what of it nobody can tell."""
    kinds = types_of(deployment)
    actions = actions_of(kinds)
    words = f"{len(actions)} actions on {_EVERY}, with which CloudFormation makes {len(kinds)} types of resources"
    if refused := answers.refused([IDENTITY, version(answers)]):
        yield unanswered(NAME, words, refused)
        return
    worker, asked = worker_of(deployment, answers), _may_work(deployment, answers)
    assume = _may_assume(deployment, answers)
    if not worker:
        has = f"IAM simulates no policies of {answers.caller}"
        yield Finding(check=NAME, needed=words, has=has, verdict=Verdict.UNKNOWN, call=IDENTITY)
    else:
        yield _judged(answers, words, worker, asked)
    if assume:
        yield _judged(answers, "to assume the cdk CLI's roles", principal_of(answers.caller), [assume])


def _judged(answers: Answers, words: str, principal: str, asked: Sequence[Call]) -> Finding:
    for call in asked:
        if answers[call].refusal:
            return unanswered(NAME, words, answers[call])
    rows = [row for call in asked for row in answers.items(call, "EvaluationResults")]
    bad = [row for row in rows if row["EvalDecision"] != ALLOWED]
    denied = sorted({_said(row) for row in bad if not depends_on(row)})
    depends = sorted({f"{row['EvalActionName']} ({', '.join(depends_on(row))})" for row in bad if depends_on(row)})
    if depends and not denied:
        has = f"whether {principal} may depends on what is not known before: {', '.join(depends)}"
        return Finding(check=NAME, needed=words, has=has, verdict=Verdict.UNKNOWN, call=asked[0])
    verdict, has = (Verdict.SHORT, f"{principal} may not {', '.join(denied)}") if denied else (Verdict.OK, principal)
    everything = "; where they are allowed on some resources only, that may suffice: IAM was asked about *"
    about_all = "ResourceArns" not in asked[0].parameters
    remedy = f"allow them in the policies of {principal}{everything if about_all else ''}" if denied else ""
    return Finding(check=NAME, needed=words, has=has, verdict=verdict, call=asked[0], remedy=remedy)


def depends_on(row: dict[str, Any]) -> list[str]:
    """Return the condition keys that a policy asks about and the simulation was not told, where nothing denies.

    Args:
        row: A row of what was simulated.
    """
    if row["EvalDecision"] != _IMPLICIT or _is_forbidden(row):
        return []
    inner = (key for each in row.get("ResourceSpecificResults", ()) for key in each.get("MissingContextValues", ()))
    return sorted({*row.get("MissingContextValues", ()), *inner})


def _is_forbidden(row: dict[str, Any]) -> bool:
    """Whether a statement or the organization denies it."""
    by_organization = row.get("OrganizationsDecisionDetail", {}).get("AllowedByOrganizations") is False
    return row["EvalDecision"] == "explicitDeny" or by_organization


def _said(row: dict[str, Any]) -> str:
    return f"{row['EvalActionName']}{' (denied)' if _is_forbidden(row) else ''}"


CHECK: Final = Check(
    name=NAME,
    asks=("sts GetCallerIdentity", "ssm GetParameter", "iam SimulatePrincipalPolicy"),
    calls=calls,
    then=then,
    findings=findings,
)
"""The deployer."""
