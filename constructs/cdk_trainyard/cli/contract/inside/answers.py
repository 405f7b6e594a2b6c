"""An AWS that answers ParallelCluster's questions about an account that does not exist.

ParallelCluster asks EC2 for subnets, images and instance types while it reads a configuration. Here the subnets are
those of the synthesized app, the images are stand-ins, and the instance types are EC2's own answers as moto carries
them. What only an account can tell is not asked at all: ``SKIPPED``.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import boto3
from pcluster.aws.aws_api import AWSApi
from pcluster.aws.aws_resources import CapacityReservationInfo, ImageInfo, InstanceTypeInfo
from pcluster.constants import EBS_ROOT_VOLUME_SIZE_DEFAULT

SKIPPED = (
    "AdditionalIamPolicyValidator",
    "AmiOsCompatibleValidator",
    "AsyncTimedUrlValidator",
    "CapacityBlockHealthStatusValidator",
    "CapacityReservationResourceGroupValidator",
    "CapacityReservationSizeValidator",
    "ComputeResourceLaunchTemplateValidator",
    "CustomAmiTagValidator",
    "EbsVolumeSizeSnapshotValidator",
    "EfaSecurityGroupValidator",
    "EfsIdValidator",
    "ElasticIpValidator",
    "ExistingFsxNetworkingValidator",
    "FsxAutoImportValidator",
    "FsxBackupIdValidator",
    "HeadNodeLaunchTemplateValidator",
    "HostedZoneValidator",
    "IamPolicyValidator",
    "InstanceProfileValidator",
    "InstanceTypeBaseAMICompatibleValidator",
    "KmsKeyValidator",
    "LambdaFunctionsVpcConfigValidator",
    "LaunchTemplateValidator",
    "MungeKeySecretSizeAndBase64Validator",
    "PasswordSecretArnValidator",
    "PlacementGroupCapacityReservationValidator",
    "RoleValidator",
    "S3BucketRegionValidator",
    "S3BucketUriValidator",
    "S3BucketValidator",
    "SecurityGroupsValidator",
    "SharedEbsVolumeIdValidator",
    "UltraserverCapacityBlockSizeValidator",
    "UrlValidator",
)
"""Checks that need an account: whether things exist, and what they are."""


@cache
def instance_types() -> Mapping[str, Mapping[str, Any]]:
    """Return EC2's descriptions of instance types by name."""
    # moto is half of a start, and nothing else of it is wanted
    path = Path(str(distribution("moto").locate_file("moto/ec2/resources/instance_types.json.gz")))
    return dict(json.loads(gzip.decompress(path.read_bytes())))


