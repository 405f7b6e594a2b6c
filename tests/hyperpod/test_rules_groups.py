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
    DeepHealthCheck,
    EbsVolume,
    HyperPodCluster,
    InterfaceType,
    NodeProvisioning,
    PatchingStrategy,
    RollingUpdate,
    ScheduledUpdate,
)
from cdk_trainyard.hyperpod.kinds import ClusterName
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.storage import Mount, OpenZfs
from tests.hyperpod.parts import controller, existing_lustre, new_stack, shared_group, worker
from tests.parts import existing_network

Build = Callable[..., HyperPodCluster]
PLAN = "arn:aws:sagemaker:us-west-2:111111111111:training-plan/plan-1"
NEURON = "with Neuron devices it accepts 'ml.trn1.32xlarge', 'ml.trn1n.32xlarge', 'ml.trn2.3xlarge', 'ml.trn2.48xlarge'"
STRESS, CONNECTIVITY = DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY
ABSOLUTE = "must be an absolute path of letters, digits, '.', '_' and '-' without a slash at the end, as /fsx"
_SIZES = [f"{family}.{size}" for family in ("c5", "m5", "c6i", "m6i", "r6i") for size in ("", 2, 4, 12, 24)][:21]

REFUSALS = [
    (
        {"name": "worker_group"},
        (
            "'groups.worker_group.name' must be 1 to 63 letters, digits and inner hyphens, got 'worker_group'; "
            "use 'worker-group'"
        ),
    ),
    (
        {"name": "w" * 64},
        (
            "'groups.wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww.name' must be 1 to 63 "
            "letters, digits and inner hyphens, got "
            "'wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww' (64 characters)"
        ),
    ),
    ({"name": ""}, "'groups.\"\".name' must be 1 to 63 letters, digits and inner hyphens, got ''"),
    (
        {"instance_type": "ml.c5.4xlarge", "instance_types": ["ml.c5.9xlarge"]},
        "'groups.worker-group' must have either 'instance_type' or 'instance_types', got both",
    ),
    (
        {"instance_type": None},
        "'groups.worker-group' must have either 'instance_type' or 'instance_types', got neither",
    ),
    (
        {"instance_types": [f"ml.{each}xlarge" for each in _SIZES]},
        "'groups.worker-group.instance_types' must be at most 20, got 21",
    ),
    (
        {"instance_type": "ml.trn1.2xlarge"},
        (
            "'groups.worker-group.instance_type' must be one of the 209 types that HyperPod accepts, got "
            "'ml.trn1.2xlarge'; with Neuron devices it accepts 'ml.trn1.32xlarge', 'ml.trn1n.32xlarge', "
            "'ml.trn2.3xlarge' or 'ml.trn2.48xlarge'"
        ),
    ),
    (
        {"instance_type": "ml.inf2.xlarge"},
        (
            "'groups.worker-group.instance_type' must be one of the 209 types that HyperPod accepts, got "
            "'ml.inf2.xlarge'; with Neuron devices it accepts 'ml.trn1.32xlarge', 'ml.trn1n.32xlarge', "
            "'ml.trn2.3xlarge' or 'ml.trn2.48xlarge'"
        ),
    ),
    (
        {"instance_type": "ml.g5g.xlarge"},
        (
            "'groups.worker-group.instance_type' must be one of the 209 types that HyperPod accepts, got "
            "'ml.g5g.xlarge'; did you mean 'ml.g5.xlarge' or 'ml.g5.8xlarge' or 'ml.g5.4xlarge'?"
        ),
    ),
    (
        {"instance_type": "trn1.32xlrge"},
        (
            "'groups.worker-group.instance_type' must be the name of an EC2 instance type, got 'trn1.32xlrge'; "
            "did you mean 'trn1.32xlarge' or 'trn1n.32xlarge' or 'trn1.2xlarge'?"
        ),
    ),
    ({"count": 6759}, "'groups.worker-group.count' must be 0 to 6758, got 6759"),
    ({"count": -1}, "'groups.worker-group.count' must be 0 to 6758, got -1"),
    ({"min_count": -1}, "'groups.worker-group.min_count' must be 0 to 6758, got -1"),
    ({"count": 2, "min_count": 3}, "'groups.worker-group.min_count' must be at most the 'count' of 2, got 3"),
    ({"threads_per_core": 3}, "'groups.worker-group.threads_per_core' must be 1 or 2, got 3"),
    (
        {"instance_type": "ml.m7g.large", "threads_per_core": 2},
        "'groups.worker-group.threads_per_core' must be 1, got 2; ml.m7g.large has one thread per core",
    ),
    ({"volumes": [EbsVolume()]}, "'groups.worker-group.volumes[0].size_gb' must be 1 to 16384 GB, got none"),
    (
        {"volumes": [EbsVolume(size_gb=16385)]},
        "'groups.worker-group.volumes[0].size_gb' must be 1 to 16384 GB, got 16385",
    ),
    ({"volumes": [EbsVolume(size_gb=0)]}, "'groups.worker-group.volumes[0].size_gb' must be 1 to 16384 GB, got 0"),
    (
        {"volumes": [EbsVolume(root=True)]},
        (
            "'groups.worker-group.volumes[0].key' must be given for the root volume; a root volume is configured "
            "only to be encrypted with a key"
        ),
    ),
    (
        {"volumes": [EbsVolume(size_gb=10), EbsVolume(size_gb=20)]},
        "'groups.worker-group.volumes[1]' must be the one secondary volume, got a second",
    ),
    (
        {"instance_type": None, "instance_types": ["ml.p4d.24xlarge", "p4d.24xlarge"]},
        (
            "'groups.worker-group.instance_types[1]' must be a type that is not before it, got 'p4d.24xlarge' after "
            "'ml.p4d.24xlarge'; leave it out"
        ),
    ),
    (
        {"instance_type": "ml.g5.48xlarge", "training_plan_arn": PLAN},
        (
            "'groups.worker-group.training_plan_arn' must be left out for ml.g5.48xlarge: plans reserve only "
            "ml.p4d.24xlarge, ml.p4de.24xlarge, ml.p5.4xlarge, ml.p5.48xlarge, ml.p5e.48xlarge, ml.p5en.48xlarge, "
            "ml.p6-b200.48xlarge, ml.p6-b300.48xlarge, …"
        ),
    ),
    (
        {"instance_type": "ml.p5.48xlarge", "capacity": UsageClass.SPOT, "training_plan_arn": PLAN},
        (
            "'groups.worker-group.capacity' must be left out with 'training_plan_arn', got spot; the plan "
            "reserves its own instances"
        ),
    ),
    (
        {"instance_type": "ml.p5.48xlarge", "training_plan_arn": "plan-1"},
        (
            "'groups.worker-group.training_plan_arn' must be the ARN of a training plan, "
            "arn:aws:sagemaker:us-west-2:111111111111:training-plan/<name>, got 'plan-1'"
        ),
    ),
    (
        {"capacity": UsageClass.CAPACITY_BLOCK},
        (
            "'groups.worker-group.capacity' must be on-demand or spot, got capacity-block; HyperPod has training "
            "plans, give 'training_plan_arn'"
        ),
    ),
    (
        {"deep_health_checks": [STRESS]},
        "'groups.worker-group.deep_health_checks' must be empty for ml.c5.4xlarge; it has no accelerator to test",
    ),
    (
        {"instance_type": "ml.p4d.24xlarge", "deep_health_checks": [CONNECTIVITY]},
        (
            "'groups.worker-group.deep_health_checks' must not hold InstanceConnectivity for one node; it tests "
            "pairs, use 'count' 2 or more"
        ),
    ),
    (
        {"interface_type": InterfaceType.EFA_ONLY},
        ("'groups.worker-group.interface_type' must be left out for ml.c5.4xlarge, got efa-only; the type has no EFA"),
    ),
    (
        {"image_id": "ubuntu-22.04"},
        (
            "'groups.worker-group.image_id' must be the id of an AMI, or 'default', as ami-0123456789abcdef0, "
            "got 'ubuntu-22.04'"
        ),
    ),
    (
        {"image_id": "ami-0123456789"},
        (
            "'groups.worker-group.image_id' must be the id of an AMI, or 'default', as ami-0123456789abcdef0, "
            "got 'ami-0123456789'"
        ),
    ),
    (
        {"scheduled_update": ScheduledUpdate(schedule="every sunday")},
        (
            "'groups.worker-group.scheduled_update.schedule' must be a cron expression of one minute, one hour of 0 "
            "to 23 and one day, as cron(0 4 ? * SUN *), cron(0 4 ? * 7#1 *) or cron(0 4 1 */3 ? *): CloudFormation "
            "takes no list, no range and no other form of it, got 'every sunday'"
        ),
    ),
    (
        {"scheduled_update": ScheduledUpdate(schedule="cron(0 4 ? * MON-FRI *)")},
        (
            "'groups.worker-group.scheduled_update.schedule' must be a cron expression of one minute, one hour of 0 "
            "to 23 and one day, as cron(0 4 ? * SUN *), cron(0 4 ? * 7#1 *) or cron(0 4 1 */3 ? *): CloudFormation "
            "takes no list, no range and no other form of it, got 'cron(0 4 ? * MON-FRI *)'"
        ),
    ),
    (
        {"scheduled_update": ScheduledUpdate(schedule="cron(0 4 30 2 ? *)")},
        (
            "'groups.worker-group.scheduled_update.schedule' must be a schedule, of a day that comes, "
            "got 'cron(0 4 30 2 ? *)'"
        ),
    ),
    (
        {
            "auto_patch": AutoPatch(
                strategy=PatchingStrategy.WHEN_IDLE, rolling=RollingUpdate(batch=BatchSize.percent(101))
            )
        },
        "'groups.worker-group.auto_patch.rolling.batch.value' must be 1 to 100 percent, got 101",
    ),
    (
        {
            "auto_patch": AutoPatch(
                strategy=PatchingStrategy.WHEN_IDLE,
                rolling=RollingUpdate(batch=BatchSize.instances(1), rollback_batch=BatchSize.instances(0)),
            )
        },
        "'groups.worker-group.auto_patch.rolling.rollback_batch.value' must be 1 to 6758, got 0",
    ),
    (
        {
            "scheduled_update": ScheduledUpdate(
                schedule="cron(0 4 ? * SUN *)",
                rolling=RollingUpdate(batch=BatchSize.instances(1), wait=Duration.minutes(61)),
            )
        },
        "'groups.worker-group.scheduled_update.rolling.wait' must be at most one hour, got 3660 seconds",
    ),
    (
        {"raw_overrides": {"AutoPatchConfig.PatchSchedule.NextPatchDate": "2026-12-01"}},
        (
            "'groups.worker-group.raw_overrides.AutoPatchConfig.PatchSchedule.NextPatchDate' must not be "
            "overridden: the service writes it"
        ),
    ),
]

