"""Fleets of EC2 instances: Auto Scaling groups, and the instances that a stack has beside them.

Sources: botocore's models of Auto Scaling and EC2; Amazon EC2 Auto Scaling user guide, "Tag Auto Scaling groups and
instances" (the tag of a group's instances) and "Amazon EC2 Auto Scaling instance lifecycle"; read 2026-11.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import ClassVar, Final

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.identifiers import AUTO_SCALING_GROUP_TAG, ROLE_TAG
from cdk_trainyard.operations import instances, logs, scaling
from cdk_trainyard.operations.action import Action
from cdk_trainyard.operations.deployed import Stack
from cdk_trainyard.operations.instances import Row
from cdk_trainyard.operations.logs import Streams
from cdk_trainyard.operations.protocol import Condition, Group, Listing, Node, OperationError, listed, refuse
from cdk_trainyard.operations.timeline import Event

TYPE: Final = "AWS::AutoScaling::AutoScalingGroup"
_INSTANCE: Final = "AWS::EC2::Instance"
"""The tag by which the fleets of this library tell a worker from the master."""
_LOG_OUTPUT: Final = "LogGroupName"
"""The output of a stack that names the log group of a fleet's nodes."""
_MASTER: Final = "master"
_IN_SERVICE: Final = "InService"


class Fleet:
    """The fleet of a stack.

    Args:
        account: The account.
        stack: The stack.
    """

    kind: ClassVar = "fleet"

    def __init__(self, account: Account, stack: Stack) -> None:
        self._account = account
        self._groups = stack.ids(TYPE)
        self._single = stack.ids(_INSTANCE)
        self._logs = [stack.outputs[name] for name in (_LOG_OUTPUT,) if name in stack.outputs]

    def _ask(self) -> tuple[list[Row], dict[str, Row], list[Answer]]:
        """Return what Auto Scaling says of the groups, what EC2 says of the instances by their ids, and the answers."""
        groups = Call("autoscaling", "DescribeAutoScalingGroups", {"AutoScalingGroupNames": self._groups})
        calls = [groups, instances.tagged(AUTO_SCALING_GROUP_TAG, self._groups)]
        if self._single:
            calls.append(instances.single(self._single))
        said, *described = answers = list(self._account.ask_all(calls).values())
        found = {row["InstanceId"]: row for answer in described for row in instances.described(answer)}
        return said.items("AutoScalingGroups"), found, answers

    def status(self) -> Listing[Condition]:
        """Return how it is, with its groups."""
        groups, found, answers = self._ask()
        names = _names(groups)
        rows = [
            Group(
                name=names[group["AutoScalingGroupName"]],
                wanted=group["DesiredCapacity"],
                present=sum(member["LifecycleState"] == _IN_SERVICE for member in group["Instances"]),
                type=_same(member.get("InstanceType", "") for member in group["Instances"]),
                state=_state(group),
            )
            for group in groups
        ]
        alone = [row for row in found.values() if row["InstanceId"] in self._single]
        if self._single and alone:
            running = sum(instances.state(row) == "running" for row in alone)
            kind = _same(row["InstanceType"] for row in alone)
            rows.append(
                Group(name=_alone(alone[0]), wanted=len(self._single), present=running, type=kind, is_fixed=True)
            )
        condition = Condition(kind=self.kind, name=", ".join(self._groups), state=_worst(rows), groups=tuple(rows))
        return Listing.of([condition] if rows else [], answers)

    def nodes(self) -> Listing[Node]:
        """Return the instances of every group, and the single ones."""
        groups, found, answers = self._ask()
        return Listing.of(self._nodes(groups, found), answers)

    def events(self, since: datetime) -> Listing[Event]:
        """Return the activities of the groups, and failures of the nodes' set-up."""
        calls = [
            *(
                Call("autoscaling", "DescribeScalingActivities", {"AutoScalingGroupName": name})
                for name in self._groups
            ),
            *(logs.call(Streams(group=name), since, logs.FAILURES) for name in self._logs),
        ]
        answers = self._account.ask_all(calls).values()
        activities = (event for answer in answers for event in scaling.events(answer) if event.at >= since)
        failures = (event for answer in answers for event in logs.failures(answer))
        return Listing.of([*activities, *failures], answers)

    def streams(self, node: Node) -> Listing[Streams]:
        """Return where a node logs: its set-up, a stream for each start of it."""
        return Listing(rows=tuple(Streams(group=name, prefix=f"{node.id}/") for name in self._logs))

    def reboot(self, nodes: Sequence[Node]) -> Action:
        """Return what reboots instances."""
        return Action(
            what=f"reboot {listed(nodes)}",
            calls=tuple(instances.reboot(nodes)),
            loses=(JOB,),
            then="a node is back after some minutes, with the same id, address and volumes",
        )

    def replace(self, nodes: Sequence[Node]) -> Action:
        """Return what terminates instances, which their groups replace."""
        refuse(nodes, lambda node: node.is_head, ALONE)
        asked = {"ShouldDecrementDesiredCapacity": False}
        return Action(
            what=f"replace {listed(nodes)}",
            calls=tuple(
                Call("autoscaling", "TerminateInstanceInAutoScalingGroup", {"InstanceId": node.id, **asked})
                for node in nodes
            ),
            loses=(JOB, "everything on their volumes; file systems and buckets stay"),
            then="the group launches others, with other ids and addresses, as soon as there is capacity",
        )

    def update_image(self, groups: Sequence[Group]) -> Action:
        """Return what replaces the instances of groups, group by group, by such of the image that is newest then."""
        known = {name: group for group, name in self._group_names().items()}
        if alone := [group.name for group in groups if group.name not in known]:
            raise OperationError(f"{', '.join(alone)}: {ALONE}")
        return Action(
            what=f"replace every node of {', '.join(group.name for group in groups)} by one of the newest image",
            calls=tuple(
                Call("autoscaling", "StartInstanceRefresh", {"AutoScalingGroupName": known[group.name]})
                for group in groups
            ),
            loses=(JOB, "everything on the volumes of their nodes; file systems and buckets stay"),
            then="Auto Scaling replaces a tenth of a group at once, by nodes of the image that its template then names",
        )

    def _group_names(self) -> dict[str, str]:
        return _names(self._ask()[0])

    def _nodes(self, groups: list[Row], found: dict[str, Row]) -> Iterator[Node]:
        names, seen = _names(groups), set()
        for group in groups:
            for member in group["Instances"]:
                identity = member["InstanceId"]
                seen.add(identity)
                yield instances.node(
                    found.get(identity, {}),
                    names[group["AutoScalingGroupName"]],
                    system=self.kind,
                    id=identity,
                    type=member.get("InstanceType", ""),
                    state=member["LifecycleState"],
                    health="" if member["HealthStatus"] == "Healthy" else member["HealthStatus"].lower(),
                    zone=member["AvailabilityZone"],
                    **({} if identity in found else {"target": identity}),
                )
        for identity, row in found.items():
            if identity not in seen:  # no instance of a group, or the group was not told
                name = names.get(instances.tag(row, AUTO_SCALING_GROUP_TAG)) or _alone(row)
                yield instances.node(row, name, system=self.kind, is_head=name == _MASTER)


