"""A file whose sections stand elsewhere than they must: refused, and read as if they stood there. No CDK."""

from collections.abc import Mapping
from typing import Any, Final

from cdk_trainyard.deployment._document import Document
from cdk_trainyard.deployment.orchestrators import recognized
from cdk_trainyard.problems import Problem

_WRAPPERS: Final = ("deployment", "spec")
"""Keys that files of other programs have around what they say."""


def arranged(document: Document) -> tuple[Document, Mapping[str, Any], list[Problem]]:
    """Return a file that knows where everything stands, what it says in its right place, and what has to be moved.

    Args:
        document: The file.
    """
    inside, wrapper = _wrapped(document.data)
    document = document.also_at({(key,): (wrapper, key) for key in inside})
    data, moved = _with_its_orchestrator({**inside, **document.data})
    return document, data, moved


def _wrapped(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Return what stands in a section around the whole file, which is refused, and the key of that section."""
    for key in _WRAPPERS:
        inside = data.get(key)
        if isinstance(inside, Mapping):
            return {name: value for name, value in inside.items() if name not in data}, key
    return {}, ""


def _with_its_orchestrator(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Problem]]:
    """Return what a file says with the orchestrator at its top, and what is wrong where it stands in the cluster."""
    cluster = data.get("cluster")
    if "orchestrator" in data or not isinstance(cluster, Mapping):
        return data, []
    meant = recognized(cluster.get("orchestrator"))
    if meant is None:
        return data, []
    inside = {key: value for key, value in cluster.items() if key != "orchestrator"}
    text = f"is no key here; write 'orchestrator: {meant}' at the top of the file in its place"
    return {**data, "orchestrator": meant, "cluster": inside}, [Problem(("cluster", "orchestrator"), text, of_key=True)]
