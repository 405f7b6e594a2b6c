"""What is known of machine images: Deep Learning AMIs by their names, and what nodes of an image are. No CDK."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import asked, did_you_mean
from cdk_trainyard.instances import AcceleratorKind
from cdk_trainyard.instances.instance_type import catalogue_date, family_accelerator, family_names
from cdk_trainyard.options.kinds import Environment, Text, resource_id
from cdk_trainyard.problems import Flaw, either, option, shown
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:
    from cdk_trainyard.fleet.spec_image import NodeImage, TrainingImageSpec
    from cdk_trainyard.fleet.training_image import TrainingImage

AMI: Final = resource_id("ami", "an AMI")
_UBUNTU: Final = "ubuntu"
_OF_ALL: Final = frozenset({"ami", "deep", "learning"})
"""Words of every name in EC2's console, as "Deep Learning ARM64 Base OSS Nvidia Driver GPU AMI (Ubuntu 24.04) 20260929"
(AWS Deep Learning AMIs developer guide, release notes, read 2026-11)."""
_DRIVERS: Final = {
    "/aws/service/neuron/dlami/": AcceleratorKind.NEURON,
    "/aws/service/deeplearning/ami/.*nvidia": AcceleratorKind.GPU,
}
"""How parameters of AWS's begin that hold Deep Learning AMIs, known ones and later ones, and what these are for."""
_REFERENCE: Final = "the reference of the deployment file"
_NEURON: Final = "neuron"
"""A word of every image for Neuron devices."""
_MOST: Final = 3
"""Images that are named where a name has a part of theirs alone."""
_OF_A_DLAMI: Final = "must be the name of a Deep Learning AMI"


def dlami_names() -> tuple[str, ...]:
    """Return the names of the Deep Learning AMIs that are known, sorted.

    Source: ``data/images.json``, with its date; a newer one is taken by ``NodeImage(parameter=…)``.
    """
    return tuple(name for name in base_names() if not _is_plain(name))


def base_names() -> tuple[str, ...]:
    """Return the names of the images that one can be built on, sorted: Deep Learning AMIs, and plain Ubuntu."""
    return tuple(sorted(_images()))


def names_of_family(family: str) -> list[str]:
    """Return the names of the images that have drivers for a family of instance types."""
    return [name for name in dlami_names() if family in _images()[name]["families"]]


def parameter_of(name: str) -> str | None:
    """Return the SSM parameter that holds the id of an image. None: no image of that name is known.

    Args:
        name: The image's name.
    """
    parameter: str | None = _images().get(name, {}).get("parameter")
    return parameter


def other_device(family: str) -> str | None:
    """Return the device of a family, neither GPU nor Neuron device, that no image here has a driver for."""
    device: str | None = load("fleet", "images")["others"].get(family)
    return device


@dataclass(frozen=True, slots=True)
class DlamiName:
    """The name of a Deep Learning AMI that is still made: a kind of `cdk_trainyard.options`."""

    def problem(self, value: Any, _environment: object) -> Flaw | None:
        """Look it up."""
        if value.startswith("ami-"):
            remedy = f"; use {option('ami_id')} for an AMI by its id"
            return Flaw(_OF_A_DLAMI, got=shown(value), remedy=remedy)
        if value in _images() and _is_plain(value):
            got = f"{shown(value)}, a plain image: it lacks the AWS CLI, which nodes set themselves up with"
            return Flaw(_OF_A_DLAMI, got=got, remedy=f"; use {option('build')} with the 'base' {value}")
        return _unknown(value, dlami_names(), f"a newer one is taken by {option('parameter')}")

    def schema(self) -> dict[str, Any]:
        """Return the names."""
        return {"enum": list(dlami_names())}


@dataclass(frozen=True, slots=True)
class BaseName:
    """The image that another one begins with: the name of a Deep Learning AMI, or an AMI by its id."""

    def problem(self, value: Any, environment: Any) -> Flaw | None:
        """Look it up."""
        if value.startswith("ami-"):
            return AMI.problem(value, environment)
        return _unknown(value, base_names(), "another one is taken by its id, ami-…")

    def schema(self) -> dict[str, Any]:
        """Return the names, and the form of an id."""
        return {"anyOf": [{"enum": list(base_names())}, {"pattern": AMI.schema()["pattern"]}]}


@dataclass(frozen=True, slots=True)
class FamilyName:
    """The family of an instance type: of the catalogue, or announced with an image."""

    def problem(self, value: Any, _environment: object) -> Flaw | None:
        """Look it up."""
        if value in (known := family_names()) or names_of_family(value):
            return None
        family, sized, _ = value.partition(".")
        if sized and family in known:
            return Flaw("must be the family of an instance type alone", got=shown(value), remedy=f"; write {family}")
        hint = did_you_mean(value, known) or f"; the catalogue is of {catalogue_date()}"
        return Flaw("must be the family of an instance type, as p3dn", got=shown(value), remedy=hint)

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {"pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", "examples": ["p3dn"]}


class ShellCommand(Text):
    """A command of a shell."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say of an empty one what it lacks."""
        if value.strip():
            return Text.problem(self, value, environment)
        return Flaw(f"must be a shell command, as {self.example}", got=shown(value), remedy="; leave it out")


class LoginUser(Text):
    """A user as whom members of a fleet log in to members: ``PermitRootLogin no`` is what their sshd is told."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say of root why it is none."""
        if value != "root":
            return Text.problem(self, value, environment)
        return Flaw("must be another user than root, who cannot log in to members of a fleet", got=shown(value))


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownImage:
    """What is known of an image.

    Attributes:
        name: What messages call it.
        parameter: The parameter of Parameter Store that holds the AMI's id. None: it has none.
        architecture: ``"x86_64"`` or ``"arm64"``. None: not known, and nothing is compared.
        user: The user that people and jobs work as.
        families: Families of accelerated types that it has drivers for. None: not known.
        least_gib: A size that its snapshot has at least. None: not known.
    """

    name: str
    parameter: str | None = None
    architecture: str | None = None
    user: str = _UBUNTU
    families: Sequence[str] | None = None
    least_gib: int | None = None


