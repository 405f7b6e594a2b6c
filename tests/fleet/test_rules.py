# ruff: noqa: E501  the messages are the point
"""Every rule of fleets, as a sentence with its path. No CDK."""

from typing import Any

import pytest

from cdk_trainyard.fleet.facts import FleetFacts
from cdk_trainyard.fleet.images import families_of
from cdk_trainyard.fleet.rules import fleet_problems
from cdk_trainyard.fleet.rules_nodes import master_problems, template_problems
from cdk_trainyard.fleet.spec import FleetPlacement, FleetSpec, LaunchTemplateSpec, MasterSpec
from cdk_trainyard.fleet.spec_image import NodeImage
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.network.interfaces import EfaBackend
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import NOWHERE, Environment
from cdk_trainyard.options.node_paths import NodePath
from cdk_trainyard.options.stand_ins import KeyPair
from cdk_trainyard.problems import sentence
from cdk_trainyard.storage.mount_facts import MountFacts
from tests.fleet.parts import ACCOUNT, GPU_IMAGE, REGION, ZONE

AMAZON_LINUX = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-"
ANY = NodeImage(ami_id="ami-0123456789abcdef0")
ARM = NodeImage(ami_id="ami-0123456789abcdef0", architecture="arm64")
BLOCK: dict[str, Any] = {
    "instance_type": "p5.48xlarge",
    "capacity": UsageClass.CAPACITY_BLOCK,
    "reservation_id": "cr-0123456789abcdef0",
}
ODCR = {"reservation_id": "cr-0123456789abcdef0"}
TWENTY_ONE = [
    *(f"c6{kind}.{size}" for kind in ("i", "id", "in") for size in ("32xlarge", "metal")),
    *(f"{family}.{size}" for family in ("m6i", "m6id", "r6i", "r6id") for size in ("32xlarge", "metal")),
    *("c5n.9xlarge", "c5n.18xlarge", "c5n.metal", "c6a.48xlarge", "c6a.metal", "c7a.48xlarge", "c7i.48xlarge"),
]
GROUP = f"arn:aws:resource-groups:{REGION}:{ACCOUNT}:group/mine"
SPOT: dict[str, Any] = {"capacity": UsageClass.SPOT}
TWO: dict[str, Any] = {"instance_type": None, "instance_types": ["p4d.24xlarge", "p5.48xlarge"]}
ENVIRONMENT = Environment(region=REGION, account=ACCOUNT)


def fleet(around: FleetFacts | None = None, **changes: Any) -> list[str]:
    """Return what is said of a legal fleet with changes."""
    legal: dict[str, Any] = {"image": NodeImage(dlami=GPU_IMAGE), "instance_type": "p4d.24xlarge", "count": 2}
    judge = Judge(environment=ENVIRONMENT)
    spec = judge.judged(FleetSpec(**legal | changes))
    found = fleet_problems(spec, around or FleetFacts(environment=ENVIRONMENT, zone=ZONE))
    return [sentence(problem) for problem in (*judge.problems, *found)]


