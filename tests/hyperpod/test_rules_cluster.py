"""One refusal after another: exact messages for every rule of a whole cluster."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import (
    EbsVolume,
    GroupRole,
    HyperPodCluster,
    InterfaceType,
    Lifecycle,
    MultiHead,
    NodeProvisioning,
    ScheduledUpdate,
    SlurmConfigStrategy,
)
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.lifecycle import LifecycleScripts, LogRotation, NodeSetup, PamSlurmAdopt, SlurmTopology
from cdk_trainyard.network import HYPERPOD_ENDPOINTS, TrainingNetwork
from cdk_trainyard.storage import AccountingDatabase, AccountingDatabaseBase, Lustre, LustreFileSystem, Mount, OpenZfs
from tests.hyperpod.parts import (
    ACCOUNT,
    REGION,
    SCRIPTS,
    controller,
    existing_lustre,
    group,
    legacy_scripts,
    shared_group,
    worker,
)
from tests.parts import existing_network

Build = Callable[..., HyperPodCluster]
CONTINUOUS = NodeProvisioning.CONTINUOUS
PLAN = "arn:aws:sagemaker:us-west-2:111111111111:training-plan/plan-1"
ZFS = OpenZfs(dns_name="fs-01234567.fsx.us-west-2.example")


def refusal(build: Build, **changes: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as refused:
        build(**changes)
    return refused.value.problems


def database(stack: Stack) -> AccountingDatabaseBase:
    network = existing_network(stack, "DatabaseNetwork")
    return AccountingDatabase.from_attributes(
        stack,
        "Database",
        endpoint="db.example",
        secret=secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "slurm"),
        security_group=shared_group(stack, network, "DatabaseGroup").security_group,
    )


OWN_IMAGE = {"image_id": "ami-0123456789abcdef0"}
TAKEN = "must not be 'dev' as a partition, into which HyperPod puts every node"
REFUSALS = [
    ({"groups": [controller(), worker(partition="dev")]}, f"'groups.worker-group.partition' {TAKEN}"),
    (
        {"groups": [controller(), worker(name="dev")]},
        f"'groups.dev' {TAKEN}; give it another 'partition', or another name",
    ),
    (
        {"groups": [controller(**OWN_IMAGE), worker(instance_type="ml.c7g.xlarge", **OWN_IMAGE)]},
        (
            "'groups.worker-group.image_id' must be another AMI than the one that the group 'controller-group' has for "
            "ml.m5.large of x86_64, got 'ami-0123456789abcdef0' for ml.c7g.xlarge of arm64"
        ),
    ),
    (
        {"cluster_name": "clüster"},
        "'cluster_name' must be 1 to 63 letters, digits and inner hyphens, got 'clüster'",
    ),
    (
        {"cluster_name": "train_1"},
        "'cluster_name' must be 1 to 63 letters, digits and inner hyphens, got 'train_1'; use 'train-1'",
    ),
    (
        {"cluster_name": "c" * 64},
        (
            "'cluster_name' must be 1 to 63 letters, digits and inner hyphens, got "
            "'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc' (64 characters)"
        ),
    ),
    (
        {"groups": [controller(), worker(), worker()]},
        "'groups.worker-group.name' must be a name of its own, got 'worker-group' again",
    ),
    (
        {"groups": [controller(), controller(name="controller-2"), worker()]},
        "'groups' must hold exactly one controller group, got 2: controller-group, controller-2",
    ),
    ({"groups": [worker()]}, "'groups' must hold exactly one controller group, got none"),
    (
        {"groups": [controller(), worker(), *(group(f"login-{n}", GroupRole.LOGIN) for n in (1, 2))]},
        "'groups' must hold at most one login group, got 2: login-1, login-2",
    ),
    (
        {"groups": [controller()]},
        "'groups' must hold at least one compute group, got none; there would be nothing to run jobs on",
    ),
    (
        {"groups": [controller(partition="dev"), worker()]},
        (
            "'groups.controller-group.partition' must be left out for a controller group, got 'dev'; partitions "
            "hold compute nodes"
        ),
    ),
    (
        {"groups": [controller(), worker(partition="ml.p5.48xlarge")]},
        (
            "'groups.worker-group.partition' must be 1 to 1024 letters, digits and inner hyphens, got "
            "'ml.p5.48xlarge'; use 'ml-p5-48xlarge'"
        ),
    ),
    (
        {"slurm_config_strategy": SlurmConfigStrategy.MANAGED, "provisioning": CONTINUOUS},
        (
            "'slurm_config_strategy' must be left out with continuous provisioning, got Managed; the service "
            "merges and rejects the field"
        ),
    ),
    (
        {"groups": [controller(), worker(min_count=1)]},
        "'groups.worker-group.min_count' needs 'provisioning' Continuous of the cluster",
    ),
    (
        {"groups": [controller(), worker(capacity=UsageClass.SPOT)]},
        "'groups.worker-group.capacity' needs 'provisioning' Continuous of the cluster to be spot",
    ),
    (
        {"groups": [controller(count=2), worker()]},
        (
            "'groups.controller-group.count' must be 1 for a controller group, got 2; several controllers need "
            "the legacy topology, and the construct library"
        ),
    ),
    (
        {"groups": [controller(count=0), worker()]},
        "'groups.controller-group.count' must be 1 for a controller group, got 0",
    ),
    (
        {"groups": [controller(), worker(lifecycle=Lifecycle(on_create="on_create.sh"))]},
        (
            "'groups.worker-group.lifecycle' must name its scripts; give it 'scripts', or give the cluster a "
            "bucket for the project's own"
        ),
    ),
    (
        {"mounts": [Mount(file_system=ZFS)]},
        "'mounts' needs 'network'; nodes in HyperPod's own VPC do not reach your file systems",
    ),
    (
        {"groups": [controller(), worker(mounts=[Mount(file_system=ZFS)])]},
        "'groups.worker-group.mounts' needs 'network' of the cluster",
    ),
    *(
        ({"raw_overrides": {name: 3}}, f"'raw_overrides.{name}' must not be overridden here; {remedy}")
        for name, remedy in (
            ("InstanceGroups.0.InstanceCount", "for a group, use 'count'"),
            ("instance_count", "for a group, use 'count'"),
            ("InstanceGroups", "give it to the group, under its 'raw_overrides'"),
            ("instance_groups", "give it to the group, under its 'raw_overrides'"),
            ("OverrideVpcConfig.Subnets", "give it to the group, under its 'raw_overrides'"),
        )
    ),
    *(
        ({"raw_overrides": {path: value}}, f"'raw_overrides.{path}' must not be overridden: {why}")
        for path, value, why in (
            ("AutoScaling.Mode", "Enable", "it is for clusters with Amazon EKS, and this one has Slurm"),
            ("Orchestrator.Eks", {"ClusterArn": "a"}, "it is for clusters with Amazon EKS, and this one has Slurm"),
            ("Orchestrator.Slurm.SlurmConfigStrategy", "Managed", "use 'slurm_config_strategy'"),
            ("Orchestrator.Slurm.AccountingDatabase.Name", "slurm", "use 'accounting'"),
            ("Tags", [{"Key": "a", "Value": "b"}], "tags of the whole deployment stand there"),
            ("CreationTime", "2026-11-27", "the service writes it"),
        )
    ),
    *(
        (
            {"raw_overrides": overrides},
            f"'raw_overrides.{path}' must not be enabled: it is for clusters with Amazon EKS, and this one has Slurm",
        )
        for path, overrides in (
            ("TieredStorageConfig", {"TieredStorageConfig": {"Mode": "Enable"}}),
            ("TieredStorageConfig.Mode", {"TieredStorageConfig.Mode": "Enable"}),
        )
    ),
    (
        {"raw_overrides": {"TieredStorageConfig.Mode": {"Ref": "AWS::NoValue"}}},
        (
            "'raw_overrides.TieredStorageConfig.Mode' must be given with 'TieredStorageConfig.Mode', which "
            "CloudFormation requires"
        ),
    ),
]


def test_fails_with_other_subnets_than_the_network_s(stack: Stack, build: Build) -> None:
    problems = refusal(build, network=existing_network(stack), raw_overrides={"VpcConfig.Subnets": ["subnet-01234567"]})
    assert problems == ("'raw_overrides.VpcConfig.Subnets' must not be overridden: 'network' says its subnets",)


def test_a_security_group_may_be_put_beside_those_of_the_network(stack: Stack, build: Build) -> None:
    build(network=existing_network(stack), raw_overrides={"VpcConfig.SecurityGroupIds.1": "sg-0123456789abcdef0"})


def test_fails_when_every_node_could_read_the_password(stack: Stack, build: Build) -> None:
    options = {"accounting": database(stack), "network": existing_network(stack), "provisioning": CONTINUOUS}
    role = iam.Role.from_role_arn(stack, "Role", f"arn:aws:iam::{ACCOUNT}:role/all")
    why = "with one role for all, every node could read its password"
    assert refusal(build, role=role, **options) == (
        f"'role' must have 'controller_role' beside it when there is an accounting database; {why}",
    )


def test_fails_when_no_role_is_made_that_could_go_without_a_policy(stack: Stack, build: Build) -> None:
    role = iam.Role.from_role_arn(stack, "Role", f"arn:aws:iam::{ACCOUNT}:role/all")
    assert refusal(build, role=role, aws_managed_policy=False) == (
        "'aws_managed_policy' must be left out beside 'role': only roles that are made have the policy, and none is",
    )


def test_nodes_whose_role_is_made_may_go_without_a_policy(stack: Stack, build: Build) -> None:
    role = iam.Role.from_role_arn(stack, "Role", f"arn:aws:iam::{ACCOUNT}:role/controllers")
    build(controller_role=role, aws_managed_policy=False)


def test_fails_when_the_controllers_have_the_nodes_role_by_another_name(stack: Stack, build: Build) -> None:
    options = {"accounting": database(stack), "network": existing_network(stack), "provisioning": CONTINUOUS}
    role, same = (iam.Role.from_role_arn(stack, name, f"arn:aws:iam::{ACCOUNT}:role/all") for name in ("Role", "Same"))
    assert refusal(build, role=role, controller_role=same, **options) == (
        (
            "'controller_role' must be another role than 'role' when there is an accounting database; with one role "
            f"for all, every node could read its password, got 'arn:aws:iam::{ACCOUNT}:role/all' for both"
        ),
    )


def test_controllers_may_have_a_role_of_their_group(stack: Stack, build: Build) -> None:
    role = iam.Role.from_role_arn(stack, "Role", f"arn:aws:iam::{ACCOUNT}:role/all")
    options = {"accounting": database(stack), "network": existing_network(stack), "provisioning": CONTINUOUS}
    groups = [controller(execution_role=role), worker()]
    assert build(role=role, groups=groups, **options).execution_role.role is role


@pytest.mark.parametrize(("changes", "problem"), REFUSALS, ids=[problem[:70] for _, problem in REFUSALS])
def test_fails_with_an_exact_message(build: Build, changes: dict[str, Any], problem: str) -> None:
    assert refusal(build, **changes) == (problem,)


@pytest.mark.parametrize("image", ["default", OWN_IMAGE["image_id"]])
def test_groups_may_share_an_image(build: Build, image: str) -> None:
    workers = worker(instance_type="ml.c7g.xlarge" if image == "default" else "ml.c5.xlarge", image_id=image)
    build(groups=[controller(image_id=image), workers])


def test_fails_without_groups(build: Build) -> None:
    assert refusal(build, groups=[]) == ("'groups' must be 1 to 100, got 0",)


def test_fails_with_too_many_groups(build: Build) -> None:
    many = [controller(), *(worker(name=f"w{number}") for number in range(100))]
    assert refusal(build, groups=many) == ("'groups' must be 1 to 100, got 101",)


def test_fails_with_accounting_without_continuous_provisioning(stack: Stack, build: Build) -> None:
    problems = refusal(build, accounting=database(stack), network=existing_network(stack))
    ours = "of the scripts that come with cdk-trainyard: they alone set it up"
    script = f"or 'on_create' in the lifecycle of one controller, {ours}"
    assert problems == (f"'accounting' needs 'provisioning' Continuous, {script}",)


def test_fails_with_accounting_without_a_network(stack: Stack, build: Build) -> None:
    problems = refusal(build, accounting=database(stack), provisioning=CONTINUOUS)
    assert problems == ("'accounting' needs 'network'; nodes in HyperPod's own VPC do not reach it",)


def test_fails_with_volume_keys_without_continuous_provisioning(stack: Stack, build: Build) -> None:
    encrypted = worker(volumes=[EbsVolume(size_gb=100, key=kms.Key(stack, "Key"))])
    problems = refusal(build, groups=[controller(), encrypted])
    assert problems == ("'groups.worker-group.volumes[0].key' needs 'provisioning' Continuous of the cluster",)


def test_fails_with_the_legacy_topology_without_scripts(stack: Stack, build: Build) -> None:
    problems = refusal(
        build,
        topology=SlurmTopology.LEGACY,
        provisioning=CONTINUOUS,
        network=existing_network(stack),
        groups=[controller(), worker(mounts=[Mount(file_system=ZFS)])],
    )
    no_script = "must run a script in topology legacy; the topology is a file beside the scripts"
    one_set = "the file knows one set of mounts for all, give them to the cluster"
    assert problems == (
        "'provisioning' must not be Continuous with 'topology' legacy; use api",
        f"'groups.controller-group' {no_script}",
        f"'groups.worker-group' {no_script}",
        f"'groups.worker-group.mounts' must be left out in topology legacy; {one_set}",
    )


def test_fails_with_accounting_of_the_api_and_multi_head_of_one(stack: Stack, build: Build) -> None:
    accounting = database(stack)
    problems = refusal(
        build,
        topology=SlurmTopology.LEGACY,
        multi_head=MultiHead(database=accounting),
        accounting=accounting,
        network=existing_network(stack),
        lifecycle=Lifecycle(on_create="on_create.sh"),
        scripts_bucket=s3.Bucket(stack, "Bucket"),
    )
    assert problems == (
        "'groups.controller-group.count' must be 2 or more for several controllers, got 1",
        (
            "'accounting' must be left out with 'topology' legacy, or come with 'on_create' in the lifecycle of one "
            "controller, of the scripts that come with cdk-trainyard: they alone set it up"
        ),
    )


@pytest.mark.parametrize(
    ("option", "script"),
    [("on_create", "clock.py"), ("on_create", "on_init_complete.sh"), ("on_init_complete", "on_create.sh")],
)
def test_fails_with_a_script_of_ours_that_is_not_for_this(stack: Stack, build: Build, option: str, script: str) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    assert refusal(build, lifecycle=Lifecycle(**{option: script}), scripts_bucket=bucket) == (
        (
            f"'lifecycle.{option}' must be '{option}.sh', got '{script}'; of the scripts that come with cdk-trainyard "
            "it alone is for this"
        ),
    )


AFTER_IMAGE = "must be left out when no group runs 'on_create': after HyperPod's image, the image's own stays"


@pytest.mark.parametrize(
    ("name", "setup"),
    [
        ("ssh", NodeSetup(ssh=False)),
        ("rotate_logs", NodeSetup(rotate_logs=False)),
        ("logs", NodeSetup(logs=LogRotation(days=3))),
    ],
)
def test_fails_for_what_no_script_heeds(name: str, setup: NodeSetup, stack: Stack, build: Build) -> None:
    after = Lifecycle(on_init_complete="on_init_complete.sh")
    bucket = s3.Bucket(stack, "Bucket")
    assert refusal(build, lifecycle=after, scripts_bucket=bucket, node_setup=setup) == (
        f"'node_setup.{name}' {AFTER_IMAGE}",
    )
    on_create = Lifecycle(on_create="on_create.sh")
    groups = [controller(), worker()]
    HyperPodCluster(stack, "Right", groups=groups, lifecycle=on_create, scripts_bucket=bucket, node_setup=setup)


def test_fails_for_a_history_that_updates_wipe(stack: Stack, build: Build) -> None:
    weekly = ScheduledUpdate(schedule="cron(0 4 ? * SUN *)")
    scripts = {"lifecycle": Lifecycle(on_create="on_create.sh"), "scripts_bucket": s3.Bucket(stack, "Bucket")}
    local = NodeSetup(local_accounting=True)
    assert refusal(build, groups=[controller(scheduled_update=weekly), worker()], node_setup=local, **scripts) == (
        (
            "'node_setup.local_accounting' must be false: each 'scheduled_update' of 'controller-group' replaces the "
            "volume that has its history; give 'accounting' a database"
        ),
    )
    groups = [controller(), worker(scheduled_update=weekly)]
    HyperPodCluster(stack, "Right", groups=groups, node_setup=local, **scripts)


def with_module(stack: Stack, **image: Any) -> dict[str, Any]:
    return {
        "lifecycle": Lifecycle(on_create="on_create.sh"),
        "scripts_bucket": s3.Bucket(stack, "Bucket"),
        "node_setup": NodeSetup(pam_slurm_adopt=PamSlurmAdopt(in_image=True)),
        "groups": [controller(), worker(**image)],
    }


def test_fails_with_a_module_in_hyperpod_s_own_image(stack: Stack, build: Build) -> None:
    assert refusal(build, **with_module(stack)) == (
        (
            "'node_setup.pam_slurm_adopt.in_image' must be false when the group 'worker-group' has no 'image_id' of "
            "yours, got true: HyperPod's own image has no such module"
        ),
    )


def test_a_module_may_be_in_an_image_of_yours(stack: Stack, build: Build) -> None:
    build(**with_module(stack, image_id="ami-0123456789abcdef0"))


@pytest.mark.parametrize("partition", ["a b", "a\nSlurmUser=root", "a,b=c", "", "a#b"])
def test_fails_with_a_legacy_partition_that_slurm_conf_cannot_hold(stack: Stack, build: Build, partition: str) -> None:
    form = "must be a name of letters, digits, '.', '_' and '-' other than DEFAULT, as training"
    problems = refusal(build, **legacy(stack), groups=[controller(), worker(partition=partition)])
    assert problems == (f"'groups.worker-group.partition' {form}, got {partition!r}",)


def test_a_partition_may_have_the_letters_of_dev_in_another_case(build: Build) -> None:
    build(groups=[controller(), worker(partition="Dev")])


def test_a_partition_may_have_more_characters_than_a_group(build: Build) -> None:
    build(groups=[controller(), worker(partition="p" * 1024)])


def test_fails_with_a_partition_that_is_too_long(build: Build) -> None:
    (problem,) = refusal(build, groups=[controller(), worker(partition="p" * 1025)])
    assert problem.startswith("'groups.worker-group.partition' must be 1 to 1024 letters")
    assert problem.endswith("(1025 characters)")


def test_a_legacy_partition_may_be_dev_as_in_aws_s_example(stack: Stack, build: Build) -> None:
    build(**legacy(stack), groups=[controller(), worker(name="a", partition="dev"), worker(name="b")])


def legacy_scripts_of_ours(stack: Stack) -> dict[str, Any]:
    lifecycle = Lifecycle(on_create="on_create.sh")
    return {"topology": SlurmTopology.LEGACY, "lifecycle": lifecycle, "scripts_bucket": s3.Bucket(stack, "Bucket")}


def test_our_scripts_take_the_legacy_partition_dev_for_all(stack: Stack, build: Build) -> None:
    groups = [controller(), *(worker(name=name, partition="dev") for name in "ab")]
    build(**legacy_scripts_of_ours(stack), groups=groups)


def test_our_scripts_take_no_legacy_partition_dev_beside_another(stack: Stack, build: Build) -> None:
    groups = [controller(), worker(name="a", partition="dev"), worker(name="b")]
    assert refusal(build, **legacy_scripts_of_ours(stack), groups=groups) == (f"'groups.a.partition' {TAKEN}",)


def test_a_legacy_partition_may_have_an_underscore(stack: Stack, build: Build) -> None:
    build(**legacy(stack), groups=[controller(), worker(partition="llama_2.8")])


def legacy(stack: Stack) -> dict[str, Any]:
    scripts = legacy_scripts(stack, {"version": "1.0.0"})
    return {"topology": SlurmTopology.LEGACY, "lifecycle": Lifecycle(on_create="on_create.sh", scripts=scripts)}


def test_fails_with_a_legacy_bundle_beside_slurm_config(stack: Stack, build: Build) -> None:
    scripts = legacy_scripts(stack, {"version": "1.0.0"})
    problems = refusal(
        build, groups=[controller(), worker(lifecycle=Lifecycle(on_create="on_create.sh", scripts=scripts))]
    )
    assert problems == ("'groups.worker-group.lifecycle' must run scripts for 'topology' api, got ones for legacy",)


def test_fails_with_a_file_that_the_bundle_does_not_hold(stack: Stack, build: Build) -> None:
    scripts = LifecycleScripts(stack, "Scripts", bucket=s3.Bucket(stack, "Bucket"), folder=SCRIPTS)
    wrong = Lifecycle(on_init_complete="on_craete.sh", scripts=scripts)
    problems = refusal(build, groups=[controller(), worker(lifecycle=wrong)])
    assert problems == (
        (
            "'groups.worker-group.lifecycle.on_init_complete' must be a file at the top of the folder, got "
            "'on_craete.sh'; did you mean 'on_create.sh'?"
        ),
    )


def test_fails_with_a_bucket_that_no_group_uses(stack: Stack, build: Build) -> None:
    problems = refusal(build, scripts_bucket=s3.Bucket(stack, "Bucket"))
    assert problems == ("'scripts_bucket' must be left out when no group runs scripts from it; give 'lifecycle' too",)


def test_fails_with_security_groups_and_no_network(stack: Stack, build: Build) -> None:
    elsewhere = existing_network(stack)
    groups = [controller(), worker(security_groups=[shared_group(stack, elsewhere, "Own")], network=elsewhere)]
    problems = refusal(build, security_group=shared_group(stack, elsewhere), groups=groups)
    assert problems == (
        "'security_group' needs 'network'",
        "'groups.worker-group.network' needs 'network' of the cluster",
        "'groups.worker-group.security_groups' needs 'network' of the cluster",
    )


def test_fails_with_six_security_groups(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    six = [shared_group(stack, network, f"Efa{number}") for number in range(6)]
    problems = refusal(
        build,
        network=network,
        security_group=six[0],
        extra_security_groups=six[1:],
        groups=[controller(), worker(security_groups=six)],
    )
    assert problems == (
        "'extra_security_groups' must be at most 4 beside 'security_group', got 5",
        "'groups.worker-group.security_groups' must be at most 5, got 6",
    )


# ---------------------------------------------------------------- networks
def lustre(stack: Stack, zone: str | None, *, efa: bool = False) -> Lustre:
    servers = shared_group(stack, existing_network(stack, "FileSystemNetwork"), "FileSystemGroup")
    return existing_lustre(stack, servers, zone=zone, efa_enabled=efa)


def test_fails_with_a_subnet_that_is_too_small(stack: Stack, build: Build) -> None:
    workers = worker(instance_type="ml.trn1.32xlarge", count=4)
    problems = refusal(
        build, network=existing_network(stack, accelerator_cidr="10.1.0.0/27"), groups=[controller(), workers]
    )
    assert problems == (
        (
            "'groups' must take at most the 27 addresses of the subnet 10.1.0.0/27, got 33 (controller-group 1 x "
            "m5.large x 1 = 1, worker-group 4 x trn1.32xlarge x 8 = 32); use a /26 or larger, EFA-only "
            "interfaces, or fewer nodes"
        ),
    )


def test_the_costliest_of_several_types_counts(stack: Stack, build: Build) -> None:
    several = worker(name="several", instance_types=["ml.trn1.32xlarge", "ml.trn1n.32xlarge"], count=2)
    small = existing_network(stack, accelerator_cidr="10.1.0.0/27")
    assert "several 2 x trn1n.32xlarge x 16 = 32" in refusal(build, network=small, groups=[controller(), several])[0]


def test_efa_only_interfaces_save_addresses(stack: Stack, build: Build) -> None:
    saving = worker(instance_type="ml.trn1n.32xlarge", count=2, interface_type=InterfaceType.EFA_ONLY)
    build(network=existing_network(stack, accelerator_cidr="10.1.0.0/27"), groups=[controller(), saving])


def test_file_servers_in_the_subnet_count(stack: Stack, build: Build) -> None:
    network = existing_network(stack, accelerator_cidr="10.1.0.0/27")
    nodes = shared_group(stack, network)
    file_system = LustreFileSystem(stack, "Servers", network=network, security_group=nodes, capacity_gib=60000)
    (problem,) = refusal(build, network=network, security_group=nodes, mounts=[Mount(file_system=file_system)])
    assert f"Lustre file servers = {file_system.file_servers}" in problem


def test_interface_endpoints_of_a_new_network_count(stack: Stack, build: Build) -> None:
    network = TrainingNetwork(
        stack, "Network", zone="usw2-az4", accelerator_mask=28, interface_endpoints=HYPERPOD_ENDPOINTS
    )
    (problem,) = refusal(build, network=network, groups=[controller(), worker(count=5)])
    assert problem == (
        "'network.accelerator_cidr' must hold 12 addresses (controller-group 1 x m5.large x 1 = 1, worker-group "
        "5 x c5.4xlarge x 1 = 5, interface endpoints = 6), got 10.1.128.0/28 with 11; use a /27 or larger"
    )


def test_file_servers_in_another_subnet_of_the_zone_do_not_count(stack: Stack, build: Build) -> None:
    network = existing_network(stack, zone="us-west-2a", accelerator_cidr="10.1.0.0/27")
    nodes, subnet = shared_group(stack, network), existing_network(stack, "Other", zone="us-west-2a").accelerator_subnet
    file_system = LustreFileSystem(stack, "Servers", security_group=nodes, subnet=subnet, capacity_gib=60000)
    assert file_system.zone == network.zone
    build(network=network, security_group=nodes, mounts=[Mount(file_system=file_system)])


def test_file_servers_count_for_every_network_with_their_subnet(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    again = TrainingNetwork.from_existing(
        stack,
        "Again",
        vpc=network.vpc,
        accelerator_subnet=network.accelerator_subnet,
        zone="usw2-az4",
        accelerator_cidr="10.1.0.0/28",
    )
    groups = [controller(network=again), worker(count=9, network=again)]
    file_system = LustreFileSystem(
        stack, "Servers", network=network, security_group=shared_group(stack, network), capacity_gib=1200
    )
    (problem,) = refusal(build, network=network, groups=groups, mounts=[Mount(file_system=file_system)])
    assert "Lustre file servers = 2" in problem


def test_addresses_of_groups_with_a_network_of_their_own_are_counted_there(stack: Stack, build: Build) -> None:
    own = existing_network(stack, "Own", accelerator_cidr="10.2.0.0/28")
    far = worker(name="far", count=12, network=own)
    (problem,) = refusal(build, network=existing_network(stack), groups=[controller(), worker(), far])
    assert problem == (
        "'groups.far.network' must hold 12 addresses (far 12 x c5.4xlarge x 1 = 12), got 10.2.0.0/28 with 11; use a "
        "/27 or larger"
    )


@pytest.mark.parametrize(
    ("said", "at"),
    [({"instance_type": "ml.p6e-gb200.36xlarge"}, "type"), ({"instance_types": ["ml.p6e-gb200.36xlarge"]}, "types[0]")],
)
def test_fails_with_a_type_whose_addresses_are_not_published(
    stack: Stack, build: Build, said: dict[str, Any], at: str
) -> None:
    workers = worker(**said, training_plan_arn=PLAN)
    (problem,) = refusal(build, network=existing_network(stack), groups=[controller(), workers])
    published = "must be one whose interfaces under HyperPod are published, got 'ml.p6e-gb200.36xlarge'"
    assert problem.startswith(f"'groups.worker-group.instance_{at}' {published}")


def test_fails_with_a_network_of_another_region(stack: Stack, build: Build) -> None:
    elsewhere = Stack(App(), "Elsewhere", env=Environment(account=ACCOUNT, region="us-east-1"))
    assert stack.region == REGION
    assert refusal(build, network=existing_network(elsewhere, zone="use1-az4")) == (
        "'network' must be in the stack's Region us-west-2, got one in zone 'use1-az4' of us-east-1",
    )


def test_fails_with_efa_lustre_of_another_zone(stack: Stack, build: Build) -> None:
    mounts = [Mount(file_system=lustre(stack, "usw2-az1", efa=True))]
    problems = refusal(build, network=existing_network(stack), groups=[controller(mounts=[]), worker()], mounts=mounts)
    assert problems == (
        (
            "'mounts[0]' must not be EFA-enabled in another zone, got one in 'usw2-az1' for nodes of 'worker-group' in "
            "'usw2-az4'; EFA does not cross zones"
        ),
    )


@pytest.mark.parametrize("zone", [None, "us-west-2a", "usw2-az4"])
def test_zones_that_cannot_be_compared_pass(stack: Stack, build: Build, zone: str | None) -> None:
    build(network=existing_network(stack), mounts=[Mount(file_system=lustre(stack, zone, efa=True))])


def test_a_region_known_at_deployment_only_passes() -> None:
    stack = Stack(App(), "Stack")
    network = existing_network(stack, zone="use1-az4")
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker()], network=network)


HOME = (
    "'mounts[0].at' must not be /home/ubuntu or in it, got '{}'; 'on_create' moves that home to the file system, and "
    "would copy it into itself: mount it elsewhere, as at /fsx"
)


@pytest.mark.parametrize(
    ("at", "openzfs", "refused"),
    [
        ("/home/ubuntu", False, True),
        ("/home/ubuntu/data", False, True),
        ("/home/ubuntu/data", True, True),
        ("/home/ubuntu", True, False),  # what it hides is kept
        ("/home", False, False),
        ("/home/ubuntu2", False, False),
    ],
)
def test_no_home_is_copied_into_itself(stack: Stack, build: Build, at: str, *, openzfs: bool, refused: bool) -> None:
    network = existing_network(stack)
    mount = Mount(file_system=ZFS if openzfs else existing_lustre(stack, shared_group(stack, network)), at=at)
    cluster: dict[str, Any] = {"network": network, "mounts": [mount], "scripts_bucket": s3.Bucket(stack, "Bucket")}
    cluster["lifecycle"] = Lifecycle(on_create="on_create.sh")
    if refused:
        assert refusal(build, **cluster) == (HOME.format(at),)
    else:
        build(**cluster)


def test_a_home_that_no_script_moves_may_be_hidden(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    mount = Mount(file_system=existing_lustre(stack, shared_group(stack, network)), at="/home/ubuntu")
    after = Lifecycle(on_init_complete="on_init_complete.sh")
    build(network=network, mounts=[mount], lifecycle=after, scripts_bucket=s3.Bucket(stack, "Bucket"))
