"""What all models of the deployment file have in common, and the field types that several of them use."""

from typing import Annotated, Any, Final, Never

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import InstanceType, hyperpod_type_names

REFUSED: Final = "refused"
"""Type of the error that carries problems of the house's own, in its own words."""


class Section(BaseModel):
    """One mapping of the deployment file: unknown keys, wrong types and later changes are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True)


def refuse(problems: list[str], *path: str) -> None:
    """Refuse a value with every problem, each said of what stands at ``path`` below it; nothing happens when none."""
    if problems:
        raise PydanticCustomError(REFUSED, "refused", {"problems": [(path, problem) for problem in problems]})


def patterned(pattern: str, words: str, example: str) -> Any:
    """Constrain text by a pattern that has a name: the words are the editor's message and ours."""
    extra: dict[str, Any] = {"patternErrorMessage": words}
    return Field(pattern=pattern, json_schema_extra=extra, examples=[example])


LAX: Final = Field(strict=False)
"""For enumerations: the file has the member's value."""


def _known_type(name: str) -> str:
    try:
        InstanceType.of(name)
    except ConfigurationError as error:
        refuse(list(error.problems))
    return name
