import subprocess
from pathlib import Path

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.rehearsal.devices import fi_info, neuron_devices


def test_the_stand_in_of_fi_info_names_every_interface(tmp_path: Path) -> None:
    program = tmp_path / "fi_info"
    program.write_text(fi_info(8))
    shown = subprocess.run(["sh", str(program), "-p", "efa"], capture_output=True, text=True, check=True).stdout  # noqa: S607
    assert len({line for line in shown.splitlines() if "domain: " in line}) == 8


def test_devices_are_those_of_the_catalogue() -> None:
    assert neuron_devices(InstanceType.of("ml.trn1.32xlarge")) == 16
    assert neuron_devices(InstanceType.of("ml.c5.4xlarge")) == 0
