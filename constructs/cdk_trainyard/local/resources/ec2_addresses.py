"""EC2's addresses and machines: elastic IPs, interfaces, launch templates, placement groups, instances."""

import base64
from typing import Any

from cdk_trainyard.local.resources.ec2_common import EC2, RETAG, tagged
from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, constant, given, identity, tagger


def _template_data(it: Resource) -> dict[str, Any]:
    return {"LaunchTemplateData": it["LaunchTemplateData"], **it.pick("VersionDescription")}


def _template(it: Resource) -> Any:
    found = it.call("ec2", "describe_launch_templates", {"LaunchTemplateIds": [it.id]})
    return found["LaunchTemplates"][0]


def _instance(it: Resource) -> dict[str, Any]:
    profile, group = it.get("IamInstanceProfile"), it.get("PlacementGroupName")
    placement = {"AvailabilityZone": it.get("AvailabilityZone"), "GroupName": group, "Tenancy": it.get("Tenancy")}
    placement = {name: value for name, value in placement.items() if value}
    script = it.get("UserData")
    return {
        "MinCount": 1,
        "MaxCount": 1,
        **({"IamInstanceProfile": {"Name": profile}} if profile else {}),
        **({"Placement": placement} if placement else {}),
        **({"Monitoring": {"Enabled": it.flag("Monitoring")}} if "Monitoring" in it else {}),
        # the template carries it encoded, and boto3 encodes it once more
        **({"UserData": base64.b64decode(script).decode()} if script else {}),
        **tagged(it, "instance"),
    }


def _key_parameter(it: Resource) -> dict[str, Any]:
    return {"Name": f"/ec2/keypair/{_KEY_PAIR_ID(it)}"}


def _key_pair(it: Resource) -> dict[str, Any]:
    """Import a public key, or make a pair and keep the private key where CloudFormation does: in a parameter."""
    if "PublicKeyMaterial" in it:
        return EC2.apply("import_key_pair", lambda it: tagged(it, "key-pair"))(it)  # type: ignore[return-value]
    made = it.call("ec2", "create_key_pair", {**it.pick("KeyName", "KeyType", "KeyFormat"), **tagged(it, "key-pair")})
    it.result = made
    secret = {**_key_parameter(it), "Value": made.pop("KeyMaterial"), "Type": "SecureString"}
    it.call("ssm", "put_parameter", secret)
    return made


def _forget_key_pair(it: Resource) -> None:
    EC2.forget("delete_key_pair", lambda it: {"KeyName": it.id})(it)
    Api("ssm").forget("delete_parameter", _key_parameter)(it)


_KEY_PAIR_ID = answer("KeyPairId")


def _of_instance(name: str) -> Any:
    return lambda it: answer(f"Instances[0].{name}")(it) or ""


_EIP_TAGS = tagger(
    "ec2",
    "create_tags",
    "delete_tags",
    lambda it: {"Resources": [answer("AllocationId")(it)]},
    keys="Tags",
    keys_as_tags=True,
)

