"""The numbers published for HyperPod and in the VPC CNI's table: a second source, written down here by hand.

Sources: SageMaker HyperPod prerequisites (32 addresses of ml.p5.48xlarge with Slurm, 81 with EKS); the VPC CNI's
vpc_ip_resource_limit.go of 2026-08-20 (cards, addresses per interface); sagemaker-hyperpod-cli's constants.py of
2026-06-22 (EFA interfaces).
"""

import re

import pytest

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import InstanceType, hyperpod_type_names

G7 = ["g7.2xlarge", "g7.4xlarge", "g7.8xlarge", "g7.12xlarge", "g7.24xlarge"]
G4DN_SMALL = ["g4dn.xlarge", "g4dn.2xlarge", "g4dn.4xlarge"]
NOT_LISTED = None  # the CLI's table has no such row

# types, EFA interfaces, network cards, IPv4 per interface, addresses with Slurm, addresses with EKS
TABLE = [
    (["p4d.24xlarge", "p4de.24xlarge"], 4, 4, 50, 4, 53),
    (["p5.48xlarge", "p5e.48xlarge"], 32, 32, 50, 32, 81),
    (["p5.4xlarge"], 1, 1, 30, 1, 30),
    (["p5en.48xlarge"], 16, 16, 50, 16, 65),
    (["p6-b200.48xlarge"], 8, 8, 50, 8, 57),
    (["p6-b300.48xlarge"], 16, 17, 50, 17, 66),
    (["trn1.32xlarge"], 8, 8, 50, 8, 57),
    (["trn1n.32xlarge"], 16, 16, 50, 16, 65),
    (["trn2.3xlarge"], 1, 1, 15, 1, 15),
    (["trn2.48xlarge"], 16, 16, 50, 16, 65),
    (["g5.xlarge", "g5.2xlarge"], 0, 1, 15, 1, 15),
    (["g5.4xlarge"], 0, 1, 30, 1, 30),
    (["g5.8xlarge", "g5.16xlarge"], 1, 1, 30, 1, 30),
    (["g5.12xlarge", "g5.24xlarge", "g5.48xlarge"], 1, 1, 50, 1, 50),
    (["g6.xlarge", "g6.2xlarge"], 0, 1, 15, 1, 15),
    (["g6.4xlarge"], 0, 1, 30, 1, 30),
    (["g6.8xlarge", "g6.12xlarge", "gr6.8xlarge"], 1, 1, 30, 1, 30),
    (["g6.16xlarge", "g6.24xlarge", "g6.48xlarge"], 1, 1, 50, 1, 50),
    (["gr6.4xlarge"], 0, 1, 30, 1, 30),
    (["g6e.xlarge", "g6e.2xlarge"], 0, 1, 15, 1, 15),
    (["g6e.4xlarge"], 0, 1, 30, 1, 30),
    (["g6e.8xlarge", "g6e.12xlarge"], 1, 1, 30, 1, 30),
    (["g6e.16xlarge"], 1, 1, 50, 1, 50),
    (["g6e.24xlarge"], 2, 2, 50, 2, 51),
    (["g6e.48xlarge"], 4, 4, 50, 4, 53),
    (["g7e.2xlarge", "g7e.4xlarge"], 0, 1, 64, 1, 64),
    (["g7e.8xlarge", "g7e.12xlarge"], 1, 1, 64, 1, 64),
    (["g7e.24xlarge"], 2, 2, 64, 2, 65),
    (["g7e.48xlarge"], 4, 4, 64, 4, 67),
    (G7, NOT_LISTED, 1, 64, 1, 64),
    (["g7.48xlarge"], NOT_LISTED, 2, 64, 2, 65),
    (G4DN_SMALL, NOT_LISTED, 1, 10, 1, 10),
    (["g4dn.8xlarge", "g4dn.16xlarge"], NOT_LISTED, 1, 15, 1, 15),
    (["g4dn.12xlarge"], NOT_LISTED, 1, 30, 1, 30),
    (["c5n.9xlarge"], 1, 1, 30, 1, 30),
    (["c5n.18xlarge"], 1, 1, 50, 1, 50),
    (["c6i.32xlarge", "m6i.32xlarge", "r6i.32xlarge"], 1, 1, 50, 1, 50),
    (["m7i.48xlarge", "r7i.48xlarge"], 1, 1, 50, 1, 50),
    (["i3en.12xlarge"], 1, 1, 30, 1, 30),
    (["i3en.24xlarge"], 1, 1, 50, 1, 50),
]
ROWS = [(name, *numbers) for names, *numbers in TABLE for name in names]
UNPUBLISHED = {"p6e-gb200.36xlarge"}
OTHERS = [name for name in hyperpod_type_names() if name[3:] not in {row[0] for row in ROWS} | UNPUBLISHED]

