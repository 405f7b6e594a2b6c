"""What a served model needs of its account."""

from typing import Final, cast

from aws_cdk import aws_s3 as s3

from cdk_trainyard.deployment.serving import values
from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.quotas import Needs, QuotaNeed, instance_needs
from cdk_trainyard.serving import AuthenticationKind
from cdk_trainyard.serving.rollout import hosts_needed
from cdk_trainyard.serving.rules_compilation import build_host

_NO_BUCKET: Final = cast("s3.IBucket", None)
"""What is needed does not depend on it."""
_BUILD: Final = "BUILD_GENERAL1_"


def served_needs(section: ServingSection) -> Needs:
    """Return what the hosts need at their most, the load balancer and the build that compiles the model."""
    hosts, bounds = section.hosts, values.scaling(section.scaling)
    tasks = max(hosts.tasks, bounds.max_tasks) if bounds else hosts.tasks
    most = hosts_needed(hosts.rollout, tasks) if hosts.max_hosts is None else hosts.max_hosts
    asked = {
        "ecs-scaling": bounds is not None,
        "certificate": section.door.certificate_arn is not None,
        "api-key": section.door.authentication.kind is AuthenticationKind.API_KEY,
    }
    services = {"ecs", "autoscaling", "elasticloadbalancing", *(key for key, wanted in asked.items() if wanted)}
    needs = instance_needs(InstanceType.of(hosts.instance_type), most)
    needs += Needs((QuotaNeed.of("application-load-balancers"),), frozenset(services))
    if section.compile:
        size = build_host(values.model(section.model, _NO_BUCKET)).compute_type.removeprefix(_BUILD).lower()
        needs += Needs((QuotaNeed.of(f"builds-{size}"),))
    return needs
