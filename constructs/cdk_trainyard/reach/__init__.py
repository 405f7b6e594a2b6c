"""Reach: what nodes, builds and AWS's own agents fetch, and whether they can. Pure: no construct, no CDK."""

from cdk_trainyard.reach.choices import Wanted, given, given_address, unreached_problems, wanted, wanted_of
from cdk_trainyard.reach.place import Egress, Gateway, Interface, Place, Route
from cdk_trainyard.reach.table import Address, Fetch, Need, Region, Signer, Target, addresses, addresses_at, fetches
from cdk_trainyard.reach.templates import read_places
from cdk_trainyard.reach.verdict import Verdict, judge, judge_target

__all__ = [
    "Address",
    "Egress",
    "Fetch",
    "Gateway",
    "Interface",
    "Need",
    "Place",
    "Region",
    "Route",
    "Signer",
    "Target",
    "Verdict",
    "Wanted",
    "addresses",
    "addresses_at",
    "fetches",
    "given",
    "given_address",
    "judge",
    "judge_target",
    "read_places",
    "unreached_problems",
    "wanted",
    "wanted_of",
]
