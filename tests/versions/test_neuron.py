"""What the matrix says of Neuron's packages: on an image, together, and of driver and runtime."""

import pytest

from cdk_trainyard.versions import (
    ImageFacts,
    driver_conflicts,
    driver_of,
    driver_window,
    image_facts,
    judge_packages,
    neuron_releases,
    pinned_packages,
    python_versions,
)

OF_2_31 = ("torch-neuronx==2.9.0.2.15.32035", "neuronx-cc==2.26.6360.0", "neuronx_distributed==0.19.28492")
OF_2_29 = ("torch-neuronx==2.9.0.2.13.26312", "neuronx-cc==2.24.8799.0", "neuronx_distributed==0.18.27753")
OF_2_27 = ("torch-neuronx==2.9.0.2.11.19912", "neuronx-cc==2.22.12471.0", "neuronx_distributed==0.16.25997")


def image(name: str) -> ImageFacts:
    found = image_facts(name)
    assert found
    return found


def test_packages_for_another_python_are_refused_with_both_sides_and_those_that_fit() -> None:
    said = judge_packages(OF_2_31, image("hyperpod-slurm"))
    assert said.refused == (
        (
            "must fit Python 3.10.12 of HyperPod's image for Slurm, got torch-neuronx==2.9.0.2.15.32035, "
            "neuronx-cc==2.26.6360.0, neuronx_distributed==0.19.28492 for Python 3.11, 3.12, 3.13; use "
            f"{', '.join(OF_2_27)} of Neuron SDK 2.27.1"
        ),
    )
    assert said.unknown == ()


def test_packages_that_were_released_with_the_images_driver_are_known_good() -> None:
    said = judge_packages(OF_2_27, image("hyperpod-slurm"))
    assert (said.refused, said.unknown) == ((), ())
    assert driver_of(OF_2_27) == image("hyperpod-slurm").neuron_driver


def test_a_newer_compiler_than_the_images_driver_is_a_doubt_that_names_both() -> None:
    said = judge_packages(OF_2_29, image("hyperpod-slurm"))
    assert said.refused == ()
    (doubt,) = said.unknown
    assert (
        "were released with driver 2.27.4.0 (Neuron SDK 2.29.1), and HyperPod's image for Slurm has 2.25.4.0" in doubt
    )
    assert f"{', '.join(OF_2_27)} of Neuron SDK 2.27.1 came with its driver" in doubt


def test_an_older_compiler_than_the_driver_is_good() -> None:
    """The compiler's FAQ: runtime and compiler stay compatible within a major version."""
    assert not judge_packages(OF_2_29, image("neuron-base-ubuntu-24.04")).unknown


@pytest.mark.parametrize(
    ("packages", "doubt"),
    [
        (["torch-neuronx==2.9.1.9"], "no source says for which Python torch-neuronx==2.9.1.9 is"),
        ([OF_2_29[0], OF_2_27[1]], f"no release of the Neuron SDK has {OF_2_29[0]}, {OF_2_27[1]} together"),
    ],
)
def test_what_the_matrix_lacks_is_said(packages: list[str], doubt: str) -> None:
    said = judge_packages(packages, image("hyperpod-slurm"))
    assert said.refused == ()
    assert [doubt in sentence for sentence in said.unknown] == [True]


def test_names_are_compared_as_pip_does_and_other_packages_are_not_judged() -> None:
    said = judge_packages(["Neuronx.Distributed==0.19.28492", "transformers==4.57.1"], image("hyperpod-slurm"))
    assert [sentence.count("Neuronx.Distributed==0.19.28492 for Python") for sentence in said.refused] == [1]
    nothing = judge_packages(["transformers==4.57.1"], image("hyperpod-slurm"))
    assert (nothing.refused, nothing.unknown) == ((), ())


def test_pytorch_2_9_needs_a_newer_c_library_than_amazon_linux_2023_has() -> None:
    said = judge_packages(OF_2_31[:2], image("alinux2023"))
    assert [sentence for sentence in said.refused if "C library 2.34" in sentence]


def test_python_versions_are_those_that_all_packages_have() -> None:
    assert python_versions(OF_2_29) == ("3.10", "3.11", "3.12")
    assert python_versions([OF_2_29[0], OF_2_31[1]]) == ("3.11", "3.12")
    assert python_versions(["a==1"]) == ()
    assert driver_of(["a==1"]) is None


@pytest.mark.parametrize(
    ("use", "name"),
    [
        ("hyperpod", "hyperpod-slurm"),
        ("neuron-llama", "hyperpod-slurm"),
        ("neuron-llama", "ubuntu2404"),
        ("parallelcluster", "ubuntu2404"),
    ],
)
def test_our_own_pins_are_known_good_on_the_images_that_they_are_for(use: str, name: str) -> None:
    said = judge_packages(pinned_packages(use), image(name))
    assert (said.refused, said.unknown) == ((), ())


def test_driver_and_runtime_of_every_release_work_together() -> None:
    assert [release.sdk for release in neuron_releases() if driver_conflicts(release.runtime, release.driver)] == []


@pytest.mark.parametrize(
    ("runtime", "driver", "works"),
    [
        ("2.26.42", "2.28.0", True),
        ("2.26.42", "2.29", False),
        ("2.30.51", "2.30.2", False),
        ("2.33.10", "2.30.2", True),
        ("2.33.10", "2.26.10", False),
        ("2.31.0", "2.26.10", True),
        ("2.9.0", "2.29", False),  # numbers, not text
        (None, "2.29", True),
        ("2.26.42", None, True),
    ],
)
def test_driver_and_runtime(runtime: str | None, driver: str | None, works: bool) -> None:
    assert (driver_conflicts(runtime, driver) == []) is works


@pytest.mark.parametrize(
    ("runtime", "window"), [("2.26.42", (None, "2.29")), ("2.33.10", ("2.27", None)), (None, (None, None))]
)
def test_the_drivers_that_a_host_checks_for(runtime: str | None, window: tuple[str | None, str | None]) -> None:
    assert driver_window(runtime) == window
