"""Whether a topic that the file names for alerts, and its key, let those publish who have something to tell.

Sources: Amazon SNS developer guide, "Managing Amazon SNS encryption keys and costs", its part "Enable compatibility
between event sources from AWS services and encrypted topics" (actions on the key; key policies are told no source of
what EventBridge publishes); AWS re:Post knowledge center, "Why didn't I receive an SNS notification for my CloudWatch
alarm trigger?" (topic policies) and "How do I configure CloudWatch alarms with encrypted SNS topics?" (SNS's own key
lets no service use it, and nobody can change that); EventBridge user guide, "Using resource-based policies for Amazon
EventBridge"; Amazon Managed Service for Prometheus user guide, "Giving Amazon Managed Service for Prometheus permission
to send messages to your Amazon SNS topic"; read 2026-11-23.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.orchestrators import find
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import IDENTITY, Answers, Check
from cdk_trainyard.doctor.file import Said, texts
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.policy import Policies, Policy, PolicyError, PolicyKind, Principal, Request, evaluate, parse_policy

NAME: Final = "alerts"
_OWN_KEY: Final = "alias/aws/sns"
_ACTION: Final = "sns:Publish"
_OF_KEY: Final = ("kms:GenerateDataKey*", "kms:Decrypt")
_JUDGED: Final = {_ACTION, *_OF_KEY}
"""Without which nothing is published."""
_SOURCES: Final = {
    "cloudwatch": "alarm:{name}",
    "events": "rule/{name}",
    "aps": "workspace/ws-00000000-0000-0000-0000-000000000000",
}
"""What publishes for a service, as its ARN ends, where that is known; names are CloudFormation's."""


def _topics(deployment: DeploymentSpec) -> list[Said]:
    """Return the topic of the file, where it is of the deployment's Region: of another it is of no use at all."""
    found = (said for said in texts(deployment, "topic_arn") if said.path[0] == "alerts")
    return [said for said in found if str(said.value).split(":")[3] == deployment.region]


def _publishers(deployment: DeploymentSpec) -> Iterator[str]:
    """Yield the services that publish; Auto Scaling does it with a role of the account, which needs no topic policy."""
    yield "cloudwatch"
    row = find(deployment.orchestrator)
    if row is not None and row.publishes is not None:
        yield row.publishes
    if deployment.monitoring is not None and deployment.monitoring.workspace_arn is None:
        yield "aps"


def _asked(topic: Said) -> Call:
    return Call("sns", "GetTopicAttributes", {"TopicArn": topic.value})


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield a call for the topic, and who asks."""
    yield IDENTITY
    yield from map(_asked, _topics(deployment))


def _key(answers: Answers, topic: Said) -> str:
    """Return the key that encrypts a topic, as SNS names it; empty: none."""
    return str(answers[_asked(topic)].value.get("Attributes", {}).get("KmsMasterKeyId", ""))


def _described(answers: Answers, topic: Said) -> Call:
    return Call("kms", "DescribeKey", {"KeyId": _key(answers, topic)})


def _key_policy(answers: Answers, topic: Said) -> Call:
    """Return the call for its policy, of which KMS takes no alias."""
    arn = answers[_described(answers, topic)].value.get("KeyMetadata", {}).get("Arn", "")
    return Call("kms", "GetKeyPolicy", {"KeyId": arn, "PolicyName": "default"})


def then(deployment: DeploymentSpec, answers: Answers) -> Iterator[Call]:
    """Yield the key of a topic that is encrypted, and then its policy."""
    for topic in _topics(deployment):
        if _key(answers, topic) not in {"", _OWN_KEY}:
            yield _described(answers, topic)
            if answers[_described(answers, topic)].value:
                yield _key_policy(answers, topic)


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether each service that has something to tell may; of a topic that is not there another check tells."""
    for topic in _topics(deployment):
        if answers[_asked(topic)].absent:
            continue
        for service in _publishers(deployment):
            yield _of_topic(deployment, answers, topic, service)
            if _key(answers, topic):
                yield _of_key(deployment, answers, topic, service)


def _of_topic(deployment: DeploymentSpec, answers: Answers, topic: Said, service: str) -> Finding:
    wanted = _Wanted(
        words=f"{service}.amazonaws.com may publish to {topic.value}",
        what="topic",
        service=service,
        actions=(_ACTION, "sns:GetTopicAttributes") if service == "aps" else (_ACTION,),
        resource=str(topic.value),
        keys=_keys(deployment, answers, service),
        at=topic.at(deployment),
    )
    answer = answers[_asked(topic)]
    if refused := answers.refused([answer.call]):
        return unanswered(NAME, wanted.words, refused, wanted.at)
    return wanted.judged(answer.call, str(answer.value.get("Attributes", {}).get("Policy", "")))


