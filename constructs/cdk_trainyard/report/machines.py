"""Machines of an assembly: what stands in clusters, groups, queues and by itself, how many, and how they are paid."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.network import LAUNCH, under

ON_DEMAND: Final = "on demand"
UNKNOWN: Final = "an unknown type"
"""What stands for an instance type that no template says."""
_CONFIG: Final = "ClusterConfiguration"


@dataclass(frozen=True, kw_only=True, slots=True)
class Machines:
    """Machines of one kind in one place.

    Attributes:
        resource: What has them.
        name: The group or queue. Nothing: the resource has only these.
        type: Instance type.
        count: How many run when it is deployed.
        most: How many may run.
        paid: How they are paid.
        part: The property of the resource that says it: ``InstanceGroups.1``. Default - all of it.
    """

    resource: Resource
    name: str
    type: str
    count: int
    most: int
    paid: str = ON_DEMAND
    part: str = ""

    @property
    def written(self) -> str:
        """Where the deployment file or the app asks for them; nothing where nobody says."""
        return self.resource.origin.of(self.part)


def of_type(kind: str, noun: str) -> str:
    """Return machines in words: their type, or what is known of it.

    Args:
        kind: The type.
        noun: What they are called where the type has no name: ``machine``.
    """
    return f"{noun} of {kind}" if kind == UNKNOWN or kind.startswith("<") else kind


def machines(graph: Graph) -> list[Machines]:
    """Return the machines of an assembly, by place.

    Args:
        graph: The resources.
    """
    found = [each for kind, read in _KINDS.items() for one in graph.of_type(kind) for each in read(graph, one)]
    return sorted(found, key=lambda each: (each.resource.path, each.name, each.type))


def _instance(graph: Graph, resource: Resource) -> Iterator[Machines]:
    properties = graph.properties(resource)
    data = [properties, *_template_data(graph, properties)]
    kind = next((each["InstanceType"] for each in data if "InstanceType" in each), UNKNOWN)
    yield Machines(resource=resource, name="", type=graph.said(kind), count=1, most=1, paid=_paid(data))


def _group(graph: Graph, resource: Resource) -> Iterator[Machines]:
    """Amazon EC2 Auto Scaling User Guide: without a desired capacity the group has its minimum."""
    properties = graph.properties(resource)
    data = _template_data(graph, properties)
    types = [graph.said(each) for each in under(properties.get("MixedInstancesPolicy"), {"InstanceType"})]
    types = types or [graph.said(each["InstanceType"]) for each in data if "InstanceType" in each]
    count = _number(properties.get("DesiredCapacity"), _number(properties.get("MinSize"), 0))
    most = _number(properties.get("MaxSize"), count)
    for action in graph.of_type("AWS::AutoScaling::ScheduledAction"):
        scheduled = graph.properties(action)
        if resource in graph.targets(scheduled.get("AutoScalingGroupName")):
            most = max(most, _number(scheduled.get("MaxSize"), 0))
    kind = " or ".join(sorted(set(types))) or UNKNOWN
    yield Machines(resource=resource, name="", type=kind, count=count, most=most, paid=_paid(data))


def _hyperpod(graph: Graph, resource: Resource) -> Iterator[Machines]:
    groups = graph.properties(resource).get("InstanceGroups")
    for number, each in enumerate(groups if isinstance(groups, list) else []):
        if isinstance(each, Mapping):
            count = _number(each.get("InstanceCount"), 0)
            types = [graph.said(one) for one in under(each, {"InstanceType", "InstanceTypes"})]
            yield Machines(
                resource=resource,
                name=graph.said(each.get("InstanceGroupName", "")),
                type=", ".join(types).replace(", ", " or ") or UNKNOWN,
                count=count,
                most=count,
                paid=_hyperpod_paid(each),
                part=f"InstanceGroups.{number}",
            )


def _hyperpod_paid(group: Mapping[str, Any]) -> str:
    """Amazon SageMaker API Reference, ClusterInstanceGroupSpecification: a training plan, or Spot where it is said."""
    if "TrainingPlanArn" in group:
        return "a training plan"
    return "spot" if any(True for _ in under(group.get("CapacityRequirements"), {"Spot"})) else ON_DEMAND


def _parallelcluster(graph: Graph, resource: Resource) -> Iterator[Machines]:
    """AWS ParallelCluster User Guide, "Scheduling section" (MinCount 0, MaxCount 10 by default) and "LoginNodes"."""
    config = graph.properties(resource).get(_CONFIG)
    head = config.get("HeadNode") if isinstance(config, Mapping) else None
    if isinstance(config, Mapping) and isinstance(head, Mapping):
        yield Machines(
            resource=resource,
            name="head node",
            type=graph.said(head.get("InstanceType", "?")),
            count=1,
            most=1,
            part=f"{_CONFIG}.HeadNode",
        )
    login = config.get("LoginNodes") if isinstance(config, Mapping) else None
    for number, pool in enumerate(_dicts(login, "Pools")):
        count = _number(pool.get("Count"), 0)
        yield Machines(
            resource=resource,
            name=f"login nodes {graph.said(pool.get('Name', '?'))}",
            type=graph.said(pool.get("InstanceType", "?")),
            count=count,
            most=count,
            part=f"{_CONFIG}.LoginNodes.Pools.{number}",
        )
    for number, queue in enumerate(_dicts(config, "SlurmQueues")):
        for inner, compute in enumerate(_dicts(queue, "ComputeResources")):
            types = [graph.said(each) for each in under(compute, {"InstanceType"})]
            paid = str(compute.get("CapacityType", queue.get("CapacityType", ON_DEMAND))).lower()
            yield Machines(
                resource=resource,
                name=f"{graph.said(queue.get('Name', '?'))}/{graph.said(compute.get('Name', '?'))}",
                type=" or ".join(types) or UNKNOWN,
                count=_number(compute.get("MinCount"), 0),
                most=_number(compute.get("MaxCount"), 10),
                paid=ON_DEMAND if paid == "ondemand" else paid.replace("_", " "),
                part=f"{_CONFIG}.Scheduling.SlurmQueues.{number}.ComputeResources.{inner}",
            )


def _dicts(value: Any, name: str) -> Iterator[Mapping[str, Any]]:
    for listed in under(value, {name}):
        yield from (each for each in (listed if isinstance(listed, list) else []) if isinstance(each, Mapping))


def _template_data(graph: Graph, properties: Any) -> list[Mapping[str, Any]]:
    made = map(graph.properties, graph.targets(properties, *LAUNCH))
    found = [each.get("LaunchTemplateData", each) for each in made]
    return [each for each in found if isinstance(each, Mapping)]


def _paid(data: list[Mapping[str, Any]]) -> str:
    markets = [str(each) for one in data for each in under(one.get("InstanceMarketOptions"), {"MarketType"})]
    return markets[0].replace("-", " ") if markets else ON_DEMAND


def _number(value: Any, default: int) -> int:
    try:
        return max(0, int(str(value)))
    except ValueError:
        return default


_KINDS: Final[Mapping[str, Callable[[Graph, Resource], Iterator[Machines]]]] = {
    "AWS::AutoScaling::AutoScalingGroup": _group,
    "AWS::EC2::Instance": _instance,
    "AWS::SageMaker::Cluster": _hyperpod,
    PARALLELCLUSTER_TYPE: _parallelcluster,
}
