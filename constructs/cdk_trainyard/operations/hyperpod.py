"""SageMaker HyperPod clusters.

Sources: botocore's model of SageMaker; Amazon SageMaker developer guide, "Accessing your SageMaker HyperPod cluster
nodes" (targets of sessions) and "SageMaker HyperPod cluster management" (log groups); read 2026-11. How long
things take: awslabs/awsome-distributed-ai, hyperpod-mental-model.md, 2026-07.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Final

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.operations import logs
from cdk_trainyard.operations.action import Action
from cdk_trainyard.operations.deployed import Stack
from cdk_trainyard.operations.logs import Streams
from cdk_trainyard.operations.protocol import JOBS, Condition, Group, Listing, Node, listed, refuse
from cdk_trainyard.operations.timeline import Event

TYPE: Final = "AWS::SageMaker::Cluster"
_PAGE: Final = 100
"""The most that ListClusterNodes tells at once."""
_BATCH: Final = 25
"""The most that a batch operation takes."""
_SCRIPTS: Final = "LifecycleConfig/"
_LOGS: Final = (_SCRIPTS, "SagemakerHealthMonitoringAgent/")
"""How the names of log streams begin; group and instance id follow."""
_BAD: Final = frozenset({"Warn", "Error"})
"""The levels of events of which `DescribeClusterEvent` says more."""
_HOST: Final = re.compile(r"ip-(\d+)-(\d+)-(\d+)-(\d+)")
"""EC2's names of hosts, "Amazon EC2 instance hostnames and domains" of its user guide; Slurm's nodes have the same."""


class HyperPod:
    """The HyperPod cluster of a stack.

    Args:
        account: The account.
        stack: The stack.
    """

    kind: ClassVar = "HyperPod cluster"

    def __init__(self, account: Account, stack: Stack) -> None:
        self._account = account
        self._arn = stack.ids(TYPE)[0]

    @property
    def _described(self) -> Call:
        return Call("sagemaker", "DescribeCluster", {"ClusterName": self._arn})

    @property
    def _listed(self) -> Call:
        asked = {"ClusterName": self._arn, "IncludeNodeLogicalIds": True, "MaxResults": _PAGE}
        return Call("sagemaker", "ListClusterNodes", asked)

    def status(self) -> Listing[Condition]:
        """Return how it is, with its groups."""
        answer = self._account.ask(self._described)
        if answer.absent:
            return Listing(rows=(Condition(kind=self.kind, name=self._arn, state=GONE),))
        if answer.refusal is not None:
            return Listing(refused=(answer,))
        condition = Condition(
            kind=self.kind,
            name=answer.value["ClusterName"],
            state=answer.value["ClusterStatus"],
            failure=answer.value.get("FailureMessage", ""),
            groups=tuple(map(_group, _groups(answer))),
        )
        return Listing(rows=(condition,))

    def nodes(self) -> Listing[Node]:
        """Return its nodes."""
        answers = self._account.ask_all([self._described, self._listed])
        cluster, listed = answers.values()
        roles = {group["InstanceGroupName"]: _role(group) for group in _groups(cluster)}
        rows = (self._node(row, roles) for row in listed.items("ClusterNodeSummaries"))
        return Listing.of(rows, answers.values())

    def events(self, since: datetime) -> Listing[Event]:
        """Return the cluster's events, which Continuous provisioning alone has, and failures of lifecycle scripts."""
        cluster = self._account.ask(self._described)
        if cluster.refusal is not None:
            return Listing.of((), [cluster])
        answers = [*self._cluster_events(cluster, since)]
        scripts = Streams(group=self._log_group(cluster), prefix=_SCRIPTS)
        logged = self._account.ask(logs.call(scripts, since, logs.FAILURES))
        rows = [*(event for answer in answers for event in _events(answer)), *logs.failures(logged)]
        return Listing.of(rows, [*answers, *(() if logged.absent else (logged,))])

    def _cluster_events(self, cluster: Answer, since: datetime) -> Iterator[Answer]:
        """Yield events: first all of them without what failed, then those that failed, whole."""
        if cluster.value.get("NodeProvisioningMode") != "Continuous":
            return
        name = {"ClusterName": self._arn}
        listed = Call("sagemaker", "ListClusterEvents", {**name, "EventTimeAfter": since, "MaxResults": _PAGE})
        answer = self._account.ask(listed)
        bad = [row["EventId"] for row in answer.items("Events") if row.get("EventLevel") in _BAD]
        good = [row for row in answer.items("Events") if row["EventId"] not in bad]
        yield replace(answer, value={"Events": good})
        calls = (Call("sagemaker", "DescribeClusterEvent", {**name, "EventId": each}) for each in bad)
        yield from self._account.ask_all(calls).values()

    def _log_group(self, cluster: Answer) -> str:
        return f"/aws/sagemaker/Clusters/{cluster.value['ClusterName']}/{self._arn.rpartition('/')[2]}"

    def streams(self, node: Node) -> Listing[Streams]:
        """Return where a node logs: its lifecycle scripts, and the agent that watches its health."""
        cluster = self._account.ask(self._described)
        if cluster.refusal is not None:
            return Listing.of((), [cluster])
        group = self._log_group(cluster)
        return Listing(rows=tuple(Streams(group=group, prefix=f"{kind}{node.group}/{node.id}") for kind in _LOGS))

    def reboot(self, nodes: Sequence[Node]) -> Action:
        """Return what reboots nodes, 25 at once."""
        refuse(nodes, _has_not_come, "it has no instance yet, and nothing to reboot")
        return Action(
            what=f"reboot {listed(nodes)}",
            calls=self._batches("BatchRebootClusterNodes", nodes),
            loses=(JOBS, *(("Slurm, until the controller is back: nobody can submit jobs",) if _heads(nodes) else ())),
            then="a node is back after one to three minutes, with the same id, address and volumes",
        )

    def replace(self, nodes: Sequence[Node]) -> Action:
        """Return what replaces nodes, 25 at once; HyperPod replaces no controller."""
        refuse(nodes, lambda node: node.is_head, "HyperPod replaces no Slurm controller; 'trainyard reboot' reboots it")
        return Action(
            what=f"replace {listed(nodes)}",
            calls=self._batches("BatchReplaceClusterNodes", nodes),
            loses=(JOBS, "everything on their volumes, root volumes and others; file systems and buckets stay"),
            then="other instances take their places, in 20 to 30 minutes where there is capacity",
        )

    def update_image(self, groups: Sequence[Group]) -> Action:
        """Return what updates the software of groups to the newest image of HyperPod."""
        names = [group.name for group in groups]
        parameters = {"ClusterName": self._arn, "InstanceGroups": [{"InstanceGroupName": name} for name in names]}
        return Action(
            what=f"update the image of {', '.join(names)}",
            calls=(Call("sagemaker", "UpdateClusterSoftware", parameters),),
            loses=(
                "the jobs that run on their nodes",
                "everything on the root volumes of their nodes; file systems and buckets stay",
            ),
            then="HyperPod updates node after node, for half an hour to an hour, and goes back where nodes fail",
        )

    def _batches(self, operation: str, nodes: Sequence[Node]) -> tuple[Call, ...]:
        come = [node.id for node in nodes if not _has_not_come(node)]
        calls = Call("sagemaker", operation, {"ClusterName": self._arn, "NodeIds": come}).split("NodeIds", _BATCH)
        logical = [node.id for node in nodes if _has_not_come(node)]
        waiting = Call("sagemaker", operation, {"ClusterName": self._arn, "NodeLogicalIds": logical})
        return (*calls, *waiting.split("NodeLogicalIds", _BATCH))

    def _node(self, row: Mapping[str, Any], roles: Mapping[str, str]) -> Node:
        group, instance = row["InstanceGroupName"], row.get("InstanceId", "")
        role = roles.get(group, "")
        host = row.get("PrivateDnsHostname", "").partition(".")[0]
        address = _HOST.fullmatch(host)
        status = row["InstanceStatus"]
        return Node(
            id=instance or row.get("NodeLogicalId", ""),
            group=group,
            type=row["InstanceType"].removeprefix("ml."),
            state=status["Status"],
            health=status.get("Message") or _IMAGE.get(row.get("ImageVersionStatus", ""), ""),
            address=".".join(address.groups()) if address else "",
            slurm_name=host if role in {"", "Compute"} else "",
            since=row.get("LaunchTime"),
            target=f"sagemaker-cluster:{self._arn.rpartition('/')[2]}_{group}-{instance}" if instance else "",
            system=self.kind,
            is_head=role == "Controller",
        )


