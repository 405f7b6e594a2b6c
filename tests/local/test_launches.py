"""What is launched from a launch template is all that the template says, whoever launches it."""

import base64
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, outputs_of, template
from tests.local.support import of

pytestmark = pytest.mark.slow

_IMAGE = "ami-12c6146b"
_OF_IMAGE: Any = {"Type": "String", "DataType": "aws:ec2:image", "Overwrite": True}
_SCRIPT = base64.b64encode(b"#!/bin/sh\n").decode()
_INTERFACES = [
    {"NetworkCardIndex": 0, "DeviceIndex": 0, "InterfaceType": "interface", "Groups": [of("Group")]},
    {"NetworkCardIndex": 0, "DeviceIndex": 1, "InterfaceType": "efa-only", "Groups": [of("Group")]},
    *(
        {"NetworkCardIndex": card, "DeviceIndex": 1, "InterfaceType": "efa", "Groups": [of("Group")]}
        for card in range(1, 4)
    ),
]
_DATA: dict[str, Any] = {
    "ImageId": _IMAGE,
    "InstanceType": "p4d.24xlarge",
    "IamInstanceProfile": {"Arn": {"Fn::GetAtt": ["Profile", "Arn"]}},
    "NetworkInterfaces": _INTERFACES,
    "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
    "Monitoring": {"Enabled": True},
    "Placement": {"GroupName": {"Ref": "Place"}},
    "CpuOptions": {"CoreCount": 48, "ThreadsPerCore": 1},
    "UserData": _SCRIPT,
    "InstanceMarketOptions": {"MarketType": "capacity-block"},
    "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}},
    "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 200, "VolumeType": "gp3"}}],
    "TagSpecifications": [
        {"ResourceType": kind, "Tags": [{"Key": "Name", "Value": "launched"}]} for kind in ("instance", "volume")
    ],
}
_PARTS: dict[str, Any] = {
    "Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [of("RoleName")]}},
    "Place": {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}},
}
_VERSION = {
    "LaunchTemplateId": {"Ref": "Template"},
    "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
}
_GROUP: dict[str, Any] = {
    "Type": "AWS::AutoScaling::AutoScalingGroup",
    "Properties": {
        "MinSize": "2",
        "MaxSize": "2",
        "VPCZoneIdentifier": [of("SubnetA"), of("SubnetB")],
        "LaunchTemplate": _VERSION,
    },
}


def _launching(data: dict[str, Any], **more: Any) -> dict[str, Any]:
    kind = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}
    outputs = outputs_of(Profile={"Fn::GetAtt": ["Profile", "Arn"]}, Place={"Ref": "Place"}, Group=of("Group"))
    return template({**_PARTS, "Template": kind, **more}, Outputs=outputs)


def _machine(data: dict[str, Any], **properties: Any) -> dict[str, Any]:
    alone = {"Type": "AWS::EC2::Instance", "Properties": {"LaunchTemplate": _VERSION, **properties}}
    return _launching(data, Machine=alone)


