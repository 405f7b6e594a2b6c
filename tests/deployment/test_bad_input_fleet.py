# ruff: noqa: E501  the messages are the point, each on its line
"""Bad input with orchestrator fleet: every word of what is said about it, with line and column."""

from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App
from aws_cdk.assertions import Annotations, Match

from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment, explain
from stacks import build_stacks
from tests.deployment.good_file import GOOD_FLEET, Edit, edited, problems_of, python_names, row

BLOCK = "instance_type: p5.48xlarge\n  capacity: capacity-block\n  reservation_id: cr-0123456789abcdef0"

AT_LOAD = [
    row(
        "a type without EFA",
        [("instance_type: p4d.24xlarge", "instance_type: g5.xlarge")],
        "10:18: 'instance_type' must be one with EFA, got 'g5.xlarge'; launch it without EFA interfaces",
    ),
    row(
        "an unknown type",
        [("instance_type: p4d.24xlarge", "instance_type: p4d.24xlrage")],
        "10:18: 'instance_type' must be the name of an EC2 instance type, got 'p4d.24xlrage'; did you mean 'p4d.24xlarge' or 'p4de.24xlarge' or 'p3dn.24xlarge'?",
    ),
    row(
        "one type and several",
        [("instance_type: p4d.24xlarge", "instance_type: p4d.24xlarge\n  instance_types: [p4de.24xlarge]")],
        "11:3: 'instance_type' or 'instance_types' must be given, and not both",
    ),
    row(
        "a capacity block of another count",
        [
            (
                "instance_type: p4d.24xlarge",
                "instance_type: p5.48xlarge\n  capacity: capacity-block\n  reservation_id: cr-0123456789abcdef0\n  reserved_instances: 16",
            )
        ],
        "14:10: 'count' must be 16 nodes, all that the capacity block holds, got 8; more do not start, and fewer are paid for all the same",
    ),
    row(
        "a capacity block without its id",
        [("instance_type: p4d.24xlarge", "instance_type: p5.48xlarge\n  capacity: capacity-block")],
        "9:1: 'reservation_id' must name the capacity block with capacity capacity-block, got nothing",
    ),
    row(
        "a placement group beside a capacity block",
        [
            (
                "instance_type: p4d.24xlarge",
                "instance_type: p5.48xlarge\n  capacity: capacity-block\n  reservation_id: cr-0123456789abcdef0\n  placement: cluster",
            )
        ],
        "13:14: 'placement' must be anywhere with a capacity-block, which owns the placement of its instances, got a cluster placement group of the fleet's; leave it out",
    ),
    row(
        "Spot in a cluster placement group of mixed types",
        [
            (
                "instance_type: p4d.24xlarge",
                "instance_types: [p4d.24xlarge, p4de.24xlarge]\n  capacity: spot\n  placement: cluster",
            )
        ],
        "12:14: 'placement' must be anywhere for Spot instances of several types, got a cluster placement group for p4d.24xlarge, p4de.24xlarge: EC2 finds room for one type at a time there; use one type, or on-demand capacity",
    ),
    row(
        "Spot with a reservation",
        [
            (
                "instance_type: p4d.24xlarge",
                "instance_type: p4d.24xlarge\n  capacity: spot\n  reservation_id: cr-0123456789abcdef0",
            )
        ],
        "12:19: 'reservation_id' must be left out with capacity spot, which takes what is not reserved",
    ),
    row(
        "an AMI of the wrong architecture",
        [("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", "ami_id: ami-0123456789abcdef0\n    architecture: arm64")],
        "12:3: 'image' must be one for x86_64, the architecture of p4d.24xlarge, got 'ami-0123456789abcdef0' for arm64",
        "12:3: the master: 'image' must be one for x86_64, the architecture of c5n.18xlarge, got 'ami-0123456789abcdef0' for arm64",
    ),
    row(
        "an image without drivers for the type",
        [("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", "dlami: neuron-base-ubuntu-24.04")],
        "12:3: 'image' must be one with drivers for the A100 devices of p4d.24xlarge, got 'neuron-base-ubuntu-24.04' for inf2, trn1, trn1n, trn2, trn2u, trn3; use one of base-oss-nvidia-driver-gpu-amazon-linux-2023, base-oss-nvidia-driver-gpu-ubuntu-22.04, base-oss-nvidia-driver-gpu-ubuntu-24.04, oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04",
    ),
    row(
        "an unknown DLAMI",
        [("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", "dlami: base-oss-nvidia-driver-gpu-ubuntu-2404")],
        "13:12: 'dlami' must be the name of a Deep Learning AMI, got 'base-oss-nvidia-driver-gpu-ubuntu-2404'; did you mean 'base-oss-nvidia-driver-gpu-ubuntu-24.04' or 'base-oss-nvidia-driver-gpu-ubuntu-22.04' or 'base-oss-nvidia-driver-gpu-amazon-linux-2023'? (list of 2026-11-20; a newer one is taken by 'parameter')",
    ),
    row(
        "a type that no DLAMI has a driver for",
        [("instance_type: p4d.24xlarge", "instance_type: p3dn.24xlarge")],
        "12:3: 'image' must be one with drivers for the V100 devices of p3dn.24xlarge, got 'base-oss-nvidia-driver-gpu-ubuntu-24.04' for g4dn, g5, g6, gr6, g6e, g7e, p4d, p4de, p5, p5e, p5en, p6-b200, p6-b300; no Deep Learning AMI is made for it any more: give it 'build' with the base ubuntu-24.04",
    ),
    row(
        "two images",
        [
            (
                "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04",
                "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04\n    ami_id: ami-0123456789abcdef0",
            )
        ],
        "13:12: 'image' must say one of 'dlami', 'ami_id', 'parameter' and 'build', got dlami and ami_id",
    ),
    row(
        "no image",
        [("  image:\n    dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04\n", "")],
        "9:1: 'image' must be given in 'cluster'",
    ),
    row(
        "empty image",
        [("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", "user: me")],
        "12:3: 'image' must say one of 'dlami', 'ami_id', 'parameter' and 'build', got none of them",
    ),
    row(
        "user of dlami",
        [
            (
                "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04",
                "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04\n    user: me",
            )
        ],
        "14:11: 'user' of 'image' must be left out with dlami, whose it is known",
    ),
    row(
        "count and range",
        [("count: 8", "count: 8\n  max_count: 9")],
        "11:10: 'count' must be left out with 'min_count' and 'max_count', got both",
    ),
    row(
        "no count",
        [("  count: 8\n", "")],
        "9:1: 'count' must be given, or both 'min_count' and 'max_count'",
    ),
    row(
        "half range",
        [("count: 8", "max_count: 9")],
        "11:14: 'count' must be given, or both 'min_count' and 'max_count'",
    ),
    row(
        "too many",
        [("count: 8", "count: 6000")],
        "11:10: 'count' must be 1 to 5000 nodes, of which 0 or more always are there, got 6000",
    ),
    row(
        "negative",
        [("count: 8", "count: -1")],
        "11:10: 'count' must be 1 to 5000 nodes, of which 0 or more always are there, got -1",
    ),
    row(
        "a public address",
        [("instance_type: p4d.24xlarge", "instance_type: p4d.24xlarge\n  public: true")],
        "11:3: 'public' is not a key in 'cluster': EC2 gives no public address to an instance with several network interfaces; leave it out, and reach nodes by SSM",
    ),
    row(
        "two subnets",
        [("instance_type: p4d.24xlarge", "instance_type: p4d.24xlarge\n  subnets: [a, b]")],
        "11:3: 'subnets' is not a key in 'cluster': nodes stand in the one accelerator subnet of 'network', since EFA does not cross zones; leave it out",
    ),
    row(
        "a key that there is not",
        [("instance_type: p4d.24xlarge", "instance_type: p4d.24xlarge\n  whatever: 1")],
        "11:3: 'whatever' is not a key in 'cluster'; known are capacity, count, ends, fleet_name, image, image_repositories, instance_type, instance_types, interfaces, key_pair, log_retention_days, master, max_count, min_count, placement, prometheus_workspace_arn, reservation_group_arn, reservation_id, reserved_instances, role_arn, starts, threads_per_core, volume_gib, volume_key_arn",
    ),
    row(
        "open zfs",
        [("storage:\n", "storage:\n  open_zfs: {dns_name: fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com}\n")],
        "6:3: 'open_zfs' must be left out with orchestrator fleet, whose nodes mount 'lustre' alone",
    ),
    row(
        "mount",
        [("capacity_gib: 1200", "capacity_gib: 1200\n    at: /etc/x")],
        "8:9: 'at' must be an absolute path outside of the system's folders, as '/fsx', got '/etc/x'",
    ),
    row(
        "volume",
        [("count: 8", "count: 8\n  volume_gib: 4")],
        "12:15: 'volume_gib' must be 8 to 65536, the sizes of gp3, got 4",
    ),
    row(
        "threads",
        [("count: 8", "count: 8\n  threads_per_core: 3")],
        "12:21: 'threads_per_core' must be 1 or 2, got 3",
    ),
    row(
        "name",
        [("count: 8", "count: 8\n  fleet_name: 1x_")],
        "12:15: 'fleet_name' must be a letter and then letters, digits and hyphens, 63 at most, got '1x_'; leave it out for a unique one",
    ),
    row(
        "master type",
        [("c5n.18xlarge", "c5n.18xlarg")],
        "15:20: the master: 'instance_type' must be the name of an EC2 instance type, got 'c5n.18xlarg'; did you mean 'c5n.18xlarge' or 'c5.18xlarge' or 'c5d.18xlarge'?",
    ),
    row(
        "master arch",
        [("c5n.18xlarge", "c7gn.16xlarge")],
        "12:3: the master: 'image' must be one for arm64, the architecture of c7gn.16xlarge, got 'base-oss-nvidia-driver-gpu-ubuntu-24.04' for x86_64",
    ),
    row(
        "master user",
        [
            (
                "instance_type: c5n.18xlarge",
                "instance_type: c5n.18xlarge\n    image: {dlami: base-oss-nvidia-driver-gpu-amazon-linux-2023}",
            )
        ],
        "12:3: 'image' of the master must have the user 'ubuntu' of the fleet's image, got 'base-oss-nvidia-driver-gpu-amazon-linux-2023' with 'ec2-user'; members log in to members as one user",
    ),
    row(
        "an image that cannot be built",
        [
            (
                "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04",
                'build: {base: ubuntu-24.4, nvidia_branch: "58", instance_type: m7g.large, schedule: daily}',
            )
        ],
        "13:19: 'base' must be the name of a Deep Learning AMI, got 'ubuntu-24.4'; did you mean 'ubuntu-24.04' or 'arm64-ubuntu-24.04' or 'neuron-base-ubuntu-24.04'? (list of 2026-11-20; a newer one is taken by 'parameter')",
        "13:47: 'nvidia_branch' must be a branch as '580', got '58'",
        "13:89: 'schedule' must be as 'cron(0 4 ? * SUN *)' or 'rate(7 days)', got 'daily'",
    ),
    row(
        "a builder of another architecture than the base",
        [
            (
                "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04",
                "build: {base: ubuntu-24.04, instance_type: m7g.large, families: [p4d]}",
            )
        ],
        "10:18: 'instance_type' must be one of x86_64, the architecture of the base 'ubuntu-24.04', got m7g.large of arm64",
    ),
    row(
        "an image that is built for other types",
        [("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", "build: {base: ubuntu-24.04, families: [p3dn]}")],
        "12:3: 'image' must be one with drivers for the A100 devices of p4d.24xlarge, got 'the image that is built here' for p3dn; use one of base-oss-nvidia-driver-gpu-amazon-linux-2023, base-oss-nvidia-driver-gpu-ubuntu-22.04, base-oss-nvidia-driver-gpu-ubuntu-24.04, oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04",
    ),
    row(
        "reserved_instances without a capacity block",
        [("count: 8", "count: 8\n  reserved_instances: 8")],
        "12:23: 'reserved_instances' must be left out without capacity capacity-block",
    ),
    row(
        "times without a capacity block",
        [("count: 8", "count: 8\n  starts: 2027-06-01T11:30:00Z\n  ends: 2027-06-02T11:30:00Z")],
        "12:11: 'starts' must be left out without capacity capacity-block",
        "13:9: 'ends' must be left out without capacity capacity-block",
    ),
    row(
        "times that are none",
        [("instance_type: p4d.24xlarge", BLOCK + "\n  starts: 2027-06-01\n  ends: tomorrow")],
        "13:11: 'starts' must be a time in UTC, as '2027-06-01T11:30:00Z', got '2027-06-01'",
        "14:9: 'ends' must be a time in UTC, as '2027-06-01T11:30:00Z', got 'tomorrow'",
    ),
    row(
        "a capacity block that ends before it has started",
        [("instance_type: p4d.24xlarge", BLOCK + "\n  starts: 2027-06-01T11:30:00Z\n  ends: 2027-06-01T12:10:00Z")],
        "14:9: 'ends' must be more than 40 minutes after 'starts', got '2027-06-01T12:10:00Z' after '2027-06-01T11:30:00Z'",
    ),
    row(
        "a capacity block that never ends",
        [("instance_type: p4d.24xlarge", BLOCK + "\n  starts: 2027-06-01T11:30:00Z")],
        "13:11: 'ends' must be given with 'starts', got 'starts' '2027-06-01T11:30:00Z' alone",
    ),
    row(
        "wrong form and rule",
        [("count: 8", "count: many\n  volume_gib: 4")],
        "11:10: 'count' must be a whole number, got 'many'",
        "12:15: 'volume_gib' must be 8 to 65536, the sizes of gp3, got 4",
    ),
    row(
        "a build without a way out",
        [
            ("zone: usw2-az2", "zone: usw2-az2\n  nat: none\n  interface_endpoints: [autoscaling, ec2, logs, ssm]"),
            ("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", "build: {base: ubuntu-24.04, families: [p4d]}"),
        ],
        "3:1: 'network' must have NAT: the build fetches packages from outside, got one without",
    ),
]


