"""Names that are taken, and stacks that no deployment goes on from."""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check, own, own_calls, place
from cdk_trainyard.doctor.checks.usage import CLUSTERS
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.doctor.parts import parts_of

NAME: Final = "name"
_MADE_ANEW: Final = {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}
"""States of stacks that never came up, which ``cdk deploy`` deletes first. Source: aws-cdk, its ``StackStatus``,
``isCreationFailure``."""
_STUCK: Final = {
    "CREATE_FAILED": "delete-stack",
    "DELETE_FAILED": "delete-stack",
    "UPDATE_ROLLBACK_FAILED": "continue-update-rollback",
}
"""States from which CloudFormation takes no update, and the AWS CLI's command that leads out. Source: CloudFormation
user guide, "Stack status codes"."""


def _stacks(deployment: DeploymentSpec) -> list[Call]:
    names = sorted({f"{deployment.name}-{stack}" for stack in parts_of(deployment).values()})
    return [Call("cloudformation", "DescribeStacks", {"StackName": name}) for name in names]


def _named_cluster(deployment: DeploymentSpec) -> str:
    """Return the name that the file gives its cluster; empty: CloudFormation makes one up."""
    found = getattr(deployment.cluster, "cluster_name", None)
    return found if isinstance(found, str) else ""


def _parallel(deployment: DeploymentSpec) -> list[Call]:
    """Return the call for the stack that a ParallelCluster is, by its name."""
    name = _named_cluster(deployment)
    wanted = name and deployment.orchestrator == "parallelcluster"
    return [Call("cloudformation", "DescribeStacks", {"StackName": name})] if wanted else []


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield the deployment's stacks, and what may have its cluster's name."""
    yield from _stacks(deployment)
    yield from own_calls(deployment)
    yield from _parallel(deployment)
    if _named_cluster(deployment) and deployment.orchestrator == "hyperpod":
        yield CLUSTERS


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield the state of each stack, and whether the cluster's name is free."""
    for call in _stacks(deployment):
        yield _stack(deployment, answers, call)
    name, at = _named_cluster(deployment), place(deployment, "cluster", "cluster_name")
    if not name or deployment.orchestrator not in {"hyperpod", "parallelcluster"}:
        return
    words, mine = f"the name {name} for the cluster", own(deployment, answers)
    asked = _parallel(deployment) or [CLUSTERS]
    if refused := answers.refused([*asked, *own_calls(deployment)]):
        yield unanswered(NAME, words, refused, at)
        return
    clusters = (row for row in answers.items(CLUSTERS, "ClusterSummaries") if row["ClusterName"] == name)
    stacks = (row for call in _parallel(deployment) for row in answers.items(call, "Stacks"))
    found = [*(row["ClusterArn"] for row in clusters), *(row["StackName"] for row in stacks)]
    taken = not mine.issuperset(found)
    has = "another cluster or stack has it" if taken else "it is free, or this deployment's own"
    verdict = Verdict.SHORT if taken else Verdict.OK
    remedy = "cluster: cluster_name: another name" if taken else ""
    yield Finding(check=NAME, needed=words, has=has, verdict=verdict, call=asked[0], remedy=remedy, at=at)


def _stack(deployment: DeploymentSpec, answers: Answers, call: Call) -> Finding:
    name = call.parameters["StackName"]
    words, at = f"the stack {name}, to be made or changed", place(deployment, "name")
    if refused := answers.refused([call]):
        return unanswered(NAME, words, refused, at)
    row: dict[str, object] = next(iter(answers.items(call, "Stacks")), {})
    state = str(row.get("StackStatus", ""))
    way = _STUCK.get(state, "")
    busy = state.endswith("_IN_PROGRESS") and state != "REVIEW_IN_PROGRESS"
    remedy = Call("cloudformation", "DeleteStack", {"StackName": name}).command(deployment.region)
    if busy:
        remedy = "wait until it has ended"
    elif way:
        remedy = remedy.replace("delete-stack", way)
    return Finding(
        check=NAME,
        needed=words,
        has=f"{state}: cdk deploy deletes it first" if state in _MADE_ANEW else state or "there is none yet",
        verdict=Verdict.SHORT if busy or way else Verdict.OK,
        call=call,
        remedy=remedy if busy or way else "",
        at=at,
    )


CHECK: Final = Check(
    name=NAME,
    asks=("cloudformation DescribeStacks", "cloudformation ListStackResources", "sagemaker ListClusters"),
    calls=calls,
    findings=findings,
)
"""Names."""
