"""A served model as constructs, for the stacks: service, door, alarms, and the build that compiles it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.alerts_topic import alerts_topic
from cdk_trainyard.deployment.exchange import RETENTION
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.deployment.serving import values
from cdk_trainyard.deployment.serving.section import ExistingBucketSection, ServingSection
from cdk_trainyard.network import Network
from cdk_trainyard.options.stand_ins import Key
from cdk_trainyard.serving import (
    AuthenticationKind,
    FrontDoor,
    InferenceService,
    ModelCompilation,
    NeuronModel,
    NeuronNodeHealth,
    PromptWebAcl,
    ServiceMonitoring,
    TextGenerationEngine,
)
from cdk_trainyard.storage.spec import ExistingBucket

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
        door: Its door.
        monitoring: Its alarms and its dashboard.
        outputs: What people need of it, by name.
    """

    service: InferenceService
    door: FrontDoor
    monitoring: ServiceMonitoring
    outputs: Mapping[str, str]


def serving(scope: Construct, deployment: Deployment, *, network: Network, models: s3.IBucket) -> Served:
    """Define everything that the ``serving:`` section says.

    Args:
        scope: The parent: a stack.
        deployment: A deployment with the section.
        network: The network.
        models: The deployment's models bucket.

    Raises:
        ValueError: The deployment serves nothing.
    """
    section = deployment.serving
    if section is None:
        raise ValueError(f"{deployment.name} has no 'serving'")
    existing = _Existing(Construct(scope, "Served"))
    model = values.model(section.model, models)
    engine = values.engine(section.engine, existing)
    service = _service(scope, section, network=network, model=model, engine=engine, existing=existing)
    door = _door(scope, section, service, existing)
    monitoring = ServiceMonitoring(
        scope,
        "Monitoring",
        service=service,
        door=door,
        topic=_topic(scope, deployment.alerts),
        latency_seconds=section.monitoring.latency_seconds,
        waiting=section.monitoring.waiting,
        error_percent=section.monitoring.error_percent,
    )
    if section.node_health != "off":
        copied = section.node_health_repository_arn
        NeuronNodeHealth(
            scope,
            "NodeHealth",
            service=service,
            recover=section.node_health == "replace",
            detector_repository=existing.repository(copied) if copied else None,
        )
    compilation = _compilation(scope, section, model, engine, existing)
    return Served(
        service=service,
        door=door,
        monitoring=monitoring,
        outputs=_outputs(section, service, door, monitoring, compilation),
    )


class _Existing(Existing):
    """What exists already, with what only serving refers to."""

    def repository(self, arn: str) -> ecr.IRepository:
        """Take an ECR repository."""
        return ecr.Repository.from_repository_arn(self, self._next("Repository"), arn)

    def secret(self, arn: str, key_arn: str | None = None) -> secretsmanager.ISecret:
        """Take a secret."""
        key = self.key(key_arn)
        return secretsmanager.Secret.from_secret_attributes(
            self, self._next("Secret"), secret_complete_arn=arn, encryption_key=key
        )

    def certificate(self, arn: str) -> acm.ICertificate:
        """Take a certificate."""
        return acm.Certificate.from_certificate_arn(self, self._next("Certificate"), arn)


def _service(
    scope: Construct,
    section: ServingSection,
    *,
    network: Network,
    model: NeuronModel,
    engine: TextGenerationEngine,
    existing: _Existing,
) -> InferenceService:
    hosts = section.hosts
    compiled = section.compile is None or section.model.build is not None
    return InferenceService(
        scope,
        "Service",
        network=network,
        model=model,
        engine=engine,
        instance_type=hosts.instance_type,
        tasks=hosts.tasks if compiled else 0,
        max_hosts=hosts.max_hosts,
        scaling=values.scaling(section.scaling) if compiled else None,
        rollout=hosts.rollout,
        host_image=hosts.host_image,
        volume_mib_s=hosts.volume_mib_s,
        volume_key=existing.key(hosts.volume_key_arn),
        log_key=existing.key(section.log_key_arn),
        log_retention=RETENTION[section.log_retention_days],
        request_timeout=Duration.seconds(section.request_timeout_seconds),
        protect_hosts=hosts.protect,
    )


