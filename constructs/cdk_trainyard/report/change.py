"""What a change does: added, changed, replaced and removed resources, data at risk first, and what widened.

Source: AWS CloudFormation User Guide, "Update behaviors of stack resources" (read 2026-11).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from cdk_trainyard.report.assembly import Assembly, Resource
from cdk_trainyard.report.associations import ONE_AFTER_THE_OTHER, blocked
from cdk_trainyard.report.data import HOLDS_DATA, KEPT, new_destruction, policy_of
from cdk_trainyard.report.former_keys import FORMER_KEY, leaves_its_key
from cdk_trainyard.report.in_place import refused_in_place
from cdk_trainyard.report.replacement import MEANWHILE, perhaps_replacing, replaced, stays
from cdk_trainyard.report.target_groups import ONE_LOAD_BALANCER, kept_behind
from cdk_trainyard.report.words import counted, joined

EFFECTS: Final = ("lost", "refused", "replaced", "stopped", "drained", "removed", "changed", "added")
"""What a change does to a resource, the worst first; fleets are stopped or drained for some."""
CLUSTERS: Final = {"AWS::SageMaker::Cluster", "Custom::PclusterCluster"}
_NAMES: Final = {"AWS::SageMaker::Cluster": "ClusterName"}
_MANY: Final = 8
_LONG: Final = 60
_LEAD: Final = 20
_ABSENT: Final = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What happens to a resource.

    Attributes:
        where: Its path.
        type: Its type.
        effect: One of `EFFECTS`.
        what: What changes.
        remedy: What to know about it.
        written: Where the new deployment file or app says it. Default - nobody says.
    """

    where: str
    type: str
    effect: str
    what: str
    remedy: str = ""
    written: str = ""


def change(
    old: Assembly,
    new: Assembly,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    updates: Iterable[Row] = (),
    alone: str = "",
) -> dict[str, Any]:
    """Return what a change does, as data.

    Args:
        old: What there is.
        new: What there will be.
        before: The review of what there is.
        after: The review of what there will be.
        updates: What others say about updates of resources, in place of what CloudFormation sees of them.
        alone: The one stack that is compared. Default - all are.
    """
    told: dict[str, list[Row]] = {}
    for row in updates:
        told.setdefault(row.where, []).append(row)
    rows = sorted(_rows(old, new, told), key=lambda row: (EFFECTS.index(row.effect), row.where))
    ours, theirs = _allowed(before), _allowed(after)
    return {
        "sentence": (f"In {alone} alone: " if alone else "") + _sentence(rows),
        "stack": alone,
        "rows": [asdict(row) for row in rows],
        "widened": [each for each in theirs if each not in ours],
        "narrowed": [each for each in ours if each not in theirs],
        "cost": {"before": _hourly(before), "after": _hourly(after)},
    }


def _hourly(review: Mapping[str, Any]) -> str:
    return str((review.get("cost") or {}).get("span", ""))


def _sentence(rows: Sequence[Row]) -> str:
    counts = {effect: sum(row.effect == effect for row in rows) for effect in EFFECTS}
    said = [f"{counted(count, 'resource')} {_WORDS[effect]}" for effect, count in counts.items() if count]
    return f"{joined(said)}." if said else "Nothing changes."


_WORDS: Final = {
    "lost": "with data or a cluster lost",
    "refused": "whose update is refused",
    "replaced": "replaced",
    "stopped": "for which the fleet is stopped",
    "drained": "for which nodes are drained",
    "removed": "removed",
    "changed": "changed in place",
    "added": "added",
}