def test_nothing_is_said_of_a_legal_fleet() -> None:
    assert fleet() == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"instance_type": "trn1.2xlarge", "image": ANY},
            (
                "'instance_type' must be one with EFA, got 'trn1.2xlarge'; use trn1.32xlarge, or HyperPod or "
                "ParallelCluster, which have nodes without it"
            ),
        ),
        (
            {"instance_type": "mac2.metal"},
            (
                "'instance_type' must be one with EFA, got 'mac2.metal'; its family has none with it; use another, or "
                "HyperPod or ParallelCluster, which have nodes without it"
            ),
        ),
        ({"instance_type": None}, "'instance_type' or 'instance_types' must be given"),
        (
            {"instance_types": ["p5.48xlarge"]},
            "'instance_types' must be left out with 'instance_type', got both",
        ),
        (
            {"instance_type": None, "instance_types": ["p4d.24xlarge", "p4d.24xlarge"]},
            "'instance_types[1]' must be another than those before it, got 'p4d.24xlarge' again",
        ),
        (
            {"instance_type": None, "instance_types": ["p4d.24xlarge", "trn1.32xlarge"], "image": ANY},
            ("'instance_types[1]' must have x86_64 and 8 GPUs as p4d.24xlarge has, got trn1.32xlarge with x86_64 and 32 "
            "NeuronCores; one job runs on all nodes"),
        ),
        (
            {**TWO, **ODCR},
            "'instance_types' must be one type with capacity that is reserved, got 2: a reservation is of one type",
        ),
        (
            {"instance_type": None, "instance_types": TWENTY_ONE, "image": ANY},
            ("'instance_types' must be at most 20 types, got 21: Auto Scaling takes so many launch templates, and each "
            "type has one; leave the last ones out"),
        ),
        ({"count": 0}, "'count' must be 1 to 5000 nodes, got 0"),
        ({"count": None}, "'count' or 'min_count' and 'max_count' must be given"),
        (
            {"max_count": 3},
            ("'count' must stand alone, got 2 beside 'max_count'; leave 'max_count' out, or give 'min_count' and "
            "'max_count' in its place"),
        ),
        (
            {"count": None, "max_count": 3},
            "'max_count' must be given together with 'min_count', got it alone",
        ),
        (
            {"count": None, "min_count": 4, "max_count": 2},
            "'min_count' must be at most 'max_count' 2, got 4",
        ),
        (
            {**BLOCK, "count": 8, "reserved_instances": 16},
            ("'count' must be 16 nodes, all that the capacity block holds, got 8; more do not start, and fewer are paid "
            "for all the same"),
        ),
        ({**BLOCK, "reservation_id": None}, (
            "'reservation_id' must name the capacity block with 'capacity' capacity-block, got nothing"
        )),
        ({**BLOCK, "reservation_group_arn": GROUP}, (
            "'reservation_group_arn' must be left out with 'capacity' capacity-block, which 'reservation_id' names"
        )),
        ({**BLOCK, "reservation_id": "block-1"}, (
            "'reservation_id' must be the id of a capacity reservation or a capacity block, as cr-0123456789abcdef0, "
            "got 'block-1'"
        )),
        ({**ODCR, "reservation_group_arn": GROUP}, (
            "'reservation_group_arn' must be left out with 'reservation_id': nodes come from one of the two"
        )),
        ({"reservation_group_arn": GROUP.replace("us-west-2", "us-east-1")}, (
            "'reservation_group_arn' must be of Region us-west-2, got "
            "'arn:aws:resource-groups:us-east-1:111111111111:group/mine'"
        )),
        ({"reservation_group_arn": f"{GROUP}/more"}, (
            "'reservation_group_arn' must be the ARN of a resource group of capacity reservations, "
            "arn:aws:resource-groups:us-west-2:<account>:group/<name>, got "
            "'arn:aws:resource-groups:us-west-2:111111111111:group/mine/more'"
        )),
        ({**SPOT, **ODCR}, (
            "'reservation_id' must be left out with 'capacity' spot, which takes what is not reserved"
        )),
        ({"reserved_instances": 2}, "'reserved_instances' must be left out without 'capacity' capacity-block"),
        ({**ODCR, "ends": "2027-06-03T11:30:00Z"}, (
            "'ends' must be left out without 'capacity' capacity-block: give that where the reservation is one, and "
            "leave this out of any other"
        )),
        ({**BLOCK, "ends": "tomorrow"}, (
            "'ends' must be a time in UTC, as 2027-06-01T11:30:00Z, got 'tomorrow'"
        )),
        ({**BLOCK, "ends": "2027-02-30T11:30:00Z"}, (
            "'ends' must be a time of a day that there is, got '2027-02-30T11:30:00Z'"
        )),
        ({**BLOCK, "starts": "2027-06-01T11:30:00Z"}, (
            "'starts' must be given with 'ends', got '2027-06-01T11:30:00Z' alone"
        )),
        ({**BLOCK, "starts": "2027-06-01T10:50:00Z", "ends": "2027-06-01T11:30:00Z"}, (
            "'ends' must be more than 40 minutes after 'starts', got '2027-06-01T11:30:00Z' after "
            "'2027-06-01T10:50:00Z'"
        )),
        ({**BLOCK, "starts": "2027-06-01T11:30:00Z", "ends": "2028-06-01T11:30:00Z"}, (
            "'ends' must be within 182 days of 'starts', the longest of capacity blocks, got '2028-06-01T11:30:00Z' "
            "after '2027-06-01T11:30:00Z'"
        )),
        ({**BLOCK, "starts": "2027-06-01T11:30:00Z", "ends": "2027-06-03T23:30:00Z"}, (
            "'ends' must be at 11:30:00 UTC, when every capacity block ends, got '2027-06-03T23:30:00Z'"
        )),
        ({**BLOCK, "ends": "2020-06-15T11:30:00Z"}, "'ends' must be of 2026 or later, got '2020-06-15T11:30:00Z'"),
        ({**BLOCK, "count": 65, "reserved_instances": 65}, "'reserved_instances' must be 1 to 64 instances, got 65"),
        ({**BLOCK, "count": 65}, "'count' must be at most 64 nodes, the largest capacity block, got 65"),
        ({"instance_type": "p3dn.24xlarge", "image": ANY, "capacity": UsageClass.CAPACITY_BLOCK, **ODCR}, (
            "'capacity' must be on-demand or spot for p3dn.24xlarge, the ways in which it is sold, got capacity-block"
        )),
        ({"instance_type": "p6e-gb200.36xlarge", "image": ANY}, (
            "'capacity' must be capacity-block for p6e-gb200.36xlarge, the ways in which it is sold, got on-demand"
        )),
        ({**TWO, **SPOT, "placement": FleetPlacement.CLUSTER}, (
            "'placement' must be anywhere for Spot instances of several types, got a cluster placement group for "
            "p4d.24xlarge, p5.48xlarge: EC2 finds room for one type at a time there; use one type, or on-demand capacity"
        )),
        ({**BLOCK, "placement": FleetPlacement.CLUSTER}, (
            "'placement' must be anywhere with a capacity block, which owns the placement of its instances, got a "
            "cluster placement group of the fleet's; leave it out"
        )),
        ({**ODCR, "placement": FleetPlacement.CLUSTER}, (
            "'placement' must be anywhere with a reservation, which owns the placement of its instances, got a "
            "cluster placement group of the fleet's; leave it out"
        )),
        ({"image": ARM}, (
            "'image' must be one for x86_64, the architecture of p4d.24xlarge, got 'ami-0123456789abcdef0' for arm64"
        )),
        ({"image": NodeImage(parameter="/aws/service/deeplearning/ami/arm64/x-ubuntu-24.04/latest/ami-id")}, (
            "'image' must be one for x86_64, the architecture of p4d.24xlarge, got "
            "'/aws/service/deeplearning/ami/arm64/x-ubuntu-24.04/latest/ami-id' for arm64"
        )),
        ({"image": NodeImage(parameter="/aws/service/neuron/dlami/base/ubuntu-26.04/latest/image_id")}, (
            "'image' must be one with drivers for the A100 devices of p4d.24xlarge, got "
            "'/aws/service/neuron/dlami/base/ubuntu-26.04/latest/image_id' for inf1, inf2, trn1, trn1n, trn2 or "
            "trn2u; use base-oss-nvidia-driver-gpu-amazon-linux-2023, base-oss-nvidia-driver-gpu-ubuntu-22.04, "
            "base-oss-nvidia-driver-gpu-ubuntu-24.04 or oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04"
        )),
        ({"image": NodeImage(parameter=f"{AMAZON_LINUX}x86_64", user="ec2-user")}, (
            f"'image' must be one with drivers for the A100 devices of p4d.24xlarge, got '{AMAZON_LINUX}x86_64' for no "
            "accelerators; use base-oss-nvidia-driver-gpu-amazon-linux-2023, base-oss-nvidia-driver-gpu-ubuntu-22.04, "
            "base-oss-nvidia-driver-gpu-ubuntu-24.04 or oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04"
        )),
        ({"fleet_name": "-x"}, (
            "'fleet_name' must be a letter and then letters, digits and hyphens, 63 at most, as nlp, got '-x'; leave "
            "it out for a unique one"
        )),
        ({"key_pair": KeyPair("{{resolve:ssm:x}}")}, (
            "'key_pair' must be the name of an EC2 key pair, 255 ASCII characters at most, and not its id, ARN, key or file, as my-key, got "
            "'{{resolve:ssm:x}}'"
        )),
        ({"volume_gib": 19}, (
            "'volume_gib' must be 20 GiB or more for 'base-oss-nvidia-driver-gpu-ubuntu-22.04', whose snapshot is larger, "
            "got 19; leave it out for 200"
        )),
        ({"volume_gib": 4, "image": ANY}, "'volume_gib' must be 8 to 65536 GiB, got 4"),
        ({"threads_per_core": 3}, "'threads_per_core' must be 1 or 2, got 3"),
    ],
)  # fmt: skip
def test_a_fleet_is_refused_with_one_clear_sentence(changes: dict[str, Any], says: str) -> None:
    assert fleet(**changes) == [says]


