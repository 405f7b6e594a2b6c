"""What nodes can have beside mounts, users and Slurm: set up once, found again, and right after any interruption."""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from cdk_trainyard.lifecycle import Containers, Exporters, NeuronEnvironment, NodeSetup, NodeTool, PamSlurmAdopt
from cdk_trainyard.versions import pinned_packages
from tests.lifecycle_scripts.extras_node import (
    AGENT,
    ENTRY,
    EXTRAS,
    SESSION,
    SLURM_CONF,
    SSHD,
    full_setup,
    give,
    make_full_node,
    tools,
)
from tests.lifecycle_scripts.fake_node import FakeNode, astray, change_settings, make_node
from tests.monitoring import promtool

pytestmark = pytest.mark.programs

UNITS = "etc/systemd/system"
ONLY_CONTAINERS = NodeSetup(containers=Containers(), tools=tools())
ONLY_PAM = NodeSetup(pam_slurm_adopt=PamSlurmAdopt())
ONLY_NEURON = NodeSetup(neuron_environment=NeuronEnvironment())
EVERYTHING = pytest.param(None, marks=pytest.mark.slow, id="everything")
CONTAIN = """\
# trainyard: only users with a job on this node: begin
PrologFlags={}
# trainyard: only users with a job on this node: end
"""
INCLUDE = "Include accounting.conf\n"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FakeNode]:
    """A node of each role that has everything."""
    nodes = {}
    for group in ("controller", "login", "worker"):
        nodes[group] = make_full_node(tmp_path_factory.mktemp(group) / "node", group)
        done = nodes[group].run(ENTRY)
        assert done.returncode == 0, done.stdout
    return nodes


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    """A worker that is to have everything."""
    return make_full_node(tmp_path / "node")


def text(node: FakeNode, path: str) -> str:
    return (node.root / path).read_text()


def failure(node: FakeNode, **environment: str) -> str:
    done = node.run(ENTRY, **environment)
    assert done.returncode not in {0, -9}, done.stdout
    return done.stdout


# ---------------------------------------------------------------- all of them
@pytest.mark.slow
def test_nothing_is_fetched_installed_or_served_unless_it_is_asked_for(tmp_path: Path) -> None:
    node = make_node(tmp_path, "worker")
    assert node.run("on_create.sh").returncode == 0
    programs = {call.split()[0] for call in node.calls}
    assert programs.isdisjoint({"apt-get", "aws", "curl", "dpkg", "make", "python"})
    assert [step for step in EXTRAS if f"[{step}] " in node.log and "nothing to do" not in line_of(node, step)] == []


def line_of(node: FakeNode, step: str) -> str:
    return next(line for line in node.log.splitlines() if f"[{step}] " in line)


@pytest.mark.parametrize("group", ["controller", "login", "worker"])
def test_a_second_run_changes_nothing(undisturbed: dict[str, FakeNode], group: str) -> None:
    node = undisturbed[group]
    changes, state = node.changes, node.snapshot()
    done = node.run(ENTRY)
    assert (done.returncode, node.changes) == (0, changes)
    assert node.snapshot() == state
    assert [step for step in EXTRAS if f"[{step}] " in done.stdout and not is_skipped(done.stdout, step)] == []