OVERRIDES = [
    ("SlurmConfig.NodeType", "Login", "must not be overridden: use 'role'"),
    ("SlurmConfig.PartitionNames.1", "dev", "must not be overridden: use 'partition'"),
    ("LifeCycleConfig.SourceS3Uri", "s3://other/", "must not be overridden: use 'lifecycle'"),
    ("CapacityRequirements.Spot", {}, "must not be overridden: use 'capacity'"),
    ("NetworkInterface.InterfaceType", "efa-only", "must not be overridden: use 'interface_type'"),
    ("AutoPatchConfig.PatchingStrategy", "WhenIdle", "must not be overridden: use 'auto_patch'"),
    (
        "InstanceStorageConfigs.1.EbsVolumeConfig.VolumeSizeInGB",
        10,
        "must not be overridden: use 'volumes'; file systems are mounted beside",
    ),
    (
        "KubernetesConfig.Labels",
        {"a": "b"},
        "must not be overridden: it is for clusters with Amazon EKS, and this one has Slurm",
    ),
    (
        "ImageReleaseVersion",
        "1.2.3",
        "must not be overridden: it is for clusters with Amazon EKS, and this one has Slurm",
    ),
    (
        "ExecutionRole",
        "arn:aws:iam::111111111111:role/x",
        "must not be overridden: it is the role that the cluster is given, or makes",
    ),
]


