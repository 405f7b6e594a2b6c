"""The intrinsic functions, one by one."""

from collections.abc import Mapping
from typing import Any

import pytest

from cdk_trainyard.local.engine.intrinsics import NO_VALUE, evaluate
from cdk_trainyard.local.errors import ResourceFailed


class FakeScope:
    """A scope with a few names."""

    def ref(self, name: str) -> Any:
        values = {"A": "a", "List": ["x", "y"], "AWS::NoValue": NO_VALUE, "AWS::Region": "us-west-2", "Number": 3}
        return values[name]

    def attribute(self, name: str, attribute: str) -> Any:
        return f"{name}.{attribute}"

    def condition(self, name: str) -> bool:
        return name == "Yes"

    def mapping(self, name: str) -> Mapping[str, Any]:
        return {"first": {"second": "mapped"}} if name == "Map" else {}

    def import_value(self, name: str) -> Any:
        return f"imported {name}"

    def stack_output(self, stack_name: str, output_name: str, region: str | None) -> Any:
        return f"{region} {stack_name} {output_name}"

    def zones(self, region: str) -> list[str]:
        return [f"{region}a", f"{region}b"]

    def dynamic(self, text: str) -> str:
        return text.replace("{{resolve:ssm:name}}", "resolved")


@pytest.mark.parametrize(
    ("fragment", "value"),
    [
        ({"Ref": "A"}, "a"),
        ({"Key": {"Ref": "AWS::NoValue"}, "Other": 1}, {"Other": 1}),
        ([1, {"Ref": "AWS::NoValue"}], [1]),
        ({"Fn::GetAtt": ["A", "Arn"]}, "A.Arn"),
        ({"Fn::GetAtt": ["A", {"Fn::Sub": "Outputs.${A}"}]}, "A.Outputs.a"),
        ({"Fn::Sub": "${A} ${A.Arn} ${!Literal} ${Number} ${List}"}, "a A.Arn ${Literal} 3 x,y"),
        ({"Fn::Sub": ["${A} ${x}", {"x": {"Ref": "Number"}}]}, "a 3"),
        ({"Fn::Join": ["-", ["b", {"Ref": "A"}, 3, True]]}, "b-a-3-true"),
        ({"Fn::Join": ["", ["{{resolve:ssm:", "name", "}}"]]}, "resolved"),
        ({"Fn::Split": [",", "b,c"]}, ["b", "c"]),
        ({"Fn::Select": ["1", {"Ref": "List"}]}, "y"),
        ({"Fn::If": ["Yes", 1, 2]}, 1),
        ({"Fn::If": ["No", 1, {"Ref": "A"}]}, "a"),
        ({"Fn::FindInMap": ["Map", "first", "second"]}, "mapped"),
        ({"Fn::FindInMap": ["Map", "first", "third", {"DefaultValue": {"Ref": "A"}}]}, "a"),
        ({"Fn::ImportValue": {"Fn::Sub": "${A}-export"}}, "imported a-export"),
        ({"Fn::GetStackOutput": {"StackName": "s", "OutputName": "o", "Region": "eu-west-1"}}, "eu-west-1 s o"),
        ({"Fn::GetStackOutput": {"StackName": "s", "OutputName": "o"}}, "None s o"),
        ({"Fn::GetAZs": ""}, ["us-west-2a", "us-west-2b"]),
        ({"Fn::GetAZs": "eu-west-1"}, ["eu-west-1a", "eu-west-1b"]),
        ({"Fn::Cidr": ["10.0.0.0/16", 2, "8"]}, ["10.0.0.0/24", "10.0.1.0/24"]),
        ({"Fn::Base64": {"Ref": "A"}}, "YQ=="),
        ({"Fn::ToJsonString": {"a": [{"Ref": "A"}]}}, '{"a":["a"]}'),
        ({"Fn::Length": {"Ref": "List"}}, 2),
        ({"Condition": "Yes"}, True),
        (
            {"Effect": "Allow", "Condition": {"Bool": {"x": "y"}}},
            {"Effect": "Allow", "Condition": {"Bool": {"x": "y"}}},
        ),
        ({"Fn::Equals": [{"Ref": "Number"}, "3"]}, True),
        ({"Fn::Equals": [True, "true"]}, True),
        ({"Fn::And": [{"Condition": "Yes"}, {"Condition": "No"}]}, False),
        ({"Fn::Or": [{"Condition": "Yes"}, {"Condition": "No"}]}, True),
        ({"Fn::Not": [{"Condition": "Yes"}]}, False),
        ({"Fn::Contains": [["1", "2"], "2"]}, True),
        ({"a": 1, "b": [True, None]}, {"a": 1, "b": [True, None]}),
    ],
)
def test_function(fragment: Any, value: Any) -> None:
    assert evaluate(fragment, FakeScope()) == value


@pytest.mark.parametrize(
    ("fragment", "message"),
    [
        ({"Fn::ForEach::Loop": []}, "local AWS: the function Fn::ForEach::Loop is not emulated"),
        ({"Fn::Select": [9, ["a"]]}, "Template error: Fn::Select cannot select nonexistent value at index 9"),
        ({"Fn::FindInMap": ["Map", "first", "x"]}, "Template error: Unable to get mapping for Map::first::x"),
    ],
)
def test_fails(fragment: Any, message: str) -> None:
    with pytest.raises(ResourceFailed, match=message):
        evaluate(fragment, FakeScope())
