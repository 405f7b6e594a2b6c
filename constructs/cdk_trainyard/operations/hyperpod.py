"""SageMaker HyperPod clusters.

Sources: botocore's model of SageMaker; Amazon SageMaker developer guide, "Accessing your SageMaker HyperPod cluster
nodes" (targets of sessions) and "SageMaker HyperPod cluster management" (log groups); read 2026-11.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.operations.deployed import Stack
from cdk_trainyard.operations.protocol import Condition, Group, Listing, Node

TYPE: Final = "AWS::SageMaker::Cluster"
_PAGE: Final = 100
"""The most that ListClusterNodes tells at once."""
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
