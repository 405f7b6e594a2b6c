"""Sessions of nodes that run, of nobody else, with documents that there are."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.deployed import deploy

pytestmark = pytest.mark.usefixtures("empty_aws")
NAME = "hyperpod-cpu-ddp"


@pytest.fixture(scope="module")
def ssm(empty_aws: None, aws: LocalAws) -> Any:
    del empty_aws
    deploy(aws, NAME)
    return aws.client("ssm", "us-east-1")


@pytest.fixture(scope="module")
def target(ssm: Any, aws: LocalAws) -> str:
    del ssm
    sagemaker = aws.client("sagemaker", "us-east-1")
    cluster = sagemaker.list_clusters()["ClusterSummaries"][0]
    node = sagemaker.list_cluster_nodes(ClusterName=cluster["ClusterName"])["ClusterNodeSummaries"][0]
    identifier = cluster["ClusterArn"].rpartition("/")[2]
    return f"sagemaker-cluster:{identifier}_{node['InstanceGroupName']}-{node['InstanceId']}"


def test_a_session_is_started_shown_and_ended(ssm: Any, target: str) -> None:
    started = ssm.start_session(Target=target, DocumentName="AWS-StartSSHSession", Parameters={"portNumber": ["22"]})
    assert started["StreamUrl"].startswith("wss://ssmmessages.us-east-1.amazonaws.com/v1/data-channel/")
    assert started["TokenValue"]
    (shown,) = ssm.describe_sessions(State="Active")["Sessions"]
    assert (shown["SessionId"], shown["Target"]) == (started["SessionId"], target)
    ssm.terminate_session(SessionId=started["SessionId"])
    assert ssm.describe_sessions(State="Active")["Sessions"] == []
    assert [row["Status"] for row in ssm.describe_sessions(State="History")["Sessions"]] == ["Terminated"]


def test_an_instance_of_ec2_is_a_target_while_it_runs(ssm: Any, aws: LocalAws) -> None:
    ec2 = aws.client("ec2", "us-east-1")
    (instance,) = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)["Instances"]
    assert ssm.start_session(Target=instance["InstanceId"])["SessionId"]
    ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])
    with pytest.raises(ClientError, match="TargetNotConnected"):
        ssm.start_session(Target=instance["InstanceId"])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"Target": "sagemaker-cluster:aaaaaaaaaaaa_worker-group-1-i-0123456789abcdef0"}, "TargetNotConnected"),
        ({"Target": "i-0123456789abcdef0"}, "TargetNotConnected"),
        ({"Target": "x" * 401}, "ValidationException"),
        ({"DocumentName": "AWS-StartNothing"}, "InvalidDocument"),
        ({"DocumentName": "AWS-StartSSHSession", "Parameters": {"command": ["x"]}}, "InvalidParameters"),
    ],
)
def test_what_is_refused(ssm: Any, target: str, change: dict[str, Any], code: str) -> None:
    with pytest.raises(ClientError) as refused:
        ssm.start_session(**{"Target": target, **change})
    assert refused.value.response["Error"]["Code"] == code


def test_a_node_is_of_its_own_group(ssm: Any, target: str) -> None:
    with pytest.raises(ClientError, match="TargetNotConnected"):
        ssm.start_session(Target=target.replace("_controller-machine-", "_worker-group-1-"))
