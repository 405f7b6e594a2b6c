"""A model served by tasks of ECS on inf2 hosts."""

from collections.abc import Sequence
from typing import cast

import jsii
from aws_cdk import Annotations, Duration, Names, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct, IDependable

from cdk_trainyard.acknowledgments import acknowledge_cfn_lint, main_resource
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.network import Network
from cdk_trainyard.serving import sizing
from cdk_trainyard.serving.catalogue import host_image as find_host_image
from cdk_trainyard.serving.checks import ServicePlan, service_findings
from cdk_trainyard.serving.concurrency import DATA_PORT, ConcurrencyLimit
from cdk_trainyard.serving.engine import TextGenerationEngine
from cdk_trainyard.serving.engine_settings import PORT, settings
from cdk_trainyard.serving.host_script import HostSettings
from cdk_trainyard.serving.hosts import HostPlan, InferenceHosts
from cdk_trainyard.serving.log_group import log_group
from cdk_trainyard.serving.model import NeuronModel
from cdk_trainyard.serving.model_layout import layout
from cdk_trainyard.serving.rollout import Rollout, healthy_percent, hosts_needed
from cdk_trainyard.serving.scaling import scale
from cdk_trainyard.serving.scaling_values import ScalingMetric, ServiceScaling
from cdk_trainyard.serving.task import InferenceTask, TaskPlan
from cdk_trainyard.serving.warnings import no_way_out, zone_without_type

_LEAST_GRACE_SECONDS = 15 * 60
_HTTPS = 443