@pytest.mark.parametrize(
    "changes",
    [
        {**ODCR, "instance_type": "p6e-gb200.36xlarge", "image": ANY},
        {**BLOCK, "instance_type": "p6e-gb200.36xlarge", "image": ANY},
        {**BLOCK, "starts": "2027-06-01T04:55:00Z", "ends": "2027-06-01T11:30:00Z"},
        {**BLOCK, "starts": "2027-06-01T04:55:00Z", "ends": "2027-11-30T11:30:00Z"},
        {**BLOCK, "count": 64, "reserved_instances": 64},
        {**TWO, "reservation_group_arn": GROUP},
        {"instance_type": None, "instance_types": TWENTY_ONE[:-1], "image": ANY},
        {"volume_gib": 8, "image": ANY},
    ],
)
def test_the_nearest_right_fleet_passes(changes: dict[str, Any]) -> None:
    assert fleet(**changes) == []


@pytest.mark.parametrize(
    ("mount", "says"),
    [
        (MountFacts(path="/opt/trainyard"), (
            "'mounts[0].at' must be apart from /opt/trainyard, which nodes need, as /fsx is, got '/opt/trainyard'"
        )),
        (MountFacts(path="/etc/fsx"), f"'mounts[0].at' {NodePath().problem('/etc/fsx', NOWHERE)}"),
        (MountFacts(path="/home", kind="OpenZFS"), (
            "'mounts[0]' must be left out: it is OpenZFS, and the nodes of a fleet mount FSx for Lustre alone"
        )),
        (MountFacts(path="/fsx", zone="usw2-az1", efa_enabled=True), (
            "'mounts[0].zone' must be 'usw2-az4', the nodes' zone, when the file system is EFA-enabled, got "
            "'usw2-az1'; EFA does not cross zones"
        )),
    ],
)  # fmt: skip
def test_what_is_mounted_hides_nothing(mount: MountFacts, says: str) -> None:
    assert fleet(FleetFacts(zone=ZONE, mounts=[mount]))[:1] == [says]


