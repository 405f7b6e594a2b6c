"""The accounting database: defaults one by one, everything set, its two secrets, what outlives it, refusals."""

import subprocess
import sys
from typing import Any
from unittest.mock import ANY

import pytest
from aws_cdk import Duration, RemovalPolicy, Stack, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.network import Network
from cdk_trainyard.storage import AccountingDatabase, DatabaseEngine
from cdk_trainyard.storage.rules_data import subnet_zone_problems

from .conftest import Place, service_network


@pytest.fixture
def network(place: Place) -> Network:
    return service_network(place, "us-west-2a", "us-west-2b")


def one(stack: Stack, kind: str) -> dict[str, Any]:
    (resource,) = Template.from_stack(stack).find_resources(kind).values()
    return dict(resource)


def test_defaults(stack: Stack, network: Network) -> None:
    AccountingDatabase(stack, "Database", network=network)
    template = Template.from_stack(stack)
    ids = {kind: next(iter(template.find_resources(f"AWS::{kind}"))) for kind in (
        "RDS::DBSubnetGroup", "RDS::DBParameterGroup", "EC2::SecurityGroup", "SecretsManager::Secret",
    )}  # fmt: skip
    (monitoring,) = [name for name in template.find_resources("AWS::IAM::Role") if "MonitoringRole" in name]
    secret = "{{resolve:secretsmanager:"  # noqa: S105  a reference
    database = one(stack, "AWS::RDS::DBInstance")
    assert (database["DeletionPolicy"], database["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert database["Properties"] == {
        "AllocatedStorage": "20",
        "AutoMinorVersionUpgrade": True,
        "BackupRetentionPeriod": 35,
        "CopyTagsToSnapshot": True,
        "DBInstanceClass": "db.t4g.medium",
        "DBParameterGroupName": {"Ref": ids["RDS::DBParameterGroup"]},
        "DBSubnetGroupName": {"Ref": ids["RDS::DBSubnetGroup"]},
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
        "MonitoringRoleArn": {"Fn::GetAtt": [monitoring, "Arn"]},
        "MultiAZ": True,
        "Port": "3306",
        "PubliclyAccessible": False,
        "StorageEncrypted": True,
        "StorageType": "gp3",
        "Tags": [{"Key": "trainyard:protection", "Value": ANY}],
        "VPCSecurityGroups": [{"Fn::GetAtt": [ids["EC2::SecurityGroup"], "GroupId"]}],
    }
    assert one(stack, "AWS::RDS::DBParameterGroup")["Properties"]["Parameters"] == {
        "innodb_lock_wait_timeout": "900",
        "max_allowed_packet": "16777216",
        "require_secure_transport": "0",
    }
    assert one(stack, "AWS::RDS::DBSubnetGroup")["Properties"]["SubnetIds"] == [
        subnet.subnet_id for subnet in network.service_subnets
    ]
    stored = one(stack, "AWS::SecretsManager::Secret")
    assert stored["DeletionPolicy"] == "RetainExceptOnCreate"
    assert stored["Properties"]["GenerateSecretString"]["SecretStringTemplate"] == '{"username":"slurm"}'
    template.resource_count_is("AWS::SecretsManager::RotationSchedule", 0)


def test_what_is_retained_keeps_what_it_cannot_do_without(stack: Stack, network: Network) -> None:
    _ = AccountingDatabase(stack, "Database", network=network).password_secret
    resources = Template.from_stack(stack).to_json()["Resources"].values()
    policies = [(one["Type"], one.get("DeletionPolicy"), one.get("UpdateReplacePolicy")) for one in resources]
    kept = [kind for kind, *policy in policies if policy == ["RetainExceptOnCreate", "Retain"]]
    assert "Retain" not in {deletion for _, deletion, _ in policies}  # a first creation that fails leaves nothing
    assert sorted(kept) == [
        "AWS::EC2::SecurityGroup",
        "AWS::IAM::Role",
        "AWS::RDS::DBInstance",
        "AWS::RDS::DBParameterGroup",
        "AWS::RDS::DBSubnetGroup",
        "AWS::SecretsManager::Secret",
        "AWS::SecretsManager::Secret",
        "Custom::DeletionProtection",
    ]


def test_the_plain_password_is_a_copy_that_stands_in_no_template(stack: Stack, network: Network) -> None:
    database = AccountingDatabase(stack, "Database", network=network)
    assert database.password_secret is database.password_secret
    secrets = Template.from_stack(stack).find_resources("AWS::SecretsManager::Secret")
    (generated,) = [name for name, secret in secrets.items() if "GenerateSecretString" in secret["Properties"]]
    (copy,) = [secret["Properties"] for name, secret in secrets.items() if name != generated]
    reference = ["{{resolve:secretsmanager:", {"Ref": generated}, ":SecretString:password::}}"]
    assert copy == {
        "Description": "Password of the accounting database, and nothing else",
        "SecretString": {"Fn::Join": ["", reference]},
    }
    assert one(stack, "AWS::RDS::DBInstance")["Properties"]["MasterUserPassword"] == copy["SecretString"]


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
    assert database.password_secret.encryption_key is not None
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
    secrets = Template.from_stack(stack).find_resources("AWS::SecretsManager::Secret").values()
    assert [secret["Properties"]["KmsKeyId"] for secret in secrets] == [{"Fn::GetAtt": [key_id, "Arn"]}] * 2
    assert {secret["DeletionPolicy"] for secret in secrets} == {"Delete"}
    assert (database.port, database.user, database.schema_name) == (13306, "slurm", "jobs_2026")


def test_mariadb_in_place_of_mysql(stack: Stack, network: Network) -> None:
    AccountingDatabase(stack, "Database", network=network, engine=DatabaseEngine.MARIADB, require_tls=True)
    found = one(stack, "AWS::RDS::DBInstance")["Properties"]
    assert (found["Engine"], found["EngineVersion"]) == ("mariadb", "11.4.10")
    group = one(stack, "AWS::RDS::DBParameterGroup")["Properties"]
    assert group["Family"] == "mariadb11.4"
    assert group["Parameters"]["require_secure_transport"] == "1"


def test_a_version_of_mariadb(stack: Stack, network: Network) -> None:
    version = rds.MariaDbEngineVersion.VER_10_11
    AccountingDatabase(stack, "Database", network=network, engine=DatabaseEngine.MARIADB, engine_version=version)
    assert one(stack, "AWS::RDS::DBInstance")["Properties"]["EngineVersion"] == "10.11"


def test_an_imported_database(stack: Stack) -> None:
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "slurm")
    group = ec2.SecurityGroup.from_security_group_id(stack, "DatabaseGroup", "sg-1")
    database = AccountingDatabase.from_attributes(
        stack, "Database", endpoint="db.example", secret=secret, security_group=group, user="slurmdbd"
    )
    assert (database.endpoint, database.port, database.user, database.schema_name) == (
        "db.example", 3306, "slurmdbd", None,
    )  # fmt: skip
    assert database.secret is secret
    assert len(database.connections.security_groups) == 1


