"""Stacks that an update does not reach: those of another name or Region are made beside the old ones.

Source: AWS CloudFormation API Reference, UpdateStack (a stack is found by its name in its Region, and no parameter
renames it), read 2026-11-28.
"""

from collections.abc import Collection
from dataclasses import replace

from cdk_trainyard.cli.assemblies import Side
from cdk_trainyard.cli.plan.parallelclusters import plan_added
from cdk_trainyard.cli.plan.rows import Effect, PlanRow

_REMEDY = (
    "other stacks are made beside the old ones, which stay, with their data and their bill, and are not compared; "
    "leave name and Region as they are to update them, or remove them by the old file"
)


def plan_stacks(old: Side, new: Side) -> tuple[list[PlanRow], Side, Side]:
    """Return what happens to stacks of other names and Regions, and the two sides without them.

    Args:
        old: The app before.
        new: The app after.
    """
    others = [name for name in sorted(old.identities.keys() & new.identities.keys()) if _differ(old, new, name)]
    if not others:
        return [], old, new
    before, after = old.identities[others[0]], new.identities[others[0]]
    part = 0 if before[0] != after[0] else 1
    more = f", and {len(others) - 1} more" if len(others) > 1 else ""
    what = f"{('stack', 'Region')[part]} {before[part]} -> {after[part]}{more}"
    rows = [PlanRow(where=others[0], what=what, effect=Effect.BESIDE, remedy=_REMEDY)]
    for one in new.clusters:
        if one.stack in others:
            there = _region(new, one.stack)
            rows += plan_added(one, {each.name for each in old.clusters if _near(_region(old, each.stack), there)})
    same = new.stacks.keys() - {*others}
    return rows, _only(old, same), _only(new, same)


def _differ(old: Side, new: Side, stack: str) -> bool:
    is_renamed = old.identities[stack][0] != new.identities[stack][0]
    return is_renamed or not _near(_region(old, stack), _region(new, stack))


def _region(side: Side, stack: str) -> str:
    return side.identities.get(stack, ("", ""))[1]


def _near(one: str, other: str) -> bool:
    """Return whether two Regions are the same, or may be where nobody says one."""
    return one == other or not one or not other


def _only(side: Side, stacks: Collection[str]) -> Side:
    return replace(
        side,
        stacks={name: template for name, template in side.stacks.items() if name in stacks},
        clusters=[one for one in side.clusters if one.stack in stacks],
    )