def _rows(old: Assembly, new: Assembly, told: Mapping[str, Sequence[Row]]) -> Iterator[Row]:
    before = {stack.id: stack.template for stack in old.stacks}
    after = {stack.id: stack.template for stack in new.stacks}
    found = replaced(before, after)
    refused = {
        **dict.fromkeys(blocked(before, after, found), ONE_AFTER_THE_OTHER),
        **dict.fromkeys(kept_behind(before, after, found), ONE_LOAD_BALANCER),
    }
    ours, theirs = old.resources, new.resources
    for key in {**ours, **theirs}:
        one, other = ours.get(key), theirs.get(key)
        if other is not None and (remedy := refused.get((other.stack, other.name))):
            row = _row(other, "refused", f"a new {other.type}", remedy)
            yield replace(row, written=other.origin.written)
        elif one is None and other is not None:
            added = replace(_row(other, "added", f"a new {other.type}"), written=other.origin.written)
            yield from told.get(other.path, [added])
        elif one is not None and (other is None or one.type != other.type):
            yield _removed(one)
        elif one is not None and other is not None:
            kept = _kept(one, other, found.get((other.stack, other.name), []))
            known = told.get(other.path, [])
            yield from known
            if kept is not None and not (known and kept.effect == "changed"):
                yield replace(kept, written=_written(one, other))


def _written(one: Resource, other: Resource) -> str:
    """Return where the new file says what changes: of several properties, the line that is around all of them."""
    lines = {other.origin.of(path) for path, _, _ in differences(one.properties, other.properties)}
    return lines.pop() if len(lines) == 1 else other.origin.written


def _removed(one: Resource) -> Row:
    is_kept = policy_of(one, "DeletionPolicy") in KEPT
    if is_kept:
        return _row(one, "removed", f"{one.type} leaves the stack", stays(one.body))
    if one.type in HOLDS_DATA | CLUSTERS:
        what = "the cluster with all its nodes" if one.type in CLUSTERS else "everything in it"
        return _row(one, "lost", f"{one.type} is removed", f"{what} is deleted")
    return _row(one, "removed", f"{one.type} is removed")


def _kept(one: Resource, other: Resource, keys: Sequence[str]) -> Row | None:
    changes = [*differences(one.properties, other.properties)]
    if keys:
        named = {path.split(".")[0] for path, _, _ in changes}
        behind = [key for key in keys if key not in named]
        refers = [f"{joined(behind)}: what it refers to is another one"] if behind else []
        return _replacement(one, other, keys, "; ".join([*refers, *([_said(changes)] if changes else [])]))
    attributes = [*differences(_attributes(one), _attributes(other))]
    if not changes and not attributes:
        return None
    if refusals := refused_in_place(one.type, one.properties, other.properties):
        return _row(other, "refused", _said(changes), "; ".join(refusals))
    if leaves_its_key(one.type, one.properties, other.properties):
        return _row(other, "lost", _said(changes), FORMER_KEY)
    if perhaps := perhaps_replacing(one.type, one.properties, other.properties):
        effect = "replaced" if one.type in HOLDS_DATA | CLUSTERS else "changed"
        remedy = f"{joined(perhaps)} may replace it: AWS's page of the type says when"
        return _row(other, effect, _said([*changes, *attributes]), remedy)
    known = _known(one.type, [path for path, _, _ in changes]) if changes else "only CloudFormation's own attributes"
    remedy = new_destruction(one.body, other.body)[1] or known
    return _row(other, "changed", _said([*changes, *attributes]), remedy)


def _known(kind: str, changed: Sequence[str]) -> str:
    of, remedy = _UPDATES.get(kind, ("", ""))
    return remedy if any(path.startswith(of) for path in changed) else ""


