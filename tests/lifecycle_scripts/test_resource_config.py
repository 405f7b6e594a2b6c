"""What a node learns about itself from HyperPod's file and the cluster's settings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.lifecycle import SlurmTopology
from tests.lifecycle_scripts.fake_node import SETTINGS, resource_config
from tests.lifecycle_scripts.programs import load

Change = Callable[[dict[str, Any], dict[str, Any]], object]


MODULE = load("hyperpod/resource_config.py")


@pytest.fixture
def settings() -> dict[str, Any]:
    return dict(SETTINGS.render(topology=SlurmTopology.API_DRIVEN, users_file=None))


def test_a_worker_knows_everything_that_the_steps_ask(settings: dict[str, Any]) -> None:
    assert MODULE.facts(resource_config(), settings, "10.1.0.8") == {
        "shared": "/fsx",
        "lustre": "yes",
        "ssh": "yes",
        "hostfile": "yes",
        "job_hooks": "yes",
        "motd": "yes",
        "logs": "yes",
        "logs_days": 14,
        "logs_size_mb": 200,
        "cluster": "llama",
        "topology": "api",
        "group": "worker",
        "role": "compute",
        "instance": "worker-2",
        "instance_type": "ml.trn1.32xlarge",
        "address": "10.1.0.8",
        "controllers": "10.1.0.5",
        "lustre_dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        "lustre_mount_name": "a1b2c3d4",
        "lustre_mount_path": "/fsx",
        "home": "/fsx/ubuntu",
        "efa_interfaces": 8,
        "neuron_devices": 16,
        "gpus": 0,
    }


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (True, {"x": "yes"}),
        (False, {"x": ""}),
        (None, {"x": None}),
        (7, {"x": 7}),
        (["a", "b"], {"x": "a b"}),
        ({"y": True, "z": {"w": "t"}}, {"x": "yes", "x_y": "yes", "x_z": "yes", "x_z_w": "t"}),
        ([{"y": 1}, {"y": 2}], {"x": 2, "x_0": "yes", "x_0_y": 1, "x_1": "yes", "x_1_y": 2}),
    ],
)
def test_settings_are_flat_for_the_shell(value: Any, found: dict[str, Any]) -> None:
    assert MODULE.flat("x", value) == found


def test_a_setting_of_two_lines_is_refused() -> None:
    with pytest.raises(MODULE.WrongError, match="must hold single lines, got several in 'x_y'"):
        MODULE.flat("x", {"y": "a\nb=c"})


def test_the_shared_file_system_is_lustre_else_openzfs() -> None:
    both = {"lustre": {"mount_path": "/fsx"}, "openzfs": {"mount_path": "/home"}}
    assert [MODULE.shared(both), MODULE.shared({"openzfs": both["openzfs"]}), MODULE.shared({})] == [
        "/fsx",
        "/home",
        "",
    ]


def test_hosts_that_run_jobs_are_named_as_hyperpod_names_them(settings: dict[str, Any]) -> None:
    assert MODULE.hosts(resource_config(), settings) == ["ip-10-1-0-7", "ip-10-1-0-8"]


def test_the_name_in_the_settings_comes_before_hyperpods(settings: dict[str, Any]) -> None:
    assert MODULE.facts(resource_config(), settings | {"cluster_name": "mine"}, "10.1.0.8")["cluster"] == "mine"


def test_several_controllers_are_all_named(settings: dict[str, Any]) -> None:
    config = resource_config()
    config["InstanceGroups"][0]["Instances"].append({"CustomerIpAddress": "10.1.0.4"})
    assert MODULE.facts(config, settings, "10.1.0.8")["controllers"] == "10.1.0.5,10.1.0.4"


def test_a_controller_that_only_the_agent_knows_is_found(settings: dict[str, Any]) -> None:
    config = resource_config()
    config["InstanceGroups"][0]["Instances"] = None
    config["ClusterConfig"]["SlurmConfig"] = {"PrimaryControllerIp": "10.1.0.99", "SecondaryControllerIps": None}
    assert MODULE.facts(config, settings, "10.1.0.8")["controllers"] == "10.1.0.99"


def test_a_type_of_several_is_counted_by_its_own(settings: dict[str, Any]) -> None:
    settings["groups"]["worker"]["instance_types"]["ml.trn1n.32xlarge"] = {"efa_interfaces": 16}
    config = resource_config()
    config["InstanceGroups"][-1]["InstanceType"] = "ml.trn1n.32xlarge"
    assert MODULE.facts(config, settings, "10.1.0.8")["efa_interfaces"] == 16
    config["InstanceGroups"][-1]["InstanceType"] = "ml.p5.48xlarge"
    assert MODULE.facts(config, settings, "10.1.0.8")["efa_interfaces"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda config, _: config.clear(),
            "this node (10.1.0.8) is not in resource_config.json, which lists no node at all",
        ),
        (
            lambda config, _: config["InstanceGroups"].pop(),
            "this node (10.1.0.8) is not in resource_config.json, which lists 10.1.0.5, 10.1.0.6",
        ),
        (lambda config, _: config["InstanceGroups"].pop(0), "resource_config.json lists no controller yet"),
    ],
)
def test_what_may_come_is_waited_for(settings: dict[str, Any], change: Change, message: str) -> None:
    config = resource_config()
    change(config, settings)
    with pytest.raises(MODULE.NotYetError) as told:
        MODULE.facts(config, settings, "10.1.0.8")
    assert str(told.value) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _, settings: settings.update(version=2), "settings.json must have version 1, got 2"),
        (lambda _, settings: settings.clear(), "settings.json must have version 1, got None"),
        (
            lambda _, settings: settings["groups"].pop("worker"),
            "settings.json must name the instance group 'worker', got controller, login",
        ),
        (
            lambda _, settings: settings["groups"]["worker"].update(role="worker"),
            "the role of the instance group 'worker' must be one of ('controller', 'login', 'compute'), got 'worker'",
        ),
    ],
)
def test_what_will_never_be_right_is_said_at_once(settings: dict[str, Any], change: Change, message: str) -> None:
    config = resource_config()
    change(config, settings)
    with pytest.raises(MODULE.WrongError) as told:
        MODULE.facts(config, settings, "10.1.0.8")
    assert str(told.value) == message


def test_a_thousand_nodes_do_not_fill_the_message(settings: dict[str, Any]) -> None:
    config = {"InstanceGroups": [{"Name": "w", "Instances": [{"CustomerIpAddress": f"10.1.{n}.1"} for n in range(99)]}]}
    with pytest.raises(MODULE.NotYetError, match=r"10\.1\.15\.1 \.\.\.$"):
        MODULE.facts(config, settings, "10.1.0.8")


def call(tmp_path: Path, config: str | None, settings: str | None) -> int:
    arguments = ["--address", "10.1.0.8"]
    for name, content in (("config", config), ("settings", settings)):
        path = tmp_path / f"{name}.json"
        arguments += [f"--{name}", str(path)]
        if content is not None:
            path.write_text(content)
    return int(MODULE.main(arguments))


def test_the_program_prints_facts(tmp_path: Path, settings: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(tmp_path, json.dumps(resource_config()), json.dumps(settings)) == 0
    printed = capsys.readouterr().out.splitlines()
    assert {"role=compute", "instance=worker-2"} <= set(printed)
    assert {"lustre=yes", "lustre_mount_path=/fsx", "ssh=yes", "logs_days=14", "shared=/fsx"} <= set(printed)
    assert not any(line.startswith("users_file") for line in printed)


@pytest.mark.parametrize(
    ("config", "settings_text", "code", "message"),
    [
        (None, "{}", 75, "config.json does not exist"),
        ('{"InstanceGroups": [{"Name": "wor', "{}", 75, "config.json is not JSON"),
        ("", "{}", 75, "config.json is not JSON"),
        ("[]", "{}", 65, "config.json must hold a JSON object, got list"),
        ("{}", None, 75, "settings.json does not exist"),
        ("{}", "{", 65, "settings.json is not JSON"),
    ],
)
def test_exit_codes_tell_waiting_from_never(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    config: str | None,
    settings_text: str | None,
    code: int,
    message: str,
) -> None:
    monkeypatch.setattr(MODULE.time, "sleep", lambda _: None)
    assert call(tmp_path, config, settings_text) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--hosts"]])
def test_a_file_that_the_agent_is_writing_is_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: dict[str, Any], more: list[str]
) -> None:
    config, known = tmp_path / "config.json", tmp_path / "settings.json"
    whole = json.dumps(resource_config())
    config.write_text(whole[:99])
    known.write_text(json.dumps(settings))
    monkeypatch.setattr(MODULE.time, "sleep", lambda _: config.write_text(whole))
    words = ["--address", "10.1.0.8", "--config", str(config), "--settings", str(known)]
    assert MODULE.main([*words, *more]) == 0


GROUPS = st.none() | st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "Name": st.sampled_from(["controller", "login", "worker", "other"]),
            "InstanceType": st.text(max_size=3),
            "Instances": st.none()
            | st.lists(
                st.fixed_dictionaries({"CustomerIpAddress": st.sampled_from(["10.1.0.5", "10.1.0.8"])}), max_size=2
            ),
        },
    ),
    max_size=3,
)


@given(groups=GROUPS, cluster=st.none() | st.fixed_dictionaries({}, optional={"SlurmConfig": st.none() | st.just({})}))
def test_whatever_the_agent_writes_there_are_facts_or_a_sentence(groups: Any, cluster: Any) -> None:
    settings = dict(SETTINGS.render(topology=SlurmTopology.API_DRIVEN, users_file=None))
    try:
        found = MODULE.facts({"InstanceGroups": groups, "ClusterConfig": cluster}, settings, "10.1.0.8")
    except (MODULE.NotYetError, MODULE.WrongError):
        return
    assert found["address"] == "10.1.0.8"
    assert found["controllers"]
