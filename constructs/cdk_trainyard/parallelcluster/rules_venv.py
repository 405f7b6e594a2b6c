"""Whether nodes are told of the Python environment that neuron.sh makes on the head node. Pure."""

from collections.abc import Iterator

from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.node_paths import NodePath
from cdk_trainyard.parallelcluster import rules_nodes
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.facts import user_of
from cdk_trainyard.parallelcluster.resolve import known
from cdk_trainyard.parallelcluster.rules_storage import scratch_places, shared_places
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_nodes import NodeSoftware
from cdk_trainyard.problems import At, Problem, either, shown
from cdk_trainyard.tokens import Unknown, unresolved

Problems = Iterator[Problem]


def venv_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """The head node makes the environment where it is mounted already, and the others are told of that one."""
    head = spec.head_node
    actions = [*head.on_configured, *head.on_start]
    said = [value for action in actions for value in (action, action.script, action.args, *action.args)]
    if isinstance(head, Unknown) or unresolved(head.on_configured, head.on_start, *said):
        return
    yield from _early_problems(spec, context)
    yield from _emptied_problems(spec, context)
    asked = any("--venv" in action.args for action in actions)
    made = [path for _, path in venvs(("head_node",), head)]
    for node_at, node in other_nodes(spec):
        for at, path in venvs(node_at, node):
            if made and path not in made:
                yield Problem(at, f"must be {either(made)}, which the head node makes, got {shown(path)}")
            elif not asked:
                text = "must be left out where the head node has no --venv, and makes none"
                yield Problem((*at[:-1],), f"{text}, got {shown(path)}", of_key=True)


def _early_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """Shared directories but ``/home`` are mounted after ``on_start``, over what it has made there.

    Source: user guide of ParallelCluster, "Custom bootstrap actions", read 2026-11: it runs before storage is set up.
    """
    *places, _ = shared_places(spec, context)
    for at, path in venvs(("head_node",), spec.head_node):
        inside = [place for place in places if not unresolved(place) and f"{path}/".startswith(f"{place.rstrip('/')}/")]
        if at[1] == "on_start" and inside:
            text = f"must be given to 'on_configured': {inside[0]} is mounted after 'on_start', over what that has made"
            yield Problem(at, f"{text}, got {shown(path)}")


def _emptied_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """The script empties an environment (``python3 -m venv --clear``), and ends where something else is in it."""
    taken = [
        *shared_places(spec, context),
        *(place for _, mount in known(context.mounts) for place in mount.repositories),
        *(place for at, place in scratch_places(spec) if at[0] == "head_node"),
        f"/home/{user_of(spec.operating_system)}",
    ]
    places = [place.rstrip("/") for place in taken if not unresolved(place)]
    for at, path in venvs(("head_node",), spec.head_node):
        if around := next((place for place in places if f"{place}/".startswith(f"{path}/")), None):
            shared = next((place for place in places if f"{path}/".startswith(f"{place}/")), path)
            text = f"must not be {around} or around it, got {shown(path)}; {rules_nodes.NEURON} takes no directory with"
            yield Problem(at, f"{text} something else in it: name one of its own, as {shared}/neuron")


def other_nodes(spec: ParallelClusterSpec) -> Iterator[tuple[At, NodeSoftware]]:
    """Yield login nodes and queues, with their places."""
    yield from ((("login_pools", index), pool) for index, pool in known(spec.login_pools))
    yield from ((("queues", index), queue) for index, queue in known(spec.queues))


def venvs(at: At, node: NodeSoftware) -> Iterator[tuple[At, str]]:
    """Yield the environments that a node is told of, as the script of ours takes them."""
    for event in ("on_start", "on_configured", "on_updated"):
        for index, action in known(getattr(node, event, ())):
            if unresolved(action.script, action.args, *action.args) or not getattr(action.scripts, "is_own", False):
                continue
            match action.script, *action.args:
                case (rules_nodes.NEURON, "--venv", path) if NodePath().problem(path, NOWHERE) is None:
                    yield (*at, event, index, "args", 1), path