def known_image(image: "NodeImage") -> KnownImage:
    """Return what is known of an image.

    Args:
        image: The image, with problems or without.
    """
    if image.build is not None:
        return known_build(image.build)
    if image.dlami is not None:
        return _dlami(image.dlami)
    name = image.ami_id or image.parameter or ""
    user = _UBUNTU if image.user is None else image.user
    architecture: str | None = image.architecture
    if architecture is None and image.parameter is not None and not unresolved(image.parameter):
        architecture = architecture_of(image.parameter)
    families = None if image.parameter is None or unresolved(image.parameter) else families_of(image.parameter)
    return KnownImage(name=name, parameter=image.parameter, architecture=architecture, user=user, families=families)


def architecture_of(parameter: str) -> str | None:
    """Return the architecture that the name of a parameter of AWS's says, or None where it says none.

    Args:
        parameter: The name.
    """
    found = re.fullmatch(r"/aws/service/.*[/-](amd64|x86_64|arm64)(/.*)?", parameter)
    return found and {"amd64": "x86_64"}.get(found[1], found[1])


def families_of(parameter: str) -> Sequence[str] | None:
    """Return the families of accelerated types that an image of AWS's has drivers for, as far as its parameter says it.

    Sources as of `dlami_names`; EC2 user guide, "NVIDIA drivers for your Amazon EC2 instance": plain images have none.

    Args:
        parameter: The name of the parameter.
    """
    if (row := next((each for each in _images().values() if each["parameter"] == parameter), None)) is not None:
        return tuple(row["families"])
    if parameter.startswith("/aws/service/ami-amazon-linux-latest/"):
        return ()
    kind = next((_DRIVERS[each] for each in _DRIVERS if re.match(each, parameter)), None)
    found = {family: family_accelerator(family) for family in family_names()}
    return kind and [family for family, device in found.items() if device is not None and device.kind is kind]


def base_name(image: "NodeImage") -> str | None:
    """Return the name of the image, or of the one that it is built on; None of one that has no name."""
    if unresolved(image):
        return None
    return image.dlami if image.build is None else image.build.base


def known_build(build: "TrainingImageSpec | TrainingImage") -> KnownImage:
    """Return what is known of an image that is built."""
    base = known_base(build)
    families = None if unresolved(build.families) else build.families or base.families
    return KnownImage(
        name=f"the image built on {base.name}", architecture=base.architecture, user=base.user, families=families
    )


def known_base(build: "TrainingImageSpec | TrainingImage") -> KnownImage:
    """Return what is known of the image that a build begins with."""
    if unresolved(build.base) or build.base not in _images():
        return KnownImage(name=build.base, user=_UBUNTU if build.user is None else build.user)
    return _dlami(build.base)


def _dlami(name: str) -> KnownImage:
    row = None if unresolved(name) else _images().get(name)
    if row is None:
        return KnownImage(name=name, user=name)  # as unknown as its name
    families = tuple(row["families"])
    return KnownImage(
        name=name,
        parameter=row["parameter"],
        architecture=row["architecture"],
        user=row["user"],
        families=families,
        least_gib=row.get("least_gib"),
    )


def _unknown(name: str, known: Sequence[str], newer: str) -> Flaw | None:
    data = load("fleet", "images")
    if name in known:
        return None
    if reason := data["retired"].get(name):
        return Flaw(f"{_OF_A_DLAMI} that is still made", got=f"{shown(name)}: {reason}")
    of_neuron = [each for each in known if _NEURON in _words(each)]
    first = [*of_neuron, *(each for each in known if each not in of_neuron)] if _NEURON in _words(name) else known
    hint = _likely(name, known) or f"; known are {either(first, all_in=_REFERENCE)}"
    if "pytorch" in hint and not {_NEURON, "gpu", "nvidia"} & _words(name):
        hint = f"{hint} For Neuron devices there are {either(of_neuron)}"
    remedy = f"{hint} (list of {data['captured']}; {newer})"
    return Flaw(_OF_A_DLAMI, got=shown(name), remedy=remedy)


def _is_plain(name: str) -> bool:
    """Say whether an image has nothing beside its system: no drivers, and no tools of AWS's."""
    return not _images()[name]["families"]


def _likely(name: str, known: Iterable[str]) -> str:
    """Return which image was most likely meant: one of the same words, as the console shows them, or one like it.

    The name of a system alone is answered with every image that has it, for whatever devices.
    """
    is_arm = {"arm64", "aarch64"} & _words(name)
    of_its_kind = [each for each in known if bool(is_arm) == ("arm64" in _words(each))]
    same = [each for each in of_its_kind if _words(each) == _words(name)]
    more = [each for each in of_its_kind if set() < _words(name) < _words(each)]
    return asked(name, same or (more if len(more) <= _MOST else [])) or did_you_mean(name, of_its_kind)


def _words(name: str) -> frozenset[str]:
    """Return the words that tell a name from others: what every image is, and the day of one, do not."""
    words = re.findall(r"[a-z0-9]+(?:\.[0-9]+)*", name.lower())
    return frozenset(word for word in words if word not in _OF_ALL and not re.fullmatch(r"[0-9]{8}", word))


def _images() -> Mapping[str, Any]:
    images: Mapping[str, Any] = load("fleet", "images")["images"]
    return images
