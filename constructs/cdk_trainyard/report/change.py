"""What a change does: added, changed, replaced and removed resources, data at risk first, and what widened.

Source: AWS CloudFormation User Guide, "Update behaviors of stack resources" (read 2026-11).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.assembly import Assembly, Resource
from cdk_trainyard.report.data import KEPT, policy_of
from cdk_trainyard.report.replacement import stays
from cdk_trainyard.report.updates import Effect, PlanRow, plan_templates
from cdk_trainyard.report.words import counted, joined

EFFECTS: Final = (
    "lost", "refused", "replaced", "stopped", "drained", "interrupted", "uncertain", "removed", "changed", "added",
)  # fmt: skip
"""What a change does to a resource, the worst first; fleets are stopped or drained for some."""
EFFECT_OF: Final = {
    Effect.FREE: "changed",
    Effect.UNCERTAIN: "uncertain",
    Effect.INTERRUPTED: "interrupted",
    Effect.DRAIN: "drained",
    Effect.STOP: "stopped",
    Effect.REPLACED: "replaced",
    Effect.REFUSED: "refused",
    Effect.LOST: "lost",
}
"""How a review calls what the plan decides."""
_PART: Final = "group "
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
    "interrupted": "out of reach for a while",
    "uncertain": "of which it is not certain what the change does",
    "removed": "removed",
    "changed": "changed in place",
    "added": "added",
}


def _rows(old: Assembly, new: Assembly, told: Mapping[str, Sequence[Row]]) -> Iterator[Row]:
    before, after = ({stack.id: stack.template for stack in side.stacks} for side in (old, new))
    decided: dict[str, list[PlanRow]] = {}
    for row in plan_templates(before, after):
        decided.setdefault(row.where, []).append(row)
    ours, theirs = old.resources, new.resources
    for key in {**ours, **theirs}:
        one, other = ours.get(key), theirs.get(key)
        known = told.get(other.path, []) if other is not None else []
        yield from known
        if (found := _resource(one, other, decided.pop(key, []), is_told=bool(known))) is not None:
            yield found
    for where, rows in decided.items():
        for row in rows:
            yield Row(where=where, type="", effect=EFFECT_OF[row.effect], what=row.what, remedy=row.remedy)


def _resource(one: Resource | None, other: Resource | None, rows: Sequence[PlanRow], *, is_told: bool) -> Row | None:
    """Return what was decided of a resource, with all that differs in it; None where nothing does, or all is told."""
    if one is not None and other is not None:
        return _kept(one, other, rows, is_told=is_told)
    if one is not None:
        return _removed(one, rows)
    if other is None or is_told:
        return None
    effect = _worst(rows, "added")
    return replace(_row(other, effect, f"a new {other.type}", _remedy(rows)), written=other.origin.written)


def _worst(rows: Sequence[PlanRow], harmless: str) -> str:
    worst = max((row.effect for row in rows), default=Effect.FREE)
    return harmless if worst is Effect.FREE else EFFECT_OF[worst]


def _remedy(rows: Sequence[PlanRow]) -> str:
    """Return what is to be known of a resource; of a part of it, by the part's name."""
    said = [row.remedy if not row.what.startswith(_PART) else f"{row.what}: {row.remedy}" for row in rows if row.remedy]
    return "; ".join(dict.fromkeys(said))


def _written(one: Resource, other: Resource) -> str:
    """Return where the new file says what changes: of several properties, the line that is around all of them."""
    lines = {other.origin.of(path) for path, _, _ in differences(one.properties, other.properties)}
    return lines.pop() if len(lines) == 1 else other.origin.written


def _removed(one: Resource, rows: Sequence[PlanRow]) -> Row:
    if one.type != PARALLELCLUSTER_TYPE:
        return _row(one, _worst(rows, "removed"), "; ".join(row.what for row in rows), _remedy(rows))
    if policy_of(one, "DeletionPolicy") in KEPT:
        return _row(one, "removed", f"{one.type} is removed, and kept", stays(one.body))
    return _row(one, "lost", f"{one.type} is removed", "its nodes, disks and jobs go")


def _kept(one: Resource, other: Resource, rows: Sequence[PlanRow], *, is_told: bool) -> Row | None:
    changes = [] if is_told else [*differences(one.properties, other.properties)]
    attributes = [*differences(_attributes(one), _attributes(other))]
    if not rows and not changes and not attributes:
        return None
    if one.type != other.type:
        return replace(_row(other, _worst(rows, "changed"), rows[0].what, _remedy(rows)), written=other.origin.written)
    named = {path.split(".")[0] for path, _, _ in changes}
    behind = sorted({name for row in rows for name in row.properties} - named)
    refers = [f"{joined(behind)}: what it refers to is another one"] if behind else []
    what = "; ".join([*refers, *([_said([*changes, *attributes])] if changes or attributes else [])])
    remedy = _remedy(rows) or _otherwise(one.type, is_changed=bool(changes or behind))
    return replace(_row(other, _worst(rows, "changed"), what, remedy), written=_written(one, other))


def _otherwise(kind: str, *, is_changed: bool) -> str:
    if not is_changed:
        return "only CloudFormation's own attributes"
    return _UNASKED if kind == PARALLELCLUSTER_TYPE else ""


_UNASKED: Final = "ParallelCluster decides by its own update policies: trainyard plan OLD NEW asks them"


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
