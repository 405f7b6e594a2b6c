"""The data about what a deployer needs is what its sources say, and IAM knows all of it."""

import json

import pytest

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.doctor.checks import deployer
from tests.doctor.parts import shipped
from tests.stacks.snapshots import shipped_templates
from tests.support import DEPLOYMENTS, ROOT
from tools import generate_deployer


@pytest.mark.slow
def test_the_data_is_generated_again() -> None:
    assert generate_deployer.OUTPUT.read_text() == generate_deployer.text(generate_deployer.types())


def test_there_are_actions_for_every_type_and_no_wildcards() -> None:
    """IAM's simulation takes no wildcards."""
    data = json.loads(generate_deployer.OUTPUT.read_text())
    found, types = data["permissions"], {kind for each in data["types"].values() for kind in each}
    assert found.keys() == types
    assert [kind for kind, actions in found.items() if not actions or any("*" in action for action in actions)] == []


@pytest.mark.parametrize("name", [path.stem for path in DEPLOYMENTS])
def test_a_deployment_makes_the_types_that_are_asked_about(name: str) -> None:
    templates = shipped_templates()[name].values()
    made = {row["Type"] for each in templates for row in each["Resources"].values()}
    types = deployer.types_of(shipped(name))
    assert types
    assert set(types) <= made


KEPT = {"Retain", "RetainExceptOnCreate", "Snapshot"}
PHYSICAL = {
    *("BucketName", "LogGroupName", "Name", "RoleName", "TableName", "DBInstanceIdentifier", "ClusterName"),
    *("RepositoryName", "AliasName", "Alias", "TopicName", "DBClusterIdentifier", "KeyName", "WorkspaceName"),
}
"""The properties by which users of CloudFormation name such things themselves."""


@pytest.mark.parametrize("name", [path.stem for path in DEPLOYMENTS])
def test_what_stays_has_no_name_that_could_be_taken(name: str) -> None:
    """Or doctor would have to ask for it: what is made anew after a `destroy` would meet what was kept."""
    for template in shipped_templates()[name].values():
        kept = {key: row for key, row in template["Resources"].items() if row.get("DeletionPolicy") in KEPT}
        for key, row in kept.items():
            given = {name: value for name, value in row.get("Properties", {}).items() if name in PHYSICAL}
            made_up = ("AWS::StackId" in json.dumps(value) or {*value} == {"Ref"} for value in given.values())
            assert all(made_up), (key, given)


@pytest.mark.parametrize(
    ("arn", "principal"),
    [
        ("arn:aws:sts::123456789012:assumed-role/admin/me@here", "arn:aws:iam::123456789012:role/admin"),
        ("arn:aws-cn:sts::123456789012:assumed-role/admin/i-1", "arn:aws-cn:iam::123456789012:role/admin"),
        ("arn:aws:iam::123456789012:user/team/me", "arn:aws:iam::123456789012:user/team/me"),
        ("arn:aws:iam::123456789012:root", ""),
        ("arn:aws:sts::123456789012:federated-user/me", ""),
        ("", ""),
    ],
)
def test_a_session_is_simulated_as_its_role(arn: str, principal: str) -> None:
    assert deployer.principal_of(arn) == principal


@pytest.mark.parametrize(("file", "is_made"), [("everything_monitored", True), ("existing_workspace", False)])
def test_a_workspace_is_asked_about_where_it_is_made(file: str, is_made: bool) -> None:
    found = deployer.types_of(Deployment.load(ROOT / "tests" / "deployment" / "data" / f"{file}.yaml"))
    assert ("AWS::APS::Workspace" in found) == is_made
