"""What CloudFormation does to a resource whose template changes: nothing, a change in place, or another resource.

Which properties replace a resource, ``report.replacement`` says. A reference to something that is replaced is a change
too.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.associations import BACKUPS_AFTER_LINKS, ONE_AFTER_THE_OTHER, backed_up, blocked
from cdk_trainyard.report.data import HOLDS_DATA, KEPT, new_destruction, policy
from cdk_trainyard.report.former_keys import FORMER_KEY, leaves_its_key
from cdk_trainyard.report.in_place import UNMOUNT, iops_before_capacity, is_newer_lustre, refused_in_place
from cdk_trainyard.report.nested import imports, properties_of
from cdk_trainyard.report.replacement import MEANWHILE, exports, marked, newer_versions, replaced, resources, stays
from cdk_trainyard.report.target_groups import ONE_LOAD_BALANCER, kept_behind
from cdk_trainyard.report.updates.addresses import overlapping
from cdk_trainyard.report.updates.effects import Effect, PlanRow
from cdk_trainyard.report.updates.endpoints import endpoint_refusal
from cdk_trainyard.report.updates.groups import GROUPS, plan_groups
from cdk_trainyard.report.words import joined

_CLUSTERS = {"AWS::SageMaker::Cluster"}
_NAMES = {"AWS::SageMaker::Cluster": "ClusterName"}
_BESIDE = "give it another id and name beside the old one, move what uses it, then remove the old one"
_SNAPSHOT = "it is deleted, and a last snapshot stays"
_ONE_TYPE = (
    'CloudFormation gives no resource another type ("Update of resource type is not permitted"): destroy its stack '
    "first (trainyard destroy OLD STACK), or give the new one another id"
)

Template = Mapping[str, Any]


def plan_resources(old: Mapping[str, Template], new: Mapping[str, Template]) -> Iterator[PlanRow]:
    """Yield what happens to every resource but ParallelClusters.

    Args:
        old: Stack to its template, before.
        new: Stack to its template, after.
    """
    found = replaced(old, new)
    refused = {
        **dict.fromkeys(blocked(old, new, found), ONE_AFTER_THE_OTHER),
        **dict.fromkeys(backed_up(old, new, found), BACKUPS_AFTER_LINKS),
        **dict.fromkeys(kept_behind(old, new, found), ONE_LOAD_BALANCER),
        **overlapping(old, new, found),
    }
    for stack in sorted({*old, *new}):
        before, after = resources(old.get(stack, {})), resources(new.get(stack, {}))
        for name in sorted({*before, *after}):
            if endpoint := _refused_endpoint(stack, name, before, after):
                yield endpoint
                continue
            rows = _rows(stack, name, before.get(name), after.get(name), found)
            if remedy := refused.get((stack, name)):
                rows = (replace(row, effect=Effect.REFUSED, remedy=remedy) for row in [*rows])
            yield from rows
            what, later = new_destruction(before[name], after[name]) if name in before and name in after else ("", "")
            if what:
                kind = after[name]["Type"]
                yield PlanRow(where=f"{stack}/{name}", what=f"{kind} {what}", effect=Effect.FREE, remedy=later)
    yield from _exports_in_use(old, new, found)


def _refused_endpoint(stack: str, name: str, old: Template, new: Template) -> PlanRow | None:
    kinds = [side.get(name, {}).get("Type") for side in (old, new)]
    if kinds != ["AWS::EC2::VPCEndpoint"] * 2:
        return None
    before, after = (properties_of(side[name]) for side in (old, new))
    remedy = endpoint_refusal((before, old), (after, new))
    what = f"AWS::EC2::VPCEndpoint {', '.join(_changed(before, after))}"
    return PlanRow(where=f"{stack}/{name}", what=what, effect=Effect.REFUSED, remedy=remedy) if remedy else None


def _rows(
    stack: str,
    name: str,
    before: Template | None,
    after: Template | None,
    found: Mapping[tuple[str, str], list[str]],
) -> Iterator[PlanRow]:
    kind = str((before or after or {})["Type"])
    where = f"{stack}/{name}"
    if before is not None and after is not None and after["Type"] != kind:
        yield PlanRow(where=where, what=f"{kind} -> {after['Type']}", effect=Effect.REFUSED, remedy=_ONE_TYPE)
    elif kind == PARALLELCLUSTER_TYPE:
        return
    elif before is None:
        yield PlanRow(where=where, what=f"{kind} is added", effect=Effect.FREE)
    elif after is None:
        yield _removed(where, kind, before)
    elif keys := found.get((stack, name)):
        yield _replacement(where, kind, before, keys)
    else:
        properties = marked(properties_of(after), stack, newer_versions(found), {})
        yield from _in_place(where, kind, properties_of(before), properties)


def _in_place(where: str, kind: str, before: Template, after: Template) -> Iterator[PlanRow]:
    groups = [*plan_groups(where, before, after)] if kind in _CLUSTERS else []
    yield from groups
    changed = [key for key in _changed(before, after) if not groups or key not in GROUPS]
    if not changed:
        return
    effect, remedy = _changing(kind, before, after)
    what = f"{kind} {', '.join(changed)}"
    yield PlanRow(where=where, what=what, effect=effect, remedy=remedy, properties=frozenset(changed))


def _changing(kind: str, before: Template, after: Template) -> tuple[Effect, str]:
    """Return what a change in place does, and what to do about it."""
    if refusals := refused_in_place(kind, before, after):
        return Effect.REFUSED, f"{'; '.join(refusals)}; leave it as it is, or {_BESIDE}"
    if waits := iops_before_capacity(kind, before, after):
        return Effect.REFUSED, waits
    if leaves_its_key(kind, before, after):
        return Effect.LOST, FORMER_KEY
    if is_newer_lustre(kind, before, after):
        return Effect.STOP, UNMOUNT
    return Effect.FREE, ""


def _removed(where: str, kind: str, before: Template) -> PlanRow:
    deletion = policy(before, "DeletionPolicy")
    if deletion == "Snapshot":
        return PlanRow(where=where, what=f"{kind} is removed", effect=Effect.FREE, remedy=_SNAPSHOT)
    if deletion in KEPT and not kind.startswith("Custom::"):
        return PlanRow(where=where, what=f"{kind} is removed, and kept", effect=Effect.FREE, remedy=stays(before))
    if kind not in HOLDS_DATA | _CLUSTERS:
        return PlanRow(where=where, what=f"{kind} is removed", effect=Effect.FREE)
    lost = "the cluster" if kind in _CLUSTERS else "everything in it"
    return PlanRow(where=where, what=f"{kind} is removed", effect=Effect.LOST, remedy=f"{lost} goes; retain it first")


def _replacement(where: str, kind: str, before: Template, keys: list[str]) -> PlanRow:
    effect, remedy = _replacing(kind, before, keys)
    what = f"{kind} {', '.join(keys)}"
    return PlanRow(where=where, what=what, effect=effect, remedy=remedy, properties=frozenset(keys))


def _replacing(kind: str, before: Template, keys: list[str]) -> tuple[Effect, str]:
    """Return what a replacement does, and what to do instead."""
    if (name := _NAMES.get(kind)) and name in properties_of(before) and name not in keys:
        return Effect.REFUSED, f"CloudFormation cannot make a second one of the same {name}; {_BESIDE}"
    if kind in _CLUSTERS:
        return Effect.LOST, f"every node goes; {_BESIDE}"
    if kind not in HOLDS_DATA:
        return Effect.REPLACED, MEANWHILE.get(kind, "")
    replacement = policy(before, "UpdateReplacePolicy")
    if replacement == "Snapshot":
        return Effect.LOST, f"an empty one is made, of the old one a last snapshot stays; {_BESIDE}"
    if replacement in KEPT:
        return Effect.LOST, f"an empty one is made, the old one stays behind with the data; {_BESIDE}"
    return Effect.LOST, f"everything in it goes; {_BESIDE}"


def _exports_in_use(
    old: Mapping[str, Template], new: Mapping[str, Template], found: Mapping[tuple[str, str], list[str]]
) -> Iterator[PlanRow]:
    """Yield what a stack would take away from stacks that are updated after it, or stay as they are: it is refused."""
    users, staying = _users(old), _users(new)
    there = {name for template in old.values() for name in exports(template)}
    waiting = {stack for stack, template in new.items() if not there.issuperset(imports(template))}
    for stack in sorted(old.keys() & new.keys()):
        before, after = exports(old[stack]), exports(new[stack])
        for name in sorted(before.keys() & users.keys()):
            if name in after and after[name] == before[name] == marked(after[name], stack, found, {}):
                continue
            yield PlanRow(
                where=stack,
                what=f"export {name} {'changes' if name in after else 'is removed'}",
                effect=Effect.REFUSED,
                remedy="; ".join(_freeing(users[name], [] if name in after else staying.get(name, []), waiting)),
            )


def _freeing(users: Sequence[str], staying: Sequence[str], waiting: AbstractSet[str]) -> Iterator[str]:
    """Yield how an export is freed of those that use it: of those that go on using it, only their end does.

    Those that are waiting use what is not there yet, so they cannot be updated first.
    """
    if updated := [user for user in users if user not in staying]:
        is_first = waiting & {*updated}
        first = "deploy the new one beside the old one, then " if is_first else ""
        rather = "" if is_first else ", or make the new one beside it"
        yield (
            f"it is used by {joined(updated)} until an update that comes later; {first}update {joined(updated)} "
            f"without it before this stack (cdk deploy --exclusively){rather}"
        )
    if staying:
        yield f"it is used by {joined(staying)} for good: run 'trainyard destroy OLD {' '.join(staying)}' first"


def _users(templates: Mapping[str, Template]) -> dict[str, list[str]]:
    """Return the stacks that use each export."""
    users: dict[str, list[str]] = {}
    for stack, template in sorted(templates.items()):
        for name in dict.fromkeys(imports(template)):
            users.setdefault(name, []).append(stack)
    return users


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
