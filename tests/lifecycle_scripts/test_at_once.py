"""What happens when steps, nodes and other programs are at the same thing at once, or a power cut comes then."""

import fcntl
import os
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle import NeuronEnvironment, NodeSetup
from tests.lifecycle_scripts.extras_node import give, make_full_node
from tests.lifecycle_scripts.fake_node import FakeNode, change_settings, make_node

pytestmark = pytest.mark.programs

LOCKED = "dpkg: error: dpkg frontend lock was locked by another process with pid 42"
# A step that installs a package, and needs nothing: it runs beside others of its kind.
INSTALLS = """\
source "${{BUNDLE}}/lib/packages.sh"
step {name} 'install {name}' 'the cause' ''
step_{name}_done() {{ false; }}
step_{name}_run() {{ install_packages {name}; }}
step_{name}_verify() {{ :; }}
"""
# Fails its first time with what is in state/told.
DPKG = """\
echo "dpkg $*" >>"${TRAINYARD_ROOT}/state/calls"
cd "${TRAINYARD_ROOT}/state"
[[ -e failed ]] || { touch failed; cat told >&2; exit 2; }
"""
# Does not end before two steps have asked for their turn, or a second one is here without having asked.
APT_GET = """\
cd "${TRAINYARD_ROOT}/state"
mkdir busy || { touch overlap; exit 1; }
until [[ -e overlap ]] || (($(grep -c '^flock 9' calls) >= 2)); do sleep 0.05; done
rm -r busy
"""
FLOCK = 'echo "flock $*" >>"${TRAINYARD_ROOT}/state/calls"\n'
NEURON = ("lustre", "neuron_environment")
SSH = ("lustre", "users", "home", "ssh")
HOME = "fsx/ubuntu/.ssh"
AS_USER = '[[ $4 == ssh ]] || exec "${@:4}"\n'  # what is run as a user, but log-ins
REFUSED = "Access denied by pam_slurm_adopt: you have no active jobs on this node"


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return make_node(tmp_path / "node")


def run(node: FakeNode, *steps: str, **environment: str) -> str:
    done = node.run(node.write_entry("some_steps.sh", ["network", *steps]), **environment)
    assert done.returncode == 0, done.stdout
    return done.stdout


def failing(node: FakeNode, *steps: str, **environment: str) -> str:
    done = node.run(node.write_entry("some_steps.sh", ["network", *steps]), **environment)
    assert done.returncode not in {0, -9}, done.stdout
    return done.stdout


def installing(node: FakeNode, *names: str) -> None:
    """Give a node steps that each install the package of their name."""
    for name in names:
        (node.bundle / f"steps/{name}.sh").write_text(INSTALLS.format(name=name))


# ---------------------------------------------------------------- packages
def test_a_lock_that_is_taken_again_after_it_was_seen_free_is_waited_for(node: FakeNode) -> None:
    installing(node, "one")
    node.write("state/told", f"{LOCKED}\nNote: removing the lock file is always wrong\n")
    node.program("dpkg", DPKG)
    run(node, "one", TRAINYARD_DEADLINE="600")
    assert node.calls.count("dpkg --configure -a") == 2
    assert (node.root / "state/installed.one").exists()


def test_who_holds_the_lock_is_named_and_dpkg_is_not_asked(node: FakeNode) -> None:
    installing(node, "one")
    with node.write("var/lib/dpkg/lock-frontend", "").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        told = failing(node, "one")
    assert f" (process {os.getpid()}) holds {node.root}/var/lib/dpkg/lock-frontend\n" in told
    assert "[one] waited in vain for the package manager's lock: " in told
    assert not any(call.startswith(("dpkg -", "apt-get")) for call in node.calls)


def test_a_lock_that_is_found_taken_is_told_of(node: FakeNode) -> None:
    installing(node, "one")
    node.write("state/told", f"{LOCKED}\nNote: removing the lock file is always wrong\n")
    node.program("dpkg", DPKG)
    assert f"waited in vain for the package manager's lock: {LOCKED}\n" in failing(node, "one")


