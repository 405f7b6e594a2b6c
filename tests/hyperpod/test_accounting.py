"""The accounting database of a HyperPod cluster: who reaches it, reads its secret and waits for it."""

from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import HyperPodCluster, Lifecycle, NodeProvisioning, bundle
from cdk_trainyard.lifecycle import DatabaseAccounting, GroupRole, NodeOpenZfs, NodeSetup, SlurmTopology
from cdk_trainyard.storage import AccountingDatabase, Mount, OpenZfs
from tests.hyperpod.parts import cluster_properties, controller, service_subnets, statements, worker
from tests.parts import existing_network


def test_a_cluster_reaches_it_reads_its_secret_and_waits_for_it(stack: Stack) -> None:
    network = existing_network(stack, service_subnets=service_subnets(stack, "us-west-2a", "us-west-2b"))
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
    assert statements(stack, "ControllerRole")["secretsmanager:GetSecretValue"]["Resource"] == slurm["SecretArn"]
    assert "secretsmanager" not in str(statements(stack))
    (cluster,) = template.find_resources("AWS::SageMaker::Cluster").values()
    (rule_id,) = template.find_resources(
        "AWS::EC2::SecurityGroupIngress", {"Properties": {"FromPort": 3306, "ToPort": 3306}}
    )
    (policy_id,) = [name for name in template.find_resources("AWS::IAM::ManagedPolicy") if "ControllerRole" in name]
    assert {rule_id, policy_id} <= set(cluster["DependsOn"])
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


# ---------------------------------------------------------------- set up by the project's own scripts
def cluster_of_scripts(stack: Stack, **changes: Any) -> HyperPodCluster:
    """A cluster whose own scripts configure the controller, with a database."""
    network = existing_network(stack, service_subnets=service_subnets(stack, "us-west-2a", "us-west-2b"))
    options = {
        "groups": [controller(), worker()],
        "network": network,
        "accounting": AccountingDatabase(stack, "Database", network=network),
        "lifecycle": Lifecycle(on_create="on_create.sh"),
        "scripts_bucket": s3.Bucket(stack, "Bucket"),
    }
    return HyperPodCluster(stack, "Cluster", **{**options, **changes})


def setup_of(cluster: HyperPodCluster) -> NodeSetup:
    """What the scripts are told to set up."""
    return bundle._setup(cluster._cluster, next(iter(cluster._databases), None), cluster._schema_name())


def told(cluster: HyperPodCluster) -> DatabaseAccounting | None:
    """What the scripts are told of the accounting."""
    return setup_of(cluster).accounting


@pytest.mark.parametrize("topology", SlurmTopology)
def test_scripts_that_configure_the_controller_set_the_database_up(stack: Stack, topology: SlurmTopology) -> None:
    accounting = told(cluster_of_scripts(stack, topology=topology))
    assert isinstance(accounting, DatabaseAccounting)
    assert (accounting.port, accounting.schema) == (3306, "slurm_acct_db_Stack_Cluster_F0EB02FA")
    (secret_id,) = Template.from_stack(stack).find_resources("AWS::SecretsManager::Secret")
    assert stack.resolve(accounting.secret_arn) == {"Ref": secret_id}
    assert statements(stack, "ControllerRole")["secretsmanager:GetSecretValue"]["Resource"] == {"Ref": secret_id}
    orchestrator = cluster_properties(stack).get("Orchestrator", {"Slurm": {}})
    assert "AccountingDatabase" not in orchestrator["Slurm"]  # the service takes it with continuous provisioning only


def test_fails_with_accounting_in_two_places(stack: Stack) -> None:
    with pytest.raises(ConfigurationError) as refused:
        cluster_of_scripts(stack, node_setup=NodeSetup(local_accounting=True))
    why = "Slurm keeps its accounting in one place"
    assert refused.value.problems == (
        f"'node_setup.local_accounting' must be false beside an accounting database: {why}",
    )


def test_scripts_that_come_after_the_image_set_no_database_up(stack: Stack) -> None:
    cluster = cluster_of_scripts(
        stack, lifecycle=Lifecycle(on_init_complete="on_init_complete.sh"), provisioning=NodeProvisioning.CONTINUOUS
    )
    assert told(cluster) is None
    assert "AccountingDatabase" in cluster_properties(stack)["Orchestrator"]["Slurm"]


def test_an_openzfs_mount_and_efa_reach_the_scripts(stack: Stack) -> None:
    cluster = cluster_of_scripts(
        stack,
        accounting=None,
        mounts=[Mount(file_system=OpenZfs(dns_name="fs-0123456789abcdef9.fsx.us-west-2.amazonaws.com"))],
    )
    settings = bundle.node_settings(cluster._cluster, cluster._mounts, setup_of(cluster))
    assert settings.openzfs == NodeOpenZfs(
        dns_name="fs-0123456789abcdef9.fsx.us-west-2.amazonaws.com", mount_path="/home"
    )
    assert settings.lustre is None


@pytest.mark.parametrize(
    ("lifecycle", "hooks"),
    [(None, True), (Lifecycle(on_init_complete="on_init_complete.sh"), False), (Lifecycle(), False)],
)
@pytest.mark.parametrize("role", [GroupRole.COMPUTE, GroupRole.LOGIN, GroupRole.CONTROLLER])
def test_prolog_and_epilog_are_on_every_node_before_its_slurm_runs_or_on_none(
    stack: Stack, role: GroupRole, lifecycle: Lifecycle | None, hooks: bool
) -> None:
    groups = [controller(), worker(), worker(name="login", role=GroupRole.LOGIN)]
    groups = [replace(group, lifecycle=lifecycle) if group.role is role else group for group in groups]
    cluster = cluster_of_scripts(stack, accounting=None, groups=groups)
    assert setup_of(cluster).job_hooks is hooks
