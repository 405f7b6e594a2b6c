"""Reach: what nodes, builds and AWS's own agents fetch, and whether they can. Pure: no construct, no CDK."""

from cdk_trainyard.reach.table import Address, Fetch, Need, Region, Signer, Target, addresses, addresses_at, fetches

__all__ = [
    "Address",
    "Fetch",
    "Need",
    "Region",
    "Signer",
    "Target",
    "addresses",
    "addresses_at",
    "fetches",
]
