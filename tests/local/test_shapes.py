"""Fitting CloudFormation's values to API parameters."""

from typing import Any

import pytest
from botocore.session import Session

from cdk_trainyard.local.shapes import fit

_SESSION = Session()


def _shape(service: str, operation: str) -> Any:
    return _SESSION.get_service_model(service).operation_model(operation).input_shape


@pytest.mark.parametrize(
    ("service", "operation", "given", "fitted"),
    [
        ("ecs", "CreateCluster", {"ClusterName": "x"}, {"clusterName": "x"}),
        ("autoscaling", "CreateAutoScalingGroup", {"MinSize": "3"}, {"MinSize": 3}),
        (
            "fsx",
            "CreateFileSystem",
            {"LustreConfiguration": {"EfaEnabled": "true"}},
            {"LustreConfiguration": {"EfaEnabled": True}},
        ),
        ("cloudwatch", "PutMetricAlarm", {"Threshold": 1}, {"Threshold": 1.0}),
        ("iam", "CreateRole", {"AssumeRolePolicyDocument": {"a": 1}}, {"AssumeRolePolicyDocument": '{"a": 1}'}),
        ("lambda", "CreateFunction", {"Tags": [{"Key": "a", "Value": "b"}]}, {"Tags": {"a": "b"}}),
        ("ssm", "PutParameter", {"Tags": {"a": "b"}}, {"Tags": [{"Key": "a", "Value": "b"}]}),
        ("sqs", "CreateQueue", {"Attributes": {"FifoQueue": True}}, {"Attributes": {"FifoQueue": "true"}}),
        ("lambda", "CreateFunction", {"Code": {"ZipFile": "x"}}, {"Code": {"ZipFile": b"x"}}),
        ("ec2", "CreateVpc", {"DryRun": False}, {"DryRun": False}),
        ("ec2", "DescribeVpcs", {"VpcIds": "vpc-1"}, {"VpcIds": ["vpc-1"]}),
    ],
)
def test_fit(service: str, operation: str, given: Any, fitted: Any) -> None:
    dropped: list[str] = []
    assert fit(given, _shape(service, operation), dropped) == fitted
    assert dropped == []


def test_what_the_api_does_not_know_is_told() -> None:
    dropped: list[str] = []
    given = {"StorageCapacity": 1200, "Nothing": 1, "LustreConfiguration": {"Other": 1, "DeploymentType": "SCRATCH_2"}}
    fitted = fit(given, _shape("fsx", "CreateFileSystem"), dropped)
    assert fitted == {"StorageCapacity": 1200, "LustreConfiguration": {"DeploymentType": "SCRATCH_2"}}
    assert dropped == ["Nothing", "LustreConfiguration.Other"]
