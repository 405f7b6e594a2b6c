"""Raw keys: for what has no option, and as ParallelCluster's validators take them."""

from typing import Any

import pytest

from cdk_trainyard.options.stand_ins import Subnet
from cdk_trainyard.parallelcluster import ComputeResource, Placement, SharedEbs, SharedEfs, SharedStorage, SlurmSettings
from tools.contract.table.clusters import SECRET_ARN, Candidate, cluster, cpu, head, login, queue

SHARED = SharedStorage(ebs=[SharedEbs(at="/shared")])
DIRECTORY = {"DomainName": "corp.example.com", "DomainAddr": "ldaps://a", "DomainReadOnlyUser": "cn=x"}

FORM = "MountDir' must be a path whose parts are not empty and do not begin with '.', as /shared"


def raw(**keys: Any) -> Candidate:
    return cluster(shared_storage=SHARED, raw_overrides=keys)


def directory(**keys: Any) -> Candidate:
    return raw(DirectoryService={**DIRECTORY, "PasswordSecretArn": SECRET_ARN, **keys})


def slurm(custom: Any = (), **keys: Any) -> Candidate:
    return cluster(slurm=SlurmSettings(custom=custom), raw_overrides={"Scheduling": {"SlurmSettings": keys}})


def entry(kind: str, settings: dict[str, Any], name: str) -> dict[str, Any]:
    return {"Name": name, "MountDir": f"/{name}", "StorageType": kind, f"{kind}Settings": settings}


def storage(kind: str, settings: dict[str, Any] | None = None, **keys: Any) -> Candidate:
    entry = {"Name": "raw", "MountDir": "/raw", "StorageType": kind, **keys}
    return raw(SharedStorage=[entry | ({f"{kind}Settings": settings} if settings else {})])


def scratch(at: str, place: str) -> Candidate:
    """A raw directory beside the local disks of a head node."""
    one = {"Name": "raw", "MountDir": at, "StorageType": "Efs", "EfsSettings": EFS}
    return cluster(head=head(instance_type="c5d.xlarge", scratch_at=place), raw_overrides={"SharedStorage": [one]})


def lustre(**keys: Any) -> Candidate:
    return storage("FsxLustre", {"StorageCapacity": 1200, "DeploymentType": "SCRATCH_2", **keys})


def group(identity: str, key: str = "Id") -> dict[str, Any]:
    return {"Networking": {"PlacementGroup": {key: identity}}}


def template(identity: str) -> Candidate:
    keys = {"LaunchTemplateOverrides": {"LaunchTemplateId": identity, "Version": 1}}
    return cluster(queue(cpu(raw_overrides=keys)))


CACHE = {"FileCacheId": "fc-0123456789abcdef0"}
EFS = {"FileSystemId": "fs-0123456789abcdef0"}
POLICY = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
POLICIES = {"Iam": {"AdditionalIamPolicies": [{"Policy": POLICY}]}}
ROLE = "arn:aws:iam::111111111111:role/x"
EXTERNAL = {"Host": "10.0.0.1"}
CONNECTED = {"ExternalSlurmdbd": EXTERNAL, "MungeKeySecretArn": SECRET_ARN}


