"""What a user's choices fetch, and what is said of what does not arrive: the choice, the address, the remedy. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cdk_trainyard.problems import At, Problem
from cdk_trainyard.reach.place import Place
from cdk_trainyard.reach.table import Address, Need, Region, Signer, Target, addresses_at, fetches
from cdk_trainyard.reach.verdict import REFUSED, judge_target
from cdk_trainyard.tokens import unresolved

_HTTPS, _HTTP = 443, 80
_S3_HOST = re.compile(
    r"(?:(?P<bucket>[a-z0-9.-]+)\.)?s3(?:[.-](?:dualstack\.)?(?P<region>[a-z0-9-]+))?\.amazonaws\.com(\.cn)?"
)
_SIGNED = re.compile("(^|&)(X-Amz-)?Signature=")
"""Who signed a link is not known: an account that the endpoint lets in, as that of the deployment, is taken for granted
(Amazon S3 user guide, "Authenticating requests: using query parameters")."""
_GLOBAL_S3 = "us-east-1"  # Amazon S3 user guide, "Virtual hosting of buckets": where s3.amazonaws.com is
_DOCKER_HUB = "docker.io"
_NAT = "give the network a NAT gateway"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """An address that a choice of the user's needs.

    Attributes:
        address: What it fetches.
        place: Where that happens.
        remedy: What else the user can do, as ``give 'index' a mirror``. Empty: nothing.
        at: The path of the option that is the choice.
    """

    address: Address
    place: Place
    remedy: str = ""
    at: At = ()


def wanted(
    room: str, option: str, place: Place, *, remedy: str = "", system: str = "", at: At = ()
) -> Iterator[Wanted]:
    """Yield what the table says that an option certainly fetches at a place.

    Args:
        room: The room.
        option: The option as the table calls it; empty for what needs none.
        place: Where.
        remedy: What else the user can do.
        system: The package manager of the machine image. Default - not known: only what every image fetches.
        at: The path of the option that is the choice.
    """
    for fetch in fetches():
        same = (fetch.room, fetch.option, fetch.need) == (room, option, Need.ALWAYS)
        if same and fetch.at in {"node", place.at} and fetch.system in {"", system}:
            for address in fetch.addresses:
                yield Wanted(address=address, place=place, remedy=remedy, at=at)


def wanted_of(room: str, option: str, said: Any, place: Place, region: Region, *, at: At) -> Iterator[Wanted]:
    """Yield what an option fetches by what it says: of repositories of ECR in other Regions, what is there.

    An endpoint of another Region's ECR names that Region (AWS PrivateLink guide, "Cross-region enabled AWS services",
    read 2026-11); those that a network is given here are of its own.

    Args:
        room: The room.
        option: The option.
        said: What it says: repositories, or anything else.
        place: Where.
        region: Its Region.
        at: The path of the option.
    """
    parts = list(said) if isinstance(said, Sequence) else []
    away = {index: found for index, part in enumerate(parts) if (found := _away(part, region))}
    if not away or len(away) < len(parts):
        yield from wanted(room, option, place, at=at)
    for index, (there, account) in away.items():
        hosts = (f"api.ecr.{there.name}.{there.suffix}", f"{account}.dkr.ecr.{there.name}.{there.suffix}")
        what = f"container images in Amazon ECR of {there.name}, to which endpoints in {region.name} do not lead,"
        targets = tuple(Target(host=host) for host in hosts)
        address = Address(name="ecr", what=what, targets=targets, source="", date="")
        yield Wanted(address=address, place=place, remedy=f"copy them to {region.name}", at=(*at, index))


def _away(repository: Any, region: Region) -> tuple[Region, str] | None:
    """Return Region and account of a repository elsewhere; None for one of the Region, or nobody knows where."""
    arn = getattr(repository, "repository_arn", "")
    parts = [] if unresolved(arn) else arn.split(":")
    return (Region(name=parts[3]), parts[4]) if parts[4:] and parts[3] != region.name else None


def given(url: str | None, place: Place, region: Region, *, remedy: str, at: At) -> Iterator[Wanted]:
    """Yield what a user's own address asks, as far as it is known.

    Args:
        url: ``https://…``, ``http://…``, or an image's name; None, or a Token: nobody knows.
        place: Where.
        region: Its Region.
        remedy: What else the user can do.
        at: The path of the option.
    """
    address = None if url is None or unresolved(url) else given_address(url, region)
    if address is not None:
        yield Wanted(address=address, place=place, remedy=remedy, at=at)


def given_address(url: str, region: Region) -> Address | None:
    """Return what a user's own address asks; None for a server that only the user knows, and for what is no address.

    Args:
        url: ``https://…``, ``http://…``, or an image's name, which is Docker Hub's unless it begins with a host.
        region: The Region of who asks.
    """
    first, slash, _ = url.partition("/")
    if "://" not in url and not (slash and (first == "localhost" or {".", ":"} & {*first})):
        url = f"{_DOCKER_HUB}/{url}"  # Docker documentation, docker image pull: NAME
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        port = parts.port or (_HTTP if parts.scheme == "http" else _HTTPS)
    except ValueError:
        return None
    host = parts.hostname or ""
    if found := _S3_HOST.fullmatch(host):
        bucket = found["bucket"] or parts.path.strip("/").partition("/")[0]
        key = parts.path.strip("/") if found["bucket"] else parts.path.strip("/").partition("/")[2]
        at = found["region"] or _GLOBAL_S3
        signer = Signer.ACCOUNT if _SIGNED.search(parts.query) else Signer.NOBODY
        target = Target(
            host=host, port=port, bucket=bucket, key=key, bucket_region=at, signed=signer, action="s3:GetObject"
        )
        return Address(name=bucket, what=f"a file of the bucket {bucket}", targets=(target,), source=url, date="")
    known = addresses_at(host, region)
    return known[0] if known else None


def unreached_problems(choices: Iterable[Wanted], region: Region, endpoints: Iterable[str] = ()) -> Iterator[Problem]:
    """Yield a problem for every choice and place that fetches what does not arrive, at the path of the choice.

    Args:
        choices: What is fetched.
        region: The Region.
        endpoints: Services that the network can be given an endpoint of.
    """
    offered = set(endpoints)
    for (remedy, at), found in _blocked(choices, region):
        yield Problem(at, _sentence(remedy, found, offered))


_Blocked = dict[str, tuple[Target, str, str]]


def _blocked(choices: Iterable[Wanted], region: Region) -> Iterable[tuple[tuple[str, At], _Blocked]]:
    blocked: dict[tuple[str, At], _Blocked] = {}
    for choice in choices:
        for target in choice.address.targets:
            if not target.asked_in(region.name):
                continue
            verdict = judge_target(target, choice.place, region)
            if not verdict.reached:
                found = blocked.setdefault((choice.remedy, choice.at), {})
                found[region.write(target.host)] = (target, choice.address.what, verdict.why)
    return blocked.items()


def _sentence(remedy: str, found: _Blocked, offered: set[str]) -> str:
    whats = ", ".join(dict.fromkeys(what for _, what, _ in found.values()))
    whys = [why for _, _, why in found.values()]
    reasons = list(dict.fromkeys(REFUSED if why.startswith(REFUSED) else why for why in whys))  # without its statements
    targets = [target for target, _, _ in found.values()]
    services = sorted({target.service for target in targets if target.service in offered})
    remedies = [remedy] if remedy else []
    if len(services) == len(targets):
        remedies.append(f"add {', '.join(services)} to 'interface_endpoints'")
    if REFUSED in reasons:
        names = sorted({target.bucket for target in targets if target.bucket})
        remedies.append(f"name {', '.join(names)} in 'public_buckets'")
    else:
        remedies.append(_NAT)
    does = f"asks {whats} at" if all(target.service for target in targets) else f"fetches {whats} from"
    return f"{does} {', '.join(found)}: {'; '.join(reasons)}; {', or '.join(remedies)}"