def is_skipped(told: str, step: str) -> bool:
    return any(f"[{step}] " in line and line.endswith(": nothing to do") for line in told.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("group", ["controller", "worker"])
def test_a_node_that_was_killed_anywhere_converges(tmp_path: Path, group: str) -> None:
    assert astray(make_full_node(tmp_path, group), ENTRY, at_least=2 * len(EXTRAS) + 1) == []


# ---------------------------------------------------------------- containers
def test_images_and_containers_lie_on_the_instance_store(undisturbed: dict[str, FakeNode]) -> None:
    node = undisturbed["worker"]
    assert '"data-root": "/opt/dlami/nvme/docker"' in text(node, "etc/docker/daemon.json")
    assert text(node, "etc/enroot/enroot.conf").splitlines() == [
        "#ENROOT_LIBRARY_PATH /usr/lib/enroot",
        "ENROOT_TEMP_PATH /opt/dlami/nvme/enroot/temporary",
        "ENROOT_ROOTFS_WRITABLE yes",
        "ENROOT_CACHE_PATH /opt/dlami/nvme/enroot/cache/user-$(id -u)",
        "ENROOT_DATA_PATH /opt/dlami/nvme/enroot/data/user-$(id -u)",
        "ENROOT_RUNTIME_PATH /opt/dlami/nvme/enroot/runtime/user-$(id -u)",
    ]
    for folder in ("runtime", "cache", "data", "temporary"):
        assert (node.root / "opt/dlami/nvme/enroot" / folder).stat().st_mode & 0o7777 == 0o1777
    assert text(node, f"{UNITS}/docker.service.d/trainyard.conf").splitlines() == [
        "[Unit]",
        "After=dlami-nvme.service",
        "[Service]",
        "Environment=DOCKER_TMPDIR=/opt/dlami/nvme/docker/tmp",
    ]
    assert text(node, f"{UNITS}/containerd.service.d/trainyard.conf") == "[Unit]\nAfter=dlami-nvme.service\n"
    assert text(node, "etc/containerd/config.toml") == 'version = 2\nroot = "/opt/dlami/nvme/containerd"\n'
    assert "docker:x:110:ubuntu\n" in text(node, "etc/group")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            'disabled_plugins = ["cri"]\n\n#root = "/x"\n[grpc]\n  root = "/y"\n',
            'disabled_plugins = ["cri"]\n\n#root = "/x"\nroot = "{}"\n[grpc]\n  root = "/y"\n',
            id="as docker-ce has it",
        ),
        pytest.param(
            "version = 3\nroot = '/mnt'\n[plugins]\n",
            "version = 3\nroot = '/mnt'\n[plugins]\n",
            id="somebody's",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "root = '/var/lib/containerd' # default\n\n[debug]\n[grpc]\n",
            'root = "{}"\n\n[debug]\n[grpc]\n',
            id="the default, written out",
            marks=pytest.mark.slow,
        ),
        pytest.param("version = 2\n", 'version = 2\nroot = "{}"\n', id="no table", marks=pytest.mark.slow),
    ],
)
def test_images_leave_the_root_disk_whatever_containerd_was_told_before(
    node: FakeNode, before: str, after: str
) -> None:
    give(node, NodeSetup(containers=Containers(enroot=False, pyxis=False)))
    node.write("etc/containerd/config.toml", before)
    node.write("state/active.containerd", "")
    node.write("state/active.docker", "")
    for _ in range(2):
        assert node.run(ENTRY).returncode == 0
        assert text(node, "etc/containerd/config.toml") == after.format("/opt/dlami/nvme/containerd")
    restarts = [call for call in node.calls if "restart" in call]
    assert restarts == ["systemctl restart containerd", "systemctl try-restart docker"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mounted", "disk"), [("sagemaker", "/opt/sagemaker"), ("", "/var/lib/trainyard")], ids=["second volume", "none"]
)
def test_without_instance_store_the_next_best_disk_is_taken(node: FakeNode, mounted: str, disk: str) -> None:
    give(node, ONLY_CONTAINERS)
    (node.root / "state/mounted.nvme").unlink()
    if mounted:
        node.write(f"state/mounted.{mounted}", "")
    assert node.run(ENTRY).returncode == 0
    assert f'"data-root": "{disk}/docker"' in text(node, "etc/docker/daemon.json")
    assert f'root = "{disk}/containerd"' in text(node, "etc/containerd/config.toml")
    assert f"{disk}/enroot/cache/" in text(node, "etc/enroot/enroot.conf")


@pytest.mark.slow
def test_what_docker_was_told_before_stays(node: FakeNode) -> None:
    docker_only(node)
    node.write("etc/docker/daemon.json", '{"data-root": "/mnt", "runtimes": {"nvidia": {}}}')
    assert node.run(ENTRY).returncode == 0
    told = text(node, "etc/docker/daemon.json")
    assert '"data-root": "/mnt"' in told
    assert '"nvidia"' in told


def test_pyxis_is_in_the_controllers_file_once_without_includes(undisturbed: dict[str, FakeNode]) -> None:
    assert text(undisturbed["controller"], "opt/slurm/etc/plugstack.conf").splitlines() == [
        "optional /opt/slurm/lib/slurm/spank_auto_resume.so",
        "required /usr/local/lib/slurm/spank_pyxis.so",
    ]
    assert "include" in text(undisturbed["worker"], "opt/slurm/etc/plugstack.conf")


@pytest.mark.slow
def test_a_plugin_that_the_image_registered_is_not_registered_again(tmp_path: Path) -> None:
    node = make_full_node(tmp_path, "controller", ONLY_CONTAINERS)
    node.write("opt/slurm/lib/slurm/spank_pyxis.so", "")
    ready = "required /opt/slurm/lib/slurm/spank_pyxis.so container_scope=job\n"
    node.write("opt/slurm/etc/plugstack.conf.d/pyxis.conf", ready)
    assert node.run(ENTRY).returncode == 0
    told = text(node, "opt/slurm/etc/plugstack.conf")
    assert told.endswith(ready)
    assert told.count("pyxis") == 1
    assert not any(call.startswith("make") for call in node.calls)


