"""How this package answers API calls: functions of a request, put into moto's services by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from moto.core.responses import ActionResult, BaseResponse

from cdk_trainyard.local.errors import validation_error


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A call of an API, parsed by botocore's model of the service."""

    account: str
    region: str
    partition: str
    parameters: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        """Return a parameter that the API demands.

        Raises:
            ApiError: It was not given, as botocore's model allows where one of several must be.
        """
        if name not in self.parameters:
            raise validation_error(f"{name} is required")
        return self.parameters[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a parameter, or ``default``."""
        found = self.parameters.get(name)
        return default if found is None else found

    def arn(self, service: str, resource: str) -> str:
        """Return an ARN in the caller's partition, region and account."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"


Operation = Callable[[Request], Mapping[str, Any]]
"""Answers a call with the members of the operation's output."""


def install(response: type[BaseResponse], operations: Mapping[str, Operation]) -> None:
    """Make a service of moto's answer ``operations``, named as boto3 names them, instead of its own.

    Raises:
        TypeError: An operation is no function; moto would not find it.
    """
    for name, operation in operations.items():
        setattr(response, name, _method(operation))


def _method(operation: Operation) -> Callable[[BaseResponse], ActionResult]:
    def method(self: BaseResponse) -> ActionResult:
        self.parse_parameters(self.normalized_request)
        request = Request(
            account=self.current_account,
            region=self.region,
            partition=self.partition,
            parameters=plain(self.params),
        )
        return ActionResult(plain(operation(request)))

    return method


def remember(thing: object, values: Mapping[str, Any]) -> None:
    """Keep ``values`` as attributes of a thing of moto's that has none for them; moto's answers then tell them."""
    for attribute, value in values.items():
        setattr(thing, attribute, value)


def replace(owner: type, corrections: Mapping[str, Any]) -> None:
    """Put functions of this package into a class of moto's in place of its own."""
    for name, correction in corrections.items():
        setattr(owner, name, correction)


def plain(value: Any) -> Any:
    """Return plain dicts and lists for moto's own kinds, without members that are ``None``."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
