"""Services of ECS on hosts of their own: tasks, and the instances on which they run.

Sources: botocore's models of ECS and Auto Scaling; Amazon ECS developer guide, "Amazon ECS managed instance draining"
and "Viewing Amazon ECS service event messages"; names of log streams of the awslogs driver, "Send Amazon ECS logs to
CloudWatch"; read 2026-11.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Final

from cdk_trainyard.account import Account, Answer, Call
from cdk_trainyard.operations import instances, scaling
from cdk_trainyard.operations.action import Action
from cdk_trainyard.operations.deployed import Stack
from cdk_trainyard.operations.fleet import Fleet
from cdk_trainyard.operations.logs import Streams
from cdk_trainyard.operations.protocol import Condition, Group, Listing, Node, OperationError, listed
from cdk_trainyard.operations.timeline import Event

TYPE: Final = "AWS::ECS::Service"
_HOSTS: Final = "hosts"
_MOST_INSTANCES: Final = 100
_MOST_SERVICES: Final = 10
"""The most that DescribeContainerInstances and DescribeServices take (botocore's model of ECS)."""
_TROUBLE: Final = re.compile(r"unable to|failed|unhealthy|error|stopped", re.IGNORECASE)
"""Words of service events that are no success: "service event messages", as above."""
_REQUESTS: Final = "the requests that its tasks answer, unless other hosts have tasks of the same service"


class Service:
    """The services of a stack, with their hosts.

    Args:
        account: The account.
        stack: The stack.
    """

    kind: ClassVar = "service"

    def __init__(self, account: Account, stack: Stack) -> None:
        self._account = account
        self._services = stack.ids(TYPE)
        self._cluster = self._services[0].split("/")[1]
        self._hosts = Fleet(account, stack)
        self._groups = stack.ids("AWS::AutoScaling::AutoScalingGroup")
        self._stack = stack

    def _described(self) -> list[Call]:
        call = Call("ecs", "DescribeServices", {"cluster": self._cluster, "services": self._services})
        return call.split("services", _MOST_SERVICES)

    def status(self) -> Listing[Condition]:
        """Return how each service is, its tasks as its group; then the hosts."""
        answers = self._account.ask_all(self._described()).values()
        rows = [
            Condition(
                kind=self.kind,
                name=row["serviceName"],
                state=row["status"],
                failure=_failure(row),
                groups=(Group(name="tasks", wanted=row["desiredCount"], present=row["runningCount"], is_fixed=True),),
            )
            for answer in answers
            for row in answer.items("services")
        ]
        hosts = self._hosts.status()
        named = tuple(
            replace(row, kind="hosts", groups=tuple(replace(group, name=_HOSTS) for group in row.groups))
            for row in hosts.rows
        )
        return Listing(rows=(*rows, *named), refused=(*Listing.of((), answers).refused, *hosts.refused))

    def nodes(self) -> Listing[Node]:
        """Return the hosts; their health is what ECS knows of them."""
        asked = Call("ecs", "ListContainerInstances", {"cluster": self._cluster})
        found = self._account.ask(asked)
        hosts = self._hosts.nodes()
        call = Call(
            "ecs",
            "DescribeContainerInstances",
            {"cluster": self._cluster, "containerInstances": found.items("containerInstanceArns")},
        )
        answers = self._account.ask_all(call.split("containerInstances", _MOST_INSTANCES)).values()
        known = {row["ec2InstanceId"]: row for answer in answers for row in answer.items("containerInstances")}
        told = found.refusal is None and all(answer.refusal is None for answer in answers)
        health = {node.id: _health(known.get(node.id)) if told else "" for node in hosts.rows}
        rows = tuple(
            replace(node, group=_HOSTS, system=self.kind, health=node.health or health[node.id]) for node in hosts.rows
        )
        return Listing(rows=rows, refused=(*hosts.refused, *Listing.of((), [found, *answers]).refused))

    def events(self, since: datetime) -> Listing[Event]:
        """Return events of the services, and activities of the hosts' group."""
        answers = self._account.ask_all([*self._described(), *map(scaling.activities, self._groups)]).values()
        rows = [event for answer in answers for event in (*_events(answer), *scaling.events(answer))]
        return Listing.of((event for event in rows if event.at >= since), answers)

    def streams(self, node: Node) -> Listing[Streams]:
        """Return where the tasks of the services log: all of them, since a stream bears its task's name, no host's."""
        del node
        made = (row for row in self._stack.resources if row.type == "AWS::Logs::LogGroup" and row.id)
        return Listing(rows=tuple(Streams(group=row.id) for row in made if row.logical_id.startswith(_LOGS)))

    def reboot(self, nodes: Sequence[Node]) -> Action:
        """Return what reboots hosts."""
        return Action(
            what=f"reboot {listed(nodes)}",
            calls=tuple(instances.reboot(nodes)),
            loses=(_REQUESTS,),
            then="ECS starts the tasks again when a host is back, after some minutes and the loading of the model",
        )

    def replace(self, nodes: Sequence[Node]) -> Action:
        """Return what terminates hosts, which ECS drains first and their group replaces."""
        done = self._hosts.replace(nodes)
        then = "ECS drains a host and stops its tasks; the group launches another, which loads the model again"
        return replace(done, loses=(_REQUESTS, "everything on its volumes; models stay in their bucket"), then=then)

    def update_image(self, groups: Sequence[Group]) -> Action:
        """Return what replaces the hosts by such of the newest image; tasks come with the file's versions."""
        if any(group.name != _HOSTS for group in groups):
            raise OperationError("a task's image is the version in the file: another one comes with 'trainyard deploy'")
        return Action(
            what=f"replace every host of {', '.join(self._groups)} by one of the newest image",
            calls=tuple(
                Call("autoscaling", "StartInstanceRefresh", {"AutoScalingGroupName": name, "Preferences": _PREFERENCES})
                for name in self._groups
            ),
            loses=(_REQUESTS, "everything on the volumes of the hosts; models stay in their bucket"),
            then="Auto Scaling replaces a tenth of the hosts at once, or one; ECS drains each first",
        )


_LOGS: Final = "ServiceLogs"
_PREFERENCES: Final = {"ScaleInProtectedInstances": "Refresh"}
"""ECS protects hosts with tasks from scale-in: a refresh would wait for them."""


def _failure(service: Mapping[str, Any]) -> str:
    """Return why the deployment of a service failed."""
    failed = (row for row in service.get("deployments", []) if row.get("rolloutState") == "FAILED")
    return next((str(row.get("rolloutStateReason", "its deployment failed")) for row in failed), "")


def _health(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "not registered in ECS"
    if not row.get("agentConnected", True):
        return "its agent is not connected"
    return "" if row.get("status") == "ACTIVE" else str(row.get("status", "")).lower()


def _events(answer: Answer) -> Iterator[Event]:
    for service in answer.items("services"):
        for row in service.get("events", []):
            yield Event(
                at=row["createdAt"],
                source="ECS",
                subject=service["serviceName"],
                text=row["message"],
                failed=_TROUBLE.search(row["message"]) is not None,
            )