# EC2 answers EFA for these; the CLI's constants leave them out. EC2 is what attaches the interface, so EC2 is believed.
EFA_BY_EC2_ONLY = {
    *("ml.c6a.48xlarge", "ml.m6a.48xlarge", "ml.c7g.16xlarge", "ml.m7g.16xlarge"),
    *("ml.c8g.24xlarge", "ml.c8g.48xlarge", "ml.m8g.24xlarge", "ml.m8g.48xlarge"),
}


@pytest.mark.parametrize(("name", "efa", "cards", "ipv4", "slurm", "eks"), ROWS, ids=[row[0] for row in ROWS])
def test_published_row(name: str, efa: int | None, cards: int, ipv4: int, slurm: int, eks: int) -> None:
    known = InstanceType.of(f"ml.{name}")
    assert known.hyperpod
    assert efa in {known.max_efa_interfaces, NOT_LISTED}
    assert len(known.network_cards) == cards
    assert known.ipv4_per_interface == ipv4
    assert known.hyperpod_addresses("slurm") == known.hyperpod_addresses() == slurm
    assert known.hyperpod_addresses("eks") == eks


def ipv4_of_a_cpu_type(name: str) -> int:
    """Return what the table says for "every other CPU type"."""
    family, size = name.removeprefix("ml.").split(".")
    if family == "t3":
        return {"medium": 6, "large": 12, "xlarge": 15, "2xlarge": 15}[size]
    if family in {"c8a", "m8a"}:
        return 64
    if size in {"medium", "large", "xlarge"}:
        return {"medium": 4, "large": 10, "xlarge": 15}[size]
    width = int(re.sub(r"\D", "", size))
    return 15 if width <= 3 else 30 if width <= 12 else 50


def test_every_other_type_is_a_cpu_type_of_the_rule() -> None:
    """By type: accelerated, network cards, addresses of an interface, those with Slurm and with EKS, EFA interfaces."""
    types = {name: InstanceType.of(name) for name in OTHERS}
    assert {
        name: (
            known.accelerated,
            len(known.network_cards),
            known.ipv4_per_interface,
            known.hyperpod_addresses("slurm"),
            known.hyperpod_addresses("eks"),
            known.max_efa_interfaces,
        )
        for name, known in types.items()
    } == {
        name: (False, 1, ipv4_of_a_cpu_type(name), 1, ipv4_of_a_cpu_type(name), int(name in EFA_BY_EC2_ONLY))
        for name in OTHERS
    }


def test_the_table_covers_every_type_of_hyperpod() -> None:
    assert len(hyperpod_type_names()) == len(set(hyperpod_type_names())) == 209
    assert len(ROWS) + len(OTHERS) + len(UNPUBLISHED) == 209


