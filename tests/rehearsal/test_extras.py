"""Metrics, log-in by job, containers, buckets and packages on real nodes.

Real here: systemd, Slurm, SSH, PAM, apt, node_exporter. Stand-ins, each written below: mount-s3, enroot, the package of
Docker, and the plugin of Pyxis (another plugin, which adds an option to srun just so).
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3

from cdk_trainyard.lifecycle import (
    Containers,
    Exporters,
    GroupRole,
    NodeGroup,
    NodeLustre,
    NodeSettings,
    NodeSetup,
    PamSlurmAdopt,
    S3Mount,
    SlurmTopology,
)
from cdk_trainyard.lifecycle.bundle import default_folders, read_bundle
from cdk_trainyard.lifecycle.settings import SETTINGS_FILE, USERS_FILE
from cdk_trainyard.rehearsal import HyperPodMachines, LifecycleConfig, Machine, ScriptRun
from cdk_trainyard.rehearsal.nodes import NodeFile
from tests.rehearsal.clusters import SYSTEM, make_cluster, wait_until_idle
from tests.rehearsal.script_cluster import (
    AT_ONCE,
    CONTROLLER,
    FIRST,
    SOURCE,
    USERS,
    shell,
    text,
    until,
    until_slurmd_answers,
)

pytestmark = pytest.mark.nodes

ENTRY = "extras.sh"
# An entry script of these steps and what they stand on: the others have tests of their own.
ONLY_EXTRAS = b"""\
#!/bin/bash
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
source "${here}/lib/steps.sh"
provision "${here}" network lustre users containers exporters s3_mounts pam_slurm_adopt slurm
"""
MOUNT_S3_STAND_IN = """\
#!/bin/bash
# Stands in for Mountpoint: binds a directory that is named like the bucket, and goes on in the background.
set -euo pipefail
printf '%s\\n' "$*" >>/var/log/mount-s3.log
[[ ${!#} == /* ]]
bucket=${*: -2:1}
[[ -d /srv/buckets/${bucket} ]] || { echo "The bucket ${bucket} does not exist" >&2; exit 1; }
mount --bind "/srv/buckets/${bucket}" "${!#}"
[[ " $* " != *' --read-only '* ]] || mount -o remount,bind,ro "${!#}"
setsid sleep infinity &
"""
ENROOT_STAND_IN = "#!/bin/sh\n# Stands in for Enroot.\necho 3.5.0\n"
STUB_PACKAGE = """\
set -eu
mkdir -p /srv/repository /root/docker/DEBIAN /root/docker/usr/bin /root/docker/lib/systemd/system
printf 'Package: docker.io\\nVersion: 1\\nArchitecture: all\\nMaintainer: nobody\\nDescription: stand-in\\n' \
  >/root/docker/DEBIAN/control
printf '#!/bin/sh\\necho stand-in\\n' >/root/docker/usr/bin/docker
cat >/root/docker/usr/bin/containerd <<'end'
#!/bin/sh
# Makes the root that its configuration names, as containerd does.
sed -n 's/^root *= *"\\(.*\\)"/\\1/p' /etc/containerd/config.toml | xargs --no-run-if-empty mkdir -p
exec sleep infinity
end
chmod 755 /root/docker/usr/bin/*
for unit in docker containerd; do
  printf '[Unit]\\nWants=containerd.service\\nAfter=containerd.service\\n[Service]\\nExecStart=/bin/sleep infinity\\n' \
    >/root/docker/lib/systemd/system/${unit}.service
  printf '[Install]\\nWantedBy=multi-user.target\\n' >>/root/docker/lib/systemd/system/${unit}.service
done
cd /root/docker/lib/systemd/system
sed -i 's,/bin/sleep infinity,/usr/bin/containerd,; /containerd.service/d' containerd.service
dpkg-deb --build --root-owner-group /root/docker /srv/repository/docker.deb >/dev/null
cd /srv/repository
size=$(stat --format=%s docker.deb)
{
  cat /root/docker/DEBIAN/control
  printf 'Filename: ./docker.deb\\nSize: %s\\nSHA256: %s\\n' "${size}" "$(sha256sum docker.deb | cut -d' ' -f1)"
} >Packages
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
"""
CGROUPS = """\
[Unit]
Description=Let Slurm make control groups, which the node mounts read-only
Before=slurmd.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'for it in freezer cpuset memory devices cpu; do mount -o remount,bind,rw /sys/fs/cgroup/$it; done'
[Install]
WantedBy=multi-user.target
"""
HOLD_LOCK = (
    "import fcntl, sys, time; lock = open('/var/lib/dpkg/lock-frontend', 'w'); fcntl.lockf(lock, fcntl.LOCK_EX); "
    "print('held', flush=True); time.sleep(3600)"
)


def setup(**fields: object) -> NodeSetup:
    stack = Stack(App(), "Stack")
    datasets, results = (s3.Bucket.from_bucket_name(stack, name, name) for name in ("datasets", "results"))
    known: dict[str, object] = {
        "containers": Containers(),
        "exporters": Exporters(efa=False),
        "s3_mounts": [
            S3Mount(bucket=datasets, path="/data/train", prefix="v2/"),
            S3Mount(bucket=results, path="/data/results", read_only=False),
        ],
        "pam_slurm_adopt": PamSlurmAdopt(),
    }
    return NodeSetup(**(known | fields))


def bundle(asked: NodeSetup) -> Mapping[str, bytes]:
    """What the construct uploads for this cluster."""
    settings = NodeSettings(
        groups=[
            NodeGroup(name="controller-group", role=GroupRole.CONTROLLER, instance_types=["ml.m5.large"]),
            NodeGroup(name="worker-group", role=GroupRole.COMPUTE, instance_types=["ml.c5.4xlarge"]),
        ],
        lustre=NodeLustre(dns_name=SYSTEM.dns_name, mount_name=SYSTEM.mount_name),
        setup=asked,
    )
    rendered = settings.render(topology=SlurmTopology.API_DRIVEN, users_file=USERS_FILE)
    files = {file.name: file.data for file in read_bundle(*default_folders()).files}
    return files | {
        ENTRY: ONLY_EXTRAS,
        SETTINGS_FILE: json.dumps(rendered).encode(),
        USERS_FILE: USERS.encode(),
    }


def furnish(machine: Machine) -> None:
    """Put the stand-ins on a node, as a machine image would have the real ones."""
    for name, script in (("mount-s3", MOUNT_S3_STAND_IN), ("enroot", ENROOT_STAND_IN)):
        machine.write(f"/usr/local/bin/{name}", NodeFile(text=script, mode=0o755))
    machine.write("/etc/enroot/enroot.conf", NodeFile(text="ENROOT_ROOTFS_WRITABLE yes\n"))
    for bucket in ("datasets", "results"):
        machine.write(f"/srv/buckets/{bucket}/object", NodeFile(text=bucket))
    machine.run("sh", "-c", "mkdir -p /usr/local/lib/slurm && cp /usr/lib/*/slurm*/auto_resume_standin.so "
                "/usr/local/lib/slurm/spank_pyxis.so")  # fmt: skip
    machine.run("sh", "-c", STUB_PACKAGE)
    machine.write("/etc/systemd/system/cgroups.service", NodeFile(text=CGROUPS))
    shell(machine, "systemctl enable --now cgroups")
    # the harder place: after what includes ours, so that HyperPod's value would count
    late = "sed -i '/^ProctrackType=/d' slurm.conf && echo ProctrackType=proctrack/linuxproc >>slurm.conf"
    shell(machine, f"cd /etc/slurm && [ ! -e slurm.conf ] || {{ {late}; }}")
    machine.write("/etc/apt/sources.list", NodeFile(text="deb [trusted=yes] file:/srv/repository ./\n"))


@pytest.fixture(scope="module")
def machines(image: Path) -> Iterator[HyperPodMachines]:
    """A controller and a worker that have everything."""
    cluster = make_cluster(1, lifecycle=LifecycleConfig(source=SOURCE, on_create=ENTRY))
    with HyperPodMachines(cluster, image=image, bundles={SOURCE: bundle(setup())}) as made:
        made.boot()
        for machine in made.by_name.values():
            furnish(machine)
        ended = made.provision()
        assert [run.code for run in ended] == [0, 0], ended[0].output + ended[1].output
        wait_until_idle(made)
        yield made


def again(machines: HyperPodMachines, name: str, asked: NodeSetup | None = None, **environment: str) -> ScriptRun:
    """Run the entry script on a node once more, with what is asked for now."""
    machine = machines.machine(name)
    folder = machines.agent.place_bundle(machine)
    if asked:
        machine.write(f"{folder}/{SETTINGS_FILE}", NodeFile(text=bundle(asked)[SETTINGS_FILE]))
    return machines.agent.run_script(machine, folder, ENTRY, environment)


def scrape(machine: Machine, address: str = "127.0.0.1") -> list[str]:
    return shell(machine, f"curl --silent http://{address}:9100/metrics").splitlines()


# ---------------------------------------------------------------- metrics
def test_every_node_serves_metrics_to_the_others(machines: HyperPodMachines) -> None:
    controller, worker = machines.machine(CONTROLLER), machines.machine(FIRST)
    told = scrape(controller, str(worker.node.address))
    assert [line for line in told if line.startswith("node_uname_info{") and f'nodename="{worker.node.host}"' in line]


def test_what_slurm_does_is_among_the_controllers_metrics(machines: HyperPodMachines) -> None:
    controller = machines.machine(CONTROLLER)
    until("slurm_up", lambda: "slurm_up 1" in scrape(controller))
    until("an idle node", lambda: 'slurm_nodes{partition="dev",state="idle"} 1' in scrape(controller))
    assert [line for line in scrape(controller) if line.startswith('slurm_cpus{partition="dev",state="total"} ')]
    machines.slurm.controller.run("sbatch", "--parsable", "--chdir=/tmp", "--wrap=sleep 3600")
    until("the job", lambda: 'slurm_jobs{partition="dev",state="running"} 1' in scrape(controller))
    machines.slurm.controller.run("scancel", "--user=root")
    wait_until_idle(machines, [machines.machine(FIRST).node])


def test_a_slurmctld_that_is_away_is_a_metric_too(machines: HyperPodMachines) -> None:
    controller = machines.machine(CONTROLLER)
    controller.run("systemctl", "stop", "slurmctld")
    until("slurm_up 0", lambda: "slurm_up 0" in scrape(controller))
    controller.run("systemctl", "start", "slurmctld")
    until("slurm_up 1", lambda: "slurm_up 1" in scrape(controller))


# ---------------------------------------------------------------- log-in by job
@pytest.fixture(scope="module")
def key(machines: HyperPodMachines) -> str:
    """A key on the controller with which everybody may log in."""
    controller, path = machines.machine(CONTROLLER), "/root/key"
    controller.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path)
    public = text(controller, f"{path}.pub")
    for user in ("ada", "bob"):
        shell(controller, f"install -d -o {user} -m 700 /fsx/{user}/.ssh && chmod 755 /fsx")
        (machines.shared(SYSTEM) / user / ".ssh" / "authorized_keys").write_text(public)
        shell(controller, f"chown {user}: /fsx/{user}/.ssh/authorized_keys; chmod 700 /fsx/{user}")
    worker = machines.machine(FIRST)
    worker.write("/root/.ssh/authorized_keys", NodeFile(text=public, mode=0o600))
    worker.run("usermod", "--append", "--groups", "sudo", "bob")
    return path


def log_in(machines: HyperPodMachines, key: str, user: str, command: str = "id --user --name") -> tuple[int, str]:
    address = machines.machine(FIRST).node.address
    done = machines.machine(CONTROLLER).run(
        "ssh", "-i", key, "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=accept-new",
        f"{user}@{address}", command, check=False,
    )  # fmt: skip
    return done.code, done.out + done.err


def assert_refused(machines: HyperPodMachines, key: str, user: str) -> None:
    code, told = log_in(machines, key, user)
    assert "Access denied by pam_slurm_adopt: you have no active jobs on this node" in told
    assert code != 0


def cancel(machines: HyperPodMachines, job: str) -> None:
    """End a job, and wait for all its steps: a log-in meanwhile is adopted, killed, and makes the end take longer."""
    machines.machine(CONTROLLER).run("scancel", job)
    wait_until_idle(machines, [machines.machine(FIRST).node])


def test_jobs_are_known_by_their_control_groups_whatever_hyperpods_file_says(machines: HyperPodMachines) -> None:
    controller, worker = machines.machine(CONTROLLER), machines.machine(FIRST)
    assert text(controller, "/etc/slurm/slurm.conf").splitlines()[-2:] == [
        "ProctrackType=proctrack/linuxproc",
        "Include accounting.conf",
    ]
    for machine in (controller, worker):
        assert "proctrack/cgroup" in shell(machine, "scontrol show config | grep ProctrackType")
    told = controller.run("srun", "sh", "-c", "cat /proc/self/cgroup")
    assert re.search(r"/job_\d+/step_0", told.out), told.out
    assert "more than once" not in told.err
    wait_until_idle(machines, [worker.node])


def test_root_and_admins_get_in_without_a_job(machines: HyperPodMachines, key: str) -> None:
    assert [log_in(machines, key, user)[0] for user in ("root", "bob")] == [0, 0]


def test_a_user_gets_in_with_a_job_on_the_node_and_not_without(machines: HyperPodMachines, key: str) -> None:
    controller = machines.machine(CONTROLLER)
    assert_refused(machines, key, "ada")
    job = controller.run(
        "runuser", "-u", "ada", "--", "sbatch", "--parsable", "--chdir=/tmp", "--wrap=sleep 3600"
    ).out.strip()
    until("the job", lambda: log_in(machines, key, "ada") == (0, "ada\n"))
    cancel(machines, job)
    assert_refused(machines, key, "ada")


def test_a_log_in_ends_with_the_job(machines: HyperPodMachines, key: str) -> None:
    controller, worker = machines.machine(CONTROLLER), machines.machine(FIRST)
    job = controller.run(
        "runuser", "-u", "ada", "--", "sbatch", "--parsable", "--chdir=/tmp", "--wrap=sleep 3600"
    ).out.strip()
    until("the job", lambda: log_in(machines, key, "ada")[0] == 0)
    log_in(machines, key, "ada", "setsid sleep 4242 >/dev/null 2>&1 &")
    assert shell(worker, "pgrep -u ada -f 'sleep 4242'")
    cancel(machines, job)
    until("the end of what it left", lambda: not shell(worker, "pgrep -u ada -f 'sleep 4242'"))
    assert_refused(machines, key, "ada")


def test_without_the_option_a_user_gets_in_again(machines: HyperPodMachines, key: str) -> None:
    worker = machines.machine(FIRST)
    written = text(worker, "/etc/pam.d/sshd")
    ended = again(machines, FIRST, setup(pam_slurm_adopt=None))
    assert ended.code == 0, ended.output
    assert "pam_slurm_adopt" not in text(worker, "/etc/pam.d/sshd")
    assert log_in(machines, key, "ada")[0] == 0
    assert again(machines, FIRST).code == 0
    assert text(worker, "/etc/pam.d/sshd") == written
    assert_refused(machines, key, "ada")


# ---------------------------------------------------------------- containers (stand-ins), buckets (stand-in)
def test_the_stand_in_of_pyxis_gives_its_option_to_srun_on_every_node(machines: HyperPodMachines) -> None:
    assert text(machines.machine(CONTROLLER), "/etc/slurm/plugstack.conf").splitlines()[-1] == (
        "required /usr/local/lib/slurm/spank_pyxis.so"
    )
    for machine in machines.by_name.values():
        assert "auto-resume" in shell(machine, "srun --help")


def test_the_stand_ins_of_docker_and_containerd_find_their_paths(machines: HyperPodMachines) -> None:
    for machine in machines.by_name.values():
        assert "DOCKER_TMPDIR=/var/lib/trainyard/docker/tmp" in shell(
            machine, "systemctl show --property=Environment docker"
        )
        assert shell(machine, "test -d /var/lib/trainyard/containerd && systemctl is-active containerd") == "active"
        assert "docker" in shell(machine, "id -nG ubuntu").split()


def test_the_stand_in_of_enroot_finds_its_paths(machines: HyperPodMachines) -> None:
    worker = machines.machine(FIRST)
    conf = text(worker, "/etc/enroot/enroot.conf")
    assert "ENROOT_CACHE_PATH /var/lib/trainyard/enroot/cache/user-$(id -u)" in conf
    assert (
        shell(worker, "runuser -u ada -- mkdir -m 700 /var/lib/trainyard/enroot/cache/user-2001 && echo made") == "made"
    )


def test_metrics_and_buckets_mounted_by_a_stand_in_of_mountpoint_come_back_after_a_power_cut(
    machines: HyperPodMachines,
) -> None:
    worker = machines.machine(FIRST)
    assert "--allow-other --read-only --prefix=v2/ datasets /data/train" in text(worker, "/var/log/mount-s3.log")
    worker.crash()
    machines.boot([worker.node])
    until("the mounts", lambda: shell(worker, "cat /data/train/object /data/results/object") == "datasetsresults")
    assert shell(worker, "touch /data/train/x || echo read-only").endswith("read-only")
    assert shell(worker, "touch /data/results/x && echo written") == "written"
    until("metrics", lambda: scrape(worker))
    until_slurmd_answers(worker)
    wait_until_idle(machines, [worker.node])


def test_a_mount_that_ended_comes_back(machines: HyperPodMachines) -> None:
    worker = machines.machine(FIRST)
    shell(worker, "umount /data/train; systemctl kill --signal=KILL trainyard-s3-data:train.service")
    until("the mount", lambda: shell(worker, "cat /data/train/object") == "datasets")
    until("its unit", lambda: shell(worker, "systemctl is-active trainyard-s3-data:train.service || true") == "active")


def test_a_second_run_restarts_nothing(machines: HyperPodMachines) -> None:
    units = "trainyard-node-exporter docker slurmd 'trainyard-s3-*'"
    asked = f"systemctl show --property=ActiveEnterTimestampMonotonic --value {units}"
    before = shell(machines.machine(FIRST), asked)
    ended = again(machines, FIRST)
    assert ended.code == 0, ended.output
    assert ended.output.count("nothing to do") >= 7
    assert shell(machines.machine(FIRST), asked) == before


# ---------------------------------------------------------------- packages: real apt, a repository of one stand-in
KERNEL = """\
set -eu
rm -rf /root/kernel && mkdir -p /root/kernel/DEBIAN /srv/kernels
for version in 1 2; do
  printf 'Package: linux-image-aws\\nVersion: %s\\nArchitecture: all\\nMaintainer: nobody\\nDescription: stand-in\\n' \
    "${version}" >/root/kernel/DEBIAN/control
  dpkg-deb --build --root-owner-group /root/kernel "/srv/kernels/${version}.deb" >/dev/null
done
dpkg --install /srv/kernels/1.deb
"""


def test_no_installation_brings_another_kernel(machines: HyperPodMachines) -> None:
    worker = machines.machine(FIRST)
    shell(worker, KERNEL)
    asked = "dpkg-query --show --showformat='${db:Status-Want} ${Version}' linux-image-aws"
    assert shell(worker, asked) == "install 1"
    shell(worker, f'systemd-run --quiet --unit=upgrades python3 -c "{HOLD_LOCK}"')
    until("the lock", lambda: "held" in shell(worker, "journalctl --unit=upgrades --output=cat"))
    folder = machines.agent.place_bundle(worker)
    entry = ONLY_EXTRAS.replace(b"network lustre", b"network kernel lustre")
    worker.write(f"{folder}/{ENTRY}", NodeFile(text=entry, mode=0o755))
    failed = machines.agent.run_script(worker, folder, ENTRY, AT_ONCE)
    assert failed.code != 0
    assert "waited in vain for the package manager's lock: python3 (process " in failed.output
    shell(worker, "systemctl stop upgrades")
    done = machines.agent.run_script(worker, folder, ENTRY)
    assert done.code == 0, done.output
    assert shell(worker, asked) == "hold 1"
    refused = worker.run("apt-get", "install", "--yes", "/srv/kernels/2.deb", check=False)
    assert (refused.code != 0, shell(worker, asked)) == (True, "hold 1"), refused.out
    shell(worker, "apt-mark unhold linux-image-aws; dpkg --purge linux-image-aws")


DOCKER = {"exporters": None, "s3_mounts": (), "containers": Containers(enroot=False, pyxis=False)}


@pytest.fixture
def without_docker(machines: HyperPodMachines) -> Machine:
    """The worker without the package, and without what apt remembers of repositories."""
    worker = machines.machine(FIRST)
    shell(worker, "apt-get purge --yes --quiet=2 docker.io; rm -rf /etc/docker /var/lib/apt/lists/*")
    worker.write("/etc/apt/sources.list", NodeFile(text="deb [trusted=yes] file:/srv/repository ./\n"))
    return worker


def test_a_package_is_installed_once(machines: HyperPodMachines, without_docker: Machine) -> None:
    ended = again(machines, FIRST, setup(**DOCKER))
    assert ended.code == 0, ended.output
    assert shell(without_docker, "docker; systemctl is-active docker") == "stand-in\nactive"
    assert (
        "[containers] configure Docker, Enroot and Pyxis: nothing to do"
        in again(machines, FIRST, setup(**DOCKER)).output
    )


def test_a_repository_without_a_known_key_is_named(machines: HyperPodMachines, without_docker: Machine) -> None:
    without_docker.write("/etc/apt/sources.list", NodeFile(text="deb file:/srv/repository ./\n"))
    ended = again(machines, FIRST, setup(**DOCKER), TRAINYARD_LOG_GRACE="0")
    assert ended.code != 0
    assert "WARNING: the package lists are not all new: E: The repository 'file:/srv/repository ./" in ended.output
    assert "waited in vain" not in ended.output  # what does not pass by itself is not waited for


def test_a_repository_that_is_down_is_waited_for_and_named(machines: HyperPodMachines, without_docker: Machine) -> None:
    without_docker.write("/etc/apt/sources.list", NodeFile(text="deb http://127.0.0.1:9/ ./\n"))
    ended = again(machines, FIRST, setup(**DOCKER), **AT_ONCE)
    assert ended.code != 0
    assert "waited in vain for the package lists: " in ended.output
    assert "Connection refused" in ended.output


def test_who_holds_the_lock_is_waited_for_and_named(machines: HyperPodMachines, without_docker: Machine) -> None:
    shell(without_docker, f'systemd-run --quiet --unit=upgrades python3 -c "{HOLD_LOCK}"')
    until("the lock", lambda: "held" in shell(without_docker, "journalctl --unit=upgrades --output=cat"))
    ended = again(machines, FIRST, setup(**DOCKER), **AT_ONCE)
    assert ended.code != 0
    process = shell(without_docker, "systemctl show --property=MainPID --value upgrades")
    told = (
        f"waited in vain for the package manager's lock: python3 (process {process}) holds /var/lib/dpkg/lock-frontend"
    )
    assert told in ended.output
    shell(without_docker, "systemctl stop upgrades")
    assert again(machines, FIRST, setup(**DOCKER)).code == 0


def test_an_installation_that_was_cut_off_is_finished(machines: HyperPodMachines, without_docker: Machine) -> None:
    shell(
        without_docker, "apt-get update --quiet=2; cd /root && apt-get download docker.io && dpkg --unpack docker*.deb"
    )
    ended = again(machines, FIRST, setup(**DOCKER))
    assert ended.code == 0, ended.output
    assert shell(without_docker, "dpkg-query --show --showformat='${db:Status-Status}' docker.io") == "installed"
