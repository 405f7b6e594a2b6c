"""What a change does to resources, and what it opens."""

from typing import Any

import pytest

from cdk_trainyard.report import review
from cdk_trainyard.report.replacement import replacing
from tools import generate_create_only


def test_create_only_properties_are_those_of_the_schemas() -> None:
    assert generate_create_only.OUTPUT.read_text() == generate_create_only.text()


def changed(assembly: Any, old: Any, new: Any) -> dict[str, Any]:
    found = review(assembly("new", S=new), against=assembly("old", S=old))
    return dict(found["change"])


def resource(kind: str, attributes: Any = None, **properties: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties, **(attributes or {})}


def bucket(name: str = "a", **attributes: Any) -> dict[str, Any]:
    return {"Data": resource("AWS::S3::Bucket", attributes, BucketName=name)}


def lustre(capacity: int) -> dict[str, Any]:
    return {"Files": resource("AWS::FSx::FileSystem", FileSystemType="LUSTRE", StorageCapacity=capacity)}


def encrypted(key: str) -> dict[str, Any]:
    rule = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}}
    return {"Data": resource("AWS::S3::Bucket", BucketEncryption={"ServerSideEncryptionConfiguration": [rule]})}


def link(path: str, prefix: str) -> dict[str, Any]:
    of = {"FileSystemId": "fs-1", "FileSystemPath": path, "DataRepositoryPath": prefix}
    return {"Link": resource("AWS::FSx::DataRepositoryAssociation", **of)}


KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
CLUSTER = "AWS::SageMaker::Cluster"


@pytest.mark.parametrize(
    ("old", "new", "effect", "said"),
    [
        ({}, bucket(), "added", "a new AWS::S3::Bucket"),
        (
            bucket(),
            bucket("b"),
            "lost",
            "BucketName: a → b; everything in it goes; give it another id",
        ),
        (bucket(**KEPT), bucket("b", **KEPT), "lost", "an empty one is made, the old one stays behind with the data"),
        (bucket(), {}, "lost", "everything in it goes; retain it first"),
        (bucket(**KEPT), {}, "removed", "stays in the account as a, and in no stack; delete or import it before"),
        ({"Data": resource("AWS::S3::Bucket", KEPT)}, {}, "removed", "stays in the account, and in no stack"),
        (
            bucket(**KEPT),
            bucket(),
            "changed",
            "UpdateReplacePolicy: Retain → nothing; from now on it is deleted when it leaves its stack",
        ),
        (lustre(1200), lustre(2400), "interrupted", "the file system is unavailable for a few minutes"),
        (
            {"Files": resource("AWS::FSx::FileSystem", FileSystemType="LUSTRE", FileSystemTypeVersion="2.12")},
            {"Files": resource("AWS::FSx::FileSystem", FileSystemType="LUSTRE", FileSystemTypeVersion="2.15")},
            "stopped",
            "FileSystemTypeVersion: 2.12 → 2.15; FSx does not update Lustre while a client is connected",
        ),
        (
            {"C": resource(CLUSTER, InstanceGroups=[{"InstanceGroupName": "a", "InstanceCount": 4}])},
            {"C": resource(CLUSTER, InstanceGroups=[{"InstanceGroupName": "b", "InstanceCount": 4}])},
            "drained",
            "group a is removed: 4 nodes end, with their jobs; drain them",
        ),
        ({"X": resource("AWS::SQS::Queue")}, {"X": resource("AWS::SNS::Topic")}, "refused", "AWS::SQS::Queue -> AWS::"),
        (lustre(2400), lustre(1200), "refused", "StorageCapacity cannot be lowered from 2400 to 1200"),
        (encrypted("a"), encrypted("b"), "lost", "KMSMasterKeyID: a → b; objects keep the key that they were written"),
        (link("/a", "s3://b/a"), link("/a", "s3://b/c"), "refused", "remove the link in one deployment (with"),
        (
            {"G": resource("AWS::EC2::SecurityGroup", GroupDescription="a")},
            {"G": resource("AWS::EC2::SecurityGroup", GroupDescription="b")},
            "replaced",
            "GroupDescription: a → b",
        ),
        (
            {"G": resource("AWS::ElasticLoadBalancingV2::TargetGroup", Port=8080)},
            {"G": resource("AWS::ElasticLoadBalancingV2::TargetGroup", Port=8081)},
            "replaced",
            "Port: 8080 → 8081; the load balancer forwards to an empty one, and answers 503, until",
        ),
        (
            {"C": resource(CLUSTER, ClusterName="c", VpcConfig=1)},
            {"C": resource(CLUSTER, ClusterName="c", VpcConfig=2)},
            "refused",
            "CloudFormation cannot make a second one of the same ClusterName",
        ),
        ({"C": resource(CLUSTER, VpcConfig=1)}, {"C": resource(CLUSTER, VpcConfig=2)}, "lost", "every node goes"),
        (
            {"C": resource(CLUSTER, InstanceGroups=[{"InstanceCount": 4}])},
            {"C": resource(CLUSTER, InstanceGroups=[{"InstanceCount": 6}])},
            "changed",
            "InstanceGroups.0.InstanceCount: 4 → 6",
        ),
        ({"C": resource(CLUSTER)}, {}, "lost", "the cluster goes; retain it first"),
        (
            {"F": resource("AWS::FSx::FileSystem", LustreConfiguration={"DeploymentType": "PERSISTENT_1"})},
            {"F": resource("AWS::FSx::FileSystem", LustreConfiguration={"DeploymentType": "PERSISTENT_2"})},
            "lost",
            "everything in it goes",
        ),
    ],
)
def test_what_happens_to_a_resource(assembly: Any, old: Any, new: Any, effect: str, said: str) -> None:
    (row,) = changed(assembly, old, new)["rows"]
    assert row["effect"] == effect
    assert said in "; ".join((row["what"], row["remedy"]))


