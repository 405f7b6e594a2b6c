"""The rules of the other rooms, asked of what the file says, section by section.

A section is asked when it has the right form, whatever else is wrong in the file. What can be known only when
constructs stand together (whether the nodes fit into their subnet, whether scripts exist) they say themselves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import TypeAdapter

from cdk_trainyard.deployment._document import Document, KeyPath, Problem
from cdk_trainyard.deployment._locate import nearest
from cdk_trainyard.deployment._rules import (
    alerts_problems,
    buckets_problems,
    hyperpod_problems,
    lustre_problems,
    network_problems,
    partial_hyperpod_problems,
    tag_problems,
)
from cdk_trainyard.deployment._rules_parallelcluster import (
    Around,
    cluster_alerts_problems,
    open_zfs_problems,
    parallelcluster_problems,
    partial_parallelcluster_problems,
)
from cdk_trainyard.deployment._vocabulary import in_words_of_the_file
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.hyperpod import HyperPodSection
from cdk_trainyard.deployment.network import AnyNetwork
from cdk_trainyard.deployment.parallelcluster import ParallelClusterSection
from cdk_trainyard.deployment.storage import AnyLustre, BucketsSection, OpenZfsSection

_Said = Iterator[tuple[KeyPath, list[str]]]


def house_problems(document: Document, invalid: Sequence[KeyPath]) -> list[Problem]:
    """Return what the rules say, each with its place.

    Args:
        document: The file.
        invalid: Where something has the wrong form, so that no rule can be asked.
    """
    sections = _Sections(document, invalid)
    own = _CLUSTERS.get(str(document.data.get("orchestrator")))
    said = [*_common(sections), *(own(sections) if own else ())]
    return [
        Problem(place=document.place(_where(document, section, text)), text=text)
        for section, problems in said
        for text in map(in_words_of_the_file, problems)
    ]


def _where(document: Document, section: KeyPath, text: str) -> KeyPath:
    """Return the path that a sentence about a section speaks of: in it, or elsewhere when it names nothing there."""
    inside = nearest(document, section, text)
    return inside if inside != section else nearest(document, (), text) or section


def _common(sections: "_Sections") -> _Said:
    region = sections.get(str, "region")
    yield ("tags",), tag_problems(sections.get(dict, "tags"))
    yield ("network",), network_problems(sections.get(AnyNetwork, "network"), region)
    yield ("storage", "lustre"), lustre_problems(sections.get(AnyLustre, "storage", "lustre"), region)
    yield ("storage", "buckets"), buckets_problems(sections.get(BucketsSection, "storage", "buckets"))
    yield ("alerts",), alerts_problems(sections.get(AlertsSection, "alerts"))


def _hyperpod(sections: "_Sections") -> _Said:
    cluster = sections.get(HyperPodSection, "cluster")
    if cluster is not None:
        yield ("cluster",), hyperpod_problems(cluster)
        return
    parts = {key: sections.get(Any, "cluster", key) for key in HyperPodSection.model_fields if key != "groups"}
    groups = {name: sections.get(Any, "cluster", "groups", name) for name in sections.keys("cluster", "groups")}
    sound = {key: value for key, value in parts.items() if value is not None}
    sound["groups"] = {name: group for name, group in groups.items() if group is not None}
    yield ("cluster",), partial_hyperpod_problems(HyperPodSection.model_validate(sound))


def _parallelcluster(sections: "_Sections") -> _Said:
    yield ("storage",), open_zfs_problems(sections.get(OpenZfsSection, "storage", "open_zfs"))
    yield (), cluster_alerts_problems(sections.get(AlertsSection, "alerts"))
    around = Around(
        name=sections.get(str, "name"),
        region=sections.get(str, "region"),
        network=sections.get(AnyNetwork, "network"),
        lustre=sections.get(AnyLustre, "storage", "lustre"),
        tags=sections.get(dict, "tags") or {},
    )
    cluster = sections.get(ParallelClusterSection, "cluster")
    if cluster is not None:
        problems = parallelcluster_problems(cluster, around)
    else:
        lists = {key: sections.items("cluster", key) for key in ("queues", "login_pools")}
        parts = {key: sections.get(Any, "cluster", key) for key in ParallelClusterSection.model_fields.keys() - lists}
        sound = {key: value for key, value in parts.items() if value is not None}
        unsound = {"head_node", "queues", *sections.keys("cluster")} - sound.keys()
        problems = partial_parallelcluster_problems(sound | lists, unsound, around)
    yield ("cluster",), problems


_CLUSTERS: Final[Mapping[str, Callable[["_Sections"], _Said]]] = {
    "hyperpod": _hyperpod,
    "parallelcluster": _parallelcluster,
}
"""``orchestrator`` → what asks the rules of its section."""


class _Sections:
    """The parts of the file that have the right form."""

    def __init__(self, document: Document, invalid: Sequence[KeyPath]) -> None:
        self._data = document.data
        self._invalid = [*invalid, *document.reported]

    def get(self, kind: Any, *path: str | int) -> Any:
        """Return the section at ``path``, or None when there is none, or one of another form."""
        value = self._find(path)
        if value is None or any(place[: len(path)] == path[: len(place)] for place in self._invalid):
            return None
        return TypeAdapter(kind).validate_python(value)

    def keys(self, *path: str) -> list[str]:
        """Return the keys of the mapping at ``path``."""
        value = self._find(path)
        return list(value) if isinstance(value, Mapping) else []

    def items(self, *path: str) -> tuple[Any, ...]:
        """Return the items of the list at ``path`` that have the right form."""
        value = self._find(path)
        count = len(value) if isinstance(value, tuple) else 0
        return tuple(item for index in range(count) if (item := self.get(Any, *path, index)) is not None)

    def _find(self, path: Sequence[str | int]) -> Any:
        value: Any = self._data
        for part in path:
            value = value[part] if isinstance(part, int) else value.get(part) if isinstance(value, Mapping) else None
        return value