@pytest.mark.parametrize(
    "candidate",
    [
        directory(AdditionalSssdConfigs={"id_provider": "ldap"}),
        directory(DomainName="dc=corp,dc=example"),
        slurm(CustomSlurmSettingsIncludeFile="s3://bucket/slurm.conf"),
        slurm(CustomSlurmSettingsIncludeFile="https://host/slurm.conf"),
        raw(DevSettings={"Cookbook": {"ChefCookbook": "s3://bucket/cookbook.tgz"}, "NodePackage": "https://host/node"}),
        raw(DevSettings={"Cookbook": {"ExtraChefAttributes": '{"cluster": {"slurm_reconfigure_timeout": 400}}'}}),
        slurm(CustomSlurmSettingsIncludeFile="HTTPS://host:8443/slurm.conf?X-Amz-Signature=0"),
        template("lt-0123456789abcdef0"),
        slurm(ExternalSlurmdbd=EXTERNAL, MungeKeySecretArn=SECRET_ARN),
        slurm(ScaledownIdletime=-1),
        cluster(cluster_name="a" * 40, raw_overrides={"Scheduling": {"SlurmSettings": CONNECTED}}),
        cluster(cluster_name="a" * 60, raw_overrides={"DeploymentSettings": {"DefaultUserHome": "Local"}}),
        slurm(Dns={"HostedZoneId": "Z1"}),
        cluster(queue(raw_overrides={"Iam": {"S3Access": [{"BucketName": "*"}, {"BucketName": "data-*"}]}})),
        storage("FileCache", CACHE),
        storage("FileCache", CACHE, MountDir="/shared2"),
        raw(
            SharedStorage=[
                entry("Efs", {"Encrypted": True}, "a"),
                entry("Efs", EFS, "b"),
                entry("FsxLustre", {"StorageCapacity": 1200}, "c"),
                entry("FsxLustre", {"FileSystemId": "fs-11111111111111111"}, "d"),
            ]
        ),
        raw(SharedStorage=[entry("Efs", EFS, "a"), entry("FsxLustre", {"FileSystemId": "fs-11111111111111111"}, "b")]),
        raw(SharedStorage=[entry("Efs", {"FileSystemId": f"fs-{10**16 + n}"}, f"e{n}") for n in range(20)]),
        scratch("/raw", "/scratch"),
        storage("Efs", EFS, MountDir="/a+b@c:d"),
        storage("Efs", {**EFS, "EncryptionInTransit": True, "IamAuthorization": "true"}),
        raw(CustomS3Bucket="my-bucket"),
        lustre(),
        lustre(StorageCapacity=4800, DeploymentType="PERSISTENT_1", PerUnitStorageThroughput=100),
        lustre(StorageCapacity=3600, DeploymentType="SCRATCH_1"),
        lustre(StorageCapacity="6000", DeploymentType="PERSISTENT_1", PerUnitStorageThroughput=12, StorageType="HDD"),
        lustre(ImportPath="s3://bucket", ExportPath="s3://bucket/out", AutoImportPolicy="NEW"),
        storage("FsxLustre", {"BackupId": "backup-0123456789abcdef0"}),
        storage("FsxLustre", {"FileSystemId": "fs-0123456789abcdef0"}),
        cluster(queue(raw_overrides=group("pg-1"), placement=Placement.CLUSTER)),
        cluster(queue(raw_overrides=group("pg-1"))),
        cluster(queue(raw_overrides=group("mine", "Name"))),
        cluster(queue(cpu(instance_type="t3.micro", placement=Placement.ANYWHERE), raw_overrides=group("mine"))),
        raw(AdditionalResources="{{resolve:ssm:/template}}"),
        cluster(head=head(raw_overrides={"SharedStorageType": "Efs", "SharedStorageEfsSettings": {"Encrypted": True}})),
        cluster(login_pools=[login(raw_overrides={"Networking": {"Proxy": {"HttpProxyAddress": "https://p:1"}}})]),
    ],
)
def test_what_has_no_option_is_taken(candidate: Candidate) -> None:
    assert candidate.problems == []


