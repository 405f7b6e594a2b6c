"""What a served model needs of its account."""

from typing import Final

from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.quotas import Needs, QuotaNeed, instance_needs
from cdk_trainyard.serving.rollout import most_hosts, most_tasks
from cdk_trainyard.serving.rules_compilation import build_host
from cdk_trainyard.serving.spec_load_balancer import AuthenticationKind

_BUILD: Final = "BUILD_GENERAL1_"


def served_needs(section: ServingSection) -> Needs:
    """Return what the hosts need at their most, the load balancer and the build that compiles the model."""
    balancer = section.load_balancer
    asked = {
        "ecs-scaling": section.scaling is not None,
        "certificate": balancer.certificate is not None,
        "api-key": balancer.authentication.kind is AuthenticationKind.API_KEY,
    }
    services = {"ecs", "autoscaling", "elasticloadbalancing", *(key for key, wanted in asked.items() if wanted)}
    hosts = most_hosts(section.hosts, section.scaling)
    needs = instance_needs(InstanceType.of(section.hosts.instance_type), hosts)
    amounts = {
        "application-load-balancers": 1,
        "ecs-clusters": 1,
        "ecs-hosts": hosts,
        "ecs-tasks": most_tasks(section.hosts, section.scaling),
        "security-group-rules": len(balancer.clients or ()),
    }
    needs += Needs(tuple(QuotaNeed.of(key, amount) for key, amount in amounts.items()), frozenset(services))
    if section.compile:
        size = build_host(section.model).compute_type.removeprefix(_BUILD).lower()
        needs += Needs((QuotaNeed.of(f"builds-{size}"),))
    return needs
