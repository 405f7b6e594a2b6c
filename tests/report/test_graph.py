"""References are resolved within stacks, across them, and into nested ones."""

import json
from typing import Any

import pytest

from cdk_trainyard.report.assembly import read_assembly
from cdk_trainyard.report.graph import Graph, references

EXPORTING = {
    "Resources": {"Vpc": {"Type": "AWS::EC2::VPC"}},
    "Outputs": {"Out": {"Value": {"Ref": "Vpc"}, "Export": {"Name": {"Fn::Sub": "${AWS::StackName}:Vpc"}}}},
    "Parameters": {"Size": {"Type": "Number", "Default": 3}, "Zones": {"Type": "CommaDelimitedList", "Default": "a,b"}},
    "Mappings": {"Sizes": {"us-west-2": {"small": "t3.micro"}}},
}


def resolved(graph: Any, value: Any, **template: Any) -> Any:
    """Return a value, as a property of a stack beside one that exports its network."""
    resource = {"Type": "Custom::Thing", "Properties": {"Value": value}}
    found = graph(
        A={**EXPORTING}, B={**EXPORTING, "Outputs": {}, "Resources": {"Thing": resource, "Other": resource}, **template}
    )
    return found, found.properties(found.resources["B/Thing"]).get("Value", "absent")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"Ref": "Other"}, "B/Other"),
        ({"Fn::GetAtt": ["Other", "Arn"]}, "B/Other"),
        ({"Fn::GetAtt": "Other.Name"}, "B/Other.Name"),
        ({"Fn::ImportValue": "a:Vpc"}, "A/Vpc"),
        ({"Fn::ImportValue": "nobody's"}, "<import nobody's>"),
        ({"Fn::Sub": "${AWS::Region}/${Other}/${!literal}/${X}"}, "us-west-2/B/Other/${literal}/<parameter X>"),
        ({"Fn::Sub": ["${X}-${Other.Name}", {"X": {"Ref": "Size"}}]}, "3-B/Other.Name"),
        ({"Fn::Join": ["-", ["a", {"Ref": "AWS::AccountId"}]]}, "a-<AWS::AccountId>"),
        ({"Fn::Join": ["-", {"Ref": "Zones"}]}, "a-b"),
        ({"Fn::Select": [1, {"Fn::Split": ["/", "a/b/c"]}]}, "b"),
        ({"Fn::Select": ["9", ["a"]]}, "<Fn::Select>"),
        ({"Fn::FindInMap": ["Sizes", {"Ref": "AWS::Region"}, "small"]}, "t3.micro"),
        ({"Fn::FindInMap": ["Sizes", "nowhere", "small"]}, "<Fn::FindInMap>"),
        ({"Fn::If": ["Big", {"Ref": "AWS::NoValue"}, "small"]}, "small"),
        (["a", {"Fn::If": ["Big", ["b"], "c"]}, {"Ref": "AWS::NoValue"}], "a, b, c"),
        ({"Ref": "AWS::NoValue"}, "absent"),
        ({"Fn::Cidr": ["10.0.0.0/16", 2]}, "<Fn::Cidr>"),
        ({"Fn::Base64": {"Fn::Sub": "${AWS::Partition}"}}, "aws"),
    ],
)
def test_intrinsic_functions(graph: Any, value: Any, said: str) -> None:
    found, value = resolved(graph, value)
    assert found.said(value) == said


def test_a_reference_names_what_it_is_to(graph: Any) -> None:
    found, value = resolved(
        graph, {"Fn::Join": ["", [{"Fn::GetAtt": ["Other", "Arn"]}, "/", {"Fn::ImportValue": "a:Vpc"}]]}
    )
    assert [(each.key, each.attribute) for each in references(value)] == [("B/Other", "Arn"), ("A/Vpc", "")]
    assert [each.path for each in found.targets(value, "AWS::EC2::VPC")] == ["A/Vpc"]


def test_exports_in_a_circle_end(graph: Any) -> None:
    stack = {
        "Resources": {"Thing": {"Type": "Custom::Thing", "Properties": {"Value": {"Fn::ImportValue": "x"}}}},
        "Outputs": {"X": {"Value": {"Fn::ImportValue": "x"}, "Export": {"Name": "x"}}},
    }
    found = graph(A=stack)
    assert found.said(found.properties(found.resources["A/Thing"])["Value"]) == "<a circle of references>"


def test_nested_stacks_get_parameters_and_give_outputs(assembly: Any) -> None:
    inner = {
        "Parameters": {"Vpc": {"Type": "String"}},
        "Resources": {"Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}}}},
        "Outputs": {"Id": {"Value": {"Ref": "Subnet"}}},
    }
    outer = {
        "Vpc": {"Type": "AWS::EC2::VPC"},
        "Inner": {
            "Type": "AWS::CloudFormation::Stack",
            "Metadata": {"aws:asset:path": "inner.json"},
            "Properties": {"Parameters": {"Vpc": {"Ref": "Vpc"}}},
        },
        "User": {"Type": "Custom::User", "Properties": {"Subnet": {"Fn::GetAtt": ["Inner", "Outputs.Id"]}}},
    }
    out = assembly(Outer=outer)
    (out / "inner.json").write_text(json.dumps(inner))
    found = Graph(read_assembly(out))
    assert found.said(found.properties(found.resources["Outer/Inner/Subnet"])["VpcId"]) == "Outer/Vpc"
    assert found.said(found.properties(found.resources["Outer/User"])["Subnet"]) == "Outer/Inner/Subnet"