@pytest.mark.parametrize(("path", "value", "text"), OVERRIDES)
def test_fails_with_an_override_of_what_is_said(build: Build, path: str, value: Any, text: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), worker(raw_overrides={path: value})])
    assert refusal.value.problems == (f"'groups.worker-group.raw_overrides.{path}' {text}",)


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
            "'groups.worker-group.volumes[0].size_gb' must be left out for the root volume, got 200; HyperPod decides "
            "the root volume's size, use a second volume for space"
        ),
        "'groups.worker-group.volumes[1]' must be the one root volume, got a second",
    )


def test_fails_with_more_than_ten_alarms(stack: Stack, build: Build) -> None:
    arn = "arn:aws:cloudwatch:us-west-2:111111111111:alarm:failures"
    alarms = [cloudwatch.Alarm.from_alarm_arn(stack, f"Alarm{number}", f"{arn}-{number}") for number in range(11)]
    rolling = RollingUpdate(batch=BatchSize.instances(1), rollback_alarms=alarms)
    patch = AutoPatch(strategy=PatchingStrategy.WHEN_ALL_IDLE, rolling=rolling)
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), worker(auto_patch=patch)])
    assert refusal.value.problems == (
        "'groups.worker-group.auto_patch.rolling.rollback_alarms' must be at most 10, got 11",
    )


