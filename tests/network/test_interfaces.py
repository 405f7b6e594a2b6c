"""EFA interfaces of every type, for every backend."""

import pytest
from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import (
    EfaBackend,
    EfaInterface,
    EfaSecurityGroup,
    PlacementGroup,
    efa_network_interfaces,
    interface_addresses,
    launch_template_interfaces,
)
from tests.network.parts import new_network, new_stack, resources

EFA_TYPES = [name for name in load("instances", "instance_types")["types"] if InstanceType.of(name).efa_supported]
ENA, EFA, ONLY = "interface", "efa", "efa-only"
Layout = list[tuple[int, int, str]]


def layout(name: str, backend: EfaBackend) -> Layout:
    found = efa_network_interfaces(InstanceType.of(name), backend)
    return [(each.network_card_index, each.device_index, each.interface_type) for each in found]


def cards(first: int, last: int, device: int, kind: str) -> Layout:
    return [(card, device, kind) for card in range(first, last + 1)]


@pytest.mark.parametrize("backend", [EfaBackend.LAUNCH_TEMPLATE, EfaBackend.PARALLELCLUSTER])
@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("p4d.24xlarge", 5), ("p5.48xlarge", 33), ("p5en.48xlarge", 17), ("p6-b200.48xlarge", 9),
        ("p6-b300.48xlarge", 17), ("trn1.32xlarge", 9), ("trn1n.32xlarge", 17), ("trn2.48xlarge", 17),
        ("g5.48xlarge", 2), ("hpc6id.32xlarge", 2),
    ],
)  # fmt: skip
def test_totals_are_those_that_parallelcluster_renders(name: str, total: int, backend: EfaBackend) -> None:
    assert len(layout(name, backend)) == total


@pytest.mark.parametrize("backend", [EfaBackend.PCS, EfaBackend.LEGACY])
@pytest.mark.parametrize(
    ("name", "total"),
    [("p4d.24xlarge", 4), ("p5.48xlarge", 32), ("p6-b300.48xlarge", 17), ("trn1.32xlarge", 8), ("g5.48xlarge", 1)],
)
def test_with_efa_on_every_card_each_card_takes_an_address(name: str, total: int, backend: EfaBackend) -> None:
    interfaces = efa_network_interfaces(InstanceType.of(name), backend)
    assert len(interfaces) == interface_addresses(interfaces) == total


@pytest.mark.parametrize(
    ("name", "backend", "expected"),
    [
        ("trn1.32xlarge", EfaBackend.LAUNCH_TEMPLATE, [(0, 0, ENA), (0, 1, ONLY), *cards(1, 7, 0, ONLY)]),
        ("trn1.32xlarge", EfaBackend.PARALLELCLUSTER, [(0, 0, ENA), (0, 1, ONLY), *cards(1, 7, 1, ONLY)]),
        ("trn1.32xlarge", EfaBackend.PCS, [(0, 0, EFA), *cards(1, 7, 1, EFA)]),
        ("trn1.32xlarge", EfaBackend.LEGACY, [(0, 0, EFA), *cards(1, 7, 1, EFA)]),
        # card 0 takes no EFA
        ("p6-b300.48xlarge", EfaBackend.LAUNCH_TEMPLATE, [(0, 0, ENA), *cards(1, 16, 0, ONLY)]),
        ("p6-b300.48xlarge", EfaBackend.PARALLELCLUSTER, [(0, 0, ENA), *cards(1, 16, 1, ONLY)]),
        ("p6-b300.48xlarge", EfaBackend.PCS, [(0, 0, ENA), *cards(1, 16, 0, EFA)]),
        ("p6-b300.48xlarge", EfaBackend.LEGACY, [(0, 0, ENA), *cards(1, 16, 1, EFA)]),
        # one interface a card: no room for an EFA-only interface beside the primary one
        ("hpc6id.32xlarge", EfaBackend.LAUNCH_TEMPLATE, [(0, 0, EFA), (1, 0, ONLY)]),
        ("hpc6id.32xlarge", EfaBackend.PARALLELCLUSTER, [(0, 0, EFA), (1, 0, ONLY)]),
        ("hpc6id.32xlarge", EfaBackend.PCS, [(0, 0, EFA), (1, 0, EFA)]),
        ("hpc6id.32xlarge", EfaBackend.LEGACY, [(0, 0, EFA), (1, 0, EFA)]),
        # one card
        ("g5.48xlarge", EfaBackend.LAUNCH_TEMPLATE, [(0, 0, ENA), (0, 1, ONLY)]),
        ("g5.48xlarge", EfaBackend.PCS, [(0, 0, EFA)]),
        # two cards, one EFA interface
        ("i7ie.48xlarge", EfaBackend.PARALLELCLUSTER, [(0, 0, ENA), (1, 1, ONLY)]),
        # odd cards for EFA only, even cards for ENA or EFA
        (
            "p6e-gb200.36xlarge",
            EfaBackend.LAUNCH_TEMPLATE,
            [(0, 0, ENA), *((card, 0, ONLY) for card in range(1, 17, 2))],
        ),
        (
            "p6e-gb200.36xlarge",
            EfaBackend.PARALLELCLUSTER,
            [(0, 0, ENA), *((card, 1 - card % 2, ONLY) for card in range(1, 17))],
        ),
        (
            "p6e-gb200.36xlarge",
            EfaBackend.LEGACY,
            [(0, 0, ENA), *((card, 1 - card % 2, ONLY if card % 2 else EFA) for card in range(1, 17))],
        ),
        ("p6e-gb200.36xlarge", EfaBackend.PCS, [(0, 0, ENA), *((card, 0, EFA) for card in range(2, 17, 2))]),
    ],
)  # fmt: skip
def test_the_layout_is_the_backends(name: str, backend: EfaBackend, expected: Layout) -> None:
    assert layout(name, backend) == expected


