"""What a fleet needs of its account."""

from cdk_trainyard.deployment.fleet import values
from cdk_trainyard.deployment.fleet.model import FleetDeployment
from cdk_trainyard.deployment.fleet.section import NodeImageSection
from cdk_trainyard.fleet.quotas import MARKETS
from cdk_trainyard.fleet.resolved import interfaces_of
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import EfaBackend
from cdk_trainyard.quotas import Needs, instance_needs, most_of


def cluster_needs(deployment: FleetDeployment) -> Needs:
    """Return what the nodes need, their master and the instances that build images."""
    section = deployment.cluster
    count, market = values.size(section).maximum, MARKETS[values.capacity(section).kind]
    names = (*([section.instance_type] if section.instance_type else []), *section.instance_types)
    kinds = [InstanceType.of(name) for name in names]
    backend = EfaBackend(section.interfaces)
    nodes = most_of(instance_needs(kind, count, market, interfaces=len(interfaces_of(kind, backend))) for kind in kinds)
    needs = nodes + Needs(services=frozenset({"autoscaling"})) + _build_needs(section.image)
    if section.master:
        needs += instance_needs(InstanceType.of(section.master.instance_type), 1)
        needs += _build_needs(section.master.image)
    return needs


def _build_needs(image: NodeImageSection | None) -> Needs:
    if image is None or image.build is None:
        return Needs()
    builder = instance_needs(InstanceType.of(image.build.instance_type), 1)
    return builder + Needs(services=frozenset({"imagebuilder"}))
