"""Every pinned version comes from the matrix: files that pin are written from it, and what else pins is found in it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdk_trainyard.versions import default_efa_installer, neuron_releases, rows
from tests.support import ROOT
from tools.generate_versions import SYSTEM_PACKAGES, WHEELS, pin_files

PINNED = re.compile(rf"\b({'|'.join(name.replace('_', '[-_]') for name in WHEELS)})==([0-9][0-9.]+[0-9])")
SYSTEM = re.compile(rf"\b({'|'.join(SYSTEM_PACKAGES.values())})[ =-](2\.[0-9.]+[0-9])\b")
SHIPPED = ("constructs", "lifecycle_scripts", "examples", "deployments", "docs", "README.md")
TEXTS = {".md", ".py", ".sh", ".txt", ".yaml", ".json", ".sbatch"}
OURS = ROOT / "constructs" / "cdk_trainyard" / "versions"


def shipped() -> Iterator[tuple[Path, str]]:
    """Every text that is shipped, but for the matrix itself."""
    for name in SHIPPED:
        top = ROOT / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.suffix in TEXTS and OURS not in path.parents and path.is_file():
                yield path, path.read_text(encoding="utf-8")


def scripts() -> Iterator[tuple[Path, str]]:
    """What is shipped of Python and shell."""
    return ((path, text) for path, text in shipped() if path.suffix in {".py", ".sh"})


@pytest.mark.parametrize("path", pin_files())
def test_the_file_is_what_the_matrix_says(path: str) -> None:
    """Otherwise: python -m tools.generate_versions."""
    assert (ROOT / path).read_text() == pin_files()[path]


def test_every_package_that_is_pinned_anywhere_is_in_a_release() -> None:
    released = {(wheel.name, wheel.version) for release in neuron_releases() for wheel in release.wheels}
    found = {(path.relative_to(ROOT), pin) for path, text in shipped() for pin in PINNED.findall(text)}
    assert {str(path) for path, _ in found} >= {
        "examples/neuron-llama/requirements.txt",
        "examples/neuron-llama/README.md",
        "lifecycle_scripts/parallelcluster/neuron_versions.sh",
    }
    assert [one for one in found if one[1] not in released] == []


def test_every_driver_and_runtime_that_is_pinned_anywhere_is_in_a_release() -> None:
    released = {
        (name, getattr(release, part)) for release in neuron_releases() for part, name in SYSTEM_PACKAGES.items()
    }
    found = {(path.name, pin) for path, text in shipped() for pin in SYSTEM.findall(text)}
    assert {name for name, _ in found} == {"neuron_versions.sh"}
    assert [pin for _, pin in found if pin not in released] == []


def test_no_pin_of_neuron_stands_outside_the_files_that_are_written() -> None:
    """But for examples and READMEs, which the tests above hold to the releases."""
    run_there = {ROOT / "lifecycle_scripts", ROOT / "examples"}
    pinning = {
        str(path.relative_to(ROOT))
        for path, text in shipped()
        if run_there & {*path.parents} and path.suffix != ".md" and (PINNED.search(text) or SYSTEM.search(text))
    }
    assert pinning == set(pin_files())


def test_the_efa_installer_is_one_of_the_matrix() -> None:
    installers = {row["installer"] for row in rows("efa_installers")}
    assert default_efa_installer() in installers


@pytest.mark.parametrize("path", sorted((ROOT / "deployments").glob("fleet-*.yaml")), ids=lambda path: path.stem)
def test_the_nvidia_branch_of_a_deployment_is_one_of_the_matrix(path: Path) -> None:
    asked = re.findall(r'nvidia_branch: "(\d+)"', path.read_text())
    assert set(asked) <= {row["branch"] for row in rows("nvidia_branches")}


def test_every_address_of_a_tool_has_its_version() -> None:
    addresses = [(row["version"], file["url"]) for row in rows("tools") for file in row["files"].values()]
    assert [url for version, url in addresses if version not in url] == []


def test_every_engine_and_host_image_that_is_pinned_anywhere_is_in_the_matrix() -> None:
    keys = {row["key"] for row in rows("engine_images")} | {row["version"] for row in rows("host_images")}
    asked = [
        (path.name, pin)
        for path in sorted((ROOT / "deployments").glob("*.yaml"))
        for pin in re.findall(r'^ +(?:image|host_image): "?([\w.-]+)"?$', path.read_text(), re.MULTILINE)
    ]
    assert [one for one in asked if one[1] not in keys] == []
    references = {
        str(row.get("reference") or f"{row.get('repository')}:{row.get('tag')}") for row in rows("engine_images")
    }
    built = re.compile(r"\b(?:text-generation-inference|optimum-neuron-vllm|[\w-]+-neuronx?):[\w.-]+")
    found = {(path.name, pin) for path, text in scripts() for pin in built.findall(text)}
    assert [one for one in found if not any(reference.endswith(one[1]) for reference in references)] == []


def test_every_other_image_that_is_pinned_anywhere_is_in_the_matrix() -> None:
    tables = ("engine_images", "sidecar_images", "health_images")
    references = {row.get("reference") for table in tables for row in rows(table)}
    tagged = re.compile(
        r"\b(?:registry\.k8s\.io|public\.ecr\.aws|ghcr\.io|docker\.io|quay\.io)/[\w./-]+:(?!latest)[\w.-]+\b"
    )
    found = {(path.name, pin) for path, text in scripts() for pin in tagged.findall(text)}
    assert {name for name, _ in found} >= {"spec_service.py"}
    assert [one for one in found if one[1] not in references] == []


def test_every_database_that_is_pinned_anywhere_is_in_the_matrix() -> None:
    versions = {(row["version"], row["engine"]) for row in rows("databases")}
    said = re.compile(r"\b(\d+\.\d+\.\d+) of (MySQL|MariaDB)\b")
    found = {(version, engine.lower()) for _, text in scripts() for version, engine in said.findall(text)}
    assert found == versions
    assert [path.name for path, text in scripts() if re.search(r"EngineVersion\.VER_\d", text)] == []
