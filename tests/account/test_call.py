"""A call says its permission and the AWS CLI's command."""

import pytest

from cdk_trainyard.account import Call
from cdk_trainyard.local.access import actions


@pytest.mark.parametrize(
    ("call", "command"),
    [
        (
            Call("sagemaker", "BatchRebootClusterNodes", {"ClusterName": "a b", "NodeIds": ["i-1", "i-2"]}),
            "aws sagemaker batch-reboot-cluster-nodes --cluster-name 'a b' --node-ids i-1 i-2 --region us-west-2",
        ),
        (
            Call("ec2", "DescribeInstances", {"DryRun": False, "Filters": [{"Name": "a"}], "MaxResults": 5}),
            'aws ec2 describe-instances --no-dry-run --filters \'[{"Name": "a"}]\' --max-results 5 --region us-west-2',
        ),
    ],
)
def test_the_clis_command(call: Call, command: str) -> None:
    assert call.command("us-west-2") == command


@pytest.mark.parametrize(
    ("service", "operation"),
    [
        *(("efs", "DescribeFileSystems"), ("elbv2", "DescribeLoadBalancers"), ("cloudwatch", "DescribeAlarms")),
        *(("service-quotas", "ListServiceQuotas"), ("s3", "HeadBucket"), ("s3", "ListObjectsV2")),
        *(("sagemaker", "ListClusterNodes"), ("logs", "FilterLogEvents"), ("ce", "GetCostAndUsage")),
        *(("iam", "SimulatePrincipalPolicy"), ("ssm", "StartSession"), ("autoscaling", "DescribeAutoScalingGroups")),
    ],
)
def test_permissions_are_those_that_the_local_aws_judges(service: str, operation: str) -> None:
    prefix = actions.prefix_of(service)
    named = f"{prefix}:{operation}"
    assert [Call(service, operation).permission] == actions._data("operations")["operations"].get(named, [named])


def test_calls_are_the_same_by_their_parameters() -> None:
    one, other = (Call("ec2", "DescribeImages", {"ImageIds": [each]}) for each in ("ami-1", "ami-2"))
    assert len({one, other, Call("ec2", "DescribeImages", {"ImageIds": ["ami-1"]})}) == 2


def test_a_list_that_is_too_long_for_one_call() -> None:
    call = Call("cloudwatch", "DescribeAlarms", {"AlarmNames": ["a", "b", "c"], "MaxRecords": 9})
    assert [each.parameters for each in call.split("AlarmNames", 2)] == [
        {"AlarmNames": ["a", "b"], "MaxRecords": 9},
        {"AlarmNames": ["c"], "MaxRecords": 9},
    ]
    assert Call("cloudwatch", "DescribeAlarms", {"AlarmNames": []}).split("AlarmNames", 2) == []
