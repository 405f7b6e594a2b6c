"""What doctor makes of answers that an account gives and the local AWS does not."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.account import Answer, Call, Refusal, Why
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.doctor import Check, Finding, Verdict
from cdk_trainyard.doctor.check import IDENTITY, Answers, own_call
from cdk_trainyard.doctor.checks import bootstrap, capacity, deployer, identity, taken, things, usage
from cdk_trainyard.doctor.checks.usage import Own, usage_of
from tests.doctor.parts import changed, of, shipped, written

LLAMA = shipped("hyperpod-trn1-llama2")
NO_STACK = Refusal(why=Why.ABSENT, code="ValidationError", text="Stack with id x does not exist")
CLUSTER_ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
CALLER = {"Account": "123456789012", "Arn": "arn:aws:sts::123456789012:assumed-role/admin/me"}
BEGIN = datetime(2027, 6, 1, 11, 30, tzinfo=UTC)


def judged(check: Check, deployment: Deployment, said: Mapping[Call, Mapping[str, Any]]) -> list[Finding]:
    """What a check finds where the account says this, and of everything else that there is none."""

    def ask(calls: Any) -> dict[Call, Answer]:
        return {
            call: Answer(call=call, value=said[call]) if call in said else Answer(call=call, refusal=NO_STACK)
            for call in calls
        }

    answers = Answers(ask(check.calls(deployment)))
    while more := ask(call for call in check.then(deployment, answers) if call not in answers.said):
        answers = Answers({**answers.said, **more})
    return [*check.findings(deployment, answers)]


def stack(name: str, status: str) -> dict[Call, Any]:
    row = {"StackName": name, "StackStatus": status}
    return {Call("cloudformation", "DescribeStacks", {"StackName": name}): {"Stacks": [row]}}


@pytest.mark.parametrize(
    ("status", "verdict", "has", "remedy"),
    [
        ("ROLLBACK_COMPLETE", Verdict.OK, "ROLLBACK_COMPLETE: cdk deploy deletes it first", ""),
        ("CREATE_FAILED", Verdict.SHORT, "CREATE_FAILED", "aws cloudformation delete-stack --stack-name "),
        (
            "UPDATE_ROLLBACK_FAILED",
            Verdict.SHORT,
            "UPDATE_ROLLBACK_FAILED",
            "aws cloudformation continue-update-rollback --stack-name ",
        ),
        ("UPDATE_IN_PROGRESS", Verdict.SHORT, "UPDATE_IN_PROGRESS", "wait until it has ended"),
        ("REVIEW_IN_PROGRESS", Verdict.OK, "REVIEW_IN_PROGRESS", ""),
    ],
)
def test_stacks_in_states(status: str, verdict: Verdict, has: str, remedy: str) -> None:
    name = f"{LLAMA.name}-storage"
    finding = of(judged(taken.CHECK, LLAMA, stack(name, status)), "name", name)
    assert (finding.verdict, finding.has) == (verdict, has)
    assert finding.remedy.startswith(remedy) if remedy else not finding.remedy


NAMED = """
name: mine
region: us-west-2
network: {{ zone: {zone} }}
orchestrator: {kind}
cluster: {cluster}
"""
GROUPS = (
    "{ cluster_name: mine, groups: { a: { role: controller, instance_type: ml.m5.large, count: 1 }, "
    "b: { role: compute, instance_type: ml.c5.4xlarge, count: 1 } } }"
)


@pytest.mark.parametrize(
    ("own", "verdict"),
    [
        (CLUSTER_ARN, Verdict.OK),
        ("mine-training-Role-abc", Verdict.SHORT),  # a resource of one's own that is called alike is not the cluster
    ],
)
def test_a_named_cluster_is_known_by_its_arn(tmp_path: Path, own: str, verdict: Verdict) -> None:
    deployment = written(tmp_path, NAMED.format(zone="usw2-az4", kind="hyperpod", cluster=GROUPS))
    said = {
        usage.CLUSTERS: {"ClusterSummaries": [{"ClusterName": "mine", "ClusterArn": CLUSTER_ARN}]},
        own_call("mine-training"): {"StackResourceSummaries": [{"PhysicalResourceId": own}]},
    }
    assert of(judged(taken.CHECK, deployment, said), "name", "the name mine").verdict is verdict


def simulated(row: Mapping[str, Any]) -> Finding:
    said: dict[Call, Any] = {IDENTITY: CALLER, bootstrap.version(Answers()): {"Parameter": {"Value": "30"}}}
    answers = Answers({call: Answer(call=call, value=value) for call, value in said.items()})
    for call in (each for each in deployer.then(LLAMA, answers) if each.service == "iam"):
        rows = [{"EvalActionName": name, "EvalDecision": "allowed"} for name in call.parameters["ActionNames"]]
        said[call] = {"EvaluationResults": [*rows, *([row] if "ResourceArns" not in call.parameters else [])]}
    return of(judged(deployer.CHECK, LLAMA, said), "deployer", "actions")


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        ({"EvalDecision": "implicitDeny", "MissingContextValues": ["iam:AWSServiceName"]}, Verdict.UNKNOWN),
        (
            {
                "EvalDecision": "implicitDeny",
                "ResourceSpecificResults": [{"MissingContextValues": ["iam:AWSServiceName"]}],
            },
            Verdict.UNKNOWN,
        ),
        ({"EvalDecision": "implicitDeny", "MissingContextValues": []}, Verdict.SHORT),
        ({"EvalDecision": "explicitDeny", "MissingContextValues": ["aws:RequestedRegion"]}, Verdict.SHORT),
        (
            {"EvalDecision": "implicitDeny", "OrganizationsDecisionDetail": {"AllowedByOrganizations": False}},
            Verdict.SHORT,
        ),
        ({"EvalDecision": "allowed"}, Verdict.OK),
    ],
)
def test_a_condition_that_the_simulation_was_not_told_denies_nothing(row: dict[str, Any], verdict: Verdict) -> None:
    finding = simulated({"EvalActionName": "iam:CreateServiceLinkedRole", **row})
    assert finding.verdict is verdict
    if verdict is Verdict.UNKNOWN:
        assert finding.has.endswith("not known before: iam:CreateServiceLinkedRole (iam:AWSServiceName)")


HERE = "us-west-2:123456789012"
THERE = "eu-west-1:123456789012"


@pytest.mark.parametrize(
    ("arn", "said", "verdict", "has"),
    [
        (f"cloudwatch:{HERE}:alarm:both", {"CompositeAlarms": [{}]}, Verdict.OK, "it is there"),
        (f"cloudwatch:{HERE}:alarm:both", {"MetricAlarms": [{}]}, Verdict.OK, "it is there"),
        (f"cloudwatch:{HERE}:alarm:both", {}, Verdict.SHORT, "there is none"),
        (f"ecr:{THERE}:repository/mine", {"repositories": [{}]}, Verdict.OK, "it is there"),
        (f"sns:{THERE}:mine", None, Verdict.SHORT, "it is of eu-west-1, and the deployment of us-west-2"),
    ],
)
def test_things_that_are_named(
    tmp_path: Path, arn: str, said: dict[str, Any] | None, verdict: Verdict, has: str
) -> None:
    name = LLAMA.name
    deployment = changed(tmp_path, name, (f"name: {name}", f"name: {name}\ntags: {{ of: 'arn:aws:{arn}' }}"))
    calls = [call for call in things.CHECK.calls(deployment) if call.service == arn.partition(":")[0]]
    assert len(calls) == 1
    answers = {} if said is None else {calls[0]: said}  # without credentials its ARN says its Region all the same
    finding = of(judged(things.CHECK, deployment, answers), "exists", arn)
    assert (finding.verdict, finding.has) == (verdict, has)


BLOCKS = shipped("fleet-p5-capacity-block")


@pytest.mark.parametrize(
    ("free", "training", "verdict", "has"),
    [
        (16, None, Verdict.OK, "it is there, and matches"),
        (3, None, Verdict.SHORT, "3 of its 16 instances are free"),
        (3, {"StackResourceSummaries": [{"PhysicalResourceId": "x"}]}, Verdict.OK, "it is there, and matches"),
    ],
)
def test_a_reservation_that_others_use(free: int, training: Any, verdict: Verdict, has: str) -> None:
    zone = {"ZoneName": "us-west-2a", "ZoneId": "usw2-az1"}
    reservation = {
        "State": "active",
        "InstanceType": "p5.48xlarge",
        "AvailabilityZoneId": "usw2-az1",
        "TotalInstanceCount": 16,
        "AvailableInstanceCount": free,
    }
    wanted = [call for call in capacity.CHECK.calls(BLOCKS) if call.operation == "DescribeCapacityReservations"]
    said: dict[Call, Any] = {
        identity.REGION: {"AvailabilityZones": [zone]},
        wanted[0]: {"CapacityReservations": [reservation]},
    } | ({own_call(f"{BLOCKS.name}-training"): training} if training else {})
    finding = of(judged(capacity.CHECK, BLOCKS, said), "capacity")
    assert (finding.verdict, finding.has) == (verdict, has)


@pytest.mark.parametrize(
    ("ends", "hours"),
    [("2027-06-02T11:30:00Z", 24), ("2027-06-03T11:30:00Z", 48), ("2027-06-16T11:30:00Z", 21 * 24)],
)
def test_blocks_are_sold_by_days_and_weeks(tmp_path: Path, ends: str, hours: int) -> None:
    deployment = changed(tmp_path, BLOCKS.name, ('ends: "2027-06-15T11:30:00Z"', f"ends: '{ends}'"))
    (wanted,) = capacity._wanted(deployment)
    assert wanted.offers.parameters["CapacityDurationHours"] == hours


def test_an_offer_without_a_start_is_shown() -> None:
    part = {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 4}
    offer = {"TrainingPlanOfferingId": "tpo-1", "ReservedCapacityOfferings": [part]}
    assert "from a day that is not said" in capacity._offer(offer)[1]
    assert "from 2027-06-01 11:30" in capacity._offer(offer | {"RequestedStartTimeAfter": BEGIN})[1]


def test_what_stands_in_ones_own_network_is_ones_own() -> None:
    name = "Network interfaces per Region"
    rows = [{"NetworkInterfaceId": "eni-1", "VpcId": "vpc-mine"}, {"NetworkInterfaceId": "eni-2", "VpcId": "vpc-2"}]
    answers = Answers({usage.INTERFACES: Answer(call=usage.INTERFACES, value={"NetworkInterfaces": rows})})
    assert usage_of(name).count(answers, Own(frozenset({"vpc-mine"})), name) == 1


def test_a_group_of_several_types_counts_by_type() -> None:
    group = {
        "InstanceTypeDetails": [
            {"InstanceType": "ml.p5.48xlarge", "CurrentCount": 2},
            {"InstanceType": "ml.p5e.48xlarge", "CurrentCount": 1},
        ],
        "CurrentCount": 3,
        "TargetCount": 5,
    }
    described = Call("sagemaker", "DescribeCluster", {"ClusterName": "c"})
    said = {usage.CLUSTERS: {"ClusterSummaries": [{"ClusterName": "c"}]}, described: {"InstanceGroups": [group]}}
    answers = Answers({call: Answer(call=call, value=value) for call, value in said.items()})
    counted = {
        "ml.p5.48xlarge for cluster usage": 2,
        "ml.p5e.48xlarge for cluster usage": 1,
        "Total number of instances allowed across SageMaker HyperPod clusters": 5,
    }
    assert {name: usage_of(name).count(answers, Own(), name) for name in counted} == counted
