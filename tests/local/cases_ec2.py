"""How EC2's types are tried."""

import base64
import json

from tests.local.cases import Case, look
from tests.local.support import of

_TAGS = [{"Key": "Name", "Value": "first"}]
_OTHER_TAGS = [{"Key": "Name", "Value": "second"}]
_GATEWAY = {"RouteTableId": of("Routes"), "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": of("Internet")}
_ADDRESS = {"Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}}}
_ALLOCATION = {"Fn::GetAtt": ["Address", "AllocationId"]}
_OTHER_GROUP = {
    "Other": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"VpcId": of("Vpc"), "GroupDescription": "other"}}
}
_NAT = {"Type": "AWS::EC2::NatGateway", "Properties": {"SubnetId": of("SubnetA"), "AllocationId": _ALLOCATION}}
_MACHINE = {"ImageId": "ami-12c6146b", "InstanceType": "c5.large", "SubnetId": of("SubnetA")}
_RULE = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/8", "Description": "TLS"}
_POLICY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}],
}

CASES = (
    Case(
        type="AWS::EC2::VPC",
        properties={
            "CidrBlock": "10.9.0.0/16",
            "EnableDnsHostnames": True,
            "EnableDnsSupport": True,
            "InstanceTenancy": "default",
            "Tags": _TAGS,
        },
        look=look("ec2", "describe_vpcs", "Vpcs[0].[CidrBlock, Tags[0].Value]", VpcIds=["{}"]),
        made=["10.9.0.0/16", "first"],
        change={"EnableDnsHostnames": False, "Tags": _OTHER_TAGS},
        changed=["10.9.0.0/16", "second"],
        attributes=("VpcId", "CidrBlock", "CidrBlockAssociations", "DefaultNetworkAcl", "DefaultSecurityGroup"),
    ),
    Case(
        type="AWS::EC2::VPCCidrBlock",
        properties={"VpcId": of("Vpc"), "CidrBlock": "10.1.0.0/16"},
        look=look(
            "ec2",
            "describe_vpcs",
            "Vpcs[].CidrBlockAssociationSet[?AssociationId=='{}' && CidrBlockState.State=='associated'][].CidrBlock",
        ),
        attributes=("Id",),
    ),
    Case(
        type="AWS::EC2::Subnet",
        properties={
            "VpcId": of("Vpc"),
            "CidrBlock": "10.0.64.0/20",
            "AvailabilityZoneId": "usw2-az2",
            "MapPublicIpOnLaunch": True,
            "Tags": _TAGS,
        },
        look=look(
            "ec2",
            "describe_subnets",
            "Subnets[0].[AvailabilityZoneId, MapPublicIpOnLaunch, Tags[0].Value]",
            SubnetIds=["{}"],
        ),
        made=["usw2-az2", True, "first"],
        change={"MapPublicIpOnLaunch": False, "Tags": _OTHER_TAGS},
        changed=["usw2-az2", False, "second"],
        attributes=(
            "SubnetId",
            "AvailabilityZone",
            "AvailabilityZoneId",
            "CidrBlock",
            "NetworkAclAssociationId",
            "VpcId",
        ),
    ),
    Case(
        type="AWS::EC2::InternetGateway",
        properties={"Tags": _TAGS},
        look=look("ec2", "describe_internet_gateways", "InternetGateways[0].Tags[0].Value", InternetGatewayIds=["{}"]),
        made="first",
        change={"Tags": _OTHER_TAGS},
        changed="second",
        attributes=("InternetGatewayId",),
    ),
    Case(
        type="AWS::EC2::VPCGatewayAttachment",
        needs={
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.8.0.0/16"}},
            "Gateway": {"Type": "AWS::EC2::InternetGateway"},
        },
        properties={"VpcId": {"Ref": "Vpc"}, "InternetGatewayId": {"Ref": "Gateway"}},
        look=lambda aws, physical_id: look(
            "ec2",
            "describe_internet_gateways",
            "InternetGateways[].Attachments[].State",
            Filters=[{"Name": "attachment.vpc-id", "Values": [physical_id.split("|")[1]]}],
        )(aws, ""),
        attributes=("AttachmentType",),
    ),
    Case(
        type="AWS::EC2::EIP",
        properties={"Domain": "vpc", "Tags": _TAGS},
        look=look("ec2", "describe_addresses", "Addresses[0].Tags[0].Value", PublicIps=["{}"]),
        made="first",
        change={"Tags": _OTHER_TAGS},
        changed="second",
        attributes=("AllocationId", "PublicIp"),
    ),
    Case(
        type="AWS::EC2::EIPAssociation",
        needs={**_ADDRESS, "Machine": {"Type": "AWS::EC2::Instance", "Properties": _MACHINE}},
        properties={"AllocationId": _ALLOCATION, "InstanceId": {"Ref": "Machine"}},
        look=lambda aws, association: [
            row["PublicIp"]
            for row in aws.client("ec2").describe_addresses()["Addresses"]
            if row.get("AssociationId") == association
        ],
        attributes=("Id",),
    ),
    Case(
        type="AWS::EC2::KeyPair",
        properties={"KeyName": "tried", "KeyType": "ed25519", "Tags": _TAGS},
        look=lambda aws, name: [
            aws.client("ssm").get_parameter(Name=f"/ec2/keypair/{row['KeyPairId']}")["Parameter"]["Type"]
            for row in aws.client("ec2").describe_key_pairs(KeyNames=[name])["KeyPairs"]
        ],
        made=["SecureString"],
        attributes=("KeyPairId",),
    ),
    Case(
        type="AWS::EC2::Volume",
        properties={"AvailabilityZone": "us-west-2a", "Size": 10, "VolumeType": "gp3", "Tags": _TAGS},
        look=look("ec2", "describe_volumes", "Volumes[0].[Size, Tags[0].Value]", VolumeIds=["{}"]),
        made=[10, "first"],
        change={"Size": 20, "Tags": _OTHER_TAGS},
        changed=[20, "second"],
        attributes=("VolumeId",),
    ),
    Case(
        type="AWS::EC2::NatGateway",
        needs=_ADDRESS,
        properties={"SubnetId": of("SubnetA"), "AllocationId": _ALLOCATION, "Tags": _TAGS},
        look=look(
            "ec2",
            "describe_nat_gateways",
            "NatGateways[?State=='available'] | [0].[NatGatewayAddresses[0].PublicIp && 'yes', Tags[0].Value]",
            NatGatewayIds=["{}"],
        ),
        made=["yes", "first"],
        change={"Tags": _OTHER_TAGS},
        changed=["yes", "second"],
        attributes=("NatGatewayId",),
    ),
    Case(
        type="AWS::EC2::RouteTable",
        properties={"VpcId": of("Vpc"), "Tags": _TAGS},
        look=look("ec2", "describe_route_tables", "RouteTables[0].Tags[0].Value", RouteTableIds=["{}"]),
        made="first",
        change={"Tags": _OTHER_TAGS},
        changed="second",
        attributes=("RouteTableId",),
    ),
    Case(
        type="AWS::EC2::Route",
        needs={**_ADDRESS, "Nat": _NAT},
        properties=_GATEWAY,
        look=lambda aws, physical_id: look(
            "ec2",
            "describe_route_tables",
            "RouteTables[0].Routes[?DestinationCidrBlock=='0.0.0.0/0'] | [0].[GatewayId && 'igw' || 'nat']",
            RouteTableIds=[physical_id.split("|")[0]],
        )(aws, ""),
        made=["igw"],
        change={"GatewayId": {"Ref": "AWS::NoValue"}, "NatGatewayId": {"Ref": "Nat"}},
        changed=["nat"],
        attributes=("CidrBlock",),
    ),
    Case(
        type="AWS::EC2::SubnetRouteTableAssociation",
        properties={"RouteTableId": of("Routes"), "SubnetId": of("SubnetA")},
        look=look(
            "ec2", "describe_route_tables", "RouteTables[].Associations[?RouteTableAssociationId=='{}'][].SubnetId"
        ),
        attributes=("Id",),
    ),
    Case(
        type="AWS::EC2::VPCEndpoint",
        properties={
            "VpcId": of("Vpc"),
            "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
            "VpcEndpointType": "Gateway",
            "RouteTableIds": [of("Routes")],
            "PolicyDocument": _POLICY,
            "Tags": _TAGS,
        },
        look=look(
            "ec2",
            "describe_vpc_endpoints",
            "VpcEndpoints[?State!='deleted'] | [0].[VpcEndpointType, length(RouteTableIds), PolicyDocument]",
            VpcEndpointIds=["{}"],
        ),
        made=["Gateway", 1, json.dumps(_POLICY)],
        change={"RouteTableIds": []},
        changed=["Gateway", 0, json.dumps(_POLICY)],
        attributes=("Id", "CreationTimestamp"),
    ),
    Case(
        type="AWS::EC2::FlowLog",
        properties={
            "ResourceId": of("Vpc"),
            "ResourceType": "VPC",
            "TrafficType": "REJECT",
            "LogDestinationType": "cloud-watch-logs",
            "LogGroupName": of("LogsName"),
            "DeliverLogsPermissionArn": of("RoleArn"),
            "MaxAggregationInterval": 60,
            "Tags": _TAGS,
        },
        look=look("ec2", "describe_flow_logs", "FlowLogs[0].[TrafficType, Tags[0].Value]", FlowLogIds=["{}"]),
        made=["REJECT", "first"],
        change={"Tags": _OTHER_TAGS},
        changed=["REJECT", "second"],
        attributes=("Id",),
    ),
    Case(
        type="AWS::EC2::SecurityGroup",
        properties={
            "VpcId": of("Vpc"),
            "GroupDescription": "tried",
            "SecurityGroupIngress": [_RULE],
            "SecurityGroupEgress": [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}],
            "Tags": _TAGS,
        },
        look=look(
            "ec2",
            "describe_security_groups",
            "SecurityGroups[0].[IpPermissions[].ToPort, IpPermissionsEgress[].IpProtocol, Tags[0].Value]",
            GroupIds=["{}"],
        ),
        made=[[443], ["-1"], "first"],
        change={"SecurityGroupIngress": [{**_RULE, "FromPort": 80, "ToPort": 80}], "Tags": _OTHER_TAGS},
        changed=[[80], ["-1"], "second"],
        attributes=("GroupId", "Id", "VpcId"),
    ),
    Case(
        type="AWS::EC2::SecurityGroupIngress",
        needs=_OTHER_GROUP,
        properties={"GroupId": of("Group"), "IpProtocol": "-1", "SourceSecurityGroupId": {"Ref": "Other"}},
        look=look(
            "ec2",
            "describe_security_group_rules",
            "SecurityGroupRules[0].[IpProtocol, IsEgress]",
            SecurityGroupRuleIds=["{}"],
        ),
        made=["-1", False],
        attributes=("Id",),
    ),
    Case(
        type="AWS::EC2::SecurityGroupEgress",
        needs=_OTHER_GROUP,
        properties={"GroupId": of("Group"), "IpProtocol": "-1", "DestinationSecurityGroupId": {"Ref": "Other"}},
        look=look(
            "ec2",
            "describe_security_group_rules",
            "SecurityGroupRules[0].[IpProtocol, IsEgress]",
            SecurityGroupRuleIds=["{}"],
        ),
        made=["-1", True],
        attributes=("Id",),
    ),
    Case(
        type="AWS::EC2::NetworkInterface",
        properties={"SubnetId": of("SubnetA"), "GroupSet": [of("Group")], "Description": "tried", "Tags": _TAGS},
        look=look(
            "ec2",
            "describe_network_interfaces",
            "NetworkInterfaces[0].[Description, TagSet[0].Value]",
            NetworkInterfaceIds=["{}"],
        ),
        made=["tried", "first"],
        change={"Tags": _OTHER_TAGS},
        changed=["tried", "second"],
        attributes=("Id", "PrimaryPrivateIpAddress", "VpcId"),
    ),
    Case(
        type="AWS::EC2::LaunchTemplate",
        properties={
            "LaunchTemplateData": {"InstanceType": "c5.large", "MetadataOptions": {"HttpTokens": "required"}},
            "TagSpecifications": [{"ResourceType": "launch-template", "Tags": _TAGS}],
        },
        look=look(
            "ec2",
            "describe_launch_template_versions",
            "LaunchTemplateVersions[].LaunchTemplateData.InstanceType",
            LaunchTemplateId="{}",
        ),
        made=["c5.large"],
        change={"LaunchTemplateData": {"InstanceType": "c5.xlarge"}},
        changed=["c5.large", "c5.xlarge"],
        attributes=("LaunchTemplateId", "LatestVersionNumber", "DefaultVersionNumber"),
    ),
    Case(
        type="AWS::EC2::PlacementGroup",
        properties={"Strategy": "cluster", "Tags": _TAGS},
        look=look(
            "ec2", "describe_placement_groups", "PlacementGroups[0].[Strategy, Tags[0].Value]", GroupNames=["{}"]
        ),
        made=["cluster", "first"],
        attributes=("GroupName", "GroupId"),
    ),
    Case(
        type="AWS::EC2::Instance",
        needs={
            "Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [of("RoleName")]}},
        },
        properties={
            "ImageId": "ami-12c6146b",
            "InstanceType": "c5.large",
            "SubnetId": of("SubnetA"),
            "SecurityGroupIds": [of("Group")],
            "IamInstanceProfile": {"Ref": "Profile"},
            "Monitoring": True,
            "UserData": base64.b64encode(b"#!/bin/sh").decode(),
            "Tags": _TAGS,
        },
        look=look(
            "ec2",
            "describe_instances",
            "Reservations[0].Instances[?State.Name=='running'] | [0].[InstanceType, Tags[?Key=='Name'] | [0].Value]",
            InstanceIds=["{}"],
        ),
        made=["c5.large", "first"],
        change={"Tags": _OTHER_TAGS},
        changed=["c5.large", "second"],
        attributes=("InstanceId", "PrivateIp", "PrivateDnsName", "AvailabilityZone"),
    ),
    Case(
        type="AWS::CDK::Metadata",
        properties={"Analytics": "v2:deflate64:H4sIA"},
        look=lambda _aws, physical_id: physical_id,
        change={"Analytics": "v2:deflate64:other"},
        stays=True,
    ),
)
