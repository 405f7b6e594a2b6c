"""The Neuron SDK: which of its packages were released together, for which Python, and on which driver they run."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from cdk_trainyard.versions.images import ImageFacts
from cdk_trainyard.versions.judgement import Judgement
from cdk_trainyard.versions.matrix import Row, at_least, numbers, of_series, rows

NEURON_INDEX = "https://pip.repos.neuron.amazonaws.com"
"""Neuron's index of Python packages."""

TORCH_GLIBC = ("2.9", "2.35")
"""The PyTorch from which on Neuron's needs this C library: release-notes of Neuron's DLAMIs, 2.27.1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wheel:
    """A Python package of a release.

    Attributes:
        name: Its name, as pip writes it.
        version: Its version.
        pythons: Versions of Python that it is for.
        families: Families of instance types that it is for.
    """

    name: str
    version: str
    pythons: tuple[str, ...]
    families: tuple[str, ...]

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.name}=={self.version}"


@dataclass(frozen=True, kw_only=True, slots=True)
class NeuronRelease:
    """A release of the Neuron SDK.

    Attributes:
        sdk: Its version.
        driver: Its driver, ``aws-neuronx-dkms``.
        runtime: Its runtime library, ``aws-neuronx-runtime-lib``.
        collectives: Its collectives, ``aws-neuronx-collectives``.
        tools: Its tools, ``aws-neuronx-tools``.
        wheels: Its Python packages.
        pinned_because: Why it was chosen, where it was.
    """

    sdk: str
    driver: str
    runtime: str
    collectives: str
    tools: str
    wheels: tuple[Wheel, ...]
    pinned_because: str = ""


@cache
def neuron_releases() -> tuple[NeuronRelease, ...]:
    """Return every release that the matrix has, newest first."""
    return tuple(_release(row) for row in rows("releases"))


def pinned_release(use: str) -> NeuronRelease:
    """Return the release that this project's own pins are from.

    Args:
        use: What installs it: ``hyperpod``, ``parallelcluster`` or ``neuron-llama``.
    """
    pin = _pin(use)
    row = next(row for row in rows("releases") if row["sdk"] == pin["sdk"])
    return _release(row, because=pin["because"])


def pinned_packages(use: str) -> tuple[str, ...]:
    """Return this project's own pins, as pip is asked for them.

    Args:
        use: What installs them: ``hyperpod``, ``parallelcluster`` or ``neuron-llama``.
    """
    pin = _pin(use)
    return _choose(pinned_release(use), pin["wheels"], pin["torch"])


def python_versions(packages: Iterable[str]) -> tuple[str, ...]:
    """Return the versions of Python that all of the packages are for; those that the matrix lacks are left out.

    Args:
        packages: Pip requirements with exact versions.
    """
    known = [set(wheel.pythons) for wheels in _known(packages).values() for wheel in wheels[:1]]
    return tuple(sorted(set.intersection(*known), key=numbers)) if known else ()


def driver_of(packages: Iterable[str]) -> str | None:
    """Return the driver of the oldest release that has all of the packages. None: no release has.

    Args:
        packages: Pip requirements with exact versions.
    """
    together = _together(_known(packages).values())
    return together[-1].driver if together else None


def judge_packages(packages: Sequence[str], image: ImageFacts) -> Judgement:
    """Judge Neuron's Python packages on an image: its Python, its C library and its driver.

    Args:
        packages: Pip requirements with exact versions; those that are not Neuron's are not judged.
        image: The image.
    """
    neuron = {package: wheels for package in packages if (wheels := _of_neuron(package)) is not None}
    known = {package: wheels for package, wheels in neuron.items() if wheels}
    remedy = f"use {_fitting(image, neuron)}"
    unfit: dict[tuple[str, ...], list[str]] = {}
    for package, wheels in known.items():
        if not any(of_series(image.python, python) for python in wheels[0].pythons):
            unfit.setdefault(wheels[0].pythons, []).append(package)
    refused = [
        f"must fit Python {image.python} of {image.words}, got {', '.join(together)} for Python "
        f"{', '.join(pythons)}; {remedy}"
        for pythons, together in unfit.items()
    ]
    refused += [
        f"must fit the C library {image.glibc} of {image.words}, got {package}, which needs "
        f"{TORCH_GLIBC[1]}; train in containers there"
        for package, wheels in known.items()
        if wheels[0].name == "torch-neuronx"
        and at_least(wheels[0].version, TORCH_GLIBC[0])
        and not at_least(image.glibc, TORCH_GLIBC[1])
    ]
    unknown = [
        f"no source says for which Python {package} is, nor on which driver it runs; {image.words} has "
        f"Python {image.python}"
        for package, wheels in neuron.items()
        if not wheels
    ]
    if known and not refused:
        unknown += _release_doubts(known, image)
    return Judgement(tuple(refused), tuple(unknown))


def driver_conflicts(runtime: str | None, driver: str | None) -> list[str]:
    """Return what the release notes say against a runtime library on a driver; nothing when one is not known.

    Args:
        runtime: The runtime library.
        driver: The driver.
    """
    if runtime is None or driver is None:
        return []
    return [row["says"] for row in rows("driver_runtimes") if _broken(row, runtime, driver)]


def driver_window(runtime: str | None) -> tuple[str | None, str | None]:
    """Return from which driver on, and before which, nothing speaks against a runtime library. None: no bound.

    Args:
        runtime: The runtime library.
    """
    found = rows("driver_runtimes") if runtime is not None else ()
    lowest = [
        row["driver_before"]
        for row in found
        if "driver_before" in row and at_least(str(runtime), row["runtime_before"])
    ]
    highest = [
        row["driver_from"] for row in found if "driver_from" in row and not at_least(str(runtime), row["runtime_from"])
    ]
    return max(lowest, key=numbers, default=None), min(highest, key=numbers, default=None)


def _broken(row: Row, runtime: str, driver: str) -> bool:
    if "driver_from" in row:
        return at_least(driver, row["driver_from"]) and not at_least(runtime, row["runtime_from"])
    return not at_least(driver, row["driver_before"]) and at_least(runtime, row["runtime_before"])


def _release_doubts(known: dict[str, tuple[Wheel, ...]], image: ImageFacts) -> list[str]:
    together = _together(known.values())
    if not together:
        return [f"no release of the Neuron SDK has {', '.join(known)} together"]
    oldest = together[-1]
    if image.neuron_driver is None or at_least(image.neuron_driver, oldest.driver):
        return []
    return [
        (
            f"{', '.join(known)} were released with driver {oldest.driver} (Neuron SDK {oldest.sdk}), and "
            f"{image.words} has {image.neuron_driver}; what a newer compiler makes may be refused by an older runtime "
            f"(NRT_UNSUPPORTED_NEFF_VERSION); {_fitting(image, known)} came with its driver"
        )
    ]


def _fitting(image: ImageFacts, packages: Iterable[str]) -> str:
    """Name the packages of the newest release that fits an image: its Python, and its driver when that is known."""
    names = [_split(package)[0] for package in packages]
    for release in neuron_releases():
        if image.neuron_driver is not None and not at_least(image.neuron_driver, release.driver):
            continue
        chosen = _choose(release, names)
        if len(chosen) == len(names) and any(of_series(image.python, python) for python in python_versions(chosen)):
            return f"{', '.join(chosen)} of Neuron SDK {release.sdk}"
    return "an image with another Python"


def _choose(release: NeuronRelease, names: Sequence[str], torch: str | None = None) -> tuple[str, ...]:
    """Return the requirements of a release by their names, each once: the highest of its series."""
    chosen = []
    for name in names:
        wheels = [wheel for wheel in release.wheels if _plain(wheel.name) == _plain(name)]
        if torch is not None and _plain(name) == "torch-neuronx":
            wheels = [wheel for wheel in wheels if of_series(wheel.version, torch)]
        chosen += [max(wheels, key=lambda wheel: numbers(wheel.version)).requirement] if wheels else []
    return tuple(chosen)


def _together(packages: Iterable[tuple[Wheel, ...]]) -> list[NeuronRelease]:
    wanted = {wheels[0].requirement for wheels in packages}
    return [
        release for release in neuron_releases() if wanted and wanted <= {one.requirement for one in release.wheels}
    ]


def _known(packages: Iterable[str]) -> dict[str, tuple[Wheel, ...]]:
    return {package: wheels for package in packages if (wheels := _of_neuron(package))}


def _of_neuron(package: str) -> tuple[Wheel, ...] | None:
    """Return the wheels of a requirement: none of a version that no release has, None of what is not Neuron's."""
    name, version = _split(package)
    named = [wheel for release in neuron_releases() for wheel in release.wheels if _plain(wheel.name) == name]
    return tuple(wheel for wheel in named if wheel.version == version) if named else None


def _split(package: str) -> tuple[str, str]:
    name, _, version = package.partition("==")
    return _plain(name.partition("[")[0]), version


def _plain(name: str) -> str:
    """Return a name as the packaging standard compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _pin(use: str) -> Row:
    return next(row for row in rows("pins") if row["use"] == use)


def _release(row: Row, because: str = "") -> NeuronRelease:
    wheels = tuple(
        Wheel(
            name=wheel["name"],
            version=wheel["version"],
            pythons=tuple(wheel["pythons"]),
            families=tuple(wheel["families"]),
        )
        for wheel in row["wheels"]
    )
    parts = {part: str(row[part]) for part in ("sdk", "driver", "runtime", "collectives", "tools")}
    return NeuronRelease(**parts, wheels=wheels, pinned_because=because)