def test_a_fleet_that_its_subnet_cannot_hold_is_refused_with_the_arithmetic() -> None:
    around = FleetFacts(zone=ZONE, accelerator_cidr="10.1.0.0/24")
    assert fleet(around, instance_type="p5.48xlarge", count=16, interfaces="legacy") == [
        (
            "'network.accelerator_cidr' must hold 512 addresses (nodes 16 x p5.48xlarge x 32 = 512), got 10.1.0.0/24 "
            "with 251; use a /22 or larger"
        )
    ]


@pytest.mark.parametrize(("subnet", "refused"), [("nodes", True), ("other", False), (None, False)])
def test_file_servers_count_in_the_subnet_that_they_stand_in(subnet: str | None, *, refused: bool) -> None:
    mount = MountFacts(path="/fsx", zone=ZONE, subnet=subnet, file_servers=4)
    around = FleetFacts(zone=ZONE, accelerator_subnet="nodes", accelerator_cidr="10.1.0.0/28", mounts=[mount])
    found = fleet(around, count=8)
    assert ["Lustre file servers = 4" in text for text in found] == [True] * refused, found


@pytest.mark.parametrize(("count", "refused"), [(7, False), (8, True)])
def test_interface_endpoints_count_beside_the_nodes(count: int, *, refused: bool) -> None:
    around = FleetFacts(zone=ZONE, accelerator_cidr="10.1.0.0/28", endpoint_addresses=4)
    assert ["interface endpoints = 4" in text for text in fleet(around, count=count)] == [True] * refused


