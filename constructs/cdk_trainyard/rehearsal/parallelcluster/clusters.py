"""Reading the cluster that ParallelCluster's provider made, and launching instances for its nodes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha1
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Self

from cdk_trainyard.rehearsal.control_plane import ControlPlane, network_around, tags_of
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.model import Cluster, Group, Node

HEAD = "HeadNode"
"""Name of the head node's group."""

_POOL = "login-"
_VERSION_TAG = "parallelcluster:version"
Config = Mapping[str, Any]
"""A configuration, as CloudFormation hands it over: every scalar is a text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ComputeResource:
    """Nodes of one kind in a queue.

    Attributes:
        queue: Name of the queue.
        name: Its own name.
        instance_type: The type of its nodes, the first where there are several.
        types: How many types there are.
        static: How many nodes always run.
        most: How many nodes there are at most.
        subnet: Where they stand.
        threads: Whether simultaneous multithreading is on.
        efa: Whether they have EFA.
        settings: Further settings of its nodes in Slurm.
    """

    queue: str
    name: str
    instance_type: str
    types: int
    static: int
    most: int
    subnet: str
    threads: bool
    efa: bool
    settings: Mapping[str, str]

    @classmethod
    def read(cls, queue: Config, config: Config) -> Self:
        """Return what a configuration says of one."""
        types = [row["InstanceType"] for row in config.get("Instances") or ()] or [config["InstanceType"]]
        return cls(
            queue=queue["Name"],
            name=config["Name"],
            instance_type=types[0],
            types=len(types),
            static=int(config.get("MinCount", 0)),
            most=int(config.get("MaxCount", 10)),
            subnet=queue["Networking"]["SubnetIds"][0],
            threads=not flag(config.get("DisableSimultaneousMultithreading")),
            efa=flag((config.get("Efa") or {}).get("Enabled")),
            settings=config.get("CustomSlurmSettings") or {},
        )

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The names of its static and its dynamic nodes without their numbers, and how many there are of each."""
        return (
            (f"{self.queue}-st-{self.name}", self.static),
            (f"{self.queue}-dy-{self.name}", self.most - self.static),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Described:
    """A cluster of ParallelCluster.

    Attributes:
        name: Its name.
        version: The version of ParallelCluster.
        config: Its configuration.
        head: Its head node.
        head_subnet: Where that stands.
        zone: The availability zone.
    """

    name: str
    version: str
    config: Config
    head: Node
    head_subnet: str
    zone: str

    @property
    def queues(self) -> list[Config]:
        """Its queues."""
        return list(self.config["Scheduling"]["SlurmQueues"])

    @property
    def pools(self) -> list[Config]:
        """Its pools of login nodes."""
        return list((self.config.get("LoginNodes") or {}).get("Pools") or ())

    @property
    def storage(self) -> list[Config]:
        """What its nodes share."""
        return list(self.config.get("SharedStorage") or ())

    @property
    def resources(self) -> list[ComputeResource]:
        """The compute resources of all queues."""
        return [
            ComputeResource.read(queue, resource) for queue in self.queues for resource in queue["ComputeResources"]
        ]

    def queue(self, name: str) -> Config:
        """Return the queue of that name."""
        return next(queue for queue in self.queues if queue["Name"] == name)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Its nodes by what they are."""
        pools = [Group(name=pool_group(pool), role="login", instance_type=pool["InstanceType"]) for pool in self.pools]
        compute = [
            Group(name=name, role="compute", instance_type=resource.instance_type, partition=resource.queue)
            for resource in self.resources
            for name, count in resource.groups
            if count
        ]
        return (Group(name=HEAD, role="controller", instance_type=self.config[HEAD]["InstanceType"]), *pools, *compute)

    def subnet_of(self, group: str) -> str:
        """Return the subnet of a group's nodes."""
        subnets = {HEAD: self.head_subnet}
        subnets |= {pool_group(pool): pool["Networking"]["SubnetIds"][0] for pool in self.pools}
        subnets |= {name: resource.subnet for resource in self.resources for name, _ in resource.groups}
        return subnets[group]


class ParallelClusters:
    """What ParallelCluster's provider made, and EC2."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._stacks = control_plane.client("cloudformation")
        self._ec2 = control_plane.client("ec2")

    def names(self) -> list[str]:
        """Return the names of the clusters that there are."""
        return [stack["StackName"] for stack in self._clusters()]

    def read(self) -> Described:
        """Return the cluster.

        Raises:
            RehearsalError: There is more than one.
        """
        found = list(self._clusters())
        if len(found) != 1:
            names = ", ".join(stack["StackName"] for stack in found)
            raise RehearsalError(f"a deployment to rehearse must create one ParallelCluster, got {names}")
        (stack,) = found
        template = self._stacks.get_template(StackName=stack["StackId"])["TemplateBody"]
        outputs = {row["OutputKey"]: row["OutputValue"] for row in stack["Outputs"]}
        head = self._ec2.describe_instances(InstanceIds=[outputs["HeadNode"]])["Reservations"][0]["Instances"][0]
        return Described(
            name=stack["StackName"],
            version=_version(stack) or "",
            config=template["Metadata"]["Config"],
            head=_node(HEAD, 1, head, own_name=False),
            head_subnet=head["SubnetId"],
            zone=self._control_plane.subnet(head["SubnetId"])["AvailabilityZone"],
        )

    def cluster(self, described: Described) -> Cluster:
        """Return the cluster with its head node alone, in a network that all its subnets are in."""
        subnets = {described.subnet_of(group.name) for group in described.groups}
        networks = [IPv4Network(self._control_plane.subnet(name)["CidrBlock"]) for name in sorted(subnets)]
        corners = [network[number] for network in networks for number in (0, -1)]
        return Cluster(
            name=described.name,
            arn="",
            region=self._control_plane.region,
            subnet=network_around(networks[0], [*corners, described.head.address]),
            zone=described.zone,
            groups=described.groups,
            nodes=(described.head,),
            file_systems=self._control_plane.lustre(),
            domain=f"{described.name.lower()}.pcluster",
        )

    def launch(self, described: Described, group: Group, number: int) -> Node:
        """Launch the instance of a node, as ParallelCluster's daemons do."""
        tags = {
            "Name": "Compute" if group.role == "compute" else "LoginNode",
            "parallelcluster:cluster-name": described.name,
            "parallelcluster:node-type": "Compute" if group.role == "compute" else "LoginNode",
            **({"parallelcluster:queue-name": group.partition} if group.partition else {}),
        }
        answer = self._ec2.run_instances(
            ImageId=self._image(described),
            InstanceType=group.instance_type,
            SubnetId=described.subnet_of(group.name),
            IamInstanceProfile={"Name": self._profile(described, group)},
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[
                {"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
            ],
        )
        return _node(group.name, number, answer["Instances"][0], own_name=group.role == "compute")

    def put_log(self, described: Described, node: Node, lines: Sequence[str]) -> None:
        """Put what a node's custom actions have logged into the cluster's log group, as its CloudWatch agent does."""
        host = f"ip-{str(node.address).replace('.', '-')}"
        kind = "cfn-init" if node.group == HEAD else "cloud-init-output"
        group = f"/aws/parallelcluster/{described.name}-{self._made_at(described):%Y%m%d%H%M}"
        self._control_plane.put_log(group, f"{host}.{node.instance_id}.{kind}", lines)

    def _made_at(self, described: Described) -> datetime:
        (stack,) = self._stacks.describe_stacks(StackName=described.name)["Stacks"]
        made: datetime = stack["CreationTime"]
        return made

    def _profile(self, described: Described, group: Group) -> str:
        """Return the name of the instance profile of a group: the file's, or the one of its queue or pool."""
        owner = group.partition or group.name.removeprefix(_POOL)
        (section,) = [one for one in (*described.queues, *described.pools) if one["Name"] == owner]
        if given := (section.get("Iam") or {}).get("InstanceProfile"):
            return str(given.rpartition("/")[2])
        # as ParallelCluster names what belongs to a queue
        logical_id = f"InstanceProfile{sha1(owner.encode(), usedforsecurity=False).hexdigest()[:16].capitalize()}"
        found = self._stacks.describe_stack_resource(StackName=described.name, LogicalResourceId=logical_id)
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    def _image(self, described: Described) -> str:
        found = self._ec2.describe_instances(InstanceIds=[described.head.instance_id])
        return str(found["Reservations"][0]["Instances"][0]["ImageId"])

    def _clusters(self) -> Iterator[Mapping[str, Any]]:
        for page in self._stacks.get_paginator("describe_stacks").paginate():
            yield from (stack for stack in page["Stacks"] if _version(stack))


def pool_group(pool: Config) -> str:
    """Return the name of the group of a pool's nodes."""
    return f"{_POOL}{pool['Name']}"


def mount_path(storage: Config) -> str:
    """Return where nodes have a volume or a file system: ParallelCluster takes the path without its slash, too."""
    return "/" + str(storage["MountDir"]).strip("/")


def flag(value: object) -> bool:
    """Return what a scalar of a configuration says; CloudFormation makes a text of it."""
    return str(value).lower() == "true"


def actions(section: Config, event: str) -> Sequence[Config]:
    """Return the actions of an event in the order in which they run.

    Args:
        section: The head node, a queue or a pool of a configuration.
        event: As ``OnNodeConfigured``.
    """
    found = (section.get("CustomActions") or {}).get(event) or {}
    return list(found.get("Sequence") or ([found] if found.get("Script") else []))


def _version(stack: Mapping[str, Any]) -> str | None:
    return tags_of(stack).get(_VERSION_TAG)


def _node(group: str, number: int, instance: Mapping[str, Any], *, own_name: bool) -> Node:
    return Node(
        group=group,
        number=number,
        address=IPv4Address(instance["PrivateIpAddress"]),
        instance_id=instance["InstanceId"],
        host_name=f"{group}-{number}" if own_name else None,
    )
