"""Machines of HyperPod clusters: what is done to several at once, what happens to them, and what is said of it."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, template
from tests.local.support import of

pytestmark = pytest.mark.usefixtures("support")
_SCRIPTS = {"SourceS3Uri": {"Fn::Sub": ["s3://${b}/scripts/", {"b": of("Bucket")}]}, "OnCreate": "on_create.sh"}
_SHORT = "ml.g5.xlarge"


def _group(name: str, kind: str, count: int, instance_type: str = "ml.c5.4xlarge", **more: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "InstanceCount": count,
        "ExecutionRole": of("RoleArn"),
        "LifeCycleConfig": _SCRIPTS,
        "SlurmConfig": {"NodeType": kind},
        **more,
    }


def _body(mode: str | None, *groups: dict[str, Any]) -> dict[str, Any]:
    vpc = {"SecurityGroupIds": [of("Group")], "Subnets": [of("SubnetA")]}
    properties = {"VpcConfig": vpc, "InstanceGroups": [_group("head", "Controller", 1), *groups]}
    more = {"NodeProvisioningMode": mode} if mode else {}
    return template({"Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {**properties, **more}}})


@pytest.fixture(scope="module")
def cluster(aws: LocalAws, support: None) -> Iterator[str]:  # noqa: ARG001  it stands on it
    """A cluster whose nodes come one by one."""
    stacks = Stacks(aws)
    name = stacks.deployed(_body("Continuous", _group("workers", "Compute", 3)))
    yield stacks.physical_id(name, "Cluster")
    stacks.clean_up()


@pytest.fixture(scope="module")
def client(aws: LocalAws) -> Any:
    return aws.client("sagemaker")


def nodes(client: Any, cluster: str, **more: Any) -> list[dict[str, Any]]:
    return list(client.list_cluster_nodes(ClusterName=cluster, **more)["ClusterNodeSummaries"])


def workers(client: Any, cluster: str) -> list[str]:
    return [row["InstanceId"] for row in nodes(client, cluster, InstanceGroupNameContains="workers")]


def test_each_node_is_rebooted_or_refused_for_itself(client: Any, cluster: str) -> None:
    good, unknown = workers(client, cluster)[0], f"i-{'0' * 17}"
    said = client.batch_reboot_cluster_nodes(ClusterName=cluster, NodeIds=[good, unknown])
    assert said["Successful"] == [good]
    assert [(row["NodeId"], row["ErrorCode"]) for row in said["Failed"]] == [(unknown, "InstanceIdNotFound")]


def test_a_node_that_failed_is_replaced_at_its_place(aws: LocalAws, client: Any, cluster: str) -> None:
    before = {row["InstanceId"]: row for row in nodes(client, cluster, IncludeNodeLogicalIds=True)}
    failed = workers(client, cluster)[1]
    aws.fail_node(failed, "GPU 3 fell off the bus")
    found = client.describe_cluster_node(ClusterName=cluster, NodeId=failed)["NodeDetails"]["InstanceStatus"]
    assert found == {"Status": "Failure", "Message": "GPU 3 fell off the bus"}
    assert client.batch_replace_cluster_nodes(ClusterName=cluster, NodeIds=[failed])["Successful"] == [failed]
    after = {row["InstanceId"]: row for row in nodes(client, cluster, IncludeNodeLogicalIds=True)}
    (gone,), (new,) = before.keys() - after.keys(), after.keys() - before.keys()
    same = ("NodeLogicalId", "PrivateDnsHostname", "InstanceGroupName")
    assert gone == failed
    assert [after[new][name] for name in same] == [before[gone][name] for name in same]
    with pytest.raises(ValueError, match="no cluster has the instance i-1"):
        aws.fail_node("i-1", "x")


def test_a_controller_is_not_replaced(client: Any, cluster: str) -> None:
    (head,) = [row["InstanceId"] for row in nodes(client, cluster, InstanceGroupNameContains="head")]
    (refused,) = client.batch_replace_cluster_nodes(ClusterName=cluster, NodeIds=[head])["Failed"]
    assert (refused["NodeId"], refused["ErrorCode"]) == (head, "InvalidInstanceStatus")
    assert "controller" in refused["Message"]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, "Either NodeIds or NodeLogicalIds must be provided"),
        ({"NodeIds": [f"i-{number:017x}" for number in range(26)]}, "length less than or equal to 25"),
    ],
)
def test_batches_are_bounded(client: Any, cluster: str, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ClientError, match=said):
        client.batch_reboot_cluster_nodes(ClusterName=cluster, **parameters)


def test_software_is_updated_by_group(client: Any, cluster: str) -> None:
    client.update_cluster_software(ClusterName=cluster, InstanceGroups=[{"InstanceGroupName": "workers"}])
    groups = client.describe_cluster(ClusterName=cluster)["InstanceGroups"]
    assert [group.get("SoftwareUpdateStatus") for group in groups] == [None, "Succeeded"]
    updated = {row["InstanceGroupName"]: "LastSoftwareUpdateTime" in row for row in nodes(client, cluster)}
    assert updated == {"head": False, "workers": True}
    with pytest.raises(ClientError, match="Instance groups none do not exist"):
        client.update_cluster_software(ClusterName=cluster, InstanceGroups=[{"InstanceGroupName": "none"}])


def test_deleted_nodes_are_wanted_no_more(client: Any, cluster: str) -> None:
    first = workers(client, cluster)[0]
    said = client.batch_delete_cluster_nodes(ClusterName=cluster, NodeIds=[first, f"i-{'1' * 17}"])
    assert said["Successful"] == [first]
    assert [row["Code"] for row in said["Failed"]] == ["NodeIdNotFound"]
    group = client.describe_cluster(ClusterName=cluster)["InstanceGroups"][1]
    assert (group["CurrentCount"], group["TargetCount"]) == (2, 2)


def test_what_failed_only_one_event_says(aws: LocalAws, client: Any, cluster: str) -> None:
    broken = workers(client, cluster)[-1]
    aws.fail_node(broken, "NVLink errors")
    listed = client.list_cluster_events(ClusterName=cluster, NodeId=broken)["Events"]
    assert [row["EventLevel"] for row in listed][:1] == ["Error"]
    assert "NVLink" not in json.dumps(listed, default=str)
    event = client.describe_cluster_event(ClusterName=cluster, EventId=listed[0]["EventId"])["EventDetails"]
    assert event["EventDetails"]["EventMetadata"]["Instance"]["FailureMessage"] == "NVLink errors"
    aws.client("sagemaker").batch_reboot_cluster_nodes(ClusterName=cluster, NodeIds=[broken])


def test_events_have_pages_and_an_order(client: Any, cluster: str) -> None:
    everything = client.list_cluster_events(ClusterName=cluster, SortOrder="Ascending")["Events"]
    pages = client.get_paginator("list_cluster_events").paginate(ClusterName=cluster, MaxResults=2)
    assert [row["EventId"] for page in pages for row in page["Events"]] == [row["EventId"] for row in everything][::-1]
    first, last = everything[0]["EventTime"], everything[-1]["EventTime"]
    assert client.list_cluster_events(ClusterName=cluster, EventTimeBefore=first - timedelta(minutes=1))["Events"] == []
    since = client.list_cluster_events(ClusterName=cluster, EventTimeAfter=last, SortOrder="Ascending")["Events"]
    assert since
    assert since == everything[-len(since) :]
    with pytest.raises(ClientError, match=r"Event .* could not be found"):
        client.describe_cluster_event(ClusterName=cluster, EventId=str(uuid4()))


def test_nodes_that_do_not_come(aws: LocalAws, client: Any, stacks: Stacks) -> None:
    with aws.shortage(_SHORT.removeprefix("ml.")):
        name = stacks.deployed(_body("Continuous", _group("gpu", "Compute", 2, _SHORT)))
        waiting = stacks.physical_id(name, "Cluster")
        group = client.describe_cluster(ClusterName=waiting)["InstanceGroups"][1]
        assert (group["CurrentCount"], group["TargetCount"]) == (0, 2)
        assert len(nodes(client, waiting)) == 1
        shown = nodes(client, waiting, IncludeNodeLogicalIds=True, InstanceGroupNameContains="gpu")
        assert [(row["InstanceId"], row["InstanceStatus"]["Status"]) for row in shown] == [("", "Pending")] * 2
        (operation,) = client.list_cluster_operations(ClusterName=waiting)["ClusterOperationSummaries"]
        assert operation["Status"] == "InProgress"
        found = client.describe_cluster_operation(ClusterName=waiting, OperationId=operation["OperationId"])
        assert found["ScalingDetails"][1]["Desired"] == {"CurrentCount": 0, "TargetCount": 2}
        (event,) = client.list_cluster_events(ClusterName=waiting, InstanceGroupName="gpu")["Events"]
        said = client.describe_cluster_event(ClusterName=waiting, EventId=event["EventId"])["EventDetails"]
        message = said["EventDetails"]["EventMetadata"]["InstanceGroup"]["FailureMessage"]
        assert message.startswith("We currently do not have sufficient capacity")
    assert len(nodes(client, waiting)) == 3
    (operation,) = client.list_cluster_operations(ClusterName=waiting)["ClusterOperationSummaries"]
    assert operation["Status"] == "Done"


def test_groups_that_come_whole_or_not_at_all(aws: LocalAws, client: Any, stacks: Stacks) -> None:
    body = _body(None, _group("gpu", "Compute", 2, _SHORT))
    with aws.shortage(_SHORT.removeprefix("ml.")):
        assert "do not have sufficient capacity" in stacks.failure(body)
    name = stacks.deployed(body)
    with pytest.raises(ClientError, match="only supported when NodeProvisioningMode is set to Continuous"):
        client.list_cluster_events(ClusterName=stacks.physical_id(name, "Cluster"))


def test_nodes_log_their_lifecycle(aws: LocalAws, client: Any, cluster: str) -> None:
    found = client.describe_cluster(ClusterName=cluster)
    group = f"/aws/sagemaker/Clusters/{found['ClusterName']}/{cluster.rpartition('/')[2]}"
    stream = f"LifecycleConfig/workers/{workers(client, cluster)[0]}"
    events = aws.client("logs").filter_log_events(logGroupName=group, logStreamNamePrefix=stream)["events"]
    assert [event["message"] for event in events] == [
        "[SageMaker] Downloading lifecycle scripts",
        "The lifecycle scripts succeeded.",
    ]
