"""Bad input: each fault is one clear sentence, all of them at once, and Tokens pass."""

import re
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import CfnParameter

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.fleet import FleetCapacity, FleetPlacement, FleetSize, NodeImage, TrainingImage, rules_fleet
from cdk_trainyard.fleet.checks import FLEET_RULES
from cdk_trainyard.fleet.warnings import WARNINGS
from cdk_trainyard.network import EfaBackend, PlacementGroup
from tests.fleet.parts import (
    GPU_IMAGE,
    existing_lustre,
    existing_network,
    new_fleet,
    new_master,
    new_stack,
    shared_group,
    warnings,
)

ANY = NodeImage.ami("ami-0123456789abcdef0")


def problems(**changes: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as caught:
        new_fleet(new_stack(), **changes)
    return caught.value.problems


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"instance_type": "trn1.2xlarge", "image": ANY},
            "'instance_type' must be one with EFA, got 'trn1.2xlarge'; launch it without EFA interfaces",
        ),
        (
            {"instance_type": None},
            "'instance_type' or 'instance_types' must be given, and not both",
        ),
        (
            {"instance_types": ["p4d.24xlarge"], "instance_type": "p5.48xlarge"},
            "'instance_type' or 'instance_types' must be given, and not both",
        ),
        (
            {"instance_types": ["p4d.24xlarge", "p4d.24xlarge"]},
            "'instance_types' must name each type once, got 'p4d.24xlarge' again",
        ),
        (
            {
                "instance_type": "p5.48xlarge",
                "size": FleetSize.fixed(8),
                "capacity": FleetCapacity.capacity_block("cr-1", instances=16),
            },
            ("'size' must be 16 nodes, all that the capacity block holds, got 8; more do not start, and fewer are paid "
            "for all the same"),
        ),
        (
            {"size": FleetSize.between(4, 2)},
            "'size' must be 1 to 5000 nodes, of which 0 or more always are there, got 4 to 2",
        ),
        (
            {"size": FleetSize.fixed(0)},
            "'size' must be 1 to 5000 nodes, of which 0 or more always are there, got 0",
        ),
        (
            {"instance_types": ["p4d.24xlarge", "p5.48xlarge"], "capacity": FleetCapacity.spot(),
             "placement": FleetPlacement.cluster()},
            ("'placement' must be FleetPlacement.anywhere() for Spot instances of several types, got a cluster "
            "placement group for p4d.24xlarge, p5.48xlarge: EC2 finds room for one type at a time there; use one type, "
            "or on-demand capacity"),
        ),
        (
            {"instance_types": ["p4d.24xlarge", "p5.48xlarge"], "capacity": FleetCapacity.odcr("cr-1")},
            ("'instance_types' must be one type with capacity that is reserved, got 2: a reservation is of one type; "
            "use 'instance_type'"),
        ),
        (
            {"instance_type": "p5.48xlarge", "capacity": FleetCapacity.capacity_block("cr-1"),
             "placement": FleetPlacement.cluster()},
            ("'placement' must be FleetPlacement.anywhere() with a capacity-block, which owns the placement of its "
            "instances, got a cluster placement group of the fleet's; leave it out"),
        ),
        (
            {"capacity": FleetCapacity.odcr("cr-1"), "placement": FleetPlacement.cluster()},
            ("'placement' must be FleetPlacement.anywhere() or in_group(...) with the group that it was made in with a "
            "reservation, which owns the placement of its instances, got a cluster placement group of the fleet's; "
            "leave it out"),
        ),
        (
            {"image": NodeImage.ami("ami-1", architecture="arm64")},
            "'image' must be one for x86_64, the architecture of p4d.24xlarge, got 'ami-1' for arm64",
        ),
        ({"fleet_name": "-x"}, ("'fleet_name' must be a letter and then letters, digits and hyphens, 63 at most, got "
         "'-x'; leave it out for a unique one")),
        ({"mount_at": "fsx"}, ("'mount_at' must be an absolute path outside of the system's folders, as '/fsx', got "
         "'fsx'")),
        ({"mount_at": "/etc/fsx"}, ("'mount_at' must be an absolute path outside of the system's folders, as '/fsx', "
         "got '/etc/fsx'")),
    ],
)  # fmt: skip
def test_fails_with_one_clear_sentence(changes: dict[str, Any], problem: str) -> None:
    assert problems(**changes) == (problem,)


