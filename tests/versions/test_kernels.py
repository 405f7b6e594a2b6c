"""What the matrix says of an image that is built: its kernel with EFA, NVIDIA and Lustre."""

from dataclasses import replace

import pytest

from cdk_trainyard.versions import (
    ImageFacts,
    Judgement,
    default_efa_installer,
    image_facts,
    judge_efa,
    judge_file_system,
    judge_lustre,
    judge_nvidia,
)

PINNED, NEWER = "ubuntu-24.04", "ubuntu-24.04-20260904"


def image(name: str) -> ImageFacts:
    found = image_facts(name)
    assert found
    return found


def build(
    facts: ImageFacts, *, installer: str | None = None, branch: str | None = None, family: str = "p3dn"
) -> Judgement:
    found = judge_lustre(facts)
    if installer:
        found += judge_efa(installer, facts)
    return found + judge_nvidia(branch, facts, [family]) if branch else found


def test_the_combination_that_is_shipped_is_known_good() -> None:
    for name in (PINNED, "arm64-ubuntu-24.04"):
        assert build(image(name), installer=default_efa_installer(), branch="580") == Judgement()


def test_an_efa_driver_older_than_its_kernel_wants_is_refused() -> None:
    assert build(image(PINNED), installer="1.41.0").refused == (
        (
            "must fit kernel 6.17.0-1019-aws of Canonical's Ubuntu 24.04 of 20260714, "
            "got 1.41.0 with driver 2.15.0: kernel 6.17 changed how memory is registered, and driver 2.17.3 follows; "
            "use 1.49.0 or later"
        ),
    )
    assert build(replace(image(PINNED), kernel="6.8.0-1030-aws"), installer="1.41.0") == Judgement()


def test_the_installer_that_is_named_instead_is_one_that_was_tried_on_the_kernel() -> None:
    (said,) = judge_efa("1.41.0", image(NEWER)).refused
    assert said.endswith("; use 1.50.0 or later")
    assert judge_efa("1.50.0", image(NEWER)) == Judgement()


@pytest.mark.parametrize(("installer", "driver"), [("1.30.0", "2.15.0"), ("1.42.1", "2.17.2"), ("1.43.1", "2.17.2")])
def test_an_installer_that_no_source_has_is_older_than_the_next(installer: str, driver: str) -> None:
    (said,) = build(image(PINNED), installer=installer).refused
    assert f"got {installer} with driver {driver} at most: kernel 6.17 changed how memory is registered" in said


@pytest.mark.parametrize(
    ("system", "old", "says"),
    [
        ("ubuntu-22.04", "1.17.3", "1.18.0 of August 2022 is the first that knows it"),
        ("ubuntu-24.04", "1.10.0", "1.21.0 is of December 2022, and Ubuntu 24.04 of April 2024"),
        ("amazon-linux-2023", "1.21.0", "1.21.0 is of December 2022, and Amazon Linux 2023 of March 2023"),
    ],
)
def test_an_installer_older_than_the_system_is_refused(system: str, old: str, says: str) -> None:
    facts = replace(image(PINNED), system=system, kernel=None, moving=True)
    (said,) = judge_efa(old, facts).refused
    assert said == f"must be one for {facts.words}, got {old}: {says}; use 1.49.0 or later"
    assert judge_efa("1.22.0", facts).refused == ()


@pytest.mark.parametrize(
    ("family", "old", "first", "gpu"),
    [("p5", "515", "520", "Hopper"), ("g6e", "470", "520", "Ada"), ("p4d", "440", "450", "Ampere")],
)
def test_a_branch_of_nvidias_driver_older_than_the_gpu_is_refused(family: str, old: str, first: str, gpu: str) -> None:
    (said,) = build(image(PINNED), branch=old, family=family).refused
    assert said.startswith(f"must be {first} or later for {gpu} of ")
    assert f", of branch {first}, is the first for {gpu}" in said
    assert build(image(PINNED), branch=first, family=family).refused == ()


@pytest.mark.parametrize("installer", ["1.43.3", "1.48.0", "1.60.0"])
def test_an_installer_whose_driver_may_fit_is_a_doubt(installer: str) -> None:
    said = f"no source says which driver in EFA installer {installer} is, so whether both fit is not known"
    assert build(image(PINNED), installer=installer) == Judgement(unknown=(said,))


def test_a_kernel_without_a_lustre_client_is_refused() -> None:
    (said,) = build(image(NEWER)).refused
    assert "must have a kernel with a Lustre client, got 7.0.0-1012-aws" in said
    assert said.endswith("use ubuntu-24.04")


def test_what_is_used_instead_can_stand_there() -> None:
    (said,) = judge_lustre(image(NEWER), among=[NEWER]).refused
    assert said.endswith("use another image")


def test_a_kernel_that_fsx_does_not_list_is_a_doubt() -> None:
    (said,) = build(replace(image(PINNED), kernel="6.8.0-1063-aws")).unknown
    assert "6.8.0-1024 to 6.8.0-1033" in said


@pytest.mark.parametrize(("kernel", "known"), [("6.8", True), ("6.5", False), ("6.8.0-1016-aws", False)])
def test_a_kernel_known_by_its_series_is_in_a_range_without_an_end(kernel: str, known: bool) -> None:
    said = build(replace(image("base-oss-nvidia-driver-gpu-ubuntu-22.04"), kernel=kernel))
    assert (said == Judgement()) is known


@pytest.mark.parametrize(
    ("name", "version", "fits"),
    [
        ("ubuntu-24.04", "2.10", False),
        ("ubuntu-24.04", "2.12", True),
        ("alinux2023", "2.10", False),
        ("ubuntu2204", "2.10", True),  # by some of its kernels
        ("base-oss-nvidia-driver-gpu-ubuntu-22.04", "2.10", False),
    ],
)
def test_a_client_mounts_what_fsx_says(name: str, version: str, *, fits: bool) -> None:
    assert (judge_file_system(version, image(name)) == Judgement()) is fits


def test_what_rules_a_moving_image_out_is_a_doubt() -> None:
    """It was so on a day; the next release may have another kernel."""
    said = build(image("arm64-base-oss-nvidia-driver-gpu-ubuntu-24.04"))
    assert said.refused == ()
    assert "(as the image was on 2026-10-09; a newer one takes its place)" in said.unknown[0]


@pytest.mark.parametrize(
    ("branch", "family", "words"),
    [
        ("595", "p3dn", "branch 580 is the last for Volta, and the open kernel modules begin with Turing; use '580'"),
        ("580", "p6-b200", "Blackwell has the open kernel modules alone"),
    ],
)
def test_a_branch_that_does_not_know_the_gpu_is_refused(branch: str, family: str, words: str) -> None:
    (said,) = build(image(PINNED), branch=branch, family=family).refused
    assert words in said


def test_what_no_source_tried_is_said() -> None:
    assert (
        "no source says on which kernels NVIDIA's branch 610 works"
        in build(image(PINNED), branch="610", family="p5").unknown[0]
    )
    assert "which driver in EFA installer 1.46.0 is" in build(image(PINNED), installer="1.46.0").unknown[0]
    newer = replace(image(PINNED), kernel="7.1.0-1001-aws")
    assert [said for said in build(newer, installer="1.51.0", branch="580").unknown if "no source says" in said]
    assert build(replace(image(PINNED), kernel=None)).unknown
