"""Show what a deployment has really made: read back from each service's API, never from the template.

``python -m tools.inventory NAME [--region REGION]`` for a deployment file's ``name``; the environment says which AWS.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import boto3
from botocore.exceptions import ClientError

STACKS = ("network", "storage", "training")


class Account:
    """The services of one region, and the ids that a deployment's stacks hold."""

    def __init__(self, deployment: str, region: str) -> None:
        """Ask CloudFormation for the ids."""
        self.region = region
        self._ids: dict[str, list[str]] = defaultdict(list)
        for stack in STACKS:
            for resource in self._resources(f"{deployment}-{stack}"):
                self._ids[resource["ResourceType"]].append(resource["PhysicalResourceId"])

    def _resources(self, stack: str) -> list[dict[str, Any]]:
        try:
            found = self.client("cloudformation").describe_stack_resources(StackName=stack)
        except ClientError:  # the deployment has no such stack
            return []
        return list(found["StackResources"])

    def client(self, service: str) -> Any:
        """Return the service's client."""
        return boto3.client(service, region_name=self.region)

    def ids(self, resource_type: str) -> list[str]:
        """Return the physical ids of one CloudFormation type."""
        return self._ids[f"AWS::{resource_type}"]


def tag(resource: dict[str, Any], key: str) -> str:
    """Return one tag's value, or ``"-"``."""
    return next((str(tag["Value"]) for tag in resource.get("Tags", []) if tag["Key"] == key), "-")


def row(label: str, name: str, *facts: object) -> str:
    """Lay one line out: what it is, which one, what is known of it."""
    return f"{label:<18} {name}  {', '.join(str(fact) for fact in facts)}".rstrip()


def network(aws: Account) -> Iterator[str]:
    """The VPC, its subnets with their purpose, the way out."""
    ec2 = aws.client("ec2")
    for vpc in ec2.describe_vpcs(VpcIds=aws.ids("EC2::VPC"))["Vpcs"]:
        yield row("VPC", vpc["VpcId"], vpc["CidrBlock"])
    for subnet in ec2.describe_subnets(SubnetIds=aws.ids("EC2::Subnet"))["Subnets"]:
        zone = f"{subnet['AvailabilityZone']} ({subnet['AvailabilityZoneId']})"
        free = f"{subnet['AvailableIpAddressCount']} free addresses"
        yield row("  subnet", subnet["SubnetId"], tag(subnet, "Name"), subnet["CidrBlock"], zone, free)
    for gateway in ec2.describe_nat_gateways(NatGatewayIds=aws.ids("EC2::NatGateway"))["NatGateways"]:
        public = [address.get("PublicIp", "?") for address in gateway["NatGatewayAddresses"]]
        yield row("  NAT gateway", gateway["NatGatewayId"], f"in {gateway['SubnetId']}", gateway["State"], *public)
    for endpoint in ec2.describe_vpc_endpoints(VpcEndpointIds=aws.ids("EC2::VPCEndpoint"))["VpcEndpoints"]:
        yield row("  endpoint", endpoint["VpcEndpointId"], endpoint["ServiceName"], endpoint["VpcEndpointType"])
    for flow_log in ec2.describe_flow_logs(FlowLogIds=aws.ids("EC2::FlowLog"))["FlowLogs"]:
        yield row("  flow log", flow_log["FlowLogId"], flow_log.get("LogGroupName", flow_log.get("LogDestination")))


def security_groups(aws: Account) -> Iterator[str]:
    """Every security group's rules, in words."""
    groups = aws.client("ec2").describe_security_groups(GroupIds=aws.ids("EC2::SecurityGroup"))["SecurityGroups"]
    for group in groups:
        yield row("security group", group["GroupId"], group["Description"])
        for way, side in (("from", "IpPermissions"), ("to", "IpPermissionsEgress")):
            for rule in group[side]:
                for peer in peers(rule):
                    yield row(f"  {way}", "itself" if peer == group["GroupId"] else peer, ports(rule))


def peers(rule: dict[str, Any]) -> Iterator[str]:
    """Who the rule is about."""
    yield from (pair["GroupId"] for pair in rule.get("UserIdGroupPairs", []))
    yield from (block["CidrIp"] for block in rule.get("IpRanges", []))
    yield from (block["CidrIpv6"] for block in rule.get("Ipv6Ranges", []))


