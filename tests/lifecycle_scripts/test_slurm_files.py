"""The steps that share files with HyperPod's agent or a database: what is under way there when a step looks."""

from pathlib import Path

import pytest

from tests.lifecycle_scripts.fake_node import FakeNode, change_settings, entry_of, make_node

pytestmark = pytest.mark.programs

TREE = "TopologyPlugin=topology/tree\n"
GROWS = "NodeName=ip-10-1-0-9 CPUs=1"


@pytest.fixture
def controller(tmp_path: Path) -> FakeNode:
    return make_node(tmp_path / "controller", "controller", users=None)


def run(node: FakeNode, *steps: str, **environment: str) -> str:
    """The output of a run that ends well."""
    done = node.run(entry_of(node, steps), **environment)
    assert done.returncode == 0, done.stdout
    return done.stdout


def before(node: FakeNode, name: str, text: str) -> None:
    """Run shell text before a stand-in is called; it goes on under its own name."""
    path = node.directory / "bin" / name
    kept = node.directory / "bin" / "kept" / name
    kept.parent.mkdir(exist_ok=True)
    path.rename(kept)
    node.program(name, f'{text}\nexec {kept} "$@"')


# ---------------------------------------------------------------- topology
@pytest.fixture
def with_tree(controller: FakeNode) -> FakeNode:
    """A controller that HyperPod has asked for a topology, and has written none."""
    conf = controller.root / "opt/slurm/etc/slurm.conf"
    conf.write_text(TREE + conf.read_text())
    return controller


def test_a_node_that_comes_when_the_watch_begins_is_in_the_topology(with_tree: FakeNode) -> None:
    grow = f'echo "{GROWS}" >>"${{TRAINYARD_ROOT}}/opt/slurm/etc/slurm.conf"'
    before(with_tree, "systemctl", f'[[ "$*" != "enable --now trainyard-topology.path" ]] || {grow}')
    run(with_tree, "slurm_conf", "slurm_topology")
    assert "ip-10-1-0-9" in (with_tree.root / "opt/slurm/etc/topology.conf").read_text()


def test_a_node_that_comes_after_the_look_is_left_to_the_watch(with_tree: FakeNode) -> None:
    etc = "${TRAINYARD_ROOT}/opt/slurm/etc"
    # after the look, while it is checked, HyperPod writes; the watch's program is done when the step has slept once
    grow = f'[[ "$*" != *--check* || -e {etc}/grown || ! -e {etc}/topology.conf ]] || '
    grow += f'{{ echo "{GROWS}" >>"{etc}/slurm.conf"; touch "{etc}/grown"; }}'
    before(with_tree, "python3", grow)
    with_tree.program("sleep", f'python3 {with_tree.bundle}/slurm_topology.py "{etc}"')
    run(with_tree, "slurm_conf", "slurm_topology", TRAINYARD_DEADLINE="600")
    assert "ip-10-1-0-9" in (with_tree.root / "opt/slurm/etc/topology.conf").read_text()


def test_a_slurmctld_that_runs_reads_a_topology_that_the_step_has_written(with_tree: FakeNode) -> None:
    with_tree.write("state/active.slurmctld", "")
    run(with_tree, "slurm_topology")
    assert with_tree.calls[-1] == "systemctl restart slurmctld"


# ---------------------------------------------------------------- slurm.conf
def test_what_hyperpod_adds_to_slurm_conf_while_we_do_stays(controller: FakeNode) -> None:
    conf = controller.root / "opt/slurm/etc/slurm.conf"
    without = conf.read_text().replace("Include accounting.conf\n", "")
    conf.write_text(without)
    cat = (controller.directory / "bin/cat").resolve()
    add = f'[[ ${{!#}} != *slurm.conf ]] || grep -q ip-10-1-0-9 "${{!#}}" || echo "{GROWS}" >>"${{!#}}"'
    controller.program("cat", f'{cat} "$@"\n{add}')
    run(controller, "slurm_conf")
    assert conf.read_text() == f"{without}{GROWS}\nInclude accounting.conf\n"


def test_a_slurm_conf_without_a_last_line_break_keeps_its_last_line(controller: FakeNode) -> None:
    conf = controller.root / "opt/slurm/etc/slurm.conf"
    without = conf.read_text().replace("Include accounting.conf\n", "").rstrip("\n")
    conf.write_text(without)
    run(controller, "slurm_conf")
    assert conf.read_text() == f"{without}\nInclude accounting.conf\n"


# ---------------------------------------------------------------- accounting
def test_a_database_whose_making_was_cut_off_is_made_again(controller: FakeNode, tmp_path: Path) -> None:
    steps = ("slurm_conf", "accounting")
    undisturbed = make_node(tmp_path / "undisturbed", "controller", users=None)
    for node in (controller, undisturbed):
        change_settings(node, accounting={"schema": "slurm_acct_db"})
    run(undisturbed, *steps)
    cut = [change.split()[0] for change in undisturbed.changes].index("mariadb-install-db") + 1
    assert controller.run(entry_of(controller, steps), STUB_KILL_AFTER=str(cut)).returncode == -9
    run(controller, *steps)
    data = controller.root / "var/lib/mysql"
    assert sorted(path.name for path in data.iterdir()) == ["mysql", "sys"]
    assert (data / "mysql/accounts").exists()


def test_a_database_that_was_cut_off_on_its_way_to_its_place_is_made_again(controller: FakeNode) -> None:
    change_settings(controller, accounting={"schema": "slurm_acct_db"})
    controller.write("var/lib/mysql/sys/table", "half")
    controller.write("var/lib/mysql/debian-10.11.flag", "")
    controller.write("var/lib/mysql/trainyard-new/mysql/accounts", "")
    run(controller, "slurm_conf", "accounting")
    data = controller.root / "var/lib/mysql"
    assert sorted(path.name for path in data.iterdir()) == ["debian-10.11.flag", "mysql", "sys"]
    assert list((data / "sys").iterdir()) == []
