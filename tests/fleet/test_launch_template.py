"""Launch templates: one for every EFA type, alone and in other services' hands."""

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from cdk_trainyard.data_files import load
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.fleet import EfaLaunchTemplate, NodeImage
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.network import EfaBackend, PlacementGroup, efa_network_interfaces
from tests.fleet.parts import new_stack, only, shared_group

EFA_TYPES = [name for name in load("instances", "instance_types")["types"] if InstanceType.of(name).efa_supported]


def data(stack: Stack) -> dict[str, Any]:
    return dict(only(stack, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"])


def template(stack: Stack, **changes: Any) -> EfaLaunchTemplate:
    settings = {"instance_type": "p5.48xlarge", "security_group": shared_group(stack), **changes}
    return EfaLaunchTemplate(stack, "Template", **settings)


def test_a_minimal_template_has_sound_defaults() -> None:
    stack = new_stack()
    template(stack)
    found = data(stack)
    assert found["InstanceType"] == "p5.48xlarge"
    assert found["MetadataOptions"] == {
        "HttpEndpoint": "enabled",
        "HttpPutResponseHopLimit": 1,
        "HttpTokens": "required",
    }
    assert found["BlockDeviceMappings"] == [
        {
            "DeviceName": "/dev/xvda",
            "Ebs": {"DeleteOnTermination": True, "Encrypted": True, "VolumeSize": 200, "VolumeType": "gp3"},
        }
    ]
    assert found["EbsOptimized"] is True
    assert found["Monitoring"] == {"Enabled": True}
    assert len(found["NetworkInterfaces"]) == 33
    assert not any("AssociatePublicIpAddress" in one or "SubnetId" in one for one in found["NetworkInterfaces"])
    for absent in (
        "ImageId", "IamInstanceProfile", "UserData", "KeyName", "Placement", "InstanceMarketOptions", "CpuOptions",
        "CapacityReservationSpecification", "TagSpecifications", "SecurityGroupIds",
    ):  # fmt: skip
        assert absent not in found


@pytest.mark.slow
@pytest.mark.parametrize("backend", EfaBackend)
def test_every_efa_type_has_the_interfaces_of_its_cards(backend: EfaBackend) -> None:
    """The table over all EFA types, as CloudFormation gets it."""
    app = App(context={"@aws-cdk/core:stackResourceLimit": 0})
    stack = new_stack(app=app)
    group = shared_group(stack)
    for name in EFA_TYPES:
        # One type is sold by capacity blocks alone; what a reservation holds has been sold already.
        held = "on-demand" not in InstanceType.of(name).usage_classes
        EfaLaunchTemplate(
            *(stack, name.replace(".", "")),
            instance_type=name,
            security_group=group,
            backend=backend,
            reservation_id="cr-0123456789abcdef0" if held else None,
        )
    found = {
        resource["Properties"]["LaunchTemplateData"]["InstanceType"]: resource["Properties"]["LaunchTemplateData"]
        for resource in Template.from_stack(stack).find_resources("AWS::EC2::LaunchTemplate").values()
    }
    assert sorted(found) == sorted(EFA_TYPES)
    for name, one in found.items():
        interfaces = one["NetworkInterfaces"]
        rendered = [(each["NetworkCardIndex"], each["DeviceIndex"], each["InterfaceType"]) for each in interfaces]
        expected = efa_network_interfaces(InstanceType.of(name), backend)
        assert rendered == [(each.network_card_index, each.device_index, each.interface_type) for each in expected]
        assert all(each["Groups"] == [group.security_group_id] for each in interfaces), name
        assert all(each["DeleteOnTermination"] for each in interfaces), name


def test_everything_can_be_set() -> None:
    stack = new_stack()
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    key = kms.Key(stack, "Key")
    further = ec2.SecurityGroup.from_security_group_id(stack, "Further", "sg-99999999")
    subnet = ec2.Subnet.from_subnet_attributes(stack, "Subnet", subnet_id="subnet-1", availability_zone="us-west-2a")
    user_data = ec2.UserData.custom("#!/bin/bash")
    template(
        stack,
        instance_type="p4d.24xlarge",
        extra_security_groups=[further],
        subnet=subnet,
        backend=EfaBackend.LEGACY,
        image=NodeImage(ami_id="ami-0123456789abcdef0", architecture="x86_64"),
        reservation_id="cr-0123456789abcdef0",
        placement_group=PlacementGroup(stack, "Group"),
        role=role,
        user_data=user_data,
        volume_gib=500,
        volume_key=key,
        threads_per_core=1,
        key_pair=ec2.KeyPair.from_key_pair_name(stack, "KeyPair", "mine"),
        instance_tags={"team": "nlp"},
    )
    found = data(stack)
    assert found["ImageId"] == "ami-0123456789abcdef0"
    assert found["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}
    }
    assert found["CpuOptions"] == {"CoreCount": 48, "ThreadsPerCore": 1}
    assert found["BlockDeviceMappings"][0]["DeviceName"] == "/dev/sda1"
    assert found["BlockDeviceMappings"][0]["Ebs"]["KmsKeyId"] == stack.resolve(key.key_arn)
    assert [one["Groups"][1:] for one in found["NetworkInterfaces"]] == [["sg-99999999"], [], [], []]
    assert {one["InterfaceType"] for one in found["NetworkInterfaces"]} == {"efa"}
    assert {one["SubnetId"] for one in found["NetworkInterfaces"]} == {"subnet-1"}
    assert found["KeyName"] == "mine"
    assert found["TagSpecifications"][0] == {"ResourceType": "instance", "Tags": [{"Key": "team", "Value": "nlp"}]}
    assert "GroupName" in found["Placement"]
    assert "InstanceMarketOptions" not in found


@pytest.mark.parametrize(
    ("said", "market", "reservation"),
    [
        ({}, None, None),
        (
            {"capacity": UsageClass.SPOT},
            {
                "MarketType": "spot",
                "SpotOptions": {"InstanceInterruptionBehavior": "terminate", "SpotInstanceType": "one-time"},
            },
            None,
        ),
        ({"reservation_id": "cr-0123456789abcdef0"}, None, {"CapacityReservationId": "cr-0123456789abcdef0"}),
        (
            {"reservation_group_arn": "arn:aws:resource-groups:us-west-2:111111111111:group/x"},
            None,
            {"CapacityReservationResourceGroupArn": "arn:aws:resource-groups:us-west-2:111111111111:group/x"},
        ),
        (
            {"capacity": UsageClass.CAPACITY_BLOCK, "reservation_id": "cr-0123456789abcdef2"},
            {"MarketType": "capacity-block"},
            {"CapacityReservationId": "cr-0123456789abcdef2"},
        ),
    ],
)
def test_capacity_is_said_as_ec2_wants_it(said: dict[str, Any], market: Any, reservation: Any) -> None:
    stack = new_stack()
    template(stack, **said)
    found = data(stack)
    assert found.get("InstanceMarketOptions") == market
    assert found.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget") == reservation


def test_a_node_group_of_eks_takes_it() -> None:
    stack = new_stack()
    made = template(stack, instance_type="trn1.32xlarge")
    eks.CfnNodegroup(
        stack,
        "Nodes",
        cluster_name="some",
        node_role="arn:aws:iam::111111111111:role/nodes",
        subnets=["subnet-1"],
        launch_template=eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
            id=made.launch_template_id, version=made.latest_version
        ),
    )
    assert "Version" in only(stack, "AWS::EKS::Nodegroup")["LaunchTemplate"]


def test_pcs_gets_interfaces_of_its_kind() -> None:
    stack = new_stack()
    made = template(stack, backend=EfaBackend.PCS)
    assert {each.interface_type for each in made.interfaces} == {"efa"}
    assert len(made.interfaces) == 32


def test_a_public_address_where_there_is_one_interface() -> None:
    stack = new_stack()
    template(stack, instance_type="g5.48xlarge", backend=EfaBackend.LEGACY, public_address=True)
    (interface,) = data(stack)["NetworkInterfaces"]
    assert interface["AssociatePublicIpAddress"] is True


def test_fails_with_every_problem_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        template(new_stack(), public_address=True, volume_gib=1, threads_per_core=3)
    assert len(caught.value.problems) == 3
