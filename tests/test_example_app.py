"""The example app synthesizes, within its lines, and has what its page says."""

import runpy
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from tests.support import ROOT
from tests.test_cycles import cycle

APP = ROOT / "examples" / "physai-infra" / "app.py"


@pytest.fixture(scope="module")
def resources() -> dict[str, dict[str, Any]]:
    stack = Stack(App(), "PhysAI", env=Environment(account="111111111111", region="us-west-2"))
    runpy.run_path(str(APP))["define"](stack, ("us-west-2a", "us-west-2b"))
    return dict(Template.from_stack(stack).to_json()["Resources"])


def of_type(resources: dict[str, dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [each["Properties"] for each in resources.values() if each["Type"] == kind]


def test_it_fits_on_a_page() -> None:
    assert len(APP.read_text().splitlines()) <= 70


def test_it_has_no_cycle(resources: dict[str, dict[str, Any]]) -> None:
    assert cycle(resources) == []


def test_the_cluster_is_named_after_its_stack_and_has_its_groups(resources: dict[str, dict[str, Any]]) -> None:
    (cluster,) = of_type(resources, "AWS::SageMaker::Cluster")
    assert "AWS::StackId" in str(cluster["ClusterName"])
    found = {
        each["InstanceGroupName"]: (each["SlurmConfig"]["NodeType"], each["SlurmConfig"].get("PartitionNames"))
        for each in cluster["InstanceGroups"]
    }
    assert found == {
        "controller-machine": ("Controller", None),
        "login-group": ("Login", None),
        "gpu-workers": ("Compute", ["gpu"]),
        "cpu-workers": ("Compute", ["cpu"]),
    }
    assert {each["ThreadsPerCore"] for each in cluster["InstanceGroups"]} == {1}


def test_data_of_the_bucket_is_imported_as_it_changes(resources: dict[str, dict[str, Any]]) -> None:
    (link,) = of_type(resources, "AWS::FSx::DataRepositoryAssociation")
    assert link["FileSystemPath"] == "/raw"
    assert link["S3"]["AutoImportPolicy"]["Events"] == ["NEW", "CHANGED", "DELETED"]
    (lustre,) = of_type(resources, "AWS::FSx::FileSystem")
    assert lustre["LustreConfiguration"]["DeploymentType"] == "PERSISTENT_2"


def test_what_is_named_begins_with_the_name(resources: dict[str, dict[str, Any]]) -> None:
    (cluster,) = of_type(resources, "AWS::SageMaker::Cluster")
    roles = {each["ExecutionRole"]["Fn::GetAtt"][0] for each in cluster["InstanceGroups"]}
    assert roles
    assert [name for name in roles if not resources[name]["Properties"]["RoleName"].startswith("physai-")] == []
    names = [str(each.get("BucketName")) for each in of_type(resources, "AWS::S3::Bucket")]
    assert sum("physai-" in name for name in names) >= 2
