"""Measure ``trainyard nodes`` of a HyperPod cluster of 1,000 nodes in the local AWS.

``python bench/nodes.py [NODES]``: seconds of the command in a process of its own, with every call answered at once and
100 ms later, and how many requests it sends. Needs the extra ``local``.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cdk_trainyard.local import Fault, LocalAws

REGION = "us-east-1"
TURNS = 3
NAME = "thousand"
FILE = f"""
name: {NAME}
region: {REGION}
network: {{zone: use1-az4}}
orchestrator: hyperpod
cluster:
  groups:
    head: {{role: controller, instance_type: ml.m5.large, count: 1}}
    workers: {{role: compute, instance_type: ml.c5.4xlarge, count: 4}}
"""


def stack(nodes: int) -> dict[str, Any]:
    """Return the template of the cluster, with the network and the role that it needs.

    Args:
        nodes: How many nodes it has.
    """
    trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    groups = [
        {
            "InstanceGroupName": name,
            "InstanceType": kind,
            "InstanceCount": count,
            "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
            "SlurmConfig": {"NodeType": role},
        }
        for name, kind, count, role in (
            ("head", "ml.m5.large", 1, "Controller"),
            ("workers", "ml.c5.4xlarge", nodes - 1, "Compute"),
        )
    ]
    vpc = {"Subnets": [{"Ref": "Subnet"}], "SecurityGroupIds": [{"Ref": "Group"}]}
    place = {"VpcId": {"Ref": "Vpc"}}
    return {
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {**place, "CidrBlock": "10.0.0.0/18"}},
            "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": {**place, "GroupDescription": "x"}},
            "Role": {
                "Type": "AWS::IAM::Role",
                "Properties": {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]}},
            },
            "Cluster": {
                "Type": "AWS::SageMaker::Cluster",
                "Properties": {"InstanceGroups": groups, "VpcConfig": vpc},
            },
        }
    }


def fastest(file: Path, environment: dict[str, str], nodes: int) -> tuple[float, float]:
    """Return the seconds of the fastest of some runs of the command, and those of a processor.

    Args:
        file: The deployment file.
        environment: Of the command.
        nodes: How many nodes it has to say.
    """
    times = []
    for _ in range(TURNS):
        start, before = time.perf_counter(), _processor()
        words = [sys.executable, "-m", "cdk_trainyard", "nodes", str(file), "--json"]
        shown = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
        times.append((time.perf_counter() - start, _processor() - before))
        if len(json.loads(shown)["nodes"]) != nodes:
            raise RuntimeError(f"{nodes} nodes were expected")
    return min(times)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print seconds and requests."""
    nodes = int(sys.argv[1]) if sys.argv[1:] else 1000
    with LocalAws(region=REGION) as aws, TemporaryDirectory() as folder:
        file = Path(folder, "deployment.yaml")
        file.write_text(FILE, encoding="utf-8")
        aws.client("cloudformation").create_stack(
            StackName=f"{NAME}-training", TemplateBody=json.dumps(stack(nodes)), Capabilities=["CAPABILITY_IAM"]
        )
        aws.client("cloudformation").get_waiter("stack_create_complete").wait(
            StackName=f"{NAME}-training", WaiterConfig={"Delay": 1, "MaxAttempts": 600}
        )
        environment = os.environ | aws.environment
        at_once = fastest(file, environment, nodes)
        with aws.faults(Fault(call="*", seconds=0.1)):
            later = fastest(file, environment, nodes)
        print(f"{'nodes':>8} {'a call takes':>13} {'s':>6} {'of a processor':>15}")
        for latency, (seconds, used) in (("nothing", at_once), ("100 ms", later)):
            print(f"{nodes:>8} {latency:>13} {seconds:>6.2f} {used:>15.2f}")


if __name__ == "__main__":
    main()
