"""Launch templates: one for every EFA type, alone and in other services' hands."""

import json
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.fleet import EfaLaunchTemplate, FleetCapacity, NodeImage
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.instances._data import load
from cdk_trainyard.network import EfaBackend, PlacementGroup, efa_network_interfaces
from tests.fleet.parts import new_stack, only, shared_group

EFA_TYPES = [name for name in load("instance_types")["types"] if InstanceType.of(name).efa_supported]


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
        EfaLaunchTemplate(stack, name.replace(".", ""), instance_type=name, security_group=group, backend=backend)
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
        image=NodeImage.ami("ami-0123456789abcdef0", architecture="x86_64"),
        capacity=FleetCapacity.odcr("cr-0123456789abcdef0"),
        placement_group=PlacementGroup(stack, "Group"),
        role=role,
        user_data=user_data,
        volume_gib=500,
        volume_key=key,
        threads_per_core=1,
        key_name="mine",
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
    ("capacity", "market", "reservation"),
    [
        (FleetCapacity.on_demand(), None, None),
        (
            FleetCapacity.spot(),
            {
                "MarketType": "spot",
                "SpotOptions": {"InstanceInterruptionBehavior": "terminate", "SpotInstanceType": "one-time"},
            },
            None,
        ),
        (FleetCapacity.odcr("cr-1"), None, {"CapacityReservationId": "cr-1"}),
        (
            FleetCapacity.odcr(group_arn="arn:aws:resource-groups:us-west-2:111111111111:group/x"),
            None,
            {"CapacityReservationResourceGroupArn": "arn:aws:resource-groups:us-west-2:111111111111:group/x"},
        ),
        (
            FleetCapacity.capacity_block("cr-2"),
            {"MarketType": "capacity-block"},
            {"CapacityReservationId": "cr-2"},
        ),
    ],
)
def test_capacity_is_said_as_ec2_wants_it(capacity: FleetCapacity, market: Any, reservation: Any) -> None:
    stack = new_stack()
    template(stack, capacity=capacity)
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


def test_a_token_is_taken_as_it_is() -> None:
    stack = new_stack()
    from aws_cdk import CfnParameter  # noqa: PLC0415  for this test alone

    template(stack, instance_type=CfnParameter(stack, "Type").value_as_string)
    found = data(stack)
    assert found["InstanceType"] == {"Ref": "Type"}
    assert len(found["NetworkInterfaces"]) == 1


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"instance_type": "m5.large"},
            "'instance_type' must be one with EFA, got 'm5.large'; launch it without EFA interfaces",
        ),
        (
            {"public_address": True},
            (
                "'public_address' must be False for p5.48xlarge, got True: EC2 gives none to an instance with several "
                "network interfaces, and this one has 33 on 32 network cards; reach it through SSM, and let it out "
                "through NAT"
            ),
        ),
        (
            {"image": NodeImage.ami("ami-1", architecture="arm64")},
            "'image' must be one for x86_64, the architecture of p5.48xlarge, got 'ami-1' for arm64",
        ),
        (
            {"image": NodeImage.dlami("neuron-base-ubuntu-24.04")},
            (
                "'image' must be one with drivers for the H100 devices of p5.48xlarge, got 'neuron-base-ubuntu-24.04' "
                "for inf2, trn1, trn1n, trn2, trn2u, trn3; use one of base-oss-nvidia-driver-gpu-amazon-linux-2023, "
                "base-oss-nvidia-driver-gpu-ubuntu-22.04, base-oss-nvidia-driver-gpu-ubuntu-24.04, "
                "oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04"
            ),
        ),
        (
            {"instance_type": "p3dn.24xlarge", "image": NodeImage.dlami("base-oss-nvidia-driver-gpu-ubuntu-24.04")},
            (
                "'image' must be one with drivers for the V100 devices of p3dn.24xlarge, got "
                "'base-oss-nvidia-driver-gpu-ubuntu-24.04' for g4dn, g5, g6, gr6, g6e, g7e, p4d, p4de, p5, p5e, p5en, "
                "p6-b200, p6-b300; no Deep Learning AMI is made for it any more: build one with TrainingImage on "
                "'ubuntu-24.04'"
            ),
        ),
        (
            {"instance_type": "p3dn.24xlarge", "capacity": FleetCapacity.capacity_block("cr-1")},
            "'capacity' must be on-demand or spot for p3dn.24xlarge, the ways in which it is sold, got capacity-block",
        ),
        (
            {"capacity": FleetCapacity.odcr()},
            "'capacity' must name one reservation or one resource group of reservations, got 0 of them",
        ),
        (
            {"capacity": FleetCapacity.capacity_block("block-1")},
            "'reservation_id' must begin with 'cr-', got 'block-1'",
        ),
        ({"volume_gib": 4}, "'volume_gib' must be 8 to 65536, the sizes of gp3, got 4"),
        ({"threads_per_core": 4}, "'threads_per_core' must be 1 or 2, got 4"),
        (
            {"instance_type": "hpc7g.16xlarge", "threads_per_core": 2},
            "'threads_per_core' must be 1 for hpc7g.16xlarge, whose cores have one thread, got 2",
        ),
    ],
)
def test_fails_with_one_clear_sentence(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        template(new_stack(), **changes)
    assert caught.value.problems == (problem,)


def test_fails_with_a_placement_group_beside_a_capacity_block() -> None:
    stack = new_stack()
    with pytest.raises(ConfigurationError) as caught:
        template(
            stack,
            capacity=FleetCapacity.capacity_block("cr-1"),
            placement_group=PlacementGroup(stack, "Group"),
        )
    assert caught.value.problems[0].startswith("'placement_group' must be left out with a capacity block")


def test_fails_with_every_problem_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        template(new_stack(), public_address=True, volume_gib=1, threads_per_core=3)
    assert len(caught.value.problems) == 3


def test_an_unknown_type_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(ConfigurationError) as caught:
        template(new_stack(), instance_type="p5.48xlarg")
    assert "did you mean 'p5.48xlarge'" in caught.value.problems[0]
    assert json.dumps(caught.value.problems)
