"""Another number of nodes in a deployment file: the number alone is written, and everything else stays as it was."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, Final

from cdk_trainyard.deployment._document import Document, KeyPath, read_document
from cdk_trainyard.deployment.orchestrators import find
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.errors import ConfigurationError, did_you_mean
from cdk_trainyard.problems import either

_MOST: Final = "max_count"
_LEAST: Final = "min_count"


def counts(deployment: DeploymentSpec) -> Mapping[str, KeyPath]:
    """Return where a file says how many nodes a group has, or has at most, by the group's name.

    Args:
        deployment: The deployment.
    """
    row = find(deployment.orchestrator)
    return resolve_name(row.numbers)(deployment.cluster) if row and row.numbers else {}


def resized(
    text: str, file: str, deployment: DeploymentSpec, group: str, count: int, least: int | None = None
) -> tuple[str, int]:
    """Return a file's text with another number of nodes, and the number that it has.

    Args:
        text: The file's text.
        file: What it is called in messages.
        deployment: What it says.
        group: The group's name.
        count: How many nodes it shall have; of one that has between two numbers, how many at most.
        least: How many there shall always be. Default - what the file says.

    Raises:
        ConfigurationError: There is no such group, it has no such number, or the number stands for more.
    """
    places = counts(deployment)
    if group not in places:
        raise ConfigurationError(file, [_no_group(deployment, group, places)])
    path = places[group]
    if least is not None:
        if path[-1] != _MOST:
            raise ConfigurationError(file, [f"{group} has one number of nodes, and no {_LEAST}"])
        text, _ = _written(text, file, (*path[:-1], _LEAST), least)
    return _written(text, file, path, count)


def _written(text: str, file: str, path: KeyPath, count: int) -> tuple[str, int]:
    document = read_document(text, file)
    if path not in document.sources:
        raise ConfigurationError(file, [f"{document.at(path)}: the file does not say {path[-1]}: write it here first"])
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
        return f"{deployment.orchestrator or 'this deployment'} has no group with a number of nodes"
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


def _with(data: Any, path: KeyPath, value: int) -> Any:
    if not path:
        return value
    if isinstance(data, Mapping):
        return {**data, path[0]: _with(data[path[0]], path[1:], value)}
    return tuple(_with(each, path[1:], value) if number == path[0] else each for number, each in enumerate(data))
