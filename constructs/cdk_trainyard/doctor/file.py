"""What a deployment says, option by option, in the words of its file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from cdk_trainyard.deployment.network import zones_of
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import place
from cdk_trainyard.options.writing import written

Path = tuple[str | int, ...]
_SIDES: Final[tuple[Literal["public"], Literal["service"]]] = ("public", "service")


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A value of a deployment file, a default among them.

    Attributes:
        path: The keys to it from the top.
        value: It: no mapping, no list.
        around: What it stands in.
    """

    path: Path
    value: Any
    around: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The name of the option."""
        return str(next(word for word in reversed(self.path) if isinstance(word, str)))

    def at(self, deployment: DeploymentSpec) -> str:
        """Return where the file says it.

        Args:
            deployment: The deployment.
        """
        return place(deployment, *self.path)


def values(deployment: DeploymentSpec) -> Iterator[Said]:
    """Yield every value that a deployment says.

    Args:
        deployment: The deployment.
    """
    yield from _values(written(deployment), (), {})


def _values(value: Any, path: Path, around: Mapping[str, Any]) -> Iterator[Said]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _values(inner, (*path, key), value)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _values(inner, (*path, number), around)
    else:
        yield Said(path=path, value=value, around=around)


def texts(deployment: DeploymentSpec, *keys: str) -> Iterator[Said]:
    """Yield the texts that options of some names have.

    Args:
        deployment: The deployment.
        keys: The names.
    """
    return (each for each in values(deployment) if each.key in keys and isinstance(each.value, str))


def node_zone(deployment: DeploymentSpec) -> str:
    """Return the zone of nodes and file systems, by its name or its id.

    Args:
        deployment: The deployment.
    """
    return deployment.network.zone


def all_zones(deployment: DeploymentSpec) -> tuple[str, ...]:
    """Return every zone with a subnet, the nodes' first.

    Args:
        deployment: The deployment.
    """
    public, service = (zones_of(deployment.network, side)[1] or () for side in _SIDES)
    return tuple(dict.fromkeys([node_zone(deployment), *public, *service]))


def zones_for(deployment: DeploymentSpec, said: Said) -> tuple[str, ...]:
    """Return the zones in which instances may stand that an option is about: in one of them is enough.

    Args:
        deployment: The deployment.
        said: The option, as ``instance_type`` of a group.
    """
    if said.path[0] == "serving":
        return tuple(zones_of(deployment.network, "service")[1] or ())
    elsewhere = "build" in said.path or {"subnet", "subnets", "subnet_id"} & set(said.around)
    return all_zones(deployment) if elsewhere else (node_zone(deployment),)
