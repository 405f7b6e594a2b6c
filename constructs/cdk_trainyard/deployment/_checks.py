"""The rules of the other rooms, asked of what the file says, section by section.

A section is asked when it has the right form, whatever else is wrong in the file. What can be known only when
constructs stand together (whether the nodes fit into their subnet, whether scripts exist) they say themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any

from cdk_trainyard.deployment._document import Document, KeyPath, Problem
from cdk_trainyard.deployment._locate import nearest
from cdk_trainyard.deployment._rules import (
    alerts_problems,
    buckets_problems,
    lustre_problems,
    network_problems,
    tag_problems,
)
from cdk_trainyard.deployment._sections import Said, Sections
from cdk_trainyard.deployment._vocabulary import in_words_of_the_file
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.options.paths import in_file
from cdk_trainyard.problems import Problem as PathProblem
from cdk_trainyard.problems import sentence


def house_problems(
    document: Document, data: Mapping[str, Any], invalid: Sequence[KeyPath], own: Callable[[Sections], Said]
) -> list[Problem]:
    """Return what the rules say, each with its place.

    Args:
        document: The file.
        data: What it says, its specified sections read.
        invalid: Where something has the wrong form, so that no rule can be asked.
        own: Asks the rules of the sections that only this kind of deployment has.
    """
    sections = Sections(document, data, invalid)
    return [
        _placed(document, section, problem, sections.data)
        for section, problems in (*_common(sections), *own(sections), *_serving(sections))
        for problem in problems
    ]


def _placed(document: Document, section: KeyPath, problem: str | PathProblem, data: Mapping[str, Any]) -> Problem:
    """Return a rule's problem with its place in the file, in the words of the file."""
    if isinstance(problem, str):
        text = in_words_of_the_file(problem)
        return Problem(place=document.place(_where(document, section, text)), text=text)
    spec = _section(data, section)

    def called(at: KeyPath) -> KeyPath:
        return (*section, *in_file(type(spec), at))

    return Problem(place=document.place(called(problem.at)), text=sentence(problem, called=called))


def _section(data: Mapping[str, Any], path: KeyPath) -> Any:
    found: Any = data
    for key in path:
        found = found[key]
    return found


def _where(document: Document, section: KeyPath, text: str) -> KeyPath:
    """Return the path that a sentence about a section speaks of: in it, or elsewhere when it names nothing there."""
    inside = nearest(document, section, text)
    return inside if inside != section else nearest(document, (), text) or section


def _common(sections: Sections) -> Said:
    region = sections.get(str, "region")
    yield ("tags",), tag_problems(sections.get(dict, "tags"))
    yield ("network",), network_problems(sections.specified("network"), region)
    yield ("storage", "lustre"), lustre_problems(sections.specified("storage", "lustre"), region)
    yield ("storage", "buckets"), buckets_problems(sections.specified("storage", "buckets"))
    yield ("alerts",), alerts_problems(sections.get(AlertsSection, "alerts"))


def _serving(sections: Sections) -> Said:
    """The rules of what is served, imported when a file serves."""
    if sections.has("serving"):
        said: Said = resolve_name("cdk_trainyard.deployment.serving.checks:serving_said")(sections)
        yield from said