_UPDATES: Final = {
    "AWS::AutoScaling::AutoScalingGroup": (
        "",
        "instances that run stay as they are, unless an UpdatePolicy replaces them",
    ),
    "AWS::EC2::LaunchTemplate": (
        "",
        "a new version; instances that run keep the old one, unless an UpdatePolicy replaces them",
    ),
    "AWS::FSx::FileSystem": (
        "StorageCapacity",
        "it grows in place: clients may wait a few minutes, and it grows again after six hours at the earliest",
    ),
    "AWS::SageMaker::Cluster": (
        "",
        "nodes that run stay; those of a group that is removed, renamed or smaller end, with their jobs",
    ),
    "Custom::PclusterCluster": (
        "",
        "ParallelCluster decides by its own update policies: trainyard plan OLD NEW asks them",
    ),
}
"""What a change in place does, and of which property; nothing: of any. Sources: the user guides of Auto Scaling
("UpdatePolicy attribute"), EC2 ("Modify a launch template"), FSx for Lustre ("Managing storage capacity", read
2026-11-24), SageMaker ("UpdateCluster") and ParallelCluster ("pcluster update-cluster")."""


def _replacement(one: Resource, other: Resource, keys: Sequence[str], what: str) -> Row:
    name = _NAMES.get(one.type)
    if name and name in one.properties and name not in keys:
        return _row(other, "refused", what, f"CloudFormation cannot make a second one of the same {name}")
    if one.type in CLUSTERS:
        return _row(other, "lost", what, "the cluster is made anew, and every node goes")
    if one.type not in HOLDS_DATA:
        return _row(other, "replaced", what, MEANWHILE.get(one.type, ""))
    if policy_of(one, "UpdateReplacePolicy") in KEPT:
        return _row(other, "lost", what, "an empty one is made; the old one stays in the account, with the data")
    return _row(other, "lost", what, "an empty one is made; the old one is deleted with everything in it")


def _row(resource: Resource, effect: str, what: str, remedy: str = "") -> Row:
    return Row(where=resource.path, type=resource.type, effect=effect, what=what, remedy=remedy)


def _attributes(resource: Resource) -> dict[str, Any]:
    return {name: value for name, value in resource.body.items() if name not in {"Properties", "Metadata", "Type"}}


def differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the innermost differences of two values: path, before, after.

    Args:
        before: One value.
        after: The other.
        path: Where they stand.
    """
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {**before, **after}:
            inner = f"{path}.{name}" if path else str(name)
            yield from differences(before.get(name, _ABSENT), after.get(name, _ABSENT), inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}.{index}")
    elif before != after:
        yield path, before, after


def _said(changes: Sequence[tuple[str, Any, Any]]) -> str:
    said = [f"{path}: {_pair(one, other)}" for path, one, other in changes[:_MANY]]
    rest = len(changes) - len(said)
    return "; ".join([*said, *([f"and {counted(rest, 'more change')}"] if rest else [])])


def _pair(one: Any, other: Any) -> str:
    """Return what was and what is; of long texts, from a little before where they begin to differ."""
    before, after = _text(one), _text(other)
    same = _common(before, after) if max(len(before), len(after)) > _LONG else 0
    start = max(0, same - _LEAD)
    return f"{_short(before, start)} → {_short(after, start)}"


def _common(one: str, other: str) -> int:
    """Return how many letters two texts begin with together."""
    differing = (number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def _text(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _short(text: str, start: int) -> str:
    shown = " ".join(text[start : start + _LONG].split())
    return f"{'…' if start else ''}{shown}{'…' if len(text) > start + _LONG else ''}"


def _allowed(review: Mapping[str, Any]) -> list[str]:
    """Return sentences for all that is open or allowed, so that two reviews can be held against one another."""
    network = review["network"]
    said = [f"From the internet: {each['what']} by {each['ports']}, for {each['who']}" for each in network["openings"]]
    said += [each["sentence"] for each in network["rules"]]
    for role in review["permissions"]["roles"]:
        said += [f"{role['name']} can be taken on by {each}" for each in role["trusts"]]
        said += [f"{role['name']} has {each}" for each in role["managed"]]
        for grant in role["grants"]:
            if grant["effect"] == "Allow":
                where = f", only where {grant['condition']}" if grant["condition"] else ""
                said += [
                    f"{role['name']} may {act} on {on}{where}" for act in grant["actions"] for on in grant["resources"]
                ]
    return [*dict.fromkeys(said)]
