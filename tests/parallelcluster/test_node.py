"""What a node of a ParallelCluster says of itself: its kind, and the devices on its bus, whatever drivers are there."""

import subprocess
from pathlib import Path

import pytest

from cdk_trainyard.node_scripts import scripts_folder

SCRIPT = scripts_folder() / "parallelcluster/node.sh"
BUS = "sys/bus/pci/devices"
NVIDIA, AMAZON = "0x10de", "0x1d0f"


def plug(root: Path, *devices: tuple[str, str, str]) -> None:
    """Put devices on the bus: vendor, device, class."""
    for number, words in enumerate(devices):
        folder = root / BUS / f"0000:00:{number:02x}.0"
        folder.mkdir(parents=True)
        for name, word in zip(("vendor", "device", "class"), words, strict=True):
            (folder / name).write_text(f"{word}\n")


def says(root: Path, question: str) -> str:
    command = ["bash", "-Eeuo", "pipefail", "-c", f'source "{SCRIPT}"; {question}']
    done = subprocess.run(
        command, env={"ROOT": str(root), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_devices_are_counted_by_vendor_and_class(tmp_path: Path) -> None:
    plug(
        tmp_path,
        *[(AMAZON, "0x7164", "0x088000")] * 16,
        *[(NVIDIA, "0x2330", "0x030200")] * 8,
        *[(NVIDIA, "0x22a3", "0x068000")] * 4,  # NVSwitch
        (AMAZON, "0xefa1", "0x020000"),
    )
    assert (says(tmp_path, "neuron_devices"), says(tmp_path, "gpus")) == ("16", "8")


@pytest.mark.parametrize("question", ["neuron_devices", "gpus", "efa_interfaces"])
def test_a_node_without_devices_has_none(tmp_path: Path, question: str) -> None:
    assert says(tmp_path, question) == "0"


def test_interfaces_are_those_with_the_driver_of_efa(tmp_path: Path) -> None:
    for name, driver in (("rdmap0s6", "efa"), ("rdmap1s6", "efa"), ("mlx5_0", "mlx5_core")):
        (tmp_path / "drivers" / driver).mkdir(parents=True, exist_ok=True)
        device = tmp_path / "sys/class/infiniband" / name / "device"
        device.mkdir(parents=True)
        (device / "driver").symlink_to(tmp_path / "drivers" / driver)
    assert says(tmp_path, "efa_interfaces") == "2"


def test_metrics_take_settings_and_nothing_else(tmp_path: Path) -> None:
    script = scripts_folder() / "parallelcluster/metrics.sh"
    folder = tmp_path / "scripts"
    (folder / "lib").mkdir(parents=True)
    for path in (script, script.with_name("node.sh"), scripts_folder() / "lib/steps.sh"):
        place = folder / ("lib" if path.parent.name == "lib" else ".") / path.name
        place.write_text(path.read_text())
    command = ["bash", folder / "metrics.sh", "exporters=yes", "$(reboot)"]
    environment = {"PATH": "/usr/bin:/bin", "TRAINYARD_ROOT": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "metrics.sh NAME=VALUE..., got '$(reboot)'" in done.stdout
