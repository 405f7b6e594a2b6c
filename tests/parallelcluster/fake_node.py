"""A node of a ParallelCluster without root: a directory, and stand-ins for what would touch the machine."""

from pathlib import Path

from cdk_trainyard.lifecycle.bundle import read_bundle
from cdk_trainyard.node_scripts import scripts_folder
from tests.lifecycle_scripts.fake_node import FakeNode

STUB = Path(__file__).parent / "stub.sh"
STUBBED = [
    "apt-get", "aws", "curl", "dnf", "dpkg", "dpkg-query", "gpg", "hostname", "modprobe", "python3", "rpm",
    "sync", "timeout", "uname",
]  # fmt: skip
# The only other programs that the scripts find: a new one that changes the machine is "command not found" in the tests.
REAL = [
    "awk", "bash", "cat", "chmod", "cp", "dirname", "env", "flock", "grep", "ln", "mkdir", "mv", "rm", "sleep", "tee",
    "touch",
]  # fmt: skip
SYSTEMS = {
    "ubuntu-22.04": 'ID=ubuntu\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\n',
    "ubuntu-24.04": 'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\n',
    "amzn-2023": 'ID="amzn"\nVERSION_ID="2023"\n',
    "rhel-9": 'ID="rhel"\nVERSION_ID="9.4"\n',
}


class ClusterNode(FakeNode):
    """A node to run scripts on."""

    def called(self, *words: str) -> bool:
        return any(all(word in call for word in words) for call in self.calls)

    def read(self, path: str) -> str:
        return (self.root / path).read_text().replace(str(self.root), "")

    def package(self, name: str, version: str) -> None:
        self.write(f"state/packages/{name}", version)


def make_node(
    directory: Path, *, system: str = "ubuntu-22.04", node_type: str = "ComputeFleet", device: str | None = "0x7164"
) -> ClusterNode:
    """Make a node that has booted, and has fetched the project's own scripts."""
    node = ClusterNode(directory)
    node.fill_path(STUB, STUBBED, REAL)
    node.write("etc/os-release", SYSTEMS[system])
    node.write("etc/parallelcluster/cfnconfig", f"stack_name=train\ncfn_node_type={node_type}\n")
    node.write("dev/null", "")
    node.write("state/calls", "")
    if device is not None:
        node.write("sys/bus/pci/devices/0000:00:1e.0/vendor", "0x1d0f\n")
        node.write("sys/bus/pci/devices/0000:00:1e.0/device", f"{device}\n")
    own = scripts_folder() / "parallelcluster"
    read_bundle(("", own), ("lib", scripts_folder() / "lib")).write(node.bundle)
    return node
