"""What instances count against: EC2's quotas of vCPUs, and HyperPod's of nodes."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from cdk_trainyard.data_files import load
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.quotas.needs import Needs
from cdk_trainyard.quotas.quota import Quota, QuotaNeed


class Market(StrEnum):
    """How instances are bought, which decides what they count against."""

    ON_DEMAND = "on-demand"
    """At the on-demand rate, from a capacity reservation (ODCR) too."""
    SPOT = "spot"
    """At the Spot rate."""
    RESERVED = "reserved"
    """From a capacity block or a SageMaker training plan, whose purchase has quotas of its own."""


MARKETS: Final[Mapping[UsageClass, Market]] = {
    UsageClass.ON_DEMAND: Market.ON_DEMAND,
    UsageClass.SPOT: Market.SPOT,
    UsageClass.CAPACITY_BLOCK: Market.RESERVED,
}
"""How instances are bought, as quotas see it."""


def instance_quota(instance_type: InstanceType, market: Market) -> Quota | None:
    """Return the EC2 quota that running instances count against; None for a capacity block, which has none.

    Source: EC2 user guide, "Capacity Blocks for ML": instances in a capacity block don't count against the On-Demand
    Instances limits. Reservations (ODCR) do.

    Args:
        instance_type: The type.
        market: How it is bought.
    """
    if market is Market.RESERVED:
        return None
    families = load("quotas", "quotas")["families"]
    key = next((key for prefix, key in families[market].items() if _is(instance_type, prefix)), None)
    if key is None and any(_is(instance_type, letter) for letter in families["standard"]):
        key = f"{market}-standard"
    if key is not None:
        return Quota.of(key)
    name = f"the quota of the family {instance_type.family}, {market}, whose name is not known here"
    return Quota(service="ec2", name=name, code=None, unit="vCPUs", first=None)


def instance_needs(
    instance_type: InstanceType, count: int, market: Market = Market.ON_DEMAND, *, interfaces: int | None = None
) -> Needs:
    """Return what so many running EC2 instances need.

    Args:
        instance_type: The type.
        count: How many at most.
        market: How they are bought. Default: on demand.
        interfaces: Network interfaces of each. Default - one on each network card of a type with EFA; one.
    """
    quota = instance_quota(instance_type, market)
    vcpus = (QuotaNeed(quota, instance_type.vcpus * count),) if quota else ()
    services = {Market.SPOT: {"spot"}, Market.RESERVED: {"capacity-block"}}.get(market, set())
    return Needs((*vcpus, _interfaces(instance_type, count, interfaces)), frozenset(services))


def hyperpod_needs(instance_type: InstanceType, count: int, market: Market = Market.ON_DEMAND) -> Needs:
    """Return what so many nodes of a HyperPod cluster need: HyperPod counts instances by type, not vCPUs.

    Args:
        instance_type: The type.
        count: How many at most.
        market: How they are bought. Default: on demand.
    """
    keys = {
        Market.ON_DEMAND: ("hyperpod-nodes",),
        Market.SPOT: ("hyperpod-spot-nodes", "hyperpod-spot-instances"),
        Market.RESERVED: ("hyperpod-plan-nodes",),
    }[market]
    of_all = ("hyperpod-instances", "hyperpod-instances-per-cluster")
    nodes = [QuotaNeed.of(key, count, type=instance_type.name) for key in (*keys, *of_all)]
    services = {"hyperpod", *(["training-plan"] if market is Market.RESERVED else [])}
    return Needs((*nodes, _interfaces(instance_type, count)), frozenset(services))


def _interfaces(instance_type: InstanceType, count: int, each: int | None = None) -> QuotaNeed:
    usual = len(instance_type.network_cards) if instance_type.efa_supported else 1
    return QuotaNeed.of("network-interfaces", count * (usual if each is None else each))


def _is(instance_type: InstanceType, prefix: str) -> bool:
    """Whether a family begins with letters that are not the beginning of others: ``p`` is not ``pe``."""
    rest = instance_type.family.removeprefix(prefix)
    return rest != instance_type.family and not (rest[:1].isalpha() and prefix.isalpha())
