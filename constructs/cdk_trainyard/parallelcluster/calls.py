"""Custom actions (OnNodeStart, OnNodeConfigured, OnNodeUpdated): the script in S3 and the arguments of each node.

Head node and login nodes call plans under fixed keys, since ParallelCluster refuses changes of what they begin with;
compute nodes call scripts under the hash of their content. A node with a plan calls it at every event, an empty one
too: what is called there could not be added later.
"""

from collections.abc import Iterator, Sequence
from typing import cast

from aws_cdk import aws_s3 as s3
from constructs import Construct, IDependable

from cdk_trainyard.parallelcluster.render import COMPUTE, HEAD, LOGIN, Call
from cdk_trainyard.parallelcluster.scripts import FixedScripts, NodeScripts, PlanLine, bootstrap_uri
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction, LoginNode

_START, _CONFIGURED, _UPDATED = "OnNodeStart", "OnNodeConfigured", "OnNodeUpdated"


class NodeCalls:
    """The scripts of a cluster: what is uploaded for it, and what each node calls.

    Args:
        scope: Where the fixed keys are defined.
        spec: The resolved cluster.

    Attributes:
        folders: The uploaded folders.
        fixed: The plans under fixed keys, or None when no node has one.
    """

    def __init__(self, scope: Construct, spec: ParallelClusterSpec) -> None:
        self.folders = _folders(spec)
        plans = dict(_plans(spec))
        bucket = _plan_bucket(plans)
        self._planned = {name.rpartition("/")[0] for name in plans}
        self.fixed = (
            None
            if bucket is None
            else FixedScripts(
                scope, "FixedScripts", bucket=bucket, name=f"parallelcluster/{spec.cluster_name}", plans=plans
            )
        )

    @property
    def readable(self) -> list[NodeScripts | FixedScripts]:
        """What nodes may read."""
        return [*self.folders, *([self.fixed] if self.fixed else [])]

    @property
    def uploaded(self) -> list[IDependable]:
        """What must be there before nodes start."""
        return [scripts.uploaded for scripts in self.readable]

    def calls(self, node: str, event: str, actions: Sequence[CustomAction]) -> list[Call]:
        """Return what a node calls at an event.

        Args:
            node: ``"head"``, ``"login/<pool>"`` or ``"compute/<queue>"``.
            event: ``OnNodeStart``, ``OnNodeConfigured`` or ``OnNodeUpdated``.
            actions: The actions.
        """
        if node.startswith(COMPUTE):
            return [_by_hash(action) for action in actions]
        calls = [(action.script, action.args) for action in actions if not _is_folder(action)]
        return [*calls, self._plan(node, event)] if node in self._planned else calls

    def _plan(self, node: str, event: str) -> Call:
        fixed = cast("FixedScripts", self.fixed)
        # the last argument changes with the scripts, where a change is allowed: it makes ParallelCluster call at all
        version = [fixed.content_hash] if event == _UPDATED else []
        return fixed.bootstrap_uri, ["plan", fixed.plan_uri(f"{node}/{event}"), *version]


def _by_hash(action: CustomAction) -> Call:
    if action.scripts is None:
        return action.script, action.args
    return bootstrap_uri(action.scripts), ["run", action.scripts.s3_uri, action.script, *action.args]


def _is_folder(action: CustomAction) -> bool:
    return action.scripts is not None


def _plans(spec: ParallelClusterSpec) -> Iterator[tuple[str, Sequence[PlanLine]]]:
    """Yield every plan of the head node and the login nodes.

    A change of the scripts reaches a node that runs already at the next update: its plan repeats what configured it,
    and the node skips what it has run in that very version.
    """
    nodes: list[tuple[str, LoginNode]] = [(HEAD, spec.head_node)]
    nodes += [(f"{LOGIN}/{pool.name}", pool) for pool in spec.login_pools]
    for node, given in nodes:
        start, configured, updated = (
            [action for action in actions if _is_folder(action)]
            for actions in (given.on_start, given.on_configured, given.on_updated)
        )
        if not (start or configured or updated):
            continue
        first = [PlanLine(action=action, once=True) for action in configured]
        yield f"{node}/{_START}", [PlanLine(action=action, once=True) for action in start]
        yield f"{node}/{_CONFIGURED}", first
        yield f"{node}/{_UPDATED}", [*first, *(PlanLine(action=action, once=False) for action in updated)]


def _plan_bucket(plans: dict[str, Sequence[PlanLine]]) -> s3.IBucket | None:
    return next((line.action.scripts.bucket for lines in plans.values() for line in lines if line.action.scripts), None)


def _folders(spec: ParallelClusterSpec) -> list[NodeScripts]:
    actions = [action for node in (spec.head_node, *spec.login_pools) for action in _all_actions(node)]
    actions += [action for queue in spec.queues for action in (*queue.on_start, *queue.on_configured)]
    return list({action.scripts.node.path: action.scripts for action in actions if action.scripts is not None}.values())


def _all_actions(node: LoginNode) -> Sequence[CustomAction]:
    return (*node.on_start, *node.on_configured, *node.on_updated)
