"""Enumerations, patterns, lengths and ranges of a service's model."""

from typing import Any

import pytest

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.constraints import check


def _group(**more: Any) -> dict[str, Any]:
    return {"InstanceGroups": [{"InstanceGroupName": "g", "InstanceCount": 1, **more}]}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"NodeRecovery": "Foo"},
            (
                "1 validation error detected: Value 'Foo' at 'nodeRecovery' failed to satisfy constraint: "
                "Member must satisfy enum value set: [Automatic, None]"
            ),
        ),
        (_group(InstanceCount=-1), "at 'instanceGroups.1.member.instanceCount'"),
        (_group(InstanceCount=-1), "Member must have value greater than or equal to 0"),
        (
            {"InstanceGroups": []},
            "Value '[…]' at 'instanceGroups' failed to satisfy constraint: Member must have length",
        ),
        ({"ClusterName": "a_b"}, "Member must satisfy regular expression pattern: [a-zA-Z0-9]"),
        (
            {"VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"] * 6}},
            "'vpcConfig.securityGroupIds' failed to satisfy constraint: Member must have length less than or",
        ),
        ({"ClusterName": "a_b", "NodeRecovery": "Foo"}, "2 validation errors detected: "),
    ],
)
def test_fails(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ApiError) as caught:
        check("sagemaker", "CreateCluster", parameters)
    assert message in caught.value.message


def test_what_is_allowed_passes() -> None:
    check(
        "sagemaker",
        "CreateCluster",
        {"ClusterName": "a-b", **_group(InstanceType="ml.trn1.32xlarge", ThreadsPerCore=1)},
    )
