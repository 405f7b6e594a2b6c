import platform
import re
import sysconfig
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import rootless
from cdk_trainyard.rehearsal.namespaces import STATE, Namespaces


def test_two_nodes_stand_on_one_host(tmp_path: Path) -> None:
    conf = rootless.configuration(tmp_path, host="laptop", user="me", port=21000)
    assert "SlurmUser=me" in conf
    assert "NodeName=n1 NodeHostname=laptop NodeAddr=127.0.0.1 Port=21001" in conf
    assert "NodeName=n2 NodeHostname=laptop NodeAddr=127.0.0.1 Port=21002" in conf
    assert f"StateSaveLocation={tmp_path}/state" in conf


def test_ports_in_a_row_are_free() -> None:
    first = rootless._free_ports(3)
    assert all(rootless._is_free(port) for port in range(first, first + 3))


PROGRAM = """
from pathlib import Path
from cdk_trainyard.rehearsal import rootless
assert rootless.missing() == [], rootless.missing()
rootless.rehearse(Path("/srv/environment/bin/python"), print)
"""


@pytest.mark.nodes
def test_a_process_that_is_killed_changes_no_bit(image: Path, torch_environment: Path) -> None:
    """As a user without root, where Slurm is: in the node image."""
    root, project = STATE / "machine" / "root", Path(__file__).parents[2]
    places = {
        torch_environment: "srv/environment",
        project: "srv/project",
        Path(sysconfig.get_path("purelib")): "srv/packages",
        Path("/dev"): "dev",
        Path("/proc"): "proc",
        Path("/sys"): "sys",
    }
    user = ["env", "--ignore-environment", "PATH=/usr/bin:/bin", "PYTHONPATH=/srv/project/constructs:/srv/packages"]
    with Namespaces() as namespaces:
        for name in ("upper", "work", "root"):
            namespaces.path(root.parent / name).mkdir(parents=True)
        layers = f"lowerdir={image},upperdir={root.parent}/upper,workdir={root.parent}/work"
        namespaces.run("mount", "-t", "overlay", "overlay", "-o", layers, str(root))
        for source, place in places.items():
            namespaces.path(root / place).mkdir(exist_ok=True)
            namespaces.run("mount", "--rbind", str(source), str(root / place))
        namespaces.path(root / "etc/hosts").write_text(f"127.0.0.1 localhost {platform.node()}\n")
        # Slurm wants an address that is not the loopback's, as every machine has one
        for words in (["link", "set", "lo", "up"], ["link", "add", "eth0", "type", "bridge"],
                      ["addr", "add", "10.1.0.1/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):  # fmt: skip
            namespaces.run("ip", *words)
        said = namespaces.run(
            "chroot", "--userspec=ubuntu", str(root), *user, "/usr/bin/python3", "-c", PROGRAM, timeout=3600
        ).out.splitlines()
    assert said[0] == "two nodes are idle"
    again = re.match(r"killed: started again at step (\d+), weights ", said[3])
    assert again, said[3]
    assert int(again[1]) >= 10  # the next snapshot may be written before the process is killed
    assert int(again[1]) % 5 == 0
    assert said[3].endswith(said[1].removeprefix("undisturbed: "))