JOB: Final = "the job: its processes on the other nodes end with theirs, and go on from the last checkpoint"
ALONE: Final = (
    "no group replaces it, since CloudFormation launched it alone; 'trainyard reboot' reboots it, and another image or "
    "type in the file replaces it when it is deployed"
)


def _names(groups: list[Row]) -> dict[str, str]:
    """Return what each group is called: by the role of its instances, where no other group has the same."""
    roles = {group["AutoScalingGroupName"]: instances.tag(group, ROLE_TAG) for group in groups}
    often = Counter(roles.values())
    return {name: role if role and often[role] == 1 else name for name, role in roles.items()}


def _alone(row: Row) -> str:
    return instances.tag(row, ROLE_TAG) or instances.tag(row, "Name") or str(row["InstanceId"])


def _same(values: Iterator[str]) -> str:
    """Return what all are, or nothing when they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else ""


def _state(group: Row) -> str:
    """Return what keeps a group from having what it wants."""
    suspended = {process["ProcessName"]: process.get("SuspensionReason", "") for process in group["SuspendedProcesses"]}
    if "Launch" in suspended:
        return f"launches are suspended: {suspended['Launch']}"
    return str(group.get("Status", "")).lower()


def _worst(groups: list[Group]) -> str:
    """Return how a fleet is: as the first of its groups that is not as it should be."""
    short = any(group.wanted is not None and group.present < group.wanted for group in groups)
    return next((group.state for group in groups if group.state), "nodes are missing" if short else "in service")
