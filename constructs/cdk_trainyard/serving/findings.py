"""What rules found: what is refused, and what is only said; and which of both it is where an engine is unchecked."""

from collections.abc import Iterable
from dataclasses import dataclass

from cdk_trainyard.problems import Problem, sentence
from cdk_trainyard.serving.spec_model import TextGenerationEngine


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What is wrong, and what only may be.

    Attributes:
        problems: What cannot work.
        warnings: What may not work, each with the slug of its warning.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        engine: TextGenerationEngine,
        problems: Iterable[Problem],
        doubtful: Iterable[Problem],
        warnings: Iterable[tuple[str, str]] = (),
    ) -> "Findings":
        """Return what is refused and what is said of an engine and of what it serves.

        Args:
            engine: The engine, which may be unchecked.
            problems: What is wrong whatever the engine, the model and the host are.
            doubtful: What the catalogue, or what is known of the engine, or the arithmetic speaks against.
            warnings: What may not work, each with the slug of its warning.
        """
        if engine.unchecked is not True:
            return cls(problems=(*problems, *doubtful), warnings=tuple(warnings))
        unchecked = (("unchecked", sentence(each)) for each in doubtful)
        return cls(problems=tuple(problems), warnings=(*unchecked, *warnings))
