"""What shipped deployments have once they are at work, and the local AWS does not make by itself."""

import json
from typing import Any

from cdk_trainyard.local import LocalAws

PARALLELCLUSTER, SERVING = "parallelcluster-trn1", "serving-inf2-vllm"


def cluster_name(aws: LocalAws) -> str:
    """Return the name of the ParallelCluster of ``parallelcluster-trn1``."""
    client = aws.client("cloudformation", "us-west-2")
    rows = client.get_paginator("list_stack_resources").paginate(StackName=f"{PARALLELCLUSTER}-training")
    found = rows.search("StackResourceSummaries[?ResourceType=='Custom::PclusterCluster'].PhysicalResourceId")
    return str(next(iter(found)))


def queue_node(aws: LocalAws, slurm_name: str) -> str:
    """Launch a node of the queue trn1 as ParallelCluster's daemons do, and return its id."""
    name, ec2 = cluster_name(aws), aws.client("ec2", "us-west-2")
    head = {"Name": "tag:parallelcluster:cluster-name", "Values": [name]}
    like = ec2.describe_instances(Filters=[head])["Reservations"][0]["Instances"][0]
    tags = {
        "parallelcluster:cluster-name": name,
        "parallelcluster:node-type": "Compute",
        "parallelcluster:queue-name": "trn1",
    }
    made = ec2.run_instances(
        ImageId=like["ImageId"],
        InstanceType="trn1.32xlarge",
        SubnetId=like["SubnetId"],
        MinCount=1,
        MaxCount=1,
        TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
        ],
    )["Instances"][0]["InstanceId"]
    dynamodb, table = aws.client("dynamodb", "us-west-2"), f"parallelcluster-slurm-{name}"
    if table not in dynamodb.list_tables()["TableNames"]:
        dynamodb.create_table(
            TableName=table,
            KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "Id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    dynamodb.put_item(TableName=table, Item={"Id": {"S": slurm_name}, "InstanceId": {"S": made}})
    return str(made)


def log_group(aws: LocalAws) -> str:
    """Make the log group of the ParallelCluster, and one of an earlier cluster of its name."""
    client, name = aws.client("logs", "us-west-2"), f"/aws/parallelcluster/{cluster_name(aws)}"
    there = {row["logGroupName"] for row in client.describe_log_groups(logGroupNamePrefix=name)["logGroups"]}
    for each in {f"{name}-202610010000", f"{name}-202611230000"} - there:
        client.create_log_group(logGroupName=each)
    return f"{name}-202611230000"


def hosts(aws: LocalAws) -> list[str]:
    """Let the served model have two hosts, of which the first has registered in ECS; return their ids."""
    client: Any = aws.client("autoscaling", "us-east-2")
    (group,) = client.describe_auto_scaling_groups()["AutoScalingGroups"]
    name = group["AutoScalingGroupName"]
    if not group["Instances"]:
        client.update_auto_scaling_group(AutoScalingGroupName=name, MaxSize=2, DesiredCapacity=2)
        (group,) = client.describe_auto_scaling_groups()["AutoScalingGroups"]
        ecs = aws.client("ecs", "us-east-2")
        document = json.dumps({"instanceId": group["Instances"][0]["InstanceId"]})
        (cluster,) = ecs.list_clusters()["clusterArns"]
        ecs.register_container_instance(cluster=cluster, instanceIdentityDocument=document)
    return [each["InstanceId"] for each in group["Instances"]]
