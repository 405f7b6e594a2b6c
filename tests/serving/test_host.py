"""The real user data of a host, run without root: stand-ins for every program that would touch the machine."""

import ast
import bz2
import io
import os
import subprocess
import tarfile
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.serving.catalogue import Server, engine_image
from cdk_trainyard.serving.host_script import HostSettings, render
from cdk_trainyard.serving.model_layout import layout
from tests.serving import model_folder
from tests.serving.parts import model

pytestmark = pytest.mark.programs

DATA = Path(__file__).parent / "data"
USER_DATA_BYTES = 16384
"""What EC2 takes (EC2 user guide, "Work with instance user data")."""
SETTINGS = HostSettings(
    cluster_name="serving",
    bucket_name="some-models",
    folder="models/llama/3f9a0c51d7e2/",
    layout=layout(model(presharded=True), engine_image(None, Server.TGI)),
    region="us-west-2",
    devices=1,
    image=engine_image(None, Server.TGI),
)
STUBS = {
    "systemctl": 'echo "systemctl $*" >>"${TRAINYARD_ROOT}/calls"',
    "mountpoint": '[[ -e "${TRAINYARD_ROOT}/state/mounted" ]]',
    "mount": 'echo "mount $*" >>"${TRAINYARD_ROOT}/calls"\n'
    '[[ ! -e "${TRAINYARD_ROOT}/state/refused" ]] || { echo "AccessDenied: s3:ListBucket" >&2; exit 1; }\n'
    'rmdir "${@: -1}" && ln -s "${TRAINYARD_ROOT}/bucket" "${@: -1}" && touch "${TRAINYARD_ROOT}/state/mounted"',
    "umount": '[[ -L ${@: -1} ]] && rm "${@: -1}"',
    "mount-s3": 'echo "mount-s3 1.21.0"',
    "hostname": "echo host",
    "sync": ":",
}