@pytest.mark.parametrize(("edits", "says"), AT_LOAD)
def test_fails_at_load(edits: list[Edit], says: list[str], write: Callable[[str], Path]) -> None:
    found = problems_of(write(edited(*edits, good=GOOD_FLEET)))
    assert found == says
    assert [name for problem in found for name in python_names(problem)] == []


def test_nothing_is_said_about_the_good_file(write: Callable[[str], Path]) -> None:
    assert problems_of(write(GOOD_FLEET)) == []


def test_fails_when_the_subnet_cannot_hold_the_fleet(write: Callable[[str], Path]) -> None:
    path = write(
        edited(("zone: usw2-az2", "zone: usw2-az2\n  cidr: 10.1.0.0/25"), ("count: 8", "count: 80"), good=GOOD_FLEET)
    )
    deployment = Deployment.load(path)
    with pytest.raises(ConfigurationError) as caught:
        build_stacks(App(), deployment)
    said = explain(caught.value, deployment)
    assert f"{path}:3:1: 'accelerator_cidr' must hold " in said
    assert "(nodes 80 x p4d.24xlarge x 1 = 80, " in said
    assert "use a /25 or larger; 80 x p4d.24xlarge take 7680 vCPUs of the quota" in said


def test_a_file_system_in_another_zone_is_a_warning_with_its_cost(write: Callable[[str], Path]) -> None:
    existing = (
        "file_system_id: fs-0123456789abcdef0\n    dns_name: fs-0123456789abcdef0.fsx.us-west-2.example\n"
        "    mount_name: abcdefgh\n    security_group_id: sg-0123456789abcdef0\n    zone: usw2-az1"
    )
    path = write(edited(("capacity_gib: 1200", existing), good=GOOD_FLEET))
    *_, stack = build_stacks(App(), Deployment.load(path))
    warnings = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("billed by the GB"))
    assert len(warnings) == 1
