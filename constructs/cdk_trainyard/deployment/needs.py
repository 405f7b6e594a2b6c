"""What a deployment needs of its account before it can succeed: quotas by name, and what is made once. Pure."""

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Final

from cdk_trainyard.deployment.orchestrators import find
from cdk_trainyard.deployment.serving.needs import served_needs
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.deployment.storage import LustreSection
from cdk_trainyard.network import Nat
from cdk_trainyard.network.spec import NetworkSpec
from cdk_trainyard.quotas import Needs, QuotaNeed
from cdk_trainyard.storage import LustreStorage, LustreType
from cdk_trainyard.storage.resolve import resolve_lustre


def network_needs(deployment: DeploymentSpec) -> Needs:
    """Return what the VPC needs; nothing for one that exists."""
    section = deployment.network
    if not isinstance(section, NetworkSpec):
        return Needs()
    public = len(section.zones_of_public_subnets)
    gateways = {Nat.NONE: 0, Nat.ONE: 1, Nat.PER_ZONE: public}[section.nat]
    amounts = {
        "vpcs": 1,
        "internet-gateways": min(1, public),
        "nat-gateways": min(1, gateways),
        "elastic-ips": gateways,
        "gateway-endpoints": 1,
        "interface-endpoints": len(section.interface_endpoints),
    }
    return Needs(tuple(QuotaNeed.of(key, amount) for key, amount in amounts.items() if amount))


def storage_needs(deployment: DeploymentSpec) -> Needs:
    """Return what file system and accounting database need; nothing for those that exist."""
    database = Needs((QuotaNeed.of("db-instances"),), frozenset({"rds"})) if deployment.new_accounting else Needs()
    return _lustre_needs(deployment) + database


def _lustre_needs(deployment: DeploymentSpec) -> Needs:
    section = deployment.storage.lustre
    if not isinstance(section, LustreSection):
        return Needs()
    spec = resolve_lustre(section)
    kind, cache = spec.deployment, spec.deployment.read_cache
    key = {
        LustreType.PERSISTENT_2: "lustre-persistent-2",
        LustreType.PERSISTENT_1: "lustre-persistent-1",
    }.get(kind.type, "lustre-scratch")
    needs = [QuotaNeed.of(key)]
    if kind.storage is LustreStorage.INTELLIGENT_TIERING:
        needs += [
            QuotaNeed.of("lustre-tiering-throughput", kind.throughput_mb_s or 0),
            *([QuotaNeed.of("lustre-tiering-cache", cache.size_gib)] if cache and cache.size_gib else []),
        ]
    elif kind.storage is LustreStorage.HDD:
        needs.append(QuotaNeed.of("lustre-hdd-storage", spec.capacity_gib or 0))
    else:
        needs.append(QuotaNeed.of(f"{key}-storage", spec.capacity_gib or 0))
    return Needs(tuple(needs), frozenset({"fsx"}))


def training_needs(deployment: DeploymentSpec) -> Needs:
    """Return what the cluster needs."""
    row = find(deployment.orchestrator)
    if row is None:
        return Needs()
    needs: Needs = resolve_name(row.needs)(deployment)
    return needs


def serving_needs(deployment: DeploymentSpec) -> Needs:
    """Return what the served model needs."""
    return served_needs(deployment.serving) if deployment.serving is not None else Needs()


PARTS: Final[Mapping[str, Callable[[DeploymentSpec], Needs]]] = {
    "network": network_needs,
    "storage": storage_needs,
    "training": training_needs,
    "serving": serving_needs,
}
"""What each stack of a deployment needs, by its part of the deployment."""


def deployment_needs(deployment: DeploymentSpec) -> Needs:
    """Return what all stacks of a deployment need together."""
    return sum((needs(deployment) for needs in PARTS.values()), Needs())
