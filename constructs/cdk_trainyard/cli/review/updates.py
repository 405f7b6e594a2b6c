"""What ParallelCluster itself says about changed configurations, for the change of a review."""

from pathlib import Path
from typing import Final

from cdk_trainyard.cli._exits import Missing, Wrong
from cdk_trainyard.cli.assemblies import load
from cdk_trainyard.cli.contract.collect import RESOURCE_TYPE
from cdk_trainyard.cli.plan.parallelclusters import plan_clusters
from cdk_trainyard.report import Assembly
from cdk_trainyard.report.change import EFFECT_OF, Row
from cdk_trainyard.report.updates import Effect

ASKED: Final = "ParallelCluster's update policies"


def updates(old: Assembly, new: Assembly) -> tuple[list[Row], str]:
    """Return rows for the ParallelClusters of two assemblies that change, and why there are none.

    Args:
        old: What there is.
        new: What there will be.
    """
    known = {(each.stack, each.name): each for each in new.resources.values() if each.type == RESOURCE_TYPE}
    if not known or not all((side.folder / "manifest.json").is_file() for side in (old, new)):
        return [], ""
    places = {Path(stack.file).name.removesuffix(".template.json"): stack.id for stack in new.stacks}
    try:
        before, after = (load(side.folder, Path()) for side in (old, new))
        rows = [*plan_clusters(before, after)]
    except Missing:
        return [], "not installed: 'trainyard contract --install' brings its program"
    except Wrong as error:
        return [], f"failed: {error}"
    found = []
    for row in rows:
        stack, _, name = row.where.partition("/")
        resource = known.get((places.get(stack, stack), name))
        if resource is not None and (resource.key in old.resources or row.effect is Effect.LOST):
            found.append(
                Row(
                    where=resource.path,
                    type=resource.type,
                    effect=EFFECT_OF[row.effect],
                    what=row.what,
                    remedy=row.remedy,
                )
            )
    return found, ""
