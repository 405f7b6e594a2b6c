"""What a change set would change: the answer of ``DescribeChangeSet``, before anything is done."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.engine.deploy import Target
from cdk_trainyard.local.engine.intrinsics import evaluate
from cdk_trainyard.local.engine.parameters import resolve
from cdk_trainyard.local.engine.records import complete, where_is
from cdk_trainyard.local.engine.scope import NotYetKnown, StackScope
from cdk_trainyard.local.engine.state import Deployed, Region, Stack
from cdk_trainyard.local.engine.template import in_order
from cdk_trainyard.local.registry import type_of
from cdk_trainyard.local.resources.model import replacing

_UNKNOWN = "{{changeSet:KNOWN_AFTER_APPLY}}"


def plan(region: Region, stack: Stack, target: Target) -> list[dict[str, Any]]:
    """Return the ``Changes`` of a change set that would take ``stack`` to ``target``."""
    scope = StackScope(
        region, stack, target.template, resolve(target.template, target.parameters, region.name), planning=True
    )
    active = scope.active()
    changes = []
    for name in in_order(active):
        old = stack.resources.get(name)
        change = _change(region, stack, target, name, active[name], old, scope)
        if change is not None:
            changes.append(change)
        if old is None or (change is not None and change.get("Replacement") == "True"):
            scope.unknown.add(name)
        else:
            scope.resources[name] = old
    changes += [_row("Remove", old) for name, old in stack.resources.items() if name not in active]
    return [{"Type": "Resource", "ResourceChange": change} for change in changes]


def _change(
    region: Region,
    stack: Stack,
    target: Target,
    name: str,
    declaration: Mapping[str, Any],
    old: Deployed | None,
    scope: StackScope,
) -> dict[str, Any] | None:
    type_name = declaration["Type"]
    if old is None or old.type_name != type_name:
        return {"Action": "Add", "LogicalResourceId": name, "ResourceType": type_name, "Details": [], "Scope": []}
    wanted = {key: _known(value, scope) for key, value in (declaration.get("Properties") or {}).items()}
    where = where_is(region, stack, name, type_name)
    full, _ = complete(type_of(type_name), where, wanted, target.tags, old.made_up)
    changed = sorted(key for key in {*full, *old.properties} if full.get(key) != old.properties.get(key))
    if not changed:
        return None
    replaced = set(replacing(type_of(type_name), old.properties, full))
    certain = any(_UNKNOWN not in str(full.get(key)) for key in replaced)
    details = [_detail(key, old.properties, full, replaced) for key in changed]
    row = _row("Modify", old)
    row["Replacement"] = ("True" if certain else "Conditional") if replaced else "False"
    return {**row, "Scope": sorted({detail["Target"]["Attribute"] for detail in details}), "Details": details}


def _known(value: Any, scope: StackScope) -> Any:
    try:
        return evaluate(value, scope)
    except NotYetKnown:
        return _UNKNOWN


def _detail(key: str, old: Mapping[str, Any], new: Mapping[str, Any], replaced: set[str]) -> dict[str, Any]:
    unsure = new.get(key) == _UNKNOWN
    recreation = "Never" if key not in replaced else "Conditionally" if unsure else "Always"
    what = {"Attribute": "Tags"} if key == "Tags" else {"Attribute": "Properties", "Name": key}
    values = {"BeforeValue": str(old.get(key, "")), "AfterValue": str(new.get(key, ""))}
    return {
        "Target": {**what, "RequiresRecreation": recreation, "Path": f"/Properties/{key}", **values},
        "Evaluation": "Dynamic" if unsure else "Static",
        "ChangeSource": "DirectModification",
    }


def _row(action: str, old: Deployed) -> dict[str, Any]:
    return {
        "Action": action,
        "LogicalResourceId": old.logical_id,
        "PhysicalResourceId": old.physical_id,
        "ResourceType": old.type_name,
        "Details": [],
        "Scope": [],
    }
