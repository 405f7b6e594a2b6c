"""Whatever a file holds, it becomes a page or one clear error, and never a script that runs."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.report import write_review
from cdk_trainyard.report.page import page

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg onload=alert(1)>\ue000x\ue001"
ALLOWED = {"script": 1, "style": 1, "img": 0, "iframe": 0, "link": 0, "object": 0}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def written(template: Any, tmp_path: Path, name: str = "t.json") -> str:
    (tmp_path / name).write_text(template if isinstance(template, str) else json.dumps(template))
    write_review(tmp_path / name, tmp_path / "out")
    return (tmp_path / "out" / "review.html").read_text()


def assert_harmless(html: str) -> None:
    tags = Tags()
    tags.feed(html)
    names = [name for name, _ in tags.seen]
    assert {name: names.count(name) for name in ALLOWED} == ALLOWED
    attributes = [(name, key, str(value)) for name, each in tags.seen for key, value in each.items()]
    assert [each for each in attributes if each[1].startswith("on")] == []
    assert [each for each in attributes if each[1] == "style"] == []
    links = [value for _, key, value in attributes if key in {"href", "src", "xlink:href"}]
    assert [link for link in links if not re.fullmatch(r"#[\w-]+", link)] == []
    assert "default-src 'none'" in html
    assert "unsafe" not in html.partition("</head>")[0].partition("<style>")[0]


def test_strings_of_a_template_are_text(tmp_path: Path) -> None:
    statement = {
        "Effect": "Allow",
        "Action": EVIL,
        "Resource": EVIL,
        "Condition": {EVIL: {EVIL: EVIL}},
        "Principal": EVIL,
    }
    document = {"Statement": [statement]}
    html = written(
        {
            "Description": EVIL,
            "Transform": EVIL,
            "Conditions": {EVIL: True},
            "Parameters": {EVIL: {"Type": "String"}},
            "Outputs": {EVIL: {"Value": EVIL, "Export": {"Name": EVIL}}},
            "Resources": {
                EVIL: {"Type": EVIL, "Properties": {EVIL: EVIL}, "Metadata": {"aws:cdk:path": f"A/{EVIL}"}},
                "Group": {
                    "Type": "AWS::EC2::SecurityGroup",
                    "Properties": {"SecurityGroupIngress": [{"CidrIp": EVIL, "IpProtocol": EVIL, "Description": EVIL}]},
                    "Metadata": {"aws:cdk:path": EVIL},
                },
                "Node": {
                    "Type": "AWS::EC2::Instance",
                    "Properties": {"InstanceType": EVIL, "SecurityGroupIds": [{"Ref": "Group"}]},
                    "Metadata": {"aws:cdk:path": f"Node/{EVIL}"},
                },
                "Role": {
                    "Type": "AWS::IAM::Role",
                    "Properties": {
                        "AssumeRolePolicyDocument": document,
                        "Policies": [{"PolicyName": EVIL, "PolicyDocument": document}],
                        "ManagedPolicyArns": [f"arn:aws:iam::aws:policy/{EVIL}"],
                    },
                },
                "Data": {
                    "Type": "AWS::S3::Bucket",
                    "DeletionPolicy": EVIL,
                    "Properties": {
                        "BucketName": EVIL,
                        "LifecycleConfiguration": {
                            "Rules": [{"Status": "Enabled", "ExpirationInDays": 1, "Prefix": EVIL}]
                        },
                    },
                    "Metadata": {"aws:cdk:path": f"Data/{EVIL}"},
                },
            },
        },
        tmp_path,
    )
    assert_harmless(html)


SHORT = """
Parameters: {Vpc: {Type: String, Default: vpc-1}}
Resources:
  Group:
    Type: AWS::EC2::SecurityGroup
    Properties:
      VpcId: !Ref Vpc
      Opened: 2020-01-01
      SecurityGroupIngress: [{CidrIp: !Sub "${Vpc}", IpProtocol: -1}]
  Rule:
    Type: AWS::EC2::SecurityGroupIngress
    Condition: Never
    Properties: {GroupId: !GetAtt Group.GroupId, SourceSecurityGroupId: !GetAtt [Group, GroupId],
                 IpProtocol: tcp, FromPort: !If [A, 1, 2]}
