"""A fake node that is to have everything that can be asked for, and has nothing of it."""

import io
import json
import tarfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3

from cdk_trainyard.lifecycle import (
    Containers,
    Exporters,
    MetricsAgent,
    NeuronEnvironment,
    NodeSetup,
    NodeTool,
    PamSlurmAdopt,
    S3Mount,
    SlurmTopology,
    ToolFile,
)
from cdk_trainyard.lifecycle.settings import SETTINGS_FILE, USERS_FILE
from tests.lifecycle_scripts.fake_node import SETTINGS, STUB, FakeNode, make_node, python

EXTRAS = ["containers", "neuron_environment", "exporters", "metrics_agent", "s3_mounts", "pam_slurm_adopt"]
ENTRY = "extras.sh"
# The steps of the entry script: these, and what they stand on. The others have tests of their own.
STEPS = ["network", "lustre", *EXTRAS]
SLURM_CONF = "SlurmctldHost=ip-10-1-0-5(10.1.0.5)\nProctrackType=proctrack/cgroup\n"
SSHD = """\
@include common-auth
account    required     pam_nologin.so
# account  required     pam_access.so
@include common-account
session    required     pam_loginuid.so
@include common-session
@include common-password
"""
SESSION = "session required pam_unix.so\nsession\toptional\tpam_systemd.so\n"
# Stands in for the program that asks PAM: it reads sshd's stack, and does not ask the machine that the tests run on.
PAM_ACCOUNT = """\
import os, sys
from pathlib import Path
stack = Path(os.environ["TRAINYARD_ROOT"], "etc/pam.d/sshd").read_text()
sys.exit(sys.argv[2] != "root" and "pam_slurm_adopt.so" in stack)
"""
# Stands in for python3 where it makes an environment, and for the interpreter of that environment.
#   STUB_NO_INDEX=1         no package index answers
#   STUB_INDEX_AWAITS=FILE  it answers when there is this file
#   STUB_DEATH_AT_INDEX=1   the power is cut while packages are installed
PYTHON3 = """\
set -euo pipefail
if [[ $1 == -m && $2 == venv ]]; then
  folder=${!#}
  rm -rf "${folder}" && mkdir -p "${folder}/bin"
  ln -s "$0" "${folder}/bin/python"
  exit
fi
if [[ $0 == */bin/python ]]; then
  printf 'python%s\\n' "${*:+ $*}" >>"${TRAINYARD_ROOT}/state/calls"
  if [[ $2 == pip && -n ${STUB_DEATH_AT_INDEX:-} ]]; then
    read -r -a stat </proc/$$/stat
    kill -KILL -- "-${stat[5]}" 0 # the script's group, and that of timeout
  fi
  until [[ $2 != pip || -z ${STUB_INDEX_AWAITS:-} || -e ${STUB_INDEX_AWAITS} ]]; do sleep 0.1; done
  [[ -z ${STUB_NO_INDEX:-} || $2 != pip ]] || { echo 'ERROR: no matching distribution' >&2; exit 1; }
  exit
fi
if [[ $2 == 'import ensurepip, venv' ]]; then
  [[ -e ${TRAINYARD_ROOT}/state/installed.python3-venv ]]
  exit
fi
"""


def archive(name: str) -> bytes:
    """A compressed archive with one program in it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = 3, 0o755
        tar.addfile(entry, io.BytesIO(b"bin"))
    return packed.getvalue()


WEB = {
    NodeTool.NODE_EXPORTER: ("node_exporter.tar.gz", archive("node_exporter-1/node_exporter")),
    NodeTool.VMAGENT: ("vmutils.tar.gz", archive("vmagent-prod")),
    NodeTool.MOUNTPOINT: ("mount-s3.tar.gz", archive("bin/mount-s3")),
    NodeTool.ENROOT: ("enroot.deb", b"enroot"),
    NodeTool.ENROOT_CAPS: ("enroot_caps.deb", b"caps"),
    NodeTool.PYXIS: ("pyxis.tar.gz", archive("pyxis-1/Makefile")),
}


def tools() -> list[ToolFile]:
    """Files of all tools, on a server of ours."""
    return [
        ToolFile(
            tool=tool, url=f"https://files.example/{name}", sha256=sha256(data).hexdigest(), architecture=architecture
        )
        for tool, (name, data) in WEB.items()
        for architecture in ("x86_64", "arm64")
    ]


AGENT = MetricsAgent(
    url="https://aps.example/workspaces/ws-1/api/v1/remote_write", region="us-west-2", cluster="llama2"
)


def full_setup() -> NodeSetup:
    """Everything that can be asked for."""
    stack = Stack(App(), "Stack")
    buckets = [s3.Bucket.from_bucket_name(stack, name, name) for name in ("datasets", "results")]
    return NodeSetup(
        containers=Containers(),
        neuron_environment=NeuronEnvironment(),
        exporters=Exporters(neuron=True),
        metrics_agent=AGENT,
        s3_mounts=[
            S3Mount(bucket=buckets[0], path="/data/train", prefix="tokenized/v2/"),
            S3Mount(bucket=buckets[1], path="/data/results", read_only=False),
        ],
        pam_slurm_adopt=PamSlurmAdopt(),
        tools=tools(),
    )


def give(node: FakeNode, setup: NodeSetup) -> None:
    """Write the settings of a setup into a node's bundle."""
    settings = replace(SETTINGS, setup=setup)
    rendered = settings.render(topology=SlurmTopology.API_DRIVEN, users_file=USERS_FILE)
    for kinds in rendered["tools"].values() if isinstance(rendered.get("tools"), dict) else ():
        assert isinstance(kinds, dict)
        kinds.setdefault("arm64", kinds["x86_64"])  # whatever processor the tests run on
    (node.bundle / SETTINGS_FILE).write_text(json.dumps(rendered))


def make_full_node(directory: Path, group: str = "worker", setup: NodeSetup | None = None) -> FakeNode:
    """Make a node that has booted and is to have everything, or what ``setup`` says."""
    node = make_node(directory, group)
    node.program("python3", PYTHON3 + python())
    node.program("true", "")
    for path in ("opt/slurm/bin/srun", "usr/sbin/sshd"):
        (node.root / path).parent.mkdir(parents=True, exist_ok=True)
        (node.root / path).symlink_to(STUB)
    for name, data in WEB.values():
        target = node.write(f"state/web/{name}", "")
        target.write_bytes(data)
    node.write("etc/pam.d/sshd", SSHD)
    node.write("etc/pam.d/common-session", SESSION)
    node.write("lib/security/pam_slurm_adopt.so", "")
    node.write("etc/group", "root:x:0:\nubuntu:x:1000:\nsudo:x:27:ubuntu\n")
    node.write("opt/slurm/etc/slurm.conf", SLURM_CONF)
    node.write("opt/slurm/etc/plugstack.conf", "include plugstack.conf.d/*.conf\n")
    node.write("opt/slurm/etc/plugstack.conf.d/auto.conf", "optional /opt/slurm/lib/slurm/spank_auto_resume.so\n")
    node.write("state/mounted.nvme", "")
    (node.bundle / "pam_account.py").write_text(PAM_ACCOUNT)
    node.write_entry(ENTRY, STEPS)
    give(node, setup or full_setup())
    return node
