"""Instance types: their facts, looked up by name, and the numbers that follow from them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, Protocol

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import ConfigurationError, did_you_mean, raise_problems
from cdk_trainyard.instances.hardware import Accelerator, AcceleratorKind, NetworkCard
from cdk_trainyard.instances.zones import decode_zones, is_one_place
from cdk_trainyard.problems import Flaw, shown
from cdk_trainyard.tokens import unresolved

_PATH = "InstanceType"
_NAME = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+")
_MOST_SIZES = 8
_MOST_PLACES = 8
# Offers grow from month to month; a registration may know more of them than the catalogue of its date.
_DATED = frozenset({"zones", "hyperpod", "unknown"})


class NamedType(Protocol):
    """A type of which only the name is known: an ``ec2.InstanceType`` of CDK."""

    def to_string(self) -> str:
        """Return its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceType:
    """The facts of one EC2 instance type.

    Source: EC2's own answers as moto captured them, and SageMaker's enumeration in botocore, of the date
    ``catalogue_date()``; what was corrected or added by hand stands with its source in ``data/corrections.json``.

    Attributes:
        name: The name in EC2, as ``"trn1.32xlarge"``.
        vcpus: vCPUs with the default threads per core.
        threads_per_core: Threads per core unless the launch says otherwise.
        memory_mib: Memory, in MiB.
        architecture: ``"x86_64"`` or ``"arm64"`` (``"x86_64_mac"`` and ``"arm64_mac"`` for Mac instances).
        accelerators: GPUs and Neuron devices. FPGAs, media and Qualcomm accelerators do not count. Default - none.
        network_cards: The network cards, by index.
        max_efa_interfaces: EFA interfaces that the instance takes; for some types fewer than its cards could.
        network_gbps: Network bandwidth in Gbit/s, as EC2 states it for the whole instance; a burst for small types.
        nvme_gb: Instance store on NVMe SSD, in GB. Default: 0.
        ipv4_per_interface: IPv4 addresses that one network interface takes.
        usage_classes: How it can be bought: ``on-demand``, ``spot``, ``capacity-block``. Default: not known.
        placement_strategies: ``cluster``, ``partition``, ``spread``. Default: not known.
        zones: Region to the ids of the zones that offer it: good for a warning, too old for a refusal. Default - none.
        hyperpod: Whether SageMaker HyperPod accepts it. Default: False.
        unknown: Attributes whose value AWS has not published, or not wholly. What stands in them is 0, empty or
            incomplete; nothing is guessed. Default: everything is known.
    """

    name: str
    vcpus: int
    threads_per_core: int
    memory_mib: int
    architecture: str
    accelerators: tuple[Accelerator, ...] = ()
    network_cards: tuple[NetworkCard, ...]
    max_efa_interfaces: int
    network_gbps: float
    nvme_gb: int = 0
    ipv4_per_interface: int
    usage_classes: tuple[str, ...] = ()
    placement_strategies: tuple[str, ...] = ()
    zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    hyperpod: bool = False
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: "str | InstanceType | NamedType") -> "InstanceType":
        """Return the facts of a type.

        Args:
            name: Its name as EC2 writes it (``"trn1.32xlarge"``) or as SageMaker does (``"ml.trn1.32xlarge"``), or an
                ``ec2.InstanceType``; an ``InstanceType`` is returned as it is. Not a Token.

        Raises:
            ConfigurationError: The name is neither in the catalogue nor registered; says which names are near.
        """
        if known := cls.find(name):
            return known
        newer = ", a newer type is added with InstanceType.register"
        raise ConfigurationError(_PATH, [f"'instance_type' {unknown_type(str(name), newer=newer)}"])

    @classmethod
    def find(cls, name: "str | InstanceType | NamedType") -> "InstanceType | None":
        """Return the facts of a type; None of a name that nobody knows, and of a Token.

        Args:
            name: Its name, as ``of`` takes it.
        """
        if isinstance(name, InstanceType):
            return name
        return _find((name if isinstance(name, str) else name.to_string()).removeprefix("ml."))

    @classmethod
    def register(cls, instance_type: "InstanceType") -> None:
        """Make a type known to ``of`` for the rest of the process: one newer than the catalogue, or your own.

        Facts that the catalogue knows cannot be changed, so that two parts of an app never plan with different ones.
        What it does not know (``unknown``) can be filled in, and ``zones`` and ``hyperpod`` can be renewed. The same
        holds for what was registered before; registering equal facts again does nothing.

        Args:
            instance_type: The type, its name without ``ml.``.

        Raises:
            ConfigurationError: The facts contradict each other, the catalogue or an earlier registration.
        """
        raise_problems(_PATH, [*_faults(instance_type), *_contradictions(instance_type)])
        _REGISTERED[instance_type.name] = instance_type

    @property
    def family(self) -> str:
        """The name's first part, as ``"trn1"``."""
        return self.name.partition(".")[0]

    @property
    def sagemaker_name(self) -> str:
        """The name with SageMaker's prefix, as ``"ml.trn1.32xlarge"``."""
        return f"ml.{self.name}"

    @property
    def accelerated(self) -> bool:
        """Whether it has a GPU or a Neuron device."""
        return bool(self.accelerators)

    @property
    def bare_metal(self) -> bool:
        """Whether nothing stands between it and its processor: EC2's ``BareMetal``, which the names say, too."""
        return self.name.partition(".")[2].partition("-")[0] == "metal"

    @property
    def gpus(self) -> int:
        """GPUs of the instance."""
        return sum(part.count for part in self.accelerators if part.kind is AcceleratorKind.GPU)

    @property
    def neuron_cores(self) -> int:
        """NeuronCores of the instance: physical ones, before a logical NeuronCore configuration."""
        return sum(part.count * part.cores for part in self.accelerators)

    @property
    def efa_supported(self) -> bool:
        """Whether it takes an EFA interface."""
        return any(card.efa for card in self.network_cards)

    def hyperpod_addresses(self, orchestrator: Literal["slurm", "eks"] = "slurm", *, efa_only: bool = False) -> int:
        """Return the addresses that one HyperPod node takes from its subnet.

        One for each network card; under EKS the primary interface takes all that it can hold, for the pods. Derived
        from the two numbers that the HyperPod prerequisites publish for ml.p5.48xlarge: 32 with Slurm, 81 with EKS
        (50 of the primary interface and 31 more), and checked against every type of the VPC CNI's table.

        Args:
            orchestrator: ``"slurm"`` or ``"eks"``. Default: slurm.
            efa_only: Whether the group asks for ``InterfaceType=efa-only``: then only the primary interface has
                addresses. Default: False.

        Raises:
            ConfigurationError: AWS has not published how HyperPod attaches this type.
        """
        if "hyperpod_addresses" in self.unknown and not efa_only:
            problem = (
                f"'instance_type' must be one whose interfaces under HyperPod are published, got {self.name!r}; "
                f"use EFA-only interfaces, or register it with its network cards (InstanceType.register)"
            )
            raise ConfigurationError(_PATH, [problem])
        primary = {"slurm": 1, "eks": self.ipv4_per_interface}[orchestrator]
        others = sum(not card.efa_only for card in self.network_cards[1:])
        return primary if efa_only else primary + others

    def offered_in(self, region: str) -> tuple[str, ...]:
        """Return the ids of the zones of ``region`` that offer it; empty when none does or it is not known."""
        return self.zones.get(region, ())

    def offer_warning(self, region: str | None, zones: Iterable[str | None]) -> str | None:
        """Return what to warn of when it is not known to be offered there; None when it is, or nothing is known.

        The catalogue has a date, and new zones come every month: that a type is missing there is no error.

        Args:
            region: The Region. None: not known.
            zones: The zones, None for one that is not known; Availability Zones by name are not looked at, since names
                differ between accounts.
        """
        if region is None or not self.zones or region not in {*_regions_with_offers(), *self.zones}:
            return None
        offered, named = self.offered_in(region), [zone for zone in zones if zone is not None and not unresolved(zone)]
        without = [zone for zone in named if is_one_place(zone) and zone not in offered] if offered else [region]
        if not without:
            return None
        elsewhere = offered or sorted(other for other, known in self.zones.items() if known)
        return (
            f"{self.name} is not known to be offered in {', '.join(without)}, only in "
            f"{_nearest(region, elsewhere)} (data of {catalogue_date()}); check before you deploy"
        )


