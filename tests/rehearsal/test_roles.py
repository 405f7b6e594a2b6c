"""Roles of nodes: what the metadata service says of them is good for calls of the local AWS."""

import io
import json
from ipaddress import IPv4Address

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.metadata import metadata_of
from cdk_trainyard.rehearsal.model import Node
from cdk_trainyard.rehearsal.report import Report
from cdk_trainyard.rehearsal.roles import InstanceRoles
from cdk_trainyard.rehearsal.scenarios import check_calls
from tests.local.support import TRUST
from tests.rehearsal.node_role import started_in

REGION = "eu-west-3"  # of these tests alone
_TRUST = json.dumps(TRUST)
_FOLDER = "/latest/meta-data/iam"


@pytest.fixture
def plane(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> ControlPlane:
    started_in(aws, monkeypatch)
    return ControlPlane(REGION)


def launched(plane: ControlPlane, **more: object) -> Node:
    subnet = plane.client("ec2").describe_subnets()["Subnets"][0]["SubnetId"]
    (made,) = plane.client("ec2").run_instances(
        ImageId="ami-12c6146b", InstanceType="c5.large", SubnetId=subnet, MinCount=1, MaxCount=1, **more
    )["Instances"]
    address = IPv4Address(made["PrivateIpAddress"])
    return Node(group="worker", number=1, address=address, instance_id=made["InstanceId"])


def test_an_instance_has_the_role_of_its_profile(plane: ControlPlane) -> None:
    iam = plane.client("iam")
    role = iam.create_role(RoleName="of-roles", Path="/deep/", AssumeRolePolicyDocument=_TRUST)["Role"]["Arn"]
    profile = iam.create_instance_profile(InstanceProfileName="of-roles")["InstanceProfile"]["Arn"]
    iam.add_role_to_instance_profile(InstanceProfileName="of-roles", RoleName="of-roles")
    node = launched(plane, IamInstanceProfile={"Name": "of-roles"})
    roles = InstanceRoles(plane)
    told = dict(roles(node))
    assert json.loads(metadata_of(f"{_FOLDER}/info", told) or "")["InstanceProfileArn"] == profile
    assert metadata_of(f"{_FOLDER}/security-credentials/", told) == "of-roles"
    found = json.loads(metadata_of(f"{_FOLDER}/security-credentials/of-roles", told) or "")
    own = {"AccessKeyId": found["AccessKeyId"], "SecretAccessKey": found["SecretAccessKey"]}
    identity = ControlPlane(REGION, {**own, "SessionToken": found["Token"]}).client("sts").get_caller_identity()
    account = role.split(":")[4]
    assert identity["Arn"] == f"arn:aws:sts::{account}:assumed-role/of-roles/{node.instance_id}"
    assert roles(node) == told, "asked again and again, as the metadata service is"


def test_an_instance_without_a_profile_has_none(plane: ControlPlane) -> None:
    assert InstanceRoles(plane)(launched(plane)) == {}


def test_a_refused_call_fails_the_rehearsal(plane: ControlPlane) -> None:
    role = plane.client("iam").create_role(RoleName="refused", AssumeRolePolicyDocument=_TRUST)["Role"]["Arn"]
    node = plane.as_instance(role, "i-0123456789abcdef0")
    node.client("sts").get_caller_identity()
    before, after = Report(io.StringIO()), Report(io.StringIO())
    check_calls(plane, before)
    assert before.passed
    with pytest.raises(ClientError):
        node.client("ssm").get_parameter(Name="/a")
    check_calls(plane, after)
    assert not after.passed
    assert '"Action": "ssm:GetParameter", "Resource": "arn:aws:ssm:eu-west-3:' in after.table()