def test_fails_on_a_fleet_larger_than_its_subnet_with_the_arithmetic_and_the_quota() -> None:
    stack = new_stack()
    with pytest.raises(ConfigurationError) as caught:
        new_fleet(
            stack,
            network=existing_network(stack, accelerator_cidr="10.1.0.0/24"),
            instance_type="p5.48xlarge",
            size=FleetSize.fixed(16),
            backend=EfaBackend.LEGACY,
        )
    assert caught.value.problems == (
        (
            "'accelerator_cidr' must hold 529 addresses (nodes 16 x p5.48xlarge x 32 = 512, other = 1, reserve = 16), "
            "got 10.1.0.0/24 with 251; use a /22 or larger; 16 x p5.48xlarge take 3072 vCPUs of the quota "
            "'Running On-Demand P instances' (L-417A185B)"
        ),
    )


def test_the_same_fleet_fits_with_efa_only_interfaces() -> None:
    stack = new_stack()
    network = existing_network(stack, accelerator_cidr="10.1.0.0/24")
    new_fleet(stack, network=network, instance_type="p5.48xlarge", size=FleetSize.fixed(16))


def test_fails_on_a_second_subnet() -> None:
    """One job is in one subnet: a fleet takes one network, and there is no keyword for another."""
    with pytest.raises(TypeError, match="subnet"):
        new_fleet(new_stack(), subnets=["subnet-1", "subnet-2"])


def test_fails_on_a_network_of_another_region() -> None:
    stack = new_stack()
    network = existing_network(stack)
    network.zone = "use1-az4"
    with pytest.raises(ConfigurationError) as caught:
        new_fleet(stack, network=network)
    assert caught.value.problems == (
        "'network' must be in the Region us-west-2, got one in zone 'use1-az4' of us-east-1",
    )


def test_fails_on_more_security_groups_than_an_interface_takes() -> None:
    stack = new_stack()
    groups = [shared_group(stack, f"Group{number}") for number in range(6)]
    with pytest.raises(ConfigurationError) as caught:
        new_fleet(stack, security_group=groups[0], extra_security_groups=groups[1:])
    assert caught.value.problems == ("'extra_security_groups' must be at most 4 beside 'security_group', got 5",)


def test_fails_on_an_efa_enabled_file_system_in_another_zone() -> None:
    stack = new_stack()
    with pytest.raises(ConfigurationError) as caught:
        new_fleet(stack, lustre=existing_lustre(stack, zone="usw2-az1", efa=True))
    assert caught.value.problems == (
        "'lustre' must be in zone 'usw2-az4' when it is EFA-enabled, got one in 'usw2-az1'; EFA does not cross zones",
    )


