"""What constructs refuse, said of the lines of the deployment file."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from cdk_trainyard.deployment._document import Document, KeyPath, Problem
from cdk_trainyard.deployment._locate import nearest, quoted
from cdk_trainyard.deployment._schema import resolved, schema_of
from cdk_trainyard.deployment._vocabulary import in_words_of_the_file
from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.errors import ConfigurationError

_SECTIONS: Final[dict[str, KeyPath]] = {
    "NetworkStack": ("network",),
    "StorageStack": ("storage",),
    "TrainingStack": ("cluster",),
    "ServingStack": ("serving",),
}
"""Stack → the section that it is made from."""


def explain(error: ConfigurationError, deployment: Deployment | None = None) -> str:
    """Return an error's text for whoever wrote the file: every problem with file, line and column.

    Problems of ``Deployment.load`` have their places already. One that a construct raises has the construct's path and
    the keywords that it quotes; they are looked up in the section that the construct was made from, then in the file.

    Args:
        error: What was raised.
        deployment: The deployment that the constructs were made from.
            Default - none was loaded.
    """
    if deployment is None or deployment.document is None or error.path == deployment.document.file:
        return str(error)
    document, kind = deployment.document, type(deployment)
    return str(document.error(_said(document, kind, problem, error.path) for problem in error.problems))


def _said(document: Document, kind: type[Deployment], problem: str, construct: str) -> Problem:
    text = in_words_of_the_file(problem)
    section = _SECTIONS.get(construct.partition("/")[0], ())
    for around in (section, ()):
        path = nearest(document, around, text)
        if path != around:
            return Problem(place=document.place(path), text=text)
    owners = _owners(kind)
    for word in quoted(text):
        if word in owners:
            return Problem(place=document.place(owners[word]), text=text)
    return Problem(place=document.place(section), text=f"{text} ({construct})")


@cache
def _owners(kind: type[Deployment]) -> Mapping[str, KeyPath]:
    """Return the section of each key that a file may leave out: a default can be wrong too."""
    owners: dict[str, KeyPath] = {}
    schema = schema_of(kind)
    waiting: list[tuple[KeyPath, Any]] = [((), schema)]
    while waiting:
        path, node = waiting.pop(0)
        target = resolved(schema, node.get("else", node))
        for key, inner in target.get("properties", {}).items():
            owners.setdefault(key, path)
            waiting.append(((*path, key), inner))
    return owners
