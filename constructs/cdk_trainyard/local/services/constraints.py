"""The checks that a service's front makes of every request: enumerations, patterns, lengths and ranges.

botocore's model of the service knows them, boto3 does not check them, and moto mostly does not either.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from botocore.session import Session

from cdk_trainyard.local.errors import ApiError

_SIZES = {"string": "length", "list": "length", "map": "length"}


@lru_cache(maxsize=8)
def _service_model(service: str) -> Any:
    return Session().get_service_model(service)


def check(service: str, operation: str, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that the service's model does not allow, in the words that AWS uses.

    Raises:
        ApiError: With every violation.
    """
    shape = _service_model(service).operation_model(operation).input_shape
    problems = list(_problems(parameters, shape, ""))
    if problems:
        noun = "validation error" if len(problems) == 1 else "validation errors"
        raise ApiError("ValidationException", f"{len(problems)} {noun} detected: {'; '.join(problems)}")


def _problems(value: Any, shape: Any, path: str) -> Iterator[str]:
    kind = shape.type_name
    if kind == "structure":
        for name, inner in value.items():
            if name in shape.members:
                yield from _problems(inner, shape.members[name], f"{path}.{_camel(name)}" if path else _camel(name))
        return
    for constraint in _violated(value, shape):
        shown = "[…]" if kind in ("list", "map") else value
        yield f"Value '{shown}' at '{path}' failed to satisfy constraint: Member must {constraint}"
    if kind == "list":
        for index, item in enumerate(value, start=1):
            yield from _problems(item, shape.member, f"{path}.{index}.member")


def _violated(value: Any, shape: Any) -> Iterator[str]:
    metadata = shape.metadata
    if "enum" in metadata and value not in metadata["enum"]:
        yield f"satisfy enum value set: [{', '.join(metadata['enum'])}]"
    if "pattern" in metadata and isinstance(value, str) and not _matches(metadata["pattern"], value):
        yield f"satisfy regular expression pattern: {metadata['pattern']}"
    word = _SIZES.get(shape.type_name)
    size = len(value) if word else value
    noun = f"have {word} " if word else "have value "
    if not isinstance(size, int | float) or isinstance(size, bool):
        return
    if size < metadata.get("min", size):
        yield f"{noun}greater than or equal to {metadata['min']}"
    if size > metadata.get("max", size):
        yield f"{noun}less than or equal to {metadata['max']}"


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:  # a pattern of Java's that Python does not know
        return True


def _camel(name: str) -> str:
    return name[:1].lower() + name[1:]
