"""Whether all nodes see the Python environment that neuron.sh makes: a file says all that its cluster mounts."""

from collections.abc import Iterator

from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.rules_storage import shared_places
from cdk_trainyard.parallelcluster.rules_venv import other_nodes, venvs
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import Problem, either, shown
from cdk_trainyard.tokens import Unknown, unresolved


def venv_place_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[Problem]:
    """Yield environments that other nodes do not see; who brings images or scripts may mount more, and is not judged.

    Args:
        spec: The cluster.
        context: What it stands in.
    """
    head, places = spec.head_node, shared_places(spec, context)
    if isinstance(head, Unknown) or unresolved(*places, *spec.queues) or _has_own(spec):
        return
    for at, path in venvs(("head_node",), head):
        if not any(f"{path}/".startswith(f"{place.rstrip('/')}/") for place in places):
            some = either(dict.fromkeys(f"{place.rstrip('/')}/neuron" for place in places))
            yield Problem(at, f"must be on shared storage, as {some}, got {shown(path)}; no other node would see it")


def _has_own(spec: ParallelClusterSpec) -> bool:
    """Whether nodes start from images, or run scripts, that are not ours."""
    for _, node in [((), spec.head_node), *other_nodes(spec)]:
        actions = [*node.on_start, *node.on_configured]
        own = all(getattr(action.scripts, "is_own", False) for action in actions)
        if node.image_id is not None or not own:
            return True
    return spec.image_id is not None
