"""AWS WAF before a load balancer, with rules that do not take prompts for attacks."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.data_files import load
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.serving.logs import log_group
from cdk_trainyard.serving.spec_load_balancer import WebAclSpec
from cdk_trainyard.surroundings import surroundings

_REPUTATION = "AWSManagedRulesAmazonIpReputationList"


class PromptWebAcl(Construct):
    """A web ACL for an ``InferenceLoadBalancer``: addresses of bad repute, bad requests, too many requests.

    A prompt that holds code, a path or a script is no attack, and 8 KB is no limit for it: so the managed rules only
    count and label, and a rule of this web ACL refuses what carries the label of one that reads no body. A rule that
    AWS adds to its groups, as ``ReactJSRCE_BODY`` in December 2025, thereby refuses nothing. A pinned version of the
    groups would do that too, until it expires: then no web ACL can be made with it
    (``WAFExpiredManagedRuleGroupVersionException`` of WAF's API), and those that have it get the newest rules ("Using
    versioned managed rule groups in AWS WAF"). Request bodies
    and the Authorization header are not logged.

    Attributes:
        acl_arn: Its ARN.
        log_group: Where refused requests are logged.

    Raises:
        ConfigurationError: The rate is none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        requests_per_address: int = 3000,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        log_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        judge = Judge(environment=surroundings(self))
        judge.judged(given(WebAclSpec, locals()))
        raise_problems(self, judge.problems)
        acl = wafv2.CfnWebACL(
            self,
            "Resource",
            scope="REGIONAL",
            default_action=wafv2.CfnWebACL.DefaultActionProperty(allow=wafv2.CfnWebACL.AllowActionProperty()),
            visibility_config=_visibility("WebAcl"),
            rules=_rules(requests_per_address),
        )
        reason = "Log4JRCE is refused by its labels, in headers, paths and queries; in a body it is a prompt"
        acknowledge(acl, {"CKV_AWS_192": reason})
        self.acl_arn: str = acl.attr_arn
        self.log_group = log_group(self, "Logs", retention=log_retention, key=log_key, prefix="aws-waf-logs-")
        wafv2.CfnLoggingConfiguration(
            self,
            "Logging",
            resource_arn=self.acl_arn,
            log_destination_configs=[
                Stack.of(self).format_arn(
                    service="logs",
                    resource="log-group",
                    resource_name=self.log_group.log_group_name,
                    arn_format=ArnFormat.COLON_RESOURCE_NAME,
                )
            ],
            redacted_fields=[
                wafv2.CfnLoggingConfiguration.FieldToMatchProperty(single_header={"Name": "authorization"})
            ],
            logging_filter={
                "DefaultBehavior": "DROP",
                "Filters": [
                    {
                        "Behavior": "KEEP",
                        "Conditions": [{"ActionCondition": {"Action": "BLOCK"}}],
                        "Requirement": "MEETS_ANY",
                    }
                ],
            },
        )


def _rules(requests_per_address: int) -> list[wafv2.CfnWebACL.RuleProperty]:
    groups: Mapping[str, Mapping[str, Any]] = load("serving", "managed_rules")["groups"]
    rules = [_managed(0, _REPUTATION, counted=())]
    for name, group in groups.items():
        rules.append(_managed(len(rules), name, counted=group["bodies"]))
        rules.append(_labelled(len(rules), name, [f"{group['labels']}:{label}" for label in group["blocked"]]))
    return [*rules, _rate(len(rules), requests_per_address)]


def _managed(priority: int, name: str, *, counted: Sequence[str]) -> wafv2.CfnWebACL.RuleProperty:
    """A managed group: with rules that count, none of the group does more; each of those lets the others be asked."""
    only_count = wafv2.CfnWebACL.OverrideActionProperty(count={})
    return wafv2.CfnWebACL.RuleProperty(
        name=name,
        priority=priority,
        override_action=only_count if counted else wafv2.CfnWebACL.OverrideActionProperty(none={}),
        statement=wafv2.CfnWebACL.StatementProperty(
            managed_rule_group_statement=wafv2.CfnWebACL.ManagedRuleGroupStatementProperty(
                vendor_name="AWS",
                name=name,
                rule_action_overrides=[
                    wafv2.CfnWebACL.RuleActionOverrideProperty(
                        name=rule,
                        action_to_use=wafv2.CfnWebACL.RuleActionProperty(count=wafv2.CfnWebACL.CountActionProperty()),
                    )
                    for rule in counted
                ]
                or None,
            )
        ),
        visibility_config=_visibility(name),
    )


def _labelled(priority: int, group: str, labels: Sequence[str]) -> wafv2.CfnWebACL.RuleProperty:
    """Refuse what a group has given one of these labels."""
    return wafv2.CfnWebACL.RuleProperty(
        name=f"{group}-Block",
        priority=priority,
        action=wafv2.CfnWebACL.RuleActionProperty(block=wafv2.CfnWebACL.BlockActionProperty()),
        statement=wafv2.CfnWebACL.StatementProperty(
            or_statement=wafv2.CfnWebACL.OrStatementProperty(
                statements=[
                    wafv2.CfnWebACL.StatementProperty(
                        label_match_statement=wafv2.CfnWebACL.LabelMatchStatementProperty(key=label, scope="LABEL")
                    )
                    for label in labels
                ]
            )
        ),
        visibility_config=_visibility(f"{group}-Block"),
    )


def _rate(priority: int, requests: int) -> wafv2.CfnWebACL.RuleProperty:
    return wafv2.CfnWebACL.RuleProperty(
        name="TooManyRequests",
        priority=priority,
        action=wafv2.CfnWebACL.RuleActionProperty(block=wafv2.CfnWebACL.BlockActionProperty()),
        statement=wafv2.CfnWebACL.StatementProperty(
            rate_based_statement=wafv2.CfnWebACL.RateBasedStatementProperty(limit=requests, aggregate_key_type="IP")
        ),
        visibility_config=_visibility("TooManyRequests"),
    )


def _visibility(name: str) -> wafv2.CfnWebACL.VisibilityConfigProperty:
    # sampled requests keep headers for three hours, where anybody with the console sees them
    return wafv2.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )
