"""A request of CloudFormation to a custom resource, and its answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cdk_trainyard.local.access.credentials import Credentials
from cdk_trainyard.local.clients import client
from cdk_trainyard.local.resources.model import Where

Kind = Literal["Create", "Update", "Delete"]
REFUSED = "Received response status [FAILED] from custom resource. Message returned: "
"""How an event begins that tells why a custom resource failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Function:
    """The Lambda function behind a custom resource.

    Attributes:
        runtime: As ``python3.14``.
        credentials: Of its execution role.
    """

    runtime: str
    credentials: Credentials


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What CloudFormation asks of a custom resource.

    Attributes:
        kind: What to do.
        where: For which resource.
        properties: The resource's properties; every number and truth value is a string, as CloudFormation sends them.
        previous: The properties before an update.
        physical_id: Empty for a creation.
        function: What is behind the resource. Default - nothing that is known here.
    """

    kind: Kind
    where: Where
    properties: Mapping[str, Any]
    previous: Mapping[str, Any]
    physical_id: str
    function: Function | None = None

    @property
    def credentials(self) -> Credentials | None:
        """Those of the function's role; ``None``: the administrator's."""
        return self.function.credentials if self.function else None

    def client(self, service: str, region: str | None = None) -> Any:
        """Return a boto3 client with the function's role, in the resource's region unless told otherwise."""
        return client(service, region or self.where.region, self.credentials)

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a property that is true or false."""
        return str(self.properties.get(name, default)).lower() == "true"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a custom resource answers.

    Attributes:
        physical_id: Default - the one of the request, or one made up.
        data: Values for ``Fn::GetAtt``.
    """

    physical_id: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


Helper = Callable[[Request], Answer]


def stringified(value: Any) -> Any:
    """Return ``value`` as CloudFormation sends it: numbers and truth values are strings."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return {key: stringified(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [stringified(item) for item in value]
    return value if isinstance(value, str) else str(value)
