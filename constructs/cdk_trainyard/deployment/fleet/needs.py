"""What a fleet needs of its account."""

from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.fleet.rules_nodes import interfaces_of
from cdk_trainyard.fleet.spec_image import NodeImage
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.quotas import Needs, QuotaNeed, instance_needs, most_of
from cdk_trainyard.quotas.instances import MARKETS


def cluster_needs(deployment: DeploymentSpec) -> Needs:
    """Return what the nodes need, their master and the instances that build images."""
    fleet = deployment.cluster
    market, backend = MARKETS[fleet.capacity], fleet.backend
    each = (
        instance_needs(kind, fleet.most, market, interfaces=len(interfaces_of(kind, backend))) for kind in fleet.types
    )
    needs = most_of(each) + Needs(services=frozenset({"autoscaling"})) + _build_needs(fleet.image)
    if fleet.master:
        needs += instance_needs(InstanceType.of(fleet.master.instance_type), 1) + _build_needs(fleet.master.image)
    return needs


def _build_needs(image: NodeImage | None) -> Needs:
    build = None if image is None else image.said_build
    if build is None:
        return Needs()
    keys = ("image-recipes", "image-infrastructures", "image-builds")
    kept = Needs(tuple(map(QuotaNeed.of, keys)), frozenset({"imagebuilder"}))
    return instance_needs(InstanceType.of(build.instance_type), 1) + kept
