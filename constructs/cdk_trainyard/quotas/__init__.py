"""Service quotas and one-time prerequisites: what an account must have before a deployment can succeed. No CDK."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.quotas.instances import Market, hyperpod_needs, instance_needs
    from cdk_trainyard.quotas.needs import Needs, most_of
    from cdk_trainyard.quotas.prerequisite import Prerequisite
    from cdk_trainyard.quotas.quota import Quota, QuotaNeed
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

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