def _of_key(deployment: DeploymentSpec, answers: Answers, topic: Said, service: str) -> Finding:
    words = f"{service}.amazonaws.com may use the key of {topic.value}"
    at, asked = topic.at(deployment), _asked(topic)
    if _key(answers, topic) == _OWN_KEY:
        has, remedy = f"it is {_OWN_KEY}, which no service may use", "a key of yours for the topic"
        return Finding(check=NAME, needed=words, has=has, verdict=Verdict.SHORT, call=asked, remedy=remedy, at=at)
    described, policy = _described(answers, topic), _key_policy(answers, topic)
    if answers[described].absent:
        has, remedy = f"there is no key {_key(answers, topic)}", "a key for the topic that is there"
        return Finding(check=NAME, needed=words, has=has, verdict=Verdict.SHORT, call=described, remedy=remedy, at=at)
    if refused := answers.refused([described]) or (answers[policy] if answers[policy].refusal else None):
        return unanswered(NAME, words, refused, at)
    wanted = _Wanted(
        words=words,
        what="key",
        service=service,
        actions=_OF_KEY,
        resource=str(policy.parameters["KeyId"]),
        keys={} if service == "events" else _keys(deployment, answers, service),
        at=at,
    )
    return wanted.judged(policy, str(answers[policy].value.get("Policy", "")))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wanted:
    """What a service must be let do.

    Attributes:
        words: It, in words.
        what: Of what the policy is.
        service: The service, as its principal begins.
        actions: The actions, the first of which are asked about: all but what AMP reads of a topic.
        resource: ARN of what it does it with.
        keys: The condition keys of its request.
        at: Where the file names the topic.
    """

    words: str
    what: str
    service: str
    actions: tuple[str, ...]
    resource: str
    keys: Mapping[str, str]
    at: str

    def judged(self, call: Call, text: str) -> Finding:
        """Return whether a policy lets it.

        Args:
            call: The call that told the policy.
            text: The policy.
        """
        try:
            policy = parse_policy(text, kind=PolicyKind.RESOURCE, name=f"the {self.what}'s policy")
            allowed = all(self._may(action, policy) for action in self.actions if action in _JUDGED)
        except PolicyError as problem:
            return self._found(call, str(problem), Verdict.UNKNOWN)
        if allowed:
            return self._found(call, "its policy lets it", Verdict.OK)
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": f"{self.service}.amazonaws.com"},
            "Action": [*self.actions] if self.actions[1:] else self.actions[0],
            "Resource": self.resource if self.what == "topic" else "*",
        }
        remedy = f"a statement of the {self.what}'s policy: {json.dumps(statement)}"
        return self._found(call, "its policy does not let it", Verdict.SHORT, remedy)

    def _may(self, action: str, policy: Policy) -> bool:
        principal = Principal.service(f"{self.service}.amazonaws.com")
        request = Request(principal=principal, action=action.rstrip("*"), resource=self.resource, keys=self.keys)
        return evaluate(request, Policies(resource=(policy,))).allowed

    def _found(self, call: Call, has: str, verdict: Verdict, remedy: str = "") -> Finding:
        return Finding(check=NAME, needed=self.words, has=has, verdict=verdict, call=call, remedy=remedy, at=self.at)


def _keys(deployment: DeploymentSpec, answers: Answers, service: str) -> dict[str, str]:
    """Return the condition keys of what a service publishes; of its own topics the account alone tells CloudWatch."""
    keys = {"aws:SourceAccount": answers.account}
    if service in _SOURCES:
        place = f"{deployment.region}:{answers.account}:{_SOURCES[service].format(name=deployment.name)}"
        keys["aws:SourceArn"] = f"arn:{answers.partition}:{service}:{place}"
    return keys | ({"AWS:SourceOwner": answers.account} if service == "cloudwatch" else {})


CHECK: Final = Check(
    name=NAME,
    asks=("sts GetCallerIdentity", "sns GetTopicAttributes", "kms DescribeKey", "kms GetKeyPolicy"),
    calls=calls,
    then=then,
    findings=findings,
)
"""The topic of alerts."""
