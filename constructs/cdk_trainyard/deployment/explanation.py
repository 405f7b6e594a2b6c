"""What goes wrong while stacks are built, said of the lines of the deployment file.

What constructs of this library refuse has the paths of options. What CDK itself raises is a sentence; its place is the
construct that was being made, and the key whose value the sentence shows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from types import TracebackType
from typing import Any, Final

from constructs import Construct

from cdk_trainyard.deployment._document import Document, KeyPath
from cdk_trainyard.deployment._document import Problem as FileProblem
from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.deployment.origins import asked_by
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.options.paths import in_file
from cdk_trainyard.problems import At, Problem, sentence

_SHORTEST: Final = 4
"""Characters of a value by which a sentence of CDK's is recognized; shorter ones stand in any sentence."""


def explain(error: Exception, deployment: Deployment | None = None) -> str:
    """Return an error's text for whoever wrote the file: every problem with file, line and column.

    Args:
        error: What was raised while the deployment was loaded or its stacks were built.
        deployment: The deployment. Default - none was loaded.
    """
    document = deployment.document if deployment is not None else None
    if deployment is None or document is None:
        return str(error)
    if not isinstance(error, ConfigurationError):
        return str(document.error([_raised(document, deployment, error)]))
    if error.path == document.file:
        return str(error)
    return str(document.error(_refused(document, deployment, error.path, found) for found in error.found))


def _refused(document: Document, deployment: Deployment, construct: str, found: Problem | str) -> FileProblem:
    """Return what a construct refuses: at its option where the file has one, else at the construct's section."""
    section = asked_by(construct, deployment)
    value = _value(deployment, section)
    kind: type = type(value)
    if isinstance(found, Problem) and found.at and is_dataclass(kind) and found.at[0] in fields_of(kind):

        def called(at: At) -> At:
            return (*section, *in_file(value, at))

        return FileProblem(place=document.place(called(found.at)), text=sentence(found, called=called))
    text = found if isinstance(found, str) else sentence(found)
    return FileProblem(place=document.place(section), text=f"{text} ({construct})")


def _raised(document: Document, deployment: Deployment, error: Exception) -> FileProblem:
    """Return what CDK raised, without the traces of Node and Python."""
    construct = _construct(error.__traceback__)
    section, text = asked_by(construct, deployment), " ".join(str(error).split())
    shown = [
        path
        for path, source in document.sources.items()
        if path[: len(section)] == section and len(source) >= _SHORTEST and source in text
    ]
    place = document.place(shown[0] if shown else section)
    return FileProblem(place=place, text=f"CDK refuses {construct or 'the app'}: {text}")


def _construct(trace: TracebackType | None) -> str:
    """Return the path of the construct that was being made when an error was raised."""
    paths = [path for frame in _frames(trace) if (path := _path(frame))]
    return paths[-1] if paths else ""


def _frames(trace: TracebackType | None) -> Iterator[Mapping[str, Any]]:
    while trace is not None:
        yield trace.tb_frame.f_locals
        trace = trace.tb_next


def _path(variables: Mapping[str, Any]) -> str:
    """Return the path of the construct whose constructor a frame runs, or in whose scope it makes one."""
    found = next((variables[name] for name in ("self", "scope") if isinstance(variables.get(name), Construct)), None)
    node = getattr(found, "node", None)  # which a construct lacks whose constructor did not get far
    return str(node.path) if node is not None else ""


def _value(deployment: Deployment, section: KeyPath) -> Any:
    found: Any = deployment
    for name in section:
        found = getattr(found, str(name), None)
    return found
