"""A served model as constructs, for the stacks: service, load balancer, alarms, and the build that compiles it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.deployment import monitoring_build
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.alerts_topic import alerts_topic
from cdk_trainyard.deployment.exchange import Exchange
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.monitoring import of_tasks
from cdk_trainyard.deployment.serving.alarms import of_engine
from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.monitoring import ClusterMonitoring, EnvironmentMonitoring
from cdk_trainyard.monitoring.spec import OF_ENGINES
from cdk_trainyard.monitoring.telling import let_alarms_publish
from cdk_trainyard.network import Network
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.serving import (
    AuthenticationKind,
    InferenceLoadBalancer,
    InferenceService,
    ModelCompilation,
    NeuronNodeHealth,
    PromptWebAcl,
    ServiceMonitoring,
)
from cdk_trainyard.serving.spec_load_balancer import LoadBalancerSpec, WebAclSpec
from cdk_trainyard.serving.spec_service import NodeHealth, ServiceSpec
from cdk_trainyard.storage import TrainingBuckets

_CREDENTIALS: Mapping[AuthenticationKind, str] = {
    AuthenticationKind.JWT: "<token>",
    AuthenticationKind.API_KEY: "<key>",
    AuthenticationKind.NONE: "none",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A served model.

    Attributes:
        service: The service.
        load_balancer: Its load balancer.
        monitoring: Its alarms and its dashboard.
        outputs: What people need of it, by name.
    """

    service: InferenceService
    load_balancer: InferenceLoadBalancer
    monitoring: ServiceMonitoring
    outputs: Mapping[str, str]


def serving(
    scope: Construct,
    deployment: DeploymentSpec,
    *,
    network: Network,
    buckets: TrainingBuckets,
    metrics: ClusterMonitoring | None = None,
) -> Served:
    """Define everything that the ``serving:`` section says.

    Args:
        scope: The parent: a stack.
        deployment: A deployment with the section.
        network: The network.
        buckets: The deployment's buckets.
        metrics: Where the metrics of the deployment's cluster go. Default - where the file says, if anywhere.

    Raises:
        ValueError: The deployment serves nothing.
    """
    if deployment.serving is None:
        raise ValueError(f"{deployment.name} has no 'serving'")
    exchange = Exchange(existing=Existing.of(Construct(scope, "Served")), buckets=buckets)
    section: ServingSection = exchange.real(deployment.serving)
    metrics = _of_tasks(metrics or monitoring_build.metrics(scope, deployment.monitoring))
    service = InferenceService(
        scope, "Service", network=network, metrics=metrics, **_keywords(_running(section), ServiceSpec)
    )
    load_balancer = InferenceLoadBalancer(
        scope,
        "Door",
        service=service,
        web_acl=_web_acl(scope, section),
        **_keywords(section.load_balancer, LoadBalancerSpec),
    )
    topic = _topic(scope, deployment.alerts)
    monitoring = ServiceMonitoring(
        scope,
        "Monitoring",
        service=service,
        load_balancer=load_balancer,
        topic=topic,
        **_keywords(section.monitoring),
    )
    if deployment.monitoring is not None and metrics is not None:
        said = of_engine(deployment.monitoring, deployment.serving)
        said = said if deployment.cluster is None else of_tasks(said)
        monitoring_build.rules(scope, said, metrics, service.service_name, service.metrics_sources, topic)
        of_engines = [source for source in service.metrics_sources if source in OF_ENGINES]
        monitoring_build.dashboards(scope, deployment.monitoring, metrics, service.service_name, of_engines)
    seen: dict[str, str] = {}
    if deployment.monitoring is not None and deployment.orchestrator is None:
        EnvironmentMonitoring(scope, "Environment", network=network, topic=topic)
        seen = monitoring_build.grafana(scope, deployment.monitoring, metrics)
    if section.node_health is not NodeHealth.OFF:
        NeuronNodeHealth(
            scope,
            "NodeHealth",
            service=service,
            recover=section.node_health is NodeHealth.REPLACE,
            detector_repository=section.node_health_repository,
        )
    compilation = _compilation(scope, section)
    return Served(
        service=service,
        load_balancer=load_balancer,
        monitoring=monitoring,
        outputs={**_outputs(section, service, load_balancer, monitoring, compilation), **seen},
    )


