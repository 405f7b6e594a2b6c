"""Clusters of ParallelCluster: a stack of the cluster's name, whose instances carry its tags.

Sources: tags, the table of Slurm's names and the log group: ``pcluster/constants.py`` of aws-parallelcluster 3.16,
``slurm_plugin/instance_manager.py`` of aws-parallelcluster-node 3; what becomes of an instance that is terminated: AWS
ParallelCluster user guide, "AWS ParallelCluster processes" (clustermgtd); log streams: "Integration with Amazon
CloudWatch Logs"; read 2026-11.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Final

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.identifiers import PARALLELCLUSTER_TAG, PARALLELCLUSTER_TYPE
from cdk_trainyard.operations import instances, logs
from cdk_trainyard.operations.action import Action
from cdk_trainyard.operations.deployed import Stack
from cdk_trainyard.operations.instances import Row
from cdk_trainyard.operations.logs import Streams
from cdk_trainyard.operations.protocol import (
    JOBS,
    Condition,
    Group,
    Listing,
    Node,
    OperationError,
    listed,
    refuse,
)
from cdk_trainyard.operations.timeline import Event

_KIND: Final = "parallelcluster:node-type"
_QUEUE: Final = "parallelcluster:queue-name"
_POOL: Final = "parallelcluster:login-nodes-pool-name"
_HEAD: Final = "HeadNode"


class ParallelCluster:
    """The cluster of a stack.

    Args:
        account: The account.
        stack: The stack.
    """

    kind: ClassVar = "ParallelCluster"

    def __init__(self, account: Account, stack: Stack) -> None:
        self._account = account
        self._name = stack.ids(PARALLELCLUSTER_TYPE)[0]

    @property
    def _described(self) -> Call:
        return Call("cloudformation", "DescribeStacks", {"StackName": self._name})

    def status(self) -> Listing[Condition]:
        """Return how its own stack is, with a group for the head node, for each queue and each pool of login nodes."""
        instance_call = instances.tagged(PARALLELCLUSTER_TAG, [self._name])
        stack, there = self._account.ask_all([self._described, instance_call]).values()
        running = [row for row in instances.described(there) if instances.state(row) == "running"]
        present = Counter(map(_group, running))
        kinds = {name: {row["InstanceType"] for row in running if _group(row) == name} for name in present}
        groups = tuple(
            Group(
                name=name,
                wanted=1 if name == _HEAD else None,
                present=count,
                type=next(iter(kinds[name])) if len(kinds[name]) == 1 else "",
            )
            for name, count in sorted(present.items(), key=lambda pair: (pair[0] != _HEAD, pair[0]))
        )
        rows = [
            Condition(
                kind=self.kind,
                name=self._name,
                state=found["StackStatus"],
                failure=found.get("StackStatusReason", ""),
                groups=groups,
            )
            for found in stack.items("Stacks")
        ]
        return Listing.of(rows, [stack, there])

    def nodes(self) -> Listing[Node]:
        """Return the instances that there are: of a queue, those that Slurm has asked for."""
        table = Call("dynamodb", "Scan", {"TableName": f"parallelcluster-slurm-{self._name}"})
        there, slurm = self._account.ask_all([instances.tagged(PARALLELCLUSTER_TAG, [self._name]), table]).values()
        names = dict(map(_slurm_name, slurm.items("Items")))
        rows = (
            instances.node(
                row,
                _group(row),
                slurm_name=names.get(row["InstanceId"], ""),
                system=self.kind,
                is_head=instances.tag(row, _KIND) == _HEAD,
            )
            for row in instances.described(there)
        )
        return Listing.of(sorted(rows, key=lambda node: (not node.is_head, node.group)), _answered(there, slurm))

    def events(self, since: datetime) -> Listing[Event]:
        """Return what failed in the logs of its nodes; its stack's events are CloudFormation's."""
        group = self._log_group()
        if not isinstance(group, str):
            return Listing.of((), [group])
        said = self._account.ask(logs.call(Streams(group=group), since, logs.FAILURES)) if group else None
        return Listing.of(logs.failures(said), [said]) if said else Listing()

    def streams(self, node: Node) -> Listing[Streams]:
        """Return where a node logs: streams that begin with its host's name and its id."""
        group = self._log_group()
        if not isinstance(group, str):
            return Listing.of((), [group])
        host = f"ip-{node.address.replace('.', '-')}"
        return Listing(rows=(Streams(group=group, prefix=f"{host}.{node.id}."),) if group else ())

    def _log_group(self) -> str | Answer:
        """Return the cluster's newest log group, whose name ends with when it was made; empty: there is none."""
        prefix = f"/aws/parallelcluster/{self._name}-"
        answer = self._account.ask(Call("logs", "DescribeLogGroups", {"logGroupNamePrefix": prefix}))
        if answer.refusal is not None:
            return answer
        return max((str(row["logGroupName"]) for row in answer.items("logGroups")), default="")

    def reboot(self, nodes: Sequence[Node]) -> Action:
        """Return what reboots the head node; compute nodes Slurm reboots."""
        refuse(
            nodes,
            lambda node: not node.is_head,
            "ParallelCluster takes a node that does not answer for broken, and replaces it: on the head node "
            "'scontrol reboot ASAP nextstate=RESUME NAME' reboots one without that",
        )
        return Action(
            what=f"reboot {listed(nodes)}",
            calls=tuple(instances.reboot(nodes)),
            loses=("Slurm and the volumes that the head node shares, until it is back",),
            then="a node is back after some minutes, with the same id, address and volumes",
        )

    def replace(self, nodes: Sequence[Node]) -> Action:
        """Return what terminates nodes: clustermgtd replaces those of queues, their group those to log in to."""
        refuse(
            nodes,
            lambda node: node.is_head,
            "ParallelCluster has no replacement of a head node: 'trainyard reboot' reboots it; where it is lost, the "
            "cluster is destroyed and deployed again",
        )
        call = Call("ec2", "TerminateInstances", {"InstanceIds": [node.id for node in nodes]})
        return Action(
            what=f"replace {listed(nodes)}",
            calls=(call,),
            loses=(JOBS, "everything on their volumes; what they share stays"),
            then="ParallelCluster launches others for static nodes at once, for dynamic ones when a job asks for them",
        )

    def update_image(self, groups: Sequence[Group]) -> Action:
        """Refuse: ParallelCluster's configuration names the image."""
        del groups
        raise OperationError(
            "ParallelCluster has no newer image of its own: an image belongs to its version. Another image, or another "
            "version, in the file comes with 'trainyard deploy'"
        )


def _group(row: Row) -> str:
    """Return what a node belongs to: its queue, its pool of login nodes, or itself as the head node."""
    return instances.tag(row, _QUEUE) or instances.tag(row, _POOL) or instances.tag(row, _KIND)


def _slurm_name(item: Row) -> tuple[str, str]:
    """Return instance and name of an item; those of instances that are gone stay in the table."""
    return str(item.get("InstanceId", {}).get("S", "")), str(item.get("Id", {}).get("S", ""))


def _answered(*answers: Answer) -> list[Answer]:
    """Leave out what is not there: the table comes with the first node of a queue."""
    return [answer for answer in answers if not answer.absent]
