import subprocess
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal.devices import fi_info
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.instance_types import InstanceType


def test_the_stand_in_of_fi_info_names_every_interface(tmp_path: Path) -> None:
    program = tmp_path / "fi_info"
    program.write_text(fi_info(8))
    shown = subprocess.run(["sh", str(program), "-p", "efa"], capture_output=True, text=True, check=True).stdout  # noqa: S607
    assert len({line for line in shown.splitlines() if "domain: " in line}) == 8


def test_devices_are_those_that_ec2_describes() -> None:
    assert InstanceType.of("ml.trn1.32xlarge").neuron_devices == 16
    assert InstanceType.of("ml.c5.4xlarge").neuron_devices == 0


def test_a_type_that_ec2_does_not_describe_is_refused() -> None:
    with pytest.raises(RehearsalError, match="EC2 describes no instance type trn9"):
        InstanceType.of("ml.trn9.32xlarge")
