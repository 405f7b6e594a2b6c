"""The program of the nodes: facts, hostfile, log events."""

import json
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fleet.fake_member import FELLOWS, SETTINGS, answer, instance
from tests.lifecycle_scripts.programs import load

NODE = load("fleet/node.py")


@pytest.mark.parametrize(
    ("kind", "slots"),
    [("p5.48xlarge", 8), ("trn1.32xlarge", 32), ("c5n.18xlarge", 36), ("unknown.large", 1)],
)
def test_a_slot_is_a_gpu_a_neuron_core_or_a_core(kind: str, slots: int) -> None:
    assert NODE.hostfile(SETTINGS, answer([instance("10.0.0.1", kind)])) == [f"10.0.0.1 slots={slots}"]


def test_the_master_is_a_host_and_no_slot() -> None:
    assert NODE.hosts(answer(FELLOWS)) == ["10.1.0.9", "10.1.0.10", "10.1.0.5"]
    assert not any("10.1.0.5" in line for line in NODE.hostfile(SETTINGS, answer(FELLOWS)))


def test_an_instance_without_an_address_is_no_member() -> None:
    gone = {"InstanceId": "i-1", "InstanceType": "p5.48xlarge"}
    assert NODE.hostfile(SETTINGS, answer([gone])) == []
    assert NODE.ssh_config(SETTINGS, answer([gone])) == ["# nobody is ready yet"]


@given(st.lists(st.ip_addresses(v=4), unique=True, max_size=20))
def test_the_hostfile_has_each_member_once_in_order(addresses: list[IPv4Address]) -> None:
    lines = NODE.hostfile(SETTINGS, answer([instance(str(one)) for one in addresses]))
    assert [line.split()[0] for line in lines] == [str(one) for one in sorted(addresses)]


@given(st.lists(st.text(max_size=200), max_size=50))
def test_events_are_what_cloudwatch_takes(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    log = tmp_path_factory.mktemp("log") / "log"
    log.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    assert all(event["message"] and event["timestamp"] > 0 for event in NODE.events(log))


def test_of_a_long_log_the_end_is_shipped(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(f"{number:06} {'x' * 200}" for number in range(20_000)))
    found = NODE.events(log)
    assert found[-1]["message"].startswith("019999")
    assert sum(len(event["message"].encode()) + 26 for event in found) < 1_048_576
    assert len(found) <= 10_000


def test_no_log_is_no_events(tmp_path: Path) -> None:
    assert NODE.events(tmp_path / "none") == []


@pytest.mark.parametrize(
    "settings",
    ["[]", "not json", json.dumps({"version": 1, "role": "king"}), json.dumps({"version": 3})],
)
def test_fails_on_settings_that_cannot_be_right(tmp_path: Path, settings: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(settings)
    assert NODE.main(["--settings", str(path), "hosts"]) == 65
