"""What there is to say where nothing runs on nodes: not deployed, not yet, not any more, or not told."""

import pytest

from cdk_trainyard.account import Account, Answer, Call, Refusal, Why
from cdk_trainyard.operations import Deployed, OperationError, Resource, Stack, systems_of


def stack(status: str, *resources: Resource, reason: str = "") -> Stack:
    return Stack(
        part="training",
        name="mine-training",
        id="arn",
        status=status,
        reason=reason,
        outputs={},
        resources=resources,
    )


COMING = Resource(logical_id="Cluster", type="AWS::SageMaker::Cluster", id="", status="CREATE_IN_PROGRESS")
HIDDEN = Answer(
    call=Call("cloudformation", "DescribeStacks"),
    refusal=Refusal(why=Why.DENIED, code="AccessDenied", text="not you"),
)


@pytest.mark.parametrize(
    ("deployed", "said"),
    [
        (Deployed(name="mine", stacks={}), "nothing of mine that has nodes exists in us-west-2"),
        (
            Deployed(name="mine", stacks={"training": stack("CREATE_IN_PROGRESS", COMING)}),
            "mine-training is CREATE_IN_PROGRESS; it has no nodes",
        ),
        (
            Deployed(name="mine", stacks={"training": stack("ROLLBACK_COMPLETE", reason="no quota")}),
            "mine-training is ROLLBACK_COMPLETE: no quota; it has no nodes",
        ),
        (
            Deployed(name="mine", stacks={}, refused=(HIDDEN,)),
            "cloudformation:DescribeStacks: not allowed: not you",
        ),
    ],
)
def test_why_there_is_nothing(deployed: Deployed, said: str) -> None:
    with pytest.raises(OperationError) as refused:
        systems_of(Account("us-west-2"), deployed)
    assert str(refused.value) == said
