"""FSx: legal file systems only, and only in networks that let clients in."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.services.fsx_rules import growth_refusals, refusals
from tests.local.stacks import Stacks, Template, outputs_of, template
from tests.local.support import of

pytestmark = pytest.mark.usefixtures("support")

_P2 = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}


def _lustre(config: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": 1200,
        "SubnetIds": ["subnet-1"],
        "LustreConfiguration": _P2 if config is None else config,
        **more,
    }


def _openzfs(deployment: str = "SINGLE_AZ_HA_2", **more: Any) -> dict[str, Any]:
    return {
        "FileSystemType": "OPENZFS",
        "StorageCapacity": 64,
        "SubnetIds": ["subnet-1"],
        "OpenZFSConfiguration": {"DeploymentType": deployment, "ThroughputCapacity": 160},
        **more,
    }


@pytest.mark.parametrize(
    "parameters",
    [
        _lustre(),
        _lustre(StorageCapacity=4800),
        _lustre({"DeploymentType": "SCRATCH_2"}, StorageCapacity=2400),
        _lustre({}, StorageCapacity=3600),
        _lustre(
            {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 12}, StorageType="HDD", StorageCapacity=6000
        ),
        _lustre(
            {
                **_P2,
                "PerUnitStorageThroughput": 1000,
                "EfaEnabled": True,
                "MetadataConfiguration": {"Mode": "AUTOMATIC"},
            },
            StorageCapacity=4800,
        ),
        {
            "FileSystemType": "LUSTRE",
            "StorageType": "INTELLIGENT_TIERING",
            "SubnetIds": ["subnet-1"],
            "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "ThroughputCapacity": 4000},
        },
        _openzfs(),
        _openzfs("MULTI_AZ_1", SubnetIds=["subnet-1", "subnet-2"]),
    ],
)
def test_legal(parameters: Any) -> None:
    assert refusals(parameters) == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (_lustre(StorageCapacity=1300), "Storage capacity must be 1200, multiples of 2400 GiB, got 1300 GiB"),
        (_lustre(StorageCapacity=0), "Storage capacity must be 1200, multiples of 2400 GiB, got 0 GiB"),
        (_lustre({}, StorageCapacity=4800), "Storage capacity must be 1200, 2400, multiples of 3600 GiB, got 4800 GiB"),
        (
            _lustre({**_P2, "PerUnitStorageThroughput": 251}),
            "PerUnitStorageThroughput for PERSISTENT_2 SSD must be one of [125, 250, 500, 1000], got 251",
        ),
        (
            _lustre({"DeploymentType": "PERSISTENT_2"}),
            "PerUnitStorageThroughput for PERSISTENT_2 SSD must be one of [125, 250, 500, 1000], got None",
        ),
        (
            _lustre({"DeploymentType": "SCRATCH_2", "PerUnitStorageThroughput": 250}),
            "PerUnitStorageThroughput is not supported for the SCRATCH_2 deployment type",
        ),
        (
            _lustre({**_P2, "EfaEnabled": True, "MetadataConfiguration": {"Mode": "AUTOMATIC"}}, StorageCapacity=4800),
            "Storage capacity must be multiples of 19200 GiB, got 4800 GiB",
        ),
        (
            _lustre({**_P2, "EfaEnabled": True}, StorageCapacity=19200),
            "EfaEnabled needs a MetadataConfiguration",
        ),
        (_lustre(SubnetIds=["a", "b"]), "A Lustre file system needs exactly one subnet"),
        (
            _lustre(StorageType="INTELLIGENT_TIERING", LustreConfiguration={"DeploymentType": "PERSISTENT_2"}),
            "StorageCapacity is not supported for INTELLIGENT_TIERING file systems",
        ),
        (
            {
                "FileSystemType": "LUSTRE",
                "StorageType": "INTELLIGENT_TIERING",
                "SubnetIds": ["subnet-1"],
                "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "ThroughputCapacity": 4500},
            },
            "ThroughputCapacity must be a multiple of 4000, got 4500",
        ),
        (
            _lustre({"DeploymentType": "SCRATCH_2", "MetadataConfiguration": {"Iops": 1600}}),
            f"Metadata Iops must be one of {[1500, 3000, 6000, *range(12000, 192001, 12000)]}, got 1600",
        ),
        (
            _openzfs(StorageCapacity=63),
            "Storage capacity must be 64 to 524288 GiB, got 63 GiB",
        ),
        (
            _openzfs("SINGLE_AZ_1"),
            "ThroughputCapacity for SINGLE_AZ_1 must be one of [64, 128, 256, 512, 1024, 2048, 3072, 4096], got 160",
        ),
        (
            _openzfs("MULTI_AZ_1"),
            "An OpenZFS file system of the MULTI_AZ_1 deployment type needs 2 subnets",
        ),
        ({"FileSystemType": "WINDOWS"}, "local AWS: file systems of type WINDOWS are not emulated"),
    ],
)
def test_fails_rules(parameters: Any, message: str) -> None:
    assert refusals(parameters) == [message]


def test_fails_to_shrink() -> None:
    shrunk = growth_refusals(_lustre(StorageCapacity=4800), _lustre(StorageCapacity=2400))
    assert shrunk == ["Storage capacity cannot be decreased from 4800 to 2400 GiB"]


# ---------------------------------------------------------------- in a stack
def _scratch(config: Any = None, **more: Any) -> Template:
    properties = _lustre(config, **{"SubnetIds": [of("SubnetA")], "SecurityGroupIds": [of("Group")], **more})
    return {"Scratch": {"Type": "AWS::FSx::FileSystem", "Properties": properties}}


def _body(config: Any = None, **more: Any) -> Template:
    return template(_scratch(config, **more))


def _group(*ports: int) -> Template:
    rules = [{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "10.0.0.0/16"} for port in ports]
    properties = {
        "VpcId": of("Vpc"),
        "GroupDescription": "tried",
        "SecurityGroupIngress": rules,
        "SecurityGroupEgress": [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}],
    }
    return {"Other": {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}}


def test_a_file_system_can_be_found_and_mounted(stacks: Stacks, aws: LocalAws) -> None:
    body = {
        **_body(),
        "Outputs": outputs_of(
            Dns={"Fn::GetAtt": ["Scratch", "DNSName"]}, Mount={"Fn::GetAtt": ["Scratch", "LustreMountName"]}
        ),
    }
    name = stacks.deployed(body)
    identifier = stacks.physical_id(name, "Scratch")
    found = aws.client("fsx").describe_file_systems(FileSystemIds=[identifier])["FileSystems"][0]
    assert stacks.outputs(name)["Dns"] == f"{identifier}.fsx.us-west-2.amazonaws.com"
    assert stacks.outputs(name)["Mount"] == found["LustreConfiguration"]["MountName"]
    assert len(stacks.outputs(name)["Mount"]) == 8
    interface = aws.client("ec2").describe_network_interfaces(NetworkInterfaceIds=found["NetworkInterfaceIds"])
    assert interface["NetworkInterfaces"][0]["SubnetId"] == found["SubnetIds"][0]
    assert stacks.delete(name) == "DELETE_COMPLETE"
    with pytest.raises(ClientError):
        aws.client("ec2").describe_network_interfaces(NetworkInterfaceIds=found["NetworkInterfaceIds"])


def test_openzfs(stacks: Stacks, aws: LocalAws) -> None:
    group = _group(2049)
    properties = _openzfs(SubnetIds=[of("SubnetA")], SecurityGroupIds=[{"Ref": "Other"}])
    properties["OpenZFSConfiguration"]["RootVolumeConfiguration"] = {"DataCompressionType": "LZ4"}
    home = {"Type": "AWS::FSx::FileSystem", "Properties": properties}
    outputs = outputs_of(Root={"Fn::GetAtt": ["Home", "RootVolumeId"]})
    name = stacks.deployed(template({**group, "Home": home}, Outputs=outputs))
    found = aws.client("fsx").describe_file_systems(FileSystemIds=[stacks.physical_id(name, "Home")])["FileSystems"][0]
    assert stacks.outputs(name)["Root"].startswith("fsvol-")
    assert "RootVolumeConfiguration" not in found["OpenZFSConfiguration"]


def test_fails_when_lustre_cannot_get_through(stacks: Stacks) -> None:
    scratch = _scratch(SecurityGroupIds=[{"Ref": "Other"}])
    reason = stacks.failure(template({**_group(443), **scratch}))
    assert "do not permit Lustre LNET network traffic on port 988" in reason
    stacks.deployed(template({**_group(988), **scratch}))


def test_fails_when_efa_cannot_get_through(stacks: Stacks) -> None:
    config = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 1000, "EfaEnabled": True}
    config["MetadataConfiguration"] = {"Mode": "AUTOMATIC"}
    scratch = _scratch(config, StorageCapacity=4800, SecurityGroupIds=[{"Ref": "Other"}])
    assert "Update security group to allow all internal inbound and outbound traffic." in stacks.failure(
        template({**_group(988), **scratch})
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"StorageCapacity": 1300}, "got 1300 GiB"),
        ({"config": {**_P2, "DeploymentType": "PERSISTENT_3"}}, "Member must satisfy enum value set"),
        ({"SubnetIds": ["subnet-00000000"]}, "subnet-00000000"),
        ({"SecurityGroupIds": ["sg-00000000"]}, "sg-00000000"),
    ],
)
def test_fails_to_be_created(stacks: Stacks, more: dict[str, Any], message: str) -> None:
    assert message in stacks.failure(_body(**more))


def test_a_change_of_deployment_replaces(stacks: Stacks) -> None:
    def body(deployment: str, throughput: int) -> Template:
        return _body({"DeploymentType": deployment, "PerUnitStorageThroughput": throughput})

    name = stacks.deployed(body("PERSISTENT_1", 200))
    old = stacks.physical_id(name, "Scratch")
    assert stacks.update(name, body("PERSISTENT_2", 250)) == "UPDATE_COMPLETE"
    assert stacks.physical_id(name, "Scratch") != old


# ---------------------------------------------------------------- data repositories
def _association(file_system: Any, bucket: Any, path: str = "/data") -> Template:
    properties = {
        "FileSystemId": file_system,
        "FileSystemPath": path,
        "DataRepositoryPath": {"Fn::Sub": ["s3://${b}/data", {"b": bucket}]},
    }
    return {"Type": "AWS::FSx::DataRepositoryAssociation", "Properties": properties}


def test_fails_to_associate(stacks: Stacks) -> None:
    scratch = _scratch()
    reference = {"Ref": "Scratch"}
    for bad, message in (
        (_association(reference, "no-such-bucket"), "The bucket no-such-bucket does not exist"),
        (_association("fs-0123456789abcdef0", of("Bucket")), "File system 'fs-0123456789abcdef0' does not exist"),
    ):
        assert message in stacks.failure(template({**scratch, "Bad": bad}))
    first = _association(reference, of("Bucket"))
    second = {**_association(reference, of("Bucket"), "/data/inside"), "DependsOn": "First"}
    overlapping = stacks.failure(template({**scratch, "First": first, "Second": second}))
    assert "FileSystemPath /data/inside overlaps with that of another association" in overlapping


def test_backups_begin_after_the_last_link_is_gone(stacks: Stacks) -> None:
    link = {"Link": _association({"Ref": "Scratch"}, of("Bucket"))}
    backed = _scratch({**_P2, "AutomaticBackupRetentionDays": 7})
    name = stacks.deployed(template({**_scratch(), **link}))
    assert stacks.update(name, template(backed)) == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.update(name, template(_scratch())) == "UPDATE_COMPLETE"
    assert stacks.update(name, template(backed)) == "UPDATE_COMPLETE"
