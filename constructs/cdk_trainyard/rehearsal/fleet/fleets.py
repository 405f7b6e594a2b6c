"""Reading the fleet that CloudFormation created from EC2, and losing a node of it."""

import base64
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from cdk_trainyard.rehearsal._process import wait_for
from cdk_trainyard.rehearsal.control_plane import ControlPlane, network_around, tags_of
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.model import Cluster, Group, Node

FLEET_TAG, ROLE_TAG, READY_TAG = "trainyard:fleet", "trainyard:role", "trainyard:ready"
_GROUP_TAG = "aws:autoscaling:groupName"
_SECONDS = 600


class Fleets:
    """EC2 and Auto Scaling, as far as fleets are concerned."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._ec2 = control_plane.client("ec2")

    def names(self) -> list[str]:
        """Return the names of the fleets that there are; one whose capacity block has not started has no instances."""
        groups = (tags_of(group) for group in self._auto_scaling_groups())
        named = {tags[FLEET_TAG] for tags in groups if FLEET_TAG in tags}
        return sorted(named | {tags_of(instance)[FLEET_TAG] for instance in self._instances()})

    def start_blocks(self) -> list[str]:
        """Do now what Auto Scaling is scheduled to do when a capacity block starts; return those times."""
        client = self._control_plane.client("autoscaling")
        actions = client.describe_scheduled_actions()["ScheduledUpdateGroupActions"]
        starts = [action for action in actions if action["MaxSize"] > 0]
        for action in starts:
            sizes = {name: action[name] for name in ("MinSize", "MaxSize", "DesiredCapacity")}
            client.update_auto_scaling_group(AutoScalingGroupName=action["AutoScalingGroupName"], **sizes)
        return [action["StartTime"].isoformat() for action in starts]

    def cluster(self, known: Cluster | None = None) -> Cluster:
        """Return the fleet with its instances; a node that was known keeps its name.

        Args:
            known: The fleet as it was. Default - nothing is known of it.

        Raises:
            RehearsalError: There is more than one.
        """
        names = self.names()
        if len(names) != 1:
            raise RehearsalError(f"a deployment to rehearse must create one fleet, got {', '.join(names)}")
        instances = sorted(self._instances(), key=lambda one: IPv4Address(one["PrivateIpAddress"]))
        groups = _groups(instances)
        nodes = {node.instance_id: node for node in known.nodes} if known else {}
        taken = {(node.group, node.number) for node in nodes.values()}
        for instance in instances:
            if instance["InstanceId"] not in nodes:
                group = _group_of(groups, instance)
                number = next(number for number in range(1, 10**6) if (group.name, number) not in taken)
                taken.add((group.name, number))
                nodes[instance["InstanceId"]] = Node(
                    group=group.name,
                    number=number,
                    address=IPv4Address(instance["PrivateIpAddress"]),
                    instance_id=instance["InstanceId"],
                )
        subnet = self._control_plane.subnet(instances[0]["SubnetId"])
        present = [nodes[instance["InstanceId"]] for instance in instances]
        return Cluster(
            name=names[0],
            arn="",
            region=self._control_plane.region,
            subnet=network_around(IPv4Network(subnet["CidrBlock"]), [node.address for node in present]),
            zone=subnet["AvailabilityZone"],
            groups=groups,
            nodes=tuple(present),
            file_systems=self._control_plane.lustre(),
        )

    def user_data(self, node: Node) -> str:
        """Return the user data that an instance was launched with."""
        found = self._ec2.describe_instance_attribute(InstanceId=node.instance_id, Attribute="userData")
        return base64.b64decode(found["UserData"]["Value"]).decode()

    def ready(self) -> set[str]:
        """Return the ids of the instances whose set-up has said that it is done."""
        return {one["InstanceId"] for one in self._instances() if tags_of(one).get(READY_TAG) == "yes"}

    def hook_of(self, node: Node) -> tuple[str, str] | None:
        """Return the Auto Scaling group of a node and its hook that waits for new nodes, or None."""
        (instance,) = [one for one in self._instances() if one["InstanceId"] == node.instance_id]
        group = tags_of(instance).get(_GROUP_TAG)
        if group is None:
            return None
        client = self._control_plane.client("autoscaling")
        hooks = client.describe_lifecycle_hooks(AutoScalingGroupName=group)["LifecycleHooks"]
        launching = [row["LifecycleHookName"] for row in hooks if row["LifecycleTransition"].endswith("_LAUNCHING")]
        return (group, launching[0]) if launching else None

    def lose(self, node: Node) -> str:
        """Let Auto Scaling notice that a node is lost, and launch another; return the new instance's id.

        Raises:
            RehearsalError: The node is of no group, or none was launched.
        """
        (instance,) = [one for one in self._instances() if one["InstanceId"] == node.instance_id]
        if _GROUP_TAG not in tags_of(instance):
            raise RehearsalError(f"{node.name} is of no Auto Scaling group: nobody replaces it")
        before = {one["InstanceId"] for one in self._instances()}
        self._control_plane.client("autoscaling").terminate_instance_in_auto_scaling_group(
            InstanceId=node.instance_id, ShouldDecrementDesiredCapacity=False
        )

        def launched() -> str | None:
            return next((one["InstanceId"] for one in self._instances() if one["InstanceId"] not in before), None)

        return wait_for("another instance", launched, seconds=_SECONDS)

    def _auto_scaling_groups(self) -> Iterator[Mapping[str, Any]]:
        for page in self._control_plane.client("autoscaling").get_paginator("describe_auto_scaling_groups").paginate():
            yield from page["AutoScalingGroups"]

    def _instances(self) -> Iterator[Mapping[str, Any]]:
        filters = [
            {"Name": "tag-key", "Values": [FLEET_TAG]},
            {"Name": "instance-state-name", "Values": ["running"]},
        ]
        for page in self._ec2.get_paginator("describe_instances").paginate(Filters=filters):
            for reservation in page["Reservations"]:
                yield from reservation["Instances"]


def _groups(instances: list[Mapping[str, Any]]) -> tuple[Group, ...]:
    """Return a group for each kind of member; workers of several types are told apart by the type."""
    kinds = sorted({(tags_of(one)[ROLE_TAG], one["InstanceType"]) for one in instances})
    several = len([role for role, _ in kinds if role == "worker"]) > 1
    return tuple(
        Group(
            name=f"{role}-{kind.replace('.', '-')}" if several and role == "worker" else role,
            role=role,
            instance_type=kind,
        )
        for role, kind in kinds
    )


def _group_of(groups: tuple[Group, ...], instance: Mapping[str, Any]) -> Group:
    wanted = (tags_of(instance)[ROLE_TAG], instance["InstanceType"])
    return next(group for group in groups if (group.role, group.instance_type) == wanted)
