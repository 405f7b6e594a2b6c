"""The rules of the other rooms, asked of what the file says, section by section.

A section is asked when it has the right form, whatever else is wrong in the file. What can be known only when
constructs stand together (whether the nodes fit into their subnet, whether scripts exist) they say themselves.
"""

from collections.abc import Callable, Sequence
from pkgutil import resolve_name

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
from cdk_trainyard.deployment.network import AnyNetwork
from cdk_trainyard.deployment.storage import AnyLustre, BucketsSection


def house_problems(document: Document, invalid: Sequence[KeyPath], own: Callable[[Sections], Said]) -> list[Problem]:
    """Return what the rules say, each with its place.

    Args:
        document: The file.
        invalid: Where something has the wrong form, so that no rule can be asked.
        own: Asks the rules of the sections that only this kind of deployment has.
    """
    sections = Sections(document, invalid)
    return [
        Problem(place=document.place(_where(document, section, text)), text=text)
        for section, problems in (*_common(sections), *own(sections), *_serving(sections))
        for text in map(in_words_of_the_file, problems)
    ]


def _where(document: Document, section: KeyPath, text: str) -> KeyPath:
    """Return the path that a sentence about a section speaks of: in it, or elsewhere when it names nothing there."""
    inside = nearest(document, section, text)
    return inside if inside != section else nearest(document, (), text) or section


def _common(sections: Sections) -> Said:
    region = sections.get(str, "region")
    yield ("tags",), tag_problems(sections.get(dict, "tags"))
    yield ("network",), network_problems(sections.get(AnyNetwork, "network"), region)
    yield ("storage", "lustre"), lustre_problems(sections.get(AnyLustre, "storage", "lustre"), region)
    yield ("storage", "buckets"), buckets_problems(sections.get(BucketsSection, "storage", "buckets"))
    yield ("alerts",), alerts_problems(sections.get(AlertsSection, "alerts"))


def _serving(sections: Sections) -> Said:
    """The rules of what is served, imported when a file serves."""
    if sections.has("serving"):
        said: Said = resolve_name("cdk_trainyard.deployment.serving.checks:serving_said")(sections)
        yield from said