def test_an_imported_database_with_a_plain_password(stack: Stack) -> None:
    plain = secretsmanager.Secret.from_secret_name_v2(stack, "Plain", "slurm-password")
    database = AccountingDatabase.from_attributes(
        stack,
        "Database",
        endpoint="db.example",
        secret=secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "slurm"),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "DatabaseGroup", "sg-1"),
        password_secret=plain,
    )
    assert database.password_secret is plain


def test_fails_to_give_the_plain_password_of_an_imported_database_that_has_none(stack: Stack) -> None:
    database = AccountingDatabase.from_attributes(
        stack,
        "Database",
        endpoint="db.example",
        secret=secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "slurm"),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "DatabaseGroup", "sg-1"),
    )
    with pytest.raises(ConfigurationError) as refusal:
        _ = database.password_secret
    assert refusal.value.problems == (
        (
            "'password_secret' must be given for ParallelCluster, which reads no JSON; give from_attributes a secret "
            "that holds the password and nothing else"
        ),
    )


SCHEMA = (
    "'schema_name' must be 1 to 64 letters, digits, '_' and '$', not digits alone, and no schema of the server's own, "
    "as slurm_acct_db"
)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"schema_name": "jobs-2026"},
            f"{SCHEMA}, got 'jobs-2026'",
        ),
        ({"schema_name": "mysql"}, f"{SCHEMA}, got 'mysql'"),
        ({"schema_name": "INFORMATION_Schema"}, f"{SCHEMA}, got 'INFORMATION_Schema'"),
        ({"schema_name": "2026"}, f"{SCHEMA}, got '2026'"),
        (
            {"engine": "mariadb"},
            "'engine' must be DatabaseEngine.MYSQL or DatabaseEngine.MARIADB, got 'mariadb' (str)",
        ),
        (
            {"engine": Token.as_string({"Ref": "Engine"})},
            "'engine' must be known at synthesis, got a Token: each has its parameters; write it out",
        ),
        (
            {"engine": DatabaseEngine.MARIADB, "engine_version": "11.4"},
            "'engine_version' must be an rds.MariaDbEngineVersion for 'engine' mariadb, got '11.4' (str)",
        ),
        ({"backup_retention": Duration.days(36)}, "'backup_retention' must be 1 to 35 days, got 36"),
    ],
)
def test_fails_with_an_exact_message(stack: Stack, network: Network, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        AccountingDatabase(stack, "Database", network=network, **changes)
    assert refusal.value.problems == (problem,)


def test_fails_with_a_version_of_the_other_engine(stack: Stack, network: Network) -> None:
    version = rds.MariaDbEngineVersion.VER_11_4_10
    with pytest.raises(ConfigurationError) as refusal:
        AccountingDatabase(stack, "Database", network=network, engine_version=version)
    assert refusal.value.problems == (
        "'engine_version' must be an rds.MysqlEngineVersion for 'engine' mysql, got a MariaDbEngineVersion",
    )


def test_fails_without_service_subnets(place: Place) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        AccountingDatabase(place.stack, "Database", network=place.network)
    assert refusal.value.problems == (
        (
            "'network.service_subnets' must be in at least 2 zones for the accounting database, got none; "
            "give a new network its 'service_zones'"
        ),
    )


def test_fails_with_service_subnets_in_one_zone() -> None:
    (problem,) = subnet_zone_problems(("service_zones",), ["us-west-2a", "us-west-2a"])
    assert problem.text == "must be in at least 2 zones for the accounting database, got us-west-2a"


def test_fails_to_import_a_schema_that_cannot_be(stack: Stack) -> None:
    with pytest.raises(ConfigurationError, match="'schema_name' must be"):
        AccountingDatabase.from_attributes(
            stack,
            "Database",
            endpoint="db.example",
            secret=secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "slurm"),
            security_group=ec2.SecurityGroup.from_security_group_id(stack, "DatabaseGroup", "sg-1"),
            schema_name="x" * 65,
        )


def test_tokens_pass(place: Place) -> None:
    zones = [Token.as_string({"Fn::Select": [number, {"Fn::GetAZs": ""}]}) for number in (0, 1)]
    network = service_network(place, *zones)
    AccountingDatabase(place.stack, "Database", network=network, schema_name=Token.as_string({"Ref": "Schema"}))
    assert one(place.stack, "AWS::RDS::DBInstance")


@pytest.mark.slow
def test_who_makes_no_database_does_not_wait_for_rds() -> None:
    rooms = ("storage", "hyperpod", "parallelcluster", "deployment")
    code = (
        f"import sys, {', '.join(f'cdk_trainyard.{room}' for room in rooms)}; print('aws_cdk.aws_rds' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "False"
