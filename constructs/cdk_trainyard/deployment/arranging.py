"""Finds what stands in the wrong place of a deployment file; refuses it, and reads on as if it were right. No CDK."""

from collections.abc import Mapping
from typing import Any, Final

from cdk_trainyard.deployment._document import Document
from cdk_trainyard.deployment.orchestrators import orchestrators, recognized, spec_of
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.options.fields import keys_of, required_keys
from cdk_trainyard.options.unknown_keys import near
from cdk_trainyard.problems import At, Problem, shown

_WRAPPERS: Final = ("deployment", "spec")
"""Keys that files of other programs have around what they say."""


def arranged(document: Document) -> tuple[Document, Mapping[str, Any], list[Problem]]:
    """Return a file that knows where everything stands, what it says in its right place, and what has to be moved.

    Args:
        document: The file.
    """
    data, wrapped = _unwrapped(document.data)
    data, moved = _with_its_orchestrator(data)
    return document.also_at(wrapped), data, moved


def _unwrapped(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[At, At]]:
    """Return what a file says at its top, without sections around it, which are refused; and what was in which."""
    found, moved = dict(data), dict[At, At]()
    left = set(_WRAPPERS)
    while wrapper := next((key for key in _WRAPPERS if key in left and _is_around(found.get(key), found)), None):
        left.remove(wrapper)
        inside = {key: value for key, value in found[wrapper].items() if key not in found}
        found |= inside
        moved |= {(key,): (wrapper, key) for key in inside}
    return found, moved


def _is_around(section: object, top: Mapping[str, Any]) -> bool:
    """Say whether a section, or one like it in it, has keys that the top of the file should have."""
    if not isinstance(section, Mapping):
        return False
    lacks = keys_of(DeploymentSpec).keys() - top.keys()
    return bool(lacks & section.keys()) or any(_is_around(section.get(key), top) for key in _WRAPPERS)


def _with_its_orchestrator(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Problem]]:
    """Return what a file says with the orchestrator at its top, and what is wrong where it stands in the cluster."""
    cluster = data.get("cluster")
    if "orchestrator" in data or not isinstance(cluster, Mapping):
        return data, []
    meant = recognized(cluster.get("orchestrator"))
    is_said = any(near(key, ["orchestrator"]) for key in [*data, *cluster])  # misspelt, or as what nobody knows
    if not is_said and len(found := _needed_in(cluster)) == 1:
        [(meant, key)] = found.items()
        text = f"is missing; it says what {shown('cluster')} is: with {shown(key)} in it write 'orchestrator: {meant}'"
        return {**data, "orchestrator": meant}, [Problem(("orchestrator",), text)]
    if meant is None:
        return data, []
    inside = {key: value for key, value in cluster.items() if key != "orchestrator"}
    text = f"is no key here; write 'orchestrator: {meant}' at the top of the file in its place"
    return {**data, "orchestrator": meant, "cluster": inside}, [Problem(("cluster", "orchestrator"), text, of_key=True)]


def _needed_in(cluster: Mapping[str, Any]) -> dict[str, str]:
    """Return the orchestrators whose clusters need a key that a cluster has, each with that key."""
    specs = {name: spec for name in orchestrators() if (spec := spec_of(name))}
    return {name: key for name, spec in specs.items() for key in required_keys(spec) if key in cluster}
