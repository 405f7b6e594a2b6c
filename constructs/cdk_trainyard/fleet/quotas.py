"""The service quotas that a fleet's instances count against, by name."""

from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.quotas.instances import MARKETS, instance_quota


def quota_text(instance_type: InstanceType, count: int, capacity: UsageClass) -> str:
    """Say how many vCPUs of which quota so many instances take; those of a capacity block count against none.

    Args:
        instance_type: The type.
        count: How many.
        capacity: How they are bought.
    """
    quota = instance_quota(instance_type, MARKETS[capacity])
    of = f"the quota {quota}" if quota else "a capacity block, which no quota of running instances counts"
    return f"{count} x {instance_type.name} take {instance_type.vcpus * count} vCPUs of {of}"
