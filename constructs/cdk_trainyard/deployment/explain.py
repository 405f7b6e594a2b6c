"""What constructs refuse, said of the lines of the deployment file."""

from functools import cache
from typing import Any, Final

from cdk_trainyard.deployment._document import Document, KeyPath, Problem
from cdk_trainyard.deployment._locate import nearest, quoted
from cdk_trainyard.deployment._schema import schema_of
from cdk_trainyard.deployment._vocabulary import in_words_of_the_file
from cdk_trainyard.deployment.model import KINDS, Deployment
from cdk_trainyard.errors import ConfigurationError

_SECTIONS: Final[dict[str, KeyPath]] = {
    "NetworkStack": ("network",),
    "StorageStack": ("storage",),
    "TrainingStack": ("cluster",),
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
    document = deployment.document if deployment is not None else None
    if document is None or error.path == document.file:
        return str(error)
    section = _SECTIONS.get(error.path.partition("/")[0], ())
    return str(document.error(_said(document, section, problem, error) for problem in error.problems))


def _said(document: Document, section: KeyPath, problem: str, error: ConfigurationError) -> Problem:
    text = in_words_of_the_file(problem)
    for around in (section, ()):
        path = nearest(document, around, text)
        if path != around:
            return Problem(place=document.place(path), text=text)
    owners = _owners(str(document.data.get("orchestrator")))
    for word in quoted(text):
        if word in owners:
            return Problem(place=document.place(owners[word]), text=text)
    return Problem(place=document.place(section), text=f"{text} ({error.path})")


@cache
def _owners(orchestrator: str) -> dict[str, KeyPath]:
    """Return the section of each key that a file may leave out: a default can be wrong too."""
    owners: dict[str, KeyPath] = {}
    schema = schema_of(KINDS[orchestrator])
    waiting: list[tuple[KeyPath, Any]] = [((), schema)]
    while waiting:
        path, node = waiting.pop(0)
        reference = node.get("else", node).get("$ref")
        target = schema["$defs"][reference.rsplit("/", 1)[-1]] if reference else node
        for key, inner in target.get("properties", {}).items():
            owners.setdefault(key, path)
            waiting.append(((*path, key), inner))
    return owners
