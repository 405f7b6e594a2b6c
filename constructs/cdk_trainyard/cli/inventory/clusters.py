"""Clusters: HyperPod's and ParallelCluster's."""

from collections.abc import Iterator

from cdk_trainyard.cli.inventory.account import Account, Row, last, row, tag
from cdk_trainyard.identifiers import PARALLELCLUSTER_TAG, PARALLELCLUSTER_TYPE


def clusters(aws: Account) -> Iterator[Row]:
    """HyperPod clusters, their groups, and how to get onto a node; then those of ParallelCluster."""
    sagemaker = aws.client("sagemaker")
    for arn in aws.ids("SageMaker::Cluster"):
        cluster = sagemaker.describe_cluster(ClusterName=arn)
        recovery = f"node recovery {cluster.get('NodeRecovery', '-')}"
        yield row("HyperPod cluster", cluster["ClusterName"], cluster["ClusterStatus"], recovery)
        pages = sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=arn)
        nodes = [node for page in pages for node in page["ClusterNodeSummaries"]]
        for group in cluster["InstanceGroups"]:
            name, count = group["InstanceGroupName"], f"{group['CurrentCount']} of {group['TargetCount']}"
            role = group.get("SlurmConfig", {}).get("NodeType", "-")
            yield row("  group", name, role, f"{count} x {group.get('InstanceType', 'several types')}")
            for node in [node for node in nodes if node["InstanceGroupName"] == name][:1]:
                target = f"sagemaker-cluster:{last(arn)}_{name}-{node['InstanceId']}"
                yield row("    connect", f"aws ssm start-session --target {target} --region {aws.region}")
    for name in aws.ids(PARALLELCLUSTER_TYPE):
        yield from parallel_cluster(aws, name)


def parallel_cluster(aws: Account, name: str) -> Iterator[Row]:
    """A cluster of ParallelCluster is a stack of its name; its nodes carry tags."""
    (stack,) = aws.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    yield row("ParallelCluster", name, stack["StackStatus"])
    tags = [{"Name": f"tag:{PARALLELCLUSTER_TAG}", "Values": [name]}]
    for reservation in aws.client("ec2").describe_instances(Filters=tags)["Reservations"]:
        for node in reservation["Instances"]:
            kind, address = tag(node, "parallelcluster:node-type"), node["PrivateIpAddress"]
            yield row("  node", node["InstanceId"], kind, node["InstanceType"], address, node["State"]["Name"])
            yield row("    connect", f"aws ssm start-session --target {node['InstanceId']} --region {aws.region}")
