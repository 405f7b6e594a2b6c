"""Service quotas and one-time prerequisites: what an account must have before a deployment can succeed. No CDK."""

from cdk_trainyard.quotas.instances import Market, hyperpod_needs, instance_needs
from cdk_trainyard.quotas.needs import Needs, most_of
from cdk_trainyard.quotas.prerequisite import Prerequisite
from cdk_trainyard.quotas.quota import Quota, QuotaNeed

__all__ = [
    "Market",
    "Needs",
    "Prerequisite",
    "Quota",
    "QuotaNeed",
    "hyperpod_needs",
    "instance_needs",
    "most_of",
]
