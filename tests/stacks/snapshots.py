"""The shipped templates as snapshots keep them: one stack of each kind whole, of the others what differs from it.

So what changes in every deployment changes in one snapshot. Tests that judge the shipped templates read them from here.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from cdk_trainyard.deployment import Deployment
from tests.support import ROOT

_FOLDER = Path(__file__).parent / "__snapshots__" / "test_stacks"
_DEPLOYMENTS = ROOT / "deployments"
_WHOLE = {"NetworkStack": "serving-inf2-tgi", "StorageStack": "hyperpod-cpu-ddp", "ServingStack": "serving-inf2-tgi"}
_WHOLE_TRAINING = {
    "hyperpod": "hyperpod-cpu-ddp",
    "parallelcluster": "parallelcluster-trn1-ultracluster",
    "fleet": "fleet-p3dn-bert",
}
_NONE = "<none>"


def whole_of(path: Path, stack: str) -> Path:
    """Return the deployment file whose stack is kept whole in the place of this one's."""
    stem = _WHOLE.get(stack)
    if stem is None:
        orchestrator = _deployment(path).orchestrator
        assert orchestrator
        stem = _WHOLE_TRAINING[orchestrator]
    return _DEPLOYMENTS / f"{stem}.yaml"


def reviewed(path: Path, template: Any) -> Any:
    """Return a template without what differs in each release, and in each deployment by its name and Region."""
    text = re.sub(r"[0-9a-f]{64}", "<asset>", json.dumps(template))
    text = re.sub(r"(lifecycle-scripts/[\w-]+/)[0-9a-f]{32}", r"\1<scripts>", text)
    for said, shown in _said(path):
        text = text.replace(said, shown)
    return _without_user_data(json.loads(text))


def difference(whole: Any, other: Any) -> Any:
    """Return what is another value in ``other``, at its place; ``<none>`` where it has none."""
    if isinstance(whole, list) and isinstance(other, list) and len(whole) == len(other):
        whole, other = _numbered(whole), _numbered(other)
    if not (isinstance(whole, dict) and isinstance(other, dict)):
        return other
    return {
        key: difference(whole.get(key), other.get(key, _NONE))
        for key in whole | other
        if whole.get(key) != other.get(key)
    }


@cache
def shipped_templates() -> dict[str, dict[str, Any]]:
    """Return deployment file's stem → stack's construct id → template; hosts' user data are left out."""
    found: dict[str, dict[str, Any]] = {}
    for file in sorted(_FOLDER.glob("*.json")):
        stem, stack = re.findall(r"\[([^]]+)\]", file.name)
        path = _DEPLOYMENTS / f"{stem}.yaml"
        template, whole = json.loads(file.read_text()), whole_of(path, stack)
        if path != whole:
            kept = file.with_name(file.name.replace(f"[{stem}]", f"[{whole.stem}]"))
            template = _changed(json.loads(kept.read_text()), template)
        text = json.dumps(template)
        for said, shown in _said(path):
            text = text.replace(shown, said)
        found.setdefault(stem, {})[stack] = json.loads(text)
    return found


def _said(path: Path) -> Iterator[tuple[str, str]]:
    deployment = _deployment(path)
    yield deployment.name, "<name>"
    yield deployment.name.replace("-", ""), "<plain name>"
    yield deployment.region, "<region>"


@cache
def _deployment(path: Path) -> Deployment:
    return Deployment.load(path)


def _changed(whole: Any, change: Any) -> Any:
    """Return what ``change`` is the difference of: the inverse of ``difference``."""
    if isinstance(whole, list) and isinstance(change, dict) and all(key.startswith("[") for key in change):
        return list(_changed(_numbered(whole), change).values())
    if not (isinstance(whole, dict) and isinstance(change, dict)):
        return change
    both = {key: _changed(whole.get(key), change[key]) if key in change else whole[key] for key in whole | change}
    return {key: value for key, value in both.items() if value != _NONE}


def _numbered(items: list[Any]) -> dict[str, Any]:
    return {f"[{number}]": item for number, item in enumerate(items)}


def _without_user_data(template: Any) -> Any:
    """Leave out what hosts run: it is the scripts' own text, which is reviewed where it is rendered."""
    if isinstance(template, dict):
        return {
            key: "<user data>" if key == "UserData" else _without_user_data(value) for key, value in template.items()
        }
    return [_without_user_data(item) for item in template] if isinstance(template, list) else template
