"""A model served by tasks of ECS on inf2 hosts."""

from collections.abc import Sequence
from typing import cast

import jsii
from aws_cdk import Duration, Names, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IDependable

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.monitoring import ClusterMonitoring, MetricsSource
from cdk_trainyard.monitoring.nodes import elsewhere_problems, scrape_problems
from cdk_trainyard.monitoring.series import SERIES, uncounted_series_metadata
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network import Network
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import within
from cdk_trainyard.real import real
from cdk_trainyard.serving import sizing
from cdk_trainyard.serving.concurrency import DATA_PORT, requests_at_a_time
from cdk_trainyard.serving.engine_settings import PORT, settings, source_of
from cdk_trainyard.serving.host_script import HostSettings
from cdk_trainyard.serving.hosts import InferenceHosts
from cdk_trainyard.serving.logs import log_group
from cdk_trainyard.serving.model_layout import layout
from cdk_trainyard.serving.rollout import healthy_percent, least_tasks, most_hosts
from cdk_trainyard.serving.rules import service_findings
from cdk_trainyard.serving.rules_concurrency import limit_warnings, queue_problems
from cdk_trainyard.serving.rules_environment import listening_problems
from cdk_trainyard.serving.rules_model import bucket_problems
from cdk_trainyard.serving.rules_secrets import hub_token_problems, key_problems
from cdk_trainyard.serving.scaling import scale
from cdk_trainyard.serving.service_base import ServiceBase
from cdk_trainyard.serving.spec_load_balancer import ClientAuthentication, ConcurrencyLimit
from cdk_trainyard.serving.spec_model import NeuronModel, TextGenerationEngine
from cdk_trainyard.serving.spec_service import ScalingMetric, ServiceScaling, ServiceSpec, ServingHosts
from cdk_trainyard.serving.subnets import room_problems
from cdk_trainyard.serving.task import InferenceTask, TaskPlan
from cdk_trainyard.serving.warnings import placed_warnings
from cdk_trainyard.surroundings import surroundings

_LEAST_GRACE_SECONDS = 15 * 60
_HTTPS = 443


