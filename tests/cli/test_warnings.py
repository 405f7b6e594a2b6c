"""What is said of the warnings of constructs: as CDK writes them into a cloud assembly."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cdk_trainyard.cli._warnings import tell_warnings
from tests.deployment.good_file import edited
from tests.support import synthesize_here


def test_warnings_are_said_with_the_path_of_their_construct(
    write: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(edited(("zone: use1-az4\n", "zone: use1-az4\n  cidr: 172.17.0.0/16\n")))
    synthesize_here(file, tmp_path / "out", checked=False)
    tell_warnings(tmp_path / "out")
    said = capsys.readouterr().err.splitlines()  # CDK says them there, too, in its own words
    (line,) = (each for each in said if each.startswith("warning: "))
    assert line.startswith("warning: NetworkStack/Network: 172.17.0.0/16 overlaps 172.17.0.0/16, which Docker takes")
    assert line.endswith("use another block")