@cache
def _regions_with_offers() -> frozenset[str]:
    """Return the Regions of which it is known what is offered: of other partitions and new Regions nothing is."""
    offers = map(decode_zones, load("instances", "zones")["sets"].values())
    return frozenset(region for each in offers for region, zones in each.items() if zones)


def _nearest(region: str, places: Sequence[str]) -> str:
    """Return a few of many places, those of the same part of the world first."""
    part = region.partition("-")[0]
    nearest = sorted(places, key=lambda place: (not place.startswith(part), place))[:_MOST_PLACES]
    more = len(places) - len(nearest)
    return ", ".join(sorted(nearest)) + (f" and {more} more" if more else "")


def hyperpod_type_names() -> tuple[str, ...]:
    """Return the names that SageMaker HyperPod accepts, with ``ml.``, sorted.

    Source: ``ClusterInstanceType`` of SageMaker's API in botocore, of the date ``catalogue_date()``.
    """
    data = load("instances", "instance_types")
    column = data["columns"].index("hyperpod")
    return tuple(sorted(f"ml.{name}" for name, row in data["types"].items() if row[column]))


def catalogue_date() -> str:
    """Return the date of the catalogue, as ``"2026-10-27"``: newer types and offers are not in it."""
    return str(load("instances", "instance_types")["captured"])