@pytest.mark.parametrize("setup", [pytest.param(ONLY_CONTAINERS, id="containers"), EVERYTHING])
def test_a_slurmctld_that_runs_is_told_of_the_plugin(tmp_path: Path, setup: NodeSetup | None) -> None:
    node = make_full_node(tmp_path, "controller", setup)
    node.write("state/active.slurmctld", "")
    assert node.run(ENTRY).returncode == 0
    assert "scontrol reconfigure" in node.calls


@pytest.fixture(scope="module")
def two_nodes(undisturbed: dict[str, FakeNode], tmp_path_factory: pytest.TempPathFactory) -> tuple[FakeNode, FakeNode]:
    """A worker that has everything, and one that was set up after it and shares its file system."""
    first, second = undisturbed["worker"], make_full_node(tmp_path_factory.mktemp("second") / "node")
    (second.root / "fsx").symlink_to(first.root / "fsx")
    assert second.run(ENTRY).returncode == 0
    return first, second


@pytest.mark.slow
def test_pyxis_is_built_by_the_first_node_and_copied_by_the_others(two_nodes: tuple[FakeNode, FakeNode]) -> None:
    first, second = two_nodes
    assert any(call.startswith("make") for call in first.calls)
    assert not any(call.startswith("make") for call in second.calls)
    assert text(second, "usr/local/lib/slurm/spank_pyxis.so") == "plugin\n"


def test_what_the_image_lacks_and_nobody_gives_is_named(node: FakeNode) -> None:
    give(node, NodeSetup(containers=Containers(docker=False)))
    told = failure(node)
    assert "ERROR: this image has no Enroot: give a file of it among the tools, or use HyperPod's own image" in told


# ---------------------------------------------------------------- Neuron's Python
@pytest.mark.slow
def test_the_environment_is_made_once_for_all_nodes(two_nodes: tuple[FakeNode, FakeNode]) -> None:
    first, second = two_nodes
    installs = [call for node in (first, second) for call in node.calls if call.startswith("python -m pip install")]
    assert len(installs) == 1
    made = (first.root / "fsx/neuron-environment").readlink()
    requirements = text(first, f"fsx/{made}/requirements.txt").splitlines()
    assert requirements[0] == "--extra-index-url https://pip.repos.neuron.amazonaws.com"
    assert requirements[1:] == list(pinned_packages("hyperpod"))


def test_packages_for_another_python_fail_before_anything_is_made_and_both_are_named(node: FakeNode) -> None:
    asked = {"path": "/fsx/neuron-environment", "packages": ["a==1", "b==2"], "pythons": ["3.98", "3.99"]}
    change_settings(node, neuron_environment=asked)
    told = failure(node)
    here = "{}.{}".format(*sys.version_info)
    assert f"ERROR: this node has Python {here}, and a==1 b==2 are for Python 3.98, 3.99: give packages for" in told
    assert list((node.root / "fsx").glob("neuron-environment*")) == []


@pytest.mark.parametrize(("driver", "warned"), [("2.9.1.0", True), ("2.25.4.0", False), ("2.30.2.0", False)])
def test_a_driver_older_than_the_one_of_the_packages_is_said(node: FakeNode, driver: str, warned: bool) -> None:
    """Numbers, not text; and a later driver runs what an older compiler made."""
    give(node, ONLY_NEURON)
    node.program("dpkg-query", f"[[ ${{!#}} == aws-neuronx-dkms ]] && printf '{driver}'")
    ran = node.run(ENTRY)
    assert ran.returncode == 0, ran.stdout
    said = f"WARNING: this node has Neuron driver {driver}, and {' '.join(pinned_packages('hyperpod'))} were released"
    assert (said in ran.stdout) is warned


