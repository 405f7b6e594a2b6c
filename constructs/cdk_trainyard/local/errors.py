"""The two ways in which the local AWS says no."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from moto.core.exceptions import ServiceException


class ApiError(ServiceException):
    """An error answer of an API: moto writes it as the service's protocol wants it."""

    def __init__(self, code: str, message: str) -> None:
        """Make an answer with ``code``, as boto3 shows it, and ``message``."""
        super().__init__(code, message)


class ResourceFailed(Exception):  # noqa: N818  reads as the event does: CREATE_FAILED
    """A resource could not be created, changed or deleted; the message goes into the stack's events.

    Attributes:
        physical_id: What exists all the same and is to be deleted in a rollback; usually nothing.
    """

    def __init__(self, message: str, physical_id: str = "") -> None:
        """Carry the message of the event."""
        super().__init__(message)
        self.physical_id = physical_id


def validation_error(message: str) -> ApiError:
    """Return CloudFormation's answer to a request that it does not accept."""
    return ApiError("ValidationError", message)


def describe(error: BaseException) -> str:
    """Return what a stack event says about ``error``."""
    if isinstance(error, ClientError):
        answer: dict[str, Any] = error.response
        code, message = answer["Error"].get("Code", "Unknown"), answer["Error"].get("Message", "")
        return f"{message} (operation {error.operation_name}, error code {code})"
    if isinstance(error, ServiceException):
        return str(error.message)
    if isinstance(error, ResourceFailed | BotoCoreError):
        return str(error)
    return f"{type(error).__name__}: {error}"