def test_a_fleet_that_no_subnet_can_hold_is_told_of_the_option_that_takes_the_addresses() -> None:
    around = FleetFacts(zone=ZONE, accelerator_cidr="10.1.0.0/16")
    (said,) = fleet(around, instance_type="p5.48xlarge", count=5000, interfaces="legacy")
    assert "; leave 'interfaces' out, for one address a node" in said


# ---------------------------------------------------------------- launch templates and masters
def template(*, placement_group: bool = False, **changes: Any) -> list[str]:
    judge = Judge(environment=ENVIRONMENT)
    spec = judge.judged(LaunchTemplateSpec(**{"instance_type": "p5.48xlarge"} | changes))
    found = template_problems(spec, ENVIRONMENT, placement_group=placement_group)
    return [sentence(problem) for problem in (*judge.problems, *found)]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"instance_type": "m5.large"}, (
            "'instance_type' must be one with EFA, got 'm5.large'; launch it without EFA interfaces"
        )),
        ({"instance_type": "p5.48xlarg"}, (
            "'instance_type' must be the name of an EC2 instance type, got 'p5.48xlarg'; did you mean 'p5.48xlarge' or "
            "'p5e.48xlarge' or 'p5.4xlarge'?"
        )),
        ({"public_address": True}, (
            "'public_address' must be False for p5.48xlarge, got True: EC2 gives none to an instance with several "
            "network interfaces, and this one has 33 on 32 network cards; reach it through SSM, and let it out through "
            "NAT"
        )),
        ({"image": NodeImage(dlami="neuron-base-ubuntu-24.04")}, (
            "'image' must be one with drivers for the H100 devices of p5.48xlarge, got 'neuron-base-ubuntu-24.04' "
            "for inf2, trn1, trn1n, trn2, trn2u or trn3; use base-oss-nvidia-driver-gpu-amazon-linux-2023, "
            "base-oss-nvidia-driver-gpu-ubuntu-22.04, base-oss-nvidia-driver-gpu-ubuntu-24.04 or "
            "oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04"
        )),
        ({"instance_type": "p3dn.24xlarge", "image": NodeImage(dlami="base-oss-nvidia-driver-gpu-ubuntu-24.04")}, (
            "'image' must be one with drivers for the V100 devices of p3dn.24xlarge, got "
            "'base-oss-nvidia-driver-gpu-ubuntu-24.04' for g4dn, g5, g6, gr6, g6e, g7e, p4d, p4de, …; "
            "no Deep Learning AMI is made for it any more: use 'build' with the 'base' ubuntu-24.04, 'families' [p3dn] and "
            "'nvidia_branch' '580'"
        )),
        ({"instance_type": "dl2q.24xlarge", "image": NodeImage(dlami="base-oss-nvidia-driver-gpu-ubuntu-24.04")}, (
            "'image' must be one with drivers for the Qualcomm AI100 devices of dl2q.24xlarge, got "
            "'base-oss-nvidia-driver-gpu-ubuntu-24.04' for g4dn, g5, g6, gr6, g6e, g7e, p4d, p4de, …; "
            "use an AMI of yours by its id"
        )),
        ({"instance_type": "hpc7g.16xlarge", "threads_per_core": 2}, (
            "'threads_per_core' must be 1 for hpc7g.16xlarge, whose cores have one thread, got 2"
        )),
        ({"instance_type": "c5n.metal", "threads_per_core": 1}, (
            "'threads_per_core' must be left out with c5n.metal: EC2 takes no CPU options for bare metal, got 1"
        )),
        ({**BLOCK, "placement_group": True}, (
            "'placement_group' must be left out with a capacity block, whose instances stand together anyway; got one"
        )),
        ({"root_device": "sda1"}, "'root_device' must be the name of a device, as /dev/xvda, got 'sda1'"),
        ({"instance_tags": {f"tag{number}": "" for number in range(51)}}, (
            "'instance_tags' must be at most 50 tags, got 51"
        )),
    ],
)  # fmt: skip
def test_a_template_is_refused_with_one_clear_sentence(changes: dict[str, Any], says: str) -> None:
    assert template(**changes) == [says]