@jsii.implements(ec2.IConnectable)
class InferenceService(ServiceBase):
    """A model served by tasks of ECS on inf2 hosts, one task on each host.

    Defines hosts (launch template, auto scaling group, capacity provider) that mount the model's prefix before their
    ECS agent starts, a task definition with the engine, the service, its roles and its log group, and an ECS cluster
    unless one is given. Nobody can call it until an ``InferenceLoadBalancer`` is put before it, or ``connections``
    opens it.

    Args:
        network: The network; hosts and tasks are in its service subnets, or where there are none in its accelerator
            subnet.
        cluster: An ECS cluster of yours; the hosts join it. Default - a new one with Container Insights.
        subnets: Private subnets for hosts and tasks. Default - as said at ``network``.
        task_role: An IAM role of yours for what runs in the tasks, left as it is; with ``metrics`` it must let them
            write. Default - one that may write metrics where they go anywhere, and nothing else.
        execution_role: An IAM role of yours with which ECS pulls, logs and reads secrets; a managed policy is attached
            to it. Default - one is made.
        metrics: Where metrics of engines and hosts go. Every task then has an agent that writes there.
            Default - the engine's queue goes to CloudWatch, and nothing else anywhere.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        model: What is served.
        hosts: The instances it runs on.
        engine: What serves it. Default - vLLM of Hugging Face's optimum-neuron.
        scaling: What moves the number of tasks. Default - it stays as ``hosts`` says.
        request_timeout: The longest that a request may take, silent or not, 30 seconds to an hour. Default: 600.
        log_retention: How long logs are kept. Default: THREE_MONTHS.
        log_key: KMS key of the log groups; its policy must let CloudWatch Logs use it. Default - CloudWatch Logs' own.

    Attributes:
        network: The network.
        spec: What was said of it.
        cluster: The cluster.
        hosts: The hosts.
        subnets: The subnets of hosts and tasks.
        service: The ECS service.
        task_definition: Its task definition.
        security_group: The tasks' security group.
        log_group: Where engine and collector log; no prompts and no answers.
        request_timeout: The longest that a request may take.
        sizing: What the model takes of a host.
        health_grace: How long a task may take to load before the load balancer judges it.
        service_name: What the service's metrics are called by: the label ``cluster`` of those in a workspace.

    Raises:
        ConfigurationError: The model cannot be served like that; names everything that was found.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: Network,
        cluster: ecs.Cluster | None = None,
        subnets: Sequence[ec2.ISubnet] | None = None,
        task_role: iam.IRole | None = None,
        execution_role: iam.IRole | None = None,
        metrics: ClusterMonitoring | None = None,
        names: Naming | None = None,
        model: NeuronModel,
        hosts: ServingHosts,
        engine: TextGenerationEngine | None = None,
        scaling: ServiceScaling | None = None,
        request_timeout: Duration | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        log_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(ServiceSpec, locals()))
        findings = service_findings(spec, judge.environment.region)
        bucket = within(("model",), bucket_problems(model))
        scraped = (
            [
                *scrape_problems(metrics.scrape_seconds),
                *elsewhere_problems(metrics.exporters, "its tasks run their own"),
            ]
            if metrics
            else ()
        )
        token = within(("engine",), hub_token_problems(spec.engine.hub_token, judge.environment.account))
        room = room_problems(subnets or network.service_subnets, spec)
        raise_problems(self, [*judge.problems, *bucket, *scraped, *findings.problems, *token, *room])
        say_warnings(self, findings.warnings)
        self.network, self.spec, self._metrics = network, spec, metrics
        self.request_timeout = real(spec.request_timeout)
        self.sizing = sizing.size(model, InstanceType.of(hosts.instance_type))
        loading = sizing.load_seconds(model, hosts.volume_mib_s)
        self.health_grace = Duration.seconds(max(_LEAST_GRACE_SECONDS, 2 * loading))
        self.service_name: str = Names.unique_resource_name(self, max_length=100, separator="-")
        self.subnets: tuple[ec2.ISubnet, ...] = tuple(
            subnets or network.service_subnets or (network.accelerator_subnet,)
        )
        self._warn(own_subnets=subnets is not None)
        self.cluster = cluster or ecs.Cluster(
            self, "Cluster", vpc=network.vpc, container_insights_v2=ecs.ContainerInsights.ENABLED
        )
        self.log_group = log_group(self, "Logs", retention=real(spec.log_retention), key=log_key)
        self.hosts = self._hosts()
        self._settings = settings(spec.engine, model, request_seconds=int(self.request_timeout.to_seconds()))
        self._task = self._define_task(task_role, execution_role)
        self.task_definition = self._task.definition
        self.security_group = self._security_group()
        self._connections = ec2.Connections(security_groups=[self.security_group], default_port=ec2.Port.tcp(PORT))
        self.service = self._service()
        scale(self, ScalingMetric.QUEUE)

    @property
    def model(self) -> NeuronModel:
        """What is served."""
        return self.spec.model

    @property
    def metrics_sources(self) -> Sequence[MetricsSource]:
        """Whose metrics there are, when they go anywhere."""
        return (MetricsSource.ENGINE, source_of(self.spec.engine.kind), MetricsSource.NODE)

    @property
    def connections(self) -> ec2.Connections:
        """The tasks' connections; their default port is the engine's."""
        return self._connections

    @property
    def port(self) -> int:
        """The engine's port."""
        return PORT

    def expose(
        self,
        target_group: elb.ApplicationTargetGroup,
        *,
        after: Sequence[IDependable],
        authentication: ClientAuthentication,
        concurrency: ConcurrencyLimit | None,
    ) -> None:
        """Register the tasks with a target group. An ``InferenceLoadBalancer`` does this.

        Args:
            target_group: The target group, of addresses.
            after: What has to stand before: the group must have a listener, or ECS refuses it.
            authentication: Who may call: the engine compares a key, if there is one.
            concurrency: How many requests a task gets at a time. None: as many as come.
        """
        listening = within(("engine",), listening_problems(self.spec.engine, concurrency))
        queue = within(("concurrency",), queue_problems(concurrency, self.model, self.spec.scaling))
        secret = within(("authentication",), key_problems(authentication, surroundings(self).account))
        raise_problems(self, [*listening, *queue, *secret])
        say_warnings(self, limit_warnings(concurrency, self.spec))
        if concurrency is None:
            self.service.attach_to_application_target_group(target_group)
        else:
            self._task.add_agent(concurrency, requests_at_a_time(concurrency, self.model.batch))
            target_group.add_target(self.service.load_balancer_target(container_name="agent", container_port=DATA_PORT))
        resource = cast("ecs.CfnService", main_resource(self.service))
        resource.health_check_grace_period_seconds = self.health_grace.to_seconds()
        resource.node.add_dependency(*after)
        if authentication.secret is not None:
            self._task.add_secret(self._settings.key_variable, authentication.secret, key=authentication.secret_key)
        scale(self, ScalingMetric.ALB_REQUESTS, target_group=target_group)

    # ---------------------------------------------------------------- parts
    def _hosts(self) -> InferenceHosts:
        model, scaling = self.model, self.spec.scaling
        return InferenceHosts(
            self,
            "Hosts",
            cluster=self.cluster,
            vpc=self.network.vpc,
            subnets=self.subnets,
            spec=self.spec.hosts,
            min_hosts=0 if scaling and scaling.to_zero else scaling.min_tasks if scaling else self.spec.hosts.tasks,
            max_hosts=most_hosts(self.spec.hosts, scaling),
            settings=HostSettings(
                cluster_name=self.cluster.cluster_name,
                bucket_name=model.bucket.bucket_name,
                folder=model.folder,
                layout=layout(model, self.spec.engine.container),
                region=Stack.of(self).region,
                devices=self.sizing.devices,
                image=self.spec.engine.container,
            ),
            model=model,
            route_out=self.network.route_out,
        )

    def _define_task(self, task_role: iam.IRole | None, execution_role: iam.IRole | None) -> InferenceTask:
        return InferenceTask(
            self,
            "Task",
            engine=self.spec.engine,
            plan=TaskPlan(
                service_name=self.service_name,
                settings=self._settings,
                served=self.model.bucket.s3_url_for_object(self.model.folder),
                devices=self.sizing.devices,
                memory_mib=int(1024 * (self.sizing.host_gib - sizing.HOST_RESERVE_GIB)),
                precompiled=self.model.precompiled,
                metrics=self._metrics,
            ),
            log_group=self.log_group,
            task_role=task_role,
            execution_role=execution_role,
        )

    def _security_group(self) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=self.network.vpc,
            allow_all_outbound=False,
            description="Tasks that serve a model: the door in, nothing out unless the engine needs the Hub",
        )
        asked = {"the Hugging Face Hub": not self.model.precompiled, "the workspace of metrics": bool(self._metrics)}
        if out := [name for name, wanted in asked.items() if wanted]:
            group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(_HTTPS), " and ".join(out))
        return group

    def _service(self) -> ecs.Ec2Service:
        hosts, scaling = self.spec.hosts, self.spec.scaling
        percent = healthy_percent(hosts.rollout, least_tasks(hosts, scaling))
        service = ecs.Ec2Service(
            self,
            "Service",
            cluster=self.cluster,
            task_definition=self.task_definition,
            desired_count=hosts.tasks,
            capacity_provider_strategies=[
                ecs.CapacityProviderStrategy(
                    capacity_provider=self.hosts.capacity_provider.capacity_provider_name, weight=1
                )
            ],
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
            min_healthy_percent=percent.minimum,
            max_healthy_percent=percent.maximum,
            placement_constraints=[ecs.PlacementConstraint.distinct_instances()],
            security_groups=[self.security_group],
            vpc_subnets=ec2.SubnetSelection(subnets=list(self.subnets)),
            enable_ecs_managed_tags=True,
            propagate_tags=ecs.PropagatedTagSource.SERVICE,
        )
        resource = main_resource(service)
        if self._metrics:
            seconds = self._metrics.scrape_seconds
            resource.add_metadata(SERIES, uncounted_series_metadata(self.metrics_sources, scrape_seconds=seconds))
        resource.node.add_dependency(self._task.execution_role.policy, self.cluster)
        reason = "it waits for what CDK adds to the cluster too: a provider that is not associated is refused"
        acknowledge(resource, {"W3005": reason})
        if scaling is not None:  # each deployment would set the count back
            resource.add_property_deletion_override("DesiredCount")
        return service

    def _warn(self, *, own_subnets: bool) -> None:
        network = self.network
        zones = [each.availability_zone for each in self.subnets] if own_subnets else network.service_zones
        region, has_nat = Stack.of(self).region, network.has_nat
        say_warnings(self, placed_warnings(self.spec.hosts, zones or [network.zone], region, has_nat=has_nat))
