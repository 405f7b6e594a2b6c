# ruff: noqa: E501  the messages are the point, each on its line
"""Bad input with orchestrator parallelcluster: every word of what is said about it, with line and column."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from aws_cdk import App

from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment, explain
from cdk_trainyard.parallelcluster.updates import update_problems
from stacks import build_stacks
from tests.deployment.good_file import GOOD_PARALLELCLUSTER, Edit, edited, problems_of, python_names, row
from tools.contract.collect import Found, clusters

SYSTEMS = "alinux2023, ubuntu2204, ubuntu2404, rhel8, rocky8, rhel9, rocky9"
TRN1 = "instance_type: trn1.32xlarge"
COUNTS = "min_count: 0\n          max_count: 16"
ACCOUNTING = "  head_node:\n", "  slurm:\n    accounting: {}\n  head_node:\n"
ZONES = "zone: us-east-1a\n", "zone: us-east-1a\n  service_zones: [us-east-1a, us-east-1b]\n"
EXISTING = (
    "vpc_id: vpc-0123456789abcdef0\n  accelerator_subnet: {subnet_id: subnet-0123456789abcdef0, zone: us-east-1a}"
)


AT_LOAD = [
    row(
        "PyTorch for Neuron on Amazon Linux",
        [("public: true", "public: true\n    on_configured: [{script: neuron.sh, args: [--venv, /apps/neuron]}]")],
        "10:21: 'operating_system' must be ubuntu2404 for neuron.sh with --venv in 'on_configured' of the head node, got 'alinux2023' with Python 3.9: torch-neuronx==2.9.0.2.15.32035, neuronx-cc==2.26.6360.0 are for Python 3.11, 3.12, 3.13; or leave --venv out and train in containers",
    ),
    row(
        "trn1.2xlarge with EFA",
        [(TRN1, "instance_type: trn1.2xlarge\n          efa: true")],
        "23:16: 'efa' of 'trn1-2xlarge' in queue 'training' must be false for trn1.2xlarge, which has no EFA, got true",
    ),
    row(
        "EFA without a placement decision",
        [("      placement: cluster\n", "")],
        "19:13: 'placement' of 'trn1-32xlarge' in queue 'training' must be given for nodes with EFA: cluster for the lowest latency, or anywhere where capacity is short",
    ),
    row(
        "two subnets for one EFA type",
        [
            ("placement: cluster", "placement: anywhere\n      subnets: [accelerator, public]"),
            (TRN1, "instance_types: [c5n.18xlarge]\n          efa: true"),
        ],
        "19:13: 'public_ip' of queue 'training' must be given in a public subnet of a new network, which gives no address by itself: without one the nodes reach nothing",
        "21:7: 'subnets' of queue 'training' must be one for nodes with EFA, which does not cross zones, got 2",
        "21:7: 'subnets' of queue 'training' must keep c5n.18xlarge private: EC2 gives no public address to an instance with several network interfaces; use the accelerator subnet, behind NAT",
    ),
    row(
        "a public subnet for a multi-card type",
        [("placement: cluster", "placement: cluster\n      public_ip: true\n      subnets: [public]")],
        "21:18: 'public_ip' of queue 'training' must keep trn1.32xlarge private: EC2 gives no public address to an instance with several network interfaces; use the accelerator subnet, behind NAT",
    ),
    row(
        "max < min",
        [(COUNTS, "min_count: 4\n          max_count: 2")],
        "24:22: 'max_count' of 'trn1-32xlarge' in queue 'training' must be at least 'min_count', got 2 and 4",
    ),
    row(
        "a capacity block with min != max",
        [
            (
                "placement: cluster",
                "capacity: capacity-block\n      reservation_id: cr-0123456789abcdef0",
            ),
            (TRN1, "instance_type: p5.48xlarge"),
            (COUNTS, "min_count: 2\n          max_count: 4"),
        ],
        "24:22: 'min_count' of 'p5-48xlarge' in queue 'training' must be equal to 'max_count' on a capacity block, got 2 and 4; leave it out",
    ),
    row(
        "Lustre 1300",
        [("1200", "1300")],
        "7:19: 'storage.lustre.capacity_gib' must be 1200 or a multiple of 2400 for PERSISTENT_2, got 1300; use 1200 or 2400",
    ),
    row(
        "two things on /fsx",
        [("at: /shared", "at: /fsx\n        name: other")],
        "27:13: 'at' must be another for every shared directory, got /fsx for 'fsx' and 'other'",
    ),
    row(
        "two things on /fsx, unnamed",
        [("at: /shared", "at: /fsx")],
        "25:3: 'storage' must have different names, got 'fsx' 2 times",
        "27:13: 'at' must be another for every shared directory, got /fsx for 'fsx' and 'fsx'",
    ),
    row(
        "a queue name in upper case",
        [("name: training", "name: Training")],
        "19:13: 'name' of a queue must be a lower case letter and then lower case letters, digits and hyphens, at most 25 characters, got 'Training'",
    ),
    row(
        "OS ubuntu2004",
        [("alinux2023", "ubuntu2004")],
        f"10:21: 'operating_system' must be one of {SYSTEMS}, got 'ubuntu2004', which is gone since ParallelCluster 3.14.0",
    ),
    row(
        "OS alinux2",
        [("alinux2023", "alinux2")],
        f"10:21: 'operating_system' must be one of {SYSTEMS}, got 'alinux2', which is gone since ParallelCluster 3.16.0",
    ),
    row(
        "a region without ParallelCluster",
        [("us-east-1\n", "ap-south-2\n"), ("us-east-1a", "ap-south-2a")],
        "2:9: the Region must be one that ParallelCluster 3.16.1 supports, got 'ap-south-2'; its nearest are ap-east-1, ap-northeast-1, ap-northeast-2, ap-south-1, ap-southeast-1, ap-southeast-2, ap-southeast-3, ap-southeast-5, ap-southeast-7",
    ),
    row(
        "a schema that ParallelCluster does not take",
        [(ACCOUNTING[0], ACCOUNTING[1].replace("{}", "{schema_name: Jobs$}"))],
        "12:31: 'schema_name' of the accounting database must match ^[0-9a-z_]+$, got 'Jobs$'",
    ),
    row(
        "a key of the schema misspelt",
        [("cluster:\n", "cluster:\n  extra: {DeploymentSetting: {}}\n")],
        "10:11: 'DeploymentSetting' is not a key of ParallelCluster; did you mean 'DeploymentSettings' or 'DevSettings'?",
    ),
    row(
        "a key of the file misspelt",
        [("min_count: 0", "min_cuont: 0")],
        "23:11: 'min_cuont' is not a key in 'compute'; did you mean 'min_count' or 'max_count'?",
    ),
    row(
        "an instance type misspelt",
        [("trn1.32xlarge", "trn1.32xlrge")],
        "22:26: 'instance_type' of queue 'training' must be the name of an EC2 instance type, got 'trn1.32xlrge'; did you mean 'trn1.32xlarge' or 'trn1n.32xlarge' or 'trn1.2xlarge'?",
    ),
    row(
        "a public head node without a public subnet",
        [("zone: us-east-1a", "zone: us-east-1a\n  nat: none\n  interface_endpoints: [cloudformation, ec2, logs]")],
        "15:13: 'public' of the head node must be false in a network without public subnets, got true",
    ),
    row(
        "a public head node in an existing network without a public subnet",
        [("zone: us-east-1a", EXISTING)],
        "14:13: 'public' of the head node must be false in a network without public subnets, got true",
    ),
    row(
        "a public head node without an address",
        [("public: true", "public: true\n    elastic_ip: false")],
        "14:17: 'elastic_ip' of the head node must be true in a public subnet of a new network, which gives no address by itself: without one the node reaches nothing, got false",
    ),
    row(
        "an address and not",
        [("public: true", "public: true\n    elastic_ip: true\n    elastic_ip_id: eipalloc-0123456789abcdef0")],
        "14:17: 'elastic_ip' of the head node must be left out with 'elastic_ip_id', which says it",
    ),
    row(
        "a script that is neither a name nor an address",
        [("public: true", "public: true\n    on_configured: [{script: /home/me/install.sh}]")],
        "14:5: 'on_configured' of the head node must be an address as s3://bucket/key or https://host/path, got '/home/me/install.sh'",
    ),
    row(
        "an hour for the head node",
        [("cluster:\n", "cluster:\n  timeouts: {head_node_minutes: 60}\n")],
        "10:33: 'head_node_minutes' of the timeouts must be less than an hour, which CloudFormation waits for the whole cluster, got 60 minutes; put what takes long into an image",
    ),
    row(
        "minutes below all",
        [("cluster:\n", "cluster:\n  slurm: {idle_minutes: -5}\n")],
        "10:25: 'idle_minutes' must be at least 0, got -5",
    ),
    row(
        "parameters of Slurm that are no values",
        [("name: training", "name: training\n      slurm: {MaxTime: [1, 2]}")],
        "20:7: 'slurm' of queue 'training' must give MaxTime one value, got a list",
    ),
    row(
        "half of an EFS file system",
        [("ebs:", "efs: [{at: /efs, file_system_id: fs-0123456789abcdef0}]\n    ebs:")],
        "26:38: 'file_system_id' and 'security_group_id' of the EFS file system at '/efs' must be given together, got file_system_id alone",
    ),
    row(
        "a Lustre of the cluster's own",
        [("    ebs:", "    lustre: [{at: /fsx}]\n    ebs:")],
        "26:5: 'lustre' is not a key in 'storage'; known are ebs, efs, ontap, openzfs",
    ),
    row(
        "no queue",
        [(GOOD_PARALLELCLUSTER.partition("  queues:")[2].partition("  storage:")[0], " []\n")],
        "14:3: 'queues' must hold at least one queue, got none",
    ),
    row(
        "a mount point of no use",
        [("placement: cluster", "placement: cluster\n      scratch_at: s3://x")],
        r"21:19: 'scratch_at' of queue 'training' must match ^\/?[^\/.\\][^\/\\]*(\/[^\/.\\][^\/]*)*$, got 's3://x'",
    ),
    row(
        "two queues of one name",
        [("name: training", "name: cpu")],
        "14:3: 'queues' must have different names, got 'cpu' 2 times",
    ),
    row(
        "a price that is no number",
        [("max_count: 8", "spot_price: cheap")],
        "18:23: 'spot_price' must be a number, got 'cheap'",
    ),
    row(
        "a price where nothing is bid",
        [("max_count: 8", "spot_price: 0.5")],
        "18:23: 'spot_price' of 'c5-xlarge' in queue 'cpu' must be left out unless the queue is on Spot, got 0.5",
    ),
    row(
        "two reservations",
        [
            (
                "max_count: 8",
                "reservation_id: cr-0123456789abcdef0\n          reservation_group_arn: arn:aws:resource-groups:us-east-1:111111111111:group/g",
            )
        ],
        "18:27: 'reservation_id' or 'reservation_group_arn' of 'c5-xlarge' in queue 'cpu' must be given, and only one of them, got both",
    ),
    row(
        "Lustre over EFA in another zone",
        [
            (
                "capacity_gib: 1200",
                "file_system_id: fs-0123456789abcdef0\n    mount_name: fsx\n    dns_name: fs-0123456789abcdef0.fsx.us-east-1.example\n    security_group_id: sg-12345678\n    efa_enabled: true\n    zone: us-east-1b",
            )
        ],
        "6:3: 'lustre', mounted as 'fsx' must be in the zone of the nodes, us-east-1a, got one with EFA in us-east-1b; EFA does not cross zones",
    ),
    row(
        "what HyperPod has",
        [
            (
                "storage:\n  lustre:",
                "storage:\n  open_zfs: {dns_name: fs-0123456789abcdef0.fsx.us-east-1.example}\n  lustre:",
            ),
            ("name: demo", "name: demo\nalerts: {emails: [ops@example.com]}"),
        ],
        "2:1: 'alerts' must be left out with orchestrator parallelcluster, which makes alarms of the head node itself; see 'alarms' in its 'monitoring'",
        "7:3: 'open_zfs' must be left out with orchestrator parallelcluster, which mounts volumes by id; give 'openzfs' in the cluster's 'storage' its 'volume_id'",
    ),
    row(
        "a cluster of HyperPod",
        [(GOOD_PARALLELCLUSTER.partition("cluster:\n  ")[2], "groups: {}\n")],
        "9:1: 'head_node' must be given in 'cluster'",
        "9:1: 'queues' must be given in 'cluster'",
        "10:3: 'groups' is not a key in 'cluster'; known are cluster_name, extra, head_node, iam, image_id, image_repositories, login_pools, monitoring, operating_system, prometheus_workspace_arn, queues, removal_policy, scripts, slurm, storage, suppress_validators, tags, timeouts, version",
    ),
    row(
        "one queue of the wrong form, another that breaks a rule",
        [("max_count: 8", "max_count: eight"), ("      placement: cluster\n", "")],
        "18:22: 'max_count' must be a whole number, got 'eight'",
        "19:13: 'placement' of 'trn1-32xlarge' in queue 'training' must be given for nodes with EFA: cluster for the lowest latency, or anywhere where capacity is short",
    ),
    row(
        "a head node of the wrong form, a queue that breaks a rule",
        [
            ("public: true", "public: please"),
            ("      placement: cluster\n", ""),
            ("c5.xlarge\n          max", "c7g.xlarge\n          max"),
        ],
        "13:13: 'public' must be true or false, got 'please'",
        "19:13: 'placement' of 'trn1-32xlarge' in queue 'training' must be given for nodes with EFA: cluster for the lowest latency, or anywhere where capacity is short",
    ),
]


@pytest.mark.parametrize(("edits", "says"), AT_LOAD)
def test_fails_at_load(edits: list[Edit], says: list[str], write: Callable[[str], Path]) -> None:
    found = problems_of(write(edited(*edits, good=GOOD_PARALLELCLUSTER)))
    assert found == says
    assert [name for problem in found for name in python_names(problem)] == []


def test_the_good_file_is_good(write: Callable[[str], Path]) -> None:
    assert problems_of(write(GOOD_PARALLELCLUSTER)) == []


def test_problems_of_all_sections_come_together(write: Callable[[str], Path]) -> None:
    path = write(
        edited(
            ("zone: us-east-1a", "zone: us-west-2a"),
            ("1200", "1300"),
            ("alinux2023", "alinux2"),
            ("max_count: 8", "max_count: 0"),
            (COUNTS, "min_count: 4\n          max_count: 2"),
            good=GOOD_PARALLELCLUSTER,
        )
    )
    assert [problem.split(": ")[0] for problem in problems_of(path)] == ["4:9", "7:19", "10:21", "18:22", "24:22"]


AT_SYNTH = [
    row(
        "a script that is not there",
        [("public: true", "public: true\n    on_configured: [{script: neurn.sh}]")],
        "14:30: the script must be a file at the top of the folder, got 'neurn.sh'; did you mean 'neuron.sh'",
    ),
    row(
        "a folder that is not there",
        [("public: true", "public: true\n    on_start: [{script: a.sh}]\n  scripts: {folder: nowhere}")],
        "15:21: 'folder' must be an existing folder, got",
    ),
    row(
        "more nodes than addresses",
        [
            ("zone: us-east-1a", "zone: us-east-1a\n  cidr: 10.1.0.0/24"),
            ("max_count: 16", "max_count: 500"),
            ("c5.xlarge\n    p", "m5.8xlarge\n    p"),
        ],
        "3:1: 'accelerator_cidr' must hold 524 addresses (cpu/c5-xlarge 8 x c5.xlarge x 1 = 8, training/trn1-32xlarge 500 x trn1.32xlarge x 1 = 500, reserve = 16), got 10.1.0.128/25 with 123; use a /22 or larger",
    ),
    row(
        "an accounting database in one zone",
        [ACCOUNTING],
        "3:1: 'network' must have 'service_subnets' in at least 2 zones for a database, got none; give a new network its 'service_zones'",
    ),
    row(
        "backups of the accounting database",
        [(ACCOUNTING[0], ACCOUNTING[1].replace("{}", "{backup_retention_days: 40}")), ZONES],
        "13:41: 'backup_retention_days' must be 1 to 35 days, got 40",
    ),
]


@pytest.mark.parametrize(("edits", "says"), AT_SYNTH)
def test_fails_at_synth_with_file_and_line(edits: list[Edit], says: list[str], write: Callable[[str], Path]) -> None:
    path = write(edited(*edits, good=GOOD_PARALLELCLUSTER))
    deployment = Deployment.load(path)
    with pytest.raises(ConfigurationError) as caught:
        build_stacks(App(), deployment)
    explained = explain(caught.value, deployment)
    (line, *_) = [line for line in explained.splitlines() if line.lstrip(" -").startswith(f"{path}:{says[0]}")] or [""]
    assert line, explained
    assert python_names(line) == []


# ---------------------------------------------------------------- what an update may not change
@cache
def cluster_of(*edits: Edit) -> Found:
    """The cluster of the good file, edited."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.yaml")
        path.write_text(edited(*edits, good=GOOD_PARALLELCLUSTER))
        app = App()
        build_stacks(app, Deployment.load(path))
        (cluster,) = clusters(Path(app.synth().directory))
        return cluster