@pytest.mark.slow
def test_a_node_waits_for_the_one_that_builds_and_says_which_it_is(tmp_path: Path) -> None:
    first, second = (make_full_node(tmp_path / name, setup=ONLY_NEURON) for name in ("first", "second"))
    (first.root / "fsx").mkdir()
    (second.root / "fsx").symlink_to(first.root / "fsx")
    with ThreadPoolExecutor(1) as pool:
        building = pool.submit(first.run, ENTRY, STUB_INDEX_AWAITS=str(tmp_path / "go"))
        while not (building.done() or any(call.startswith("python -m pip") for call in first.calls)):
            time.sleep(0.05)
        told = failure(second)
        (tmp_path / "go").touch()
        assert f"waited in vain for the node that builds it: ip-10-1-0-5 has the lock {second.root}/fsx/neuron-" in told
        late = second.run(ENTRY, TRAINYARD_DEADLINE="600")
        assert building.result().returncode == 0
    assert late.returncode == 0, late.stdout
    assert not any(call.startswith("python -m pip") for call in second.calls)


@pytest.mark.slow
def test_the_lock_of_a_node_that_died_is_free(tmp_path: Path) -> None:
    first, second = (make_full_node(tmp_path / name, setup=ONLY_NEURON) for name in ("first", "second"))
    (first.root / "fsx").mkdir()
    (second.root / "fsx").symlink_to(first.root / "fsx")
    assert first.run(ENTRY, STUB_DEATH_AT_INDEX="1").returncode == -9
    assert (first.root / "fsx/neuron-environment.lock").read_text() == "ip-10-1-0-5\n"
    assert second.run(ENTRY).returncode == 0
    assert any(call.startswith("python -m pip") for call in second.calls)


@pytest.mark.slow
def test_other_versions_are_made_beside_and_the_link_changes(node: FakeNode) -> None:
    give(node, ONLY_NEURON)
    assert node.run(ENTRY).returncode == 0
    before = (node.root / "fsx/neuron-environment").readlink()
    index = "https://mirror.example/simple"
    change_settings(
        node, neuron_environment={"path": "/fsx/neuron-environment", "packages": ["a==1", "b==2"], "index": index}
    )
    assert node.run(ENTRY).returncode == 0
    after = (node.root / "fsx/neuron-environment").readlink()
    assert (node.root / "fsx" / before / "requirements.txt").exists()  # jobs that run have it open
    assert text(node, f"fsx/{after}/requirements.txt") == f"--index-url {index}\na==1\nb==2\n"


@pytest.mark.slow
def test_an_index_that_does_not_answer_fails_and_leaves_nothing_that_looks_whole(node: FakeNode) -> None:
    give(node, NodeSetup(neuron_environment=NeuronEnvironment()))
    told = failure(node, STUB_NO_INDEX="1")
    assert "ERROR: no matching distribution" in told
    assert "[neuron_environment] likely cause: no way to the Python package indexes" in told
    assert not (node.root / "fsx/neuron-environment").exists()
    assert list((node.root / "fsx").glob("neuron-environment-*/requirements.txt")) == []
    assert node.run(ENTRY).returncode == 0


def test_a_directory_of_somebody_else_is_not_replaced(node: FakeNode) -> None:
    give(node, NodeSetup(neuron_environment=NeuronEnvironment()))
    node.write("fsx/neuron-environment/precious", "")
    assert "/fsx/neuron-environment is a directory of somebody else's: give another path" in failure(node)
    assert (node.root / "fsx/neuron-environment/precious").exists()


# ---------------------------------------------------------------- exporters
def test_every_role_has_the_metrics_that_it_can_have(undisturbed: dict[str, FakeNode]) -> None:
    units = {
        group: {path.name for path in (node.root / UNITS).glob("*-metrics.timer")}
        for group, node in undisturbed.items()
    }
    assert units == {
        "controller": {"trainyard-slurm-metrics.timer", "trainyard-lustre-metrics.timer"},
        "login": {"trainyard-lustre-metrics.timer"},
        "worker": {"trainyard-efa-metrics.timer", "trainyard-lustre-metrics.timer"},
    }
    neuron = {
        group
        for group, node in undisturbed.items()
        if (node.root / UNITS / "trainyard-neuron-exporter.service").exists()
    }
    assert neuron == {"worker"}
    worker = undisturbed["worker"]
    assert "neuron-monitor | /usr/bin/python3 -ISB /opt/trainyard/exporters/neuron_metrics.py --port 8000'" in text(
        worker, f"{UNITS}/trainyard-neuron-exporter.service"
    )
    assert (worker.root / "opt/trainyard/exporters/neuron_metrics.py").exists()