def test_packages_that_cannot_be_configured_are_not_waited_for(node: FakeNode) -> None:
    installing(node, "one")
    node.write("state/told", "dpkg: error processing package docker.io (--configure)\n")
    node.program("dpkg", DPKG)
    told = failing(node, "one", TRAINYARD_DEADLINE="600")
    assert "[one] dpkg: error processing package docker.io (--configure)\n" in told
    assert "[one] ERROR: dpkg --configure -a ended with 2, see above: " in told
    assert node.calls.count("dpkg --configure -a") == 1
    assert not any(call.startswith("apt-get") for call in node.calls)


def test_steps_that_run_at_once_install_one_after_the_other(node: FakeNode) -> None:
    installing(node, "one", "two")
    flock = (node.directory / "bin/flock").readlink()
    node.program("flock", f'{FLOCK}exec {flock} "$@"')
    node.program("apt-get", APT_GET)
    run(node, "one", "two", TRAINYARD_AT_ONCE="64", TRAINYARD_DEADLINE="600")
    assert not (node.root / "state/overlap").exists()
    assert node.calls.count("flock 9") == 2


def test_the_lock_is_waited_for_as_long_as_another_installation_may_take(node: FakeNode) -> None:
    installing(node, "one")
    run(node, "one")
    (install,) = [call for call in node.calls if call.endswith(" install --no-install-recommends -- one")][1:]
    assert install.rpartition("-o DPkg::Lock::Timeout=")[2].split()[0] == "600"


# ---------------------------------------------------------------- Neuron's Python
def neuron_node(directory: Path, path: str = "/fsx/neuron-environment") -> FakeNode:
    return make_full_node(directory, setup=NodeSetup(neuron_environment=NeuronEnvironment(path=path)))


def test_an_environment_below_a_mount_is_made_after_the_mount(tmp_path: Path) -> None:
    node = neuron_node(tmp_path, "/home/neuron")
    change_settings(node, openzfs={"dns_name": "fs-9.fsx.us-west-2.amazonaws.com", "mount_path": "/home"})
    run(node, *NEURON, "openzfs")  # in the order of their names' places, where they need nothing of each other
    assert (node.root / "home/neuron/requirements.txt").exists()


@pytest.mark.parametrize(
    ("code", "words"), [(71, "flock: 10: No locks available"), (65, "flock: 10: Function not implemented")]
)
def test_a_file_system_without_locks_is_not_taken_for_a_node_that_builds(tmp_path: Path, code: int, words: str) -> None:
    node = neuron_node(tmp_path)
    flock = (node.directory / "bin/flock").readlink()
    node.program(
        "flock", f'[[ $1 != --nonblock || $2 == 8 ]] || {{ echo "{words}" >&2; exit {code}; }}\nexec {flock} "$@"'
    )
    told = failing(node, *NEURON)
    assert f"[neuron_environment] {words}\n" in told
    assert "/fsx/neuron-environment.lock cannot be locked: mount its file system so that it has flock\n" in told
    assert "waited in vain" not in told
    assert not any(call.startswith("python") for call in node.calls)


@pytest.mark.parametrize("option", ["localflock", "noflock"])
def test_a_mount_whose_locks_no_other_node_sees_is_refused(tmp_path: Path, option: str) -> None:
    node = neuron_node(tmp_path)
    mounts = "systemd-1 /fsx autofs rw 0 0\n10.1.9.9@tcp:/a1b2c3d4 {} lustre rw,noatime,{},lazystatfs 0 0\n"
    node.write("proc/mounts", mounts.format("/fsx", option))
    told = failing(node, *NEURON)
    assert f"[neuron_environment] ERROR: /fsx is mounted with {option}, so no node sees another's locks" in told
    assert not any(call.startswith("python") for call in node.calls)
    node.write("proc/mounts", mounts.format("/fsx", "flock") + mounts.format("/other", option))
    run(node, *NEURON)