def _of_tasks(metrics: ClusterMonitoring | None) -> ClusterMonitoring | None:
    """Return where metrics go, without what the nodes of a cluster run for them: tasks have their own."""
    return None if metrics is None else replace(metrics, exporters=None)


def _keywords(part: Any, spec: type | None = None) -> dict[str, Any]:
    """Return a part, which may say more, as the keywords of the constructor that takes ``spec``."""
    return {name: getattr(part, name) for name in fields_of(spec or type(part))}


def _running(section: ServingSection) -> ServingSection:
    """Return what runs: without a build of a model that is compiled, nothing."""
    if section.compile is None or section.model.build is not None:
        return section
    return replace(section, hosts=replace(section.hosts, tasks=0), scaling=None)


def _web_acl(scope: Construct, section: ServingSection) -> PromptWebAcl | None:
    said: WebAclSpec | None = section.load_balancer.web_acl
    if said is None:
        return None
    logged = replace(said, log_retention=section.log_retention, log_key=section.log_key)
    return PromptWebAcl(scope, "WebAcl", **_keywords(logged))


def _topic(scope: Construct, section: AlertsSection | None) -> sns.ITopic | None:
    if section is None:
        return None
    topic = alerts_topic(scope, "Alerts", section)
    let_alarms_publish(scope, topic)
    return topic


def _compilation(scope: Construct, section: ServingSection) -> ModelCompilation | None:
    if section.compile is None:
        return None
    logged = replace(section.compile, log_retention=section.log_retention, log_key=section.log_key)
    return ModelCompilation(scope, "Compilation", model=section.model, engine=section.engine, **_keywords(logged))


def _outputs(
    section: ServingSection,
    service: InferenceService,
    load_balancer: InferenceLoadBalancer,
    monitoring: ServiceMonitoring,
    compilation: ModelCompilation | None,
) -> Mapping[str, str]:
    """Return what stands at the end of ``cdk deploy``."""
    name, credential = section.model.name, _CREDENTIALS[section.load_balancer.authentication.kind]
    message = f'"model": "{name}", "messages": [{{"role": "user", "content": "Hello"}}]'
    outputs = {
        "BaseUrl": load_balancer.base_url,
        "DoorAddress": load_balancer.load_balancer.load_balancer_dns_name,
        "CallWithOpenAi": (
            f'OpenAI(base_url="{load_balancer.base_url}", api_key="{credential}")'
            f'.chat.completions.create(model="{name}", messages=[{{"role": "user", "content": "Hello"}}])'
        ),
        "CallWithCurl": (
            f"curl {load_balancer.base_url}/chat/completions -H 'Authorization: Bearer {credential}' "
            f"-H 'Content-Type: application/json' -d '{{{message}}}'"
        ),
        "ClusterName": service.cluster.cluster_name,
        "ServiceName": service.service.service_name,
        "LogGroupName": service.log_group.log_group_name,
        "DashboardName": monitoring.dashboard.dashboard_name,
    }
    if section.load_balancer.authentication.secret is not None or section.engine.hub_token is not None:
        outputs["RenewSecretsCommand"] = _renew_secrets(service)
    if compilation is not None:
        outputs["CompileCommand"] = compilation.start_command
        outputs["CompileLogGroupName"] = compilation.log_group.log_group_name
    return outputs


def _renew_secrets(service: InferenceService) -> str:
    """Return what has the tasks replaced, as ``rollout`` says: they have what a secret held when they were started.

    Source: Amazon ECS developer guide, "Pass Secrets Manager secrets through Amazon ECS environment variables", read
    2026-11.
    """
    of = f"--cluster {service.cluster.cluster_name} --service {service.service.service_name}"
    return f"aws ecs update-service --region {Stack.of(service).region} {of} --force-new-deployment"