def test_the_controller_alone_has_the_agent_of_the_metrics(undisturbed: dict[str, FakeNode]) -> None:
    unit, configuration = f"{UNITS}/trainyard-metrics-agent.service", "opt/trainyard/metrics-agent/scrape.yml"
    assert [group for group, node in undisturbed.items() if (node.root / unit).exists()] == ["controller"]
    node = undisturbed["controller"]
    assert "ExecStart=/opt/trainyard/metrics-agent/vmagent-prod -promscrape.config=/opt/" in text(node, unit)
    assert f" -remoteWrite.url={AGENT.url} " in text(node, unit)
    assert (node.root / "opt/trainyard/metrics-agent/vmagent-prod").read_text() == "bin"
    written = yaml.safe_load(text(node, configuration))
    assert written["global"]["external_labels"] == {"cluster": "llama2"}
    nodes = written["scrape_configs"][1]
    assert nodes["honor_labels"] is True
    (targets,) = nodes["file_sd_configs"][0]["files"]
    collector = text(node, f"{UNITS}/trainyard-slurm-metrics.service")
    assert f" --targets {targets} --ports node=9100,neuron=8000 --output " in collector


def test_an_agent_that_is_there_is_not_fetched(tmp_path: Path) -> None:
    node = make_full_node(tmp_path / "node", "controller", NodeSetup(exporters=Exporters(), metrics_agent=AGENT))
    own = node.root / "opt/trainyard/metrics-agent/vmagent-prod"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    own.chmod(0o755)
    node.write("state/active.trainyard-node-exporter", "")
    node.program("node_exporter", "")
    node.run(ENTRY)
    assert "ExecStart=/opt/trainyard/metrics-agent/vmagent-prod" in text(
        node, f"{UNITS}/trainyard-metrics-agent.service"
    )
    assert own.read_text() == "mine"
    assert not any("vmutils.tar.gz" in call for call in node.calls)


@pytest.mark.parametrize(
    ("complaint", "cause"),
    [
        ('cannot get instanceRoleName: Put "http://169.254.169.254/latest/api/token": connection refused',
         "the instance metadata service gives the agent no credentials of the node's role: "),
        ("unexpected status code received after sending a block of 9 bytes to 1:secret-url during retry #1: 403; x",
         "the node's role may not write to it (aps:RemoteWrite), or an endpoint's policy forbids it: "),
        ("couldn't send a block with size 9 bytes to 1:secret-url: dial tcp4: i/o timeout",
         "the workspace is away, or this node has no way to it (NAT, endpoint aps-workspaces): "),
        ("", "the agent says nothing of why, see journalctl --unit=trainyard-metrics-agent"),
    ],
    ids=["credentials", "permission", "way", "silence"],
)  # fmt: skip
def test_a_workspace_that_takes_nothing_is_told_with_the_cause_and_fails_no_node(
    tmp_path: Path, complaint: str, cause: str
) -> None:
    node = make_full_node(tmp_path / "node", "controller", NodeSetup(metrics_agent=AGENT, tools=tools()))
    line = f"2026-11-28T09:00:00.000Z\twarn\tclient.go:409\t{complaint}\n" if complaint else "2026\tinfo\tstarted\n"
    node.write("state/journal", line)
    done = node.run(ENTRY, STUB_WRITTEN="0", TRAINYARD_DEADLINE="1")
    assert done.returncode == 0, done.stdout
    told = f"[metrics_agent] WARNING: no sample has come to the workspace: {cause}{line.strip() if complaint else ''}"
    assert told in done.stdout


def test_vmagent_takes_the_configuration_of_the_agent(undisturbed: dict[str, FakeNode]) -> None:
    path = undisturbed["controller"].root / "opt/trainyard/metrics-agent/scrape.yml"
    checked = promtool.run("vmagent", "-dryRun", f"-promscrape.config={path}")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_images_own_exporter_is_left_alone_and_its_directory_used(node: FakeNode) -> None:
    give(node, NodeSetup(exporters=Exporters()))
    node.write("proc/7/cmdline", "node_exporter\0--collector.textfile.directory=/var/lib/own\0")
    assert node.run(ENTRY, STUB_OWN_EXPORTER="1").returncode == 0
    assert not (node.root / UNITS / "trainyard-node-exporter.service").exists()
    assert (node.root / "var/lib/own/efa.prom").exists()


def test_a_monitor_of_neuron_that_the_image_runs_is_left_alone_and_one_of_ours_is_renewed(node: FakeNode) -> None:
    give(node, NodeSetup(exporters=Exporters(efa=False, neuron=True), tools=tools()))
    unit = node.root / UNITS / "trainyard-neuron-exporter.service"
    assert node.run(ENTRY, STUB_OWN_MONITOR="1").returncode == 0
    assert not unit.exists()
    node.write(f"{UNITS}/trainyard-neuron-exporter.service", "ExecStart=neuron-monitor-prometheus.py")
    node.write("state/active.trainyard-neuron-exporter", "")
    assert node.run(ENTRY).returncode == 0
    assert "neuron_metrics.py" in unit.read_text()


