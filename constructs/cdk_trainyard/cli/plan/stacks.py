"""Stacks that an update does not reach: those of another name or Region, and those that only the old file has.

Source: AWS CloudFormation API Reference, UpdateStack (a stack is found by its name in its Region, and no parameter
renames it, and none is deleted by the update of another), read 2026-11-28.
"""

from collections.abc import Collection
from dataclasses import replace

from cdk_trainyard.cli.assemblies import Side
from cdk_trainyard.cli.plan.parallelclusters import plan_added
from cdk_trainyard.report.updates import Effect, PlanRow

_REMEDY = (
    "other stacks are made beside the old ones, which stay, with their data and their bill, and are not compared; "
    "leave name and Region as they are to update them, or remove them by the old file"
)


_STAYS = (
    "stays as it is and goes on costing: no update removes a stack; to have it gone, run 'trainyard destroy OLD {}' "
    "first"
)


def plan_stacks(old: Side, new: Side) -> tuple[list[PlanRow], Side, Side]:
    """Return what happens to whole stacks, and the two sides without those of other names and Regions.

    A stack that only the old side has is on both sides then, as it stays as it is.

    Args:
        old: The app before.
        new: The app after.
    """
    gone = _gone(old, new)
    rows = [
        PlanRow(where=name, what="the stack is in OLD alone", effect=Effect.STAYS, remedy=_STAYS.format(name))
        for name in gone
    ]
    new = _with(new, old, gone)
    others = [name for name in sorted(old.identities.keys() & new.identities.keys()) if _differ(old, new, name)]
    if not others:
        return rows, old, new
    before, after = old.identities[others[0]], new.identities[others[0]]
    part = 0 if before[0] != after[0] else 1
    more = f", and {len(others) - 1} more" if len(others) > 1 else ""
    what = f"{('stack', 'Region')[part]} {before[part]} -> {after[part]}{more}"
    rows.append(PlanRow(where=others[0], what=what, effect=Effect.BESIDE, remedy=_REMEDY))
    for one in new.clusters:
        if one.stack in others:
            there = _region(new, one.stack)
            rows += plan_added(one, {each.name for each in old.clusters if _near(_region(old, each.stack), there)})
    same = new.stacks.keys() - {*others}
    return rows, _only(old, same), _only(new, same)


def _gone(old: Side, new: Side) -> list[str]:
    """Return the stacks that are on the old side alone, under their id and under their name."""
    kept = {name for name, _ in new.identities.values()}
    return sorted(
        stack
        for stack, (name, _) in old.identities.items()
        if stack in old.stacks and stack not in new.stacks and name not in kept
    )


def _with(new: Side, old: Side, stacks: Collection[str]) -> Side:
    return replace(
        new,
        stacks={**new.stacks, **{name: old.stacks[name] for name in stacks}},
        clusters=[*new.clusters, *(one for one in old.clusters if one.stack in stacks)],
    )


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
