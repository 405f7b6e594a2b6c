"""The ``serving:`` section: a model that is served beside, or without, a training cluster. No CDK."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cdk_trainyard.serving.spec_load_balancer import LoadBalancerSpec, WebAclSpec
from cdk_trainyard.serving.spec_service import CompilationSpec, MonitoringSpec, NodeHealth, ServiceSpec

if TYPE_CHECKING:
    from aws_cdk import aws_ecr as ecr


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadBalancerSection(LoadBalancerSpec):
    """The Application Load Balancer before the service: paths that are not listed are answered 404."""

    web_acl: WebAclSpec | None = None
    """AWS WAF before it. Default - none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingSection(ServiceSpec):
    """A model on ECS with inf2 hosts, behind a load balancer that speaks OpenAI's protocol."""

    load_balancer: LoadBalancerSection
    """The way in."""
    monitoring: MonitoringSpec = MonitoringSpec()  # noqa: RUF009  a frozen value
    """When alarms ring. Default - all have thresholds."""
    node_health: NodeHealth = NodeHealth.REPLACE
    """What becomes of a host whose Neuron device breaks; AWS's detector watches every host, unless off.
    Default: replace."""
    node_health_repository: "ecr.IRepository | None" = None
    """An ECR repository of yours with a copy of the detector, tag v0.8.19. Default - the Kubernetes project's."""
    compile: CompilationSpec | None = None
    """A build that compiles the model into a folder of prefix. Default - you put the compiled model there."""
