"""Whether the configuration as a whole is one of ParallelCluster's, raw keys included. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.merge import is_list
from cdk_trainyard.parallelcluster.render import (
    Config,
    Wiring,
    cluster_config,
    compute_resource,
    head_node,
    login_pool,
    queue_section,
    typed_config,
)
from cdk_trainyard.parallelcluster.resolve import known, volumes
from cdk_trainyard.parallelcluster.schema import MISSING, schema_problems
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, dotted
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_Place = tuple[At, At, Any, Callable[[], Config], tuple[At, ...]]
"""What may have raw keys: where its section is, where it is said, what says it, its section without them, lists."""
RAW: Final = "raw_overrides"
"""Where raw keys are said."""
_JUDGED: Final = frozenset(("Tags", "Instances"))
"""Sections of names and values that the kinds of their options judge item by item, raw ones apart."""

ANYTHING: Final = Wiring(
    security_groups=("sg-00000000",),
    policies={},
    calls=lambda _node, _event, actions: [(action.script, action.args) for action in actions],
    region="us-east-1",
    subnet_id=lambda given: given if given.startswith("subnet-") else "subnet-00000000",
)
"""What a configuration refers to before any of it exists."""


@dataclass(frozen=True, slots=True)
class Level:
    """Something that says raw keys.

    Attributes:
        config: Where its section is in the configuration.
        at: Where it is said.
        said: What says them.
        rendered: Its section without raw keys.
        raw: The raw keys.
        lists: Lists below it whose items the cluster has options for.
    """

    config: At
    at: At
    said: Any
    rendered: Config
    raw: Mapping[str, Any]
    lists: tuple[At, ...]


def config_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[tuple[Problem, bool]]:
    """The configuration is of ParallelCluster's schema, with types and values.

    Each problem is where it was said, and whether that is in raw keys. What options make is of the schema, too; who
    asks tells it when no rule of theirs has anything to say.
    """
    deepest = sorted(levels(spec, context), key=lambda level: -len(level.config))
    for problem in schema_problems(cluster_config(spec, context, ANYTHING)):
        for level in deepest:
            if problem.at[: len(level.config)] == level.config:
                raw = _raw_path(level.rendered, level.raw, problem.at[len(level.config) :])
                if raw is not None:
                    yield replace(problem, at=(*level.at, RAW, *raw)), True
                    break
        else:
            # of what an option says, its rule says that it is missing, and its kind what is wrong with its form
            if problem.text != MISSING and _JUDGED.isdisjoint(problem.at):
                text = f"makes '{dotted(problem.at)}', which {problem.text}"
                yield Problem(_said(spec, context, problem.at), text), False


def _raw_path(rendered: Any, raw: Any, path: At) -> At | None:
    """Return where raw keys have what the configuration has at a path; None: they do not have it.

    Raw items of a list come behind the rendered ones. A key that is missing is that of the section that lacks it.
    """
    found: list[str | int] = []
    for part in path:
        if isinstance(raw, Mapping) and part in raw:
            rendered = rendered.get(part) if isinstance(rendered, Mapping) else None
            raw = raw[str(part)]
            found.append(part)
        elif is_list(raw) and isinstance(part, int):
            index = part - (len(rendered) if is_list(rendered) else 0)
            if not 0 <= index < len(raw):
                return None
            rendered, raw = None, raw[index]
            found.append(index)
        else:
            return (*found, part) if found and rendered is None else None
    return tuple(found)


def _said(spec: ParallelClusterSpec, context: ParallelClusterFacts, at: At) -> At:
    """Return the part of a cluster that makes a section of the configuration."""
    match at:
        case ("Scheduling", "SlurmQueues", int(queue), "ComputeResources", int(compute), *_):
            return ("queues", queue, "compute", compute)
        case ("Scheduling", "SlurmQueues", int(queue), *_):
            return ("queues", queue)
        case ("LoginNodes", "Pools", int(pool), *_):
            return ("login_pools", pool)
        case ("SharedStorage", int(index), *_):
            places: list[At] = [("mounts", number) for number, _ in known(context.mounts)]
            return [*places, *(place for place, _ in volumes(spec.shared_storage))][index]
    return {"HeadNode": ("head_node",), "Monitoring": ("monitoring",), "Iam": ("iam",)}.get(str(at[0]), ("slurm",))


def levels(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[Level]:
    """Yield everything that says raw keys.

    Args:
        spec: The resolved cluster.
        context: What it stands in.
    """
    for config, at, said, render, lists in _places(spec, context):
        raw: Mapping[str, Any] | None = said.raw_overrides
        if raw is not None and not unresolved(raw):
            yield Level(config, at, said, render(), raw, lists)


def _places(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[_Place]:
    queues: At = ("Scheduling", "SlurmQueues")
    pools: At = ("LoginNodes", "Pools")
    computes: At = ("ComputeResources",)
    yield (), (), spec, partial(typed_config, spec, context, ANYTHING), (queues, pools)
    yield ("HeadNode",), ("head_node",), spec.head_node, partial(head_node, spec, context, ANYTHING), ()
    for index, pool in known(spec.login_pools):
        yield (*pools, index), ("login_pools", index), pool, partial(login_pool, pool, context, ANYTHING), ()
    for index, queue in known(spec.queues):
        render = partial(queue_section, queue, context, ANYTHING)
        yield (*queues, index), ("queues", index), queue, render, (computes,)
        for number, compute in known(queue.compute):
            config, at = (*queues, index, *computes, number), ("queues", index, "compute", number)
            yield config, at, compute, partial(compute_resource, compute), ()
