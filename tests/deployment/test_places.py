"""Problems name what the user named, stand at the very line, offer keys that the file has, and come all at once."""

from pathlib import Path

import pytest

from tests.deployment.good_file import GOOD, GOOD_FLEET, GOOD_PARALLELCLUSTER, problems_of

NAMES = ("key", "strategy", "wait", "name", "count", "type", "groups", "secondary-cidr")
"""Names of groups that are keywords of this library, too."""
TOOLS = """
  node_setup:
    tools:
      - {{tool: enroot, sha256: "{sha256}", url: "https://example.com/enroot.deb"}}
      - tool: pyxis
        sha256: "{sha256}"
    containers: {{}}
""".format(sha256="0" * 64)


def said(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "deployment.yaml"
    path.write_text(text)
    return problems_of(path)


def test_a_group_is_called_what_its_user_called_it(tmp_path: Path) -> None:
    for name in NAMES:
        text = GOOD.replace("workers:", f"{name}:").replace("count: 4", "count: -1")
        line = next(number for number, row in enumerate(text.splitlines(), 1) if "count: -1" in row)
        (problem,) = said(tmp_path, text)
        assert problem.startswith(f"{line}:14: 'cluster.groups.{name}.count' must be 0 to "), problem


def test_a_remedy_names_keys_of_the_section_and_stands_at_the_entry_that_is_wrong(tmp_path: Path) -> None:
    text = GOOD.replace("\ncluster:\n", "\ncluster:\n  lifecycle: {on_create: on_create.sh}" + TOOLS)
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "tool: pyxis" in row)
    (problem,) = said(tmp_path, text)
    assert problem.startswith(f"{line}:9: 'cluster.node_setup.tools[1]' must have 'url' or 'key'")
    assert "key_arn" not in problem


def test_a_volume_is_wrong_at_its_own_line(tmp_path: Path) -> None:
    text = GOOD_PARALLELCLUSTER.replace(
        "- at: /shared\n", "- at: /shared\n      - at: /other\n        size_gib: 100000\n"
    )
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "size_gib: 100000" in row)
    (problem,) = said(tmp_path, text)
    assert problem.startswith(f"{line}:19: 'cluster.shared_storage.ebs[1].size_gib' must be ")


def test_what_is_wrong_with_storage_and_with_the_cluster_comes_in_one_run(tmp_path: Path) -> None:
    links = "    data_repositories:\n      - {bucket: datasets, file_system_path: /data, chunk_mib: -5}\n"
    mounts = "\n  node_setup:\n    s3_mounts:\n      - {bucket: datasets, path: /s3, prefix: /bad}\n"
    text = GOOD.replace("    capacity_gib: 1200\n", f"    capacity_gib: 1200\n{links}")
    text = text.replace("\ncluster:\n", "\ncluster:\n  lifecycle: {on_create: on_create.sh}" + mounts)
    wrong = ("storage.lustre.data_repositories[0].chunk_mib", "cluster.node_setup.s3_mounts[0].prefix")
    problems = said(tmp_path, text)
    assert [problem.split("'")[1] for problem in problems] == list(wrong)


@pytest.mark.parametrize(
    ("good", "old", "new", "blamed"),
    [
        (
            GOOD_PARALLELCLUSTER,
            "max_count: 8",
            "min_count: 11",
            "queues[0].compute[0].min_count' must be at most 'max_count', got 11 and 10 (10 is the default)",
        ),
        (
            GOOD.replace("zone: use1-az4", "zone: use1-az4\n  service_zones: [use1-az4, use1-az5]"),
            "\n  groups:",
            "\n  accounting:\n    storage_gb: 300\n  groups:",
            "accounting.max_storage_gb' must be a tenth more than 'storage_gb' 300, got 200; use 331 (200 is the",
        ),
        (
            GOOD_FLEET,
            "dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04",
            "build:\n      base: base-oss-nvidia-driver-gpu-ubuntu-24.04\n      volume_gib: 300",
            "volume_gib' must be at least 'image.build.volume_gib', 300 GiB, got 200; the image",
        ),
    ],
)
def test_a_default_is_called_one_and_blamed_where_the_key_is_that_it_does_not_go_with(
    good: str, old: str, new: str, blamed: str, tmp_path: Path
) -> None:
    text = good.replace(old, new)
    said_last = new.removesuffix("\n  groups:").splitlines()[-1].strip()
    line, row = next((number, row) for number, row in enumerate(text.splitlines(), 1) if said_last in row)
    problems = [problem for problem in said(tmp_path, text) if blamed in problem]
    assert problems, said(tmp_path, text)
    assert all(problem.startswith(f"{line}:{row.index(': ') + 3}: 'cluster.") for problem in problems), problems


def test_what_aliases_repeat_is_told_once(tmp_path: Path) -> None:
    first, second = "        - instance_type: c5.xlarge\n          max_count: 8\n", "          max_count: 16\n"
    text = GOOD_PARALLELCLUSTER.replace(first, f"{first}          slurm: &own {{MaxTime: x}}\n")
    (problem,) = said(tmp_path, text.replace(second, f"{second}          slurm: *own\n"))
    assert problem.startswith("19:24: 'cluster.queues[0].compute[0].slurm.MaxTime' is no parameter of a node")
    assert problem.endswith(" (and the same in another place)")


def test_what_is_wrong_with_an_alias_is_told_where_that_stands(tmp_path: Path) -> None:
    zones = "  public_zones:\n    - &other use1-az1\n    - *other\n"
    (problem,) = said(tmp_path, GOOD.replace("network:\n", f"network:\n{zones}"))
    assert problem.startswith("6:7: 'network.public_zones[1]' must be another")
    assert problem.endswith("(an alias of what is in line 5)")
