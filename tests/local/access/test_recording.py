"""What is recorded of roles' calls: every permission, decided again from the recording alone, the same in every run."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.access import recording
from cdk_trainyard.local.access.names import Names
from cdk_trainyard.local.server import RECORDING_VARIABLE
from cdk_trainyard.policy import Policies, PolicyKind, Principal, Request, evaluate, parse_policy
from tests.local.stacks import Stacks, template
from tests.local.support import TRUST

_READ = {
    "Effect": "Allow",
    "Action": "s3:GetObject",
    "Resource": {"Fn::Sub": "${Data.Arn}/in/*"},
    "Condition": {"Bool": {"aws:SecureTransport": "true"}},
}
_STACK = template(
    {
        "Data": {"Type": "AWS::S3::Bucket"},
        "Reader": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": TRUST,
                "Policies": [{"PolicyName": "read", "PolicyDocument": {"Version": "2012-10-17", "Statement": [_READ]}}],
            },
        },
    }
)
_INSTANCE = "i-0123456789abcdef0"
pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("empty_aws")]


def _read(aws: LocalAws, stacks: Stacks, name: str, key: str) -> Callable[[], Any]:
    """Return a call of the stack's role that reads from its bucket."""
    role = aws.client("iam").get_role(RoleName=stacks.physical_id(name, "Reader"))["Role"]["Arn"]
    made = aws.client("sts").assume_role(RoleArn=role, RoleSessionName=_INSTANCE)["Credentials"]
    client = boto3.client(
        "s3",
        region_name=aws.region,
        endpoint_url=aws.endpoint,
        aws_access_key_id=made["AccessKeyId"],
        aws_secret_access_key=made["SecretAccessKey"],
        aws_session_token=made["SessionToken"],
    )
    bucket = stacks.physical_id(name, "Data")
    aws.client("s3").put_object(Bucket=bucket, Key=key, Body=b"x")
    return lambda: client.get_object(Bucket=bucket, Key=key)


@pytest.fixture
def recorded(aws: LocalAws, stacks: Stacks) -> Mapping[str, Any]:
    """The recording of a role that reads what it may, twice, and what it may not."""
    aws.reset()
    name = stacks.deployed(_STACK, "recorded")
    reads = _read(aws, stacks, name, "in/a")
    reads()
    reads()
    with pytest.raises(ClientError, match="AccessDenied"):
        _read(aws, stacks, name, "out/a")()
    return aws.recording


def test_a_permission_is_told_once_with_its_role_and_its_policies(recorded: Mapping[str, Any]) -> None:
    refused, allowed = recorded["calls"]
    role = "arn:aws:iam::123456789012:role/<recorded.Reader>"
    assert (allowed["role"], allowed["kind"], allowed["call"]) == (role, "instance", "s3:GetObject")
    assert (allowed["action"], allowed["resource"]) == ("s3:GetObject", "arn:aws:s3:::<recorded.Data>/in/a")
    assert (allowed["allowed"], refused["allowed"]) == (True, False)
    assert allowed["policies"]["identity"] == [f"policy read of {role}"]
    assert recorded["policies"][f"policy read of {role}"]["statements"] == [
        {**_READ, "Resource": "arn:aws:s3:::<recorded.Data>/in/*"}
    ]


def _decided_again(recorded: Mapping[str, Any], row: Mapping[str, Any], *, without: int | None = None) -> bool:
    """Decide from the recording alone, with a statement taken out of every policy that is attached to the role."""
    policies = []
    for name in row["policies"]["identity"]:
        statements = [one for number, one in enumerate(recorded["policies"][name]["statements"]) if number != without]
        kind = PolicyKind[recorded["policies"][name]["kind"]]
        policies.append(parse_policy({"Version": "2012-10-17", "Statement": statements}, kind=kind, name=name))
    principal = Principal.role_session(row["role"], _INSTANCE)
    request = Request(principal=principal, action=row["action"], resource=row["resource"], keys=row["keys"])
    return evaluate(request, Policies(identity=tuple(policies))).allowed


def test_a_recording_is_enough_to_decide_again_and_notices_what_is_taken_out(recorded: Mapping[str, Any]) -> None:
    for row in recorded["calls"]:
        assert _decided_again(recorded, row) == row["allowed"]
    assert not any(_decided_again(recorded, row, without=0) for row in recorded["calls"])


def test_a_recording_is_the_same_in_every_run(
    aws: LocalAws, stacks: Stacks, recorded: Mapping[str, Any], tmp_path: Path
) -> None:
    bucket = stacks.physical_id("recorded", "Data")
    aws.reset()
    name = stacks.deployed(_STACK, "recorded")
    assert stacks.physical_id(name, "Data") != bucket
    with pytest.raises(ClientError, match="AccessDenied"):
        _read(aws, stacks, name, "out/a")()
    _read(aws, stacks, name, "in/a")()
    assert aws.recording == recorded
    recording.write(tmp_path / "calls.json")
    assert json.loads((tmp_path / "calls.json").read_text()) == recorded


def test_what_is_deleted_keeps_its_name(aws: LocalAws, stacks: Stacks, recorded: Mapping[str, Any]) -> None:
    stacks.delete("recorded")
    assert aws.recording == recorded


def test_calls_are_told_in_their_order(aws: LocalAws, recorded: Mapping[str, Any]) -> None:
    assert recorded["calls"]
    assert [(one.call.parameters["Key"], one.allowed) for one in aws.calls] == [
        ("in/a", True),
        ("in/a", True),
        ("out/a", False),
    ]
    aws.reset()
    assert aws.calls == []


@pytest.mark.parametrize(
    ("text", "stable"),
    [
        ("i-0123456789abcdef0", "i-ID"),
        ("arn:aws:ec2:::network-interface/eni-0123456789abcdef0", "arn:aws:ec2:::network-interface/eni-ID"),
        ("scripts/0123456789abcdef0123456789abcdef/x.sh", "scripts/HASH/x.sh"),
        ("stack/a/0b1c2d3e-0000-4000-8000-0123456789ab", "stack/a/UUID"),
        ("123456789012", "123456789012"),
        ("decade", "decade"),
        ({"vol-0123456789abcdef0": ["i-0123456789abcdef0", True, 1]}, {"vol-ID": ["i-ID", True, 1]}),
    ],
)
def test_what_is_random_has_a_stable_name(text: Any, stable: Any) -> None:
    assert Names().stable(text) == stable


def test_a_server_writes_its_recording_when_it_stops(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert RECORDING_VARIABLE == "CDK_TRAINYARD_CALLS"
    monkeypatch.setenv(RECORDING_VARIABLE, str(tmp_path / "calls.json"))
    command = [sys.executable, "-m", "cdk_trainyard.local", "run", "--", sys.executable, "-c", ""]
    subprocess.run(command, check=True, capture_output=True)
    assert json.loads((tmp_path / "calls.json").read_text()) == {"calls": [], "policies": {}}
