"""The one exception of this library, and the words that its messages share.

A user sees it when something they wrote cannot work: at construction in their own app, or when a deployment file is
loaded. It always carries *every* problem that could be found, each in the user's own words.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING
from unicodedata import name

from cdk_trainyard.problems import Problem, sentence
from cdk_trainyard.tokens import UNKNOWN

if TYPE_CHECKING:
    from constructs import IConstruct


class ConfigurationError(ValueError):
    """What the user wrote cannot be deployed.

    Attributes:
        path: Where it was written: a construct path (``TrainingStack/Cluster``) or a file (``deployments/x.yaml``).
        problems: Every problem found, one sentence each: keyword, value got, values allowed, remedy.
        found: The same as they were found, with the paths of the options that are wrong.
    """

    def __init__(self, path: str, problems: Sequence[Problem | str]) -> None:
        """Format ``problems`` under ``path``."""
        self.path = path
        self.found = tuple(problems)
        self.problems = tuple(each if isinstance(each, str) else sentence(each) for each in problems)
        noun = "problem" if len(self.problems) == 1 else "problems"
        lines = [f"{path}: {len(self.problems)} {noun}", *(f"  - {problem}" for problem in self.problems)]
        super().__init__("\n".join(lines))


_ABBREVIATED = 3
"""Letters of a word that may stand for all of it, as ``Sun``."""


def raise_problems(where: "str | IConstruct", problems: Sequence[Problem | str]) -> None:
    """Raise one ``ConfigurationError`` with every problem, or do nothing when there is none.

    What would show a value of a wrong form, which is among them, follows from that, and is not told.

    Args:
        where: The construct, or what else has been written.
        problems: The problems.
    """
    if told := [each for each in problems if UNKNOWN not in (each if isinstance(each, str) else each.text)]:
        raise ConfigurationError(where if isinstance(where, str) else where.node.path, told)


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return ``"; did you mean 'x' or 'y'?"`` for the choices nearest to ``word``, or ``""`` when none is near."""
    return asked(word, nearest(word, choices))


def asked(word: str, found: Sequence[str]) -> str:
    """Return what was most likely meant by a word as a question, or ``""`` when nothing was found."""
    words = " or ".join(repr(choice) for choice in found)
    return f"; did you mean {words}{_unlike(word, found)}?" if found else ""


def _unlike(word: str, found: Sequence[str]) -> str:
    """Name the first character that is in a word alone, where such characters are all that tells it from the choice."""
    strange = [sign for sign in word if not sign.isascii()]
    [choice] = found if len(found) == 1 else [""]
    if not strange or not choice:
        return ""
    called = f"U+{ord(strange[0]):04X} ({name(strange[0], 'a character without a name')})"
    if "".join(filter(str.isascii, word)).lower() == choice.lower():
        return f" without {called}"
    pairs = list(zip(word, choice, strict=True)) if len(word) == len(choice) else []
    instead = [right for sign, right in pairs if not sign.isascii()]
    if instead and all(sign.lower() == right.lower() for sign, right in pairs if sign.isascii()):
        return f" with {instead[0]} in place of {called}"
    return ""


def nearest(word: str, choices: Iterable[str]) -> list[str]:
    """Return the choices nearest to ``word``, the nearest first; none when none is near.

    One of the same letters and digits, as ``OnDemand`` of ``ON_DEMAND``, is meant; one that ends with the word, as
    ``subnet_id`` with ``id``, is nearer than those that look like it; where none does, the one that begins with it.
    """
    known = sorted(choices)
    if found := same(word, known):
        return found
    like = get_close_matches(word, known, n=3, cutoff=0.6)
    ends = [each for each in known if each.endswith(f"_{word}")]
    if ends and not {*ends} & {*like}:
        return [min(ends, key=len)]
    begins = [each for each in known if len(word) >= _ABBREVIATED and each.lower().startswith(word.lower())]
    if len(begins) == 1 and not like:
        return begins
    return like


def same(word: str, choices: Iterable[str]) -> list[str]:
    """Return the choices of the same letters and digits as ``word``: they differ in capitals and in signs alone."""
    return [each for each in choices if _signs(each) == _signs(word) != ""]


def _signs(word: str) -> str:
    """Return the letters and digits of a word."""
    return "".join(filter(str.isalnum, word)).lower()
