"""A stack of what many resources need; it exports everything."""

import io
import zipfile
from typing import Any


def zipped(files: dict[str, str]) -> bytes:
    """Return an archive of ``files``, contents by path."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return packed.getvalue()


FILES = {
    "layer.zip": zipped({"python/layered.py": "ANSWER = 42\n"}),
    "scripts/on_create.sh": b"#!/bin/bash\n",
}
"""What stands in the bucket, by key."""
_SERVICES = [f"{name}.amazonaws.com" for name in ("codebuild", "ec2", "ecs-tasks", "lambda", "sagemaker")]
TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": _SERVICES}, "Action": "sts:AssumeRole"}],
}
"""Trusts every service that runs something with a role."""
POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}],
}
_ALL = {"IpProtocol": "-1", "GroupId": {"Ref": "Group"}}

_ANY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
_RESOURCES: dict[str, Any] = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True}},
    "SubnetA": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/20", "AvailabilityZone": "us-west-2a"},
    },
    "SubnetB": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.16.0/20", "AvailabilityZone": "us-west-2b"},
    },
    "Internet": {"Type": "AWS::EC2::InternetGateway"},
    "Attachment": {
        "Type": "AWS::EC2::VPCGatewayAttachment",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "InternetGatewayId": {"Ref": "Internet"}},
    },
    "Routes": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
    "Group": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "GroupDescription": "trusts itself"},
    },
    "GroupIn": {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {**_ALL, "SourceSecurityGroupId": {"Ref": "Group"}},
    },
    "GroupOut": {
        "Type": "AWS::EC2::SecurityGroupEgress",
        "Properties": {**_ALL, "DestinationSecurityGroupId": {"Ref": "Group"}},
    },
    "Role": {
        "Type": "AWS::IAM::Role",
        "Properties": {"AssumeRolePolicyDocument": TRUST, "Policies": [{"PolicyName": "all", "PolicyDocument": _ANY}]},
    },
    "Bucket": {"Type": "AWS::S3::Bucket"},
    "Topic": {"Type": "AWS::SNS::Topic"},
    "Logs": {"Type": "AWS::Logs::LogGroup"},
}
_VALUES: dict[str, Any] = {
    "Vpc": {"Ref": "Vpc"},
    "SubnetA": {"Ref": "SubnetA"},
    "SubnetB": {"Ref": "SubnetB"},
    "Internet": {"Ref": "Internet"},
    "Routes": {"Ref": "Routes"},
    "Group": {"Ref": "Group"},
    "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
    "RoleName": {"Ref": "Role"},
    "Bucket": {"Ref": "Bucket"},
    "BucketArn": {"Fn::GetAtt": ["Bucket", "Arn"]},
    "TopicArn": {"Ref": "Topic"},
    "LogsArn": {"Fn::GetAtt": ["Logs", "Arn"]},
    "LogsName": {"Ref": "Logs"},
}
SUPPORT: dict[str, Any] = {
    "Resources": _RESOURCES,
    "Outputs": {name: {"Value": value, "Export": {"Name": name}} for name, value in _VALUES.items()},
}


def of(name: str) -> dict[str, str]:
    """Import something of the support stack."""
    return {"Fn::ImportValue": name}


BALANCER: dict[str, Any] = {
    "Type": "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "Properties": {"Scheme": "internal", "Subnets": [of("SubnetA"), of("SubnetB")]},
}
"""A load balancer, in the support stack's subnets."""
_NOT_FOUND = [{"Type": "fixed-response", "FixedResponseConfig": {"StatusCode": "404"}}]


def listener(port: int, protocol: str, **more: Any) -> dict[str, Any]:
    """Return a listener of the load balancer ``Balancer`` that finds nothing."""
    properties = {"LoadBalancerArn": {"Ref": "Balancer"}, "Port": port, "Protocol": protocol}
    return {
        "Type": "AWS::ElasticLoadBalancingV2::Listener",
        "Properties": {**properties, "DefaultActions": _NOT_FOUND, **more},
    }
