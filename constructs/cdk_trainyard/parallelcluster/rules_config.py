"""Whether the configuration as a whole is one of ParallelCluster's, raw keys included. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from cdk_trainyard.parallelcluster.context import ClusterContext
from cdk_trainyard.parallelcluster.merge import conflicts, is_list
from cdk_trainyard.parallelcluster.render import (
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
_RAW: Final = "raw_overrides"

ANYTHING: Final = Wiring(
    security_groups=("sg-00000000",),
    policies={},
    calls=lambda _node, _event, actions: [(action.script, action.args) for action in actions],
    region="us-east-1",
    subnet_id=lambda given: given if given.startswith("subnet-") else "subnet-00000000",
)
"""What a configuration refers to before any of it exists."""


@dataclass(frozen=True, slots=True)
class _Level:
    """Something that has raw keys.

    Attributes:
        config: Where its section is in the configuration.
        at: Where it is said.
        rendered: Its section without raw keys.
        raw: The raw keys, or None.
        lists: Lists below it whose items the cluster has options for.
    """

    config: At
    at: At
    rendered: Mapping[str, Any]
    raw: Mapping[str, Any] | None
    lists: tuple[At, ...] = ()


def override_problems(spec: ParallelClusterSpec, context: ClusterContext) -> Problems:
    """Raw keys add to what options say, and contradict none of it."""
    for level in _levels(spec, context):
        if level.raw is None:
            continue
        at = (*level.at, _RAW)
        for path in conflicts(level.rendered, level.raw):
            yield Problem((*at, *path), "is said by an option already; use the option", of_key=True)
        for path in level.lists:
            if _found(level.raw, path):
                yield Problem((*at, *path), "is what the cluster has options for; use them", of_key=True)


def config_problems(spec: ParallelClusterSpec, context: ClusterContext) -> Problems:
    """Raw keys are of ParallelCluster's schema, with types and values."""
    return (problem for problem, is_raw in _schema_problems(spec, context) if is_raw)


def option_problems(spec: ParallelClusterSpec, context: ClusterContext) -> Problems:
    """What the options make is of ParallelCluster's schema: asked when no rule of theirs has anything to say."""
    return (problem for problem, is_raw in _schema_problems(spec, context) if not is_raw)


def _schema_problems(spec: ParallelClusterSpec, context: ClusterContext) -> Iterator[tuple[Problem, bool]]:
    """Yield what the schema says, each where it was said, and whether that is in raw keys."""
    levels = sorted(_levels(spec, context), key=lambda level: -len(level.config))
    for problem in schema_problems(cluster_config(spec, context, ANYTHING)):
        for level in levels:
            if problem.at[: len(level.config)] == level.config:
                raw = _raw_path(level.rendered, level.raw, problem.at[len(level.config) :])
                if raw is not None:
                    yield replace(problem, at=(*level.at, _RAW, *raw)), True
                    break
        else:
            if problem.text != MISSING:  # of what an option says, its rule says that it is missing
                text = f"makes '{dotted(problem.at)}', which {problem.text}"
                yield Problem(_said(spec, context, problem.at), text), False


def _raw_path(rendered: Any, raw: Any, path: At) -> At | None:
    """Return where raw keys have what the configuration has at a path; None: they do not have it.

    Raw items of a list come behind the rendered ones. A key that is missing is in the section that lacks it.
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
            return tuple(found) if found and rendered is None else None
    return tuple(found)


def _said(spec: ParallelClusterSpec, context: ClusterContext, at: At) -> At:
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


def _levels(spec: ParallelClusterSpec, context: ClusterContext) -> Iterator[_Level]:
    queues: At = ("Scheduling", "SlurmQueues")
    pools: At = ("LoginNodes", "Pools")
    rendered = typed_config(spec, context, ANYTHING)
    yield _Level((), (), rendered, _raw(spec), (queues, pools))
    yield _Level(("HeadNode",), ("head_node",), head_node(spec, context, ANYTHING), _raw(spec.head_node))
    for index, pool in known(spec.login_pools):
        section = login_pool(pool, context, ANYTHING)
        yield _Level((*pools, index), ("login_pools", index), section, _raw(pool))
    for index, queue in known(spec.queues):
        section = queue_section(queue, context, ANYTHING)
        computes: At = ("ComputeResources",)
        yield _Level((*queues, index), ("queues", index), section, _raw(queue), (computes,))
        for number, compute in known(queue.compute):
            config, at = (*queues, index, *computes, number), ("queues", index, "compute", number)
            yield _Level(config, at, compute_resource(compute), _raw(compute))


def _raw(said: Any) -> Mapping[str, Any] | None:
    raw: Mapping[str, Any] | None = said.raw_overrides
    return None if unresolved(raw) else raw


def _found(raw: Any, path: At) -> bool:
    for part in path:
        if not isinstance(raw, Mapping) or part not in raw:
            return False
        raw = raw[str(part)]
    return True
