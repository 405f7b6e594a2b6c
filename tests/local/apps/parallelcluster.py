"""A cluster of AWS ParallelCluster with this library's constructs: what `test_cli.py` deploys with the real CLI.

Context: ``max_count`` (of the queue), ``head_type`` (instance type of the head node, which never changes).
"""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3

from cdk_trainyard import (
    ComputeResource,
    HeadNode,
    NodeScripts,
    ParallelCluster,
    Placement,
    Queue,
    SharedEbs,
    SharedStorage,
    TrainingNetwork,
)


def define(app: cdk.App) -> None:
    """Define the stacks."""
    env = cdk.Environment(account="123456789012", region="us-east-2")
    stack = cdk.Stack(app, "Slurm", env=env)
    bucket = s3.Bucket(
        cdk.Stack(app, "Scripts", env=env), "Bucket", auto_delete_objects=True, removal_policy=cdk.RemovalPolicy.DESTROY
    )
    scripts = NodeScripts(stack, "NodeScripts", bucket=bucket)
    neuron = scripts.action("neuron.sh")
    cluster = ParallelCluster(
        stack,
        "Cluster",
        network=TrainingNetwork(stack, "Network", zone="us-east-2a"),
        cluster_name="hello",
        operating_system="ubuntu2404",
        head_node=HeadNode(
            instance_type=app.node.try_get_context("head_type") or "c5.xlarge", public=True, on_configured=[neuron]
        ),
        queues=[
            Queue(
                name="compute",
                placement=Placement.CLUSTER,
                on_configured=[neuron],
                compute=[
                    ComputeResource(
                        instance_type="c5.xlarge", max_count=int(app.node.try_get_context("max_count") or 8)
                    )
                ],
            )
        ],
        shared_storage=SharedStorage(ebs=[SharedEbs(at="/shared")]),
    )
    cluster.connections.allow_from(ec2.Peer.ipv4("10.1.0.0/16"), ec2.Port.tcp(22))
    for name, value in cluster.outputs.items():
        cdk.CfnOutput(stack, name, value=value)
    cdk.Tags.of(stack).add("project", "training")


if __name__ == "__main__":
    made = cdk.App()
    define(made)
    made.synth()
