"""Target groups that stay behind a load balancer that is replaced: the new one cannot have them.

CloudFormation makes the new load balancer, its listeners and rules before it deletes the old ones. Sources: User Guide
for Application Load Balancers, "Target groups for your Application Load Balancers" (one load balancer each); botocore
1.44.5, ``elasticloadbalancingv2/2015-12-01``, CreateRule and CreateListener (TargetGroupAssociationLimitException); AWS
CloudFormation User Guide, "Update behaviors of stack resources"; aws/aws-cdk issues 5440 and 33253. Read 2026-11-28.
"""

from collections.abc import Mapping
from typing import Any, Final

from cdk_trainyard.report.nested import references
from cdk_trainyard.report.replacement import resources

Template = Mapping[str, Any]
ONE_LOAD_BALANCER: Final = (
    "a target group has one load balancer at a time, and CloudFormation makes this for the new one before the old one "
    "is gone: destroy the stack (trainyard destroy OLD STACK) and deploy it anew, or let the target group be another "
    "one as well, as switching 'load_balancer.concurrency' does; nobody is answered meanwhile"
)
"""What to do about it."""
_LOAD_BALANCER: Final = "AWS::ElasticLoadBalancingV2::LoadBalancer"
_TARGET_GROUP: Final = "AWS::ElasticLoadBalancingV2::TargetGroup"
_FORWARDING: Final = {"AWS::ElasticLoadBalancingV2::Listener", "AWS::ElasticLoadBalancingV2::ListenerRule"}


def kept_behind(
    old: Mapping[str, Template], new: Mapping[str, Template], found: Mapping[tuple[str, str], list[str]]
) -> set[tuple[str, str]]:
    """Return the listeners and rules of replaced load balancers that forward to a target group of before.

    Args:
        old: Stack to its template, before.
        new: Stack to its template, after.
        found: What is replaced.
    """
    behind: set[tuple[str, str]] = set()
    for stack, template in new.items():
        before, after = resources(old.get(stack, {})), resources(template)
        anew = [name for name in after if (stack, name) in found]
        if any(after[name]["Type"] == _LOAD_BALANCER for name in anew):
            stay = {name for name, body in after.items() if body["Type"] == _TARGET_GROUP and name not in anew}
            behind |= {
                (stack, name)
                for name in anew
                if after[name]["Type"] in _FORWARDING
                and stay & {*references(before[name])} & {*references(after[name])}
            }
    return behind
