"""Problems of a file at their places in it, each told once, and in the file's own names. No CDK."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass, replace
from typing import Final

from cdk_trainyard.deployment._document import OR_REMOVE, Document, Place
from cdk_trainyard.deployment._document import Problem as FileProblem
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.options.paths import found_in, in_file
from cdk_trainyard.options.reading import Reader
from cdk_trainyard.problems import At, Problem, dotted, is_around, others, sentence, shown
from cdk_trainyard.tokens import UNKNOWN

_GO: Final = "must be left out"
"""How a sentence begins about what must go, be it an item of a right name."""
_PLAIN: Final = (bool, float, int, str)
_IN_QUOTES: Final = " (text, in quotes)"


def problems_at_their_places(
    document: Document, deployment: DeploymentSpec, reader: Reader, of_rules: Sequence[Problem]
) -> Iterator[FileProblem]:
    """Yield everything that is wrong with a file, each thing once.

    Args:
        document: The file, with what is wrong with its text.
        deployment: What it says.
        reader: What read it, with what is wrong with its form.
        of_rules: What rules find wrong.
    """
    return _once(document, _at_their_places(document, deployment, reader, of_rules))


def _at_their_places(
    document: Document, deployment: DeploymentSpec, reader: Reader, of_rules: Sequence[Problem]
) -> Iterator[FileProblem]:
    """Yield everything that is wrong with a file: with its text, with its form, and by the rules.

    What follows from something that is told already is not told again.
    """
    unknown = {*document.reported, *reader.meant}
    needless = {found_in(deployment, each.at)[0] for each in of_rules if _is_needless(deployment, each, unknown)}
    outdented = {section: keys for section, keys in reader.outdented.items() if section in document.empty}
    for said in document.problems:
        if said.at not in reader.unread | needless:
            text = _outdented(document, said.at, outdented[said.at]) if said.at in outdented else said.text
            text = text.removesuffix(OR_REMOVE) if said.at in reader.needed else text
            yield replace(said, text=f"{text}{reader.nothing.get(said.at, '')}")
    beside = {key for keys in outdented.values() for key in keys}
    judged = {found_in(deployment, each.at)[0]: each.of_key for each in of_rules}
    unquoted = {at for at in reader.unquoted if judged.get(at) is False}
    names = {found_in(deployment, each.at)[0] for each in of_rules if _is_name(deployment, each)} - unknown
    told = {*unquoted, *(at for at in reader.unneeded if any(is_around(at, each) for each in judged))}
    of_form = [
        each
        for each in reader.problems
        if each.at not in (told if each.of_key else told | names)
        and not any(at == each.at or is_around(at, each.at) for at in needless)
    ]
    for each in of_form:
        if (each.at in reader.unread or each.at not in document.reported) and each.at not in beside:
            yield _placed(document, each.at, each, sentence(each))
    unknown -= document.reported & needless
    answered = {*unknown, *(problem.at for problem in of_form)}
    to_go = {each.at for each in of_rules if each.text.startswith(_GO) and UNKNOWN not in each.text}
    of_what_stays = (
        each
        for each in of_rules
        if (each.at not in to_go or each.text.startswith(_GO))
        and not any(is_around(section, found_in(deployment, each.at)[0]) for section in reader.missing)
    )
    found = _of_rules(document, deployment, of_what_stays, answered=answered, unknown=unknown)
    yield from (replace(each, text=f"{each.text}{_IN_QUOTES if each.at in unquoted else ''}") for each in found)


def _is_needless(deployment: DeploymentSpec, problem: Problem, unknown: AbstractSet[At]) -> bool:
    """Say whether an option must go, whatever is in it; an item by a wrong name stays, under another one."""
    beside = (in_file(deployment, at) for at in others(problem))
    is_told = UNKNOWN not in problem.text and unknown.isdisjoint(beside)
    return problem.of_key and is_told and not _is_name(deployment, problem)


def _is_name(deployment: DeploymentSpec, problem: Problem) -> bool:
    """Say whether a problem is about the name of an item, whatever is in it."""
    _, around = found_in(deployment, problem.at[:-1])
    return problem.of_key and not is_dataclass(around) and not problem.text.startswith(_GO)


def _of_rules(
    document: Document,
    deployment: DeploymentSpec,
    found: Iterable[Problem],
    *,
    answered: Collection[At],
    unknown: Collection[At],
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
        is_told = path in (unknown if _is_name(deployment, problem) else answered)
        if not is_told and UNKNOWN not in problem.text and not any(at in unknown for at in beside):
            text = sentence(problem, called=called)
            if type(value) in _PLAIN and path not in document.values:  # a default, wrong beside a key that is said
                text = f"{text} ({shown(value)} is the default)"
                path = next((at for at in beside if at in document.values), path)
            yield _placed(document, path, problem, text)


def _placed(document: Document, path: At, problem: Problem, text: str) -> FileProblem:
    """Return a problem with its place: a key that should not be there is wrong where it begins, whatever its value."""
    key: Place | None = document.keys.get(path) if problem.of_key else None
    return FileProblem(place=key or document.place(path), text=text, at=path)


def _once(document: Document, found: Iterable[FileProblem]) -> Iterator[FileProblem]:
    """Tell what is wrong with something once that aliases repeat, by its first path."""
    told: dict[tuple[Place, str], list[FileProblem]] = {}
    for each in found:
        subject = f"'{dotted(each.at)}'" if each.at in document.keys or each.at in document.values else ""
        told.setdefault((each.place, each.text.removeprefix(subject)), []).append(each)
    for first, *again in told.values():
        places = "another place" if len(again) == 1 else f"{len(again)} other places"
        text = f"{first.text} (and the same in {places})" if again else first.text
        if (alias := document.used(first.at)) == document.place(first.at):
            yield replace(first, text=text)
        else:
            yield replace(first, place=alias, text=f"{text} (an alias of what is in line {first.place.line})")


def _outdented(document: Document, section: At, keys: Sequence[At]) -> str:
    """Say of a section without a value that keys of its own are beside it."""
    first, last = keys[0], keys[-1]
    which = shown(first[-1]) if first == last else f"{shown(first[-1])} to {shown(last[-1])}"
    return f"'{dotted(section)}' has no value; indent {which} from line {document.keys[first].line} on below it"
