"""Another number of nodes in a deployment file: the number alone is written, and everything else stays as it was."""

from collections.abc import Mapping
from typing import Any, Final

from cdk_trainyard.deployment._document import Document, KeyPath, read_document
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.errors import ConfigurationError, did_you_mean
from cdk_trainyard.problems import either

WORKERS: Final = "worker"
"""What the nodes of a fleet are called, by their tag."""


def counts(deployment: DeploymentSpec) -> Mapping[str, KeyPath]:
    """Return where a file says how many nodes a group has, by the group's name.

    Args:
        deployment: The deployment.
    """
    if deployment.orchestrator == "hyperpod":
        return {group.name: ("cluster", "groups", group.name, "count") for group in deployment.cluster.groups}
    if deployment.orchestrator == "fleet" and deployment.cluster.count is not None:
        return {WORKERS: ("cluster", "count")}
    return {}


def resized(text: str, file: str, deployment: DeploymentSpec, group: str, count: int) -> tuple[str, int]:
    """Return a file's text with another number of nodes, and the number that it has.

    Args:
        text: The file's text.
        file: What it is called in messages.
        deployment: What it says.
        group: The group's name.
        count: How many nodes it shall have.

    Raises:
        ConfigurationError: There is no such group, it has no number of its own, or the number stands for more.
    """
    places = counts(deployment)
    if group not in places:
        raise ConfigurationError(file, [_no_group(deployment, group, places)])
    document, path = read_document(text, file), places[group]
    place, source = document.values[path], document.sources[path]
    start = _offset(text, place.line) + place.column - 1
    changed = f"{text[:start]}{count}{text[start + len(source) :]}"
    if not text.startswith(source, start) or not _differ_there_alone(document, changed, path, count):
        raise ConfigurationError(
            file, [f"{document.mark(place)}: this number stands for others, too, or is not written plainly: change it"]
        )
    return changed, int(source)


def _no_group(deployment: DeploymentSpec, group: str, places: Mapping[str, KeyPath]) -> str:
    if not places:
        kind = deployment.orchestrator or "this deployment"
        return (
            f"{kind} has no group with one number of nodes: Slurm or people say how many there are, between min_count "
            "and max_count"
        )
    return f"there is no group {group!r}{did_you_mean(group, places) or f'; there are {either(list(places))}'}"


def _offset(text: str, line: int) -> int:
    """Return where a line begins, counted from one, as YAML counts lines."""
    return sum(map(len, text.splitlines(keepends=True)[: line - 1]))


def _differ_there_alone(document: Document, changed: str, path: KeyPath, count: int) -> bool:
    try:
        found: Any = read_document(changed, document.file).data
    except ConfigurationError:
        return False
    return bool(found == _with(document.data, path, count))


def _with(data: Mapping[str, Any], path: KeyPath, value: int) -> dict[str, Any]:
    key = str(path[0])
    return {**data, key: value if len(path) == 1 else _with(data[key], path[1:], value)}
