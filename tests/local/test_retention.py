"""What holds data, from the first creation that fails to the stack that goes: the storage room's own template."""

from typing import Any

import pytest
from aws_cdk import App, DefaultStackSynthesizer, Environment, Stack
from aws_cdk.assertions import Template

from cdk_trainyard.local import LocalAws
from cdk_trainyard.network import TrainingNetwork
from cdk_trainyard.storage import AccountingDatabase, DatabaseEngine, TrainingBuckets
from tests.local.stacks import Stacks, template

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("empty_aws")]

# refused by EC2 after everything else
_BAD = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-00000000", "CidrBlock": "10.0.0.0/24"}}


def storage(engine: DatabaseEngine = DatabaseEngine.MYSQL) -> dict[str, Any]:
    app = App(analytics_reporting=False)
    synthesizer = DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
    environment = Environment(account="123456789012", region="us-west-2")
    stack = Stack(app, "Storage", env=environment, synthesizer=synthesizer)
    network = TrainingNetwork(stack, "Network", zone="usw2-az4", service_zones=["usw2-az4", "usw2-az1"])
    _ = AccountingDatabase(stack, "Accounting", network=network, engine=engine).password_secret
    TrainingBuckets(stack, "Buckets")
    return dict(Template.from_stack(stack).to_json())


@pytest.fixture(scope="module")
def body() -> dict[str, Any]:
    return storage()


def databases(aws: LocalAws) -> list[dict[str, Any]]:
    return list(aws.client("rds").describe_db_instances()["DBInstances"])


def protected(aws: LocalAws) -> dict[str, bool]:
    """Return the databases that are there, and whether each is protected."""
    return {row["DBInstanceIdentifier"]: row["DeletionProtection"] for row in databases(aws)}


def secrets(aws: LocalAws) -> list[str]:
    return [row["Name"] for row in aws.client("secretsmanager").list_secrets()["SecretList"]]


def buckets(aws: LocalAws) -> list[str]:
    return [row["Name"] for row in aws.client("s3").list_buckets()["Buckets"]]


def broken(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "Resources": {**body["Resources"], "Bad": {**_BAD, "DependsOn": list(body["Resources"])}}}


def test_a_first_creation_that_fails_leaves_no_database(body: dict[str, Any], stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.create(broken(body))
    assert stacks.status(name) == "ROLLBACK_COMPLETE", stacks.reasons(name)
    assert (databases(aws), secrets(aws)) == ([], [])
    (logs,) = buckets(aws)  # where logs may have arrived by now
    assert "accesslogs" in logs
    groups = aws.client("ec2").describe_security_groups()["SecurityGroups"]
    assert [row["Description"] for row in groups if "accounting" in row["Description"]] == []


def test_a_database_that_stands_is_protected_and_outlives_its_stack(
    body: dict[str, Any], stacks: Stacks, aws: LocalAws
) -> None:
    name = stacks.deployed(body)
    (made,) = databases(aws)
    assert made["DeletionProtection"] is True
    assert stacks.update(name, broken(body)) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.delete(name) == "DELETE_COMPLETE", stacks.reasons(name)
    (kept,) = databases(aws)
    assert kept["DBInstanceIdentifier"] == made["DBInstanceIdentifier"]
    assert kept["DeletionProtection"] is True
    assert len(secrets(aws)) == 2
    assert len(buckets(aws)) == 6


def test_a_database_in_the_place_of_another_goes_when_that_is_rolled_back(
    body: dict[str, Any], stacks: Stacks, aws: LocalAws
) -> None:
    """The policy of what protects it names the former again by then."""
    name = stacks.deployed(body)
    before = protected(aws)
    assert stacks.update(name, broken(storage(DatabaseEngine.MARIADB))) == "UPDATE_ROLLBACK_COMPLETE"
    assert [row for row in stacks.reasons(name) if "DELETE_FAILED" in row] == []
    assert protected(aws) == before


def test_a_protection_that_stands_in_the_template_cannot_be_rolled_back(stacks: Stacks, aws: LocalAws) -> None:
    """Why it does not: RDS refuses, CloudFormation gives up, and the stack still has what it could not delete."""
    database = {
        "Type": "AWS::RDS::DBInstance",
        "DeletionPolicy": "RetainExceptOnCreate",
        "Properties": {
            "DBInstanceClass": "db.t4g.micro", "Engine": "mysql", "AllocatedStorage": "20", "MasterUsername": "slurm",
            "MasterUserPassword": "not-a-secret", "DeletionProtection": True,
        },
    }  # fmt: skip
    name = stacks.create(template({"Database": database, "Bad": {**_BAD, "DependsOn": "Database"}}))
    assert stacks.status(name) == "ROLLBACK_FAILED"
    left = stacks.physical_id(name, "Database")
    assert stacks.delete(name) == "DELETE_COMPLETE"  # now its policy keeps it
    assert left in [row["DBInstanceIdentifier"] for row in databases(aws)]
