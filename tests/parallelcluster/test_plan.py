"""What an update would do, before it is deployed: one table for ParallelClusters, HyperPod clusters, storage, all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_secretsmanager as secretsmanager

from cdk_trainyard.cli import main
from cdk_trainyard.cli.assemblies import Side, load
from cdk_trainyard.cli.contract.ask import ask
from cdk_trainyard.cli.contract.collect import clusters
from cdk_trainyard.cli.plan.parallelclusters import plan_clusters
from cdk_trainyard.cli.plan.rows import table
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.local.parallelcluster.updates import update_problems
from cdk_trainyard.network import EfaSecurityGroup
from cdk_trainyard.parallelcluster import (
    CustomAction,
    LoginPool,
    ParallelCluster,
    Placement,
    QueueUpdateStrategy,
    SharedEbs,
    SharedEfs,
    SharedStorage,
    SlurmAccounting,
    SlurmSettings,
)
from cdk_trainyard.report.updates import Effect, PlanRow
from cdk_trainyard.report.updates.resources import plan_resources
from cdk_trainyard.storage import LustreFileSystem
from tests.parallelcluster.parts import cpu, head, new_network, new_stack, queue, trn1


def template(define: Callable[[Stack], object]) -> dict[str, Any]:
    app = App()
    stack = new_stack(app)
    define(stack)
    return {"Stack": app.synth().get_stack_by_name("Stack").template}


def lustre(**changes: Any) -> Callable[[Stack], object]:
    def define(stack: Stack) -> None:
        network = new_network(stack, **changes.pop("network", {}))
        group = EfaSecurityGroup(stack, "Efa", vpc=network.vpc)
        LustreFileSystem(stack, "Lustre", network=network, security_group=group, **changes)

    return define


def hyperpod(**changes: Any) -> Callable[[Stack], object]:
    return lambda stack: sagemaker.CfnCluster(stack, "Cluster", **{"cluster_name": "train", **changes})


def effects(old: Callable[[Stack], object], new: Callable[[Stack], object]) -> dict[str, Effect]:
    return {row.what: row.effect for row in plan_resources(template(old), template(new))}


# ---------------------------------------------------------------- CloudFormation's resources
def test_nothing_changes() -> None:
    assert effects(lustre(), lustre()) == {}


def test_capacity_grows_in_place() -> None:
    assert effects(lustre(capacity_gib=1200), lustre(capacity_gib=4800)) == {
        "AWS::FSx::FileSystem StorageCapacity": Effect.FREE
    }


def test_capacity_that_shrinks_is_refused() -> None:
    (row,) = plan_resources(template(lustre(capacity_gib=4800)), template(lustre(capacity_gib=1200)))
    assert (row.what, row.effect) == ("AWS::FSx::FileSystem StorageCapacity", Effect.REFUSED)
    assert row.remedy.startswith(
        "StorageCapacity cannot be lowered from 4800 to 1200; leave it as it is, or give it another id"
    )


def two_stacks(*, subnet: bool = True, cidr: str = "10.0.0.0/24", used: bool = True) -> dict[str, Any]:
    """Return a network and what stands in it, with changes."""
    app = App()
    network, training = new_stack(app, name="Network"), new_stack(app, name="Training")
    ec2.CfnEIP(training, "Address")
    if subnet:
        made = ec2.CfnSubnet(network, "Subnet", vpc_id="vpc-1", cidr_block=cidr)
        if used:
            ec2.CfnNetworkInterface(training, "Interface", subnet_id=made.ref)
    else:
        ec2.CfnEIP(network, "Address")
    assembly = app.synth()
    return {name: assembly.get_stack_by_name(name).template for name in ("Network", "Training")}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"subnet": False}, "is removed"),
        ({"used": False}, "is removed"),
        ({"cidr": "10.0.1.0/24"}, "changes"),
    ],
)
def test_what_another_stack_still_uses_can_neither_go_nor_change(changes: dict[str, Any], says: str) -> None:
    """CloudFormation updates the network first, and refuses to take away what the training stack imports."""
    rows = [row for row in plan_resources(two_stacks(), two_stacks(**changes)) if row.what.startswith("export ")]
    (row,) = rows
    assert (row.where, row.effect) == ("Network", Effect.REFUSED)
    assert row.what.endswith(f" {says}")
    assert row.remedy.startswith("it is used by Training until an update that comes later; update Training without it")


def test_exports_that_stay_are_no_news() -> None:
    assert list(plan_resources(two_stacks(), two_stacks())) == []


def test_a_file_system_with_efa_is_another_one_and_its_data_stays_behind() -> None:
    old, new = lustre(capacity_gib=38400), lustre(efa_enabled=True, capacity_gib=38400)
    (row,) = [row for row in plan_resources(template(old), template(new)) if "FSx::FileSystem" in row.what]
    assert row.effect is Effect.LOST
    assert row.remedy.startswith("an empty one is made, the old one stays behind with the data")


def test_what_refers_to_something_replaced_is_replaced_too() -> None:
    found = effects(lustre(), lustre(network={"zone": "us-east-1b"}))
    assert found["AWS::EC2::Subnet AvailabilityZone"] is Effect.REFUSED  # over its own addresses
    assert found["AWS::EC2::SubnetRouteTableAssociation SubnetId"] is Effect.REPLACED
    assert found["AWS::FSx::FileSystem SubnetIds"] is Effect.LOST


def test_a_bucket_that_is_removed_is_lost_unless_it_is_kept() -> None:
    def bucket(policy: RemovalPolicy) -> Callable[[Stack], object]:
        return lambda stack: s3.Bucket(stack, "Data", removal_policy=policy)

    def nothing(stack: Stack) -> object:
        return ec2.CfnEIP(stack, "Address")

    assert effects(bucket(RemovalPolicy.DESTROY), nothing)["AWS::S3::Bucket is removed"] is Effect.LOST
    assert effects(bucket(RemovalPolicy.RETAIN), nothing)["AWS::S3::Bucket is removed, and kept"] is Effect.FREE


def test_a_hyperpod_cluster_changes_in_place_or_is_refused_for_its_name() -> None:
    vpc = sagemaker.CfnCluster.VpcConfigProperty(subnets=["subnet-1"], security_group_ids=["sg-1"])
    assert effects(hyperpod(), hyperpod(node_recovery="None")) == {"AWS::SageMaker::Cluster NodeRecovery": Effect.FREE}
    assert effects(hyperpod(), hyperpod(vpc_config=vpc)) == {"AWS::SageMaker::Cluster VpcConfig": Effect.REFUSED}
    assert effects(hyperpod(), hyperpod(cluster_name="other")) == {"AWS::SageMaker::Cluster ClusterName": Effect.LOST}
    assert (
        effects(hyperpod(), lambda stack: ec2.CfnEIP(stack, "A"))["AWS::SageMaker::Cluster is removed"] is Effect.LOST
    )


def test_the_table_has_the_worst_first() -> None:
    rows = [
        PlanRow(where="Stack/B", what="x" * 100, effect=Effect.FREE),
        PlanRow(where="Stack/A", what="y", effect=Effect.LOST, remedy="stop"),
    ]
    heads, first, second = table(rows).splitlines()
    assert heads.split() == ["WHERE", "CHANGE", "EFFECT", "WHAT", "TO", "DO"]
    assert first.split() == ["Stack/A", "y", "LOST", "stop"]
    assert second.endswith("…  free")


# ---------------------------------------------------------------- ParallelClusters
def write(outdir: Path, **changes: Any) -> Path:
    app = App(outdir=str(outdir))
    stack = new_stack(app)
    construct_id = changes.pop("construct_id", "Cluster")
    network = new_network(stack)
    usual = {"network": network, "head_node": head(), "queues": [queue()], "cluster_name": "train"}
    given = {key: value(stack) if callable(value) else value for key, value in changes.items()}
    ParallelCluster(stack, construct_id, **{**usual, **given})
    app.synth()
    return outdir


def secret(stack: Stack) -> SlurmSettings:
    arn = "arn:aws:secretsmanager:us-east-1:111111111111:secret:slurm-AbCdEf"
    password = secretsmanager.Secret.from_secret_complete_arn(stack, "Password", arn)
    return SlurmSettings(accounting=SlurmAccounting(endpoint="db.example", user_name="slurm", password_secret=password))


AT_ONCE = SlurmSettings(update_strategy=QueueUpdateStrategy.TERMINATE)

UPDATES: dict[str, tuple[dict[str, Any], dict[str, Any], str, Effect]] = {
    "nothing": ({}, {}, "", Effect.FREE),
    "more nodes": ({}, {"queues": [queue(cpu(max_count=20))]}, "MaxCount 8 -> 20", Effect.FREE),
    "fewer nodes": ({}, {"queues": [queue(cpu(max_count=4))]}, "MaxCount 8 -> 4", Effect.STOP),
    "another queue": ({}, {"queues": [queue(), queue(name="more")]}, "SlurmQueues none -> ", Effect.FREE),
    "Spot": ({}, {"queues": [queue(capacity=UsageClass.SPOT)]}, "CapacityType ONDEMAND -> SPOT", Effect.DRAIN),
    "another type of nodes": (
        {"queues": [queue(cpu(name="nodes"))]},
        {"queues": [queue(cpu(name="nodes", instance_type="c6i.xlarge"))]},
        "InstanceType c5.xlarge -> c6i.xlarge",
        Effect.STOP,
    ),
    "a queue's script": (
        {},
        {"queues": [queue(on_configured=[CustomAction(script="s3://bucket/k")])]},
        "CustomActions none -> ",
        Effect.DRAIN,
    ),
    "accounting": ({}, {"slurm": secret}, "Database none -> ", Effect.STOP),
    "login nodes": (
        {"login_pools": [LoginPool(name="l", instance_type="c5.large")]},
        {"login_pools": [LoginPool(name="l", instance_type="c5.xlarge")]},
        "InstanceType c5.large -> c5.xlarge",
        Effect.STOP,
    ),
    "EFA": (
        {"queues": [queue(trn1(efa=False), placement=Placement.CLUSTER)]},
        {"queues": [queue(trn1(), placement=Placement.CLUSTER)]},
        "Efa none -> ",
        Effect.DRAIN,
    ),
    "the head node's type": (
        {},
        {"head_node": head(instance_type="c5.2xlarge")},
        "HeadNode.InstanceType c5.xlarge -> c5.2xlarge",
        Effect.REFUSED,
    ),
    "the head node's subnet": ({}, {"head_node": head(public=False)}, "HeadNode.Networking.SubnetId", Effect.REFUSED),
    "the head node's script": (
        {"head_node": head(on_configured=[CustomAction(script="s3://bucket/one.sh")])},
        {"head_node": head(on_configured=[CustomAction(script="s3://bucket/two.sh")])},
        "OnNodeConfigured.Script s3://bucket/one.sh -> s3://bucket/two.sh",
        Effect.REFUSED,
    ),
    "managed storage goes": (
        {"shared_storage": SharedStorage(efs=[SharedEfs(at="/s", removal_policy=RemovalPolicy.DESTROY)])},
        {},
        "SharedStorage {'Name': 's'",
        Effect.LOST,
    ),
    "managed storage goes, and is kept": (
        {"shared_storage": SharedStorage(efs=[SharedEfs(at="/s")])},
        {},
        "SharedStorage {'Name': 's'",
        Effect.UNCERTAIN,
    ),
    "managed storage elsewhere": (
        {"shared_storage": SharedStorage(efs=[SharedEfs(at="/s", removal_policy=RemovalPolicy.DESTROY)])},
        {"shared_storage": SharedStorage(efs=[SharedEfs(at="/t", removal_policy=RemovalPolicy.DESTROY)])},
        "SharedStorage {'Name': 's'",
        Effect.LOST,
    ),
    "a queue goes at once": (
        {"slurm": AT_ONCE, "queues": [queue(), queue(name="more")]},
        {"slurm": AT_ONCE},
        "SlurmQueues {'Name': 'more'",
        Effect.DRAIN,
    ),
    "fewer nodes at once": (
        {"slurm": AT_ONCE},
        {"slurm": AT_ONCE, "queues": [queue(cpu(max_count=4))]},
        "MaxCount 8 -> 4",
        Effect.DRAIN,
    ),
    "fewer login nodes": (
        {"login_pools": [LoginPool(name="l", instance_type="c5.large", count=2)]},
        {"login_pools": [LoginPool(name="l", instance_type="c5.large")]},
        "Count 2 -> 1",
        Effect.DRAIN,
    ),
    "storage under login nodes": (
        {"login_pools": [LoginPool(name="l", instance_type="c5.large")]},
        {
            "login_pools": [LoginPool(name="l", instance_type="c5.large")],
            "shared_storage": SharedStorage(efs=[SharedEfs(at="/s")]),
        },
        "SharedStorage none -> ",
        Effect.STOP,
    ),
    "an image": ({}, {"image_id": "ami-" + "a" * 17}, "Image.CustomAmi none -> ami-", Effect.REFUSED),
    "a larger shared volume": (
        {"shared_storage": SharedStorage(ebs=[SharedEbs(at="/s", size_gib=40)])},
        {"shared_storage": SharedStorage(ebs=[SharedEbs(at="/s", size_gib=80)])},
        "EbsSettings.Size 40 -> 80",
        Effect.REFUSED,
    ),
    "a version bump in place": ({}, {"version": "3.17.0"}, "ParallelCluster 3.16.1 -> 3.17.0", Effect.REFUSED),
    "another name": ({}, {"cluster_name": "other"}, "ClusterName train -> other", Effect.REFUSED),
    "another id and the same name": (
        {},
        {"construct_id": "Renamed"},
        "a second cluster train is added",
        Effect.LOST,
    ),
    "a new cluster instead of the old one": (
        {},
        {"construct_id": "Green", "cluster_name": "green"},
        "cluster train is removed",
        Effect.LOST,
    ),
}


_OUTSIDE = {"version", "cluster_name", "construct_id"}  # what is no part of the configuration


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[PlanRow]]:
    """The plan of every update; ParallelCluster's environment is asked once for all of them."""
    sides: dict[str, list[Side]] = {}
    for name, (*both, _, _) in UPDATES.items():
        folder = tmp_path_factory.mktemp("update")
        sides[name] = [load(write(folder / str(index), **changes), folder) for index, changes in enumerate(both)]
    questions: list[Any] = []

    def note(asked: dict[str, Any]) -> dict[str, Any]:
        questions.extend(asked["plans"])
        return {"plans": [[] for _ in asked["plans"]]}

    for old, new in sides.values():
        list(plan_clusters(old, new, note))
    answers = iter(ask({"plans": questions})["plans"])
    return {
        name: list(plan_clusters(old, new, lambda asked: {"plans": [next(answers) for _ in asked["plans"]]}))
        for name, (old, new) in sides.items()
    }