def _door(scope: Construct, section: ServingSection, service: InferenceService, existing: _Existing) -> FrontDoor:
    door = section.door
    return FrontDoor(
        scope,
        "Door",
        service=service,
        authentication=values.authentication(door.authentication, existing),
        certificate=existing.certificate(door.certificate_arn) if door.certificate_arn else None,
        plain_http=door.plain_http,
        public=door.public,
        clients=[ec2.Peer.ipv4(cidr) for cidr in door.clients] or None,
        domain_name=door.domain_name,
        paths=door.paths,
        web_acl=_web_acl(scope, section, existing),
        concurrency=values.concurrency(door.concurrency),
        access_logs=_bucket(door.access_logs, existing),
        deletion_protection=door.deletion_protection,
    )


def _web_acl(scope: Construct, section: ServingSection, existing: _Existing) -> PromptWebAcl | None:
    said = section.door.web_acl
    if said is None:
        return None
    return PromptWebAcl(
        scope,
        "WebAcl",
        requests_per_address=said.requests_per_address,
        log_retention=RETENTION[section.log_retention_days],
        log_key=existing.key(section.log_key_arn),
    )


def _topic(scope: Construct, section: AlertsSection | None) -> sns.ITopic | None:
    if section is None:
        return None
    publisher = iam.ServicePrincipal("cloudwatch.amazonaws.com")
    topic = alerts_topic(scope, "Alerts", section, publisher=publisher, sid="CloudWatch")
    topic.grant_publish(publisher)  # a topic that exists keeps its own policy
    return topic


def _compilation(
    scope: Construct,
    section: ServingSection,
    model: NeuronModel,
    engine: TextGenerationEngine,
    existing: _Existing,
) -> ModelCompilation | None:
    said = section.compile
    if said is None:
        return None
    return ModelCompilation(
        scope,
        "Compilation",
        model=model,
        engine=engine,
        source=said.source,
        revision=said.revision,
        exported=said.exported,
        hub_token=existing.secret(said.hub_token_secret_arn) if said.hub_token_secret_arn else None,
        timeout=Duration.hours(said.timeout_hours),
        log_retention=RETENTION[section.log_retention_days],
        log_key=existing.key(section.log_key_arn),
    )


def _outputs(
    section: ServingSection,
    service: InferenceService,
    door: FrontDoor,
    monitoring: ServiceMonitoring,
    compilation: ModelCompilation | None,
) -> Mapping[str, str]:
    """Return what stands at the end of ``cdk deploy``."""
    name, credential = section.model.name, _CREDENTIALS[section.door.authentication.kind]
    message = f'"model": "{name}", "messages": [{{"role": "user", "content": "Hello"}}]'
    outputs = {
        "BaseUrl": door.base_url,
        "DoorAddress": door.load_balancer.load_balancer_dns_name,
        "CallWithOpenAi": (
            f'OpenAI(base_url="{door.base_url}", api_key="{credential}").chat.completions.create(model="{name}", '
            f'messages=[{{"role": "user", "content": "Hello"}}])'
        ),
        "CallWithCurl": (
            f"curl {door.base_url}/chat/completions -H 'Authorization: Bearer {credential}' "
            f"-H 'Content-Type: application/json' -d '{{{message}}}'"
        ),
        "ClusterName": service.cluster.cluster_name,
        "ServiceName": service.service.service_name,
        "LogGroupName": service.log_group.log_group_name,
        "DashboardName": monitoring.dashboard.dashboard_name,
    }
    if compilation is not None:
        outputs["CompileCommand"] = compilation.start_command
        outputs["CompileLogGroupName"] = compilation.log_group.log_group_name
    return outputs


def _bucket(section: ExistingBucketSection | None, existing: Existing) -> s3.IBucket | None:
    if section is None:
        return None
    key = cast("kms.IKey", Key(section.key_arn)) if section.key_arn else None
    return existing.bucket(ExistingBucket(bucket_name=section.bucket_name, key=key))
