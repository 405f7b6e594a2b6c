"""What has happened to a deployment: events of CloudFormation, of what runs on nodes, and their provisioning logs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.operations import logs
from cdk_trainyard.operations.deployed import Deployed
from cdk_trainyard.operations.logs import Streams
from cdk_trainyard.operations.protocol import Listing, System
from cdk_trainyard.operations.timeline import Event

_CLUSTER: Final = "AWS::SageMaker::Cluster"
_STACK: Final = "AWS::CloudFormation::Stack"


def events_of(account: Account, deployed: Deployed, systems: Sequence[System], since: datetime) -> Listing[Event]:
    """Return what has happened to a deployment.

    Args:
        account: The account.
        deployed: Its stacks.
        systems: What runs on nodes. A cluster that CloudFormation has rolled back is none of them; its log is read.
        since: When the oldest event was.
    """
    answers = list(account.ask_all(_asked(stack.id) for stack in deployed.stacks.values()).values())
    answers += account.ask_all(_asked(name) for name in _inner(answers)).values()
    gone = _clusters(answers) - set(deployed.ids(_CLUSTER))
    listings = [system.events(since) for system in systems]
    lost = _logs_of_gone(account, gone, since)
    rows = (event for answer in answers for event in _events(answer) if event.at >= since)
    return Listing.joined([Listing.of(rows, [each for each in answers if not each.absent]), *listings, lost])


def _asked(stack: str) -> Call:
    return Call("cloudformation", "DescribeStackEvents", {"StackName": stack})


def _inner(answers: Iterable[Answer]) -> Iterator[str]:
    """Yield the stacks that stacks made: nested ones, and those of ParallelCluster, which have its cluster's name."""
    for row in _rows(answers):
        inside = row["ResourceType"] == _STACK and row.get("PhysicalResourceId", "") != row["StackId"]
        if (inside or row["ResourceType"] == PARALLELCLUSTER_TYPE) and row.get("PhysicalResourceId"):
            yield row["PhysicalResourceId"]


def _rows(answers: Iterable[Answer]) -> Iterator[Mapping[str, Any]]:
    for answer in answers:
        yield from answer.items("StackEvents")


def _clusters(answers: Iterable[Answer]) -> set[str]:
    """Return the ARNs of the clusters that stacks have had."""
    named = (row.get("PhysicalResourceId", "") for row in _rows(answers) if row["ResourceType"] == _CLUSTER)
    return {name for name in named if name.startswith("arn:")}


def _events(answer: Answer) -> Iterator[Event]:
    for row in answer.items("StackEvents"):
        status, reason = row["ResourceStatus"], row.get("ResourceStatusReason", "")
        is_stack = row.get("PhysicalResourceId") == row["StackId"]
        yield Event(
            at=row["Timestamp"],
            source="CloudFormation",
            subject=row["StackName"] if is_stack else f"{row['StackName']} {row['LogicalResourceId']}",
            text=f"{status}: {reason}" if reason else status,
            failed=status.endswith("_FAILED"),
            is_step=not is_stack and not status.endswith("_FAILED"),
        )


def _logs_of_gone(account: Account, clusters: Iterable[str], since: datetime) -> Listing[Event]:
    """Return what failed in the logs of clusters that are gone: their log groups stay, and bear their ids."""
    ids = [cluster.rpartition("/")[2] for cluster in clusters]
    found = account.ask_all(Call("logs", "DescribeLogGroups", {"logGroupNamePattern": each}) for each in ids).values()
    groups = [row["logGroupName"] for answer in found for row in answer.items("logGroups")]
    read = account.ask_all(logs.call(Streams(group=group), since, logs.FAILURES) for group in groups).values()
    rows = (event for answer in read for event in logs.failures(answer))
    return Listing.of(rows, [*found, *read])