@pytest.mark.parametrize(
    ("candidate", "problem"),
    [
        (
            cluster(queue(raw_overrides={"JobExclusiveAllocation": True})),
            "'queues[0].raw_overrides.JobExclusiveAllocation' has an option: use 'exclusive'",
        ),
        (raw(Tags=[{"Key": "a", "Value": "b"}, {"Key": "a", "Value": "c"}]), "Tags' has an option: use 'tags'"),
        (cluster(queue(cpu(raw_overrides={"Efa": {"Enabled": True}}))), "Efa.Enabled' has an option: use 'efa'"),
        (cluster(head=head(raw_overrides={"Ssh": {"KeyName": "x"}})), "Ssh.KeyName' has an option: use 'key_pair'"),
        (cluster(head=head(raw_overrides=POLICIES)), "AdditionalIamPolicies' has an option: use 'policies'"),
        (cluster(queue(raw_overrides=POLICIES)), "AdditionalIamPolicies' has an option: use 'policies'"),
        (
            cluster(login_pools=[login(raw_overrides={"GracetimePeriod": 5})]),
            "GracetimePeriod' has an option: use 'grace_period'",
        ),
        (
            raw(DevSettings={"Timeouts": {"HeadNodeBootstrapTimeout": 100}}),
            "HeadNodeBootstrapTimeout' has an option: use 'timeouts.head_node'",
        ),
        (
            raw(Imds={"ImdsSupport": "v1.0"}),
            "raw_overrides.Imds.ImdsSupport' is said already; leave it out, as no option changes it",
        ),
        (
            raw(HeadNode={"SharedStorageType": "Efs"}),
            "HeadNode' has an option: use 'head_node', and its 'raw_overrides' for what has none",
        ),
        (raw(Monitoring={"DetailedMonitoring": True}), "DetailedMonitoring' has an option: use 'monitoring.detailed'"),
        (
            raw(Iam={"PermissionsBoundary": POLICY}),
            "PermissionsBoundary' has an option: use 'iam.permissions_boundary'",
        ),
        (
            raw(Iam={"Roles": {"LambdaFunctionsRole": ROLE}}),
            "LambdaFunctionsRole' has an option: use 'iam.lambda_role'",
        ),
        (slurm(ScaledownIdletime=5), "ScaledownIdletime' has an option: use 'slurm.idle_time'"),
        (cluster(queue(cpu(raw_overrides={"MinCount": 1}))), "MinCount' has an option: use 'min_count'"),
        (
            cluster(queue(cpu(max_count=4, raw_overrides={"MaxCount": 8}))),
            "MaxCount' is said already with 'max_count'; leave it out",
        ),
        (
            raw(Monitoring={"Logs": {"CloudWatch": {"DeletionPolicy": "Delete"}}}),
            "DeletionPolicy' has an option: use 'monitoring.keep_logs', false",
        ),
        (
            cluster(head=head(raw_overrides={"Ssh": {"AllowedIps": "10.0.0.1/32"}})),
            "AllowedIps' has an option: use 'ssh_from'",
        ),
        (
            cluster(head=head(raw_overrides={"Iam": {"S3Access": [{"BucketName": "x"}]}})),
            "S3Access[0].BucketName' must be the name of a bucket, got 'x'",
        ),
        (
            cluster(head=head(raw_overrides={"LocalStorage": {"EphemeralVolume": {"MountDir": "/etc"}}})),
            "MountDir' has an option: use 'scratch_at'",
        ),
        (
            cluster(head=head(raw_overrides={"Iam": {"InstanceRole": "arn:aws:iam::111111111111:role/x"}})),
            "InstanceRole' must be left out: these nodes have policies of the cluster, and no role fits beside them",
        ),
        (
            cluster(head=head(raw_overrides={"SharedStorageEfsSettings": {"Encrypted": True}})),
            "SharedStorageEfsSettings' must be left out unless 'SharedStorageType' is Efs",
        ),
        (
            cluster(queue(raw_overrides={"Networking": {"Proxy": {"HttpProxyAddress": "ftp://x"}}})),
            "HttpProxyAddress' must be an address that begins with http:// or https://, got 'ftp://x'",
        ),
        *(
            (
                storage("Efs", EFS, MountDir=place),
                f"MountDir' must be without blanks, commas and quotes, got {place!r}; nodes would not find it again",
            )
            for place in ("/a b", "/a,b", "/a\tb")
        ),
        (raw(CustomS3Bucket="Not_A_Bucket"), "CustomS3Bucket' must be the name of a bucket, got 'Not_A_Bucket'"),
        (
            directory(DomainName="!!"),
            "DomainName' must be a domain, as corp.example.com or dc=corp,dc=example,dc=com, got '!!'",
        ),
        (directory(AdditionalSssdConfigs={"id_provider": "ad"}), "id_provider' must be ldap, or left out, got 'ad'"),
        (
            directory(PasswordSecretArn=SECRET_ARN.replace("us-east-1", "eu-west-1")),
            "PasswordSecretArn' must be of Region us-east-1",
        ),
        (
            slurm(MungeKeySecretArn="arn:aws:s3:us-east-1:111111111111:secret:a"),
            "MungeKeySecretArn' must be the ARN of a secret",
        ),
        (
            slurm([{"KillWait": 60}], CustomSlurmSettingsIncludeFile="s3://bucket/slurm.conf"),
            ("CustomSlurmSettingsIncludeFile' must be left out beside 'custom' of 'slurm': ParallelCluster takes one"),
        ),
        (
            cluster(
                slurm=SlurmSettings(managed_dns=False),
                raw_overrides={"Scheduling": {"SlurmSettings": {"Dns": {"HostedZoneId": "Z1"}}}},
            ),
            "HostedZoneId' must be left out where node names are in no zone of Route 53",
        ),
        (
            slurm(ExternalSlurmdbd=EXTERNAL),
            "ExternalSlurmdbd' must be given with 'MungeKeySecretArn', the key that both share",
        ),
        (
            cluster(cluster_name="a" * 41, raw_overrides={"Scheduling": {"SlurmSettings": CONNECTED}}),
            f"'cluster_name' must be at most 40 characters with ExternalSlurmdbd, got '{'a' * 41}'",
        ),
        (
            raw(AdditionalPackages={"IntelSoftware": {"IntelHpcPlatform": True}}),
            "IntelHpcPlatform' must be left out: it is for CentOS 7, which ParallelCluster no longer has",
        ),
        (
            storage("Ebs"),
            "StorageType' must be Efs, FsxLustre or FileCache here, got Ebs; use 'shared_storage'",
        ),
        (storage("FileCache", CACHE, MountDir="/etc"), "MountDir' must not be a directory of the system, got /etc"),
        (storage("FileCache", CACHE, MountDir="/home"), "must not be that of people for a file cache, got /home"),
        (storage("FileCache", CACHE, MountDir="/shared"), "another for every shared directory, got /shared a second"),
        (storage("FileCache", CACHE, MountDir="/shared/cache"), "another mounted directory, got /shared/cache and /sh"),
        (
            raw(SharedStorage=[entry("Efs", EFS, "a"), entry("Efs", EFS, "b")]),
            "SharedStorage[1].EfsSettings.FileSystemId' must be another for every shared directory, got fs-01234567",
        ),
        (storage("FileCache", CACHE, MountDir=""), f"{FORM}, got ''"),
        (storage("FileCache", CACHE, MountDir="/shared/"), f"{FORM}, got '/shared/'"),
        (storage("FileCache", CACHE, MountDir="/shared/../x"), f"{FORM}, got '/shared/../x'"),
        (storage("FileCache", CACHE, MountDir="/NONE"), "MountDir' must be another directory, got /NONE"),
        (
            storage("FileCache", CACHE, MountDir="sys/fs"),
            "must not be in or around /sys, a directory of the system, got",
        ),
        (
            scratch("/scratch", "/scratch"),
            "MountDir' must not be where local disks are mounted, got /scratch; give 'scratch_at' another",
        ),
        (
            scratch("/raw", "/raw/scratch"),
            "'head_node.scratch_at' must not be inside another mounted directory, got /raw/scratch in /raw",
        ),
        (
            raw(SharedStorage=[entry("Efs", {"FileSystemId": f"fs-{10**16 + n}"}, f"e{n}") for n in range(21)]),
            "SharedStorage[20].StorageType' must be Efs for at most 20 that exist, with options and mounts, got 21",
        ),
        (
            raw(SharedStorage=[entry("FileCache", {"FileCacheId": f"fc-{10**16 + n}"}, f"c{n}") for n in range(21)]),
            "SharedStorage[20].StorageType' must be FileCache for at most 20 that exist, with options and mounts, got",
        ),
        (storage("FileCache", CACHE, Name="shared"), "Name' must be different from every other, got 'shared' again"),
        (storage("FileCache", CACHE, Name="default"), "must not be 'default', which ParallelCluster keeps for itself"),
        (
            storage("Efs", {**EFS, "IamAuthorization": True}),
            "IamAuthorization' must be given with 'EncryptionInTransit' true",
        ),
        (
            storage("Efs", {"AccessPointId": "fsap-0123456789abcdef0", "EncryptionInTransit": True}),
            "AccessPointId' must be given with 'FileSystemId'",
        ),
        (
            raw(SharedStorage=[entry("FsxLustre", {"StorageCapacity": 1200}, name) for name in ("a", "b")]),
            "SharedStorage[1].StorageType' must be FsxLustre for at most 1 that ParallelCluster makes, got 2",
        ),
        (
            cluster(
                shared_storage=SharedStorage(efs=[SharedEfs(at="/home")]),
                raw_overrides={"SharedStorage": [entry("Efs", {"Encrypted": True}, "a")]},
            ),
            "SharedStorage[0].StorageType' must be Efs for at most 1 that ParallelCluster makes, got 2",
        ),
        (lustre(StorageCapacity=1300), "StorageCapacity' must be 1200 or a multiple of 2400, got 1300"),
        (
            lustre(StorageCapacity=2400, DeploymentType="PERSISTENT_1"),
            "PerUnitStorageThroughput' must be given with DeploymentType PERSISTENT_1",
        ),
        (lustre(KmsKeyId="x"), "KmsKeyId' must be left out unless DeploymentType is PERSISTENT_1 or PERSISTENT_2, got"),
        (lustre(ExportPath="s3://bucket"), "ExportPath' must be left out without ImportPath"),
        (lustre(StorageType="HDD"), "StorageType' must be SSD unless DeploymentType is PERSISTENT_1, got HDD with SCR"),
        (
            storage("FsxLustre", {"DeploymentType": "SCRATCH_2"}),
            "'raw_overrides.SharedStorage[0].FsxLustreSettings.StorageCapacity' must be given, as 1200",
        ),
        (
            cluster(queue(raw_overrides=group("pg-1"), placement=Placement.ANYWHERE)),
            "raw_overrides.Networking.PlacementGroup.Id' must be given with 'placement' cluster, got anywhere",
        ),
        (
            cluster(queue(raw_overrides=group("mine", "Name"), placement=Placement.ANYWHERE)),
            "raw_overrides.Networking.PlacementGroup.Name' must be given with 'placement' cluster, got anywhere",
        ),
        *(
            (
                cluster(queue(cpu(instance_type="t3.micro", raw_overrides=group("mine", key)))),
                f"compute[0].raw_overrides.Networking.PlacementGroup.{key}' must be left out for t3.micro, which takes",
            )
            for key in ("Id", "Name")
        ),
        (
            cluster(
                queue(
                    ComputeResource(instance_types=["c5.xlarge", "c6i.xlarge"]),
                    subnets=[Subnet("accelerator"), Subnet("service")],
                    raw_overrides=group("mine", "Name"),
                )
            ),
            "queues[0].raw_overrides.Networking.PlacementGroup.Name' must be left out in several subnets",
        ),
        (
            raw(AdditionalResources="{{resolve:secretsmanager:a}}"),
            "must be no reference to a secret, which CloudFormation does not resolve in a cluster, got '{{resolve:",
        ),
        (
            slurm(CustomSlurmSettingsIncludeFile="http://host/slurm.conf"),
            "CustomSlurmSettingsIncludeFile' must be an address as s3://bucket/key or https://host/path, got 'http://",
        ),
        (
            raw(DevSettings={"Cookbook": {"ChefCookbook": "x"}}),
            "DevSettings.Cookbook.ChefCookbook' must be an address as s3://bucket/key or https://host/path, got 'x'",
        ),
        (
            raw(DevSettings={"Cookbook": {"ExtraChefAttributes": "{cluster: x}"}}),
            """ExtraChefAttributes' must be JSON, as '{"cluster": {"slurm_reconfigure_timeout": 600}}', got '""",
        ),
        (raw(DevSettings={"NodePackage": "s3://bucket"}), "DevSettings.NodePackage' must be an address as s3://"),
        (raw(DevSettings={"ClusterTemplate": "file:///a"}), "DevSettings.ClusterTemplate' must be an address as s3://"),
        (
            slurm(CustomSlurmSettingsIncludeFile="https://host:99999/slurm.conf"),
            "CustomSlurmSettingsIncludeFile' must have a port of 1 to 65535, or none for 443, got 'https://host:99999/",
        ),
        (
            slurm(CustomSlurmSettingsIncludeFile="https://me:secret@host/slurm.conf"),
            "CustomSlurmSettingsIncludeFile' must be a URL without user and password",
        ),
        (
            slurm(Dns={"HostedZoneId": "corp.example.com"}),
            "Dns.HostedZoneId' must be the id of a hosted zone, as Z0123456789ABC, got 'corp.example.com'",
        ),
        (
            template("my-template"),
            "LaunchTemplateId' must be the id of a launch template, as lt-0123456789abcdef0, got 'my-template'",
        ),
        (raw(DirectoryService=DIRECTORY), "'raw_overrides.DirectoryService.PasswordSecretArn' must be given"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_parallelcluster_refuses_is_refused(candidate: Candidate, problem: str) -> None:
    (found,) = candidate.problems
    assert problem in found
