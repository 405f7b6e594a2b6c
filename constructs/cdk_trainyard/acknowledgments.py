"""Reviewed exceptions: a finding of a review tool that is right in general and wrong at one construct.

An acknowledgment is exact (one rule), local (one resource) and reasoned. One that matches no finding is an error of
whoever wrote it: ``cdk_trainyard.review`` and the project's tests refuse it.
"""

import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import jsii
from aws_cdk import Acknowledgment, CfnResource, Stack, Validations
from constructs import Construct, IConstruct, IValidation

_CFN_LINT: Final = re.compile(r"[EWI][0-9]{4}")
_LIBRARY: Final = __name__.partition(".")[0]


def acknowledge(resource: IConstruct, reasons: Mapping[str, str]) -> None:
    """Acknowledge findings on one resource, several in one call: CDK answers each from another process.

    Args:
        resource: The resource that the findings name; for cfn-lint and checkov an L1 one, whose ``Metadata`` they read.
        reasons: Finding, as its tool prints it (``AwsSolutions-IAM5[Resource::*]``, ``NIST.800.53.R5-LambdaDLQ``,
            ``TemplateValidation::W3010``, ``W3010``, ``CKV_AWS_18``) → why it does not hold here, for a reviewer.

    Raises:
        ValueError: A finding has no reason.
    """
    for finding, reason in reasons.items():
        if not reason.strip():
            raise ValueError(f"an acknowledgment of {finding} needs a reason")
    checkov = {finding: reason for finding, reason in reasons.items() if finding.startswith("CKV")}
    cfn_lint = {finding: reason for finding, reason in reasons.items() if _CFN_LINT.fullmatch(finding)}
    told = [
        Acknowledgment(id=_id_of_cdk(finding), reason=reason)
        for finding, reason in reasons.items()
        if finding not in checkov and finding not in cfn_lint
    ]
    if told:
        Validations.of(resource).acknowledge(*told)
    if checkov:
        skips = [{"id": check, "comment": reason} for check, reason in checkov.items()]
        _add_metadata(resource, "checkov", lambda known: {"skip": [*known.get("skip", []), *skips]})
    if cfn_lint:
        _add_metadata(resource, "cfn-lint", lambda known: {"config": _with_checks(known.get("config", {}), cfn_lint)})


def acknowledge_while(resource: IConstruct, holds: Callable[[], bool], *, finding: str, reason: str) -> None:
    """Acknowledge one finding of cdk-nag on one resource that later calls may do away with.

    Args:
        resource: The L1 resource that the finding names.
        holds: Whether there is still a finding; asked when the app is synthesized.
        finding: The finding.
        reason: Why it does not hold here, for a reviewer.
    """
    rules = {_id_of_cdk(finding): reason}
    resource.node.add_validation(_Late(resource, lambda: rules if holds() else {}))


class Wildcards:
    """The wildcards in one IAM policy that are acknowledged, each by its exact value (cdk-nag's AwsSolutions-IAM5).

    Resource ARNs are usually Tokens whose text is settled only when the app is synthesized (a reference across stacks
    becomes an import then), so the ids are worked out at that moment.

    Args:
        policy: The L1 policy or role whose document holds the wildcards.
    """

    def __init__(self, policy: Construct) -> None:
        self._policy, self._reasons = policy, dict[str, str]()
        policy.node.add_validation(_Late(policy, self._rules))

    def acknowledge(self, reason: str, *resources: str) -> None:
        """Acknowledge wildcards; what was acknowledged before keeps its reason.

        Args:
            reason: Why nothing narrower will do.
            resources: The ``Resource`` values with a wildcard, as they were given to the statement.
        """
        for arn in resources:
            self._reasons.setdefault(arn, reason)

    def _rules(self) -> dict[str, str]:
        arns = map(flatten_reference, Stack.of(self._policy).resolve(list(self._reasons)))
        rules = (_id_of_cdk(f"AwsSolutions-IAM5[Resource::{arn}]") for arn in arns)
        return dict(zip(rules, self._reasons.values(), strict=True))


def for_cdk_nag_2(scope: IConstruct) -> None:
    """Tell cdk-nag 2 which of its findings are acknowledged below a construct; cdk-nag 3 needs no telling.

    It reads them in the resources' ``Metadata``. Call it when everything is built, before the app is synthesized.

    Args:
        scope: The construct; mostly the app.
    """
    for resource in scope.node.find_all():
        if not isinstance(resource, CfnResource):
            continue
        resource.node.validate()  # what _Late has to say
        told = {
            rule: reason
            for each in resource.node.scopes
            for entry in each.node.metadata
            if entry.type == _key()
            for rule, reason in entry.data.items()
        }
        if told:
            suppressed = [_suppression(rule, reason) for rule, reason in told.items()]
            resource.add_metadata("cdk_nag", {"rules_to_suppress": suppressed})


def aws_policy_reasons(reasons: Mapping[str, str]) -> dict[str, str]:
    """Return why a role has policies of AWS's own, as findings (cdk-nag's AwsSolutions-IAM4).

    Args:
        reasons: Name of the policy → why the role has it.
    """
    arn = "arn:<AWS::Partition>:iam::aws:policy"
    return {f"AwsSolutions-IAM4[Policy::{arn}/{name}]": reason for name, reason in reasons.items()}


