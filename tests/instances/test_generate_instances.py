from copy import deepcopy
from pathlib import Path
from typing import Any

import moto
import pytest

from cdk_trainyard.data_files import load
from cdk_trainyard.instances import InstanceType
from tools import generate_instances
from tools.generate_instances import DATA, captured_types, corrected, facts, network_cards, write, zone_sets

CORRECTIONS = load("instances", "corrections")


@pytest.fixture(scope="module")
def captured() -> dict[str, dict[str, Any]]:
    names = {fix["type"] for fix in CORRECTIONS["corrections"]}
    return {name: facts(raw) for name, raw in captured_types().items() if name in names}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated")
    write(folder)
    return folder


@pytest.mark.parametrize("name", ["instance_types.json", "zones.json"])
def test_the_committed_data_is_what_the_generator_writes(generated: Path, name: str) -> None:
    assert (DATA / name).read_bytes() == (generated / name).read_bytes(), "run python -m tools.generate_instances"


def test_the_command_writes_where_it_is_told(monkeypatch: pytest.MonkeyPatch, generated: Path, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.argv", ["generate_instances", "--output", str(tmp_path)])
    generate_instances.main()
    assert (tmp_path / "zones.json").read_bytes() == (generated / "zones.json").read_bytes()


def test_every_data_file_is_generated_or_the_corrections(generated: Path) -> None:
    written = {path.name for path in generated.iterdir()}
    assert {path.name for path in DATA.iterdir()} == written | {"corrections.json"}


def test_bare_metal_is_told_by_its_name_as_ec2_answers() -> None:
    answered = {name for name, raw in captured_types().items() if raw["BareMetal"]}
    assert {name for name in captured_types() if InstanceType.of(name).bare_metal} == answered


def test_one_line_per_type() -> None:
    lines = (DATA / "instance_types.json").read_text().splitlines()
    assert len([line for line in lines if line.startswith('"trn1.32xlarge": [')]) == 1


def test_every_correction_has_its_reason_and_source() -> None:
    entries = CORRECTIONS["corrections"] + CORRECTIONS["additions"]
    assert [entry["type"] for entry in entries if not (entry["reason"] and entry["source"])] == []


def test_corrections_are_applied(captured: dict[str, dict[str, Any]]) -> None:
    types = corrected(deepcopy(captured), CORRECTIONS)
    for fix in CORRECTIONS["corrections"]:
        assert types[fix["type"]][fix["fact"]] == fix["corrected"] != captured[fix["type"]][fix["fact"]]


def test_fails_on_a_correction_that_the_capture_has_overtaken(captured: dict[str, dict[str, Any]]) -> None:
    types = corrected(deepcopy(captured), CORRECTIONS)
    for addition in CORRECTIONS["additions"]:
        del types[addition["type"]]
    with pytest.raises(SystemExit, match=r"correction of 'accelerators' of trn2.3xlarge: the capture says"):
        corrected(types, CORRECTIONS)


def test_fails_on_an_addition_that_the_capture_has_overtaken(captured: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(SystemExit, match=r"p6e-gb200.36xlarge is in the capture now; remove the addition"):
        corrected(deepcopy(captured) | {"p6e-gb200.36xlarge": {}}, CORRECTIONS)


def test_fails_when_moto_is_not_the_one_that_is_dated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(moto, "__version__", "9.9.9")
    with pytest.raises(SystemExit, match=r"moto is 9.9.9, corrections.json dates 5.2.5: set version and date"):
        write(tmp_path)


def test_fails_when_hyperpod_accepts_a_type_without_facts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(generate_instances, "hyperpod_types", lambda: {"trn9.32xlarge"})
    with pytest.raises(SystemExit, match=r"HyperPod accepts types without facts: \['trn9.32xlarge'\]"):
        write(tmp_path)


def test_fails_on_network_cards_out_of_order() -> None:
    with pytest.raises(SystemExit, match="network cards out of order"):
        network_cards([{"NetworkCardIndex": 1}])


def test_fails_on_two_zone_sets_with_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate_instances, "set_key", lambda _: "same")
    with pytest.raises(SystemExit, match="two zone sets have one key"):
        zone_sets([{"us-east-1": ["use1-az1"]}, {"us-east-1": ["use1-az2"]}])