@pytest.mark.contract
@pytest.mark.parametrize("name", UPDATES)
def test_parallelcluster_s_own_policies_decide(plans: dict[str, list[PlanRow]], name: str) -> None:
    *_, change, effect = UPDATES[name]
    rows = plans[name]
    assert max((row.effect for row in rows), default=Effect.FREE) is effect
    assert not change or [row for row in rows if change in row.what and row.effect is effect], rows


@pytest.mark.contract
@pytest.mark.parametrize("name", [name for name, (_, new, *_) in UPDATES.items() if not _OUTSIDE & set(new)])
def test_our_own_reading_of_the_policies_is_parallelcluster_s(
    plans: dict[str, list[PlanRow]], tmp_path: Path, name: str
) -> None:
    old, new, *_ = UPDATES[name]
    (before,), (after,) = (clusters(write(tmp_path / side, **given)) for side, given in (("old", old), ("new", new)))
    refused = [row for row in plans[name] if row.effect in {Effect.STOP, Effect.REFUSED}]
    assert len(update_problems(before.config, after.config)) == len(refused)


@pytest.mark.contract
@pytest.mark.parametrize(("name", "code"), [("nothing", 0), ("an image", 1), ("another id and the same name", 1)])
def test_the_exit_code_says_the_worst(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int) -> None:
    sides = zip(("old", "new"), UPDATES[name], strict=False)
    words = [str(write(tmp_path / side, **changes)) for side, changes in sides]
    assert main(["plan", *words]) == code
    assert capsys.readouterr().out.splitlines()[-1] in {
        "nothing changes",
        "the update would be refused; nothing would be lost",
        "data or a cluster would be lost",
    }


def test_what_is_neither_a_file_nor_a_cdk_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(tmp_path), str(tmp_path)]) == 1
    assert "there is no manifest.json in it" in capsys.readouterr().err
