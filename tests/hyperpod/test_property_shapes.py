"""Values of overrides are held to CloudFormation's own schema, before a template is."""

import re
from typing import Any

import pytest

from cdk_trainyard.data_files import load
from cdk_trainyard.hyperpod.property_shapes import Shape, lacking, shape_problems
from cdk_trainyard.problems import sentence

CLUSTER = {"properties": load("hyperpod", "properties")["properties"]}
TIERED = CLUSTER["properties"]["TieredStorageConfig"]
VPC = CLUSTER["properties"]["InstanceGroups"]["items"]["properties"]["OverrideVpcConfig"]

MOUNT = {
    "properties": {
        "MountName": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,8}$"},
        "MountPath": {"type": "string", "pattern": "^/", "maxLength": 1024},
    }
}


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ({"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20}, TIERED),
        ({"Mode": {"Ref": "Mode"}, "InstanceMemoryAllocationPercentage": "20"}, TIERED),
        ({"Fn::If": ["Own", {"Mode": "Enable"}, {"Ref": "AWS::NoValue"}]}, TIERED),
        ({"Subnets": ["subnet-01234567", {"Ref": "Other"}], "SecurityGroupIds": ("sg-0123456789abcdef0",)}, VPC),
        ({"SecurityGroupIds": ["{{resolve:ssm:/network/group}}"]}, VPC),
        ({"Subnets": {"0": "subnet-01234567"}}, VPC),
        ({"RootVolume": "true"}, {"properties": {"RootVolume": {"type": "boolean"}}}),
        ({"Labels": {"any": "thing"}}, {"properties": {"Labels": {"type": "object"}}}),
        (1.5, {"type": "number"}),
        (7, {"type": "string"}),
        ("anything", {}),
    ],
    ids=str,
)
def test_what_cloudformation_takes_passes(value: Any, shape: Shape) -> None:
    assert list(shape_problems(value, shape, ("here",))) == []


@pytest.mark.parametrize(
    ("value", "shape", "problem"),
    [
        ({"Mode": "Enabled"}, TIERED, "'Mode' must be Enable or Disable, got 'Enabled'; did you mean 'Enable'?"),
        ({"Mod": "Enable"}, TIERED, "'Mod' is no property of CloudFormation there; did you mean 'Mode'?"),
        ({"Mode": None}, TIERED, "'Mode' must be one value, got"),
        ({"Mode": ["Enable"]}, TIERED, "'Mode' must be one value, got a list"),
        ({"InstanceMemoryAllocationPercentage": 101}, TIERED, "Percentage' must be at most 100, got 101"),
        ({"InstanceMemoryAllocationPercentage": -1}, TIERED, "Percentage' must be 0 or more, got -1"),
        ({"InstanceMemoryAllocationPercentage": 1.5}, TIERED, "Percentage' must be a whole number, got 1.5"),
        ({"InstanceMemoryAllocationPercentage": True}, TIERED, "Percentage' must be a whole number, got true"),
        ("Enable", TIERED, "must be a mapping, got 'Enable'"),
        ({"Subnets": "subnet-1"}, VPC, "'Subnets' must be a list, got 'subnet-1'"),
        ({"Subnets": []}, VPC, "'Subnets' must have 1 to 16 items, got 0"),
        ({"Subnets": ["_" * 33]}, VPC, "'Subnets[0]' must be the id of a subnet, as subnet-0123456789abcdef0, got '__"),
        ({"Subnets": [7]}, VPC, "'Subnets[0]' must be the id of a subnet"),
        ({"Subnets": {"0": "subnet-xyz"}}, VPC, "'Subnets.0' must be the id of a subnet, as subnet-0123456789abcdef0"),
        ({"SecurityGroupIds": ["sg-xyz"]}, VPC, "'SecurityGroupIds[0]' must be the id of a security group, as sg-01"),
        ({"MountName": "_" * 9}, MOUNT, "'MountName' must be 1 to 8 letters, digits, '_' and '-', got '_________'"),
        ({"MountPath": "/" + "a" * 1024}, MOUNT, "'MountPath' must be at most 1024, got 1025 characters"),
        ("perhaps", {"type": "boolean"}, "must be true or false, got 'perhaps'"),
    ],
    ids=str,
)
def test_what_cloudformation_refuses_is_refused_where_it_stands(value: Any, shape: Shape, problem: str) -> None:
    assert [text for each in shape_problems(value, shape) if problem in (text := sentence(each))]


def test_what_is_required_beside_it_is_named() -> None:
    assert list(lacking({"Subnets": []}, VPC, ("OverrideVpcConfig",))) == [("OverrideVpcConfig", "SecurityGroupIds")]
    for tags in ([{"Key": "a"}, {"Ref": "Tag"}], ({"Key": "a"},)):
        assert list(lacking({"Tags": tags}, CLUSTER)) == [("Tags", 0, "Value")]


def patterns(shape: Any) -> list[str]:
    if not isinstance(shape, dict):
        return []
    below = [*shape.get("properties", {}).values(), shape.get("items")]
    return [*([shape["pattern"]] if "pattern" in shape else []), *(text for each in below for text in patterns(each))]


def test_python_reads_every_pattern() -> None:
    found = patterns(CLUSTER)
    assert len(found) > 5
    for pattern in found:
        re.compile(pattern)
