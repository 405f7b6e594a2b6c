"""What a deployment names and does not make exists with the very ARN, and what uses it works."""

import re
import subprocess
import sys

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.__main__ import main
from tests.local.stacks import Stacks, outputs_of, template
from tests.local.support import BALANCER, listener

_ID = "12345678-1234-1234-1234-123456789012"
_ACCOUNT = "123456789012"
_CERTIFICATE = f"arn:aws:acm:us-west-2:{_ACCOUNT}:certificate/{_ID}"


def _listening(certificate: str) -> dict[str, object]:
    certificates = [{"CertificateArn": certificate}]
    return template({"Balancer": BALANCER, "Listener": listener(443, "HTTPS", Certificates=certificates)})


@pytest.mark.usefixtures("support")
def test_a_listener_takes_an_existing_certificate_and_no_other(aws: LocalAws, stacks: Stacks) -> None:
    other = _CERTIFICATE.replace(_ID, "00000000-0000-0000-0000-000000000000")
    aws.add_existing(_CERTIFICATE)
    stack = stacks.deployed(_listening(_CERTIFICATE))
    (found,) = aws.client("elbv2").describe_listeners(ListenerArns=[stacks.physical_id(stack, "Listener")])["Listeners"]
    assert found["Certificates"][0]["CertificateArn"] == _CERTIFICATE
    described = aws.client("acm").describe_certificate(CertificateArn=_CERTIFICATE)["Certificate"]
    assert described["CertificateArn"] == _CERTIFICATE
    assert "certificate was not found" in stacks.failure(_listening(other))


def test_a_secret_is_found_by_name_and_by_arn_and_resolved(aws: LocalAws, stacks: Stacks) -> None:
    arn = f"arn:aws:secretsmanager:us-west-2:{_ACCOUNT}:secret:serving/api-key-AbCdEf"
    aws.add_existing(arn)
    secrets = aws.client("secretsmanager")
    assert secrets.describe_secret(SecretId=arn)["Name"] == "serving/api-key"
    assert secrets.describe_secret(SecretId="serving/api-key")["ARN"] == arn
    value = secrets.get_secret_value(SecretId=arn)["SecretString"]
    resolved = {"Fn::Sub": f"{{{{resolve:secretsmanager:{arn}:SecretString}}}}"}
    parameter = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": resolved}}
    stack = stacks.deployed(template({"Copy": parameter}, Outputs=outputs_of(Value={"Fn::GetAtt": ["Copy", "Value"]})))
    assert stacks.outputs(stack)["Value"] == value


def test_roles_keys_buckets_topics_and_key_pairs(aws: LocalAws) -> None:
    role, topic = f"arn:aws:iam::{_ACCOUNT}:role/teams/nodes", f"arn:aws:sns:us-west-2:{_ACCOUNT}:existing-alerts"
    key = f"arn:aws:kms:us-west-2:{_ACCOUNT}:key/{_ID}"
    pair = f"arn:aws:ec2:us-west-2:{_ACCOUNT}:key-pair/existing-pair"
    for arn in (role, topic, key, pair, "arn:aws:s3:::existing-models"):
        aws.add_existing(arn)
    assert aws.client("iam").get_role(RoleName="nodes")["Role"]["Arn"] == role
    assert aws.client("sns").get_topic_attributes(TopicArn=topic)["Attributes"]["TopicArn"] == topic
    assert aws.client("kms").describe_key(KeyId=key)["KeyMetadata"]["Arn"] == key
    assert aws.client("kms").describe_key(KeyId=_ID)["KeyMetadata"]["KeyId"] == _ID
    assert aws.client("s3").list_objects_v2(Bucket="existing-models")["KeyCount"] == 0
    (found,) = aws.client("ec2").describe_key_pairs(KeyNames=["existing-pair"])["KeyPairs"]
    assert found["KeyPairId"].startswith("key-")


def test_what_exists_is_not_of_a_stack(aws: LocalAws) -> None:
    arn = f"arn:aws:sns:us-west-2:{_ACCOUNT}:nobody-deployed"
    aws.add_existing(arn)
    with pytest.raises(ClientError, match="does not exist"):
        aws.client("cloudformation").describe_stack_resources(PhysicalResourceId=arn)


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("certificate/1", "is no ARN: arn:<partition>:<service>:<region>:<account>:<resource>"),
        (
            "arn:aws:acm:us-west-2:111111111111:certificate/1",
            "is of account 111111111111; the local AWS is account 123456789012",
        ),
        (
            f"arn:aws:ec2:us-west-2:{_ACCOUNT}:instance/i-1",
            "cannot be made up: of those that can are acm certificate, ec2 capacity-reservation, ",
        ),
    ],
)
def test_fails_for_what_cannot_be_made_up(aws: LocalAws, arn: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^'{arn}' {re.escape(message)}"):
        aws.add_existing(arn)


# ---------------------------------------------------------------- the command line
@pytest.mark.slow
def test_fails_on_the_command_line_in_words() -> None:
    command = [sys.executable, "-m", "cdk_trainyard.local", "run", "--existing", "nothing", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "argument --existing: 'nothing' is no ARN" in done.stderr
    assert "Traceback" not in done.stderr


def test_existing_is_an_option_of_both_modes(capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("run", "serve"):
        with pytest.raises(SystemExit):
            main([mode, "--help"])
        assert "--existing ARN" in capsys.readouterr().out
