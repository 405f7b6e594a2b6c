"""What constructors take beside the options of their specification: constructs, told by their classes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.options.stand_ins import (
    DatabaseWiring,
    MountWiring,
    NetworkWiring,
    SecurityGroup,
    SecurityGroupWiring,
    StandIn,
    Wiring,
)
from cdk_trainyard.problems import At, Problem, either, shown


class EcsClusterWiring(Wiring):
    """A cluster of ECS."""

    what, member = "an ecs.Cluster", "Cluster"
    remedy = "an imported one takes no hosts, as ECS only replaces all capacity providers of a cluster at once"


class FleetWiring(Wiring):
    """A fleet."""

    what, member = "an EfaFleet", "EfaFleet"


class ServiceWiring(Wiring):
    """A service that serves a model."""

    what, member = "an InferenceService", "InferenceService"


class MetricsWiring(Wiring):
    """Where metrics go."""

    what, member = "ClusterMonitoring", "ClusterMonitoring"


class WorkspaceWiring(Wiring):
    """A workspace for metrics."""

    what, member = "a MetricsWorkspace", "MetricsWorkspaceBase"


class PlacementWiring(Wiring):
    """A placement group."""

    what, member = "a PlacementGroup", "PlacementGroup"


WIRING: Final[dict[str, tuple[type[StandIn], ...]]] = {
    "accounting": (DatabaseWiring,),
    "cluster": (EcsClusterWiring,),
    "extra_security_groups": (SecurityGroupWiring, SecurityGroup),
    "fleet": (FleetWiring,),
    "metrics": (MetricsWiring,),
    "mounts": (MountWiring,),
    "network": (NetworkWiring,),
    "placement_group": (PlacementWiring,),
    "security_group": (SecurityGroupWiring, SecurityGroup),
    "service": (ServiceWiring,),
    "workspace": (WorkspaceWiring,),
}
"""What constructors take beside their specification's options, by keyword."""


def wiring_problems(keywords: Mapping[str, Any]) -> list[Problem]:
    """Return what is no construct of the kind that its keyword takes.

    Args:
        keywords: What a constructor was given.
    """
    problems = []
    for name, kinds in WIRING.items():
        value = keywords.get(name)
        several = isinstance(value, Sequence) and not isinstance(value, str)
        for index, each in enumerate(value if several and value is not None else [value]):
            if each is not None and not any(kind.stands_for(each) for kind in kinds):
                at: At = (name, index) if several else (name,)
                remedy = kinds[0].remedy and f"; {kinds[0].remedy}"
                problems.append(Problem(at, f"must be {either(kind.what for kind in kinds)}, got {got(each)}{remedy}"))
    return problems


def got(value: Any) -> str:
    """Return a value of a wrong type as a sentence shows it, with its type.

    Args:
        value: The value.
    """
    kind = type(value).__name__
    return f"{shown(value)} ({kind})" if isinstance(value, str | int | float | None) else f"a {kind}"
