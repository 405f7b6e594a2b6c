"""What an account said to a call: its answer, or why there is none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from botocore import exceptions

from cdk_trainyard.account.call import Call


class Why(StrEnum):
    """Why a call was not answered."""

    CREDENTIALS = "no credentials that work"
    """There are none, or they have expired, or AWS does not know them."""
    DENIED = "not allowed"
    """The principal may not make the call."""
    ABSENT = "not there"
    """What was asked about does not exist."""
    THROTTLED = "throttled"
    """The account asks too often, and went on to do so after every retry."""
    BUSY = "something else goes on"
    """Somebody else, or AWS itself, changes it at the moment."""
    UNREACHABLE = "not reached"
    """The endpoint was not reached: no such service in the Region, or no way to it."""
    REFUSED = "refused"
    """Something else: the text says it."""


_CODES: Final[Mapping[Why, frozenset[str]]] = {
    Why.CREDENTIALS: frozenset(
        {
            *("ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "AuthFailure"),
            *("UnrecognizedClientException", "InvalidSignatureException", "SignatureDoesNotMatch"),
            *("IncompleteSignature", "MissingAuthenticationToken"),
        }
    ),
    Why.DENIED: frozenset(
        {
            *("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"),
            *("UnauthorizedException", "AuthorizationErrorException", "Forbidden", "403"),
        }
    ),
    Why.THROTTLED: frozenset(
        {
            *("Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException"),
            *("RequestLimitExceeded", "TooManyRequestsException", "RequestThrottled", "SlowDown"),
            *("ProvisionedThroughputExceededException", "BandwidthLimitExceeded", "LimitExceededException"),
            *("TransactionInProgressException", "EC2ThrottledException", "PriorRequestNotComplete"),
        }
    ),
    Why.BUSY: frozenset(
        {
            *("ConflictException", "InstanceRefreshInProgress", "ScalingActivityInProgress", "ResourceInUse"),
            *("ResourceInUseException", "UpdateInProgressException", "OperationInProgressException"),
        }
    ),
}
"""Codes of errors. Sources: "Common errors" of the API references of EC2, SageMaker, IAM and STS, read 2026-11; of
throttling botocore's ``retries/standard.py``, ``ThrottledRetryableChecker``; of what goes on botocore's models of
SageMaker, Auto Scaling, ECS and CloudFormation."""
_GOES_ON: Final = re.compile(
    r"_IN_PROGRESS state|in progress|is (currently )?being |is (currently )?(creating|updating|deleting)", re.IGNORECASE
)
"""What services without a code for it say of what goes on, with the code of a value that is wrong."""
_WRONG_VALUE: Final = frozenset({"ValidationError", "ValidationException"})
_ABSENT: Final = ("NotFound", "NoSuch", "ResourceNotFound", "DoesNotExist", "InvalidInstanceID.Malformed")
_MISSING: Final = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.SSOError,
    exceptions.ProfileNotFound,
    exceptions.TokenRetrievalError,
    exceptions.NoAuthTokenError,
    exceptions.LoginError,
)
_AWAY: Final = (exceptions.HTTPClientError, exceptions.EndpointProviderError, exceptions.NoRegionError)


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why a call was not answered.

    Attributes:
        why: The kind.
        code: The code of AWS's error; the name of botocore's exception.
        text: What was said, unchanged.
    """

    why: Why
    code: str
    text: str

    def __str__(self) -> str:
        """The kind, and what was said."""
        return f"{self.why}: {self.text}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What an account said to a call.

    Attributes:
        call: The call.
        value: The members of the answer, all pages of it. Empty: it was not answered.
        refusal: Why it was not answered. None: it was.
    """

    call: Call
    value: Mapping[str, Any] = field(default_factory=dict)
    refusal: Refusal | None = None

    @property
    def absent(self) -> bool:
        """Whether AWS said that what was asked about does not exist."""
        return self.refusal is not None and self.refusal.why is Why.ABSENT

    def items(self, member: str) -> list[Any]:
        """Return a list of the answer; none where it was not answered.

        Args:
            member: Its name.
        """
        return list(self.value.get(member) or ())


def refusal_of(error: Exception) -> Refusal:
    """Return what an exception of botocore says.

    Args:
        error: The exception.
    """
    if isinstance(error, exceptions.ClientError):
        said = error.response.get("Error", {})
        code = str(said.get("Code", ""))
        return Refusal(why=_why(code, str(said.get("Message", ""))), code=code, text=str(said.get("Message") or error))
    why = Why.CREDENTIALS if isinstance(error, _MISSING) else Why.UNREACHABLE if isinstance(error, _AWAY) else None
    return Refusal(why=why or Why.REFUSED, code=type(error).__name__, text=str(error))


def _why(code: str, text: str) -> Why:
    for why, codes in _CODES.items():
        if code in codes:
            return why
    if code in _WRONG_VALUE and _GOES_ON.search(text):
        return Why.BUSY
    absent = code == "404" or any(word in code for word in _ABSENT)
    # CloudFormation and Auto Scaling have no code for it: "Stack with id x does not exist"
    return Why.ABSENT if absent or (code == "ValidationError" and "does not exist" in text) else Why.REFUSED
