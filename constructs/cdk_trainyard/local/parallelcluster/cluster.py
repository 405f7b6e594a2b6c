"""A cluster is a stack of its own, of the cluster's name, as ParallelCluster makes them; it carries its configuration.

It has the head node, with its elastic IP, a load balancer for every login pool, and the roles of all nodes.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.custom_resources.request import Request
from cdk_trainyard.local.errors import ResourceFailed
from cdk_trainyard.local.parallelcluster.provider import VERSION_TAG
from cdk_trainyard.local.parallelcluster.roles import HEAD, profile_of, roles
from cdk_trainyard.local.services.ssm import IMAGE

_NAME_TAG = "parallelcluster:cluster-name"
_PATIENCE_S = 120.0
_INTERVAL_S = 0.1
Config = Mapping[str, Any]


class Cluster:
    """A cluster by name, there or not.

    Args:
        request: Tells Region and account.
        name: Its name.
    """

    def __init__(self, request: Request, name: str) -> None:
        self.name = name
        self._request = request
        self._stacks = request.client("cloudformation")

    @property
    def stack(self) -> Mapping[str, Any] | None:
        """The living stack of that name, ParallelCluster's or not."""
        try:
            found: Mapping[str, Any] = self._stacks.describe_stacks(StackName=self.name)["Stacks"][0]
        except ClientError:
            return None
        return found

    @property
    def version(self) -> str | None:
        """The version of ParallelCluster that made it; ``None`` when there is no cluster of that name."""
        tags = {tag["Key"]: tag["Value"] for tag in (self.stack or {}).get("Tags", ())}
        return tags.get(VERSION_TAG)

    @property
    def config(self) -> Config:
        """Its configuration."""
        body = self._stacks.get_template(StackName=self.name)["TemplateBody"]
        template = json.loads(body) if isinstance(body, str) else body
        found: Config = template["Metadata"]["Config"]
        return found

    def create(self, config: Config, version: str) -> None:
        """Make the stack."""
        self._stacks.create_stack(StackName=self.name, **self._wanted(config, version))
        self._wait("CREATE_COMPLETE")

    def update(self, config: Config, version: str) -> None:
        """Change the stack."""
        self._stacks.update_stack(StackName=self.name, **self._wanted(config, version))
        self._wait("UPDATE_COMPLETE")

    def delete(self) -> None:
        """Delete the stack."""
        identifier = (self.stack or {})["StackId"]
        self._stacks.delete_stack(StackName=identifier)
        self._wait("DELETE_COMPLETE", identifier)

    def describe(self) -> dict[str, Any]:
        """Return what ParallelCluster's DescribeCluster tells, as the provider flattens it."""
        stack = self.stack or {}
        outputs = {row["OutputKey"]: row["OutputValue"] for row in stack.get("Outputs", ())}
        status = stack["StackStatus"]
        created = stack["CreationTime"]
        return {
            "clusterName": self.name,
            "clusterStatus": status,
            "cloudFormationStackStatus": status,
            "cloudformationStackArn": stack["StackId"],
            "computeFleetStatus": "RUNNING",
            "version": self.version,
            "region": self._request.where.region,
            "creationTime": created.isoformat(),
            "lastUpdatedTime": stack.get("LastUpdatedTime", created).isoformat(),
            **self._head(outputs["HeadNode"]),
            **self._login(outputs),
        }

    # ---------------------------------------------------------------- parts
    def _head(self, instance_id: str) -> dict[str, Any]:
        found = self._request.client("ec2").describe_instances(InstanceIds=[instance_id])
        instance = found["Reservations"][0]["Instances"][0]
        public = instance.get("PublicIpAddress")
        return {
            "headNode.instanceId": instance_id,
            "headNode.instanceType": instance["InstanceType"],
            "headNode.launchTime": instance["LaunchTime"].isoformat(),
            "headNode.privateIpAddress": instance["PrivateIpAddress"],
            "headNode.state": instance["State"]["Name"],
            **({"headNode.publicIpAddress": public} if public else {}),
        }

    def _login(self, outputs: Mapping[str, str]) -> dict[str, Any]:
        pools = _pools(self.config)
        return {
            name: value
            for number, pool in enumerate(pools)
            for name, value in {
                f"loginNodes.{number}.poolName": pool["Name"],
                f"loginNodes.{number}.status": "active",
                f"loginNodes.{number}.address": outputs[f"LoginPool{number}"],
                f"loginNodes.{number}.scheme": "internal",
                f"loginNodes.{number}.healthyNodes": pool["Count"],
                f"loginNodes.{number}.unhealthyNodes": "0",
            }.items()
        }

    def _wanted(self, config: Config, version: str) -> dict[str, Any]:
        tags = [*config.get("Tags", ()), *_tags(self.name, version)]
        return {"TemplateBody": json.dumps(_template(self.name, config)), "Tags": tags}

    def _wait(self, wanted: str, identifier: str | None = None) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        name = identifier or self.name
        status = ""
        while time.monotonic() < deadline:
            status = self._stacks.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]
            if not status.endswith("_IN_PROGRESS"):
                break
            time.sleep(_INTERVAL_S)
        if status != wanted:
            raise ResourceFailed(f"{self.name}: {self._why(name) or status}")

    def _why(self, name: str) -> str:
        events = self._stacks.describe_stack_events(StackName=name)["StackEvents"]
        failed = [row.get("ResourceStatusReason", "") for row in events if row["ResourceStatus"].endswith("_FAILED")]
        return failed[-1] if failed else ""