def test_what_an_environment_is_made_of_is_on_the_disk_before_it_says_so(tmp_path: Path) -> None:
    node = neuron_node(tmp_path)
    node.program("sync", 'ls "${!#}" >"${TRAINYARD_ROOT}/state/synced"')
    run(node, *NEURON)
    assert (node.root / "state/synced").read_text().split() == ["bin", "wanted-ip-10-1-0-5.txt"]


# ---------------------------------------------------------------- log-in between nodes
def test_keys_are_on_the_disk_before_they_have_their_names(node: FakeNode) -> None:
    node.program("sync", f'cd "${{TRAINYARD_ROOT}}"\nls {HOME} >"state/synced.${{2##*/}}"')
    run(node, *SSH)
    assert (node.root / "state/synced.id_ed25519").read_text() == ""
    assert (node.root / "state/synced.authorized_keys").read_text() == "id_ed25519\n"


def test_a_key_without_content_is_set_aside_and_made_again(node: FakeNode) -> None:
    node.write(f"{HOME}/id_ed25519", "")
    told = run(node, *SSH)
    assert (
        "[ssh] WARNING: the key /fsx/ubuntu/.ssh/id_ed25519 was empty: it is now id_ed25519.unreadable-ip-10-1" in told
    )
    assert (node.root / HOME / "id_ed25519").read_text() == "ssh-ed25519 private of id_ed25519\n"
    assert len(list((node.root / HOME).glob("id_ed25519.unreadable-*"))) == 1
    assert "ssh-ed25519 public of id_ed25519" in (node.root / HOME / "authorized_keys").read_text()


def test_a_key_that_another_node_makes_meanwhile_stays(node: FakeNode) -> None:
    node.write(f"{HOME}/id_ed25519", "")
    move = (node.directory / "bin/mv").readlink()
    theirs = '[[ $1 != -nT || $3 != */id_ed25519 ]] || echo "ssh-ed25519 private of another" >"$3"'
    node.program("mv", f'{theirs}\nexec {move} "$@"')
    assert "WARNING" not in run(node, *SSH)
    assert (node.root / HOME / "id_ed25519").read_text() == "ssh-ed25519 private of another\n"
    assert list((node.root / HOME).glob("id_ed25519.unreadable-*")) == []


def test_a_key_of_a_person_that_cannot_be_read_is_named_and_stays(node: FakeNode) -> None:
    node.write(f"{HOME}/id_ed25519", "encrypted")
    told = failing(node, *SSH)
    assert "[ssh] ERROR: /fsx/ubuntu/.ssh/id_ed25519 is no key without a password: " in told
    assert (node.root / HOME / "id_ed25519").read_text() == "encrypted"


def test_a_node_that_lets_in_only_users_with_a_job_has_accepted_the_key(node: FakeNode) -> None:
    node.program(
        "runuser", f'{AS_USER}echo "{REFUSED}" >&2; echo "Connection closed by 10.1.0.7 port 22" >&2; exit 255'
    )
    run(node, *SSH)
    assert "[ssh] let nodes log in to nodes: nothing to do" in run(node, *SSH)


def test_any_other_refusal_is_told(node: FakeNode) -> None:
    node.program("runuser", f'{AS_USER}echo "ubuntu@10.1.0.7: Permission denied (publickey)." >&2; exit 255')
    told = failing(node, *SSH)
    assert "waited in vain for a log-in of this node to itself: ubuntu@10.1.0.7: Permission denied (publickey)." in told


def test_who_may_log_in_changes_after_nodes_could(tmp_path: Path) -> None:
    node = make_full_node(tmp_path)
    give(node, NodeSetup())
    told = run(node, "lustre", "pam_slurm_adopt", "users", "home", "ssh")
    assert told.index("[ssh] ") < told.index("[pam_slurm_adopt] ")
