"""What a door needs to be one. Pure: no CDK object is made, and Tokens are not judged."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from cdk_trainyard.serving.authentication import AuthenticationKind, DoorAuthentication
from cdk_trainyard.tokens import unresolved

FORBIDDEN_PATHS = ("/metrics", "/invocations", "/info", "/generate", "/tokenize", "/health")
"""Routes of the engines that ask nobody for a key, or show what others do."""
_CLAIMS = (1, 10)
_CONCURRENCY = (1, 1000)
_CONDITION_VALUES = 5
_CERTIFICATE = re.compile(r"arn:[^:]+:acm:(?P<region>[^:]+):")


def transport_problems(certificate_arn: str | None, region: str, *, plain_http: bool, public: bool) -> list[str]:
    """Check that the door speaks HTTPS, or that plain HTTP was said."""
    if certificate_arn is None:
        return _without_certificate(region, plain_http=plain_http, public=public)
    if plain_http:
        return ["'plain_http' must be left out beside 'certificate'; the door then speaks HTTPS alone"]
    found = _CERTIFICATE.match(certificate_arn) if not unresolved(certificate_arn, region) else None
    if found is None or unresolved(found["region"]) or found["region"] == region:
        return []
    return [f"'certificate' must be in {region}, got {certificate_arn} in {found['region']}; request one in {region}"]


def authentication_problems(authentication: DoorAuthentication, *, plain_http: bool, public: bool) -> list[str]:
    """Check that callers are looked at, and how."""
    if authentication.kind is AuthenticationKind.NONE:
        said = "'authentication' must be jwt or api_key for a public door, got none; use DoorAuthentication.jwt"
        return [said] if public else []
    if authentication.kind is AuthenticationKind.API_KEY:
        return []
    return [*_jwt(authentication), *(_jwt_in_clear() if plain_http else [])]


def path_problems(paths: Sequence[str], methods: Sequence[str]) -> list[str]:
    """Check the list of paths that are let in, all others being refused."""
    problems = [
        f"'paths' must not let in {forbidden}, got {path!r}; use '/v1/*'"
        for path in paths
        for forbidden in FORBIDDEN_PATHS
        if not unresolved(path) and fnmatchcase(forbidden, path)
    ]
    problems += [
        f"'paths' must begin with '/', got {path!r}" for path in paths if not unresolved(path) and path[:1] != "/"
    ]
    if not paths:
        problems.append("'paths' must name 1 path or more, got none; use '/v1/*'")
    if len(paths) + len(methods) > _CONDITION_VALUES:
        problems.append(
            f"'paths' must be {_CONDITION_VALUES - len(methods)} or fewer, got {len(paths)}: a rule takes "
            f"{_CONDITION_VALUES} values, and {' and '.join(methods)} are two of them"
        )
    return problems


def client_problems(*, given: bool, cidr_known: bool, public: bool) -> list[str]:
    """Check that somebody is let in."""
    if given or public or cidr_known:
        return []
    return ["'clients' must be given: the block of the VPC is not known here; use [ec2.Peer.ipv4('10.0.0.0/16')]"]


def place_problems(*, has_public_subnets: bool, public: bool) -> list[str]:
    """Check that a public door has public subnets to stand in."""
    if not public or has_public_subnets:
        return []
    return ["'public' must come with public subnets, got a network without; give it 'public_zones', or 'subnets' here"]


def log_problems(region: str) -> list[str]:
    """Check that access logs can be delivered: who writes them depends on the Region."""
    if not unresolved(region):
        return []
    return ["the stack's Region must be given for the door's access logs; use env=Environment(region=…)"]


def concurrency_problems(requests: int | None) -> list[str]:
    """Check how many requests a task gets at a time (target optimizer: 0 to 1000, of which 0 is none at all)."""
    low, high = _CONCURRENCY
    if requests is None or unresolved(requests) or low <= requests <= high:
        return []
    return [f"'requests' of 'concurrency' must be {low} to {high}, got {requests}; use the model's batch"]


def _without_certificate(region: str, *, plain_http: bool, public: bool) -> list[str]:
    where = "" if unresolved(region) else f" in {region}"
    if not plain_http:
        return [
            (
                f"'certificate' must be given, since the door speaks HTTPS; request one of ACM{where}, or say "
                f"'plain_http' "
                f"for an internal door"
            )
        ]
    if public:
        return [f"'plain_http' must not be said for a public door; give a 'certificate' of ACM{where}"]
    return []


def _jwt_in_clear() -> list[str]:
    return [
        "'authentication' jwt must come with a 'certificate': the load balancer verifies tokens on HTTPS listeners only"
    ]


def _jwt(authentication: DoorAuthentication) -> Iterator[str]:
    low, high = _CLAIMS
    for key, url in (("issuer", authentication.issuer), ("key_set_url", authentication.key_set_url)):
        if url is not None and not unresolved(url) and not re.fullmatch(r"https://[^\s/?#]+\S*", url):
            yield f"{key!r} must be an https URL, got {url!r}"
    if not low <= len(authentication.claims) <= high:
        yield (
            f"'claims' must be {low} to {high}, got {len(authentication.claims)}: without one any token of the issuer "
            f"passes, also another application's; use client_id, scope or aud"
        )
    for claim in authentication.claims:
        if not claim.values:
            yield f"claim {claim.name!r} must have 1 value or more, got none"
        if claim.name in {"iss", "exp", "nbf", "iat"}:
            yield f"claim {claim.name!r} must be left out: the load balancer always checks it"