# ---------------------------------------------------------------- looking up
_REGISTERED: dict[str, InstanceType] = {}


def _known_names() -> Iterable[str]:
    return dict.fromkeys((*load("instances", "instance_types")["types"], *_REGISTERED))


def family_names() -> tuple[str, ...]:
    """Return the families of the types that are known, sorted."""
    return tuple(sorted({name.partition(".")[0] for name in _known_names()}))


def family_accelerator(family: str) -> Accelerator | None:
    """Return the accelerator that types of a family have; None without one, and of a family that is not known.

    Args:
        family: The family, as ``"p5"``.
    """
    return next((part for name in family_types(family) for part in InstanceType.of(name).accelerators), None)


def family_types(family: str) -> list[str]:
    """Return the names of the types of a family that are known."""
    return [name for name in _known_names() if name.startswith(f"{family}.")]


def _find(name: str) -> InstanceType | None:
    return _REGISTERED.get(name) or _captured(name)


@cache
def _captured(name: str) -> InstanceType | None:
    data = load("instances", "instance_types")
    row = data["types"].get(name)
    if row is None:
        return None
    facts: dict[str, Any] = dict(zip(data["columns"], row, strict=True))
    return InstanceType(
        **facts
        | {
            "name": name,
            "accelerators": tuple(_accelerators(facts["accelerators"])),
            "network_cards": tuple(_network_cards(facts["network_cards"])),
            "network_gbps": float(facts["network_gbps"]),
            "usage_classes": tuple(facts["usage_classes"].split()),
            "placement_strategies": tuple(facts["placement_strategies"].split()),
            "zones": decode_zones(load("instances", "zones")["sets"].get(facts["zones"], "")),
            "unknown": tuple(data["unknown"].get(name, ())),
        }
    )


def _accelerators(rows: list[Any]) -> Iterator[Accelerator]:
    for kind, name, count, memory_mib, cores in rows:
        yield Accelerator(kind=AcceleratorKind(kind), name=name, count=count, memory_mib=memory_mib, cores=cores)