def _in(subnet: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
    found = data or _DATA
    return {**found, "NetworkInterfaces": [{**row, "SubnetId": of(subnet)} for row in found["NetworkInterfaces"]]}


def _instances(aws: LocalAws, *ids: str) -> list[dict[str, Any]]:
    found = aws.client("ec2").describe_instances(InstanceIds=list(ids))["Reservations"]
    return [instance for reservation in found for instance in reservation["Instances"]]


def _key_pair(aws: LocalAws) -> str:
    """Return the name of a key pair that exists."""
    name = f"launched-{uuid4().hex[:8]}"
    aws.client("ec2").create_key_pair(KeyName=name)
    return name


def _group_instances(aws: LocalAws, name: str) -> list[dict[str, Any]]:
    (group,) = aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
    return _instances(aws, *(row["InstanceId"] for row in group["Instances"]))


def _check(aws: LocalAws, instance: dict[str, Any], outputs: dict[str, str]) -> None:
    cards = [
        (row["InterfaceType"], row["Attachment"]["NetworkCardIndex"], row["Attachment"]["DeviceIndex"])
        for row in instance["NetworkInterfaces"]
    ]
    assert cards == [
        ("interface", 0, 0),
        ("efa-only", 0, 1),
        ("efa", 1, 1),
        ("efa", 2, 1),
        ("efa", 3, 1),
    ]
    addresses = [row.get("PrivateIpAddress") for row in instance["NetworkInterfaces"]]
    assert [address is None for address in addresses] == [False, True, False, False, False]
    assert len(set(addresses)) == 5
    assert {row["SubnetId"] for row in instance["NetworkInterfaces"]} == {instance["SubnetId"]}
    assert all([group["GroupId"] for group in row["Groups"]] == [outputs["Group"]] for row in _nics(instance))
    assert [group["GroupId"] for group in instance["SecurityGroups"]] == [outputs["Group"]]
    assert instance["IamInstanceProfile"]["Arn"] == outputs["Profile"]
    assert instance["Placement"]["GroupName"] == outputs["Place"]
    assert instance["MetadataOptions"]["HttpTokens"] == "required"
    assert instance["Monitoring"]["State"] == "enabled"
    assert instance["CpuOptions"] == {"CoreCount": 48, "ThreadsPerCore": 1}
    assert (instance["InstanceLifecycle"], instance["CapacityReservationId"]) == ("capacity-block", "cr-1")
    assert {tag["Key"]: tag["Value"] for tag in instance["Tags"]}["Name"] == "launched"
    volumes = [row["Ebs"]["VolumeId"] for row in instance["BlockDeviceMappings"]]
    (volume,) = aws.client("ec2").describe_volumes(VolumeIds=volumes)["Volumes"]
    assert (volume["Size"], volume["Tags"]) == (200, [{"Key": "Name", "Value": "launched"}])


def _nics(instance: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = instance["NetworkInterfaces"]
    return found


@pytest.mark.usefixtures("support")
def test_an_instance(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(_machine(_in("SubnetB")))
    (instance,) = _instances(aws, stacks.physical_id(stack, "Machine"))
    assert instance["InstanceType"] == "p4d.24xlarge"
    assert instance["Placement"]["AvailabilityZone"] == "us-west-2b"
    _check(aws, instance, stacks.outputs(stack))
    interfaces = [row["NetworkInterfaceId"] for row in instance["NetworkInterfaces"]]
    assert stacks.delete(stack) == "DELETE_COMPLETE", stacks.reasons(stack)
    with pytest.raises(ClientError, match=r"InvalidNetworkInterfaceID\.NotFound"):
        aws.client("ec2").describe_network_interfaces(NetworkInterfaceIds=interfaces)


@pytest.mark.usefixtures("support")
def test_a_group_in_both_of_its_subnets(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(_launching(_DATA, Nodes=_GROUP))
    instances = _group_instances(aws, stacks.physical_id(stack, "Nodes"))
    assert {instance["Placement"]["AvailabilityZone"] for instance in instances} == {"us-west-2a", "us-west-2b"}
    for instance in instances:
        _check(aws, instance, stacks.outputs(stack))


@pytest.mark.usefixtures("support")
def test_a_group_takes_the_version_and_the_override_that_it_names(aws: LocalAws, stacks: Stacks) -> None:
    data = {**_DATA, "KeyName": _key_pair(aws)}
    second = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}
    policy = {
        "LaunchTemplate": {
            "LaunchTemplateSpecification": _VERSION,
            "Overrides": [
                {
                    "InstanceType": "p4de.24xlarge",
                    "LaunchTemplateSpecification": {
                        "LaunchTemplateId": {"Ref": "Second"},
                        "Version": {"Fn::GetAtt": ["Second", "LatestVersionNumber"]},
                    },
                },
                {"InstanceType": "p4d.24xlarge"},
            ],
        }
    }
    properties = {**_GROUP["Properties"], "MixedInstancesPolicy": policy}
    del properties["LaunchTemplate"]
    stack = stacks.deployed(_launching(_DATA, Second=second, Nodes={**_GROUP, "Properties": properties}))
    instances = _group_instances(aws, stacks.physical_id(stack, "Nodes"))
    assert {(instance["InstanceType"], instance["KeyName"]) for instance in instances} == {
        ("p4de.24xlarge", data["KeyName"])
    }


@pytest.mark.usefixtures("support")
def test_a_group_grows_with_a_new_version_of_its_template(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(_launching(_DATA, Nodes=_GROUP))
    name = stacks.physical_id(stack, "Nodes")
    before = {instance["InstanceId"] for instance in _group_instances(aws, name)}
    other = base64.b64encode(b"#!/bin/bash\n").decode()
    larger = {**_GROUP, "Properties": {**_GROUP["Properties"], "MaxSize": "3", "MinSize": "3"}}
    key = _key_pair(aws)
    body = _launching({**_DATA, "UserData": other, "KeyName": key}, Nodes=larger)
    assert stacks.update(stack, body) == "UPDATE_COMPLETE", stacks.reasons(stack)
    after = {instance["InstanceId"]: instance for instance in _group_instances(aws, name)}
    (new,) = after.keys() - before
    assert before <= after.keys(), "without an UpdatePolicy nothing is replaced"
    assert after[new]["KeyName"] == key
    script = aws.client("ec2").describe_instance_attribute(InstanceId=new, Attribute="userData")["UserData"]["Value"]
    assert script == other


@pytest.mark.usefixtures("support")
def test_a_rolling_update_replaces_every_instance(aws: LocalAws, stacks: Stacks) -> None:
    rolling = {**_GROUP, "UpdatePolicy": {"AutoScalingRollingUpdate": {"MaxBatchSize": 1}}}
    stack = stacks.deployed(_launching(_DATA, Nodes=rolling))
    name = stacks.physical_id(stack, "Nodes")
    before = {instance["InstanceId"] for instance in _group_instances(aws, name)}
    key = _key_pair(aws)
    assert stacks.update(stack, _launching({**_DATA, "KeyName": key}, Nodes=rolling)) == "UPDATE_COMPLETE"
    after = _group_instances(aws, name)
    assert [instance["KeyName"] for instance in after] == [key, key]
    assert before.isdisjoint(instance["InstanceId"] for instance in after)
    assert {instance["State"]["Name"] for instance in _instances(aws, *before)} == {"terminated"}


# ---------------------------------------------------------------- images by parameter
@pytest.mark.usefixtures("support")
def test_an_image_that_a_parameter_names_is_read_at_each_launch(aws: LocalAws, stacks: Stacks) -> None:
    ssm, found = aws.client("ssm"), aws.client("ec2").describe_images(Owners=["amazon"])["Images"]
    first, second = found[0]["ImageId"], found[1]["ImageId"]
    ssm.put_parameter(Name="/launched/image", Value=first, **_OF_IMAGE)
    data = {**_DATA, "ImageId": "resolve:ssm:/launched/image"}
    stack = stacks.deployed(_launching(data, Nodes=_GROUP))
    name = stacks.physical_id(stack, "Nodes")
    assert {instance["ImageId"] for instance in _group_instances(aws, name)} == {first}
    ssm.put_parameter(Name="/launched/image", Value=second, **_OF_IMAGE)
    gone = _group_instances(aws, name)[0]["InstanceId"]
    aws.client("autoscaling").terminate_instance_in_auto_scaling_group(
        InstanceId=gone, ShouldDecrementDesiredCapacity=False
    )
    assert sorted(instance["ImageId"] for instance in _group_instances(aws, name)) == sorted([first, second])


@pytest.mark.usefixtures("support")
def test_a_group_of_no_nodes_is_refused_too_when_the_parameter_of_its_image_is_gone(
    aws: LocalAws, stacks: Stacks
) -> None:
    ssm = aws.client("ssm")
    ssm.put_parameter(Name="/launched/gone", Value=_IMAGE, **_OF_IMAGE)
    data = {**_DATA, "ImageId": "resolve:ssm:/launched/gone"}
    empty = {**_GROUP, "Properties": {**_GROUP["Properties"], "MinSize": "0", "MaxSize": "0"}}
    stack = stacks.deployed(_launching(data, Nodes=empty))
    ssm.delete_parameter(Name="/launched/gone")
    larger = {**empty, "Properties": {**empty["Properties"], "MaxSize": "1"}}
    assert stacks.update(stack, _launching(data, Nodes=larger)) == "UPDATE_ROLLBACK_FAILED"
    refusal = "You must use a valid fully-formed launch template. The following aliases are invalid: /launched/gone"
    assert refusal in str(stacks.reasons(stack))


@pytest.mark.usefixtures("support")
def test_the_parameter_of_an_image_has_its_data_type(aws: LocalAws, stacks: Stacks) -> None:
    aws.client("ssm").put_parameter(Name="/launched/text", Value=_IMAGE, Type="String", Overwrite=True)
    reason = stacks.failure(_launching({**_DATA, "ImageId": "resolve:ssm:/launched/text"}))
    assert "Unsupported data type. The following parameter data types are supported: aws:ec2:image" in reason


# ---------------------------------------------------------------- what EC2 refuses
@pytest.mark.usefixtures("support")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ImageId": "resolve:ssm:/launched/nobody"}, "The following aliases are invalid: /launched/nobody"),
        ({"Placement": {"GroupName": "nobody"}}, "The Placement Group 'nobody' is unknown"),
        ({"UserData": base64.b64encode(b"#" * 16385).decode()}, "User data is limited to 16384 bytes"),
        ({"IamInstanceProfile": {"Name": "nobody"}}, "nobody"),
        ({"KeyName": "nobody"}, "The key pair 'nobody' does not exist"),
    ],
)
def test_fails_at_the_launch(stacks: Stacks, change: dict[str, Any], message: str) -> None:
    assert message in stacks.failure(_machine(_in("SubnetA", {**_DATA, **change})))
    assert message in stacks.failure(_launching({**_DATA, **change}, Nodes=_GROUP))


@pytest.mark.usefixtures("support")
def test_fails_with_a_public_address_for_several_interfaces(stacks: Stacks) -> None:
    first, *others = _in("SubnetA")["NetworkInterfaces"]
    rows = [{**first, "AssociatePublicIpAddress": True}, *others]
    reason = stacks.failure(_machine({**_DATA, "NetworkInterfaces": rows}))
    assert "associatePublicIPAddress parameter cannot be specified" in reason


@pytest.mark.usefixtures("support")
def test_a_placement_group_goes_after_its_instances(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(_machine(_in("SubnetA")))
    place = stacks.physical_id(stack, "Place")
    with pytest.raises(ClientError, match=r"InvalidPlacementGroup\.InUse"):
        aws.client("ec2").delete_placement_group(GroupName=place)
    assert stacks.delete(stack) == "DELETE_COMPLETE"
    with pytest.raises(ClientError, match=r"InvalidPlacementGroup\.Unknown"):
        aws.client("ec2").describe_placement_groups(GroupNames=[place])


@pytest.mark.usefixtures("support")
def test_a_request_goes_before_the_template(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(_launching(_DATA))
    ec2 = aws.client("ec2")
    other = "elsewhere"
    ec2.create_placement_group(GroupName=other, Strategy="spread")
    made = ec2.run_instances(
        MinCount=1,
        MaxCount=1,
        LaunchTemplate={"LaunchTemplateId": stacks.physical_id(stack, "Template"), "Version": "$Latest"},
        Placement={"GroupName": other},
        MetadataOptions={"HttpPutResponseHopLimit": 2},
    )["Instances"][0]
    assert made["Placement"]["GroupName"] == other
    assert (made["MetadataOptions"]["HttpTokens"], made["MetadataOptions"]["HttpPutResponseHopLimit"]) == (
        "required",
        2,
    )
    ec2.terminate_instances(InstanceIds=[made["InstanceId"]])
    ec2.delete_placement_group(GroupName=other)