def main_resource(construct: IConstruct) -> CfnResource:
    """Return the L1 resource that a construct is about: acknowledgments belong there.

    Raises:
        TypeError: It has none, as an imported one.
    """
    resource = construct.node.default_child
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{construct.node.path} has no main resource")
    return resource


def made_here(construct: IConstruct) -> bool:
    """Return whether a construct is a part of one of this library's: what is a user's own, they explain themselves.

    Args:
        construct: The construct.
    """
    owner = construct.node.scope
    return any(base.__module__.partition(".")[0] == _LIBRARY for base in type(owner).__mro__)


def flatten_reference(value: Any) -> str:
    """Write a resolved template value the way cdk-nag does in its ids: ``<Logical.Arn>/*``, or else as JSON."""
    match value:
        case {"Fn::Join": [str(delimiter), list(items)]}:
            return delimiter.join(flatten_reference(item) for item in items)
        case {"Fn::GetAtt": [logical_id, attribute]}:
            return f"<{flatten_reference(logical_id)}.{flatten_reference(attribute)}>"
        case {"Ref": logical_id}:
            return f"<{logical_id}>"
        case {"Fn::ImportValue": inner} | {"Fn::Sub": inner}:
            return flatten_reference(inner)
        case str():
            return value.replace("${", "<").replace("}", ">")
        case _:  # as JavaScript's JSON.stringify
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Former names, which work for two more minor versions (docs/stability.md).
AWS_SOLUTIONS, NIST_800_53_R5 = "AwsSolutions", "NIST.800.53.R5"


def acknowledge_nag(resource: IConstruct, *, pack: str, rule: str, reason: str) -> None:
    """Acknowledge one finding of cdk-nag. Deprecated: ``acknowledge(resource, {"PACK-RULE": reason})``."""
    _acknowledge_one(resource, f"{pack}-{rule}", reason)


def acknowledge_checkov(resource: CfnResource, *, check: str, reason: str) -> None:
    """Acknowledge one finding of checkov. Deprecated: ``acknowledge(resource, {check: reason})``."""
    _acknowledge_one(resource, check, reason)


def acknowledge_cfn_lint(resource: CfnResource, *, check: str, reason: str) -> None:
    """Acknowledge one finding of cfn-lint. Deprecated: ``acknowledge(resource, {check: reason})``."""
    _acknowledge_one(resource, check, reason)


def acknowledge_wildcards(
    policy: Construct, *, reason: str, resources: Sequence[str] = (), actions: Sequence[str] = ()
) -> None:
    """Acknowledge wildcards in one IAM policy. Deprecated: ``Wildcards(policy).acknowledge(reason, *resources)``."""
    _deprecated("Wildcards(policy).acknowledge(reason, *resources)", stacklevel=3)
    Wildcards(policy).acknowledge(reason, *resources)
    acknowledge(policy, {f"AwsSolutions-IAM5[Action::{action}]": reason for action in actions})


def _acknowledge_one(resource: IConstruct, finding: str, reason: str) -> None:
    _deprecated(f"acknowledge(resource, {{{finding!r}: reason}})", stacklevel=4)
    acknowledge(resource, {finding: reason})


def _deprecated(instead: str, *, stacklevel: int) -> None:
    warnings.warn(f"write {instead}", DeprecationWarning, stacklevel=stacklevel)


@cache
def _key() -> str:
    return Validations.ACKNOWLEDGED_RULES_METADATA_KEY


def _suppression(rule: str, reason: str) -> dict[str, Any]:
    """Return an acknowledgment in the words of cdk-nag 2; a finding of a rule stands in brackets behind it."""
    name, _, finding = rule.partition("::")[2].partition("[")
    return {"id": name, "reason": reason} | ({"applies_to": [finding.removesuffix("]")]} if finding else {})


def _id_of_cdk(finding: str) -> str:
    """Return what CDK calls a finding: with the pack or the plugin that it is of."""
    return finding if finding.startswith("TemplateValidation::") else f"{finding.partition('-')[0]}::{finding}"


def _add_metadata(resource: IConstruct, key: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{resource.node.path} is no L1 resource, and has no metadata")
    resource.add_metadata(key, changed(dict(resource.get_metadata(key) or {})))


def _with_checks(config: Mapping[str, Any], checks: Mapping[str, str]) -> dict[str, Any]:
    """Return cfn-lint's configuration of a resource with more checks ignored."""
    return {
        "ignore_checks": list(dict.fromkeys([*config.get("ignore_checks", []), *checks])),
        "reasons": {**config.get("reasons", {}), **checks},
    }


@jsii.implements(IValidation)
class _Late:
    """Acknowledges when CDK validates the tree: after references have been settled, before cdk-nag looks."""

    def __init__(self, resource: IConstruct, rules: Callable[[], Mapping[str, str]]) -> None:
        self._resource, self._rules = resource, rules

    def validate(self) -> list[str]:
        # what Validations.acknowledge writes, without the stack trace, which from here names a temporary directory
        if rules := self._rules():
            self._resource.node.add_metadata(_key(), rules, stack_trace=False)
        return []