def test_an_exporter_that_the_image_has_and_does_not_run_is_started(node: FakeNode) -> None:
    give(node, NodeSetup(exporters=Exporters(port=9200, efa=False)))
    program = node.program("prometheus-node-exporter", "")
    failure(node)  # the stand-in serves 9100 only
    unit = text(node, f"{UNITS}/trainyard-node-exporter.service")
    assert f"ExecStart={program} --web.listen-address=:9200 " in unit
    assert not any(call.startswith("curl --fail") for call in node.calls)


def test_metrics_that_are_not_served_fail_the_step(node: FakeNode) -> None:
    give(node, NodeSetup(exporters=Exporters(efa=False, neuron=True, neuron_port=8001), tools=tools()))
    told = failure(node)
    assert "[exporters] waited in vain for metrics of neuron" in told


@pytest.mark.slow
@pytest.mark.parametrize("program", [True, False], ids=["the image's program", "a container"])
def test_gpus_are_watched_by_the_images_program_or_by_a_pinned_container(node: FakeNode, *, program: bool) -> None:
    image = "mirror.example/dcgm-exporter@sha256:" + "0" * 64
    give(node, NodeSetup(exporters=Exporters(gpu=True, gpu_image=image), tools=tools()))
    settings = json.loads((node.bundle / "settings.json").read_text())
    settings["groups"]["worker"]["instance_types"]["ml.trn1.32xlarge"]["gpus"] = 8
    change_settings(node, groups=settings["groups"])
    if program:
        (node.directory / "bin/dcgm-exporter").symlink_to(node.directory / "bin/true")
    assert node.run(ENTRY).returncode == 0
    unit = text(node, f"{UNITS}/trainyard-gpu-exporter.service")
    assert unit.splitlines()[4].endswith(" --address :9400")
    assert (image in unit) is not program


# ---------------------------------------------------------------- buckets
def test_each_mount_has_a_unit_read_only_unless_asked(undisturbed: dict[str, FakeNode]) -> None:
    node = undisturbed["worker"]
    program = "/opt/trainyard/mountpoint/bin/mount-s3 --allow-other"
    unit = text(node, f"{UNITS}/trainyard-s3-data:train.service")
    assert f"ExecStart={program} --read-only --prefix=tokenized/v2/ datasets /data/train\n" in unit
    unit = text(node, f"{UNITS}/trainyard-s3-data:results.service")
    assert f"ExecStart={program} results /data/results\n" in unit
    assert "systemctl enable -- trainyard-s3-data:train.service" in node.calls


def test_mountpoint_of_the_image_is_used(node: FakeNode) -> None:
    setup = full_setup()
    give(node, NodeSetup(s3_mounts=setup.s3_mounts, tools=setup.tools))
    program = node.program("mount-s3", "")
    assert node.run(ENTRY).returncode == 0
    assert f"ExecStart={program} " in text(node, f"{UNITS}/trainyard-s3-data:train.service")
    assert not any(call.startswith(("curl", "apt-get")) for call in node.calls)


def test_a_file_that_is_not_the_pinned_one_is_refused(node: FakeNode) -> None:
    setup = full_setup()
    give(node, NodeSetup(s3_mounts=setup.s3_mounts, tools=setup.tools))
    node.write("state/web/mount-s3.tar.gz", "something else")
    told = failure(node)
    assert "ERROR: https://files.example/mount-s3.tar.gz is not the file that was pinned: its SHA-256 must be" in told
    assert not (node.root / "opt/trainyard/mountpoint").exists()
    assert list((node.root / "opt/trainyard").glob("*.part")) == []


def test_a_tool_in_a_bucket_is_fetched_with_the_nodes_role(node: FakeNode) -> None:
    setup = full_setup()
    [mountpoint] = [file for file in setup.tools if file.tool is NodeTool.MOUNTPOINT and file.architecture == "x86_64"]
    own = replace(mountpoint, url=None, bucket=setup.s3_mounts[0].bucket, key="tools/a b~ü?*/mount-s3=")
    give(node, NodeSetup(s3_mounts=setup.s3_mounts, tools=[own, replace(own, architecture="arm64")]))
    file = node.write("state/web/mount-s3=", "")
    file.write_bytes((file.parent / "mount-s3.tar.gz").read_bytes())
    assert node.run(ENTRY).returncode == 0
    copied = "aws s3 cp --only-show-errors -- s3://datasets/tools/a b~ü?*/mount-s3= "
    assert any(call.startswith(copied) for call in node.calls)


