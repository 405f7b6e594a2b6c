"""Whether an image is known, and fits the instance types. Pure: nothing is created here."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.fleet._data import load
from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:
    from cdk_trainyard.fleet.image import NodeImage


def dlami_problems(name: str, keyword: str = "name") -> list[str]:
    """A Deep Learning AMI that is known and still made, under the keyword that its user has given it."""
    if unresolved(name):
        return [f"'{keyword}' must be known when the app is synthesized, got a Token; use NodeImage.from_parameter"]
    data = load("images")
    if name in data["images"]:
        return []
    if reason := data["retired"].get(name):
        return [f"'{keyword}' must be the name of a Deep Learning AMI that is still made, got {name!r}: {reason}"]
    hint = did_you_mean(name, data["images"]) or f"; known are {', '.join(sorted(data['images']))}"
    return [
        (
            f"'{keyword}' must be the name of a Deep Learning AMI, got {name!r}{hint} (list of {data['captured']}; "
            f"a newer one is taken by NodeImage.from_parameter)"
        )
    ]


def image_problems(image: "NodeImage", types: Sequence[InstanceType]) -> list[str]:
    """The image runs on the processors of the types, and has drivers for their accelerators."""
    problems = []
    for kind in types:
        if image.architecture is not None and image.architecture != kind.architecture:
            problems.append(
                f"'image' must be one for {kind.architecture}, the architecture of {kind.name}, got {image.name!r} for "
                f"{image.architecture}"
            )
        elif kind.accelerated and image.families is not None and kind.family not in image.families:
            problems.append(
                f"'image' must be one with drivers for the {kind.accelerators[0].name} devices of {kind.name}, "
                f"got {image.name!r} for {', '.join(image.families) or 'no accelerators'}; {_remedy(kind)}"
            )
    return problems


def master_problems(image: "NodeImage", of_fleet: "NodeImage") -> list[str]:
    """The master and the workers have the same user, as whom members log in to members."""
    if image.user == of_fleet.user:
        return []
    return [
        (
            f"'image' of the master must have the user {of_fleet.user!r} of the fleet's image, got {image.name!r} with "
            f"{image.user!r}; members log in to members as one user"
        )
    ]


def _remedy(kind: InstanceType) -> str:
    named = ", ".join(
        name for name, image in sorted(load("images")["images"].items()) if kind.family in image["families"]
    )
    if named:
        return f"use one of {named}"
    if kind.accelerators[0].kind is AcceleratorKind.GPU and kind.architecture == "x86_64":
        return "no Deep Learning AMI is made for it any more: build one with TrainingImage on 'ubuntu-24.04'"
    return "use NodeImage.ami with an image of yours"