"""
FUNCTIONS = [
    "Ref",
    "Fn::GetAtt",
    "Fn::Sub",
    "Fn::Join",
    "Fn::Select",
    "Fn::Split",
    "Fn::If",
    "Fn::FindInMap",
    "Fn::ImportValue",
    "Fn::Unknown",
]
ODD: list[Any] = [None, 1, "", [], {}, [[]], [{}], {"a": 1, "b": 2}, ["x"], ["x", 1], [1, 2, 3, 4]]
TYPES = [
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::EC2::FlowLog",
    "AWS::EC2::Instance",
    "AWS::EC2::LaunchTemplate",
    "AWS::EC2::NatGateway",
    "AWS::EC2::Route",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCEndpoint",
    "AWS::EKS::Cluster",
    "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "AWS::FSx::FileSystem",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::KMS::Key",
    "AWS::Lambda::Url",
    "AWS::Logs::LogGroup",
    "AWS::RDS::DBCluster",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SageMaker::Cluster",
    "AWS::SecretsManager::Secret",
    "Custom::PclusterCluster",
]
KEYS = [
    "SecurityGroupIngress",
    "SecurityGroupIds",
    "SubnetIds",
    "VpcId",
    "GroupId",
    "PolicyDocument",
    "AssumeRolePolicyDocument",
    "Policies",
    "Roles",
    "InstanceGroups",
    "ClusterConfiguration",
    "LifecycleConfiguration",
    "BucketEncryption",
    "LustreConfiguration",
    "KeyPolicy",
    "RouteTableId",
    "ResourcesVpcConfig",
    "LaunchTemplateData",
    "ManagedPolicyArns",
    "StorageCapacity",
    "CidrBlock",
    "MinSize",
]


def test_yaml_with_short_forms(tmp_path: Path) -> None:
    html = written(SHORT, tmp_path, "t.yaml").replace("<wbr>", "")
    assert "vpc-1 may reach t/Group by all traffic." in html
    assert "Members of t/Group accept TCP" in html


@pytest.mark.parametrize("odd", ODD + [{name: each} for name in FUNCTIONS for each in ODD], ids=repr)
def test_values_of_any_shape_become_a_page(odd: Any, tmp_path: Path) -> None:
    resources = {
        f"R{number}": {"Type": kind, "Properties": dict.fromkeys(KEYS, odd)} for number, kind in enumerate(TYPES)
    }
    resources |= {f"P{number}": {"Type": kind, "Properties": odd} for number, kind in enumerate(TYPES)}
    outputs = {"O": {"Value": odd, "Export": {"Name": odd}}}
    assert_harmless(written({"Resources": resources, "Outputs": outputs, "Parameters": odd, "Mappings": odd}, tmp_path))


def test_references_in_a_circle_and_macros(tmp_path: Path) -> None:
    template = {
        "Transform": ["AWS::Serverless-2016-10-31", {"Name": "AWS::Include"}],
        "Resources": {
            "A": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": {"Ref": "B"}}},
            "B": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": {"Ref": "A"}}},
            "Fn::ForEach::Loop": ["X", ["a"], {}],
            "C": {
                "Type": "AWS::S3::Bucket",
                "Properties": {"BucketName": {"Ref": "C"}, "Fn::Transform": {"Name": "x"}},
            },
        },
    }
    html = written(template, tmp_path)
    assert "what the transform AWS::Serverless-2016-10-31 makes of the template" in html
    assert "what Fn::ForEach::Loop makes" in html


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it has no Resources"),
        ("{", "is neither JSON nor YAML"),
        ("Resources: [", "is neither JSON nor YAML"),
        ('{"Resources": []}', "it has no Resources"),
        ('{"Resources": {"A": {}}}', "Resources.A: has no Type"),
        ('{"Resources": {"A": {"Type": 7}}}', "Resources.A.Type: must be a name such as AWS::S3::Bucket, got 7;"),
        (
            "Resources: {A: {Type: !Rain::Module vpc.yml}}",
            'Resources.A.Type: must be a name such as AWS::S3::Bucket, got {"Fn::Rain::Module": "vpc.yml"}; ',
        ),
        ("Resources: {A: &a {Type: X}, B: *a}", "line 1 has an alias, which CloudFormation refuses"),
        ("Resources: !!python/object/apply:os.system [id]", "is neither JSON nor YAML"),
        (
            '{"Resources": {"A": {"Type": "X", "Properties": ' + '{"a":' * 300 + "1" + "}" * 303,
            "deeper than 200 levels",
        ),
        ('{"Resources": ' + "[" * 100_000, "deeper than 200 levels"),
        ("Resources: " + "[" * 1_000, "deeper than 200 levels"),
        ("\x00", "is neither JSON nor YAML"),
    ],
)
def test_what_is_no_template_is_one_error(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        write_review(tmp_path / "t.yaml", tmp_path / "out")
    (problem,) = caught.value.problems
    assert said in problem
    assert not (tmp_path / "out").exists()


def test_an_assembly_names_no_file_outside_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"Resources": {}}')
    (tmp_path / "out").mkdir()
    properties = {"templateFile": "../secret.json"}
    artifact = {"type": "aws:cloudformation:stack", "environment": "aws://1/us-east-1", "properties": properties}
    (tmp_path / "out" / "manifest.json").write_text(json.dumps({"artifacts": {"S": artifact}}))
    with pytest.raises(ConfigurationError, match=r"which is not a file in it"):
        write_review(tmp_path / "out", tmp_path / "review")


@pytest.mark.slow
def test_ten_thousand_resources_and_five_megabytes(tmp_path: Path) -> None:
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "x" * 500}}
    resources = {f"G{number}": group for number in range(9_000)}
    resources |= {
        f"N{number}": {"Type": "AWS::EC2::Instance", "Properties": {"SecurityGroupIds": [{"Ref": f"G{number}"}]}}
        for number in range(1_000)
    }
    html = written({"Resources": resources}, tmp_path)
    assert_harmless(html)


def test_the_same_bytes_give_the_same_bytes(assembly: Any, tmp_path: Path) -> None:
    out = assembly(A={"Data": {"Type": "AWS::S3::Bucket"}}, B={"Data": {"Type": "AWS::S3::Bucket"}})
    pages = [write_review(out, tmp_path / name) and (tmp_path / name / "review.html").read_bytes() for name in "ab"]
    assert pages[0] == pages[1]


def test_a_review_is_its_page(assembly: Any, tmp_path: Path) -> None:
    """The page shows what ``review.json`` holds: it is made of nothing else."""
    write_review(assembly(A={"Data": {"Type": "AWS::S3::Bucket"}}), tmp_path / "out")
    data = json.loads((tmp_path / "out" / "review.json").read_text())
    assert page(data) == (tmp_path / "out" / "review.html").read_text()