def _network_cards(runs: list[Any]) -> Iterator[NetworkCard]:
    cards = ((interfaces, kind) for count, interfaces, kind in runs for _ in range(count))
    for index, (interfaces, kind) in enumerate(cards):
        yield NetworkCard(index=index, max_interfaces=interfaces, efa=kind != "ena", efa_only=kind == "efa-only")


def unknown_type(name: str, *, newer: str = "", meant: Callable[[str], bool] | None = None) -> Flaw:
    """Say that a type is not known, and what may have been meant; or that EC2 has but its name.

    Args:
        name: A name that is not known.
        newer: What to do about a type that is newer than the catalogue, as the end of a sentence. Default - nothing.
        meant: Whether a type can have been meant. Default - each can.
    """
    family, _, size = name.removeprefix("ml.").partition(".")
    if size in load("instances", "instance_types")["names_alone"].get(family, ()):
        why = f"EC2 has it, but its facts are not in the catalogue of {catalogue_date()}; use another"
        return Flaw("must be an instance type whose facts are known", got=f"{shown(name)}: {why}{newer}")
    hint = name_hint(name, newer=newer, meant=meant)
    return Flaw("must be the name of an EC2 instance type", got=shown(name), remedy=hint)


def name_hint(name: str, *, newer: str = "", meant: Callable[[str], bool] | None = None) -> str:
    """Say what may have been meant: the sizes of a family, a near name, or that the catalogue has a date.

    Args:
        name: A name that is not known.
        newer: What to do about a type that is newer than the catalogue, as the end of a sentence. Default - nothing.
        meant: Whether a type can have been meant. Default - each can.
    """
    word = name.strip().lower()
    prefix = "ml." if word.startswith("ml.") else ""
    family, dot, _ = word.removeprefix(prefix).partition(".")
    known = [prefix + other for other in _known_names() if meant is None or meant(other)]
    sizes = [repr(other) for other in known if other.startswith(f"{prefix}{family}.")]
    more = ", …" if len(sizes) > _MOST_SIZES else ""
    of_family = f"; the family has {', '.join(sizes[:_MOST_SIZES])}{more}" if sizes else ""
    if of_family and not dot:
        return of_family
    return did_you_mean(word, known) or of_family or f"; the catalogue is of {catalogue_date()}{newer}"


# ---------------------------------------------------------------- registering
def _faults(new: InstanceType) -> Iterator[str]:
    """Facts that cannot be true of any type."""
    if not _NAME.fullmatch(new.name) or new.name.startswith("ml."):
        yield f"'name' must be a family, a dot and a size, without 'ml.', got {new.name!r}"
    for fact in ("vcpus", "threads_per_core", "memory_mib", "ipv4_per_interface"):
        if fact not in new.unknown and getattr(new, fact) < 1:
            yield f"{fact!r} of {new.name!r} must be at least 1, got {getattr(new, fact)}"
    indexes = [card.index for card in new.network_cards]
    if not indexes or indexes != list(range(len(indexes))):
        yield f"'network_cards' of {new.name!r} must be numbered from 0 in order, got {indexes}"
    if new.max_efa_interfaces and not new.efa_supported:
        got = new.max_efa_interfaces
        yield f"'max_efa_interfaces' of {new.name!r} must be 0 without a network card that takes EFA, got {got}"


def _contradictions(new: InstanceType) -> Iterator[str]:
    """Facts that differ from those already known."""
    known = _find(new.name)
    if known is None:
        return
    settled = {fact.name for fact in fields(known)} - _DATED - set(known.unknown)
    for fact in sorted(settled):
        before, after = getattr(known, fact), getattr(new, fact)
        if before != after:
            yield (
                f"{fact!r} of {new.name!r} is known as {before!r}, got {after!r}; "
                f"give a type with other facts a name of its own"
            )
