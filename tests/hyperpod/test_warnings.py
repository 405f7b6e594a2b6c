"""What is said at synthesis without being refused."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match

from cdk_trainyard.hyperpod import (
    AutoPatch,
    BatchSize,
    DeepHealthCheck,
    HyperPodCluster,
    Lifecycle,
    NodeProvisioning,
    PatchingStrategy,
    RollingUpdate,
    ScheduledUpdate,
)
from cdk_trainyard.hyperpod.warnings import WARNINGS
from cdk_trainyard.instances import UsageClass, catalogue_date
from cdk_trainyard.lifecycle import Exporters, LifecycleScripts, NeuronEnvironment, NodeSetup
from cdk_trainyard.storage import Mount
from tests.hyperpod.parts import ACCOUNT, SCRIPTS, controller, existing_lustre, shared_group, worker
from tests.parts import existing_network

Build = Callable[..., HyperPodCluster]
ROLLING = RollingUpdate(batch=BatchSize.percent(10))


def warned(stack: Stack) -> list[str]:
    found = Annotations.from_stack(stack).find_warning("/Stack/Cluster", Match.any_value())
    return [str(entry.entry.data) for entry in found]


def test_a_cluster_that_is_well_says_nothing(stack: Stack, build: Build) -> None:
    build(network=existing_network(stack))
    assert warned(stack) == []


def test_a_zone_without_the_type(stack: Stack, build: Build) -> None:
    build(
        network=existing_network(stack, zone="usw2-az2"),
        groups=[controller(), worker(instance_type="ml.trn1.32xlarge")],
    )
    (warning,) = warned(stack)
    assert warning.startswith("group 'worker-group': trn1.32xlarge is not known to be offered in usw2-az2, only in ")
    assert f"(data of {catalogue_date()}); check before you deploy" in warning
    assert warning.endswith("[ack: @cdk-trainyard/hyperpod:zone-without-type]")


def test_a_region_without_the_type() -> None:
    stack = Stack(App(), "Stack", env=Environment(account=ACCOUNT, region="eu-west-1"))
    network = existing_network(stack, zone="eu-west-1a")
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker(instance_type="ml.trn1.32xlarge")], network=network)
    assert warned(stack) == [
        (
            "group 'worker-group': trn1.32xlarge is not known to be offered in eu-west-1, only in ap-south-1, "
            "ap-southeast-2, ap-southeast-4, us-east-1, us-east-2, us-west-2 "
            f"(data of {catalogue_date()}); check before you deploy [ack: @cdk-trainyard/hyperpod:zone-without-type]"
        )
    ]


def test_a_subnet_that_holds_the_nodes_and_none_in_their_place(stack: Stack, build: Build) -> None:
    build(network=existing_network(stack, accelerator_cidr="10.1.0.0/28"), groups=[controller(), worker(count=2)])
    (warning,) = warned(stack)
    assert warning.startswith("the subnet 10.1.0.0/28 has at most 8 of 11 addresses left when all nodes are there (")
    assert warning.endswith("; use a /27 or larger, or fewer nodes [ack: @cdk-trainyard/hyperpod:few-addresses]")


def test_lustre_over_tcp_in_another_zone(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    file_system = existing_lustre(stack, shared_group(stack, network), zone="usw2-az1")
    build(network=network, groups=[controller(), worker(mounts=[Mount(file_system=file_system)])])
    [warning] = warned(stack)
    assert warning.startswith("nodes of group 'worker-group' in usw2-az4 mount a file system in usw2-az1: ")
    assert warning.endswith("put the file system into usw2-az4 [ack: @cdk-trainyard/hyperpod:lustre-in-other-zone]")


@pytest.mark.parametrize(
    ("instance_type", "says"),
    [
        ("ml.m5.large", "m5.large"),
        ("ml.trn2.48xlarge", "m5.large, trn2.48xlarge"),
        ("ml.p5.48xlarge", ""),
        ("ml.trn1.32xlarge", ""),
    ],
)
def test_lustre_with_efa_that_no_node_uses(stack: Stack, build: Build, instance_type: str, says: str) -> None:
    network = existing_network(stack)
    shared = Mount(file_system=existing_lustre(stack, shared_group(stack, network), efa_enabled=True))
    plan = "arn:aws:sagemaker:us-west-2:111111111111:training-plan/plan-1" if "trn2" in instance_type else None
    build(
        network=network,
        groups=[controller(instance_type="ml.m5.large"), worker(instance_type=instance_type, training_plan_arn=plan)],
        mounts=[shared],
    )
    found = [text for text in warned(stack) if "lustre-over-tcp" in text]
    text = f"the file system at /fsx has EFA, and {says} reach it over TCP: leave EFA out, unless others use it"
    assert [text in one for one in found] == [True] * bool(says), warned(stack)


@pytest.mark.parametrize(("at", "hides"), [("/home/ubuntu", True), ("/home", False), ("/fsx", False)])
def test_a_file_system_over_the_home_of_the_nodes_user(stack: Stack, build: Build, at: str, *, hides: bool) -> None:
    network = existing_network(stack)
    shared = Mount(file_system=existing_lustre(stack, shared_group(stack, network)), at=at)
    build(network=network, groups=[controller(), worker()], mounts=[shared])
    text = "a file system at /home/ubuntu hides /home/ubuntu, and the set-up makes no home on it: it must have one"
    assert [text in one for one in warned(stack)] == [True] * hides


@pytest.mark.parametrize("scripted", [False, True])
def test_one_bundle_for_two_architectures(stack: Stack, build: Build, *, scripted: bool) -> None:
    scripts = LifecycleScripts(stack, "Scripts", bucket=s3.Bucket(stack, "Bucket"), folder=SCRIPTS)
    build(
        groups=[controller(), worker(instance_type="ml.m7g.large")],
        lifecycle=Lifecycle(on_create="on_create.sh", scripts=scripts) if scripted else Lifecycle(),
    )
    expected = (
        "groups of x86_64 and of arm64 run the same lifecycle scripts; they must install nothing for one only "
        "[ack: @cdk-trainyard/hyperpod:mixed-architectures]"
    )
    assert warned(stack) == [expected] * scripted


def test_a_controller_on_spot(stack: Stack, build: Build) -> None:
    build(groups=[controller(capacity=UsageClass.SPOT), worker()], provisioning=NodeProvisioning.CONTINUOUS)
    assert warned(stack) == [
        (
            "controller group 'controller-group' is on Spot capacity; when it is taken back, Slurm stops "
            "[ack: @cdk-trainyard/hyperpod:spot-controller]"
        )
    ]


def test_deep_health_checks_on_neuron(stack: Stack, build: Build) -> None:
    checked = worker(instance_type="ml.trn1.32xlarge", deep_health_checks=[DeepHealthCheck.INSTANCE_STRESS])
    build(groups=[controller(), checked])
    assert warned(stack) == [
        (
            "group 'worker-group' asks for deep health checks on Neuron devices; for Slurm "
            "clusters the SageMaker developer "
            "guide lists tests of GPUs only [ack: @cdk-trainyard/hyperpod:deep-health-checks-on-neuron]"
        )
    ]


@pytest.mark.parametrize(("setup", "said"), [(None, False), (NodeSetup(job_hooks=False), True)])
def test_a_node_setup_that_some_groups_do_not_heed(
    stack: Stack, build: Build, setup: NodeSetup | None, *, said: bool
) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    other = Lifecycle(on_create="on_create.sh", scripts=LifecycleScripts(stack, "Own", bucket=bucket, folder=SCRIPTS))
    groups = [controller(), worker(), worker(name="other", lifecycle=other)]
    build(groups=groups, lifecycle=Lifecycle(on_create="on_create.sh"), node_setup=setup, scripts_bucket=bucket)
    text = "'node_setup' does nothing in 'other', whose scripts are of another folder: the scripts that come with cdk-"
    assert [text in one for one in warned(stack)] == [True] * said


@pytest.mark.parametrize(
    ("lifecycle", "setup", "left_out"),
    [
        (Lifecycle(on_create="on_create.sh"), NodeSetup(), False),
        (Lifecycle(on_init_complete="on_init_complete.sh"), None, False),  # nobody has asked
        (Lifecycle(on_init_complete="on_init_complete.sh"), NodeSetup(job_hooks=False), False),
        (Lifecycle(on_init_complete="on_init_complete.sh"), NodeSetup(), True),
    ],
)
def test_prolog_and_epilog_that_are_left_out(
    stack: Stack, build: Build, lifecycle: Lifecycle, setup: NodeSetup | None, *, left_out: bool
) -> None:
    bucket = s3.Bucket(stack, "Scripts") if lifecycle.script else None
    build(lifecycle=lifecycle, node_setup=setup, scripts_bucket=bucket)
    expected = (
        "no job gets prolog and epilog of 'node_setup', since HyperPod's image or other scripts configure some "
        "groups: nodes without them would be drained; set 'job_hooks' to false, or give every group on_create "
        "[ack: @cdk-trainyard/hyperpod:job-hooks-left-out]"
    )
    assert warned(stack) == [expected] * left_out


@pytest.mark.parametrize(
    ("registry", "private"),
    [("111111111111.dkr.ecr.us-west-2.amazonaws.com", True), ("nvcr.io/nvidia/k8s", False)],
)
def test_an_image_of_dcgm_exporter_that_asks_for_a_password(
    stack: Stack, build: Build, registry: str, *, private: bool
) -> None:
    image = f"{registry}/dcgm-exporter@sha256:{'a' * 64}"
    setup = NodeSetup(exporters=Exporters(gpu=True, gpu_image=image))
    groups = [controller(), worker(instance_type="ml.p5.48xlarge")]
    bucket = s3.Bucket(stack, "Scripts")
    build(groups=groups, lifecycle=Lifecycle(on_create="on_create.sh"), scripts_bucket=bucket, node_setup=setup)
    expected = (
        f"'gpu_image' {image} is in a private registry of ECR, and no script logs Docker in there: use a registry that "
        "asks for no password, or machine images whose Docker has docker-credential-ecr-login, and a role of nodes "
        "that may pull it [ack: @cdk-trainyard/hyperpod:private-gpu-image]"
    )
    assert warned(stack) == [expected] * private


def with_packages(stack: Stack, build: Build, *packages: str, image_id: str | None = None) -> None:
    groups = [controller(image_id=image_id), worker(instance_type="ml.trn1.32xlarge", image_id=image_id)]
    setup = NodeSetup(neuron_environment=NeuronEnvironment(path="/home/ubuntu/neuron", packages=packages or None))
    bucket = s3.Bucket(stack, "Bucket")
    build(groups=groups, lifecycle=Lifecycle(on_create="on_create.sh"), scripts_bucket=bucket, node_setup=setup)


def test_neuron_packages_newer_than_the_images_driver(stack: Stack, build: Build) -> None:
    with_packages(stack, build, "neuronx-cc==2.24.8799.0")
    (warning,) = warned(stack)
    assert "released with driver 2.27.4.0 (Neuron SDK 2.29.1), and HyperPod's image for Slurm has 2.25.4.0" in warning
    assert warning.endswith("[ack: @cdk-trainyard/hyperpod:unknown-neuron-packages]")


def test_neuron_packages_on_images_of_ones_own(stack: Stack, build: Build) -> None:
    with_packages(stack, build, "neuronx-cc==2.26.6360.0", image_id="ami-0123456789abcdef0")
    (warning,) = warned(stack)
    assert "every group has an 'image_id', so Python and driver of its nodes are not known" in warning


def test_the_default_neuron_packages_are_known(stack: Stack, build: Build) -> None:
    with_packages(stack, build)
    assert warned(stack) == []


def test_a_region_of_which_nothing_is_known() -> None:
    stack = Stack(App(), "Stack", env=Environment(account=ACCOUNT, region="sa-west-1"))
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker()])
    assert warned(stack) == [
        (
            "whether CloudFormation makes HyperPod clusters in sa-west-1 is not known here (data of 2026-10-20); look "
            "before you deploy [ack: @cdk-trainyard/hyperpod:unlisted-region]"
        )
    ]


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({"scheduled_update": ScheduledUpdate(schedule="cron(0 4 ? * SUN *)", rolling=ROLLING)}, "scheduled_update"),
        ({"auto_patch": AutoPatch(strategy=PatchingStrategy.WHEN_IDLE, rolling=ROLLING)}, "auto_patch"),
        ({"auto_patch": AutoPatch(strategy=PatchingStrategy.WHEN_IDLE)}, ""),
    ],
)
def test_updates_in_batches(stack: Stack, build: Build, update: dict[str, Any], said: str) -> None:
    build(groups=[controller(), worker(**update)])
    text = f"group 'worker-group' has 'rolling' in its '{said}', and AWS's page 'Update your AMI version in your "
    assert [one.startswith(text) for one in warned(stack)] == [True] * bool(said)


def test_the_ids_are_api() -> None:
    assert list(WARNINGS) == [
        "zone-without-type",
        "few-addresses",
        "lustre-in-other-zone",
        "lustre-over-tcp",
        "home-hidden",
        "mount-path-twice",
        "mixed-architectures",
        "spot-controller",
        "deep-health-checks-on-neuron",
        "job-hooks-left-out",
        "node-setup-unheeded",
        "unknown-neuron-packages",
        "no-nat",
        "accounting-out-of-reach",
        "own-database",
        "packages-out-of-reach",
        "unlisted-region",
        "batches-on-slurm",
        "private-gpu-image",
        "other-registry",
        "reserved-schema",
    ]