@dataclass
class Host:
    """A host in a folder.

    Attributes:
        root: Its root.
        settings: What it serves.
    """

    root: Path
    settings: HostSettings = SETTINGS
    stubs: dict[str, str] = field(default_factory=lambda: dict(STUBS))

    def prepare(self, *, driver: str = "2.28.0", devices: int = 1, weights: bool = True) -> None:
        for name in ("bin", "state", "bucket", "dev", "sys/module/neuron", "run", "etc/ecs", "opt/aws/neuron/bin"):
            (self.root / name).mkdir(parents=True)
        (self.root / "etc/ecs/ecs.config").write_text("ECS_ENABLE_INF_SUPPORT=true\nECS_CLUSTER=default\n")
        (self.root / "etc/fstab").write_text("UUID=1 / xfs defaults 0 1\n")
        (self.root / "sys/module/neuron/version").write_text(f"{driver}\n")
        self.program("opt/aws/neuron/bin/neuron-ls", "echo '[]'")
        for number in range(devices):
            (self.root / f"dev/neuron{number}").touch()
        if weights:
            model_folder.write(self.root / "bucket")
        for name, text in self.stubs.items():
            self.program(f"bin/{name}", text)

    def program(self, name: str, text: str) -> None:
        (self.root / name).write_text(f"#!/bin/bash\n{text}\n")
        (self.root / name).chmod(0o755)

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env={
                "PATH": f"{self.root}/bin:/usr/bin:/bin",
                "TRAINYARD_ROOT": str(self.root),
                "TRAINYARD_DEADLINE": "0",
                "TRAINYARD_LOG_GRACE": "0",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )

    def user_data(self) -> subprocess.CompletedProcess[str]:
        """What cloud-init does once."""
        text = render(self.settings)
        assert text.count("ROOT=/\n") == 1
        (self.root / "user-data").write_text(text.replace("ROOT=/\n", f"ROOT={self.root}\n"))
        return self.run(["bash", str(self.root / "user-data")])

    def boot(self) -> subprocess.CompletedProcess[str]:
        """What systemd does at every boot."""
        return self.run([str(self.root / "opt/trainyard/boot.sh")])

    def reboot(self) -> subprocess.CompletedProcess[str]:
        (self.root / "state/mounted").unlink(missing_ok=True)
        (self.root / "run/trainyard-weights-read").unlink(missing_ok=True)
        return self.boot()

    def text(self, name: str) -> str:
        return (self.root / name).read_text()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host that nothing was done to."""
    return Host(tmp_path / "root")


@pytest.fixture
def ready(host: Host) -> Host:
    """A host whose user data has run."""
    host.prepare()
    assert host.user_data().returncode == 0
    return host


def readable(user_data: str) -> str:
    """Return user data with what is packed in it unpacked: every file of this room, with its mode."""
    before, _, rest = user_data.partition("<<'TRAINYARD_END_OF_FILE'\n")
    packed, _, after = rest.partition("TRAINYARD_END_OF_FILE\n")
    shown = []
    with tarfile.open(fileobj=io.BytesIO(bz2.decompress(b64decode(packed)))) as tar:
        for entry in tar:
            assert (entry.mtime, entry.uid, entry.gid, entry.uname) == (0, 0, 0, ""), "the same bytes on every machine"
            content = tar.extractfile(entry)
            assert content is not None
            text = "" if entry.name.endswith("lib/steps.sh") else content.read().decode()  # it is every node's
            shown.append(f"==== {entry.mode:o} {entry.name}\n{text}")
    return "".join([before, "\n", *shown, "====\n", after])


def test_the_user_data_is_what_was_reviewed() -> None:
    kept = DATA / "user_data.txt"
    rendered = readable(render(SETTINGS))
    if os.environ.get("TRAINYARD_REWRITE"):
        kept.write_text(rendered)
    assert rendered == kept.read_text(), "look at the difference, then run the test with TRAINYARD_REWRITE=1"


def test_the_user_data_leaves_room_for_what_cdk_adds() -> None:
    assert len(render(SETTINGS).encode()) < USER_DATA_BYTES - 1024


def test_the_agent_is_gated_before_anything_else_happens(ready: Host) -> None:
    assert ready.text("calls").splitlines() == [
        "systemctl daemon-reload",
        "systemctl enable trainyard-host.service",
        "systemctl start trainyard-host.service",
    ]
    assert "Requires=trainyard-host.service" in ready.text("etc/systemd/system/ecs.service.d/10-trainyard.conf")
    unit = ready.text("etc/systemd/system/trainyard-host.service")
    assert "Before=ecs.service" in unit
    assert "Restart=on-failure" in unit
    # at the first boot the unit is started by cloud-init's last stage, and would wait for itself
    assert "cloud-final" not in unit


def test_a_host_that_is_fit_mounts_read_only_before_the_agent(ready: Host) -> None:
    done = ready.boot()
    assert done.returncode == 0, done.stdout
    assert ready.text("etc/fstab").splitlines() == [
        "UUID=1 / xfs defaults 0 1",
        (
            "s3://some-models/models/llama/3f9a0c51d7e2/ /mnt/trainyard/model mount-s3 "
            "_netdev,nosuid,nodev,nofail,ro,allow-other,region=us-west-2,cache=/var/cache/trainyard/model,"
            "metadata-ttl=60,negative-metadata-ttl=10 0 0"
        ),
    ]
    assert (ready.root / "run/trainyard-weights-read").exists()
    assert (ready.root / "var/cache/trainyard/model").stat().st_mode & 0o777 == 0o700
    assert "Neuron driver 2.28.0" in done.stdout


def test_the_agents_options_take_the_place_of_the_images(ready: Host) -> None:
    ready.boot()
    assert ready.text("etc/ecs/ecs.config").splitlines() == [
        "ECS_ENABLE_INF_SUPPORT=true",
        "ECS_AWSVPC_BLOCK_IMDS=true",
        "ECS_CLUSTER=serving",
        "ECS_CONTAINER_START_TIMEOUT=10m",
        "ECS_CONTAINER_STOP_TIMEOUT=120s",
        "ECS_ENABLE_SPOT_INSTANCE_DRAINING=true",
        "ECS_IMAGE_PULL_BEHAVIOR=prefer-cached",
    ]


def test_what_cdk_appends_to_the_agents_options_does_not_matter(ready: Host) -> None:
    with (ready.root / "etc/ecs/ecs.config").open("a") as config:
        config.write("ECS_CLUSTER=serving\n")
    ready.boot()
    assert ready.text("etc/ecs/ecs.config").count("ECS_CLUSTER=serving") == 1


def test_run_twice_changes_nothing(ready: Host) -> None:
    ready.boot()
    before = {name: ready.text(name) for name in ("etc/fstab", "etc/ecs/ecs.config")}
    mounts = ready.text("calls").count("mount ")
    assert ready.boot().returncode == 0
    assert {name: ready.text(name) for name in before} == before
    assert ready.text("calls").count("mount ") == mounts


def test_a_reboot_mounts_and_reads_again(ready: Host) -> None:
    ready.boot()
    mounts = ready.text("calls").count("mount ")
    assert ready.reboot().returncode == 0
    assert ready.text("calls").count("mount ") == mounts + 1
    assert ready.text("etc/fstab").count("mount-s3") == 1


def test_a_mount_whose_program_died_is_taken_away_and_made_again(ready: Host) -> None:
    ready.boot()
    path = ready.root / "mnt/trainyard/model"
    path.rename(ready.root / "gone")
    path.symlink_to(ready.root / "nowhere")  # as the dead mount: it is there, and nothing can be asked or made of it
    (ready.root / "state/mounted").unlink()
    done = ready.boot()
    assert done.returncode == 0, done.stdout
    assert (path / "model.pt").exists()


def prepared(**changes: object) -> Callable[[Host], None]:
    return lambda host: host.prepare(**changes)


def refused(host: Host) -> None:
    host.prepare()
    (host.root / "state/refused").touch()


def broken(host: Host) -> None:
    host.prepare()
    host.program("opt/aws/neuron/bin/neuron-ls", "exit 1")


@pytest.mark.parametrize(
    ("prepare", "step", "reason"),
    [
        (refused, "weights", "AccessDenied: s3:ListBucket"),
        (prepared(weights=False), "weights", "there is no trainyard-manifest.json, without which nobody knows"),
        (prepared(driver="2.29.14"), "devices", "driver 2.29.14 is not older than 2.29"),
        (prepared(driver="2.31.0"), "devices", "the engine's runtime library is too old for it"),
        (prepared(devices=0), "devices", "waited in vain for 1 Neuron devices"),
        (broken, "devices", "neuron-ls cannot talk to the devices"),
    ],
)  # fmt: skip
def test_fails_with_the_reason_in_the_log(prepare: Callable[[Host], None], step: str, reason: str, host: Host) -> None:
    prepare(host)
    host.user_data()
    done = host.boot()
    assert done.returncode != 0
    log = host.text("var/log/provision/provisioning.log")
    assert reason in log
    assert f"FAILED in step '{step}'" in log
    assert "likely cause" in log


def test_what_failed_goes_on_when_the_cause_is_gone(host: Host) -> None:
    refused(host)
    host.user_data()
    assert host.boot().returncode != 0
    (host.root / "state/refused").unlink()
    assert host.boot().returncode == 0


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({**model_folder.COMPILED}, "there is no trainyard-manifest.json"),
        (
            {"config.json": "{}", model_folder.MANIFEST: model_folder.manifest(model_folder.COMPILED)},
            "6 of 7 files are not there, neuron_config.json among them",
        ),
        (
            {
                **model_folder.COMPILED,
                "model.pt": "gr",
                model_folder.MANIFEST: model_folder.manifest(model_folder.COMPILED),
            },
            "model.pt has not the 6 bytes of the manifest",
        ),
    ],
    ids=["before its manifest", "after its manifest", "with a file that was cut off"],
)
def test_a_host_that_boots_during_an_upload_waits_for_its_end(there: dict[str, str], said: str, host: Host) -> None:
    host.prepare(weights=False)
    for name, text in there.items():
        (host.root / "bucket" / name).parent.mkdir(parents=True, exist_ok=True)
        (host.root / "bucket" / name).write_text(text)
    host.user_data()
    done = host.boot()
    assert done.returncode != 0
    assert said in done.stdout
    assert "s3://some-models/models/llama/3f9a0c51d7e2/ cannot be served" in done.stdout
    assert not (host.root / "run/trainyard-weights-read").exists()
    model_folder.write(host.root / "bucket")
    assert host.boot().returncode == 0  # as systemd tries it again


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (model_folder.contents(neuron_config__json=None), "there is no neuron_config.json"),
        (
            model_folder.contents(**{"checkpoint/weights/tp1_sharded_checkpoint__safetensors": None}),
            "there is no checkpoint/weights/tp1_sharded_checkpoint.safetensors",
        ),
        (model_folder.contents(tokenizer__json=None), "there is no tokenizer.[jm]*"),
        (
            model_folder.contents(neuron_config__json=model_folder.neuron_config(batch_size=8)),
            "batch_size of neuron_config.json is 8, and the service asks for 4",
        ),
    ],
    ids=["plain weights", "a piece is missing", "no tokenizer", "compiled for another batch"],
)
def test_a_whole_folder_that_the_engine_cannot_serve_is_refused(files: dict[str, str], said: str, host: Host) -> None:
    host.prepare(weights=False)
    model_folder.write(host.root / "bucket", files)
    host.user_data()
    done = host.boot()
    assert done.returncode != 0
    assert said in done.stdout


def test_bytes_that_changed_in_the_bucket_are_found(host: Host) -> None:
    host.prepare()
    piece = host.root / "bucket/checkpoint/weights/tp0_sharded_checkpoint.safetensors"
    piece.write_text(f"x{piece.read_text()[1:]}")
    host.user_data()
    assert f"{piece.name} has not the SHA-256 of the manifest" in host.boot().stdout


def test_the_check_runs_on_the_systems_python_of_the_hosts() -> None:
    """Amazon Linux 2023 has Python 3.9 as its system's ("Python in AL2023", AL2023 user guide)."""
    ast.parse((scripts_folder() / "ecs" / "model_files.py").read_text(), feature_version=(3, 9))


def test_a_newer_runtime_library_needs_a_newer_driver(tmp_path: Path) -> None:
    newer = replace(SETTINGS, image=engine_image("neuron-vllm-0.16.0", Server.NEURON_VLLM))
    host = Host(tmp_path / "root", newer)
    host.prepare(driver="2.26.10")
    host.user_data()
    assert "driver 2.26.10 is older than 2.27" in host.boot().stdout


def test_mountpoint_is_installed_where_it_is_not(host: Host) -> None:
    del host.stubs["mount-s3"]
    host.prepare()
    installs = 'printf "#!/bin/bash\\n" >"${TRAINYARD_ROOT}/bin/mount-s3"; chmod +x "${TRAINYARD_ROOT}/bin/mount-s3"'
    host.program("bin/dnf", f'echo "dnf $*" >>"${{TRAINYARD_ROOT}}/calls"\n{installs}')
    host.user_data()
    assert host.boot().returncode == 0
    assert "dnf -q -y install mount-s3" in host.text("calls")


def test_user_data_that_fails_stops_before_what_cdk_appends(host: Host) -> None:
    host.stubs["systemctl"] = "[[ $1 != start ]] || exit 1"
    host.prepare()
    assert host.user_data().returncode != 0