# ---------------------------------------------------------------- log-in by job
def test_the_module_is_last_and_admins_are_before_it(undisturbed: dict[str, FakeNode]) -> None:
    stack = text(undisturbed["worker"], "etc/pam.d/sshd").splitlines()
    assert [line for line in stack if line not in SSHD.splitlines()] == [
        "# trainyard: only users with a job on this node: begin",
        "account sufficient pam_succeed_if.so quiet user ingroup sudo",
        "account required pam_slurm_adopt.so action_generic_failure=deny",
        "# trainyard: only users with a job on this node: end",
        "@include trainyard-session",
    ]
    module = stack.index("account required pam_slurm_adopt.so action_generic_failure=deny")
    assert not [line for line in stack[module + 1 :] if line.startswith(("account", "@include common-account"))]
    assert text(undisturbed["worker"], "etc/pam.d/trainyard-session") == SESSION.splitlines()[0] + "\n"


def test_only_compute_nodes_refuse_and_the_controller_gives_jobs_a_container(undisturbed: dict[str, FakeNode]) -> None:
    for group in ("controller", "login"):
        assert text(undisturbed[group], "etc/pam.d/sshd") == SSHD
    controller = undisturbed["controller"]
    assert text(controller, "opt/slurm/etc/slurm.conf") == SLURM_CONF + INCLUDE
    assert text(controller, "opt/slurm/etc/accounting.conf") == CONTAIN.format("Contain")
    assert text(controller, "opt/slurm/etc/cgroup.conf") == "CgroupPlugin=autodetect\n"


@pytest.mark.slow
def test_hyperpods_file_stays_when_it_includes_another(tmp_path: Path) -> None:
    node = make_full_node(tmp_path, "controller", ONLY_PAM)
    conf = SLURM_CONF + "PrologFlags=X11\n" + INCLUDE
    node.write("opt/slurm/etc/slurm.conf", conf)
    node.write("opt/slurm/etc/accounting.conf", "# somebody's\n")
    assert node.run(ENTRY).returncode == 0
    assert text(node, "opt/slurm/etc/slurm.conf") == conf
    assert text(node, "opt/slurm/etc/accounting.conf") == "# somebody's\n" + CONTAIN.format("X11,Contain")
    give(node, NodeSetup())
    assert node.run(ENTRY).returncode == 0
    assert text(node, "opt/slurm/etc/accounting.conf") == "# somebody's\n"


@pytest.mark.parametrize("setup", [pytest.param(ONLY_PAM, id="log-in"), EVERYTHING])
def test_a_flag_that_is_there_is_not_set_again(tmp_path: Path, setup: NodeSetup | None) -> None:
    node = make_full_node(tmp_path, "controller", setup)
    node.write("opt/slurm/etc/slurm.conf", SLURM_CONF + "PrologFlags = Alloc,Contain\n")
    assert node.run(ENTRY).returncode == 0
    assert text(node, "opt/slurm/etc/slurm.conf") == SLURM_CONF + "PrologFlags = Alloc,Contain\n"


@pytest.mark.parametrize(
    ("conf", "more"),
    [
        pytest.param("ProctrackType=proctrack/pgid\nInclude accounting.conf\n", "", id="another, included after it"),
        pytest.param("Include accounting.conf\n  proctracktype = proctrack/pgid # old\n", INCLUDE, id="before it"),
        pytest.param("Include accounting.conf\nPrologFlags=X11", "\n" + INCLUDE, id="flags, and no end of the line"),
    ],
)
def test_control_groups_end_log_ins_whatever_hyperpods_file_says_and_where(
    tmp_path: Path, conf: str, more: str
) -> None:
    node = make_full_node(tmp_path, "controller", ONLY_PAM)
    node.write("opt/slurm/etc/slurm.conf", conf)
    node.write("opt/slurm/etc/cgroup.conf", "ConstrainDevices=yes\nCgroupPlugin = disabled\n")
    for _ in range(2):
        assert node.run(ENTRY).returncode == 0
        assert text(node, "opt/slurm/etc/slurm.conf") == conf + more
        flags = "X11,Contain" if "X11" in conf else "Contain"
        assert text(node, "opt/slurm/etc/accounting.conf") == CONTAIN.format(f"{flags}\nProctrackType=proctrack/cgroup")
        assert text(node, "opt/slurm/etc/cgroup.conf") == "ConstrainDevices=yes\nCgroupPlugin=autodetect\n"
    assert node.calls.count("systemctl try-restart slurmctld") == 1