@jsii.implements(ec2.IConnectable)
class InferenceService(Construct):
    """A model served by tasks of ECS on inf2 hosts, one task on each host.

    Defines hosts (launch template, auto scaling group, capacity provider) that mount the model's prefix before their
    ECS agent starts, a task definition with the engine, the service, its roles and its log group, and an ECS cluster
    unless one is given. Nobody can call it until a ``FrontDoor`` is put before it, or ``connections`` opens it.

    Args:
        network: The network; hosts and tasks are in its service subnets, or where there are none in its accelerator
            subnet.
        model: What is served.
        engine: What serves it.
        instance_type: The hosts' type, of inf2.
        tasks: The number of tasks, and so of hosts. Default: 1.
        max_hosts: The largest number of hosts. Default - what ``tasks``, ``scaling`` and ``rollout`` need.
        scaling: Bounds of the number of tasks and what moves it. Default - it stays as it is.
        rollout: How a new version takes the place of the old one. Default: RECREATE.
        cluster: An ECS cluster of yours; the hosts join it. Default - a new one with Container Insights.
        subnets: Private subnets for hosts and tasks. Default - as said at ``network``.
        host_image: Version of the ECS Neuron image, as ``"20260701"``. Default - the catalogue's.
        volume_mib_s: Throughput of the root volumes, 125 to 1000 MiB/s: weights are kept there. Default: 500.
        volume_key: The key of the root volumes; it must let the Auto Scaling service use it.
            Default - the account's own for EBS.
        log_key: The key of the log group. Default - CloudWatch Logs encrypts with its own.
        log_retention: How long logs are kept. Default: THREE_MONTHS.
        request_timeout: The longest a request may take, silent or not. Default - 10 minutes.
        protect_hosts: Whether hosts with a task are protected from being scaled in. ECS leaves the protection on when
            the stack is deleted, and the deletion then waits for you. Default: False.

    Attributes:
        cluster: The cluster.
        hosts: The hosts.
        service: The ECS service.
        task_definition: Its task definition.
        security_group: The tasks' security group.
        log_group: Where engine and collector log; no prompts and no answers.
        sizing: What the model takes of a host.
        health_grace: How long a task may take to load before the door judges it.
        service_name: What the service's metrics are called by.

    Raises:
        ConfigurationError: The model cannot be served like that; names everything that was found.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: Network,
        model: NeuronModel,
        engine: TextGenerationEngine,
        instance_type: str | InstanceType,
        tasks: int = 1,
        max_hosts: int | None = None,
        scaling: ServiceScaling | None = None,
        rollout: Rollout = Rollout.RECREATE,
        cluster: ecs.Cluster | None = None,
        subnets: Sequence[ec2.ISubnet] | None = None,
        host_image: str | None = None,
        volume_mib_s: int = 500,
        volume_key: kms.IKey | None = None,
        log_key: kms.IKey | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        request_timeout: Duration | None = None,
        protect_hosts: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        most = max(tasks, scaling.max_tasks) if scaling else tasks
        plan = ServicePlan(
            model=model,
            engine=engine,
            instance_type=instance_type,
            host_image=find_host_image(host_image),
            region=Stack.of(self).region,
            tasks=tasks,
            # a group whose largest size is zero is nothing that ECS can scale
            max_hosts=max(1, hosts_needed(rollout, most)) if max_hosts is None else max_hosts,
            scaling=scaling,
            rollout=rollout,
            volume_mib_s=volume_mib_s,
            request_seconds=600 if request_timeout is None else int(request_timeout.to_seconds()),
        )
        findings = service_findings(plan)
        raise_problems(self.node.path, findings.problems)
        for slug, text in findings.warnings:
            Annotations.of(self).add_warning_v2(f"@cdk-trainyard/serving:{slug}", text)
        self.network, self.model, self.engine, self.scaling = network, model, engine, scaling
        self.tasks = tasks
        self.request_timeout = Duration.seconds(plan.request_seconds)
        known = InstanceType.of(instance_type)
        self.sizing = sizing.size(model, known)
        self.health_grace = Duration.seconds(max(_LEAST_GRACE_SECONDS, 2 * sizing.load_seconds(model, volume_mib_s)))
        self.service_name: str = Names.unique_resource_name(self, max_length=100, separator="-")
        self.subnets: tuple[ec2.ISubnet, ...] = tuple(
            subnets or network.service_subnets or (network.accelerator_subnet,)
        )
        self._warn(known, protect=protect_hosts, own_subnets=subnets is not None)
        self.cluster = cluster or ecs.Cluster(
            self, "Cluster", vpc=network.vpc, container_insights_v2=ecs.ContainerInsights.ENABLED
        )
        self.log_group = log_group(self, "Logs", retention=log_retention, key=log_key)
        self.hosts = self._hosts(plan, known, protect=protect_hosts, volume_key=volume_key)
        self._settings = settings(engine, model, request_seconds=plan.request_seconds)
        self._task = InferenceTask(
            self,
            "Task",
            engine=engine,
            plan=TaskPlan(
                service_name=self.service_name,
                settings=self._settings,
                devices=self.sizing.devices,
                memory_mib=int(1024 * (self.sizing.host_gib - sizing.HOST_RESERVE_GIB)),
                precompiled=model.precompiled,
            ),
            log_group=self.log_group,
        )
        self.task_definition = self._task.definition
        self.security_group = self._security_group()
        self._connections = ec2.Connections(security_groups=[self.security_group], default_port=ec2.Port.tcp(PORT))
        self.service = self._service(plan)
        scale(self, ScalingMetric.QUEUE)

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
        api_key: secretsmanager.ISecret | None,
        concurrency: ConcurrencyLimit | None,
    ) -> None:
        """Register the tasks with a target group. A ``FrontDoor`` does this.

        Args:
            target_group: The target group, of addresses.
            after: What has to stand before: the group must have a listener, or ECS refuses it.
            api_key: A secret whose value a caller has to send. None: the engine asks for nothing.
            concurrency: How many requests a task gets at a time. None: as many as come.
        """
        if concurrency is None:
            self.service.attach_to_application_target_group(target_group)
        else:
            self._task.add_agent(concurrency, concurrency.requests or self.model.batch)
            target_group.add_target(self.service.load_balancer_target(container_name="agent", container_port=DATA_PORT))
        resource = cast("ecs.CfnService", main_resource(self.service))
        resource.health_check_grace_period_seconds = self.health_grace.to_seconds()
        resource.node.add_dependency(*after)
        if api_key is not None:
            self._task.add_secret(self._settings.key_variable, api_key)
        scale(self, ScalingMetric.ALB_REQUESTS, target_group=target_group)

    # ---------------------------------------------------------------- parts
    def _hosts(
        self, plan: ServicePlan, known: InstanceType, *, protect: bool, volume_key: kms.IKey | None
    ) -> InferenceHosts:
        least = self.scaling.min_tasks if self.scaling else self.tasks
        return InferenceHosts(
            self,
            "Hosts",
            cluster=self.cluster,
            vpc=self.network.vpc,
            subnets=self.subnets,
            plan=HostPlan(
                instance_type=known.name,
                image=plan.host_image,
                min_hosts=0 if self.scaling and self.scaling.to_zero else least,
                max_hosts=plan.max_hosts,
                disk_gib=sizing.root_disk_gib(self.model),
                volume_mib_s=plan.volume_mib_s,
                protect=protect,
                volume_key=volume_key,
            ),
            settings=HostSettings(
                cluster_name=self.cluster.cluster_name,
                bucket_name=self.model.bucket.bucket_name,
                folder=self.model.folder,
                layout=layout(self.model, self.engine.image),
                region=Stack.of(self).region,
                devices=self.sizing.devices,
                image=self.engine.image,
            ),
            model=self.model,
            route_out=self.network.route_out,
        )

    def _security_group(self) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=self.network.vpc,
            allow_all_outbound=False,
            description="Tasks that serve a model: the door in, nothing out unless the engine needs the Hub",
        )
        if not self.model.precompiled:
            group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(_HTTPS), "the Hugging Face Hub")
        return group

    def _service(self, plan: ServicePlan) -> ecs.Ec2Service:
        percent = healthy_percent(plan.rollout, plan.tasks)
        service = ecs.Ec2Service(
            self,
            "Service",
            cluster=self.cluster,
            task_definition=self.task_definition,
            desired_count=plan.tasks,
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
        resource.node.add_dependency(self._task.execution_role.policy, self.cluster)
        acknowledge_cfn_lint(
            resource,
            check="W3005",
            reason="it waits for what CDK adds to the cluster too: a provider that is not associated is refused",
        )
        if plan.scaling is not None:  # each deployment would set the count back
            resource.add_property_deletion_override("DesiredCount")
        return service

    def _warn(self, known: InstanceType, *, protect: bool, own_subnets: bool) -> None:
        annotations, network = Annotations.of(self), self.network
        zones = [each.availability_zone for each in self.subnets] if own_subnets else network.service_zones
        for text in zone_without_type(known, zones or [network.zone], Stack.of(self).region):
            annotations.add_warning_v2("@cdk-trainyard/serving:zone-without-type", text)
        for text in no_way_out(has_nat=network.has_nat):
            annotations.add_warning_v2("@cdk-trainyard/serving:no-way-out", text)
        if protect:
            annotations.add_warning_v2(
                "@cdk-trainyard/serving:protected-hosts",
                "'protect_hosts' leaves hosts protected when the stack is deleted; the deletion then waits until "
                "somebody takes the protection away (aws/aws-cdk issue 18179)",
            )
