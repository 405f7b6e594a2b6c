"""Whether a fetch arrives: by name, route, security group and endpoint policy, in this order, and why not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cdk_trainyard.policy import ANONYMOUS, Policies, PolicyKind, Principal, Request, evaluate, parse_policy
from cdk_trainyard.reach.place import ANYWHERE, Gateway, Interface, Place, Route
from cdk_trainyard.reach.table import UNKNOWN_REGION, Fetch, Region, Signer, Target

REFUSED = "the endpoint's policy refuses it"
_HTTPS = 443
_OF_AWS = "000000000000"
"""Stands for an account of AWS's own; no customer has it."""
_EVERYTHING = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}
_EVERYBODY = {
    "Version": "2012-10-17",
    "Statement": {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"},
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether one server is reached.

    Attributes:
        target: The server.
        reached: Whether it is.
        why: By what it is, or what stands in the way.
    """

    target: Target
    reached: bool
    why: str


def judge(fetch: Fetch, place: Place, region: Region) -> list[Verdict]:
    """Return what becomes of a fetch: a verdict for every server that it asks in a Region.

    Args:
        fetch: The fetch.
        place: Where it is made.
        region: The Region of the place.
    """
    targets = [target for address in fetch.addresses for target in address.targets]
    return [judge_target(target, place, region) for target in targets if target.asked_in(region.name)]


def judge_target(target: Target, place: Place, region: Region) -> Verdict:
    """Return whether a server is reached from a place."""
    if target.local or place.at == "outside":
        why = "it does not leave the machine" if target.local else "it is made outside the VPC"
        return Verdict(target=target, reached=True, why=why)
    interface = place.interfaces.get(target.service or "")
    if interface is not None and interface.private_dns:
        return _verdict(target, _by_interface(target, place, region, interface), "an interface endpoint")
    gateway = place.gateways.get("s3" if target.bucket else target.service or "")
    if gateway is None:
        return _by_route(target, place)
    at = region.write(target.bucket_region)
    through = _verdict(target, _by_gateway(target, place, region, gateway), "the gateway endpoint")
    if target.bucket is None or at == region.name:
        return through
    elsewhere = _by_route(target, place, note=f"; the bucket is in {at}, and an endpoint leads to its own Region alone")
    return through if at == UNKNOWN_REGION and not through.reached else elsewhere


def _verdict(target: Target, obstacle: str, by: str) -> Verdict:
    return Verdict(target=target, reached=not obstacle, why=obstacle or f"by {by}")


def _by_route(target: Target, place: Place, note: str = "") -> Verdict:
    if place.route_to_internet is Route.NONE:
        return _verdict(target, f"the subnet has no route to the internet, and no endpoint{note}", "")
    if not place.lets_out(target.port):
        return _verdict(target, f"no security group lets TCP {target.port} out to 0.0.0.0/0", "")
    return Verdict(target=target, reached=True, why=f"by {place.route_to_internet}")


def _by_interface(target: Target, place: Place, region: Region, interface: Interface) -> str:
    """Return what stands between a place and an interface endpoint, or nothing."""
    blocks = [place.address] if place.address is not None else place.vpc or [ANYWHERE]
    if not place.lets_out(_HTTPS, place.vpc or [ANYWHERE], interface.groups):
        return "no security group lets HTTPS out to the endpoint's addresses"
    by_group = set(place.groups) & set(interface.from_groups)
    if not by_group and not any(block.subnet_of(cidr) for block in blocks for cidr in interface.from_cidrs):
        return "the endpoint's security group lets no HTTPS in from the subnet"
    return _refusal(target, region, interface.policy)


def _by_gateway(target: Target, place: Place, region: Region, gateway: Gateway) -> str:
    """Return what stands between a place and what is behind a gateway endpoint, whose addresses are public ones."""
    if not place.lets_out(_HTTPS):
        return "no security group lets HTTPS out to 0.0.0.0/0"
    return _refusal(target, region, gateway.policy)


def _refusal(target: Target, region: Region, policy: Mapping[str, Any] | None) -> str:
    """Return why an endpoint's policy refuses a request, or nothing."""
    if policy is None:
        return ""
    decision = evaluate(_request(target, region), _policies(json.dumps(policy)))
    return "" if decision.allowed else f"{REFUSED}: {decision.reason}"


@lru_cache(maxsize=64)
def _policies(endpoint: str) -> Policies:
    """Return an endpoint's policy beside roles and owners that let everything through: it alone is asked here."""
    return Policies(
        identity=(parse_policy(_EVERYTHING, name="whatever the role may do"),),
        resource=(parse_policy(_EVERYBODY, kind=PolicyKind.RESOURCE, name="whatever the owner lets in"),),
        endpoint=parse_policy(endpoint, kind=PolicyKind.ENDPOINT, name="the endpoint"),
    )


def _request(target: Target, region: Region) -> Request:
    accounts = {Signer.ACCOUNT: region.account, Signer.SERVICE: _OF_AWS}
    account = accounts.get(target.signed)
    role = f"arn:{region.partition}:iam::{account}:role/fetches"
    written = f"arn:{region.partition}:s3:::{region.write(target.bucket)}/{target.key}" if target.bucket else "*"
    action = target.action if ":" in target.action else f"{(target.service or 's3').partition('.')[0]}:Any"
    return Request(
        principal=ANONYMOUS if account is None else Principal.role_session(role, "node"),
        action=action,
        resource=region.write(target.resource) if target.resource else written,
    )
