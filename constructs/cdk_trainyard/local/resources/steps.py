"""The words that the tables are written in."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jmespath  # type: ignore[import-untyped]  # comes with boto3, without types
from botocore.exceptions import ClientError

from cdk_trainyard.local.clients import input_shape
from cdk_trainyard.local.resources.model import Resource, Step, Value

_MISSING = ("NotFound", "NoSuch", "DoesNotExist", "NotFoundException", "Unknown", "404")


def is_missing(error: ClientError) -> bool:
    """Return whether ``error`` says that what was asked for is not there."""
    return any(word in str(error.response["Error"].get("Code", "")) for word in _MISSING)


def nothing(_resource: Resource) -> None:
    """Do nothing: what exists needs no call."""


def answer(path: str) -> Value:
    """Return a value that reads ``path`` (JMESPath) in what the creating call answered."""
    compiled = jmespath.compile(path)

    def read(it: Resource) -> Any:
        return compiled.search(it.result)

    return read


def given(name: str) -> Value:
    """Return a value that is the property ``name``."""
    return lambda it: it[name]


def constant(value: Any) -> Value:
    """Return a value that is always ``value``."""
    return lambda _: value


def identity(it: Resource) -> Any:
    """Return the physical id."""
    return it.id


def arn(service: str, pattern: str) -> Value:
    """Return a value that is an ARN; ``{}`` in ``pattern`` stands for the physical id."""
    return lambda it: it.where.arn(service, pattern.format(it.id))


def after(*steps: Step) -> Step:
    """Return a step that runs ``steps`` one after the other and answers what the first did."""

    def run(it: Resource) -> Mapping[str, Any] | None:
        first = steps[0](it)
        for step in steps[1:]:
            step(it)
        return first

    return run


class Api:
    """The API of a service, for the tables.

    Args:
        service: boto3's name of the service.
    """

    def __init__(self, service: str) -> None:
        self.service = service

    def call(self, operation: str, parameters: Callable[[Resource], Mapping[str, Any]]) -> Step:
        """Return a step that calls ``operation`` with exactly ``parameters``."""
        return lambda it: it.call(self.service, operation, parameters(it))

    def apply(
        self,
        operation: str,
        also: Callable[[Resource], Mapping[str, Any]] = lambda _: {},
        *,
        but: tuple[str, ...] = (),
    ) -> Step:
        """Return a step that calls ``operation`` with every property that it knows, and with what ``also`` adds.

        Properties that the operation does not know, and those in ``but``, are left to other steps.
        """

        def run(it: Resource) -> Mapping[str, Any]:
            known = [name for name in self._known(it, operation, it.properties) if name not in but]
            return it.call(self.service, operation, {**it.pick(*known), **also(it)})

        return run

    def put(
        self,
        operation: str,
        also: Callable[[Resource], Mapping[str, Any]] = lambda _: {},
        *,
        but: tuple[str, ...] = (),
    ) -> Step:
        """Return a step as `apply` does, for an operation that writes anew: what is not passed is gone."""
        write = self.apply(operation, also, but=but)

        def run(it: Resource) -> Mapping[str, Any] | None:
            it.taken.update(name for name in self._known(it, operation, it.previous) if name not in but)
            return write(it)

        return run

    def _known(self, it: Resource, operation: str, names: Iterable[str]) -> list[str]:
        members = {member.lower() for member in input_shape(self.service, it.where.region, operation).members}
        return [name for name in names if name.lower() in members]

    def forget(self, operation: str, parameters: Callable[[Resource], Mapping[str, Any]]) -> Step:
        """Return a step that deletes: what is gone already is no error."""

        def run(it: Resource) -> None:
            try:
                it.call(self.service, operation, parameters(it))
            except ClientError as error:
                if not is_missing(error):
                    raise

        return run

    def read(self, operation: str, parameters: Callable[[Resource], Mapping[str, Any]], path: str = "`{}`") -> Step:
        """Return a reader for drift: live properties at ``path`` (JMESPath) of the answer, or ``None`` when gone."""
        compiled = jmespath.compile(path)

        def run(it: Resource) -> Mapping[str, Any] | None:
            found: Mapping[str, Any] | None = compiled.search(it.call(self.service, operation, parameters(it)))
            return found

        return run


def pairs(tags: Any) -> dict[str, str]:
    """Return tags as a map, whichever way the template writes them."""
    if isinstance(tags, Mapping):
        return {str(key): str(value) for key, value in tags.items()}
    return {tag["Key"]: str(tag.get("Value", "")) for tag in tags or []}


def listed(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Return tags as a list of pairs."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def tagger(
    service: str,
    tag: str,
    untag: str,
    target: Callable[[Resource], Mapping[str, Any]],
    *,
    tags: str = "Tags",
    keys: str = "TagKeys",
    keys_as_tags: bool = False,
    of: str = "Tags",
) -> Step:
    """Return a step that makes a resource's tags those of the template.

    Args:
        service: boto3's name of the service.
        tag: Operation that adds tags.
        untag: Operation that removes them.
        target: Parameters that name the resource.
        tags: Parameter with the tags to add.
        keys: Parameter with the keys to remove.
        keys_as_tags: The keys to remove are passed as ``{"Key": …}``.
        of: The property with the tags.
    """

    def run(it: Resource) -> None:
        new, old = pairs(it.get(of)), pairs(it.previous.get(of))
        gone = sorted(set(old) - set(new))
        if gone:
            it.call(service, untag, {**target(it), keys: [{"Key": key} for key in gone] if keys_as_tags else gone})
        if new:
            it.call(service, tag, {**target(it), tags: listed(new)})

    return run