NEVER = "cannot be changed while the cluster exists; define a second cluster beside it"


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (
            ("instance_type: c5.xlarge\n    public", "instance_type: c5.2xlarge\n    public"),
            f"'HeadNode.InstanceType' {NEVER}, got 'c5.2xlarge' instead of 'c5.xlarge'",
        ),
        (("public: true", "public: false"), f"'HeadNode.Networking.SubnetId' {NEVER}, got "),
        (
            ("public: true", "public: true\n    on_configured: [{script: https://scripts.example/other.sh}]"),
            f"'HeadNode.CustomActions.OnNodeConfigured.Script' {NEVER}, got 'https://scripts.example/other.sh' instead of 'https://scripts.example/a.sh'",
        ),
    ],
    ids=["type of the head node", "subnet of the head node", "script of the head node"],
)
def test_fails_on_update(edit: Edit, says: str) -> None:
    before = "public: true", "public: true\n    on_configured: [{script: https://scripts.example/a.sh}]"
    first = cluster_of(before) if "script" in edit[1] else cluster_of()
    second = cluster_of(edit)
    problems = update_problems(first.config, second.config)
    assert [problem for problem in problems if problem.startswith(says)], problems


def test_another_version_in_place_asks_another_provider() -> None:
    """CloudFormation refuses it ("Modifying service token is not allowed."), and ``make plan-update`` says so."""
    first = cluster_of()
    other = cluster_of(("cluster:\n", "cluster:\n  version: 3.15.0\n"))
    assert (first.name, first.version, other.name, other.version) == (other.name, "3.16.1", first.name, "3.15.0")
