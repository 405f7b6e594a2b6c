from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from botocore.stub import Stubber

from cdk_trainyard.rehearsal import Cluster, Lustre, RehearsalError
from cdk_trainyard.rehearsal.control_plane import ControlPlane, local_endpoint, network_around
from cdk_trainyard.rehearsal.hyperpod.clusters import cluster_of

LUSTRE = {"FsxLustreConfig": {"DnsName": "fs-1.fsx.x", "MountName": "abc", "MountPath": "/scratch"}}


def group(name: str, **more: Any) -> dict[str, Any]:
    return {"InstanceGroupName": name, "InstanceType": "ml.c5.large", **more}


def node(group_name: str, address: str) -> dict[str, Any]:
    return {"InstanceGroupName": group_name, "InstanceId": f"i-{address}", "PrivatePrimaryIp": address}


def read(groups: list[dict[str, Any]], legacy: dict[str, Any] | None = None, nodes: tuple[str, ...] = ()) -> Cluster:
    return cluster_of(
        {"ClusterName": "demo", "ClusterArn": "arn:x", "InstanceGroups": groups},
        nodes=[node(groups[0]["InstanceGroupName"], address) for address in nodes],
        subnet={"CidrBlock": "10.1.128.0/24", "AvailabilityZone": "us-east-1d"},
        file_systems=[
            {"FileSystemType": "LUSTRE", "DNSName": "fs-1.fsx.x", "LustreConfiguration": {"MountName": "abc"}},
            {"FileSystemType": "OPENZFS", "DNSName": "fs-2.fsx.x"},
        ],
        legacy=legacy,
        region="us-east-1",
    )


def test_api_driven_groups_say_what_they_are() -> None:
    cluster = read(
        [
            group("head", SlurmConfig={"NodeType": "Controller"}),
            group("door", SlurmConfig={"NodeType": "Login"}),
            group(
                "work", SlurmConfig={"NodeType": "Compute", "PartitionNames": ["gpu"]}, InstanceStorageConfigs=[LUSTRE]
            ),
        ]
    )
    assert [(one.role, one.partition) for one in cluster.groups] == [
        ("controller", None),
        ("login", None),
        ("compute", "gpu"),
    ]
    assert cluster.group("work").lustre == ("fs-1.fsx.x", "abc", "/scratch")
    assert cluster.file_systems == (Lustre(dns_name="fs-1.fsx.x", mount_name="abc"),)


def test_the_legacy_file_says_what_groups_are() -> None:
    legacy = {
        "controller_group": "head",
        "login_group": "door",
        "worker_groups": [{"instance_group_name": "work", "partition_name": "ml.c5.large"}],
    }
    cluster = read([group("head"), group("door"), group("work"), group("other")], legacy)
    assert [(one.role, one.partition) for one in cluster.groups] == [
        ("controller", None),
        ("login", None),
        ("compute", "ml.c5.large"),
        ("compute", None),
    ]


def test_nodes_are_numbered_in_their_group() -> None:
    cluster = read([group("work")], nodes=("10.1.128.9", "10.1.128.5"))
    assert [(one.name, str(one.address)) for one in cluster.nodes] == [
        ("work-1", "10.1.128.9"),
        ("work-2", "10.1.128.5"),
    ]


def test_lifecycle_and_type_are_read() -> None:
    config = {"SourceS3Uri": "s3://b/p/", "OnCreate": "on_create.sh"}
    kinds = {"CurrentInstanceTypes": ["ml.p5.48xlarge", "ml.p5e.48xlarge"]}
    row = {"InstanceGroupName": "g", "LifeCycleConfig": config, "InstanceRequirements": kinds}
    (found,) = read([row]).groups
    assert found.lifecycle is not None
    assert (found.lifecycle.source, found.lifecycle.entry) == ("s3://b/p/", "on_create.sh")
    assert found.instance_type == "ml.p5.48xlarge"


def test_groups_in_subnets_of_their_own_are_in_the_network() -> None:
    subnet = IPv4Network("10.1.128.0/24")
    assert network_around(subnet, [IPv4Address("10.1.128.9")]) == subnet
    assert network_around(subnet, [IPv4Address("10.1.129.9")]) == IPv4Network("10.1.128.0/23")


@pytest.mark.parametrize("endpoint", ["", "https://sagemaker.us-east-1.amazonaws.com", "http://10.0.0.1:5000"])
def test_fails_to_ask_any_but_a_local_api(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    assert local_endpoint() is None
    with pytest.raises(RehearsalError, match="a rehearsal asks the local AWS only"):
        ControlPlane("us-east-1")


# ---------------------------------------------------------------- scripts that cannot be had
@pytest.fixture
def plane(monkeypatch: pytest.MonkeyPatch) -> ControlPlane:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return ControlPlane("us-east-1")


@pytest.mark.parametrize(
    ("code", "message"),
    [("AccessDenied", "Access Denied"), ("NoSuchBucket", "The specified bucket does not exist")],
)
def test_scripts_that_s3_refuses_are_told_with_the_reason(plane: ControlPlane, code: str, message: str) -> None:
    with Stubber(plane.client("s3")) as s3:
        s3.add_client_error("list_objects_v2", service_error_code=code, service_message=message)
        with pytest.raises(RehearsalError) as caught:
            plane.bundle("s3://scripts/lifecycle/")
    assert str(caught.value) == f"the scripts at s3://scripts/lifecycle/ cannot be read: {code}: {message}"


def test_a_file_of_the_scripts_that_may_not_be_read_is_told_too(plane: ControlPlane) -> None:
    with Stubber(plane.client("s3")) as s3:
        s3.add_response("list_objects_v2", {"Contents": [{"Key": "lifecycle/on_create.sh"}]})
        s3.add_client_error("get_object", service_error_code="AccessDenied", service_message="no kms:Decrypt")
        with pytest.raises(RehearsalError, match="cannot be read: AccessDenied: no kms:Decrypt"):
            plane.bundle("s3://scripts/lifecycle/")


def test_a_prefix_without_scripts_is_told(plane: ControlPlane) -> None:
    with Stubber(plane.client("s3")) as s3:
        s3.add_response("list_objects_v2", {})
        with pytest.raises(RehearsalError, match=r"^there are no scripts at s3://scripts/lifecycle/$"):
            plane.bundle("s3://scripts/lifecycle/")
