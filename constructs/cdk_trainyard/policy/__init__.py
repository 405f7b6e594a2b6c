"""IAM's policy language, and whether a request is allowed: pure, of the standard library only, no CDK."""

from cdk_trainyard.policy.context import Context
from cdk_trainyard.policy.document import Policy, PolicyKind, Statement, parse_policy
from cdk_trainyard.policy.errors import PolicyError
from cdk_trainyard.policy.evaluation import Decision, Policies, evaluate
from cdk_trainyard.policy.request import ANONYMOUS, Principal, Request

__all__ = [
    "ANONYMOUS",
    "Context",
    "Decision",
    "Policies",
    "Policy",
    "PolicyError",
    "PolicyKind",
    "Principal",
    "Request",
    "Statement",
    "evaluate",
    "parse_policy",
]
