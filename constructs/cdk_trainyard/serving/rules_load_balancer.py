"""What a load balancer before a service needs to be one. Pure: no CDK object is made, and Tokens are not judged."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from ipaddress import IPv4Network
from typing import Final
from urllib.parse import urlsplit

from cdk_trainyard.network.rules import parse_cidr
from cdk_trainyard.partitions import DOMAINS
from cdk_trainyard.problems import Problem, either, option, shown, within
from cdk_trainyard.serving.spec_load_balancer import (
    METHODS,
    AuthenticationKind,
    ClaimFormat,
    ClientAuthentication,
    JwtClaim,
    LoadBalancerSpec,
)
from cdk_trainyard.tokens import unresolved

FORBIDDEN_PATHS = ("/metrics", "/invocations", "/info", "/generate", "/tokenize", "/health")
"""Routes of the engines that ask nobody for a key, or show what others do."""
_OF_KIND = {
    AuthenticationKind.JWT: ("issuer", "key_set_url", "claims"),
    AuthenticationKind.API_KEY: ("secret", "secret_key"),
    AuthenticationKind.NONE: (),
}
_REQUIRED = {AuthenticationKind.JWT: ("issuer", "key_set_url"), AuthenticationKind.API_KEY: ("secret",)}
_OF_AWS: Final = tuple(f".{each}" for each in DOMAINS)
_HTTPS_PORT: Final = 443
_DISCOVERY: Final = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
_MOST_CLAIMS: Final = 10
_MOST_VALUES: Final = 10
"""``JwtValidationActionConfig`` and ``JwtValidationActionAdditionalClaim`` of ELB's API."""
_CONDITION_VALUES: Final = 5
_WILDCARDS: Final = 6
"""ELB user guide, "Quotas for your Application Load Balancers", read 2026-11: condition values and wildcards per rule.
Some translations of the page have 5 wildcards, so no page takes more than 6."""
_GUARDED: Final = "/v1/"
"""Where every engine asks for its key. vLLM, "Security", "API Key Authentication Limitations", read 2026-11: the key is
asked for under this prefix alone, and many sensitive routes stand beside it."""
_MOST_CLIENTS: Final = 1000
"""VPC user guide, "Amazon VPC quotas": rules per security group, times groups per interface, cannot exceed it."""
_NOT_ROUTED: Final = tuple(
    IPv4Network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
"""IANA, "IPv4 Special-Purpose Address Registry" and "IPv4 Multicast Address Space Registry", read 2026-11: addresses
that nothing comes from over the internet. Those for documentation are left out, as documentation is copied from."""


def load_balancer_problems(spec: LoadBalancerSpec) -> Iterator[Problem]:
    """Check everything that a load balancer says of itself, wherever it stands."""
    yield from transport_problems(spec)
    yield from within(("authentication",), authentication_problems(spec.authentication))
    yield from name_problems(spec.domain_name)
    yield from caller_problems(spec)
    yield from path_problems(spec.paths, spec.authentication.kind)
    yield from access_log_problems(spec)
    if spec.clients is not None and not unresolved(spec.clients):
        yield from client_problems(spec.clients, public=spec.public is True)


def client_problems(clients: Sequence[str], *, public: bool) -> Iterator[Problem]:
    """Check that somebody is let in, by as many rules as a security group takes.

    Args:
        clients: Their blocks.
        public: Whether they come over the internet.
    """
    blocks = [block for each in clients if (block := parse_cidr(each)) is not None]
    if not clients:
        text = "must name 1 block or more, got none; without it, the VPC reaches an internal load balancer, and anybody"
        yield Problem(("clients",), f"{text} a public one")
    elif len(blocks) > _MOST_CLIENTS:
        why = "a security group takes no more rules; name larger blocks"
        yield Problem(("clients",), f"must be {_MOST_CLIENTS} blocks or fewer, got {len(blocks)}: {why}")
    elif public and len(blocks) == len(clients) and all(map(_never_public, blocks)):
        text = (
            "must name addresses of the internet for a public load balancer, got private ones alone: who calls it from"
        )
        yield Problem(("clients",), f"{text} there arrives with another; name those, or leave {option('public')} out")


def _never_public(block: IPv4Network) -> bool:
    return any(block.subnet_of(each) for each in _NOT_ROUTED)


def transport_problems(spec: LoadBalancerSpec) -> Iterator[Problem]:
    """Check that it speaks HTTPS, or that plain HTTP was said."""
    if unresolved(spec.plain_http, spec.public):
        return
    if spec.certificate is not None:
        if spec.plain_http:
            text = f"must be left out beside {option('certificate')}; the load balancer then speaks HTTPS alone"
            yield Problem(("plain_http",), text)
    elif not spec.plain_http:
        text = "must be given, since the load balancer speaks HTTPS; request one of ACM in the same Region, or say "
        yield Problem(("certificate",), f"{text}{option('plain_http')} for an internal one")
    elif spec.public:
        text = f"must not be said for a public load balancer; give a {option('certificate')} of ACM in the same Region"
        yield Problem(("plain_http",), text)


def name_problems(name: str | None) -> Iterator[Problem]:
    """Check that a name may be led to the load balancer: those of AWS's own domain are for nobody to lead.

    Source: ACM's API, RequestCertificate, read 2026-11: who requests a certificate proves that they own or control the
    domain.
    """
    if name is not None and not unresolved(name) and f".{name}".lower().endswith(_OF_AWS):
        text = f"must be a name of a domain of yours, which the certificate is for, got {shown(name)} of AWS's"
        yield Problem(("domain_name",), f"{text}; leave it out for the load balancer's own name")


def authentication_problems(authentication: ClientAuthentication) -> Iterator[Problem]:
    """Check that the options are those of one kind, and enough of them."""
    kind = authentication.kind
    if unresolved(authentication, kind):
        return
    for name in (name for of, names in _OF_KIND.items() if of is not kind for name in names):
        if getattr(authentication, name) not in (None, ()):
            yield Problem((name,), f"must be left out of kind {kind}, which does not look at it", of_key=True)
    for name in _REQUIRED.get(kind, ()):
        if getattr(authentication, name) is None:
            yield Problem((name,), f"must be given for kind {kind}")
    if kind is AuthenticationKind.JWT:
        yield from _issuer(authentication.issuer)
        yield from _key_set_url(authentication.key_set_url)
        yield from _claims(authentication.claims)


def _issuer(issuer: str | None) -> Iterator[Problem]:
    """Check that an issuer is one, and not what is found below it (RFC 8615), or a pattern.

    Source: RFC 7519, section 4.1.1: the claim ``iss`` is compared to the letter.
    """
    if issuer is None or unresolved(issuer):
        return
    own, well_known, _ = issuer.partition("/.well-known/")
    if well_known:
        text = f"must be what tokens have as 'iss', got {shown(issuer)}, which is an address below it; use {own}"
        yield Problem(("issuer",), text)
    elif "*" in issuer:
        text = f"must be what tokens have as 'iss', got {shown(issuer)}: it is compared to the letter, '*' too"
        yield Problem(("issuer",), text)


def _key_set_url(url: str | None) -> Iterator[Problem]:
    """Check that the load balancer can fetch the keys: over the internet, at port 443, which is open to it.

    Sources: ELB user guide, "Verify JWTs using an Application Load Balancer" ("This endpoint must be publicly
    accessible and return the public keys"); ELB's API, ``JwtValidationActionConfig.JwksEndpoint`` ("the HTTPS protocol,
    the domain, and the path"); OpenID Connect Discovery 1.0.
    """
    if url is None or unresolved(url):
        return
    parts = urlsplit(url)
    host, got = parts.hostname or "", f"got {shown(url)}"
    if host.rpartition(".")[2].isdigit():
        text = f"must be at a domain of the internet, {got}: the load balancer fetches the keys from there"
        yield Problem(("key_set_url",), text)
    elif parts.port not in (None, _HTTPS_PORT):
        text = f"must be at port {_HTTPS_PORT}, {got}: the load balancer's security group lets it out there alone"
        yield Problem(("key_set_url",), text)
    elif not parts.path:
        text = f"must have a path, {got}: give the whole address of the keys, as https://{host}/.well-known/jwks.json"
        yield Problem(("key_set_url",), text)
    elif parts.path.rstrip("/").endswith(_DISCOVERY):
        text = f"must be that of the keys, {got}, which is what tells it; give what stands there as 'jwks_uri'"
        yield Problem(("key_set_url",), text)


def _claims(claims: Sequence[JwtClaim]) -> Iterator[Problem]:
    if unresolved(claims):
        return
    if len(claims) > _MOST_CLAIMS:
        yield Problem(("claims",), f"must be {_MOST_CLAIMS} or fewer, got {len(claims)}")
    elif not claims:
        why = "without one any token of the issuer passes, also another application's; use client_id, scope or aud"
        yield Problem(("claims",), f"must be 1 to {_MOST_CLAIMS}, got none: {why}")
    for index, claim in enumerate(claims):
        yield from within(("claims", index), _claim(claim))
    yield from _claims_again(claims)


def _claims_again(claims: Sequence[JwtClaim]) -> Iterator[Problem]:
    """Check that a claim is said once: a token has one such text, and may have several values of the other formats."""
    known: list[tuple[str, ClaimFormat, list[str]]] = []
    for index, claim in enumerate(claims):
        if unresolved(claim.name, claim.format, claim.values) or unresolved(*claim.values):
            continue
        values = [] if claim.format is ClaimFormat.SINGLE_STRING else sorted(claim.values)
        if (said := (claim.name, claim.format, values)) in known:
            text = f"must be another than those of the claims before it, got {shown(claim.name)} again"
            yield Problem(("claims", index, "name"), f"{text}; give all of its values in one claim")
        known.append(said)


def _claim(claim: JwtClaim) -> Iterator[Problem]:
    if claim.name in {"iss", "exp", "nbf", "iat"}:
        text = f"must be another than {claim.name}, which the load balancer always checks; leave the claim out"
        yield Problem(("name",), text)
    if not unresolved(claim.values) and not 1 <= len(claim.values) <= _MOST_VALUES:
        yield Problem(("values",), f"must be 1 to {_MOST_VALUES} values, got {len(claim.values) or 'none'}")
    for number, value in enumerate(claim.values):
        if unresolved(value):
            continue
        if claim.format is ClaimFormat.SPACE_SEPARATED and " " in value:
            text = f"must be without blanks in format {claim.format}, got {shown(value)}; give each word apart"
            yield Problem(("values", number), text)


def caller_problems(spec: LoadBalancerSpec) -> Iterator[Problem]:
    """Check that callers are looked at where they may be anybody, and that the listener can do it."""
    kind = spec.authentication.kind
    if unresolved(kind):
        return
    if kind is AuthenticationKind.NONE and spec.public is True:
        yield Problem(
            ("authentication", "kind"), "must be jwt or api-key for a public load balancer, got none; use jwt"
        )
    if kind is AuthenticationKind.JWT and spec.plain_http is True and spec.certificate is None:
        why = "the load balancer verifies tokens on HTTPS listeners only; give it a certificate"
        yield Problem(("authentication", "kind"), f"must be api-key or none over plain HTTP, got jwt: {why}")


def path_problems(paths: Sequence[str], kind: AuthenticationKind) -> Iterator[Problem]:
    """Check the list of paths that are let in, all others being refused.

    Source: ELB's API, ``PathPatternConditionConfig.Values``: "The comparison is case sensitive"; ELB user guide,
    "Condition types for listener rules", read 2026-11: "performed only after URI normalization", which leaves no dots.

    Args:
        paths: The patterns.
        kind: Who looks at callers: an engine does it for some of its routes alone.
    """
    if unresolved(paths):
        return
    for index, path in enumerate(paths):
        forbidden = [] if unresolved(path) else [each for each in FORBIDDEN_PATHS if fnmatchcase(each, path)]
        if forbidden:
            text = f"must not let in {either(forbidden)}, got {shown(path)}; use '/v1/*'"
            yield Problem(("paths", index), text)
        elif kind is AuthenticationKind.API_KEY and not unresolved(path) and not path.startswith(_GUARDED):
            why = "elsewhere an engine may ask nobody for the key"
            text = f"must begin with '{_GUARDED}' for kind {kind}, got {shown(path)}: {why}; use '/v1/*'"
            yield Problem(("paths", index), text)
        elif not unresolved(path) and path[: len(_GUARDED)].lower() == _GUARDED != path[: len(_GUARDED)]:
            text = f"must begin with '{_GUARDED}' in lower case, got {shown(path)}: paths are told apart by case"
            yield Problem(("paths", index), f"{text}; use '{_GUARDED}{path[len(_GUARDED) :]}'")
        elif not unresolved(path) and {".", ".."} & set(path.split("/")):
            why = "the load balancer resolves them before it compares a path"
            yield Problem(("paths", index), f"must be without '.' and '..' as parts, got {shown(path)}: {why}")
    if not paths:
        yield Problem(("paths",), "must name 1 path or more, got none; use '/v1/*'")
    if len(paths) + len(METHODS) > _CONDITION_VALUES:
        most = _CONDITION_VALUES - len(METHODS)
        why = f"a rule takes {_CONDITION_VALUES} values, and {' and '.join(METHODS)} are two of them"
        yield Problem(("paths",), f"must be {most} or fewer, got {len(paths)}: {why}")
    wildcards = sum(path.count("*") + path.count("?") for path in paths if not unresolved(path))
    if wildcards > _WILDCARDS:
        text = f"must have {_WILDCARDS} or fewer of '*' and '?' together, got {wildcards}"
        yield Problem(("paths",), f"{text}: a rule takes no more, and one '*' stands for any number of folders")


def access_log_problems(spec: LoadBalancerSpec) -> Iterator[Problem]:
    """Check that the load balancer can write to the bucket of its logs.

    Source: ELB user guide, "Access logs for your Application Load Balancer": SSE-S3 is the only encryption.
    """
    bucket = spec.access_logs
    key = None if bucket is None or unresolved(bucket) else getattr(bucket, "encryption_key", None)
    if key is not None and not unresolved(key):
        yield Problem(("access_logs",), "must be a bucket without a KMS key: load balancers write to SSE-S3 alone")


# ---------------------------------------------------------------- where it stands
def known_client_problems(spec: LoadBalancerSpec, *, cidr_known: bool) -> Iterator[Problem]:
    """Check that somebody is let in: the VPC, when its addresses are known."""
    if spec.clients is None and spec.public is False and not cidr_known:
        text = "must be given, as [10.0.0.0/16]: the addresses of the VPC are not known here"
        yield Problem(("clients",), text)


def region_problems(region: str | None) -> Iterator[Problem]:
    """Check that access logs can be delivered: who writes them depends on the Region."""
    if region is None:
        text = "the stack's Region must be given for the load balancer's access logs; use env=Environment(region=…)"
        yield Problem((), text)
