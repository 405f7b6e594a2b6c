"""The matrix is whole: each row says where it is from, and a second source says the same where there is one."""

import json
from pathlib import Path

import pytest

from cdk_trainyard.data_files import load
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.limits import NEURON_SYSTEMS
from cdk_trainyard.serving import catalogue
from cdk_trainyard.versions import image_facts, neuron_releases, pinned_release, row_problems, rows
from cdk_trainyard.versions.matrix import of_series, tables
from tools.generate_versions import releases

SOURCE = {"source": "release notes", "date": "2026-11-22"}


@pytest.mark.parametrize("table", sorted(tables()))
def test_every_row_has_a_source_and_a_day(table: str) -> None:
    assert row_problems(table, rows(table)) == []
    assert rows(table)


@pytest.mark.parametrize("row", [{"source": "", "date": "2026-11-22"}, {"date": "2026-11-22"}, {"source": "notes"}])
def test_a_row_without_a_source_or_a_day_is_an_error_that_names_it(row: dict[str, str]) -> None:
    (said,) = row_problems("images", [SOURCE, {"image": "ours", **row}])
    assert said.startswith("row 2 of images must name its source and the day of it")
    assert '"image": "ours"' in said


def test_reading_a_table_with_such_a_row_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cdk_trainyard.versions.matrix.tables", lambda: {"bare": [{"image": "ours"}]})
    with pytest.raises(ValueError, match="row 1 of bare must name its source"):
        rows.__wrapped__("bare")


def test_the_generator_reads_a_manifest_as_aws_publishes_it() -> None:
    package = {"supported_instances": ["trn1"], "supported_python_versions": []}
    names = ("aws-neuronx-dkms", "aws-neuronx-runtime-lib", "aws-neuronx-collectives", "aws-neuronx-tools")
    manifest = {
        "manifest_date": "08/17/2026",
        "neuron_releases": [
            {
                "neuron_version": version,
                "packages": [
                    *({**package, "name": name, "version": f"{version}.1"} for name in names),
                    {**package, "name": "neuronx-cc", "version": "2.1", "supported_python_versions": ["3.12"]},
                ],
            }
            for version in ("2.32.0", "2.23.0")
        ],
    }
    (row,) = json.loads(releases(manifest, "81ce03ae261e"))["releases"]
    assert (row["sdk"], row["driver"], row["date"]) == ("2.32.0", "2.32.0.1", "2026-08-17")
    assert row["source"] == "aws-neuron/aws-neuron-sdk 81ce03a, src/helperscripts/n2-manifest.json"
    assert row["wheels"] == [{"name": "neuronx-cc", "version": "2.1", "pythons": ["3.12"], "families": ["trn1"]}]


# ---------------------------------------------------------------- second sources
def test_images_of_parallelcluster_are_systems_that_its_package_takes() -> None:
    systems = fact("operating_systems")
    ours = [row["image"] for row in rows("images") if "ParallelCluster" in row["words"]]
    assert ours
    assert [name for name in ours if not systems[name]["official_image"]] == []


@pytest.mark.parametrize("image", catalogue.engine_images(), ids=lambda image: image.key)
def test_engine_images_have_the_runtime_and_the_python_of_their_release(image: catalogue.EngineImage) -> None:
    """The catalogue read them from Dockerfiles and tags, the matrix from the SDK's manifest."""
    release = next(release for release in neuron_releases() if release.sdk.startswith(image.sdk))
    assert of_series(release.runtime, image.runtime or "")
    named = (image.tag or image.reference or "").partition("neuronx-py")[2][:3]
    if named:
        compilers = [wheel for wheel in release.wheels if wheel.name == "neuronx-cc"]
        assert f"{named[0]}.{named[1:]}" in compilers[0].pythons


def test_hosts_of_serving_have_a_driver_that_was_released() -> None:
    drivers = [release.driver for release in neuron_releases()]
    unknown = [
        host.version
        for host in catalogue.host_images()
        if host.driver and not any(of_series(driver, host.driver) for driver in drivers)
    ]
    assert unknown == ["20251209"]  # 2.21 is older than the oldest release that the matrix has


def test_neuron_drivers_were_tested_on_the_systems_that_they_are_installed_on() -> None:
    """The release notes' tables of what was tested, against the systems that neuron.sh takes."""
    tested = {(row["driver"], row["system"]) for row in rows("neuron_kernels")}
    driver = ".".join(pinned_release("parallelcluster").driver.split(".")[:2])
    systems = [facts.system for name in NEURON_SYSTEMS if (facts := image_facts(name))]
    assert [system for system in systems if (driver, system) not in tested] == []


def test_the_kernel_of_hyperpods_image_is_one_that_its_neuron_driver_is_shipped_with() -> None:
    image = image_facts("hyperpod-slurm")
    assert image
    kernels = [
        kernel
        for row in rows("neuron_kernels")
        if of_series(image.neuron_driver or "", row["driver"]) and row["system"] == image.system
        for kernel in row["kernels"]
    ]
    assert image.kernel in kernels


def test_gpus_of_the_matrix_are_those_of_the_families_as_ec2_describes_them() -> None:
    blackwell = {"B200", "B300", "RTX PRO Server 6000"}
    types = [InstanceType.of(name) for name in load("instances", "instance_types")["types"]]
    for row in rows("nvidia_families"):
        for family in row["families"]:
            names = {part.name for kind in types if kind.family == family for part in kind.accelerators}
            assert names <= ({row["gpu"]} if row["gpu"] != "Blackwell" else blackwell), family


def test_images_with_open_kernel_modules_are_for_no_gpu_that_needs_the_others() -> None:
    """AWS's release notes say which families an image is for; the matrix has read it elsewhere."""
    old = {family for row in rows("nvidia_families") if row["modules"] == "proprietary" for family in row["families"]}
    assert old
    open_ones = {name: known for name, known in load("fleet", "images")["images"].items() if "oss-nvidia" in name}
    assert [name for name, known in open_ones.items() if old & set(known["families"])] == []


def test_dated_images_are_the_ones_that_fleets_start_from() -> None:
    for name, known in load("fleet", "images")["images"].items():
        facts = image_facts(name)
        serial = next((row["serial"] for row in rows("images") if row["image"] == name and not row["moving"]), None)
        if serial is None:
            assert "canonical" not in known["parameter"], f"{name} follows whatever Canonical publishes"
            continue
        assert facts
        assert f"/{serial}/" in known["parameter"]
        assert facts.architecture == known["architecture"]


def test_systems_have_the_python_that_their_distribution_names() -> None:
    """As ImageFacts of a DLAMI say it on their own: /usr/bin/python3.12 on Ubuntu 24.04."""
    python = {row["system"]: row["python"] for row in rows("systems")}
    said = [(row["system"], row["python"]) for row in rows("images") if "python" in row]
    assert said
    assert [pair for pair in said if not of_series(pair[1], python[pair[0]])] == []


def test_the_data_are_one_row_a_line() -> None:
    folder = Path(__file__).parents[2] / "constructs" / "cdk_trainyard" / "versions" / "data"
    for path in folder.glob("*.json"):
        lines = [line for line in path.read_text().splitlines() if line.startswith('{"')]
        assert len(lines) == sum(len(table) for table in json.loads(path.read_text()).values())
