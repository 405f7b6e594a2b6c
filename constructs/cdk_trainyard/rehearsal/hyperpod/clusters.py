"""Reading the HyperPod cluster that CloudFormation created, and asking for another size of it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from cdk_trainyard.rehearsal.agent import Bundle
from cdk_trainyard.rehearsal.control_plane import ControlPlane, lustre_of, network_around
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.hyperpod.agent import LEGACY_FILE
from cdk_trainyard.rehearsal.model import Cluster, Group, LifecycleConfig, Node
from cdk_trainyard.rehearsal.roles import RoleOf, role_credentials

_ROLES = {"Controller": "controller", "Login": "login", "Compute": "compute"}


class HyperPodClusters:
    """HyperPod's API."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._client = control_plane.client("sagemaker")

    def names(self) -> list[str]:
        """Return the names of the clusters that there are."""
        return [row["ClusterName"] for row in self._client.list_clusters()["ClusterSummaries"]]

    def cluster(self) -> Cluster:
        """Return the cluster, with the state it has now.

        Raises:
            RehearsalError: There is more than one, or it failed, or it is not one that can be rehearsed.
        """
        names = self.names()
        if len(names) != 1:
            raise RehearsalError(f"a deployment to rehearse must create one HyperPod cluster, got {', '.join(names)}")
        described = self._describe(names[0])
        if described["ClusterStatus"] != "InService":
            raise RehearsalError(f"the cluster is {described['ClusterStatus']}: {described.get('FailureMessage')}")
        if "Eks" in (described.get("Orchestrator") or {}):
            raise RehearsalError("the cluster is orchestrated by EKS: a rehearsal has Slurm only")
        return cluster_of(
            described,
            nodes=self._nodes(described["ClusterName"]),
            subnet=self._subnet(described),
            file_systems=self._control_plane.client("fsx").describe_file_systems()["FileSystems"],
            legacy=self._legacy(described),
            region=self._control_plane.region,
        )

    def bundles(self, cluster: Cluster) -> dict[str, Bundle]:
        """Return the scripts that the groups name, as the stack put them into the bucket.

        Raises:
            RehearsalError: There is nothing where a group says that there are scripts.
        """
        return {
            group.lifecycle.source: self._as_node(cluster, group).bundle(group.lifecycle.source)
            for group in cluster.groups
            if group.lifecycle
        }

    def role_of(self, cluster: Cluster) -> RoleOf:
        """Return what tells a node's role: the execution role of its group."""
        known: dict[str, Mapping[str, str]] = {}

        def role(node: Node) -> Mapping[str, str]:
            arn = cluster.group_of(node).execution_role
            if node.instance_id not in known:
                known[node.instance_id] = role_credentials(self._control_plane, arn, node) if arn else {}
            return known[node.instance_id]

        return role

    def _as_node(self, cluster: Cluster, group: Group) -> ControlPlane:
        """Return the API as a group's first node calls it, with the group's role: HyperPod's agents run on nodes."""
        node = next((node for node in cluster.nodes if node.group == group.name), None)
        if node is None or group.execution_role is None:
            return self._control_plane
        return self._control_plane.as_instance(group.execution_role, node.instance_id)

    def scale(self, group: str, count: int) -> None:
        """Ask for another number of nodes in a group.

        Raises:
            RehearsalError: There is no such group; lists the groups.
        """
        client = self._client
        described = self._describe(self.names()[0])
        rows = {row["InstanceGroupName"]: row for row in described["InstanceGroups"]}
        if group not in rows:
            raise RehearsalError(f"no group is named '{group}'; there are {', '.join(sorted(rows))}")
        accepted = client.meta.service_model.shape_for("ClusterInstanceGroupSpecification").members
        asked = {name: value for name, value in rows[group].items() if name in accepted}
        client.update_cluster(ClusterName=described["ClusterName"], InstanceGroups=[{**asked, "InstanceCount": count}])

    def replace(self, node: Node) -> str:
        """Ask for another instance in the place of one; return its id, or nothing where HyperPod replaces none."""
        name = self.names()[0]
        said = self._client.batch_replace_cluster_nodes(ClusterName=name, NodeIds=[node.instance_id])
        if node.instance_id not in said.get("Successful", []):
            return ""
        place = str(node.address)
        return next((str(row["InstanceId"]) for row in self._nodes(name) if row["PrivatePrimaryIp"] == place), "")

    def put_log(self, cluster: Cluster, node: Node, lines: Sequence[str]) -> None:
        """Put what a node's scripts have logged into the stream of the cluster's log group that HyperPod has for it."""
        group = f"/aws/sagemaker/Clusters/{cluster.name}/{cluster.arn.rpartition('/')[2]}"
        self._control_plane.put_log(group, f"LifecycleConfig/{node.group}/{node.instance_id}", lines)

    def _describe(self, name: str) -> Mapping[str, Any]:
        described: Mapping[str, Any] = self._client.describe_cluster(ClusterName=name)
        return described

    def _nodes(self, cluster: str) -> list[Mapping[str, Any]]:
        pages = self._client.get_paginator("list_cluster_nodes").paginate(ClusterName=cluster)
        ids = [row["InstanceId"] for page in pages for row in page["ClusterNodeSummaries"]]
        return [self._client.describe_cluster_node(ClusterName=cluster, NodeId=name)["NodeDetails"] for name in ids]

    def _subnet(self, described: Mapping[str, Any]) -> Mapping[str, Any]:
        subnets = (described.get("VpcConfig") or {}).get("Subnets") or []
        if not subnets:
            raise RehearsalError("the cluster must have a VpcConfig: without one its nodes have no address to rehearse")
        return self._control_plane.subnet(subnets[0])

    def _legacy(self, described: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the file of the legacy topology, where the groups do not say themselves what they are."""
        groups = described["InstanceGroups"]
        if any("SlurmConfig" in group for group in groups):
            return None
        sources = [group["LifeCycleConfig"]["SourceS3Uri"] for group in groups if "LifeCycleConfig" in group]
        for source in sources:
            files = self._control_plane.bundle(source)
            if LEGACY_FILE in files:
                legacy: Mapping[str, Any] = json.loads(files[LEGACY_FILE])
                return legacy
        raise RehearsalError(
            f"no group has a SlurmConfig, and no scripts hold {LEGACY_FILE}: nothing says who does what"
        )


def cluster_of(
    described: Mapping[str, Any],
    *,
    nodes: Sequence[Mapping[str, Any]],
    subnet: Mapping[str, Any],
    file_systems: Iterable[Mapping[str, Any]],
    legacy: Mapping[str, Any] | None,
    region: str,
) -> Cluster:
    """Return the cluster that the API's answers describe.

    Args:
        described: From ``DescribeCluster``.
        nodes: From ``DescribeClusterNode``, of every node.
        subnet: From ``DescribeSubnets``, of the cluster's subnet.
        file_systems: From ``DescribeFileSystems``.
        legacy: Content of ``provisioning_parameters.json``, or None where the groups have a ``SlurmConfig``.
        region: The region.
    """
    roles = _legacy_roles(legacy) if legacy else {}
    groups = [_group(row, roles) for row in described["InstanceGroups"]]
    numbered: dict[str, int] = {}
    instances = []
    for row in nodes:
        name = row["InstanceGroupName"]
        numbered[name] = numbered.get(name, 0) + 1
        address = IPv4Address(row["PrivatePrimaryIp"])
        instances.append(Node(group=name, number=numbered[name], address=address, instance_id=row["InstanceId"]))
    return Cluster(
        name=described["ClusterName"],
        arn=described["ClusterArn"],
        region=region,
        subnet=network_around(IPv4Network(subnet["CidrBlock"]), [node.address for node in instances]),
        zone=subnet["AvailabilityZone"],
        groups=tuple(groups),
        nodes=tuple(instances),
        file_systems=lustre_of(file_systems),
    )


def _group(row: Mapping[str, Any], legacy: Mapping[str, tuple[str, str | None]]) -> Group:
    name = row["InstanceGroupName"]
    slurm = row.get("SlurmConfig") or {}
    # HyperPod takes a group that the legacy file does not name for a compute group
    role, partition = legacy.get(name, ("compute", None))
    if slurm:
        role, partition = _ROLES[slurm["NodeType"]], next(iter(slurm.get("PartitionNames") or []), None)
    kinds = (row.get("InstanceRequirements") or {}).get("CurrentInstanceTypes") or [None]
    lifecycle = row.get("LifeCycleConfig")
    return Group(
        name=name,
        role=role,
        instance_type=row.get("InstanceType") or kinds[0],
        partition=partition,
        lifecycle=_lifecycle(lifecycle) if lifecycle else None,
        lustre=_lustre_mount(row.get("InstanceStorageConfigs") or []),
        execution_role=row.get("ExecutionRole"),
    )


def _lifecycle(config: Mapping[str, str]) -> LifecycleConfig:
    return LifecycleConfig(
        source=config["SourceS3Uri"],
        on_create=config.get("OnCreate"),
        on_init_complete=config.get("OnInitComplete"),
    )


def _lustre_mount(storage: Iterable[Mapping[str, Any]]) -> tuple[str, str, str] | None:
    for config in storage:
        if "FsxLustreConfig" in config:
            lustre = config["FsxLustreConfig"]
            return lustre["DnsName"], lustre["MountName"], lustre.get("MountPath", "/fsx")
    return None


def _legacy_roles(legacy: Mapping[str, Any]) -> dict[str, tuple[str, str | None]]:
    roles: dict[str, tuple[str, str | None]] = {
        row["instance_group_name"]: ("compute", row.get("partition_name")) for row in legacy.get("worker_groups", [])
    }
    for key, role in (("controller_group", "controller"), ("login_group", "login")):
        if legacy.get(key):
            roles[legacy[key]] = (role, None)
    return roles
