"""Nodes that are killed between a new file and the restart of who reads it: the next run makes the restart."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle import Containers, Exporters, NodeSetup, PamSlurmAdopt
from tests.lifecycle_scripts.extras_node import ENTRY, STEPS, full_setup, make_full_node, tools
from tests.lifecycle_scripts.fake_node import FakeNode, change_settings

pytestmark = pytest.mark.programs

# Stands before a stand-in, and cuts the power right before one call of it.
CUT = """\
if [[ "${{0##*/}} $*" == "${{STUB_CUT_BEFORE:-}}" ]]; then
  read -r -a stat </proc/$$/stat
  kill -KILL -- "-${{stat[5]}}" 0 # the script's group, and that of timeout
fi
exec {} "$@"
"""


def can_be_cut(node: FakeNode, path: str) -> None:
    """Let the power be cut before a call of a stand-in, not only after it."""
    program = node.directory / path
    real = node.directory / "uncut" / program.name
    real.parent.mkdir(exist_ok=True)
    real.symlink_to(program.readlink())
    program.unlink()
    program.write_text("#!/bin/bash\n" + CUT.format(real))
    program.chmod(0o755)


def other_program(node: FakeNode) -> None:
    """The image has an exporter of its own."""
    node.program("node_exporter", "")


def own_directory(name: str) -> Callable[[FakeNode], None]:
    """The image's own exporter runs, and reads files of a directory."""

    def change(node: FakeNode) -> None:
        node.write("proc/7/cmdline", f"node_exporter\0--collector.textfile.directory=/var/lib/{name}\0")
        node.environment["STUB_OWN_EXPORTER"] = "1"

    return change


def other_prefix(node: FakeNode) -> None:
    """Other data are to be mounted in the same place."""
    mounts = json.loads((node.bundle / "settings.json").read_text())["s3_mounts"]
    mounts[0]["prefix"] = "tokenized/v3/"
    change_settings(node, s3_mounts=mounts)


def active(unit: str) -> Callable[[FakeNode], None]:
    """A daemon runs already, with the files of the image."""

    def start(node: FakeNode) -> None:
        node.write(f"state/active.{unit}", "")

    return start


def s3_mount() -> NodeSetup:
    """One prefix of a bucket as a directory."""
    setup = full_setup()
    return NodeSetup(s3_mounts=setup.s3_mounts[:1], tools=setup.tools)


@dataclass(frozen=True)
class Case:
    """What makes a daemon old.

    Attributes:
        call: What has to be called for the daemon to take what is written.
        setup: What the node is to have.
        before: What the node is like before the first run.
        change: What changes after a first, whole run; with None it is the first run that is cut.
        group: The node's group.
        steps: What is run; those of the extras are not Slurm's own.
    """

    call: str
    setup: Callable[[], NodeSetup]
    before: Callable[[FakeNode], None] | None = None
    change: Callable[[FakeNode], None] | None = None
    group: str = "worker"
    steps: Sequence[str] = tuple(STEPS)


EXPORTER = Case(
    "systemctl restart -- trainyard-node-exporter.service",
    lambda: NodeSetup(exporters=Exporters(efa=False), tools=tools()),
    change=other_program,
)
METRICS_FILE = Case(
    "systemctl restart -- trainyard-efa-metrics.timer",
    lambda: NodeSetup(exporters=Exporters()),
    before=own_directory("own"),
    change=own_directory("other"),
)
MOUNT = Case("systemctl restart -- trainyard-s3-data:train.service", s3_mount, change=other_prefix)
DOCKER = Case(
    "systemctl try-restart docker",
    lambda: NodeSetup(containers=Containers(enroot=False, pyxis=False)),
    before=active("docker"),
)
PLUGIN = Case(
    "scontrol reconfigure",
    lambda: NodeSetup(containers=Containers(docker=False, enroot=False), tools=tools()),
    before=active("slurmctld"),
    group="controller",
)

CONFIGURATION = Case(
    "systemctl restart slurmctld",
    NodeSetup,
    before=active("slurmctld"),
    group="controller",
    steps=("network", "devices", "job_hooks", "slurm_conf", "slurm"),
)
EXTERN_STEP = Case(
    "systemctl try-restart slurmctld",
    lambda: NodeSetup(pam_slurm_adopt=PamSlurmAdopt(), tools=tools()),
    group="controller",
)
OPTIONS = Case("systemctl restart slurmd", NodeSetup, before=active("slurmd"), steps=("network", "slurm"))


@pytest.mark.parametrize(
    ("case", "cut"),
    [
        pytest.param(EXPORTER, "systemctl enable -- trainyard-node-exporter.service", id="exporter, reload"),
        pytest.param(EXPORTER, EXPORTER.call, id="exporter"),
        pytest.param(
            METRICS_FILE,
            "systemctl enable -- trainyard-efa-metrics.timer",
            id="metrics file, reload",
            marks=pytest.mark.slow,
        ),
        pytest.param(METRICS_FILE, METRICS_FILE.call, id="metrics file", marks=pytest.mark.slow),
        pytest.param(
            MOUNT, "systemctl enable -- trainyard-s3-data:train.service", id="mount, reload", marks=pytest.mark.slow
        ),
        pytest.param(MOUNT, MOUNT.call, id="mount", marks=pytest.mark.slow),
        pytest.param(DOCKER, DOCKER.call, id="Docker", marks=pytest.mark.slow),
        pytest.param(PLUGIN, PLUGIN.call, id="plugin"),
        pytest.param(CONFIGURATION, CONFIGURATION.call, id="configuration", marks=pytest.mark.slow),
        pytest.param(EXTERN_STEP, EXTERN_STEP.call, id="extern step", marks=pytest.mark.slow),
        pytest.param(OPTIONS, OPTIONS.call, id="options", marks=pytest.mark.slow),
    ],
)
def test_what_was_written_and_not_taken_is_taken_by_the_next_run(tmp_path: Path, case: Case, cut: str) -> None:
    node = make_full_node(tmp_path / "node", case.group, case.setup())
    can_be_cut(node, "bin/systemctl")
    can_be_cut(node, "root/opt/slurm/bin/scontrol")
    entry = node.write_entry(ENTRY, case.steps)
    if case.before:
        case.before(node)
    if case.change:
        done = node.run(entry)
        assert done.returncode == 0, done.stdout
        case.change(node)
    assert node.run(entry, STUB_CUT_BEFORE=cut).returncode == -9
    for wanted in (True, False):  # once, and never again
        calls = len(node.calls)
        done = node.run(entry)
        assert done.returncode == 0, done.stdout
        assert (case.call in node.calls[calls:]) is wanted
