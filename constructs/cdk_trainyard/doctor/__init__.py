"""A deployment held against an account before it is deployed: what is short, and what to do. No CDK."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.doctor.check import QUALIFIER, Check
    from cdk_trainyard.doctor.diagnosis import CHECKS, diagnose, policy
    from cdk_trainyard.doctor.finding import Finding, Verdict
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = ["CHECKS", "QUALIFIER", "Check", "Finding", "Verdict", "diagnose", "policy"]
