"""Reading templates, and the order of their resources."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.local.engine.template import in_order, parse, references
from cdk_trainyard.local.errors import ApiError

_YAML = """
AWSTemplateFormatVersion: 2010-09-09
Resources:
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {Version: 2012-10-17}
      RoleName: !Sub "${AWS::StackName}-role"
      Path: !If [Special, !Ref Path, /]
      Tags: [{Key: arn, Value: !GetAtt Bucket.Arn}]
  Bucket:
    Type: AWS::S3::Bucket
    Condition: Special
Conditions:
  Special: !Not [!Condition Other]
"""


def test_yaml_reads_as_cloudformation_reads_it() -> None:
    template = parse(_YAML)
    role = template.resources["Role"]["Properties"]
    assert template.body["AWSTemplateFormatVersion"] == "2010-09-09"
    assert role["AssumeRolePolicyDocument"]["Version"] == "2012-10-17"
    assert role["RoleName"] == {"Fn::Sub": "${AWS::StackName}-role"}
    assert role["Path"] == {"Fn::If": ["Special", {"Ref": "Path"}, "/"]}
    assert role["Tags"][0]["Value"] == {"Fn::GetAtt": ["Bucket", "Arn"]}
    assert template.section("Conditions")["Special"] == {"Fn::Not": [{"Condition": "Other"}]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Template format error: Expecting property name"),
        ("a: [", "Template format error: while parsing"),
        ("just words", "Template format error: unsupported structure."),
        ('{"Resources": {}}', "Template format error: At least one Resources member must be defined."),
        (
            '{"Transform": "AWS::Serverless-2016-10-31", "Resources": {"A": {"Type": "AWS::SNS::Topic"}}}',
            "local AWS: the transforms ['AWS::Serverless-2016-10-31'] are not emulated",
        ),
    ],
)
def test_fails_on_what_is_no_template(text: str, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse(text)
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("fragment", "found"),
    [
        ({"Ref": "A"}, [("A", None)]),
        ({"Fn::GetAtt": ["A", "Arn"]}, [("A", "Arn")]),
        ({"Fn::GetAtt": "A.Endpoint.Address"}, [("A", "Endpoint.Address")]),
        ({"Fn::Sub": "${A} ${B.Arn} ${!C} ${AWS::Region}"}, [("A", None), ("B", "Arn"), ("AWS::Region", None)]),
        ({"Fn::Sub": ["${A} ${x}", {"x": {"Ref": "B"}}]}, [("A", None), ("B", None)]),
        ({"Fn::Join": ["", ["a", {"Ref": "A"}, [{"Ref": "B"}]]]}, [("A", None), ("B", None)]),
        ("plain", []),
    ],
)
def test_references(fragment: Any, found: list[tuple[str, str | None]]) -> None:
    assert list(references(fragment)) == found


def _resource(*needs: str, depends: Any = None) -> dict[str, Any]:
    more = {} if depends is None else {"DependsOn": depends}
    return {"Type": "T", "Properties": {"Needs": [{"Ref": name} for name in needs]}, **more}


def test_resources_come_after_what_they_need() -> None:
    resources = {
        "D": _resource("C"),
        "C": _resource(depends="B"),
        "B": _resource(depends=["A", "Elsewhere"]),
        "A": _resource("Parameter"),
    }
    assert in_order(resources) == ["A", "B", "C", "D"]


def test_a_long_chain_needs_no_deep_stack() -> None:
    resources = {f"R{number}": _resource(f"R{number + 1}") for number in range(3000)} | {"R3000": _resource()}
    assert in_order(resources)[0] == "R3000"


_GRAPHS = st.lists(st.lists(st.integers(0, 30), max_size=5), min_size=1, max_size=30).map(
    lambda rows: {
        f"R{number}": _resource(*(f"R{other}" for other in row if other < number)) for number, row in enumerate(rows)
    }
)


@given(resources=_GRAPHS, seed=st.randoms())
def test_every_order_of_declaration_is_put_right(resources: dict[str, Any], seed: Random) -> None:
    names = list(resources)
    seed.shuffle(names)
    ordered = in_order({name: resources[name] for name in names})
    assert sorted(ordered) == sorted(resources)
    for name, declaration in resources.items():
        for other, _ in references(declaration):
            assert ordered.index(other) < ordered.index(name)


def test_fails_on_a_circle() -> None:
    resources = {"A": _resource("B"), "B": _resource("C"), "C": _resource("A"), "D": _resource("A")}
    with pytest.raises(ApiError, match=r"Circular dependency between resources: \[A, B, C\]"):
        in_order(resources)