class Ec2:
    """EC2, as far as ParallelCluster asks it while nothing is deployed.

    Args:
        subnets: Subnet id to ``{"zone": ..., "public": ..., "cidr": ...}``; others are private, in the first zone.
        reservations: Capacity reservation id to the ``type`` and ``kind`` of what it holds, and a ``subnet`` of its
            zone.
        volumes_in: The subnet in whose zone volumes are.
        region: The Region.
        key_type: Type of every key pair.
    """

    def __init__(
        self,
        subnets: Mapping[str, Mapping[str, Any]],
        reservations: Mapping[str, Mapping[str, str]],
        volumes_in: str,
        region: str,
        key_type: str,
    ) -> None:
        self._subnets, self._reservations, self._volumes_in = subnets, reservations, volumes_in
        self._region, self._key_type = region, key_type

    def get_instance_type_info(self, instance_type: str) -> InstanceTypeInfo:
        """Return a type's description."""
        return InstanceTypeInfo(instance_types()[instance_type])

    def list_instance_types(self) -> list[str]:
        """Return every type's name."""
        return list(instance_types())

    def describe_subnets(self, subnet_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return subnets."""
        return [
            {
                "SubnetId": subnet_id,
                "VpcId": "vpc-00000000",
                "AvailabilityZone": self._subnet(subnet_id, "zone", f"{self._region}a"),
                "CidrBlock": self._subnet(subnet_id, "cidr", "10.0.0.0/16"),
                "MapPublicIpOnLaunch": self._subnet(subnet_id, "public", otherwise=False),
            }
            for subnet_id in subnet_ids
        ]

    def get_subnet_avail_zone(self, subnet_id: str) -> str:
        """Return a subnet's zone."""
        return str(self.describe_subnets([subnet_id])[0]["AvailabilityZone"])

    def get_subnets_az_mapping(self, subnet_ids: Sequence[str]) -> dict[str, str]:
        """Return subnet to its zone."""
        return {subnet["SubnetId"]: subnet["AvailabilityZone"] for subnet in self.describe_subnets(subnet_ids)}

    def get_subnet_vpc(self, subnet_id: str) -> str:
        """Return a subnet's VPC."""
        return str(self.describe_subnets([subnet_id])[0]["VpcId"])

    def get_subnet_cidr(self, subnet_id: str) -> str:
        """Return a subnet's block."""
        return str(self.describe_subnets([subnet_id])[0]["CidrBlock"])

    def is_subnet_public(self, subnet_id: str) -> bool:
        """Tell whether a subnet is public."""
        return bool(self.describe_subnets([subnet_id])[0]["MapPublicIpOnLaunch"])

    def is_enable_dns_support(self, _: str) -> bool:
        """Tell that the VPC resolves names."""
        return True

    def is_enable_dns_hostnames(self, _: str) -> bool:
        """Tell that the VPC gives names."""
        return True

    def get_official_image_id(self, os: str, architecture: str, filters: Any = None) -> str:
        """Return a stand-in for ParallelCluster's image."""
        return "ami-00000000"

    def describe_image(self, ami_id: str) -> ImageInfo:
        """Return an image of the usual size."""
        volume = {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": EBS_ROOT_VOLUME_SIZE_DEFAULT}}
        return ImageInfo({"ImageId": ami_id, "BlockDeviceMappings": [volume], "State": "available"})

    def describe_key_pair(self, key_name: str) -> dict[str, Any]:
        """Return a key pair."""
        return {"KeyPairs": [{"KeyName": key_name, "KeyType": self._key_type}]}

    def describe_placement_group(self, _: str) -> bool:
        """Tell that a placement group exists."""
        return True

    def get_eip_allocation_id(self, eip: str) -> str:
        """Return an address's id."""
        return eip

    def describe_volume(self, _: str) -> dict[str, Any]:
        """Return a volume beside the head node."""
        return {"AvailabilityZone": self.get_subnet_avail_zone(self._volumes_in), "State": "available"}

    def describe_capacity_reservations(self, ids: Sequence[str]) -> list[CapacityReservationInfo]:
        """Return reservations of just what the configuration asks of them."""
        return [
            CapacityReservationInfo(
                {
                    "CapacityReservationId": one,
                    "CapacityReservationArn": f"arn:aws:ec2:{self._region}:111111111111:capacity-reservation/{one}",
                    "AvailabilityZone": self.get_subnet_avail_zone(self._reservations.get(one, {}).get("subnet", "")),
                    "InstancePlatform": "Linux/UNIX",
                    "InstanceType": self._reservations.get(one, {}).get("type", "c5.xlarge"),
                    "ReservationType": self._reservations.get(one, {}).get("kind", "default"),
                }
            )
            for one in ids
        ]

    def get_instance_type_and_reservation_type_from_capacity_reservation(self, one: str) -> tuple[str, str]:
        """Return type and kind of a reservation."""
        reservation = self._reservations.get(one, {})
        return reservation.get("type", "c5.xlarge"), reservation.get("kind", "default")

    def _subnet(self, subnet_id: str, fact: str, otherwise: Any = None) -> Any:
        known = self._subnets.get(subnet_id, {}).get(fact)
        return otherwise if known is None else known


class _FileSystem:
    """A file system in a subnet."""

    def __init__(self, file_system_id: str, subnet_id: str) -> None:
        self.file_system_id = file_system_id
        self.file_storage_type = "LUSTRE"
        self.vpc_id = "vpc-00000000"
        self.network_interface_ids: list[str] = []
        self.subnet_ids = [subnet_id]
        self.dns_name = f"{file_system_id}.fsx"
        self.mount_name = "fsx"
        self.file_system_type = "LUSTRE"
        self.file_system_data: dict[str, Any] = {"SubnetIds": self.subnet_ids, "FileSystemId": file_system_id}


class Fsx:
    """FSx, as far as ParallelCluster asks it while nothing is deployed.

    Args:
        subnet_id: The subnet of every file system.
    """

    def __init__(self, subnet_id: str) -> None:
        self._subnet_id = subnet_id

    def get_file_systems_info(self, ids: Sequence[str]) -> list[_FileSystem]:
        """Return file systems."""
        return [_FileSystem(one, self._subnet_id) for one in ids]

    def describe_volumes(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return volumes of file systems."""
        return [
            {
                "VolumeId": one,
                "FileSystemId": "fs-00000000000000000",
                "OpenZFSConfiguration": {"VolumePath": "/fsx"},
                "OntapConfiguration": {"JunctionPath": "/vol1", "StorageVirtualMachineId": "svm-00000000000000000"},
            }
            for one in ids
        ]

    def describe_storage_virtual_machines(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return virtual machines of ONTAP."""
        return [{"StorageVirtualMachineId": one, "Endpoints": {"Nfs": {"DNSName": f"{one}.fsx"}}} for one in ids]


class ResourceGroups:
    """Resource groups without a member."""

    def get_capacity_reservation_ids_from_group_resources(self, _: str) -> list[str]:
        """Return no reservation."""
        return []


_SESSION = boto3.session.Session()
"""ParallelCluster makes one at every look at the Region, which took half of its time; this one looks as often."""


class Answers:
    """All services together, in place of ``AWSApi.instance()``."""

    def __init__(self, ec2: Ec2, fsx: Fsx) -> None:
        self.ec2 = ec2
        self.fsx = fsx
        self.resource_groups = ResourceGroups()

    def use(self) -> None:
        """Let ParallelCluster ask here."""
        AWSApi._instance = self  # noqa: SLF001  the one place where it looks
        AWSApi.instance = staticmethod(lambda: self)
        boto3.session.Session = lambda: _SESSION