def _pools(config: Config) -> list[Mapping[str, Any]]:
    return list((config.get("LoginNodes") or {}).get("Pools") or ())


def _tags(name: str, version: str) -> list[dict[str, str]]:
    return [{"Key": VERSION_TAG, "Value": version}, {"Key": _NAME_TAG, "Value": name}]


def _template(name: str, config: Config) -> dict[str, Any]:
    pools = {f"LoginPool{number}": pool for number, pool in enumerate(_pools(config))}
    return {
        "Metadata": {"Config": config},
        "Resources": {
            **roles(config),
            **_head_node(name, config),
            **{key: _login_pool(pool) for key, pool in pools.items()},
        },
        "Outputs": {
            "HeadNode": {"Value": {"Ref": "HeadNode"}},
            **{key: {"Value": {"Fn::GetAtt": [key, "DNSName"]}} for key in pools},
        },
    }


def _head_node(name: str, config: Config) -> dict[str, Any]:
    head = config["HeadNode"]
    networking = head["Networking"]
    groups = networking.get("SecurityGroups") or networking.get("AdditionalSecurityGroups")
    key = (head.get("Ssh") or {}).get("KeyName")
    instance = {
        "ImageId": (config.get("Image") or {}).get("CustomAmi") or IMAGE,
        "InstanceType": head["InstanceType"],
        "SubnetId": networking["SubnetId"],
        "IamInstanceProfile": profile_of(HEAD, head),
        **({"SecurityGroupIds": groups} if groups else {}),
        **({"KeyName": key} if key else {}),
        "Tags": [
            {"Key": "Name", "Value": "HeadNode"},
            {"Key": "parallelcluster:node-type", "Value": "HeadNode"},
            {"Key": _NAME_TAG, "Value": name},
        ],
    }
    return {
        "HeadNode": {"Type": "AWS::EC2::Instance", "Properties": instance},
        **_address(str(networking.get("ElasticIp", "false"))),
    }


def _address(wanted: str) -> dict[str, Any]:
    """Return the elastic IP of a head node: none, a new one, or one that exists."""
    if wanted.lower() == "false":
        return {}
    new = wanted.lower() == "true"
    allocation = {"Fn::GetAtt": ["HeadNodeAddress", "AllocationId"]} if new else wanted
    return {
        **({"HeadNodeAddress": {"Type": "AWS::EC2::EIP"}} if new else {}),
        "HeadNodeAssociation": {
            "Type": "AWS::EC2::EIPAssociation",
            "Properties": {"AllocationId": allocation, "InstanceId": {"Ref": "HeadNode"}},
        },
    }


def _login_pool(pool: Mapping[str, Any]) -> dict[str, Any]:
    subnets = pool["Networking"]["SubnetIds"]
    properties = {"Type": "network", "Scheme": "internal", "Subnets": subnets}
    return {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": properties}
