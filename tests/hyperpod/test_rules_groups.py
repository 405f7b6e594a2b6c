"""One refusal after another: exact messages for every rule of a group, and silence for Tokens."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Duration, Stack, Token
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_kms as kms
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import (
    AutoPatch,
    BatchSize,
    Capacity,
    CapacityKind,
    DeepHealthCheck,
    EbsVolume,
    HyperPodCluster,
    InterfaceType,
    NodeProvisioning,
    PatchingStrategy,
    RollingUpdate,
    ScheduledUpdate,
)
from cdk_trainyard.hyperpod.rules_groups import name_problems
from cdk_trainyard.storage import Mount, OpenZfs
from tests.hyperpod.parts import controller, existing_lustre, existing_network, new_stack, shared_group, worker

Build = Callable[..., HyperPodCluster]
PLAN = "arn:aws:sagemaker:us-west-2:111111111111:training-plan/plan-1"
NEURON = "with Neuron devices it accepts 'ml.trn1.32xlarge', 'ml.trn1n.32xlarge', 'ml.trn2.3xlarge', 'ml.trn2.48xlarge'"
STRESS, CONNECTIVITY = DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY

REFUSALS = [
    (
        {"name": "worker_group"},
        "'name' of a group must be 1 to 63 letters, digits and inner hyphens, got 'worker_group'; use 'worker-group'",
    ),
    (
        {"name": "w" * 64},
        (
            f"'name' of a group must be 1 to 63 letters, digits and inner hyphens, got '{'w' * 64}' (64 characters); "
            f"use '{'w' * 63}'"
        ),
    ),
    ({"name": ""}, "'name' of a group must be 1 to 63 letters, digits and inner hyphens, got ''"),
    (
        {"instance_type": "ml.c5.4xlarge", "instance_types": ["ml.c5.9xlarge"]},
        "group 'worker-group' must have either 'instance_type' or 'instance_types', got both",
    ),
    (
        {"instance_type": None},
        "group 'worker-group' must have either 'instance_type' or 'instance_types', got neither",
    ),
    ({"instance_types": ["ml.c5.4xlarge"] * 21}, "'instance_types' of group 'worker-group' must be at most 20, got 21"),
    (
        {"instance_type": "ml.trn1.2xlarge"},
        (
            "'instance_type' of group 'worker-group' must be one of the 209 types that HyperPod accepts, got "
            f"'ml.trn1.2xlarge'; {NEURON}"
        ),
    ),
    (
        {"instance_type": "ml.inf2.xlarge"},
        (
            "'instance_type' of group 'worker-group' must be one of the 209 types that HyperPod accepts, got "
            f"'ml.inf2.xlarge'; {NEURON}"
        ),
    ),
    (
        {"instance_type": "ml.g5g.xlarge"},
        (
            "'instance_type' of group 'worker-group' must be one of the 209 types that HyperPod accepts, got "
            "'ml.g5g.xlarge'; did you mean 'ml.g5.xlarge' or 'ml.g5.8xlarge' or 'ml.g5.4xlarge'?"
        ),
    ),
    (
        {"instance_type": "trn1.32xlrge"},
        (
            "group 'worker-group': 'instance_type' must be the name of an EC2 instance type, got "
            "'trn1.32xlrge'; did you mean "
            "'trn1.32xlarge' or 'trn1n.32xlarge' or 'trn1.2xlarge'?"
        ),
    ),
    ({"count": 6759}, "'count' of group 'worker-group' must be 0 to 6758, got 6759"),
    ({"count": -1}, "'count' of group 'worker-group' must be 0 to 6758, got -1"),
    ({"min_count": -1}, "'min_count' of group 'worker-group' must be 0 to 6758, got -1"),
    ({"count": 2, "min_count": 3}, "'min_count' of group 'worker-group' must be at most its 'count' of 2, got 3"),
    ({"threads_per_core": 3}, "'threads_per_core' of group 'worker-group' must be 1 or 2, got 3"),
    (
        {"instance_type": "ml.m7g.large", "threads_per_core": 2},
        "'threads_per_core' of group 'worker-group' must be 1, got 2; ml.m7g.large has one thread per core",
    ),
    ({"volumes": [EbsVolume()]}, "'size_gb' of a volume of group 'worker-group' must be 1 to 16384, got none"),
    (
        {"volumes": [EbsVolume(size_gb=16385)]},
        "'size_gb' of a volume of group 'worker-group' must be 1 to 16384, got 16385",
    ),
    ({"volumes": [EbsVolume(size_gb=0)]}, "'size_gb' of a volume of group 'worker-group' must be 1 to 16384, got 0"),
    (
        {"volumes": [EbsVolume(root=True)]},
        (
            "'key' of the root volume of group 'worker-group' must be given; "
            "a root volume is configured only to be encrypted with a key"
        ),
    ),
    (
        {"volumes": [EbsVolume(size_gb=10), EbsVolume(size_gb=20)]},
        "'volumes' of group 'worker-group' must hold at most one secondary volume, got 2",
    ),
    (
        {"capacity": Capacity(kind=CapacityKind.SPOT, training_plan_arn=PLAN)},
        (
            "'capacity' of group 'worker-group' must be either a training plan or SPOT, got both; "
            "the plan reserves its own instances"
        ),
    ),
    (
        {"capacity": Capacity.training_plan("plan-1")},
        "'training_plan_arn' of group 'worker-group' must be the ARN of a training plan, got 'plan-1'",
    ),
    (
        {"capacity": Capacity(kind=CapacityKind.TRAINING_PLAN)},
        "'training_plan_arn' of group 'worker-group' must be the ARN of a training plan, got None",
    ),
    (
        {"deep_health_checks": [STRESS]},
        "'deep_health_checks' of group 'worker-group' must be empty for ml.c5.4xlarge; it has no accelerator to test",
    ),
    (
        {"instance_type": "ml.p4d.24xlarge", "deep_health_checks": [STRESS, STRESS]},
        "'deep_health_checks' of group 'worker-group' must name each check once, got InstanceStress, InstanceStress",
    ),
    (
        {"instance_type": "ml.p4d.24xlarge", "deep_health_checks": [CONNECTIVITY]},
        (
            "'deep_health_checks' of group 'worker-group' must not hold INSTANCE_CONNECTIVITY for "
            "one node; it tests pairs, "
            "use 'count' 2 or more"
        ),
    ),
    (
        {"interface_type": InterfaceType.EFA_ONLY},
        (
            "'interface_type' of group 'worker-group' must not be given for ml.c5.4xlarge, got 'efa-only'; "
            "the type has no EFA"
        ),
    ),
    (
        {"image_id": "ubuntu-22.04"},
        "'image_id' of group 'worker-group' must be an AMI id (ami-…) or 'default', got 'ubuntu-22.04'",
    ),
    (
        {"scheduled_update": ScheduledUpdate(schedule="every sunday")},
        (
            "'schedule' of group 'worker-group' must be a cron expression of at most 256 characters, as "
            "cron(0 4 ? * SUN *), got 'every sunday'"
        ),
    ),
    (
        {
            "auto_patch": AutoPatch(
                strategy=PatchingStrategy.WHEN_IDLE, rolling=RollingUpdate(batch=BatchSize.percent(101))
            )
        },
        "'batch' of 'auto_patch' of group 'worker-group' must be 1 to 100 percent, got 101",
    ),
    (
        {
            "auto_patch": AutoPatch(
                strategy=PatchingStrategy.WHEN_IDLE,
                rolling=RollingUpdate(batch=BatchSize.instances(1), rollback_batch=BatchSize.instances(0)),
            )
        },
        "'rollback_batch' of 'auto_patch' of group 'worker-group' must be at least 1 instance, got 0",
    ),
    (
        {
            "scheduled_update": ScheduledUpdate(
                schedule="cron(0 4 ? * SUN *)",
                rolling=RollingUpdate(batch=BatchSize.instances(1), wait=Duration.minutes(61)),
            )
        },
        "'wait' of 'scheduled_update' of group 'worker-group' must be at most one hour, got 1 hour 1 minute",
    ),
    (
        {"raw_overrides": {"AutoPatchConfig.PatchSchedule.NextPatchDate": "2026-12-01"}},
        (
            "'raw_overrides' of group 'worker-group' must not hold 'AutoPatchConfig.PatchSchedule.NextPatchDate'; "
            "the service writes it"
        ),
    ),
]


@pytest.mark.parametrize(("changes", "problem"), REFUSALS, ids=[problem[:70] for _, problem in REFUSALS])
def test_fails_with_an_exact_message(build: Build, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), worker(**changes)], provisioning=NodeProvisioning.CONTINUOUS)
    assert refusal.value.problems == (problem,)
    assert refusal.value.path == "Stack/Cluster"


def test_fails_with_a_root_volume_that_has_a_size(stack: Stack, build: Build) -> None:
    key = kms.Key(stack, "Key")
    roots = [EbsVolume(root=True, size_gb=200, key=key), EbsVolume(root=True, key=key)]
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), worker(volumes=roots)], provisioning=NodeProvisioning.CONTINUOUS)
    assert refusal.value.problems == (
        (
            "'size_gb' of the root volume of group 'worker-group' must not be given, got 200; "
            "HyperPod decides the root "
            "volume's size, use a second EbsVolume for space"
        ),
        "'volumes' of group 'worker-group' must hold at most one root volume, got 2",
    )


def test_fails_with_more_than_ten_alarms(stack: Stack, build: Build) -> None:
    alarm = cloudwatch.Alarm.from_alarm_arn(
        stack, "Alarm", "arn:aws:cloudwatch:us-west-2:111111111111:alarm:too-many-failures"
    )
    rolling = RollingUpdate(batch=BatchSize.instances(1), rollback_alarms=[alarm] * 11)
    patch = AutoPatch(strategy=PatchingStrategy.WHEN_ALL_IDLE, rolling=rolling)
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), worker(auto_patch=patch)])
    assert refusal.value.problems == (
        "'rollback_alarms' of 'auto_patch' of group 'worker-group' must be at most 10, got 11",
    )


def test_fails_with_deep_health_checks_of_a_controller(build: Build) -> None:
    checked = controller(instance_type="ml.g5.xlarge", deep_health_checks=[STRESS])
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[checked, worker()])
    assert refusal.value.problems == (
        (
            "'deep_health_checks' of group 'controller-group' must be empty for a controller group; "
            "only compute nodes are tested"
        ),
    )


@pytest.mark.parametrize(
    ("mounts", "problem"),
    [
        (["/fsx/"], ("'at' of a mount of group 'worker-group' must be an absolute path of "
        "letters, digits, '.', '_' and "
        "'-' without a slash at the end, got '/fsx/'")),
        (["/data//x"], ("'at' of a mount of group 'worker-group' must be an absolute path of letters, digits, '.', '_' "
        "and '-' without a slash at the end, got '/data//x'")),
        (["fsx"], ("'at' of a mount of group 'worker-group' must be an absolute path of "
        "letters, digits, '.', '_' and '-' "
        "without a slash at the end, got 'fsx'")),
        (["/a", "/b"], "'mounts' of group 'worker-group' must hold at most one OpenZFS file system, got 2"),
    ],
)  # fmt: skip
def test_fails_with_mounts_that_cannot_be(stack: Stack, build: Build, mounts: list[str], problem: str) -> None:
    file_system = OpenZfs(dns_name="fs-01234567.fsx.us-west-2.example")
    group = worker(mounts=[Mount(file_system=file_system, at=path) for path in mounts])
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), group], network=existing_network(stack))
    assert refusal.value.problems == (problem,)


def test_fails_with_a_file_system_that_is_an_id(stack: Stack, build: Build) -> None:
    group = worker(mounts=[Mount(file_system=OpenZfs(dns_name="fs-01234567"))])
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), group], network=existing_network(stack))
    assert refusal.value.problems == (
        "'dns_name' of a file system of group 'worker-group' must be fs-…, a dot and its domain, got 'fs-01234567'",
    )


def test_fails_with_two_file_systems_at_one_path(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    lustre = existing_lustre(stack, shared_group(stack, network))
    zfs = OpenZfs(dns_name="fs-0abcdef0.fsx.us-west-2.example")
    group = worker(mounts=[Mount(file_system=lustre), Mount(file_system=zfs, at="/fsx")])
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), group], network=network)
    assert refusal.value.problems == ("'mounts' of group 'worker-group' must be at different paths, got /fsx, /fsx",)


def test_says_everything_at_once(build: Build) -> None:
    bad = worker(name="a_b", instance_type="ml.inf2.xlarge", count=-1, threads_per_core=4, partition="ml.p5.48xlarge")
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[bad], cluster_name="x" * 64)
    starts = [problem.split(" must")[0] for problem in refusal.value.problems]
    assert starts == [
        "'cluster_name'",
        "'groups'",
        "'partition' of group 'a_b'",
        "'name' of a group",
        "'instance_type' of group 'a_b'",
        "'count' of group 'a_b'",
        "'threads_per_core' of group 'a_b'",
    ]


def test_tokens_pass() -> None:
    stack = new_stack()
    text, number = Token.as_string({"Ref": "Text"}), Token.as_number({"Ref": "Number"})
    HyperPodCluster(
        stack,
        "Cluster",
        cluster_name=text,
        provisioning=NodeProvisioning.CONTINUOUS,
        groups=[
            controller(),
            worker(
                name=Token.as_string({"Ref": "Name"}),
                instance_type=Token.as_string({"Ref": "Type"}),
                count=number,
                min_count=number,
                threads_per_core=number,
                volumes=[EbsVolume(size_gb=number)],
                partition=text,
                image_id=text,
                capacity=Capacity.training_plan(text),
                scheduled_update=ScheduledUpdate(schedule=text, rolling=RollingUpdate(batch=BatchSize.percent(number))),
            ),
        ],
    )


@given(st.from_regex(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,40}", fullmatch=True).filter(lambda name: len(name) < 64))
def test_every_legal_name_is_accepted(name: str) -> None:
    assert name_problems("'name'", name) == []


@given(st.text(max_size=80))
def test_a_suggested_name_is_legal(name: str) -> None:
    for problem in name_problems("'name'", name):
        _, remedy, suggestion = problem.partition("; use ")
        assert not remedy or name_problems("'name'", suggestion.strip("'")) == []
