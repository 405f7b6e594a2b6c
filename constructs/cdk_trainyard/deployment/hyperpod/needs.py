"""What a HyperPod cluster needs of its account."""

from cdk_trainyard.deployment.hyperpod.section import GroupSection
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.quotas import Market, Needs, QuotaNeed, hyperpod_needs, most_of


def cluster_needs(deployment: DeploymentSpec) -> Needs:
    """Return what the nodes need."""
    section = deployment.cluster
    needs = sum(map(_group_needs, section.groups), Needs())
    sizes = [volume.size_gb or 0 for group in section.groups for volume in group.volumes]
    if any(sizes):
        needs += Needs((QuotaNeed.of("hyperpod-volume", max(sizes)),))
    return needs


def _group_needs(group: GroupSection) -> Needs:
    market = Market.SPOT if group.capacity is UsageClass.SPOT else Market.ON_DEMAND
    if group.training_plan_arn:
        market = Market.RESERVED
    return most_of(hyperpod_needs(InstanceType.of(name), group.count, market) for name in group.names_of_types)