def test_the_families_of_hyperpod() -> None:
    families = {InstanceType.of(name).family for name in hyperpod_type_names()}
    assert families == {
        *("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "p6e-gb200", "trn1", "trn1n", "trn2"),
        *("g4dn", "g5", "g6", "gr6", "g6e", "g7", "g7e", "i3en", "t3", "r5d", "r6i", "r7i"),
        *("c5", "c5n", "c6a", "c6g", "c6i", "c7g", "c8g", "c8a"),
        *("m5", "m6a", "m6g", "m6i", "m7g", "m7i", "m8g", "m8a"),
    }


def test_the_arm_types_of_hyperpod() -> None:
    arm = {known.family for known in map(InstanceType.of, hyperpod_type_names()) if known.architecture == "arm64"}
    assert arm == {"c6g", "c7g", "c8g", "m6g", "m7g", "m8g", "p6e-gb200"}


@pytest.mark.parametrize(
    "name", ["trn1.2xlarge", "inf2.xlarge", "inf2.8xlarge", "inf2.24xlarge", "inf2.48xlarge", "p3dn.24xlarge"]
)
def test_types_that_hyperpod_does_not_accept(name: str) -> None:
    assert not InstanceType.of(name).hyperpod
    assert f"ml.{name}" not in hyperpod_type_names()


# prefix length, nodes of ml.p5.48xlarge with Slurm, with EKS; a subnet loses five addresses
@pytest.mark.parametrize(("prefix", "slurm", "eks"), [(24, 7, 3), (20, 127, 50), (17, 1023, 404), (16, 2047, 809)])
def test_nodes_that_fit_a_subnet(prefix: int, slurm: int, eks: int) -> None:
    p5, usable = InstanceType.of("p5.48xlarge"), 2 ** (32 - prefix) - 5
    assert usable // p5.hyperpod_addresses("slurm") == slurm
    assert usable // p5.hyperpod_addresses("eks") == eks


def test_nodes_within_the_default_quota_of_network_interfaces() -> None:
    assert 5000 // len(InstanceType.of("p5.48xlarge").network_cards) == 156


def test_addresses_of_an_ultracluster_of_thirty_thousand_chips() -> None:
    trn1 = InstanceType.of("trn1.32xlarge")
    assert 1875 * trn1.accelerators[0].count == 30_000
    assert 1875 * trn1.hyperpod_addresses() == 15_000


# the documented limit of pods on a HyperPod node is one less than the addresses of its primary interface
@pytest.mark.parametrize(
    ("name", "pods"),
    [("p5.48xlarge", 49), ("p5.4xlarge", 29), ("trn2.3xlarge", 14), ("m5.large", 9), ("c6g.medium", 3)],
)
def test_pods_of_a_node(name: str, pods: int) -> None:
    assert InstanceType.of(name).ipv4_per_interface - 1 == pods


@pytest.mark.parametrize("name", ["p5.48xlarge", "p6-b300.48xlarge", "trn1.32xlarge", "m5.large"])
def test_efa_only_leaves_the_addresses_of_the_primary_interface(name: str) -> None:
    known = InstanceType.of(name)
    assert known.hyperpod_addresses("slurm", efa_only=True) == 1
    assert known.hyperpod_addresses("eks", efa_only=True) == known.ipv4_per_interface


@pytest.mark.parametrize("orchestrator", ["slurm", "eks"])
def test_fails_where_the_addresses_are_not_published(orchestrator: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        InstanceType.of("ml.p6e-gb200.36xlarge").hyperpod_addresses(orchestrator)
    (problem,) = caught.value.problems
    assert problem == (
        "'instance_type' must be one whose interfaces under HyperPod are published, got 'p6e-gb200.36xlarge'; "
        "use EFA-only interfaces, or register it with its network cards (InstanceType.register)"
    )


def test_efa_only_needs_no_more_than_is_published() -> None:
    gb200 = InstanceType.of("ml.p6e-gb200.36xlarge")
    assert (gb200.hyperpod_addresses(efa_only=True), gb200.hyperpod_addresses("eks", efa_only=True)) == (1, 50)