@pytest.mark.parametrize("backend", EfaBackend)
def test_every_type_with_efa_has_a_sound_layout(backend: EfaBackend) -> None:
    for name in EFA_TYPES:
        known, found = InstanceType.of(name), layout(name, backend)
        places = [(card, device) for card, device, _ in found]
        efa = [card for card, _, kind in found if kind != ENA]
        assert found[0] in ((0, 0, ENA), (0, 0, EFA)), name
        assert len(set(places)) == len(places), name
        assert len(set(efa)) == len(efa), name
        assert all(known.network_cards[card].efa for card in efa), name
        if "max_efa_interfaces" not in known.unknown:
            assert len(efa) == known.max_efa_interfaces, name
        for card in known.network_cards:
            on_card = [device for index, device, _ in found if index == card.index]
            assert len(on_card) <= (card.max_interfaces or 2), name


def test_efa_only_interfaces_take_no_address() -> None:
    assert interface_addresses(efa_network_interfaces(InstanceType.of("p5.48xlarge"))) == 1
    assert not EfaInterface(network_card_index=1, device_index=0, interface_type=ONLY).has_address


@pytest.mark.parametrize("name", ["trn1.2xlarge", "inf2.48xlarge", "m5.large"])
def test_fails_on_a_type_without_efa(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        efa_network_interfaces(InstanceType.of(name))
    assert caught.value.problems == (
        f"'instance_type' must be one with EFA, got {name!r}; launch it without EFA interfaces",
    )


def test_a_launch_template_takes_them() -> None:
    stack = new_stack()
    network = new_network(stack)
    efa = EfaSecurityGroup(stack, "Efa", vpc=network.vpc)
    ssh = ec2.SecurityGroup(stack, "Ssh", vpc=network.vpc)
    interfaces = launch_template_interfaces(
        efa_network_interfaces(InstanceType.of("g5.48xlarge")),
        security_group=efa,
        primary_security_groups=[ssh],
        subnet=network.accelerator_subnet,
    )
    data = ec2.CfnLaunchTemplate.LaunchTemplateDataProperty(
        network_interfaces=interfaces,
        placement=ec2.CfnLaunchTemplate.PlacementProperty(
            group_name=PlacementGroup(stack, "Group").placement_group_name
        ),
    )
    ec2.CfnLaunchTemplate(stack, "Template", launch_template_data=data)
    (template,) = resources(stack, "AWS::EC2::LaunchTemplate").values()
    shared = {"DeleteOnTermination": True, "NetworkCardIndex": 0}
    efa_id, ssh_id = (stack.resolve(group) for group in (efa.security_group_id, ssh.security_group_id))
    subnet = stack.resolve(network.accelerator_subnet.subnet_id)
    assert template["LaunchTemplateData"]["NetworkInterfaces"] == [
        {"DeviceIndex": 0, "InterfaceType": ENA, "Groups": [efa_id, ssh_id], "SubnetId": subnet, **shared},
        {"DeviceIndex": 1, "InterfaceType": ONLY, "Groups": [efa_id], "SubnetId": subnet, **shared},
    ]


def test_a_launch_template_may_leave_the_subnet_to_others() -> None:
    stack = new_stack()
    group = ec2.SecurityGroup.from_security_group_id(stack, "Imported", "sg-0123456789abcdef0")
    efa = EfaSecurityGroup.from_security_group(stack, "Efa", group, self_rules_exist=True)
    (interface,) = launch_template_interfaces(
        [EfaInterface(network_card_index=0, device_index=0, interface_type=ENA)], security_group=efa
    )
    assert interface.subnet_id is None
    assert interface.groups == ["sg-0123456789abcdef0"]
