# ruff: noqa: E501  the messages are the point, each on its line
"""Bad input with orchestrator fleet: what is said about it, with line and column."""

from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App
from aws_cdk.assertions import Annotations, Match

from cdk_trainyard.deployment import Deployment
from stacks import build_stacks
from tests.deployment.good_file import GOOD_FLEET, Edit, assert_refused, edited, row

IMAGE = "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04"

AT_LOAD = [
    row(
        "a type without EFA beside one that has it",
        [
            ("  instance_type: p4d.24xlarge", "  instance_types: [p4d.24xlarge, t3.micro]"),
            ("  count: 8", "  min_count: 0\n  max_count: 8"),
        ],
        "10:34: 'cluster.instance_types[1]' must be one with EFA, got 't3.micro'; its family has none with it; use another, or HyperPod or ParallelCluster, which have nodes without it",
    ),
    row(
        "a command with a colon and a blank",
        [
            (
                "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04",
                'build:\n      base: base-oss-nvidia-driver-gpu-ubuntu-24.04\n      commands:\n        - curl -H "Accept: a" https://x.example',
            )
        ],
        "16:11: 'cluster.image.build.commands[0]' must be text, got a mapping; ': ' makes a mapping of the line: put all of it in quotes",
    ),
    row(
        "a rule of the fleet",
        [("instance_type: p4d.24xlarge", "instance_type: g5.xlarge")],
        "10:18: 'cluster.instance_type' must be one with EFA, got 'g5.xlarge'; […]",
    ),
    row(
        "wrong form, wrong kind and a rule in one run",
        [("count: 8", "count: many\n  volume_gib: 4\n  starts: tomorrow\n  threads_per_core: 1"), (IMAGE, "user: me")],
        "11:10: 'cluster.count' must be a whole number of nodes, got 'many'",
        "12:15: 'cluster.volume_gib' must be 8 to 65536 GiB, got 4",
        "13:11: 'cluster.starts' must be a time in UTC, as […]",
        "15:3: 'cluster.image.dlami' or 'ami_id' or 'parameter' or 'build' must […]",
    ),
    row(
        "no image",
        [(f"  image:\n    {IMAGE}\n", "")],
        "9:1: 'cluster.image.dlami' or 'ami_id' or 'parameter' or 'build' must be given: which image it is",
    ),
    row(
        "an image by its id alone",
        [(f"  image:\n    {IMAGE}\n", "  image: ami-0123456789abcdef0\n")],
        "12:10: 'cluster.image' must be a mapping ('ami_id: ami-0123456789abcdef0' on lines below it), got 'ami-0123456789abcdef0'",
    ),
    row(
        "an AMI where a Deep Learning AMI is named",
        [(IMAGE, "dlami: ami-0123456789abcdef0")],
        "13:12: 'cluster.image.dlami' must be the name of a Deep Learning AMI, got 'ami-0123456789abcdef0'; use 'ami_id' for an AMI by its id",
    ),
    row(
        "an AMI that is none, of another architecture",
        [(IMAGE, "ami_id: mine\n    architecture: arm64")],
        "12:3: 'cluster.image' must be one for x86_64, the architecture of p4d.24xlarge, got one for arm64",
        "13:13: 'cluster.image.ami_id' must be the id of an AMI […]",
        "16:20: 'cluster.master.instance_type' must be one of arm64, the architecture of the image, got c5n.18xlarge of x86_64",
    ),
    row(
        "an image that is built without a driver",
        [(IMAGE, "build: {base: ubuntu-24.04}")],
        "12:3: 'cluster.image' must be one with drivers for the A100 devices of p4d.24xlarge, got 'the image built on ubuntu-24.04' for no accelerators; give its 'build' a base with them, or 'families' [p4d] and 'nvidia_branch' or 'commands' that install them",
    ),
    row(
        "an alarm that no fleet has",
        [("name: ", "monitoring: {alarms: {SlurmDown: {minutes: 6}}}\nname: ")],
        "1:23: 'monitoring.alarms.SlurmDown' must be an alarm: ClusterSilent, ExporterDown, DiskFull, InodesLow, DiskReadOnly, OutOfMemory, ClockUnsynchronised, NodeMetricsStale, … (all are in the table of alarms), got 'SlurmDown'; did you mean 'ExporterDown'?",
    ),
    row(
        "families of an image that are others",
        [(IMAGE, "build: {base: base-oss-nvidia-driver-gpu-ubuntu-24.04, families: [p5]}")],
        "13:60: 'cluster.image.build.families' must have p4d too, the family of p4d.24xlarge, got p5; add it, or leave 'families' out",
    ),
    row(
        "a type of which only another family has EFA",
        [("instance_type: p4d.24xlarge", "instance_type: c5.18xlarg")],
        "10:18: 'cluster.instance_type' must be the name of an EC2 instance type, got 'c5.18xlarg'; did you mean 'c5n.18xlarge' or 'g5.8xlarge' or 'p5.48xlarge'?",
    ),
    row(
        "a key that no fleet will have",
        [("instance_type: p4d.24xlarge", "instance_type: p4d.24xlarge\n  public: true")],
        "11:3: 'cluster.public' is no key here; EC2 gives no public address to an instance with several network interfaces; leave it out, and reach nodes by SSM",
    ),
    row(
        "repositories that all policies of a role have no room for",
        [
            (
                "cluster:\n",
                f"cluster:\n  image_repositories: [{', '.join(f'team/{number:0>245}' for number in range(407))}]\n",
            )
        ],
        "10:3: 'cluster.image_repositories' must have ARNs of at most 120000 characters together, all that the managed policies of a role have room for, got 407 with 120472; use '*' for all of the account",
    ),
    row(
        "what others call capacity",
        [("instance_type: p4d.24xlarge", "instance_type: p4d.24xlarge\n  spot_price: 1\n  warm_pool: {min: 1}")],
        "11:3: 'cluster.spot_price' is no key here; use 'capacity', spot; no more than the price on demand is paid",
        "12:3: 'cluster.warm_pool' is no key here; nodes that wait for work are nodes of the fleet; leave it out",
    ),
    row(
        "a role of another account, and a key of another Region",
        [
            ("region: us-west-2", 'region: us-west-2\naccount: "111111111111"'),
            (
                "count: 8",
                "count: 8\n  role_arn: arn:aws:iam::222222222222:role/x\n  volume_key_arn: arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef",
            ),
        ],
        "13:13: 'cluster.role_arn' must be of account 111111111111, got 'arn:aws:iam::222222222222:role/x'",
        "14:19: 'cluster.volume_key_arn' must be of Region us-west-2, got 'arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef'",
    ),
    row(
        "a master",
        [
            (
                "instance_type: c5n.18xlarge",
                "instance_type: c7gn.16xlarge\n    image: {dlami: base-oss-nvidia-driver-gpu-amazon-linux-2023}",
            )
        ],
        "16:5: 'cluster.master.image' must be one for arm64, the architecture of c7gn.16xlarge, got 'base-oss-nvidia-driver-gpu-amazon-linux-2023' for x86_64",
        "16:5: 'cluster.master.image' must have the user 'ubuntu' of the fleet's image, got 'base-oss-nvidia-driver-gpu-amazon-linux-2023' with 'ec2-user'; members log in to members as one user",
    ),
    row(
        "an image that cannot be built",
        [(IMAGE, 'build: {base: ubuntu-24.04, families: [p4d], nvidia_branch: "58", instance_type: m7g.large}')],
        "13:65: 'cluster.image.build.nvidia_branch' must be a branch of NVIDIA's driver, as 580, got '58'",
        "13:86: 'cluster.image.build.instance_type' must be one of x86_64, the architecture of the base 'ubuntu-24.04', got m7g.large of arm64",
    ),
    row(
        "a build without NAT",
        [
            ("zone: usw2-az2", "zone: usw2-az2\n  nat: none\n  interface_endpoints: [autoscaling, ec2, logs, ssm]"),
            (IMAGE, "build: {base: base-oss-nvidia-driver-gpu-ubuntu-22.04}"),
        ],
        "3:1: 'network' must have NAT: the build of an image fetches packages from outside, got none",
    ),
    row(
        "file systems that fleets do not mount, or not there",
        [
            (
                "storage:\n",
                "storage:\n  open_zfs: {dns_name: fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com}\n",
            ),
            ("capacity_gib: 1200", "capacity_gib: 1200\n    at: /etc/x"),
        ],
        "6:3: 'storage.open_zfs' must be left out […]",
        "9:9: 'storage.lustre.at' must not be in a directory of the system, got '/etc/x'",
    ),
    row(
        "a file system that no subnet holds, said once",
        [("capacity_gib: 1200", "capacity_gib: 240000000")],
        "7:19: 'storage.lustre.capacity_gib' must be at most 157236000 for PERSISTENT_2, got 240000000: it takes 100016 addresses, and the largest subnet (a /16) has 65531; use several file systems",
    ),
    row(
        "more nodes than their subnet holds",
        [("zone: usw2-az2", "zone: usw2-az2\n  cidr: 10.1.0.0/25"), ("count: 8", "count: 80")],
        "5:9: 'network.cidr' must hold 83 addresses (nodes 80 x p4d.24xlarge x 1 = 80, Lustre file servers = 2, other = 1), got 10.1.0.64/26 with 59; use a /25 or larger; that is for the accelerator subnet, which has half of this block",
    ),
]


@pytest.mark.parametrize(("edits", "says"), AT_LOAD)
def test_fails_at_load(edits: list[Edit], says: list[str], write: Callable[[str], Path]) -> None:
    assert_refused(write(edited(*edits, good=GOOD_FLEET)), says)


def test_a_file_system_in_another_zone_is_a_warning_with_its_cost(write: Callable[[str], Path]) -> None:
    existing = (
        "file_system_id: fs-0123456789abcdef0\n    dns_name: fs-0123456789abcdef0.fsx.us-west-2.example\n"
        "    mount_name: abcdefgh\n    security_group_id: sg-0123456789abcdef0\n    zone: usw2-az1"
    )
    path = write(edited(("capacity_gib: 1200", existing), good=GOOD_FLEET))
    *_, stack = build_stacks(App(), Deployment.load(path))
    warnings = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("billed by the GB"))
    assert len(warnings) == 1
