"""Alarms on the metrics of one cluster, in a workspace."""

from collections.abc import Sequence

from aws_cdk import Annotations, Stack
from aws_cdk import aws_aps as aps
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.monitoring.promql import UNREAD, can_parse
from cdk_trainyard.monitoring.render import rule_groups
from cdk_trainyard.monitoring.rules import alert_rules_problems
from cdk_trainyard.monitoring.spec import AlarmOverride, AlertRulesSpec, MetricsSource, OwnAlarm
from cdk_trainyard.monitoring.warnings import override_warnings, own_alarm_warnings, untold_warnings
from cdk_trainyard.monitoring.workspace import MetricsWorkspace, MetricsWorkspaceBase
from cdk_trainyard.names import fitting
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import Problem
from cdk_trainyard.surroundings import surroundings

_NOT_OURS = Problem(
    ("topic",),
    "must be left out for a workspace that exists: CloudFormation sets an alert manager with the workspace alone; let "
    "its owner tell the topic in the workspace's own alert manager",
)
_LONGEST_NAME = 64  # CloudFormation's schema of AWS::APS::RuleGroupsNamespace, 2026-11; the API takes twice as much


class AlertRules(Construct):
    """Recording and alerting rules of one cluster (AWS::APS::RuleGroupsNamespace), and whom its workspace tells.

    Each rule asks for metrics of this cluster alone, so that clusters can share a workspace and ring once each.

    Args:
        workspace: The workspace.
        topic: What is told; the workspace's alert manager tells one topic, whatever cluster rings.
            Default - nobody; what rings can be asked for: the series ``ALERTS``.
        cluster_name: The cluster, as the label ``cluster`` of its metrics says it.
        overrides: What is other than in the table of alarms. Default - nothing.
        update_schedules: When nodes are updated, in UTC: what rings of nodes that are away is quiet then.
            Default - never.
        sources: Whose metrics there are. Default - everybody's.
        own_alarms: Alarms beside those of the table, by name. Default - none.
        update_minutes: How many minutes a scheduled update may take before what rings of nodes that are away rings.
            Default: 120.

    Attributes:
        rules: The rules, as a rules file of Prometheus.

    Raises:
        ConfigurationError: An override names no alarm or a threshold that makes no sense, promtool does not read an
            alarm of one's own, a schedule is none, or the workspace cannot tell.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        workspace: MetricsWorkspaceBase,
        topic: sns.ITopic | None = None,
        cluster_name: str,
        overrides: Sequence[AlarmOverride] = (),
        update_schedules: Sequence[str] = (),
        sources: Sequence[MetricsSource] = (
            MetricsSource.CONTROLLER,
            MetricsSource.SLURM,
            MetricsSource.NODE,
            MetricsSource.EFA,
            MetricsSource.LUSTRE,
            MetricsSource.NEURON,
            MetricsSource.GPU,
            MetricsSource.ENGINE,
            MetricsSource.VLLM,
            MetricsSource.TGI,
        ),
        own_alarms: Sequence[OwnAlarm] = (),
        update_minutes: int = 120,
    ) -> None:
        super().__init__(scope, construct_id)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(AlertRulesSpec, locals()))
        own = workspace if isinstance(workspace, MetricsWorkspace) else None
        tells = topic is None or own is not None
        raise_problems(self, [*judge.problems, *alert_rules_problems(spec), *([] if tells else [_NOT_OURS])])
        if spec.own_alarms and not can_parse():
            Annotations.of(self).add_info(UNREAD)
        own_found = own_alarm_warnings(
            spec.own_alarms,
            spec.sources,
            shared=own is None,
            is_mistaken=lambda name: name != spec.cluster_name and Stack.of(self).stack_name.startswith(f"{name}-"),
        )
        untold = untold_warnings(spec.own_alarms, told=topic is not None or own is None)
        say_warnings(self, (*override_warnings(spec.overrides), *own_found, *untold))
        self.rules: str = rule_groups(spec)
        aps.CfnRuleGroupsNamespace(
            self,
            "Resource",
            name=fitting(f"trainyard-{spec.cluster_name}", _LONGEST_NAME),
            workspace=workspace.workspace_arn,
            data=self.rules,
        )
        if topic is not None and own is not None:
            own.tell(topic)