def test_fails_with_every_problem_at_once() -> None:
    found = problems(
        instance_type="m5.large",
        size=FleetSize.fixed(-1),
        mount_at="x",
        fleet_name="x y",
        capacity=FleetCapacity.odcr(),
    )
    assert len(found) == 5


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "base-oss-nvidia-driver-gpu-ubuntu-24.4",
            "; did you mean 'base-oss-nvidia-driver-gpu-ubuntu-24.04'",
        ),
        ("neuron-base-ubuntu-22.04", "Neuron publishes no image of Ubuntu 22.04 any more; 'neuron-base-ubuntu-24.04'"),
        ("deep-learning-ami-ubuntu-18.04", "Ubuntu 18.04 is past its support"),
        ("x", "; known are arm64-base-oss-nvidia-driver-gpu-amazon-linux-2023"),
    ],
)
def test_fails_on_an_unknown_or_retired_deep_learning_ami(name: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        NodeImage.dlami(name)
    assert problem in caught.value.problems[0]
    assert repr(name) in caught.value.problems[0]


def test_fails_on_a_master_with_another_user() -> None:
    stack = new_stack()
    with pytest.raises(ConfigurationError) as caught:
        new_master(stack, new_fleet(stack), image=NodeImage.ami("ami-1", user="ec2-user"))
    assert caught.value.problems == (
        (
            "'image' of the master must have the user 'ubuntu' of the fleet's image, got 'ami-1' with 'ec2-user'; "
            "members log in to members as one user"
        ),
    )


def test_tokens_pass() -> None:
    stack = new_stack()
    text = CfnParameter(stack, "Text").value_as_string
    fleet = new_fleet(
        stack,
        instance_type=text,
        capacity=FleetCapacity.odcr(text),
        fleet_name=text,
        mount_at=text,
        image=NodeImage.ami(text),
        network=existing_network(stack, accelerator_cidr=text),
    )
    assert fleet.quota == ""


def test_every_rule_is_silent_on_a_legal_fleet() -> None:
    stack = new_stack()
    fleet = new_fleet(stack)
    assert [rule.__name__ for rule in FLEET_RULES if rule(fleet._fleet)] == []
    assert warnings(stack) == []


# ---------------------------------------------------------------- warnings
@pytest.mark.parametrize(
    ("slug", "changes", "words"),
    [
        ("spot-loses-jobs", {"capacity": FleetCapacity.spot()}, "two minutes' notice"),
        (
            "block-without-times",
            {
                "instance_type": "p5.48xlarge",
                "capacity": FleetCapacity.capacity_block("cr-0123456789abcdef0"),
                "image": NodeImage.ami("ami-1"),
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
            {"instance_type": "p5.48xlarge", "size": FleetSize.fixed(200)},
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


def test_the_readme_names_every_warning() -> None:
    readme = Path(rules_fleet.__file__).with_name("README.md").read_text()
    told = re.findall(r"^\| `([a-z-]+)` \|", readme.partition("## Warnings")[2].partition("\n## ")[0], re.MULTILINE)
    assert told == list(WARNINGS)


def test_warns_of_a_file_system_in_another_zone_with_what_crossing_costs() -> None:
    stack = new_stack()
    new_fleet(stack, lustre=existing_lustre(stack, zone="usw2-az1"))
    (found,) = [text for text in warnings(stack) if "lustre-in-other-zone" in text]
    assert "the nodes in usw2-az4 mount a file system in usw2-az1" in found
    assert "billed by the GB in each direction" in found


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
    new_fleet(stack, lustre=existing_lustre(stack), image=NodeImage.dlami(name))
    said = [text for text in warnings(stack) if "unknown-versions" in text]
    assert [words in text for text in said] == [True] * bool(words)


def test_does_not_warn_of_kernels_without_lustre() -> None:
    stack = new_stack()
    new_fleet(stack, image=NodeImage.dlami("base-oss-nvidia-driver-gpu-ubuntu-24.04"))
    assert not [text for text in warnings(stack) if "unknown-versions" in text]


def test_warns_of_nodes_that_start_before_their_image_is_built() -> None:
    stack = new_stack()
    network = existing_network(stack)
    later = TrainingImage(stack, "Later", base=NodeImage.dlami(GPU_IMAGE), network=network)
    new_fleet(stack, network=network, image=NodeImage.built_by(later))
    (found,) = [text for text in warnings(stack) if "image-not-built" in text]
    assert "2 nodes start with the stack, from an image that is not there before its pipeline ran once" in found


def test_does_not_warn_of_an_image_that_is_built_while_deploying_nor_of_a_fleet_that_begins_empty() -> None:
    stack, other = new_stack(), new_stack("Other")
    network = existing_network(stack)
    now = TrainingImage(stack, "Now", base=NodeImage.dlami(GPU_IMAGE), network=network, build=True)
    new_fleet(stack, network=network, image=NodeImage.built_by(now))
    network = existing_network(other)
    later = TrainingImage(other, "Later", base=NodeImage.dlami(GPU_IMAGE), network=network)
    new_fleet(other, network=network, image=NodeImage.built_by(later), size=FleetSize.between(0, 4))
    assert warnings(stack) + warnings(other) == []


def test_a_zone_by_name_and_a_zone_by_id_are_not_compared() -> None:
    stack = new_stack()
    new_fleet(stack, lustre=existing_lustre(stack, zone="us-west-2b"))
    assert warnings(stack) == []


def test_a_placement_group_for_a_type_that_takes_none_is_refused() -> None:
    stack = new_stack()
    group = PlacementGroup(stack, "Group")
    from cdk_trainyard.instances import InstanceType  # noqa: PLC0415  for this test alone

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
    with pytest.raises(ConfigurationError) as caught:
        new_fleet(stack, instance_type=lonely, placement=FleetPlacement.in_group(group))
    assert "which takes no cluster placement group (only spread)" in caught.value.problems[0]