def test_types_that_are_virtual_and_bare_metal_without_threads_pass() -> None:
    assert template(instance_type="c5n.18xlarge", threads_per_core=1) == template(instance_type="c5n.metal") == []


def test_instances_have_tags_that_differ_in_case_only() -> None:
    assert template(instance_tags={"Team": "a", "team": "b"}) == []


def test_a_public_address_is_for_one_interface() -> None:
    assert template(instance_type="g5.48xlarge", backend=EfaBackend.LEGACY, public_address=True) == []


def test_a_master_runs_its_image_as_the_user_of_the_nodes() -> None:
    spec = MasterSpec(image=NodeImage(ami_id="ami-0123456789abcdef0", user="ec2-user"))
    assert [sentence(problem) for problem in master_problems(spec, ANY, ENVIRONMENT)] == [
        (
            "'image' must have the user 'ubuntu' of the fleet's image, got 'ami-0123456789abcdef0' with 'ec2-user'; "
            "members log in to members as one user"
        )
    ]
    other = MasterSpec(instance_type="c7gn.16xlarge")
    assert [sentence(problem) for problem in master_problems(other, NodeImage(dlami=GPU_IMAGE), ENVIRONMENT)] == [
        f"'instance_type' must be one of x86_64, the architecture of the image '{GPU_IMAGE}', got c7gn.16xlarge of arm64"
    ]
    block = MasterSpec(instance_type="p6e-gb200.36xlarge")
    assert [sentence(problem) for problem in master_problems(block, ANY, ENVIRONMENT)] == [
        "'instance_type' must be one that is sold on-demand, got p6e-gb200.36xlarge, which is sold as capacity-block"
    ]


@pytest.mark.parametrize(
    ("parameter", "family", "has"),
    [
        ("/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-26.04/latest/ami-id", "p5", True),
        ("/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-26.04/latest/ami-id", "trn2", False),
        ("/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id", "p3dn", False),
        ("/aws/service/neuron/dlami/base/ubuntu-26.04/latest/image_id", "trn2", True),
        ("/aws/service/neuron/dlami/base/ubuntu-26.04/latest/image_id", "p5", False),
        (f"{AMAZON_LINUX}x86_64", "p5", False),
    ],
)
def test_a_parameter_says_whose_drivers_its_image_has(parameter: str, family: str, *, has: bool) -> None:
    assert (family in (families_of(parameter) or ())) is has


@pytest.mark.parametrize("name", ["/aws/service/deeplearning/ami/x86_64/new/latest/ami-id", "/images/training"])
def test_of_another_image_nothing_is_known(name: str) -> None:
    assert families_of(name) is None


@pytest.mark.parametrize("image", [NodeImage(ami_id="ami-0123456789abcdef0"), NodeImage(parameter="/images/training")])
def test_a_master_of_another_architecture_has_another_image(image: NodeImage) -> None:
    workers = [InstanceType.of("hpc7g.16xlarge")]
    shared, own = MasterSpec(), MasterSpec(image=NodeImage(ami_id="ami-0123456789abcdef1"))
    name = image.ami_id or image.parameter
    assert [sentence(problem) for problem in master_problems(shared, image, ENVIRONMENT, types=workers)] == [
        (
            f"'instance_type' must be one of arm64, as hpc7g.16xlarge that has the same image '{name}', got "
            "c5n.18xlarge of x86_64"
        )
    ]
    assert master_problems(own, image, ENVIRONMENT, types=workers) == []
    assert master_problems(MasterSpec(instance_type="c7gn.16xlarge"), image, ENVIRONMENT, types=workers) == []
