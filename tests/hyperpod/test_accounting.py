"""The accounting database: defaults one by one, everything set, refusals, and who reaches it."""

from typing import Any

import pytest
from aws_cdk import Duration, RemovalPolicy, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import AccountingDatabase, HyperPodCluster, NodeProvisioning
from cdk_trainyard.hyperpod.rules_accounting import subnet_zone_problems
from cdk_trainyard.network import Network
from tests.hyperpod.parts import (
    cluster_properties,
    controller,
    existing_network,
    service_subnets,
    statements,
    subnet_id,
    worker,
)


@pytest.fixture
def network(stack: Stack) -> Network:
    return existing_network(stack, service_subnets=service_subnets(stack, "us-west-2a", "us-west-2b"))


def one(stack: Stack, kind: str) -> dict[str, Any]:
    (resource,) = Template.from_stack(stack).find_resources(kind).values()
    return dict(resource)


def test_defaults(stack: Stack, network: Network) -> None:
    AccountingDatabase(stack, "Database", network=network)
    template = Template.from_stack(stack)
    ids = {kind: next(iter(template.find_resources(f"AWS::{kind}"))) for kind in (
        "RDS::DBSubnetGroup", "RDS::DBParameterGroup", "EC2::SecurityGroup", "SecretsManager::Secret", "IAM::Role",
    )}  # fmt: skip
    secret = "{{resolve:secretsmanager:"  # noqa: S105  a reference
    database = one(stack, "AWS::RDS::DBInstance")
    assert (database["DeletionPolicy"], database["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert database["Properties"] == {
        "AllocatedStorage": "20",
        "AutoMinorVersionUpgrade": True,
        "BackupRetentionPeriod": 35,
        "CopyTagsToSnapshot": True,
        "DBInstanceClass": "db.t4g.medium",
        "DBParameterGroupName": {"Ref": ids["RDS::DBParameterGroup"]},
        "DBSubnetGroupName": {"Ref": ids["RDS::DBSubnetGroup"]},
        "DeletionProtection": True,
        "EnableIAMDatabaseAuthentication": True,
        "Engine": "mysql",
        "EngineVersion": "8.4.9",
        "MasterUserPassword": {
            "Fn::Join": ["", [secret, {"Ref": ids["SecretsManager::Secret"]}, ":SecretString:password::}}"]]
        },
        "MasterUsername": {
            "Fn::Join": ["", [secret, {"Ref": ids["SecretsManager::Secret"]}, ":SecretString:username::}}"]]
        },
        "MaxAllocatedStorage": 200,
        "MonitoringInterval": 60,
        "MonitoringRoleArn": {"Fn::GetAtt": [ids["IAM::Role"], "Arn"]},
        "MultiAZ": True,
        "Port": "3306",
        "PubliclyAccessible": False,
        "StorageEncrypted": True,
        "StorageType": "gp3",
        "VPCSecurityGroups": [{"Fn::GetAtt": [ids["EC2::SecurityGroup"], "GroupId"]}],
    }
    assert one(stack, "AWS::RDS::DBParameterGroup")["Properties"]["Parameters"] == {
        "innodb_lock_wait_timeout": "900",
        "max_allowed_packet": "16777216",
        "require_secure_transport": "0",
    }
    assert one(stack, "AWS::RDS::DBSubnetGroup")["Properties"]["SubnetIds"] == [
        subnet_id("service0"),
        subnet_id("service1"),
    ]
    stored = one(stack, "AWS::SecretsManager::Secret")
    assert stored["DeletionPolicy"] == "Retain"
    assert stored["Properties"]["GenerateSecretString"]["SecretStringTemplate"] == '{"username":"slurm"}'
    template.resource_count_is("AWS::SecretsManager::RotationSchedule", 0)


def test_nobody_reaches_it_by_default(stack: Stack, network: Network) -> None:
    AccountingDatabase(stack, "Database", network=network)
    Template.from_stack(stack).resource_count_is("AWS::EC2::SecurityGroupIngress", 0)
    assert "SecurityGroupIngress" not in one(stack, "AWS::EC2::SecurityGroup")["Properties"]


def test_everything_set(stack: Stack, network: Network) -> None:
    database = AccountingDatabase(
        stack,
        "Database",
        network=network,
        schema_name="jobs_2026",
        instance_type=ec2.InstanceType("m7g.large"),
        engine_version=rds.MysqlEngineVersion.VER_8_4_8,
        storage_gb=100,
        max_storage_gb=500,
        multi_az=False,
        port=13306,
        require_tls=True,
        backup_retention=Duration.days(7),
        key=kms.Key(stack, "Key"),
        deletion_protection=False,
        removal_policy=RemovalPolicy.SNAPSHOT,
    )
    (key_id,) = Template.from_stack(stack).find_resources("AWS::KMS::Key")
    resource = one(stack, "AWS::RDS::DBInstance")
    assert resource["DeletionPolicy"] == "Snapshot"
    assert {
        "AllocatedStorage": "100",
        "BackupRetentionPeriod": 7,
        "DBInstanceClass": "db.m7g.large",
        "DeletionProtection": False,
        "EngineVersion": "8.4.8",
        "KmsKeyId": {"Fn::GetAtt": [key_id, "Arn"]},
        "MaxAllocatedStorage": 500,
        "MultiAZ": False,
        "Port": "13306",
    }.items() <= resource["Properties"].items()
    assert one(stack, "AWS::SecretsManager::Secret")["Properties"]["KmsKeyId"] == {"Fn::GetAtt": [key_id, "Arn"]}
    assert (database.port, database.user, database.schema_name) == (13306, "slurm", "jobs_2026")


def test_a_cluster_reaches_it_reads_its_secret_and_waits_for_it(stack: Stack, network: Network) -> None:
    database = AccountingDatabase(stack, "Database", network=network, schema_name="jobs")
    HyperPodCluster(
        stack,
        "Cluster",
        groups=[controller(), worker()],
        network=network,
        accounting=database,
        provisioning=NodeProvisioning.CONTINUOUS,
    )
    template = Template.from_stack(stack)
    (database_id,) = template.find_resources("AWS::RDS::DBInstance")
    (secret_id,) = template.find_resources("AWS::SecretsManager::Secret")
    slurm = cluster_properties(stack)["Orchestrator"]["Slurm"]["AccountingDatabase"]
    assert slurm["Endpoint"] == {"Fn::GetAtt": [database_id, "Endpoint.Address"]}
    assert (slurm["Port"], slurm["Name"]) == (3306, "jobs")
    assert slurm["SecretArn"] == {"Ref": secret_id}
    assert statements(stack)["secretsmanager:GetSecretValue"]["Resource"] == slurm["SecretArn"]
    (cluster,) = template.find_resources("AWS::SageMaker::Cluster").values()
    (rule_id,) = template.find_resources(
        "AWS::EC2::SecurityGroupIngress", {"Properties": {"FromPort": 3306, "ToPort": 3306}}
    )
    assert rule_id in cluster["DependsOn"]
    template.has_resource_properties(
        "AWS::EC2::SecurityGroupIngress",
        {
            "GroupId": Match.object_like({"Fn::GetAtt": [Match.string_like_regexp("^Database"), "GroupId"]}),
            "SourceSecurityGroupId": Match.object_like(
                {"Fn::GetAtt": [Match.string_like_regexp("^Cluster"), "GroupId"]}
            ),
            "FromPort": 3306,
        },
    )


def test_an_imported_database(stack: Stack) -> None:
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "slurm")
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    database = AccountingDatabase.from_attributes(
        stack, "Database", endpoint="db.example", secret=secret, security_group=group, user="slurmdbd"
    )
    assert (database.endpoint, database.port, database.user, database.schema_name) == (
        "db.example", 3306, "slurmdbd", None,
    )  # fmt: skip
    assert database.secret is secret
    assert len(database.connections.security_groups) == 1


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"schema_name": "jobs-2026"},
            "'schema_name' must be 1 to 64 letters, digits, '_' and '$', got 'jobs-2026'",
        ),
        ({"backup_retention": Duration.days(0)}, "'backup_retention' must be 1 to 35 days, got 0 days"),
        ({"backup_retention": Duration.days(36)}, "'backup_retention' must be 1 to 35 days, got 36 days"),
    ],
)
def test_fails_with_an_exact_message(stack: Stack, network: Network, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        AccountingDatabase(stack, "Database", network=network, **changes)
    assert refusal.value.problems == (problem,)


def test_fails_without_service_subnets(stack: Stack) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        AccountingDatabase(stack, "Database", network=existing_network(stack))
    assert refusal.value.problems == (
        (
            "'network' must have 'service_subnets' in at least 2 zones for a database, got none; "
            "give TrainingNetwork 'service_zones'"
        ),
    )


def test_fails_with_service_subnets_in_one_zone() -> None:
    (problem,) = subnet_zone_problems(["us-west-2a", "us-west-2a"])
    assert "for a database, got us-west-2a;" in problem


def test_fails_to_import_a_schema_that_cannot_be(stack: Stack) -> None:
    with pytest.raises(ConfigurationError, match="'schema_name' must be"):
        AccountingDatabase.from_attributes(
            stack,
            "Database",
            endpoint="db.example",
            secret=secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "slurm"),
            security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
            schema_name="x" * 65,
        )


def test_tokens_pass(stack: Stack) -> None:
    zones = [Token.as_string({"Fn::Select": [number, {"Fn::GetAZs": ""}]}) for number in (0, 1)]
    network = existing_network(stack, service_subnets=service_subnets(stack, *zones))
    AccountingDatabase(stack, "Database", network=network, schema_name=Token.as_string({"Ref": "Schema"}))
    assert one(stack, "AWS::RDS::DBInstance")
