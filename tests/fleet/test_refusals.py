"""What constructs refuse and warn of: the rules are asked with what is around a fleet, and Tokens pass."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.fleet import NodeImage, TrainingImage
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.network import HYPERPOD_ENDPOINTS, Endpoint, Nat, PlacementGroup, TrainingNetwork
from cdk_trainyard.storage import Mount
from tests.fleet.parts import GPU_IMAGE, existing_lustre, new_fleet, new_master, new_stack, shared_group, warnings
from tests.parts import existing_network

pytestmark = pytest.mark.programs

ANY = NodeImage(ami_id="ami-0123456789abcdef0")


def other_region(stack: Stack) -> dict[str, Any]:
    network = existing_network(stack)
    network.zone = "use1-az4"
    return {"network": network}


def too_many_groups(stack: Stack) -> dict[str, Any]:
    groups = [shared_group(stack, f"Group{number}") for number in range(6)]
    return {"security_group": groups[0], "extra_security_groups": groups[1:]}


def small_subnet(stack: Stack) -> dict[str, Any]:
    network = existing_network(stack, accelerator_cidr="10.1.0.0/25")
    return {"network": network, "instance_type": "p5.48xlarge", "count": 16, "interfaces": "legacy"}


def subnet_with_endpoints(stack: Stack) -> dict[str, Any]:
    endpoints = [Endpoint.SSM, Endpoint.LOGS]
    network = TrainingNetwork(stack, "Network", zone="usw2-az4", accelerator_mask=28, interface_endpoints=endpoints)
    return {"network": network, "count": 10}


def far_file_system(stack: Stack) -> dict[str, Any]:
    return {"mounts": [Mount(file_system=existing_lustre(stack, zone="usw2-az1", efa=True))]}


def spread_type(stack: Stack) -> dict[str, Any]:
    known = InstanceType.of("p4d.24xlarge")
    lonely = InstanceType(
        name="p4x.24xlarge",
        vcpus=96,
        threads_per_core=2,
        memory_mib=1,
        architecture="x86_64",
        network_cards=known.network_cards,
        max_efa_interfaces=4,
        network_gbps=400.0,
        ipv4_per_interface=50,
        placement_strategies=("spread",),
    )
    return {"instance_type": lonely, "placement_group": PlacementGroup(stack, "Group")}


@pytest.mark.parametrize(
    ("around", "says"),
    [
        (other_region, "'network' must be in the Region us-west-2, got one in zone 'use1-az4' of us-east-1"),
        (too_many_groups, "'extra_security_groups' must be at most 4 beside 'security_group', got 5"),
        (small_subnet, "'network.accelerator_cidr' must hold 512 addresses (nodes 16 x p5.48xlarge x 32 = 512), "),
        (
            subnet_with_endpoints,
            "'network.accelerator_cidr' must hold 12 addresses (nodes 10 x p4d.24xlarge x 1 = 10, interface endpoints",
        ),
        (
            far_file_system,
            "'mounts[0].zone' must be 'usw2-az4', the nodes' zone, when the file system is EFA-enabled, ",
        ),
        (spread_type, "'placement' must be anywhere for p4x.24xlarge, which takes no cluster placement group (only "),
    ],
)
def test_what_is_around_a_fleet_is_compared(around: Callable[[Stack], dict[str, Any]], says: str) -> None:
    stack = new_stack()
    with pytest.raises(ConfigurationError) as caught:
        new_fleet(stack, **around(stack))
    (problem,) = caught.value.problems
    assert problem.startswith(says)


def test_the_same_fleet_fits_with_efa_only_interfaces() -> None:
    stack = new_stack()
    new_fleet(stack, **{**small_subnet(stack), "interfaces": "launch-template"})


def test_fails_on_a_second_subnet() -> None:
    """One job is in one subnet: a fleet takes one network, and there is no keyword for another."""
    with pytest.raises(TypeError, match="subnet"):
        new_fleet(new_stack(), subnets=["subnet-1", "subnet-2"])


def test_fails_with_every_problem_at_once() -> None:
    stack = new_stack()
    mounts = [Mount(file_system=existing_lustre(stack), at="x")]
    with pytest.raises(ConfigurationError) as caught:
        new_fleet(stack, instance_type="m5.large", count=-1, mounts=mounts, fleet_name="x y", volume_gib=4)
    assert len(caught.value.problems) == 5


def test_a_master_has_the_user_of_the_fleet() -> None:
    stack = new_stack()
    with pytest.raises(ConfigurationError, match="must have the user 'ubuntu' of the fleet's image"):
        new_master(stack, new_fleet(stack), image=NodeImage(ami_id="ami-0123456789abcdef0", user="ec2-user"))


def test_tokens_pass() -> None:
    stack = new_stack()
    text = CfnParameter(stack, "Text").value_as_string
    new_fleet(
        stack,
        reservation_id=text,
        fleet_name=text,
        mounts=[Mount(file_system=existing_lustre(stack), at=text)],
        image=NodeImage(ami_id=text),
        network=existing_network(stack, accelerator_cidr=text),
    )
    assert Template.from_stack(stack)


# ---------------------------------------------------------------- warnings
@pytest.mark.parametrize(
    ("slug", "changes", "words"),
    [
        ("spot-loses-jobs", {"capacity": UsageClass.SPOT}, "two minutes' notice"),
        (
            "block-without-times",
            {
                "instance_type": "p5.48xlarge",
                "capacity": UsageClass.CAPACITY_BLOCK,
                "reservation_id": "cr-0123456789abcdef0",
                "image": NodeImage(ami_id="ami-0123456789abcdef0"),
            },
            "launches in vain before the capacity block starts and after it ends",
        ),
        (
            "zone-without-type",
            {"instance_type": "trn2u.48xlarge", "image": ANY},
            "trn2u.48xlarge is not known to be offered in us-west-2",
        ),
        (
            "interface-quota",
            {"instance_type": "p5.48xlarge", "count": 200},
            (
                "200 nodes have 6600 network interfaces, more than 5000, the default of the quota "
                "'Network interfaces per Region' (L-DF5E4CA3)"
            ),
        ),
    ],
)
def test_warns(slug: str, changes: dict[str, Any], words: str) -> None:
    stack = new_stack()
    new_fleet(stack, **changes)
    found = [text for text in warnings(stack) if f"@cdk-trainyard/fleet:{slug}" in text]
    assert len(found) == 1
    assert words in found[0]


@pytest.mark.parametrize("count", [3, 11])
def test_warns_of_a_subnet_that_holds_the_nodes_and_none_in_their_place(count: int) -> None:
    stack = new_stack()
    new_fleet(stack, count=count, network=existing_network(stack, accelerator_cidr="10.1.0.0/28"))
    (found,) = [text for text in warnings(stack) if "@cdk-trainyard/fleet:few-addresses" in text]
    assert f"the subnet 10.1.0.0/28 has at most {11 - count} of 11 addresses left when all nodes are there" in found


def test_warns_of_a_file_system_in_another_zone_with_what_crossing_costs() -> None:
    stack = new_stack()
    new_fleet(stack, mounts=[Mount(file_system=existing_lustre(stack, zone="usw2-az1"))])
    (found,) = [text for text in warnings(stack) if "lustre-in-other-zone" in text]
    assert "the nodes in usw2-az4 mount a file system in usw2-az1" in found
    assert "billed by the GB in each direction" in found


@pytest.mark.parametrize(
    ("at", "efa", "says"),
    [
        ("/home", False, "a file system at /home hides /home/ubuntu, and the set-up makes no home on it: "),
        ("/home/ubuntu", False, "a file system at /home/ubuntu hides /home/ubuntu, "),
        ("/home/ubuntu/data", False, ""),
        ("/home/me", False, ""),
        ("/fsx", True, "the file system at /fsx has EFA, and the set-up of fleets mounts it over TCP: "),
        ("/fsx", False, ""),
    ],
)
def test_warns_of_a_file_system_over_a_home_and_of_one_with_efa(at: str, says: str, *, efa: bool) -> None:
    stack = new_stack()
    new_fleet(stack, mounts=[Mount(file_system=existing_lustre(stack, efa=efa), at=at)])
    found = warnings(stack)
    assert [says in text for text in found] == [True] * bool(says), found


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("base-oss-nvidia-driver-gpu-ubuntu-24.04", "'image' must have a kernel with a Lustre client, got 7.0"),
        ("oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04", "no source says which kernel"),
        ("base-oss-nvidia-driver-gpu-ubuntu-22.04", ""),
        ("base-oss-nvidia-driver-gpu-amazon-linux-2023", ""),
    ],
)
def test_warns_of_a_kernel_of_which_no_source_says_that_it_has_a_lustre_client(name: str, words: str) -> None:
    stack = new_stack()
    new_fleet(stack, mounts=[Mount(file_system=existing_lustre(stack))], image=NodeImage(dlami=name))
    said = [text for text in warnings(stack) if "unknown-versions" in text]
    assert [words in text for text in said] == [True] * bool(words)


@pytest.mark.parametrize(
    ("endpoints", "missing"),
    [
        ((), "autoscaling, ec2, ec2messages, logs, ssm, ssmmessages"),
        ((Endpoint.AUTOSCALING, Endpoint.EC2, *HYPERPOD_ENDPOINTS), ""),
        (HYPERPOD_ENDPOINTS, "autoscaling, ec2"),
    ],
)
def test_warns_of_endpoints_that_are_missing_without_nat(endpoints: Sequence[Endpoint], missing: str) -> None:
    stack = new_stack()
    zone = existing_network(stack).zone
    network = TrainingNetwork(stack, "Closed", zone=zone, nat=Nat.NONE, interface_endpoints=endpoints)
    new_fleet(stack, network=network)
    said = [text for text in warnings(stack) if "fleet:no-way-out" in text]
    assert [f"asks S3, and {missing}, too" in text for text in said] == [True] * bool(missing)


def test_does_not_warn_of_kernels_without_lustre() -> None:
    stack = new_stack()
    new_fleet(stack, image=NodeImage(dlami="base-oss-nvidia-driver-gpu-ubuntu-24.04"))
    assert not [text for text in warnings(stack) if "unknown-versions" in text]


def test_warns_of_a_driver_that_commands_alone_can_bring() -> None:
    stack = new_stack()
    network = existing_network(stack)
    built = TrainingImage(
        stack, "Built", base="neuron-base-ubuntu-24.04", network=network, families=["p4d"], commands=["true"]
    )
    new_fleet(stack, network=network, image=NodeImage(build=built))
    (found,) = [text for text in warnings(stack) if "other-driver" in text]
    assert "has a driver for Neuron devices, and none for the GPUs of p4d: without 'commands' that install one" in found


def test_warns_of_nodes_that_start_before_their_image_is_built() -> None:
    stack = new_stack()
    network = existing_network(stack)
    later = TrainingImage(stack, "Later", base=GPU_IMAGE, network=network)
    new_fleet(stack, network=network, image=NodeImage(build=later))
    (found,) = [text for text in warnings(stack) if "image-not-built" in text]
    assert "2 nodes start with the stack, from the base of their image, as long as its pipeline has not run" in found


def test_says_that_nodes_come_to_nothing_on_a_plain_base() -> None:
    stack = new_stack()
    network = existing_network(stack)
    plain = TrainingImage(stack, "Plain", base="ubuntu-24.04", network=network, families=["p4d"], nvidia_branch="580")
    new_fleet(stack, network=network, image=NodeImage(build=plain))
    (found,) = [text for text in warnings(stack) if "image-not-built" in text]
    assert "the base of their image, which lacks what nodes set themselves up with, as long as" in found


def test_warns_of_a_master_that_starts_before_its_image_is_built() -> None:
    stack, other = new_stack(), new_stack("Other")
    for each, at_once in ((stack, False), (other, True)):
        network = existing_network(each)
        build = TrainingImage(each, "Image", base=GPU_IMAGE, network=network, while_deploying=at_once)
        new_master(each, new_fleet(each, network=network), image=NodeImage(build=build))
    (found,) = warnings(stack)
    assert "the master starts with the stack, from the base of its image, as long as its pipeline has not run" in found
    assert warnings(other) == []


@pytest.mark.parametrize(
    ("image", "name"),
    [
        (NodeImage(dlami=GPU_IMAGE), GPU_IMAGE),
        (NodeImage(parameter="/aws/service/deeplearning/ami/x86_64/new/latest/ami-id"), "/aws/service/deeplearning"),
        (NodeImage(parameter="/images/latest"), ""),  # whoever writes it knows
        (NodeImage(ami_id="ami-0123456789abcdef0"), ""),
    ],
)
def test_warns_of_a_master_that_goes_when_aws_publishes_another_image(image: NodeImage, name: str) -> None:
    stack = new_stack()
    new_master(stack, new_fleet(stack), image=image)
    found = [text for text in warnings(stack) if "master-replaced" in text]
    assert [f"the master stands on the newest {name}" in text for text in found] == [True] * bool(name)


def test_does_not_warn_of_an_image_that_is_built_while_deploying_nor_of_a_fleet_that_begins_empty() -> None:
    stack, other = new_stack(), new_stack("Other")
    network = existing_network(stack)
    now = TrainingImage(stack, "Now", base=GPU_IMAGE, network=network, while_deploying=True)
    new_fleet(stack, network=network, image=NodeImage(build=now))
    network = existing_network(other)
    later = TrainingImage(other, "Later", base=GPU_IMAGE, network=network)
    new_fleet(other, network=network, image=NodeImage(build=later), min_count=0, max_count=4)
    assert warnings(stack) + warnings(other) == []


def test_warns_of_a_schedule_whose_images_no_node_takes() -> None:
    stack, other = new_stack(), new_stack("Other")
    network = existing_network(stack)
    both = TrainingImage(stack, "Both", base=GPU_IMAGE, network=network, while_deploying=True, schedule="rate(7 days)")
    new_fleet(stack, network=network, image=NodeImage(build=both))
    (found,) = warnings(stack)
    assert "the nodes keep the image that was built while the stack was deployed, new ones too" in found
    assert "schedule-not-taken" in found
    network = existing_network(other)
    later = TrainingImage(other, "Later", base=GPU_IMAGE, network=network, schedule="rate(7 days)")
    new_fleet(other, network=network, image=NodeImage(build=later), min_count=0, max_count=4)
    assert warnings(other) == []


def test_a_zone_by_name_and_a_zone_by_id_are_not_compared() -> None:
    stack = new_stack()
    new_fleet(stack, mounts=[Mount(file_system=existing_lustre(stack, zone="us-west-2b"))])
    assert warnings(stack) == []
