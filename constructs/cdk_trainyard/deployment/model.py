"""A deployment file: read once, judged whole, every problem with file, line and column."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from cdk_trainyard.deployment._document import Document, Place, read_document, write_document
from cdk_trainyard.deployment._document import Problem as FileProblem
from cdk_trainyard.deployment._load import read_text
from cdk_trainyard.deployment.orchestrators import recognized
from cdk_trainyard.deployment.rules import problems
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.instances import regions
from cdk_trainyard.instances.kind import RegionName
from cdk_trainyard.options.accounts import ACCOUNT
from cdk_trainyard.options.kinds import NOWHERE, Environment
from cdk_trainyard.options.paths import found_in, in_file
from cdk_trainyard.options.reading import Reader
from cdk_trainyard.options.writing import written
from cdk_trainyard.problems import At, Problem, dotted, is_around, others, sentence, shown
from cdk_trainyard.tokens import unresolved

_WRAPPERS = ("deployment", "spec")
"""Keys that files of other programs have around what they say."""
_PLAIN = (bool, float, int, str)


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment(DeploymentSpec):
    """A deployment, aware of the lines that it was read from."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a deployment file.

        Args:
            path: The YAML file.

        Raises:
            ConfigurationError: With every problem of the file, each with file, line and column.
        """
        document = read_document(read_text(Path(path)), str(path))
        inside, wrapper = _wrapped(document.data)
        for key in inside:
            document = document.also_at((key,), (wrapper, key))
        data, moved = _with_its_orchestrator({**inside, **document.data})
        reader = Reader(environment=_environment(data), sources=dict(document.sources), whole=(cls, data))
        read: Self = reader.read(cls, data, ())
        orchestrator = recognized(data.get("orchestrator")) if unresolved(read.orchestrator) else read.orchestrator
        for new, old in reader.moved.items():
            document = document.also_at(new, old)
        deployment = replace(read, orchestrator=orchestrator or read.orchestrator, _document=document)
        reader.problems.extend(moved)
        outdented = {section: keys for section, keys in reader.outdented.items() if section in document.empty}
        beside = {key for keys in outdented.values() for key in keys}
        of_form = [each for each in reader.problems if each.at in reader.unread or each.at not in document.reported]
        of_text = [
            replace(each, text=_beside(document, each.at, outdented[each.at])) if each.at in outdented else each
            for each in document.problems
            if each.at not in reader.unread
        ]
        of_rules = [*problems(deployment)]
        needless = {found_in(deployment, each.at)[0] for each in of_rules if each.of_key and not [*others(each)]}
        of_form = [each for each in of_form if not any(is_around(at, each.at) for at in needless)]
        unknown = {*document.reported, *reader.meant}
        answered = {*unknown, *(problem.at for problem in reader.problems)}
        document.refuse(
            [
                *(replace(each, text=f"{each.text}{reader.nothing.get(each.at, '')}") for each in of_text),
                *(_placed(document, each.at, each, sentence(each)) for each in of_form if each.at not in beside),
                *placed(document, deployment, of_rules, answered=answered, unknown=unknown),
            ]
        )
        return deployment

    def locate(self, *path: str | int) -> str:
        """Return ``file:line:column`` of what stands at ``path``, or of the section that lacks it.

        Args:
            path: The keys from the top: ``"cluster", "groups", "workers", "count"``.
        """
        return self.document.at(path) if self.document else self.name

    def says(self, path: Sequence[str | int]) -> bool:
        """Whether the file has the key at ``path``.

        Args:
            path: The keys from the top.
        """
        return self.document is not None and tuple(path) in self.document.keys

    def dump(self) -> str:
        """Return the deployment as a file that loads to an equal one, every default written out."""
        return write_document(written(self))


def placed(
    document: Document,
    deployment: DeploymentSpec,
    found: Iterable[Problem],
    *,
    answered: Collection[At] = (),
    unknown: Collection[At] = (),
) -> Iterator[FileProblem]:
    """Yield problems, whose paths are in Python's names, with their places in the file and in the file's names.

    Args:
        document: The file.
        deployment: What it says.
        found: What is wrong with it.
        answered: What has been answered already, by the file's names.
        unknown: What has no value: what is wrong with others beside it does not follow yet.
    """

    def called(at: At) -> At:
        return in_file(deployment, at)

    for problem in found:
        path, value = found_in(deployment, problem.at)
        beside = [called(at) for at in others(problem)]
        if path not in answered and not any(at in unknown for at in beside):
            text = sentence(problem, called=called)
            if type(value) in _PLAIN and path not in document.values:  # a default, wrong beside a key that is said
                text = f"{text} ({shown(value)} is the default)"
                path = next((at for at in beside if at in document.values), path)
            yield _placed(document, path, problem, text)


def _placed(document: Document, path: At, problem: Problem, text: str) -> FileProblem:
    """Return a problem with its place: a key that should not be there is wrong where it begins, whatever its value."""
    key: Place | None = document.keys.get(path) if problem.of_key else None
    return FileProblem(place=key or document.place(path), text=text)


def _beside(document: Document, section: At, keys: Sequence[At]) -> str:
    """Say of a section without a value that keys of its own are beside it."""
    first, last = keys[0], keys[-1]
    which = shown(first[-1]) if first == last else f"{shown(first[-1])} to {shown(last[-1])}"
    return f"'{dotted(section)}' has no value; indent {which} from line {document.keys[first].line} on below it"


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


def _environment(data: Mapping[str, Any]) -> Environment:
    """Return where the deployment goes, as far as the file says so in the right form."""
    region, account = data.get("region"), data.get("account")
    known = isinstance(region, str) and RegionName().problem(region, NOWHERE) is None
    return Environment(
        region=region if known else None,
        account=account if isinstance(account, str) and ACCOUNT.problem(account, NOWHERE) is None else None,
        regions=frozenset(regions()),
    )
