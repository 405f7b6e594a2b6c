"""The facts of the accelerated and EFA types, from the EC2 instance types guide and the Neuron documentation."""

import pytest

from cdk_trainyard.instances import InstanceType

BUY = {"cb": "capacity-block", "od": "on-demand", "spot": "spot"}
NOT_STATED = None

# type, vCPU, GiB, accelerators (count, name, GiB of one, NeuronCores of one), cards, EFA, Gbps, EFA on card 0,
# interfaces of one card, NVMe GB, usage
TABLE = """
p3dn.24xlarge     96   768  8 V100 32 0                   1   1   100 y 15  1800 od,spot
p4d.24xlarge      96  1152  8 A100 40 0                   4   4   400 y 15  8000 cb,od,spot
p4de.24xlarge     96  1152  8 A100 80 0                   4   4   400 y 15  8000 cb,od,spot
p5.48xlarge      192  2048  8 H100 80 0                  32  32  3200 y  2 30400 cb,od,spot
p5.4xlarge        16   256  1 H100 80 0                   1   1   100 y  4  3800 cb,od,spot
p5e.48xlarge     192  2048  8 H200 141 0                 32  32  3200 y  2 30400 cb,od,spot
p5en.48xlarge    192  2048  8 H200 141 0                 16  16  3200 y  4 30400 cb,od,spot
p6-b200.48xlarge 192  2048  8 B200 179 0                  8   8  3200 y  4 30400 cb,od,spot
p6-b300.48xlarge 192  4096  8 B300 268 0                 17  16  6400 n  4 30400 cb,od,spot
trn1.2xlarge       8    32  1 Trainium 32 2               1   0  12.5 n  4   474 od,spot
trn1.32xlarge    128   512 16 Trainium 32 2               8   8   800 y  5  7600 cb,od,spot
trn1n.32xlarge   128   512 16 Trainium 32 2              16  16  1600 y  5  7600 od,spot
trn2.3xlarge      12   128  1 Trainium2 96 8              1   1   200 y  2   470 cb,od,spot
trn2.48xlarge    192  2048 16 Trainium2 96 8             16  16  3200 y  2  7600 cb,od,spot
trn2u.48xlarge   192  2048 16 Trainium2 96 8             16  16  3200 y  2  7600 cb,od
inf2.xlarge        4    16  1 Inferentia2 32 2            1   0    15 n  4     0 od,spot
inf2.8xlarge      32   128  1 Inferentia2 32 2            1   0    25 n  8     0 od,spot
inf2.24xlarge     96   384  6 Inferentia2 32 2            1   0    50 n 15     0 od,spot
inf2.48xlarge    192   768 12 Inferentia2 32 2            1   0   100 n 15     0 od,spot
g6e.48xlarge     192  1536  8 L40S 44 0                   4   4   400 y 10  7600 od,spot
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_published_row(row: list[str]) -> None:
    name, vcpus, gib, count, device, device_gib, cores, cards, efa, gbps, card0, interfaces, nvme, usage = row
    known = InstanceType.of(name)
    (accelerator,) = known.accelerators
    assert (known.vcpus, known.memory_mib) == (int(vcpus), int(gib) * 1024)
    assert (accelerator.name, accelerator.count, accelerator.cores) == (device, int(count), int(cores))
    assert accelerator.memory_mib // 1024 == int(device_gib)
    assert (len(known.network_cards), known.max_efa_interfaces) == (int(cards), int(efa))
    assert known.network_gbps == float(gbps)
    assert known.network_cards[0].efa == (card0 == "y")
    assert {card.max_interfaces for card in known.network_cards} == {int(interfaces)}
    assert known.nvme_gb == int(nvme)
    assert known.usage_classes == tuple(BUY[word] for word in usage.split(","))
    assert known.architecture == "x86_64"
    assert known.threads_per_core == 2
    assert known.unknown == ()


def test_g7e_of_eight_gpus() -> None:
    known = InstanceType.of("g7e.48xlarge")
    assert (known.vcpus, known.memory_mib, known.gpus) == (192, 2048 * 1024, 8)
    assert "RTX PRO" in known.accelerators[0].name
    assert (len(known.network_cards), known.max_efa_interfaces, known.network_gbps) == (4, 4, 1600)
    assert {card.max_interfaces for card in known.network_cards} == {10}


def test_p6e_gb200_states_what_is_not_published() -> None:
    known = InstanceType.of("p6e-gb200.36xlarge")
    (accelerator,) = known.accelerators
    assert (known.vcpus, known.memory_mib, known.threads_per_core) == (144, 960 * 1024, 1)
    assert (accelerator.count, accelerator.memory_mib) == (4, 185 * 1024)
    assert known.architecture == "arm64"
    assert (known.network_gbps, known.nvme_gb, known.ipv4_per_interface) == (3200, 22500, 50)
    assert len(known.network_cards) == 17
    assert not known.network_cards[0].efa
    assert [card.index for card in known.network_cards if card.efa_only] == list(range(1, 17, 2))
    assert [card.index for card in known.network_cards if card.efa and not card.efa_only] == list(range(2, 17, 2))
    assert known.efa_supported
    assert known.hyperpod
    assert known.unknown == (
        "hyperpod_addresses",
        "max_efa_interfaces",
        "network_cards",
        "placement_strategies",
        "usage_classes",
        "zones",
    )


def test_the_bandwidth_is_that_of_the_instance_not_the_sum_of_its_cards() -> None:
    wrong_by_sum = {"p6-b200.48xlarge": 3200, "p6-b300.48xlarge": 6400, "trn2.3xlarge": 200, "g6e.24xlarge": 200}
    assert {name: InstanceType.of(name).network_gbps for name in wrong_by_sum} == wrong_by_sum


def test_a_part_of_a_gpu_is_one_gpu_with_its_own_memory() -> None:
    known = InstanceType.of("g6f.large")
    assert (known.gpus, known.accelerators[0].name, known.accelerators[0].memory_mib) == (1, "L4", 2861)


def test_cards_with_one_interface() -> None:
    assert [card.max_interfaces for card in InstanceType.of("hpc6id.32xlarge").network_cards] == [1, 1]


def test_fewer_efa_interfaces_than_cards_that_take_one() -> None:
    known = InstanceType.of("i7ie.48xlarge")
    assert (sum(card.efa for card in known.network_cards), known.max_efa_interfaces) == (2, 1)


@pytest.mark.parametrize(("name", "nvme_gb"), [("d3.xlarge", 0), ("m3.medium", 0), ("i3en.24xlarge", 60000)])
def test_nvme_is_ssd_on_nvme(name: str, nvme_gb: int) -> None:
    assert InstanceType.of(name).nvme_gb == nvme_gb


@pytest.mark.parametrize(("name", "gbps"), [("m5.large", 10), ("t2.nano", 0.512), ("c6in.32xlarge", 200)])
def test_bandwidth_of_small_and_old_types(name: str, gbps: float) -> None:
    assert InstanceType.of(name).network_gbps == gbps


@pytest.mark.parametrize(
    ("name", "zones"),
    [
        (
            "trn1.32xlarge",
            {
                "us-east-1": ("use1-az4", "use1-az5", "use1-az6"),
                "us-east-2": ("use2-az3",),
                "us-west-2": ("usw2-az1", "usw2-az4"),
                "ap-south-1": ("aps1-az2",),
                "ap-southeast-2": ("apse2-az1", "apse2-az2"),
                "ap-southeast-4": ("apse4-az1",),
            },
        ),
        ("trn1n.32xlarge", {"us-east-1": ("use1-az6",), "us-east-2": ("use2-az3",), "us-west-2": ("usw2-az4",)}),
        (
            "trn2.48xlarge",
            {
                "us-east-2": ("use2-az1", "use2-az2", "use2-az3"),
                "ap-south-2": ("aps2-az1", "aps2-az2", "aps2-az3"),
            },
        ),
        ("trn2u.48xlarge", {"ap-south-2": ("aps2-az1", "aps2-az2", "aps2-az3")}),
    ],
)
def test_zones_of_trainium(name: str, zones: dict[str, tuple[str, ...]]) -> None:
    assert InstanceType.of(name).zones == zones
