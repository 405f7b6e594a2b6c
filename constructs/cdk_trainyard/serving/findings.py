"""What rules found: what is refused, and what is only said; and which of both it is where an engine is unchecked."""

from collections.abc import Iterable
from dataclasses import dataclass

from cdk_trainyard.problems import Problem, Warned, sentence, warned
from cdk_trainyard.serving.spec_model import TextGenerationEngine


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What is wrong, and what only may be.

    Attributes:
        problems: What cannot work.
        warnings: What may not work.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[Warned, ...] = ()

    @classmethod
    def of(
        cls,
        engine: TextGenerationEngine,
        problems: Iterable[Problem],
        doubtful: Iterable[Problem],
        warnings: Iterable[Warned] = (),
    ) -> "Findings":
        """Return what is refused and what is said of an engine and of what it serves.

        Args:
            engine: The engine, which may be unchecked.
            problems: What is wrong whatever the engine, the model and the host are.
            doubtful: What the catalogue, or what is known of the engine, or the arithmetic speaks against.
            warnings: What may not work.
        """
        if engine.unchecked is not True:
            return cls(problems=(*problems, *doubtful), warnings=tuple(warnings))
        unchecked = warned("serving", "unchecked", map(sentence, doubtful))
        return cls(problems=tuple(problems), warnings=(*unchecked, *warnings))
