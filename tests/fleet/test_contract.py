"""Interfaces of every EFA type, compared with what ParallelCluster itself renders for it."""

import json
import subprocess
from pathlib import Path

import pytest

from cdk_trainyard.cli.contract.ask import environment, python
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import EfaBackend, efa_network_interfaces

ROOT = Path(__file__).parents[2]
Layout = list[tuple[int, int, str]]

pytestmark = pytest.mark.contract


@pytest.fixture(scope="module")
def rendered() -> dict[str, Layout]:
    """What ParallelCluster renders, by type."""
    done = subprocess.run(
        [str(python()), "-m", "tests.fleet.pcluster_interfaces"],
        cwd=ROOT,
        env=environment() | {"PYTHONPATH": str(ROOT / "constructs")},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = json.loads(done.stdout)
    return {name: [(card, device, kind) for card, device, kind in layout] for name, layout in found.items()}


def ours(name: str, backend: EfaBackend) -> Layout:
    found = efa_network_interfaces(InstanceType.of(name), backend)
    return [(each.network_card_index, each.device_index, each.interface_type) for each in found]


def test_its_own_backend_is_the_same_interface_by_interface(rendered: dict[str, Layout]) -> None:
    assert len(rendered) > 300
    assert {name for name, layout in rendered.items() if ours(name, EfaBackend.PARALLELCLUSTER) != layout} == set()


def test_a_launch_template_differs_in_device_numbers_alone(rendered: dict[str, Layout]) -> None:
    """ParallelCluster puts what is not on card 0 at device 1; EC2's present guide puts EFA-only at device 0."""

    def without_devices(layout: Layout) -> list[tuple[int, str]]:
        return [(card, kind) for card, _, kind in layout]

    different = {
        name
        for name, layout in rendered.items()
        if without_devices(ours(name, EfaBackend.LAUNCH_TEMPLATE)) != without_devices(layout)
    }
    assert different == set()
