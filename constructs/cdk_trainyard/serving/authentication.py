"""Who may call: a token that the load balancer verifies, a key that the engine compares, or anybody inside."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what only names the kinds needs no CDK
    from aws_cdk import aws_secretsmanager as secretsmanager


class AuthenticationKind(StrEnum):
    """Who looks at a caller."""

    JWT = "jwt"
    API_KEY = "api_key"
    NONE = "none"


class ClaimFormat(StrEnum):
    """How the value of a claim is written (``JwtValidationActionAdditionalClaimFormatEnum`` of ELB's API)."""

    SINGLE_STRING = "single-string"
    SPACE_SEPARATED = "space-separated-values"
    STRING_ARRAY = "string-array"


@dataclass(frozen=True, kw_only=True, slots=True)
class JwtClaim:
    """A claim that a token must carry, beside its issuer and its end.

    Attributes:
        name: The claim, as ``"client_id"``, ``"scope"`` or ``"aud"``.
        values: Values, one of which it must have.
        format: How it is written. Default: SINGLE_STRING.
    """

    name: str
    values: Sequence[str]
    format: ClaimFormat = ClaimFormat.SINGLE_STRING


@dataclass(frozen=True, kw_only=True, slots=True)
class DoorAuthentication:
    """Who may call. Make one with ``jwt``, ``api_key`` or ``none``.

    Attributes:
        kind: Who looks at a caller.
        issuer: Issuer of the tokens. None: there are none.
        key_set_url: Where the issuer's public keys are. None: there are none.
        claims: Claims that a token must carry.
        secret: The secret with the key. None: there is none.
    """

    kind: AuthenticationKind
    issuer: str | None = None
    key_set_url: str | None = None
    claims: tuple[JwtClaim, ...] = ()
    secret: "secretsmanager.ISecret | None" = None

    @classmethod
    def jwt(cls, *, issuer: str, key_set_url: str, claims: Sequence[JwtClaim]) -> "DoorAuthentication":
        """Let the load balancer verify a token (RS256) before anything reaches a task.

        Args:
            issuer: The issuer, as its tokens name it.
            key_set_url: Its public keys (JWKS), reachable from the internet.
            claims: What else a token must carry. Without a claim any token of the issuer would pass, also one that was
                made for another application.
        """
        return cls(kind=AuthenticationKind.JWT, issuer=issuer, key_set_url=key_set_url, claims=tuple(claims))

    @classmethod
    def api_key(cls, secret: "secretsmanager.ISecret") -> "DoorAuthentication":
        """Let the engine compare a key that callers send as ``Authorization: Bearer``; it knows one key.

        Args:
            secret: The secret whose whole value is the key.
        """
        return cls(kind=AuthenticationKind.API_KEY, secret=secret)

    @classmethod
    def none(cls) -> "DoorAuthentication":
        """Let in whoever reaches the door; for an internal one only."""
        return cls(kind=AuthenticationKind.NONE)