def ports(rule: dict[str, Any]) -> str:
    """What the rule lets through."""
    if rule["IpProtocol"] == "-1":
        return "all traffic"
    return f"{rule['IpProtocol']} {rule.get('FromPort')}-{rule.get('ToPort')}"


def file_systems(aws: Account) -> Iterator[str]:
    """FSx for Lustre: size, throughput, how to mount it."""
    found = aws.client("fsx").describe_file_systems(FileSystemIds=aws.ids("FSx::FileSystem"))["FileSystems"]
    for file_system in found:
        lustre = file_system["LustreConfiguration"]
        yield row(
            "FSx for Lustre",
            file_system["FileSystemId"],
            f"{file_system['StorageCapacity']} GiB",
            lustre["DeploymentType"],
            f"{lustre.get('PerUnitStorageThroughput', '-')} MB/s/TiB",
            f"compression {lustre.get('DataCompressionType', 'NONE')}",
            file_system["Lifecycle"],
        )
        yield row("  mount", f"{file_system['DNSName']}@tcp:/{lustre['MountName']}", *file_system["SubnetIds"])


def buckets(aws: Account) -> Iterator[str]:
    """Buckets: encryption, versions, what is in the one that nodes boot from."""
    s3 = aws.client("s3")
    for bucket in aws.ids("S3::Bucket"):
        rules = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
        encryption = rules[0]["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"]
        versions = f"versions {s3.get_bucket_versioning(Bucket=bucket).get('Status', 'off').lower()}"
        keys = [item["Key"] for item in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
        yield row("bucket", bucket, encryption, versions, f"{len(keys)} objects")
        yield from (row("  script", key) for key in keys if key.endswith(".sh"))


def clusters(aws: Account) -> Iterator[str]:
    """HyperPod: the cluster, its groups, and how to get onto a node."""
    sagemaker = aws.client("sagemaker")
    for arn in aws.ids("SageMaker::Cluster"):
        cluster = sagemaker.describe_cluster(ClusterName=arn)
        recovery = f"node recovery {cluster.get('NodeRecovery', '-')}"
        yield row("HyperPod cluster", cluster["ClusterName"], cluster["ClusterStatus"], recovery)
        nodes = sagemaker.list_cluster_nodes(ClusterName=arn)["ClusterNodeSummaries"]
        for group in cluster["InstanceGroups"]:
            name, count = group["InstanceGroupName"], f"{group['CurrentCount']} of {group['TargetCount']}"
            role = group.get("SlurmConfig", {}).get("NodeType", "-")
            yield row("  group", name, role, f"{count} x {group.get('InstanceType', 'several types')}")
            for node in [node for node in nodes if node["InstanceGroupName"] == name][:1]:
                target = f"sagemaker-cluster:{arn.rsplit('/', 1)[-1]}_{name}-{node['InstanceId']}"
                yield row("    connect", f"aws ssm start-session --target {target} --region {aws.region}")


SECTIONS: dict[str, tuple[str, Callable[[Account], Iterator[str]]]] = {
    "Network": ("EC2::VPC", network),
    "Security groups": ("EC2::SecurityGroup", security_groups),
    "File systems": ("FSx::FileSystem", file_systems),
    "Buckets": ("S3::Bucket", buckets),
    "Clusters": ("SageMaker::Cluster", clusters),
}


def lines(deployment: str, region: str) -> Iterator[str]:
    """Everything that the deployment's stacks have made, section by section."""
    aws = Account(deployment, region)
    for title, (resource_type, section) in SECTIONS.items():
        if aws.ids(resource_type):
            yield f"\n== {title}"
            yield from section(aws)


def main() -> None:
    """Print the inventory."""
    parser = argparse.ArgumentParser(prog="python -m tools.inventory", description=__doc__)
    parser.add_argument("name", help="the deployment file's name")
    parser.add_argument("--region", required=True)
    options = parser.parse_args()
    print("\n".join(lines(options.name, options.region)))


if __name__ == "__main__":
    main()