def test_fails_with_deep_health_checks_of_a_controller(build: Build) -> None:
    checked = controller(instance_type="ml.g5.xlarge", deep_health_checks=[STRESS])
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[checked, worker()])
    assert refusal.value.problems == (
        (
            "'groups.controller-group.deep_health_checks' must be empty for a controller group; "
            "only compute nodes are tested"
        ),
    )


@pytest.mark.parametrize(
    ("mounts", "problem"),
    [
        (["/fsx/"], f"[0].at' {ABSOLUTE}, got '/fsx/'"),
        (["/usr/local"], "[0].at' must not be in a directory of the system, got '/usr/local'"),
        (["/usr/local/bin"], "[0].at' must not be in a directory of the system, got '/usr/local/bin'"),
        (["/usr/local/cuda-12.8"], "[0].at' must not be in a directory of the system, got '/usr/local/cuda-12.8'"),
        (["/usr/local/lib/x"], "[0].at' must not be in a directory of the system, got '/usr/local/lib/x'"),
        (["/var/x"], "[0].at' must not be in a directory of the system, got '/var/x'"),
        (["/home/ubuntu/.ssh"], "[0].at' must not be in a directory of the system, got '/home/ubuntu/.ssh'"),
        (["/etc/home"], "[0].at' must not be in a directory of the system, got '/etc/home'"),
        (
            ["/opt/sagemaker/x"],
            "[0].at' must not be /opt/sagemaker, in it or around it, as it is mounted, got '/opt/sagemaker/x'",
        ),
        (["/a", "/b"], "[1]' must be the one OpenZFS file system, got a second"),
    ],
)
def test_fails_with_mounts_that_cannot_be(stack: Stack, build: Build, mounts: list[str], problem: str) -> None:
    file_system = OpenZfs(dns_name="fs-01234567.fsx.us-west-2.example")
    group = worker(mounts=[Mount(file_system=file_system, at=path) for path in mounts])
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), group], network=existing_network(stack))
    assert refusal.value.problems == (f"'groups.worker-group.mounts{problem}",)


def test_fails_with_a_file_system_that_is_an_id(stack: Stack, build: Build) -> None:
    group = worker(mounts=[Mount(file_system=OpenZfs(dns_name="fs-01234567"))])
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), group], network=existing_network(stack))
    assert refusal.value.problems == (
        (
            "'groups.worker-group.mounts[0].file_system' must have a DNS name of fs-…, a dot and its domain, got "
            "'fs-01234567'"
        ),
    )


def test_fails_with_two_file_systems_at_one_path(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    lustre = existing_lustre(stack, shared_group(stack, network))
    zfs = OpenZfs(dns_name="fs-0abcdef0.fsx.us-west-2.example")
    group = worker(mounts=[Mount(file_system=lustre), Mount(file_system=zfs, at="/fsx")])
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[controller(), group], network=network)
    assert refusal.value.problems == (
        "'groups.worker-group.mounts[1].at' must not be /fsx, in it or around it, as it is mounted, got '/fsx'",
    )


def test_says_everything_at_once(build: Build) -> None:
    bad = worker(instance_type="ml.inf2.xlarge", count=-1, threads_per_core=4, partition="ml.p5.48xlarge")
    with pytest.raises(ConfigurationError) as refusal:
        build(groups=[bad], cluster_name="x" * 64)
    starts = [problem.split(" must")[0] for problem in refusal.value.problems]
    assert starts == [
        "'groups.worker-group.count'",
        "'groups.worker-group.threads_per_core'",
        "'cluster_name'",
        "'groups'",
        "'groups.worker-group.partition'",
        "'groups.worker-group.instance_type'",
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
                training_plan_arn=text,
                scheduled_update=ScheduledUpdate(schedule=text, rolling=RollingUpdate(batch=BatchSize.percent(number))),
            ),
        ],
    )


@given(st.from_regex(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,40}", fullmatch=True).filter(lambda name: len(name) < 64))
def test_every_legal_name_is_accepted(name: str) -> None:
    assert ClusterName().problem(name, NOWHERE) is None


@given(st.text(max_size=80))
def test_a_suggested_name_is_legal(name: str) -> None:
    wrong = ClusterName().problem(name, NOWHERE)
    suggestion = wrong and wrong.remedy.removeprefix("; use '").removesuffix("'")
    assert not suggestion or ClusterName().problem(suggestion, NOWHERE) is None