TYPES = (
    ResourceType(
        name="AWS::EC2::EIP",
        create=EC2.apply("allocate_address", lambda it: {"Domain": "vpc", **tagged(it, "elastic-ip")}),
        identity=answer("PublicIp"),
        retag=_EIP_TAGS,
        delete=EC2.forget("release_address", lambda it: {"AllocationId": answer("AllocationId")(it)}),
        read=EC2.read("describe_addresses", lambda it: {"PublicIps": [it.id]}),
        attributes={"AllocationId": answer("AllocationId"), "PublicIp": identity},
    ),
    ResourceType(
        name="AWS::EC2::EIPAssociation",
        create=EC2.apply("associate_address"),
        identity=answer("AssociationId"),
        delete=EC2.forget("disassociate_address", lambda it: {"AssociationId": it.id}),
        attributes={"Id": identity},
    ),
    ResourceType(
        name="AWS::EC2::NetworkInterface",
        create=EC2.apply(
            "create_network_interface",
            lambda it: {"Groups": it.get("GroupSet", []), **tagged(it, "network-interface")},
        ),
        identity=answer("NetworkInterface.NetworkInterfaceId"),
        update=EC2.call(
            "modify_network_interface_attribute",
            lambda it: {"NetworkInterfaceId": it.id, "Groups": it.get("GroupSet", [])},
        ),
        retag=RETAG,
        delete=EC2.forget("delete_network_interface", lambda it: {"NetworkInterfaceId": it.id}),
        read=EC2.read("describe_network_interfaces", lambda it: {"NetworkInterfaceIds": [it.id]}),
        attributes={
            "Id": identity,
            "PrimaryPrivateIpAddress": answer("NetworkInterface.PrivateIpAddress"),
            "SecondaryPrivateIpAddresses": constant([]),
            "VpcId": answer("NetworkInterface.VpcId"),
        },
    ),
    ResourceType(
        name="AWS::EC2::KeyPair",
        create=_key_pair,
        identity=given("KeyName"),
        delete=_forget_key_pair,
        read=EC2.read("describe_key_pairs", lambda it: {"KeyNames": [it.id]}),
        attributes={"KeyPairId": _KEY_PAIR_ID, "KeyFingerprint": answer("KeyFingerprint")},
    ),
    ResourceType(
        name="AWS::EC2::Volume",
        create=EC2.apply("create_volume", lambda it: tagged(it, "volume")),
        identity=answer("VolumeId"),
        update=EC2.apply("modify_volume", lambda it: {"VolumeId": it.id}),
        retag=RETAG,
        delete=EC2.forget("delete_volume", lambda it: {"VolumeId": it.id}),
        read=EC2.read("describe_volumes", lambda it: {"VolumeIds": [it.id]}, "Volumes[0].{Size: Size}"),
        attributes={"VolumeId": identity},
    ),
    ResourceType(
        name="AWS::EC2::LaunchTemplate",
        create=EC2.apply("create_launch_template"),
        identity=answer("LaunchTemplate.LaunchTemplateId"),
        update=EC2.call("create_launch_template_version", lambda it: {"LaunchTemplateId": it.id, **_template_data(it)}),
        delete=EC2.forget("delete_launch_template", lambda it: {"LaunchTemplateId": it.id}),
        read=EC2.read("describe_launch_templates", lambda it: {"LaunchTemplateIds": [it.id]}),
        attributes={
            "LaunchTemplateId": identity,
            "LaunchTemplateName": given("LaunchTemplateName"),
            "LatestVersionNumber": lambda it: str(_template(it)["LatestVersionNumber"]),
            "DefaultVersionNumber": lambda it: str(_template(it)["DefaultVersionNumber"]),
        },
        named=Name(property="LaunchTemplateName", limit=128),
    ),
    ResourceType(
        name="AWS::EC2::PlacementGroup",
        create=EC2.apply(
            "create_placement_group",
            lambda it: {"GroupName": Name(property="GroupName").make(it.where), **tagged(it, "placement-group")},
        ),
        identity=answer("PlacementGroup.GroupName"),
        delete=EC2.forget("delete_placement_group", lambda it: {"GroupName": it.id}),
        read=EC2.read(
            "describe_placement_groups", lambda it: {"GroupNames": [it.id]}, "PlacementGroups[0].{Strategy: Strategy}"
        ),
        attributes={"GroupName": identity, "GroupId": answer("PlacementGroup.GroupId")},
    ),
    ResourceType(
        name="AWS::EC2::Instance",
        create=EC2.apply("run_instances", _instance),
        identity=answer("Instances[0].InstanceId"),
        retag=RETAG,
        delete=EC2.forget("terminate_instances", lambda it: {"InstanceIds": [it.id]}),
        read=EC2.read(
            "describe_instances",
            lambda it: {"InstanceIds": [it.id]},
            "Reservations[0].Instances[?State.Name!='terminated'] | [0].{InstanceType: InstanceType}",
        ),
        attributes={
            "InstanceId": identity,
            "AvailabilityZone": _of_instance("Placement.AvailabilityZone"),
            "PrivateIp": _of_instance("PrivateIpAddress"),
            "PublicIp": _of_instance("PublicIpAddress"),
            "PrivateDnsName": _of_instance("PrivateDnsName"),
            "PublicDnsName": _of_instance("PublicDnsName"),
            "VpcId": _of_instance("VpcId"),
        },
    ),
)
