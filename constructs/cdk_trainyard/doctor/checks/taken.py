"""Names that are taken, and stacks that no deployment goes on from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.orchestrators import Namesakes, find, orchestrators
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check, own, own_calls, place
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.doctor.parts import parts_of
from cdk_trainyard.identifiers import stack_name

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
    names = sorted({stack_name(deployment.name, stack) for stack in parts_of(deployment).values()})
    return [Call("cloudformation", "DescribeStacks", {"StackName": name}) for name in names]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Named:
    """A cluster that the file names, and what may have its name."""

    name: str
    among: Namesakes

    @classmethod
    def of(cls, deployment: DeploymentSpec) -> Self | None:
        """Return it; None: CloudFormation makes the name up, or nothing else can have it."""
        row, name = find(deployment.orchestrator), getattr(deployment.cluster, "cluster_name", None)
        if row is None or row.namesakes is None or not isinstance(name, str) or not name:
            return None
        return cls(name=name, among=row.namesakes)

    @property
    def call(self) -> Call:
        """The call that tells."""
        asked = self.among.asked
        return Call(self.among.service, self.among.operation, {asked: self.name} if asked else {})

    def ids(self, answers: Answers) -> list[str]:
        """Return the physical ids of what has the name."""
        rows = answers.items(self.call, self.among.rows)
        return [row[self.among.id] for row in rows if row[self.among.name] == self.name]


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield the deployment's stacks, and what may have its cluster's name."""
    yield from _stacks(deployment)
    yield from own_calls(deployment)
    if named := _Named.of(deployment):
        yield named.call


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield the state of each stack, and whether the cluster's name is free."""
    for call in _stacks(deployment):
        yield _stack(deployment, answers, call)
    named = _Named.of(deployment)
    if named is None:
        return
    words, at = f"the name {named.name} for the cluster", place(deployment, "cluster", "cluster_name")
    if refused := answers.refused([named.call, *own_calls(deployment)]):
        yield unanswered(NAME, words, refused, at)
        return
    taken = not own(deployment, answers).issuperset(named.ids(answers))
    has = "another cluster or stack has it" if taken else "it is free, or this deployment's own"
    verdict = Verdict.SHORT if taken else Verdict.OK
    remedy = "cluster: cluster_name: another name" if taken else ""
    yield Finding(check=NAME, needed=words, has=has, verdict=verdict, call=named.call, remedy=remedy, at=at)


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
    asks=(
        "cloudformation DescribeStacks",
        "cloudformation ListStackResources",
        *(f"{each.service} {each.operation}" for row in orchestrators().values() if (each := row.namesakes)),
    ),
    calls=calls,
    findings=findings,
)
"""Names."""
