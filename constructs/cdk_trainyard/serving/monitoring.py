"""What a service tells: a dashboard, and alarms on what its callers would notice."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.monitoring.metric_math import percent
from cdk_trainyard.monitoring.telling import tell
from cdk_trainyard.names import Naming, named
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.serving.load_balancer import InferenceLoadBalancer
from cdk_trainyard.serving.rules_concurrency import default_waiting, waiting_problems
from cdk_trainyard.serving.rules_service import monitoring_problems
from cdk_trainyard.serving.scaling import engine_metric
from cdk_trainyard.serving.service import InferenceService
from cdk_trainyard.serving.spec_service import MonitoringSpec
from cdk_trainyard.serving.task import METRICS_NAMESPACE
from cdk_trainyard.serving.warnings import monitoring_warnings
from cdk_trainyard.surroundings import surroundings

# What the runtime library writes when a device fails: NRT_ codes, and nrt_ functions that return them.
_NEURON_ERRORS = ("NRT_EXEC", "NRT_FAILURE", "NRT_UNINITIALIZED", "NRT_RESOURCE", "nrt_init")
_UNTOLD = "no topic was given: the alarm is looked at on the service's dashboard"
_OUTAGE = "no task answers: none is healthy, or none is there"
_START_MINUTES = 15
"""A host starts and pulls the engine's image, before the task has its grace: an allowance."""
_STOP_MINUTES = 30
"""The same, and how long ECS keeps hosts whose tasks a schedule has ended: 15 minutes and their draining."""