def test_what_another_stack_uses_is_not_taken_from_it(assembly: Any) -> None:
    def stacks(name: str, *values: str) -> Any:
        outputs = {value: {"Value": value, "Export": {"Name": value}} for value in values}
        user = {"Resources": {"B": resource("AWS::SQS::Queue", QueueName={"Fn::ImportValue": "x"})}}
        return assembly(name, A={"Resources": {"A": resource("AWS::SNS::Topic")}, "Outputs": outputs}, B=user)

    found = review(stacks("new"), against=stacks("old", "x"))["change"]
    assert [(row["where"], row["effect"], row["what"]) for row in found["rows"]] == [
        ("A", "refused", "export x is removed")
    ]


def test_what_refers_to_a_replaced_one_is_judged_too(assembly: Any) -> None:
    def stack(cidr: str) -> dict[str, Any]:
        return {
            "Vpc": resource("AWS::EC2::VPC", CidrBlock=cidr),
            "Subnet": resource("AWS::EC2::Subnet", VpcId={"Ref": "Vpc"}),
            "Files": resource("AWS::FSx::FileSystem", SubnetIds=[{"Ref": "Subnet"}]),
        }

    rows = changed(assembly, stack("10.0.0.0/16"), stack("10.1.0.0/16"))["rows"]
    assert [(row["where"], row["effect"]) for row in rows] == [
        ("S/Files", "lost"),
        ("S/Subnet", "replaced"),
        ("S/Vpc", "replaced"),
    ]
    assert rows[0]["what"] == "SubnetIds: what it refers to is another one"


def test_a_rule_of_a_new_load_balancer_has_no_target_group_of_the_old_one(assembly: Any) -> None:
    def stack(scheme: str) -> dict[str, Any]:
        elb = "AWS::ElasticLoadBalancingV2::"
        return {
            "Door": resource(f"{elb}LoadBalancer", Scheme=scheme),
            "Listener": resource(f"{elb}Listener", LoadBalancerArn={"Ref": "Door"}),
            "Rule": resource(f"{elb}ListenerRule", ListenerArn={"Ref": "Listener"}, Actions=[{"Ref": "Group"}]),
            "Group": resource(f"{elb}TargetGroup", Port=80),
        }

    rows = changed(assembly, stack("internal"), stack("internet-facing"))["rows"]
    assert [(row["where"], row["effect"]) for row in rows] == [
        ("S/Rule", "refused"),
        ("S/Door", "replaced"),
        ("S/Listener", "replaced"),
    ]


def test_what_only_may_be_replaced_is_said_so(assembly: Any) -> None:
    def stack(kind: str, **properties: Any) -> dict[str, Any]:
        return {"X": resource(kind, **properties)}

    (row,) = changed(assembly, stack("AWS::ECS::Service", LaunchType="EC2"), stack("AWS::ECS::Service"))["rows"]
    assert row["effect"] == "uncertain"
    assert row["remedy"] == "LaunchType may replace it: AWS's page of the type says when"


def test_nothing_changes_from_an_assembly_to_itself(assembly: Any) -> None:
    found = changed(assembly, bucket(), bucket())
    assert (found["sentence"], found["rows"], found["widened"]) == ("Nothing changes.", [], [])


def test_what_widened_is_named(assembly: Any) -> None:
    def stack(peer: str, action: str) -> dict[str, Any]:
        rules = [{"CidrIp": peer, "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22}]
        statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
        policies = [{"PolicyName": "p", "PolicyDocument": {"Statement": [statement]}}]
        return {
            "Group": resource("AWS::EC2::SecurityGroup", SecurityGroupIngress=rules),
            "Role": resource("AWS::IAM::Role", Policies=policies),
        }

    found = changed(assembly, stack("10.0.0.0/8", "s3:GetObject"), stack("0.0.0.0/0", "s3:*"))
    assert found["widened"] == ["Anybody on the internet may reach S/Group by TCP 22.", "S/Role may s3:* on *"]
    assert found["narrowed"] == ["10.0.0.0/8 may reach S/Group by TCP 22.", "S/Role may s3:GetObject on *"]


def test_exports_of_themselves_end(assembly: Any) -> None:
    def stack(name: str) -> dict[str, Any]:
        return {
            "Resources": {"Data": resource("AWS::S3::Bucket", BucketName=name, Tags=[{"Fn::ImportValue": "x"}])},
            "Outputs": {"X": {"Value": {"Fn::ImportValue": "x"}, "Export": {"Name": "x"}}},
        }

    assert [row["effect"] for row in changed(assembly, stack("a"), stack("b"))["rows"]] == ["lost"]


def test_properties_that_only_the_guides_name_replace() -> None:
    before = {"StorageType": "SSD", "StorageCapacity": 1200}
    assert replacing("AWS::FSx::FileSystem", before, {**before, "StorageCapacity": 2400}) == []
    assert replacing("AWS::FSx::FileSystem", before, {**before, "StorageType": "HDD"}) == ["StorageType"]