GONE: Final = "deleted, and not by CloudFormation"
"""The state of what a stack still holds."""
_IMAGE: Final = {
    "UpdateAvailable": "an image is newer",
    "SecurityUpdateRequired": "the image needs a security update",
    "EndOfLife": "the image is at its end of life",
}
"""What ``ImageVersionStatus`` says of an image that is not the newest."""


def _events(answer: Answer) -> Iterator[Event]:
    rows = answer.items("Events") or ([answer.value["EventDetails"]] if "EventDetails" in answer.value else [])
    for row in rows:
        metadata = row.get("EventDetails", {}).get("EventMetadata", {})
        why = next((each["FailureMessage"] for each in metadata.values() if each.get("FailureMessage")), "")
        text = row.get("Description", "")
        yield Event(
            at=row["EventTime"],
            source="HyperPod",
            subject=row.get("InstanceId") or row.get("InstanceGroupName") or row["ClusterName"],
            text=f"{text}: {why}" if why else text,
            failed=row.get("EventLevel") == "Error",
        )


def _has_not_come(node: Node) -> bool:
    """Whether a node has a logical id only."""
    return not node.id.startswith("i-")


def _heads(nodes: Sequence[Node]) -> bool:
    return any(node.is_head for node in nodes)


def _groups(cluster: Answer) -> Iterator[Mapping[str, Any]]:
    yield from cluster.items("InstanceGroups")
    yield from cluster.items("RestrictedInstanceGroups")


def _role(group: Mapping[str, Any]) -> str:
    """Return the role in Slurm that the API was told; scripts that configure Slurm themselves tell it none."""
    return str(group.get("SlurmConfig", {}).get("NodeType", ""))


def _group(group: Mapping[str, Any]) -> Group:
    doing = [group.get("Status", ""), group.get("SoftwareUpdateStatus", "")]
    return Group(
        name=group["InstanceGroupName"],
        wanted=group["TargetCount"],
        present=group["CurrentCount"],
        type=group.get("InstanceType", "").removeprefix("ml."),
        state=", ".join(each for each in doing if each not in _NOTHING_DONE),
    )


_NOTHING_DONE: Final = {"", "InService", "Succeeded"}
