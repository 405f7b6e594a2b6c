"""What can be said of the load balancer before a service: who calls it, and how. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, nonmember
from typing import TYPE_CHECKING, Annotated, Final

from cdk_trainyard.options.addresses import Url
from cdk_trainyard.options.fields import InFile, Said
from cdk_trainyard.options.kinds import Cidr, Number, Text
from cdk_trainyard.options.stand_ins import Retention
from cdk_trainyard.options.texts import DNS_NAME, EXACT, IMAGE_REFERENCE, PATH_PATTERN
from cdk_trainyard.storage.spec import ExistingLogBucket

if TYPE_CHECKING:
    from aws_cdk import aws_certificatemanager as acm
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_logs as logs
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_secretsmanager as secretsmanager

METHODS: Final = ("GET", "POST")
MOST_AT_A_TIME: Final = 1000
"""Requests that an agent of the target optimizer may be told (ELB user guide, "Target optimizer", read 2026-11)."""
AGENT_IMAGE: Final = "public.ecr.aws/aws-elb/target-optimizer/target-control-agent:latest"
_ISSUER: Final = replace(EXACT, example="https://issuer.example/pool")
"""Most are https URLs, but not all (RFC 7519, section 4.1.1, ``StringOrURI``). Length: ELB's API,
``JwtValidationActionConfig``."""

_KEY_SET_URL: Final = Url(
    example="https://issuer.example/pool", longest=256, query=True, public="the load balancer fetches the keys"
)
"""The same."""


class AuthenticationKind(StrEnum):
    """Who looks at a caller."""

    JWT = "jwt"
    """The load balancer, which verifies tokens."""
    API_KEY = "api-key"
    """The engine, which compares a key."""
    NONE = "none"
    """Nobody, behind an internal load balancer."""

    FORMER_VALUES = nonmember(
        {
            **dict.fromkeys(
                ("cognito", "entra", "google", "oauth", "oauth2", "oidc", "okta", "saml", "sso"),
                "there is no page to sign in at; callers that bring a token of an OpenID Connect issuer are let in by "
                "jwt",
            ),
            **dict.fromkeys(
                ("false", "disable", "disabled", "nil", "nothing", "null"),
                "write jwt or api-key, or none behind an internal load balancer",
            ),
            **dict.fromkeys(("bearer", "token"), "write jwt for tokens of an issuer, or api-key for one key of all"),
        }
    )
    """Ways to sign in of other load balancers, by their names and by those of services."""


class ClaimFormat(StrEnum):
    """How the value of a claim is written (``JwtValidationActionAdditionalClaimFormatEnum`` of ELB's API)."""

    SINGLE_STRING = "single-string"
    SPACE_SEPARATED = "space-separated-values"
    STRING_ARRAY = "string-array"


@dataclass(frozen=True, kw_only=True, slots=True)
class JwtClaim:
    """A claim that a token must carry, beside its issuer and its end."""

    name: Annotated[
        str,
        Text(
            pattern=r"[A-Za-z0-9._~:/?#@!&'()*+,;=%-]+",
            words="the name of a claim, without blanks",
            example="client_id",
            longest=256,
        ),
    ]
    """The claim: client_id, scope or aud."""
    values: Sequence[Annotated[str, EXACT]]
    """Values, one of which it must have."""
    format: ClaimFormat = ClaimFormat.SINGLE_STRING
    """How it is written in the token. Default: single-string."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientAuthentication:
    """How callers are told from others: by the options of one kind."""

    kind: AuthenticationKind
    """Who looks at callers: the load balancer, which verifies tokens (jwt), the engine, which compares a key that they
    send as ``Authorization: Bearer`` (api-key), or nobody, behind an internal load balancer (none)."""
    issuer: Annotated[str | None, _ISSUER] = None
    """The issuer of the tokens, to the letter as their claim iss names it; jwt only. Default - none."""
    key_set_url: Annotated[str | None, _KEY_SET_URL] = None
    """The issuer's public keys (JWKS), reachable from the internet at port 443; jwt only. Default - none."""
    claims: Sequence[JwtClaim] = ()
    """What a token must carry beside issuer and end, or any token of the issuer would pass, also one that was made for
    another application; jwt only, which needs one. Default - none."""
    secret: "secretsmanager.ISecret | None" = None
    """The secret whose whole value is the key; api-key only. Default - none."""
    secret_key: "kms.IKey | None" = None
    """The KMS key of that secret. Default - the account's own for Secrets Manager."""

    @classmethod
    def jwt(cls, *, issuer: str, key_set_url: str, claims: Sequence[JwtClaim]) -> "ClientAuthentication":
        """Let the load balancer verify a token (RS256) before anything reaches a task."""
        return cls(kind=AuthenticationKind.JWT, issuer=issuer, key_set_url=key_set_url, claims=tuple(claims))

    @classmethod
    def api_key(cls, secret: "secretsmanager.ISecret") -> "ClientAuthentication":
        """Let the engine compare a key; it knows one key."""
        return cls(kind=AuthenticationKind.API_KEY, secret=secret)

    @classmethod
    def none(cls) -> "ClientAuthentication":
        """Let in whoever reaches the load balancer; for an internal one only."""
        return cls(kind=AuthenticationKind.NONE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConcurrencyLimit:
    """Refuses with 503 what no task has room for, so that callers try again; fixed when the load balancer is made."""

    requests: Annotated[int | None, Number(minimum=1, maximum=MOST_AT_A_TIME)] = None
    """Requests that a task gets at a time, 1 to 1000: what the engine computes, and what waits in it. Default - four
    times the model's batch, so that three batches wait."""
    image: Annotated[str, IMAGE_REFERENCE] = AGENT_IMAGE
    """Image of the target optimizer's agent; pin it to a digest of yours, as AWS publishes no versions.
    Default: public.ecr.aws/aws-elb/target-optimizer/target-control-agent:latest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebAclSpec:
    """AWS WAF before a load balancer, with rules that do not take prompts for attacks."""

    requests_per_address: Annotated[int, Number(minimum=10, maximum=2_000_000_000)] = 3000
    """Requests of one address in five minutes; more are refused. Default: 3000."""
    log_retention: Annotated["logs.RetentionDays", Said(None)] = Retention(90)  # type: ignore[assignment]  # noqa: RUF009  stands for it
    """How long the log of refused requests is kept. Default: 90."""
    log_key: Annotated["kms.IKey | None", Said(None)] = None
    """KMS key of the log group. Default - CloudWatch Logs encrypts with its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadBalancerSpec:
    """The Application Load Balancer before a service: paths that are not listed are answered 404."""

    authentication: ClientAuthentication
    """Who may call."""
    certificate: "acm.ICertificate | None" = None
    """The ACM certificate for HTTPS, of the same Region. Default - none, which needs ``plain_http``."""
    plain_http: bool = False
    """Whether it speaks HTTP, for an internal one only; prompts can be read on the way. Default: false."""
    domain_name: Annotated[str | None, DNS_NAME] = None
    """The name of the certificate that callers use; let it lead to the load balancer. Default - its own name."""
    public: bool = False
    """Whether it is reached from the internet. Default: false."""
    clients: Sequence[Annotated[str, Cidr()]] | None = None
    """Blocks of addresses that reach it. Default - internal: the VPC; public: anybody."""
    paths: Sequence[Annotated[str, PATH_PATTERN]] = ("/v1/*",)
    """What is let in, at most 3 patterns; with api-key within /v1/. Default - /v1/*."""
    concurrency: ConcurrencyLimit | None = None
    """Refuses with 503 what is over so many requests of each task. Default - whatever comes waits in the engine."""
    access_logs: "Annotated[s3.IBucket | None, InFile(ExistingLogBucket)]" = None
    """An existing bucket for access logs, under the prefix ``front-door``, which must let the load balancer write.
    Default - one is made."""
    deletion_protection: bool = False
    """Whether deleting it needs a second step. Default: false."""