class ServiceMonitoring(Construct):
    """A dashboard of a service, and of its load balancer if it has one, and alarms that tell a topic.

    Alarms: nothing serves, tasks that are unhealthy, errors (5xx) in percent of requests, the slowest hundredth of
    requests, requests that wait, engines that do not answer, errors of Neuron devices in the engine's log; with
    ``concurrency`` also requests that are refused.
    ``HealthyHostCount`` and ``RequestCount`` have no data where nothing is registered (ELB user guide, "CloudWatch
    metrics for your Application Load Balancer"): that is the outage, and so the alarm. While a schedule asks for no
    host it is kept quiet, and for as long as a host then takes. Without a load balancer there is nobody who counts
    healthy tasks and requests: requests that wait, engines that do not answer and errors of devices are left.

    Args:
        service: The service.
        load_balancer: Its load balancer. Default - none; alarms on what it counts are left out.
        topic: What alarms tell; it must let CloudWatch publish. Default - nobody is told, the dashboard shows them.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        latency_seconds: The slowest hundredth of requests may take so long to the first byte.
            Default - half of the service's ``request_timeout``.
        waiting: So many requests may wait per task for five minutes.
            Default - twice the batch, or less where ``concurrency`` of the load balancer, or the engine, lets fewer
            wait.
        error_percent: So many of a hundred requests may fail. Default: 5.

    Attributes:
        alarms: The alarms that tell.
        dashboard: The dashboard.

    Raises:
        ConfigurationError: A threshold is none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service: InferenceService,
        load_balancer: InferenceLoadBalancer | None = None,
        topic: sns.ITopic | None = None,
        names: Naming | None = None,
        latency_seconds: float | None = None,
        waiting: float | None = None,
        error_percent: float = 5,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(MonitoringSpec, locals()))
        longest = service.request_timeout.to_seconds()
        limit = load_balancer.concurrency if load_balancer else None
        never = waiting_problems(spec, limit, service.spec.engine, service.model)
        raise_problems(self, [*judge.problems, *monitoring_problems(spec, longest), *never])
        say_warnings(self, monitoring_warnings(spec))
        latency = longest / 2 if latency_seconds is None else latency_seconds
        queue = default_waiting(limit, service.spec.engine, service.model) if waiting is None else waiting
        self._service, self._topic = service, topic
        self._minute = Duration.minutes(1)
        self._door = _Door(load_balancer, self._minute) if load_balancer else None
        grace = int(service.health_grace.to_seconds()) // 60
        self.alarms: Sequence[cloudwatch.AlarmBase] = (
            *(self._at_door(self._door, grace, error_percent, latency) if self._door else ()),
            self._alarm("Waiting", self._waiting(), queue, 5, "requests that wait in the engine, per task"),
            self._alarm("Down", self._down(), 1, grace, "engines that do not answer after loading"),
            self._alarm("Neuron", self._neuron(), 1, 1, "errors of Neuron devices: the host wants to be replaced"),
        )
        self.dashboard = self._dashboard()

    # ---------------------------------------------------------------- at the door
    def _at_door(
        self, door: "_Door", grace: int, error_percent: float, latency: float
    ) -> Sequence[cloudwatch.AlarmBase]:
        return (
            *self._outage(door, grace),
            self._alarm("Unhealthy", door.unhealthy(), 1, grace, "tasks that the door finds unhealthy after loading"),
            self._alarm("Errors", door.errors(), error_percent, 5, "percent of requests that fail (5xx)"),
            self._alarm("Latency", door.latency(), latency, 5, "the slowest hundredth, seconds to the first byte"),
            *(
                self._alarm("Refused", metric, 1, 5, "requests that 'concurrency' refuses: no task has room")
                for metric in door.refused()
            ),
        )

    def _outage(self, door: "_Door", grace: int) -> Sequence[cloudwatch.AlarmBase]:
        """No target is healthy, or none is there, for longer than a host takes to start; unless none is asked for."""
        scaling = self._service.spec.scaling
        if scaling is None and self._service.spec.hosts.tasks == 0:
            return ()
        healthy = door.healthy(cloudwatch.Stats.MAXIMUM)
        if scaling is None or not scaling.to_zero:
            return (self._alarm("Outage", healthy, 1, grace + _START_MINUTES, _OUTAGE, below=True),)
        minutes = grace + _STOP_MINUTES
        none = self._alarm(
            "NoneHealthy", healthy, 1, minutes, "no task answers, wanted or not", below=True, tells=False
        )
        asleep = self._alarm(
            "NoHostWanted", self._hosts_wanted(), 1, minutes, "no host is asked for, or was not until a while ago",
            below=True, tells=False, any_of_them=True,
        )  # fmt: skip
        outage = cloudwatch.CompositeAlarm(
            self,
            "Outage",
            alarm_rule=cloudwatch.AlarmRule.all_of(
                cloudwatch.AlarmRule.from_alarm(none, cloudwatch.AlarmState.ALARM),
                cloudwatch.AlarmRule.not_(cloudwatch.AlarmRule.from_alarm(asleep, cloudwatch.AlarmState.ALARM)),
            ),
            alarm_description=_OUTAGE,
        )
        tell(outage, self._topic, untold=_UNTOLD)
        return (outage,)

    def _hosts_wanted(self) -> cloudwatch.IMetric:
        return cloudwatch.Metric(
            namespace="AWS/AutoScaling",
            metric_name="GroupDesiredCapacity",
            dimensions_map={"AutoScalingGroupName": self._service.hosts.group.auto_scaling_group_name},
            period=self._minute,
            statistic=cloudwatch.Stats.MINIMUM,
        )

    # ---------------------------------------------------------------- metrics
    def _waiting(self) -> cloudwatch.IMetric:
        return engine_metric(self._service.service_name, "RequestsWaiting", cloudwatch.Stats.AVERAGE)

    def _down(self) -> cloudwatch.IMetric:
        up = engine_metric(self._service.service_name, "Up", cloudwatch.Stats.MINIMUM)
        return cloudwatch.MathExpression(
            expression="1 - up", using_metrics={"up": up}, period=self._minute, label="engines down"
        )

    def _neuron(self) -> cloudwatch.IMetric:
        found = logs.MetricFilter(
            self,
            "NeuronErrors",
            log_group=self._service.log_group,
            filter_pattern=logs.FilterPattern.any_term(*_NEURON_ERRORS),
            metric_namespace=METRICS_NAMESPACE,
            metric_name=f"NeuronErrors-{self._service.service_name}",
            metric_value="1",
        )
        return found.metric(period=self._minute, statistic=cloudwatch.Stats.SUM)

    # ---------------------------------------------------------------- alarms and dashboard
    def _alarm(
        self,
        construct_id: str,
        metric: cloudwatch.IMetric,
        threshold: float,
        minutes: int,
        description: str,
        *,
        below: bool = False,
        any_of_them: bool = False,
        tells: bool = True,
    ) -> cloudwatch.Alarm:
        """Define an alarm; one that rings ``below`` rings without data, but for one on ``any_of_them`` minutes."""
        operators, missing = cloudwatch.ComparisonOperator, cloudwatch.TreatMissingData
        alarm = cloudwatch.Alarm(
            self,
            construct_id,
            metric=metric,
            threshold=threshold,
            evaluation_periods=minutes,
            datapoints_to_alarm=1 if any_of_them else None,
            comparison_operator=operators.LESS_THAN_THRESHOLD
            if below
            else operators.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=missing.BREACHING if below and not any_of_them else missing.NOT_BREACHING,
            alarm_description=description,
        )
        if tells:
            tell(alarm, self._topic, untold=_UNTOLD)
        else:
            tell(alarm, None, untold="one half of a composite alarm, which tells")
        return alarm

    def _dashboard(self) -> cloudwatch.Dashboard:
        dashboard = cloudwatch.Dashboard(self, "Dashboard")
        running = engine_metric(self._service.service_name, "RequestsRunning", cloudwatch.Stats.AVERAGE)
        tasks = engine_metric(self._service.service_name, "Up", cloudwatch.Stats.SAMPLE_COUNT)
        dashboard.add_widgets(
            cloudwatch.AlarmStatusWidget(alarms=list(self.alarms), width=24, height=3, title="Alarms"),
            cloudwatch.GraphWidget(title="Requests per task", left=[self._waiting(), running], right=[tasks], width=12),
            *(self._door.widgets() if self._door else ()),
            cloudwatch.LogQueryWidget(
                title="Engine",
                log_group_names=[self._service.log_group.log_group_name],
                query_lines=["fields @timestamp, @message", "filter @logStream like /engine/", "sort @timestamp desc"],
                width=24,
            ),
        )
        return dashboard


class _Door:
    """What a load balancer counts."""

    def __init__(self, load_balancer: InferenceLoadBalancer, minute: Duration) -> None:
        self._group, self._balancer = load_balancer.target_group.metrics, load_balancer.load_balancer.metrics
        self._minute, self._limited = minute, load_balancer.concurrency is not None

    def healthy(self, statistic: str | None = None) -> cloudwatch.IMetric:
        return self._group.healthy_host_count(period=self._minute, statistic=statistic)

    def unhealthy(self) -> cloudwatch.IMetric:
        return self._group.unhealthy_host_count(period=self._minute, statistic=cloudwatch.Stats.MAXIMUM)

    def errors(self) -> cloudwatch.IMetric:
        total = cloudwatch.Stats.SUM
        return cloudwatch.MathExpression(
            expression=percent("FILL(target, 0) + FILL(door, 0)", "FILL(requests, 0)"),
            using_metrics={
                "target": self._group.http_code_target(
                    elb.HttpCodeTarget.TARGET_5XX_COUNT, period=self._minute, statistic=total
                ),
                "door": self._balancer.http_code_elb(
                    elb.HttpCodeElb.ELB_5XX_COUNT, period=self._minute, statistic=total
                ),
                "requests": self._balancer.request_count(period=self._minute, statistic=total),
            },
            period=self._minute,
            label="errors, percent",
        )

    def latency(self) -> cloudwatch.IMetric:
        return self._group.target_response_time(period=self._minute, statistic="p99")

    def refused(self) -> Sequence[cloudwatch.IMetric]:
        """What is refused by a limit, if there is one: ELB counts it of a load balancer, and of no target group."""
        name, total = "TargetControlRequestRejectCount", cloudwatch.Stats.SUM
        return [self._balancer.custom(name, period=self._minute, statistic=total)] if self._limited else []

    def widgets(self) -> Sequence[cloudwatch.IWidget]:
        requests = self._balancer.request_count(period=self._minute)
        return (
            cloudwatch.GraphWidget(
                title="At the door", left=[requests, *self.refused()], right=[self.errors()], width=12
            ),
            cloudwatch.GraphWidget(title="Seconds to the first byte, p99", left=[self.latency()], width=12),
            cloudwatch.GraphWidget(title="Tasks", left=[self.healthy(), self.unhealthy()], width=12),
        )
