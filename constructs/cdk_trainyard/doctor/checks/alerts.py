"""Whether a topic that the file names for alerts lets those publish who have something to tell.

Sources: AWS re:Post knowledge center, "Why didn't I receive an SNS notification for my CloudWatch alarm trigger?"
(topic policies) and "How do I configure CloudWatch alarms with encrypted SNS topics?" (SNS's own key lets no service
use it, and nobody can change that); EventBridge user guide, "Using resource-based policies for Amazon EventBridge";
Amazon Managed Service for Prometheus user guide, "Giving Amazon Managed Service for Prometheus permission to send
messages to your Amazon SNS topic"; read 2026-11-23.
"""

import json
from collections.abc import Iterator
from typing import Final

from cdk_trainyard.account import Answer, Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import IDENTITY, Answers, Check
from cdk_trainyard.doctor.file import Said, texts
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.policy import Policies, Policy, PolicyError, PolicyKind, Principal, Request, evaluate, parse_policy

NAME: Final = "alerts"
_OWN_KEY: Final = "alias/aws/sns"
_ACTION: Final = "sns:Publish"
_SOURCES: Final = {
    "cloudwatch": "alarm:{name}",
    "events": "rule/{name}",
    "aps": "workspace/ws-00000000-0000-0000-0000-000000000000",
}
"""What publishes for a service, as its ARN ends; names are CloudFormation's."""


def _topics(deployment: DeploymentSpec) -> list[Said]:
    """Return the topic of the file, where it is of the deployment's Region: of another it is of no use at all."""
    found = (said for said in texts(deployment, "topic_arn") if said.path[0] == "alerts")
    return [said for said in found if str(said.value).split(":")[3] == deployment.region]


def _publishers(deployment: DeploymentSpec) -> Iterator[str]:
    """Yield the services that publish; Auto Scaling does it with a role of the account, which needs no topic policy."""
    yield "cloudwatch"
    if deployment.orchestrator == "hyperpod":
        yield "events"
    if deployment.monitoring is not None and deployment.monitoring.workspace_arn is None:
        yield "aps"


def _asked(topic: Said) -> Call:
    return Call("sns", "GetTopicAttributes", {"TopicArn": topic.value})


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield a call for the topic, and who asks."""
    yield IDENTITY
    yield from map(_asked, _topics(deployment))


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether each service that has something to tell may; of a topic that is not there another check tells."""
    for topic in _topics(deployment):
        if not answers[_asked(topic)].absent:
            yield from (_finding(deployment, answers, topic, service) for service in _publishers(deployment))


def _finding(deployment: DeploymentSpec, answers: Answers, topic: Said, service: str) -> Finding:
    principal, at, answer = f"{service}.amazonaws.com", topic.at(deployment), answers[_asked(topic)]
    words = f"{principal} may publish to {topic.value}"
    if refused := answers.refused([answer.call]):
        return unanswered(NAME, words, refused, at)
    if answer.value.get("Attributes", {}).get("KmsMasterKeyId") == _OWN_KEY:
        has, remedy = f"it is encrypted by {_OWN_KEY}, which no service may use", "a key of yours for the topic"
        return Finding(check=NAME, needed=words, has=has, verdict=Verdict.SHORT, call=answer.call, remedy=remedy, at=at)
    request = Request(
        principal=Principal.service(principal),
        action=_ACTION,
        resource=str(topic.value),
        keys=_keys(deployment, answers, service),
    )
    try:
        allowed = evaluate(request, Policies(resource=(_policy(answer),))).allowed
    except PolicyError as problem:
        return Finding(check=NAME, needed=words, has=str(problem), verdict=Verdict.UNKNOWN, call=answer.call, at=at)
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": principal},
        "Action": [_ACTION, "sns:GetTopicAttributes"] if service == "aps" else _ACTION,
        "Resource": topic.value,
    }
    return Finding(
        check=NAME,
        needed=words,
        has="its policy lets it" if allowed else "its policy does not let it",
        verdict=Verdict.OK if allowed else Verdict.SHORT,
        call=answer.call,
        remedy="" if allowed else f"a statement of the topic's policy: {json.dumps(statement)}",
        at=at,
    )


def _policy(answer: Answer) -> Policy:
    text = answer.value.get("Attributes", {}).get("Policy", "")
    return parse_policy(text, kind=PolicyKind.RESOURCE, name="the topic's policy")


def _keys(deployment: DeploymentSpec, answers: Answers, service: str) -> dict[str, str]:
    """Return the condition keys of what a service publishes; of its own topics the account alone tells CloudWatch."""
    place = f"{deployment.region}:{answers.account}:{_SOURCES[service].format(name=deployment.name)}"
    keys = {"aws:SourceAccount": answers.account, "aws:SourceArn": f"arn:{answers.partition}:{service}:{place}"}
    return keys | ({"AWS:SourceOwner": answers.account} if service == "cloudwatch" else {})


CHECK: Final = Check(
    name=NAME, asks=("sts GetCallerIdentity", "sns GetTopicAttributes"), calls=calls, findings=findings
)
"""The topic of alerts."""