def test_a_slurmd_that_runs_takes_what_the_controller_has_set_before_log_ins_are_judged(node: FakeNode) -> None:
    give(node, ONLY_PAM)
    node.write("state/active.slurmd", "")
    node.write("opt/slurm/etc/slurm.conf", "PrologFlags = Alloc\nProctrackType = proctrack/cgroup\n")
    node.write("state/active.slurmctld", "")  # what the stand-in of scontrol answers with
    assert "waited in vain for PrologFlags=Contain and ProctrackType=proctrack/cgroup on the controller" in failure(
        node
    )
    assert text(node, "etc/pam.d/sshd") == SSHD
    node.write("opt/slurm/etc/slurm.conf", "PrologFlags = Alloc,Contain\nProctrackType = proctrack/cgroup\n")
    for restarts in (1, 1):
        assert node.run(ENTRY).returncode == 0
        assert node.calls.count("systemctl restart slurmd") == restarts


@pytest.mark.slow
def test_without_the_option_everything_is_as_it_was(node: FakeNode) -> None:
    assert node.run(ENTRY).returncode == 0
    give(node, NodeSetup())
    done = node.run(ENTRY)
    assert done.returncode == 0
    assert text(node, "etc/pam.d/sshd") == SSHD
    assert not (node.root / "etc/pam.d/trainyard-session").exists()


@pytest.mark.slow
def test_other_admins_take_the_place_of_the_first(node: FakeNode) -> None:
    give(node, ONLY_PAM)
    assert node.run(ENTRY).returncode == 0
    change_settings(node, pam_slurm_adopt={"admin_groups": ["ubuntu", "sudo"]})
    assert node.run(ENTRY).returncode == 0
    assert [line.split()[-1] for line in text(node, "etc/pam.d/sshd").splitlines() if "ingroup" in line] == [
        "ubuntu",
        "sudo",
    ]


def test_a_judgement_that_would_lock_out_root_is_undone(node: FakeNode) -> None:
    give(node, NodeSetup(pam_slurm_adopt=PamSlurmAdopt()))
    (node.bundle / "pam_account.py").write_text("import sys\nsys.exit(1)\n")
    told = failure(node)
    assert (
        "ERROR: what PAM says of root or of a user without a job is wrong: /etc/pam.d/sshd is as it was before" in told
    )
    assert text(node, "etc/pam.d/sshd") == SSHD


def test_a_group_that_does_not_exist_changes_nothing(node: FakeNode) -> None:
    give(node, NodeSetup(pam_slurm_adopt=PamSlurmAdopt(admin_groups=["wheel"])))
    assert "ERROR: there is no group wheel: name it in the file of users, or leave it out" in failure(node)
    assert text(node, "etc/pam.d/sshd") == SSHD


def test_an_image_without_the_module_changes_nothing(node: FakeNode) -> None:
    give(node, NodeSetup(pam_slurm_adopt=PamSlurmAdopt()))
    (node.root / "lib/security/pam_slurm_adopt.so").unlink()
    assert "ERROR: this image has no pam_slurm_adopt.so of its Slurm" in failure(node)
    assert text(node, "etc/pam.d/sshd") == SSHD


# ---------------------------------------------------------------- packages
def docker_only(node: FakeNode) -> None:
    give(node, NodeSetup(containers=Containers(enroot=False, pyxis=False)))


def test_a_repository_that_is_not_signed_is_told_at_once_and_stops_nobody_else(node: FakeNode) -> None:
    docker_only(node)
    done = node.run(ENTRY, STUB_REPOSITORY="unsigned", TRAINYARD_DEADLINE="600")
    assert done.returncode == 0
    told = (
        "[containers] WARNING: the package lists are not all new: E: The repository 'http://x stable InRelease' is not"
    )
    assert told in done.stdout


def test_a_repository_that_is_down_is_waited_for(node: FakeNode) -> None:
    docker_only(node)
    told = failure(node, STUB_REPOSITORY="down")
    assert "[containers] waited in vain for the package lists: E: Failed to fetch http://x/InRelease" in told
    assert not any(" install " in call for call in node.calls)


def test_packages_are_asked_no_questions(undisturbed: dict[str, FakeNode]) -> None:
    installs = [call for call in undisturbed["worker"].calls if call.startswith("apt-get") and " install " in call]
    assert installs
    assert [call for call in installs if "--yes" not in call or "DPkg::Lock::Timeout=120" not in call] == []
