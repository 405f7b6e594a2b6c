"""The accounting database of a ParallelCluster: who reaches it, who reads its password, what waits for it."""

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.parallelcluster import ParallelCluster, SlurmAccounting, SlurmSettings
from cdk_trainyard.storage import AccountingDatabase
from tests.parallelcluster.parts import config, head, new_network, new_stack, queue, resource

ARN = "arn:aws:secretsmanager:us-east-1:111111111111:secret:slurm-AbCdEf"


def with_accounting(stack: Stack, accounting: SlurmAccounting, **network: Any) -> Template:
    """Return the template of a cluster that keeps its accounts there."""
    ParallelCluster(
        stack,
        "Cluster",
        network=new_network(stack, **network),
        head_node=head(),
        queues=[queue()],
        slurm=SlurmSettings(accounting=accounting),
    )
    return Template.from_stack(stack)


def existing(stack: Stack, **changes: Any) -> SlurmAccounting:
    """Return a database that exists, with changes."""
    password = secretsmanager.Secret.from_secret_complete_arn(stack, "Password", ARN)
    return SlurmAccounting(
        **{"endpoint": "slurm.example", "user_name": "slurm", "password_secret": password, **changes}
    )


@pytest.fixture(scope="module")
def own() -> Template:
    """A cluster beside a database of the same app, encrypted with a key of the user's."""
    stack = new_stack()
    network = new_network(stack, service_zones=["us-east-1a", "us-east-1b"])
    database = AccountingDatabase(
        stack, "Accounting", network=network, key=kms.Key(stack, "Key"), schema_name="jobs", port=3307
    )
    ParallelCluster(
        stack,
        "Cluster",
        network=network,
        head_node=head(),
        queues=[queue()],
        slurm=SlurmSettings(accounting=SlurmAccounting.of(database)),
    )
    return Template.from_stack(stack)


def test_the_configuration_refers_to_the_database_and_its_plain_password(own: Template) -> None:
    secrets = own.find_resources("AWS::SecretsManager::Secret")
    (plain,) = [name for name, secret in secrets.items() if "SecretString" in secret["Properties"]]
    (database,) = own.find_resources("AWS::RDS::DBInstance")
    assert config(own)["Scheduling"]["SlurmSettings"]["Database"] == {
        "Uri": {"Fn::Join": ["", [{"Fn::GetAtt": [database, "Endpoint.Address"]}, ":3307"]]},
        "UserName": "slurm",
        "PasswordSecretArn": {"Ref": plain},
        "DatabaseName": "jobs",
    }


def test_the_head_node_reaches_the_database_and_no_other_node_does(own: Template) -> None:
    ((rule_id, rule),) = own.find_resources(
        "AWS::EC2::SecurityGroupIngress", {"Properties": {"FromPort": 3307, "ToPort": 3307}}
    ).items()
    client = rule["Properties"]["SourceSecurityGroupId"]
    own.has_resource_properties(
        "AWS::EC2::SecurityGroupEgress",
        {"GroupId": client, "DestinationSecurityGroupId": rule["Properties"]["GroupId"], "FromPort": 3307},
    )
    written = config(own)
    assert client in written["HeadNode"]["Networking"]["AdditionalSecurityGroups"]
    (compute,) = written["Scheduling"]["SlurmQueues"]
    assert client not in compute["Networking"]["AdditionalSecurityGroups"]
    (egress_id,) = own.find_resources("AWS::EC2::SecurityGroupEgress", {"Properties": {"FromPort": 3307}})
    assert {rule_id, egress_id} <= set(resource(own)["DependsOn"])


def test_the_head_node_alone_decrypts_the_password(own: Template) -> None:
    ((policy_id, policy),) = [
        (name, one)
        for name, one in own.find_resources("AWS::IAM::ManagedPolicy").items()
        if "kms:Decrypt" in str(one["Properties"]["PolicyDocument"])
    ]
    (key,) = own.find_resources("AWS::KMS::Key")
    assert policy["Properties"]["Path"] == "/parallelcluster/"
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Action"], statement["Resource"]) == ("kms:Decrypt", {"Fn::GetAtt": [key, "Arn"]})
    via = ["secretsmanager.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]
    assert statement["Condition"] == {"StringEquals": {"kms:ViaService": {"Fn::Join": ["", via]}}}
    written = config(own)
    assert {"Policy": {"Ref": policy_id}} in written["HeadNode"]["Iam"]["AdditionalIamPolicies"]
    (compute,) = written["Scheduling"]["SlurmQueues"]
    assert {"Policy": {"Ref": policy_id}} not in compute["Iam"]["AdditionalIamPolicies"]


def test_a_database_that_exists_opens_nothing_by_itself() -> None:
    stack = new_stack()
    template = with_accounting(stack, existing(stack))
    assert config(template)["Scheduling"]["SlurmSettings"]["Database"] == {
        "Uri": "slurm.example:3306",
        "UserName": "slurm",
        "PasswordSecretArn": ARN,
    }
    assert len(config(template)["HeadNode"]["Networking"]["AdditionalSecurityGroups"]) == 1
    template.resource_properties_count_is("AWS::EC2::SecurityGroupIngress", {"FromPort": 3306}, 0)


def test_a_database_that_exists_lets_the_head_node_in_and_the_provider_looks_at_its_password() -> None:
    stack = new_stack()
    group = ec2.SecurityGroup.from_security_group_id(stack, "Database", "sg-0123456789abcdef0")
    template = with_accounting(stack, existing(stack, security_group=group))
    template.has_resource_properties(
        "AWS::EC2::SecurityGroupIngress", {"FromPort": 3306, "ToPort": 3306, "GroupId": "sg-0123456789abcdef0"}
    )
    look = {"Action": "secretsmanager:DescribeSecret", "Effect": "Allow", "Resource": ARN}
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy", {"Path": "/parallelcluster/", "PolicyDocument": {"Statement": [look]}}
    )
    template.has_resource_properties(
        "AWS::CloudFormation::Stack", {"Parameters": {"AdditionalIamPolicies": {"Ref": Match.any_value()}}}
    )


def test_fails_with_an_imported_database_that_has_no_plain_password() -> None:
    stack = new_stack()
    database = AccountingDatabase.from_attributes(
        stack,
        "Accounting",
        endpoint="slurm.example",
        secret=secretsmanager.Secret.from_secret_complete_arn(stack, "Secret", ARN),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0"),
    )
    with pytest.raises(ConfigurationError, match="'password_secret' must be given for ParallelCluster"):
        SlurmAccounting.of(database)


def test_fails_with_a_schema_name_that_parallelcluster_does_not_take() -> None:
    stack = new_stack()
    network = new_network(stack, service_zones=["us-east-1a", "us-east-1b"])
    accounting = SlurmAccounting.of(AccountingDatabase(stack, "Accounting", network=network, schema_name="Jobs$"))
    with pytest.raises(ConfigurationError) as refusal:
        ParallelCluster(
            stack,
            "Cluster",
            network=network,
            head_node=head(),
            queues=[queue()],
            slurm=SlurmSettings(accounting=accounting),
        )
    (problem,) = refusal.value.problems
    assert problem.startswith("'slurm.accounting.schema_name' must be lower case letters, digits and '_'")
    assert "'Jobs$'" in problem
