"""Whether an image that is built has a driver for what it is for. Pure: nothing is created here."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from cdk_trainyard.fleet.images import known_base, names_of_family, other_device
from cdk_trainyard.fleet.spec_image import TrainingImageSpec
from cdk_trainyard.instances import AcceleratorKind
from cdk_trainyard.instances.instance_type import family_accelerator
from cdk_trainyard.problems import Problem, either, option, shown
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import rows

if TYPE_CHECKING:
    from cdk_trainyard.fleet.training_image import TrainingImage

_WORDS: Final = {AcceleratorKind.GPU: "GPUs", AcceleratorKind.NEURON: "Neuron devices"}
_OF_NEURON: Final = "trn1"
"""A family that every image of Neuron has a driver for."""


def build_driver_problems(spec: TrainingImageSpec) -> list[Problem]:
    """Return what is wrong with accelerator, families and driver: of a contradiction, no more than that."""
    if unresolved(spec.base, spec.accelerator, spec.families, *spec.families):
        return [*branch_problems(spec)]
    for rule in (accelerator_problems, modules_problems):
        if found := [*rule(spec)]:
            return found
    return [*branch_problems(spec), *missing_driver_problems(spec)]


def accelerator_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """What it is for has accelerators of one kind, that of the base's driver.

    Commands may install another driver; the test of the image asks for the one that ``accelerator`` says, all the same.
    """
    base, said = known_base(spec), spec.accelerator
    own = next(filter(None, map(_kind, base.families or ())), None)
    meant = {*map(_kind, spec.families)} or {own}
    if spec.commands and (said is None or not meant.isdisjoint({said, None})):
        return
    if said and own and said is not own:
        text = f"must be {own} with the base {shown(base.name)}, whose driver is for {_WORDS[own]}, got {said}"
        remedy = f"; give {option('families')} where the commands bring another" if spec.commands else ""
        yield Problem(("accelerator",), f"{text}{remedy}")
        return
    first = next(filter(_kind, spec.families), "")
    reasons = (
        (said, f"as {option('accelerator')} {said} says"),
        (own, f"as the driver of {shown(base.name)} is for"),
        (_kind(first), f"as {first} has"),
    )
    wanted, why = next((each for each in reasons if each[0]), (None, ""))
    for index, family in enumerate(spec.families):
        kind = _kind(family)
        if wanted and kind and kind is not wanted:
            text = f"must be one with {_WORDS[wanted]}, {why}, got {shown(family)} with {_WORDS[kind]}"
            yield Problem(("families", index), text)


def modules_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """The open kernel modules of the Deep Learning AMIs do not know every GPU."""
    base = known_base(spec)
    if not base.families or spec.commands:
        return
    for index, family in enumerate(spec.families):
        row = _modules(family)
        if row and row["modules"] == "proprietary" and family not in base.families:
            yield Problem(
                ("families", index),
                f"must be one whose GPUs the driver of {shown(base.name)} knows, got {shown(family)} with "
                f"{row['gpu']}: {row['says']}; use the base ubuntu-24.04 with {option('nvidia_branch')} "
                f"{shown(row['last_branch'])}",
            )


def branch_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """NVIDIA's driver is installed from Ubuntu's packages, on a base that has none, for GPUs."""
    at = ("nvidia_branch",)
    if spec.nvidia_branch is None or unresolved(spec.base):
        return
    base = known_base(spec)
    if base.user != "ubuntu":
        yield Problem(at, f"must be left out with {shown(base.name)}: a branch is installed from Ubuntu's packages")
    elif base.families:
        yield Problem(at, f"must be left out with {shown(base.name)}, which has a driver of its own")
    elif _wanted(spec) is AcceleratorKind.NEURON:
        yield Problem(at, f"must be left out for {_for(spec)}: NVIDIA's driver is for GPUs")


def other_driver(build: "TrainingImageSpec | TrainingImage") -> str:
    """Return the warning of a base whose driver is for others than the image: commands alone can bring another."""
    if unresolved(build.base, build.families, *build.families):
        return ""
    base = known_base(build)
    own, wanted = (next(filter(None, map(_kind, each)), None) for each in (base.families or (), build.families))
    if not own or not wanted or own is wanted:
        return ""
    return (
        f"the base {shown(base.name)} has a driver for {_WORDS[own]}, and none for the {_WORDS[wanted]} of "
        f"{', '.join(build.families)}: without 'commands' that install one, no job finds a device"
    )


def missing_driver_problems(spec: TrainingImageSpec) -> Iterator[Problem]:
    """Plain Ubuntu has no driver: a branch of NVIDIA's, or a command, installs one, and of others the base has it.

    For devices that are neither GPUs nor Neuron's, no base that is known has one.
    """
    wanted, base = _for(spec), known_base(spec)
    other = next(filter(other_device, spec.families), None)
    if not wanted or spec.commands or base.families is None or (base.families and not other):
        return
    elsewhere = other is not None or _wanted(spec) is AcceleratorKind.NEURON
    if spec.nvidia_branch is None:
        elsewhere |= any(row and row["modules"] == "open" for row in map(_modules, spec.families))
    if elsewhere:
        names = names_of_family(other or next(iter(spec.families), _OF_NEURON))
        remedy = f"use {either(names)}" if names else "use an AMI of yours by its id"
        yield Problem(
            ("base",), f"must be one with a driver for {wanted}, got {shown(spec.base)}, which has none; {remedy}"
        )
    elif spec.nvidia_branch is None:
        text = f"must be given for {wanted}: the base {shown(spec.base)} has no driver, and no command installs one"
        yield Problem(("nvidia_branch",), text)


def build_for(family: str) -> str:
    """Return what builds an image for GPUs that the driver of no image here knows.

    Args:
        family: The family of their instance types.
    """
    row = _modules(family)
    branch = f" {shown(row['last_branch'])}" if row and "last_branch" in row else ""
    return f"'build' with the 'base' ubuntu-24.04, 'families' [{family}] and 'nvidia_branch'{branch}"


def _for(spec: TrainingImageSpec) -> str:
    return spec.accelerator or ", ".join(dict.fromkeys(spec.families))


def _wanted(spec: TrainingImageSpec) -> AcceleratorKind | None:
    if unresolved(spec.accelerator, spec.families, *spec.families):
        return None
    return spec.accelerator or next(filter(None, map(_kind, spec.families)), None)


def _kind(family: str) -> AcceleratorKind | None:
    found = family_accelerator(family)
    return found.kind if found else None


def _modules(family: str) -> dict[str, str] | None:
    return next((dict(row) for row in rows("nvidia_families") if family in row["families"]), None)
