"""What other tools call a key is answered with a key that its section has, and only where nearness does not find it."""

import re
from collections.abc import Iterator

import pytest

from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.deployment.orchestrators import OWN
from cdk_trainyard.deployment.serving.section import LoadBalancerSection, ServingSection
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.deployment.storage import StorageSection
from cdk_trainyard.fleet.spec import FleetSpec, MasterSpec
from cdk_trainyard.fleet.spec_image import NodeImage, TrainingImageSpec
from cdk_trainyard.hyperpod.spec import HyperPodSpec
from cdk_trainyard.hyperpod.spec_groups import InstanceGroup, Lifecycle
from cdk_trainyard.monitoring.spec import AlarmOverride, OwnAlarm
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.options.elsewhere import elsewhere, parts
from cdk_trainyard.options.fields import keys_of
from cdk_trainyard.options.unknown_keys import in_snake_case, meaning, meant, near, other_keys
from cdk_trainyard.parallelcluster.spec import (
    NewAccounting,
    ParallelClusterMonitoring,
    ParallelClusterSpec,
    SlurmAccounting,
    SlurmSettings,
    Timeouts,
)
from cdk_trainyard.parallelcluster.spec_nodes import HeadNode, LoginPool
from cdk_trainyard.parallelcluster.spec_queues import ComputeResource, Queue
from cdk_trainyard.parallelcluster.spec_storage import SharedFsxVolume
from cdk_trainyard.serving.spec_model import NeuronModel, TextGenerationEngine
from cdk_trainyard.serving.spec_service import CompilationSpec, ServiceScaling, ServingHosts
from cdk_trainyard.storage.spec import AccountingSpec, BucketsSpec, DataRepository, ExistingBucket, LustreSpec, OpenZfs

BOUNDARY = (
    "an app of CDK gives one to every role by '@aws-cdk/core:permissionsBoundary' in its context, as cdk.json has it"
)


def sections(spec: type, orchestrator: str) -> Iterator[type]:
    yield spec
    for field in keys_of(spec).values():
        for part, _ in parts(field.shape, {"orchestrator": orchestrator}):
            yield from sections(part, orchestrator)


SECTIONS = {each for name in OWN for each in sections(DeploymentSpec, name)}


def test_the_table_is_of_sections_that_a_file_has() -> None:
    assert other_keys().keys() <= {base.__name__ for each in SECTIONS for base in each.__mro__}


def test_what_is_asked_is_no_key_and_what_is_answered_is_one() -> None:
    for spec in SECTIONS:
        keys = keys_of(spec)
        tables = [other_keys().get(base.__name__, {}) for base in spec.__mro__]
        for written, text in ((key, text) for table in tables for key, text in table.items()):
            choice, _, key = written.rpartition(":")
            name, _, inside = key.partition(".")
            assert choice in {"", *OWN}
            assert (name, inside) == (in_snake_case(name), in_snake_case(inside))
            assert key not in keys
            assert {*re.findall(r"\{(\w+)(?::\w+)?\}", text)} <= keys.keys()
            assert [f"use {{{each}}}" for each in near(key, keys)] != [text], "nearness finds it"


@pytest.mark.parametrize(
    ("spec", "key", "says", "named"),
    [
        (HeadNode, "key_name", "; use 'key_pair'", "key_pair"),
        (
            HeadNode,
            "SimultaneousMultithreading",
            "; use 'threads_per_core', 1 for false and 2 for true",
            "threads_per_core",
        ),
        (InstanceGroup, "placement", "; HyperPod places nodes itself; leave it out", None),
        (
            FleetSpec,
            "user_data",
            (
                "; no script of yours runs when a node starts; what it needs is in its image: 'build' of 'image' has "
                "'commands', and as 'base' also an AMI of yours"
            ),
            None,
        ),
        (InstanceGroup, "// type", "; a comment begins with '#'", None),
        (InstanceGroup, "\uff03role", "; a comment begins with '#'", None),
        (
            InstanceGroup,
            "x-common",
            "; leave it out; '&…' of an anchor goes where that is first used",
            None,
        ),
        (InstanceGroup, "role\uff1a", "; '\uff1a' is U+FF1A (FULLWIDTH COLON); write ': '", "role"),
        (
            InstanceGroup,
            "\u3000\u3000role",
            "; U+3000 (IDEOGRAPHIC SPACE) is no blank to the file's reader; write spaces",
            "role",
        ),
        (
            InstanceGroup,
            "role:\u00a0[a",
            ("; a blank must be after ':', got U+00A0 (NO-BREAK SPACE), which looks like one; write a blank"),
            None,
        ),
        (InstanceGroup, "a\uff1a b\uff0c c", "; '\uff1a' is U+FF1A (FULLWIDTH COLON); write ': '", None),
    ],
)
def test_another_word_is_answered_with_the_key(spec: type, key: str, says: str, named: str | None) -> None:
    keys = keys_of(spec)
    found = [] if named is None else [named]
    assert meaning(key, spec, (), known=keys, whole=(spec, {})) == (says, found)
    assert meant(key, spec, keys) == found


@pytest.mark.parametrize(
    ("spec", "keys", "says"),
    [
        (Queue, "Spot", "use 'capacity', spot"),
        (Queue, "SpotPrice max_price", "the most that is paid is 'spot_price' in 'compute', with 'capacity' spot"),
        (ComputeResource, "spot", "use 'capacity' of the queue, spot"),
        (ComputeResource, "CapacityType capacity", "use 'capacity' of the queue"),
        (
            LustreSpec,
            "throughput performance",
            "use 'throughput_mb_s_per_tib'; 'throughput_mb_s' is for INTELLIGENT_TIERING",
        ),
        (
            LustreSpec,
            "ThroughputCapacity",
            "use 'throughput_mb_s', for INTELLIGENT_TIERING; others have 'throughput_mb_s_per_tib'",
        ),
        (LustreSpec, "StorageType", "use 'storage' for SSD, HDD or INTELLIGENT_TIERING; FsxLustre is left out"),
        (LustreSpec, "FsxLustreSettings", "leave it out; its keys stand here"),
        (LustreSpec, "retain", "use 'removal_policy', RETAIN for true and DESTROY for false"),
        (LustreSpec, "Name", "it has none here; leave it out"),
        (
            LustreSpec,
            "encrypted encryption",
            "it is always encrypted; leave it out, or name a key of yours with 'key_arn'",
        ),
        (LustreSpec, "s3 s3_bucket DataRepositoryPath", "use 'data_repositories'"),
        (
            StorageSection,
            "openzfs",
            "use 'open_zfs'; with parallelcluster it is 'openzfs' in 'shared_storage' of 'cluster'",
        ),
        (
            StorageSection,
            "home",
            "use 'open_zfs', of one that exists; with parallelcluster 'shared_storage' of 'cluster'",
        ),
        (
            StorageSection,
            "encryption KmsKeyId",
            "all of it is encrypted; leave it out, or name keys of yours with 'key_arn' of 'lustre' and 'buckets'",
        ),
        (
            SharedFsxVolume,
            "capacity_gib StorageCapacity throughput",
            "a volume that exists is mounted, by 'volume_id', and none is made here",
        ),
        (SharedFsxVolume, "FileSystemId", "use 'volume_id', fsvol-…"),
        (OpenZfs, "capacity_gib", "a file system that exists is mounted, by 'dns_name', and none is made here"),
        (BucketsSpec, "data", "use 'datasets'"),
        (
            ExistingBucket,
            "expire_days",
            (
                "a bucket with 'bucket_name' exists, and keeps its own rules; for one that is made leave this section "
                "out, and for checkpoints give 'checkpoint_days' in 'buckets'"
            ),
        ),
        (Lifecycle, "SourceS3Uri bucket", "use 'folder', one beside this file, whose scripts are uploaded"),
        (Lifecycle, "script", "use 'on_create' or 'on_init_complete'"),
        (
            DeploymentSpec,
            "Image",
            (
                "it is in 'cluster': 'operating_system' or 'image_id' with parallelcluster, 'image' with fleet, "
                "'image_id' of a group with hyperpod; that of a served model is in 'serving.engine'"
            ),
        ),
        (
            DeploymentSpec,
            "SharedStorage",
            "it is 'shared_storage' in 'cluster' with orchestrator parallelcluster; FSx for Lustre stands in 'storage'",
        ),
        (DeploymentSpec, "Scheduling", "it is 'queues' and 'slurm' in 'cluster' with orchestrator parallelcluster"),
        (DeploymentSpec, "ClusterName", "it is 'cluster_name' in 'cluster', or 'fleet_name' of a fleet"),
        (DeploymentSpec, "InstanceGroups", "it is 'groups' in 'cluster' with orchestrator hyperpod"),
        (DeploymentSpec, "VpcConfig", "use 'network'; subnets that exist stand there, with 'vpc_id'"),
        (DeploymentSpec, "HeadNode", "'cluster.head_node' is for parallelcluster; 'orchestrator' is missing"),
        (
            AlarmOverride,
            "email slack",
            "who is told stands in 'alerts' at the top of the file, with 'emails' or 'topic_arn'",
        ),
        (
            MonitoringSection,
            "AlertEmail SnsTopic",
            "who is told stands in 'alerts' at the top of the file, with 'emails' or 'topic_arn'",
        ),
        (
            MonitoringSection,
            "enabled Enable",
            "the section alone says so: leave this out, or the section for none",
        ),
        (LustreSpec, "mount mountpoint path", "use 'at'"),
        (LustreSpec, "id", "use 'file_system_id', of one that exists"),
        (LustreSpec, "StripeCount", "it is set on a node, by 'lfs setstripe'; leave it out"),
        (
            LustreSpec,
            "iops",
            (
                "Lustre has no such option: what it carries follows from 'throughput_mb_s_per_tib'; 'metadata_iops' is "
                "of metadata alone"
            ),
        ),
        (InstanceGroup, "EbsVolumeSize", "use 'volumes' with 'size_gb'"),
        (InstanceGroup, "initialNodeCount num_workers", "use 'count'"),
        (ComputeResource, "max_core_count", "it counts cores, and nodes are counted here; use 'max_count'"),
        (ComputeResource, "min_core_count", "it counts cores, and nodes are counted here; use 'min_count'"),
        (ComputeResource, "gpus", "it follows from 'instance_type'; leave it out"),
        (
            ComputeResource,
            "memory",
            "it follows from 'instance_type'; 'schedulable_memory_mib' is how much of it Slurm gives to jobs",
        ),
        (
            LoginPool,
            "public",
            (
                "people connect through the head node, which has 'public'; only a subnet of yours that gives addresses "
                "by itself, with 'vpc_id' in 'network', is taken with 'subnet', public"
            ),
        ),
        (LoadBalancerSection, "https https_only cert", "use 'certificate_arn'"),
        (LoadBalancerSection, "http", "use 'plain_http', true"),
        (LoadBalancerSection, "ip_whitelist", "use 'clients'"),
        (LoadBalancerSection, "api_key", "use 'authentication' with 'kind' api-key and 'secret_arn'"),
        (DeploymentSpec, "labels", "use 'tags'"),
        (DeploymentSpec, "services", "use 'serving'"),
        (DeploymentSpec, "networks", "there is one network; use 'network'"),
        (ServingSection, "service", "use 'load_balancer'; what serves is 'kind' of 'engine'"),
        (ParallelClusterSpec, "count instance_type", "nodes stand in 'queues', with 'compute'; here it is for fleet"),
        (
            ParallelClusterSpec,
            "image",
            "use 'image_id' for an AMI of yours, else 'operating_system'; 'image' is for fleet",
        ),
        (ParallelClusterSpec, "max_queue_size", "use 'queues': their 'compute' has 'min_count' and 'max_count'"),
        (ParallelClusterSpec, "master_instance_type", "use 'head_node' with 'instance_type'"),
        (ParallelClusterSpec, "post_install", "use 'on_configured' of 'head_node' and 'queues'"),
        (ParallelClusterSpec, "scheduler", "it is always Slurm; leave it out"),
        (HeadNode, "ssh_key_name ssh_key", "use 'key_pair'"),
        (HeadNode, "ssh_cidr", "use 'ssh_from'"),
        (HeadNode, "volume_gib disk", "use 'root_volume' with 'size_gib'"),
        (Queue, "efaEnabled efa", "use 'compute' with 'efa'"),
        (Queue, "max nodes desired_count", "use 'compute' with 'max_count'"),
        (Queue, "min min_nodes", "use 'compute' with 'min_count'"),
        (Queue, "time_limit", "use 'slurm' with MaxTime"),
        (Queue, "state", "ParallelCluster sets it; leave it out"),
        (Queue, "default", "use 'slurm' with Default"),
        (ComputeResource, "nodes desired_count", "use 'max_count'"),
        (SlurmSettings, "SlurmctldTimeout PreemptMode", "use 'custom'; it is a parameter of slurm.conf"),
        (HyperPodSpec, "training_plan", "use 'training_plan_arn' of a group in 'groups'"),
        (HyperPodSpec, "spot", "use 'capacity' of a group in 'groups'"),
        (HyperPodSpec, "replicas", "use 'count' of a group in 'groups'"),
        (
            HyperPodSpec,
            "EksClusterArn",
            "clusters with Amazon EKS are not made here, those with Slurm are; leave it out",
        ),
        (InstanceGroup, "replicas desired max", "use 'count'"),
        (InstanceGroup, "disk", "use 'volumes' with 'size_gb'"),
        (
            InstanceGroup,
            "RootVolume root_volume_key",
            "use an entry of 'volumes' with 'root: true' and 'key_arn'; HyperPod decides its size",
        ),
        (
            InstanceGroup,
            "root_volume_size",
            (
                "HyperPod decides the size of the root volume; use an entry of 'volumes' with 'size_gb' for another, "
                "at /opt/sagemaker"
            ),
        ),
        (
            InstanceGroup,
            "storage",
            "use 'volumes' with 'size_gb' for disks; file systems stand in 'storage' at the top of the file",
        ),
        (InstanceGroup, "key_name", "HyperPod takes no key pair; sessions are opened by Session Manager"),
        (
            BucketsSpec,
            "bucket_name BucketArn",
            "a bucket of yours stands in 'scripts', 'datasets', 'checkpoints' or 'models'",
        ),
        (
            ExistingBucket,
            "versioning",
            "a bucket that is named here exists, and keeps its own rules; left out, one is made",
        ),
        (
            StorageSection,
            "efs",
            "EFS is mounted by parallelcluster alone, with 'efs' in 'shared_storage' of 'cluster'",
        ),
        (DeploymentSpec, "fleet", "use 'orchestrator', fleet, with these keys in 'cluster'"),
        (DeploymentSpec, "location", "use 'region'"),
        (
            DeploymentSpec,
            "kms_key",
            "keys of yours are named where they encrypt, as 'key_arn' of 'lustre' and 'buckets' in 'storage'",
        ),
        (
            DeploymentSpec,
            "PermissionsBoundary",
            f"with parallelcluster it is 'permissions_boundary_arn' in 'iam' of 'cluster'; {BOUNDARY}",
        ),
        (HyperPodSpec, "permissions_boundary", BOUNDARY),
        (FleetSpec, "permissions_boundary", BOUNDARY),
        (FleetSpec, "use_spot preemptible", "use 'capacity', spot"),
        (FleetSpec, "hyperthreading", "use 'threads_per_core', 1 for false and 2 for true"),
        (FleetSpec, "envs", "what jobs find in their environment is said where they are started; leave it out"),
        (
            InstanceGroup,
            "volume_kms_key kms_key_id",
            (
                "use 'volumes' with 'key_arn': the root volume is an entry with 'root: true' and no size, another has "
                "'size_gb'"
            ),
        ),
        (InstanceGroup, "desiredCapacity desired_size size", "use 'count'"),
        (InstanceGroup, "minSize", "a group has 'count' nodes, never fewer; leave it out"),
        (Queue, "CapacityReservationId capacityReservation", "use 'reservation_id'"),
        (
            DataRepository,
            "at MountPoint path",
            "use 'file_system_path', from the root of the file system and not from where it is mounted",
        ),
        (
            DataRepository,
            "s3 DataRepositoryPath",
            "use 'bucket': datasets, with 'bucket_name' of yours in 'datasets' of 'storage.buckets', and 'prefix'",
        ),
        (NetworkSpec, "podCIDR", "pods are of Kubernetes, which is not made here; leave it out"),
        (
            HyperPodSpec,
            "users posix_users",
            (
                "users stand in shared_users.txt, in a folder with a copy of the scripts that 'folder' of 'lifecycle' "
                "names"
            ),
        ),
        (
            ParallelClusterSpec,
            "proxy",
            ("use 'raw_overrides' of 'head_node' and 'queues' with Proxy in Networking, which has HttpProxyAddress"),
        ),
        (
            ParallelClusterSpec,
            "s3_read_resource",
            "use 'raw_overrides' of 'head_node' and 'queues' with S3Access in Iam",
        ),
        (HeadNode, "Iam", "use 'policy_arns'; S3Access and what else Iam has stand in 'raw_overrides' with Iam"),
        (SlurmSettings, "JobSubmitPlugins KillWait", "use 'custom'; it is a parameter of slurm.conf"),
        (
            HyperPodSpec,
            "ldap sssd",
            "a script of yours joins nodes to it, with 'folder' and 'on_init_complete' of 'lifecycle'",
        ),
        (ExistingNetworkSpec, "azs EnableNatGateway", "a VPC that exists has its own; leave it out"),
        (ParallelClusterSpec, "idle_seconds SuspendTime", "use 'slurm' with 'idle_minutes', in minutes"),
        (ParallelClusterSpec, "Imds", "nodes answer IMDSv2 alone; leave it out"),
        (SlurmSettings, "GresTypes", "ParallelCluster sets it; leave it out"),
        (
            DeploymentSpec,
            "DirectoryService",
            "it is in 'cluster' with orchestrator parallelcluster: 'raw_overrides' with DirectoryService",
        ),
        (InstanceGroup, "reservation_id", "HyperPod takes none of EC2's reservations; use 'training_plan_arn'"),
        (ParallelClusterSpec, "partitions", "use 'queues'"),
        (Queue, "machine_type", "use 'compute' with 'instance_type'"),
        (Queue, "walltime", "use 'slurm' with MaxTime"),
        (ComputeResource, "max_workers", "use 'max_count'"),
        (NetworkSpec, "ip_addresses", "use 'cidr'"),
        (NetworkSpec, "NatGateways", "use 'nat': none for 0, one for 1 or per-zone for more"),
        (
            NetworkSpec,
            "flow_logs",
            "use 'flow_logs_retention_days', 0 for none; they have 'flow_logs_key_arn', too",
        ),
        (
            ExistingNetworkSpec,
            "private_subnets",
            "the nodes' is 'accelerator_subnet', with 'subnet_id' and 'zone'; more are 'service_subnets'",
        ),
        (FleetSpec, "root_block_device disk", "use 'volume_gib'"),
        (FleetSpec, "nodes replicas", "use 'count', without 'min_count' and 'max_count'"),
        (FleetSpec, "MarketType", "use 'capacity'"),
        (FleetSpec, "TotalInstanceCount", "use 'count'; of a capacity block, 'reserved_instances' says what it holds"),
        (FleetSpec, "efa", "nodes of a fleet always have EFA; leave it out"),
        (FleetSpec, "SpotMaxPrice", "use 'capacity', spot; no more than the price on demand is paid"),
        (FleetSpec, "IamInstanceProfile", "use 'role_arn'"),
        (
            FleetSpec,
            "security_groups",
            "one is made here; one of yours is 'security_group_id' in 'network', with 'vpc_id'",
        ),
        (
            FleetSpec,
            "subnet_id",
            ("nodes stand in the one accelerator subnet of the network, since EFA does not cross zones; leave it out"),
        ),
        (MasterSpec, "public ssh_from", "it has no public address; sessions are opened by Session Manager"),
        (TrainingImageSpec, "packages script", "use 'commands'"),
        (
            DeploymentSpec,
            "managedNodeGroups resources",
            "what computes stands in 'cluster', with its 'orchestrator'; what serves a model in 'serving'",
        ),
        (
            DeploymentSpec,
            "run",
            "a file says what computes, and runs no job: jobs are started on the nodes; leave it out",
        ),
        (DeploymentSpec, "EndpointConfig", "use 'serving'"),
        (DeploymentSpec, "use_spot", "it is 'capacity' in 'cluster': of a fleet, of 'queues' or of 'groups'"),
        (ServingSection, "alarms", "use 'monitoring', which says when the alarms of a service ring"),
        (
            ServingSection,
            "models",
            "a file serves one model; another is served by a file of its own, with another 'name'",
        ),
        (
            NeuronModel,
            "lora lora_modules adapters",
            "adapters are not served; put a model in the folder whose weights have the adapter merged in",
        ),
        (NeuronModel, "ModelDataUrl", "use 'prefix', the folder alone"),
        (CompilationSpec, "model", "use 'source'"),
        (ServingHosts, "volume root_volume volume_gib", "it follows from the size of the model"),
        (ServingHosts, "min_tasks", "use 'scaling' of 'serving' with 'min_tasks'"),
        (ServingHosts, "InitialInstanceCount", "use 'tasks'"),
        (
            ServingHosts,
            "ContainerStartupHealthCheckTimeoutInSeconds",
            "how long a model may load follows from its size; leave it out",
        ),
        (LoadBalancerSection, "waf", "use 'web_acl'"),
        (LoadBalancerSection, "allowed_cidrs", "use 'clients'"),
        (
            LoadBalancerSection,
            "idle_timeout timeout",
            "use 'request_timeout_seconds' of 'serving', the longest that a request may take",
        ),
        (LoadBalancerSection, "tls_policy", "it takes the policy that AWS recommends; leave it out"),
        (
            LoadBalancerSection,
            "hosted_zone",
            "no record is made here: let 'domain_name' lead to the load balancer yourself",
        ),
        (
            LoadBalancerSection,
            "security_groups",
            "its security group is made here; use 'clients' for who reaches it",
        ),
        (FleetSpec, "minCapacity MinSize", "use 'min_count', without 'count'"),
        (FleetSpec, "maxCapacity", "use 'max_count', without 'count'"),
        (
            FleetSpec,
            "capacity_block_id capacity_block CapacityReservationSpecification",
            "use 'reservation_id', with 'capacity' capacity-block for a capacity block",
        ),
        (
            FleetSpec,
            "InstanceMarketOptions purchase_option",
            "use 'capacity', spot or capacity-block, and 'reservation_id' for what is reserved",
        ),
        (FleetSpec, "docker_image container", "no container is run here: jobs start theirs on the nodes; leave it out"),
        (FleetSpec, "MetadataOptions", "nodes answer IMDSv2 alone; leave it out"),
        (FleetSpec, "iam_policies", "use 'role_arn', a role of yours that has them"),
        (
            FleetSpec,
            "LaunchTemplate",
            "what a launch template says stands here, as 'instance_type', 'image' and 'volume_gib'; leave it out",
        ),
        (InstanceGroup, "SlurmConfig", "use 'role' for node_type and 'partition' for partition_names"),
        (
            HyperPodSpec,
            "provisioning_parameters",
            ("it is written for you, of 'role' and 'partition' of the groups and 'lustre' in 'storage'; leave it out"),
        ),
        (ParallelClusterSpec, "ResumeTimeout", "use 'timeouts' with 'compute_node_minutes', in minutes"),
        (Queue, "ResumeTimeout", "use 'timeouts' of 'cluster' with 'compute_node_minutes', in minutes"),
        (FleetSpec, "storageCapacity", "use 'volume_gib'"),
        (ComputeResource, "minCapacity", "use 'min_count'"),
        (DeploymentSpec, "cluster_type", "use 'orchestrator'"),
        (LoginPool, "min_count max_count", "a pool of login nodes has a fixed 'count'; leave it out"),
        (TrainingImageSpec, "ParentImage", "use 'base'"),
        (OwnAlarm, "description", "use 'summary'"),
        (OwnAlarm, "duration for", "use 'minutes', a number of minutes"),
        (OwnAlarm, "query", "use 'expr'"),
        (
            AccountingSpec,
            "removal_policy DeletionPolicy",
            (
                "it is always kept when the deployment goes; 'deletion_protection' is whether deleting it then needs a "
                "second step"
            ),
        ),
        (NewAccounting, "backups", "use 'backup_retention_days'"),
        (NewAccounting, "EngineVersion", "it is MySQL 8.4 or MariaDB 11.4, as 'engine' says; leave it out"),
        (NetworkSpec, "removal_policy", "a network holds no data, and goes with the deployment; leave it out"),
        (
            ExistingNetworkSpec,
            "allowed_cidrs",
            (
                "who may reach what is said where that stands: 'ssh_from' of 'head_node' in 'cluster', 'clients' of "
                "'load_balancer' in 'serving'"
            ),
        ),
        (
            OpenZfs,
            "removal_policy backups",
            "a file system that exists stays yours, and is changed where it was made; leave it out",
        ),
        (
            DeploymentSpec,
            "removal_policy",
            (
                "it is said of each: 'removal_policy' of 'lustre' and 'auto_delete' of 'buckets' in 'storage'; "
                "'accounting' is always kept"
            ),
        ),
        (
            DeploymentSpec,
            "instance_type",
            (
                "it is in 'cluster': of a fleet, of 'groups', or of 'compute' in 'queues'; that of a service is in "
                "'serving.hosts'"
            ),
        ),
        (InstanceGroup, "role_arn", "use 'role_arn' of the cluster"),
        (AlertsSection, "pagerduty", "use 'topic_arn', of a topic of yours that tells it"),
        (
            Queue,
            "GraceTime PreemptMode PriorityTier QOS TRESBillingWeights",
            "use 'slurm'; it is a parameter of a partition in slurm.conf",
        ),
        (ComputeResource, "Feature TmpDisk", "use 'slurm'; it is a parameter of a node in slurm.conf"),
        (ComputeResource, "Weight", "use 'static_node_priority' and 'dynamic_node_priority'"),
        (ComputeResource, "PriorityTier", "use 'slurm' of the queue; it is a parameter of a partition in slurm.conf"),
        (ParallelClusterSpec, "slurm_conf CustomSlurmSettings", "use 'slurm' with 'custom'"),
        (ParallelClusterSpec, "PriorityType", "use 'slurm' with 'custom'; it is a parameter of slurm.conf"),
        (
            ParallelClusterSpec,
            "slurm_version",
            "which Slurm it is follows from 'version', of ParallelCluster; leave it out",
        ),
        (SlurmSettings, "settings slurm_conf", "use 'custom'"),
        (Queue, "type", "use 'compute' with 'instance_type'"),
        (ComputeResource, "type", "use 'instance_type'"),
        (InstanceGroup, "quantity", "use 'count'"),
        (
            NodeImage,
            "instance_type",
            "what builds and tests an image is 'instance_type' in 'build'; that of nodes stands beside 'image'",
        ),
        (HyperPodSpec, "headnode workers", "use 'groups': each has a name, with 'role', 'instance_type' and 'count'"),
        (
            StorageSection,
            "s3",
            "use 'buckets', whose 'datasets' and 'checkpoints' each have the 'bucket_name' of yours",
        ),
        (HyperPodSpec, "instance_recovery", "use 'node_recovery', Automatic or None"),
        (DeploymentSpec, "compute", "use 'cluster', with 'orchestrator'"),
        (HeadNode, "allowed_cidr_blocks", "use 'ssh_from'"),
        (HeadNode, "associate_public_ip_address", "use 'public'"),
        (SlurmAccounting, "database_arn", "use 'endpoint', the name of the host; an ARN has none"),
        (ServingSection, "lb", "use 'load_balancer'"),
        (ServingSection, "asg_min_size", "use 'scaling' with 'min_tasks'"),
        (TextGenerationEngine, "max_num_seqs", "use 'batch' of 'model'"),
        (TextGenerationEngine, "hub_token", "use 'hub_token_secret_arn'"),
    ],
)
def test_words_of_other_tools(spec: type, keys: str, says: str) -> None:
    known = keys_of(spec)
    for key in keys.split():
        assert meaning(key, spec, (), known=known, whole=(spec, {}))[0] == f"; {says}"


@pytest.mark.parametrize(
    ("spec", "value", "says"),
    [
        (LustreSpec, True, "the section alone says so; leave this out"),
        (LoadBalancerSection, True, "the section alone says so; leave this out"),
        (ServiceScaling, False, "leave out the section that it stands in"),
    ],
)
def test_a_switch_of_a_section_that_is_on_where_it_stands(spec: type, value: bool, says: str) -> None:
    assert meaning("enabled", spec, (), known=keys_of(spec), whole=(spec, {}), value=value) == (f"; {says}", [])


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (True, "; use 'capacity', spot"),
        (False, "; it is on-demand without 'capacity'; leave it out"),
        ("no", "; use 'capacity', spot"),
    ],
)
def test_a_switch_that_is_off_means_something_else(value: object, says: str) -> None:
    known = keys_of(FleetSpec)
    assert meaning("useSpot", FleetSpec, (), known=known, whole=(FleetSpec, {}), value=value) == (
        says,
        ["capacity"][: value is not False],
    )


LUSTRE_SIZES = "; use 'capacity_gib', in GiB and in sizes that FSx has: 1200, 2400 and multiples of 2400 on SSD"


@pytest.mark.parametrize(
    ("spec", "key", "value", "says"),
    [
        (SlurmSettings, "SuspendTime", 1800, "; use 'idle_minutes', in minutes: 30"),
        (SlurmSettings, "SuspendTime", 100, "; use 'idle_minutes', in minutes"),
        (SlurmSettings, "SuspendTime", -1, "; use 'idle_minutes', in minutes"),
        (SlurmSettings, "idle_seconds", 600, "; use 'idle_minutes', in minutes: 10"),
        (SlurmSettings, "idle_hours", 2, "; use 'idle_minutes', in minutes: 120"),
        (SlurmSettings, "idle_seconds", True, "; use 'idle_minutes', in minutes"),
        (LustreSpec, "storageCapacityGiB", 2400, "; use 'capacity_gib'"),
        (BucketsSpec, "checkpoint_hours", 48, "; use 'checkpoint_days', in days: 2"),
        (SlurmSettings, "ScaledownIdletime", 20, "; use 'idle_minutes'"),
        (SlurmSettings, "idle_timeout", 600, "; use 'idle_minutes', in minutes"),
        (LoginPool, "grace_seconds", 600, "; use 'grace_minutes', in minutes: 10"),
        (Timeouts, "ComputeNodeBootstrapTimeout", 900, "; use 'compute_node_minutes', in minutes: 15"),
        (LustreSpec, "capacity_tib", 2, LUSTRE_SIZES),
        (LustreSpec, "size_tib", 2, LUSTRE_SIZES),
        (LustreSpec, "capacity_gb", 1200, "; did you mean 'capacity_gib'?"),
    ],
)
def test_a_key_that_counts_in_another_unit_says_so(spec: type, key: str, value: object, says: str) -> None:
    known = keys_of(spec)
    assert meaning(key, spec, (), known=known, whole=(spec, {}), value=value)[0] == says


PARALLELCLUSTER_MONITORING = (
    "; in ParallelCluster's form it is 'monitoring' of 'cluster', with 'log_retention_days', 'keep_logs', 'dashboard', "
    "'alarms' and 'detailed'"
)


@pytest.mark.parametrize(
    ("spec", "key", "value", "says", "named"),
    [
        (
            DeploymentSpec,
            "Monitoring",
            {"Logs": {"CloudWatch": {"RetentionInDays": 14}}},
            PARALLELCLUSTER_MONITORING,
            ["cluster"],
        ),
        (DeploymentSpec, "Monitoring", {"Alarms": {"Enabled": True}}, PARALLELCLUSTER_MONITORING, ["cluster"]),
        (DeploymentSpec, "Monitoring", {"retention_days": 14}, "; did you mean 'monitoring'?", ["monitoring"]),
        (MonitoringSection, "Logs", {}, PARALLELCLUSTER_MONITORING, []),
        (
            ParallelClusterSpec,
            "Image",
            {"Os": "ubuntu2204"},
            "; use 'operating_system' for Os and 'image_id' for CustomAmi",
            ["operating_system"],
        ),
        (
            Queue,
            "reservation_arn",
            "arn:aws:ec2:us-west-2:123456789012:capacity-reservation/cr-0123456789abcdef0",
            "; use 'reservation_id': cr-0123456789abcdef0",
            ["reservation_id"],
        ),
        (
            ParallelClusterMonitoring,
            "Logs",
            {"CloudWatch": {}},
            "; use 'log_retention_days' for RetentionInDays, 'keep_logs' for DeletionPolicy and 'logs' for Enabled",
            ["log_retention_days"],
        ),
        (ParallelClusterMonitoring, "Logs", False, "; did you mean 'logs'?", ["logs"]),
        (NetworkSpec, "vpc", {"cidr": "10.0.0.0/16"}, "; the VPC is made here; its block is 'cidr'", ["cidr"]),
        (NetworkSpec, "vpc", "main", "; name a VPC that exists with 'vpc_id' and 'accelerator_subnet'", []),
    ],
)
def test_what_a_key_has_in_it_tells_what_it_is(
    spec: type, key: str, value: object, says: str, named: list[str]
) -> None:
    known = keys_of(spec)
    assert meaning(key, spec, (), known=known, whole=(spec, {}), value=value) == (says, named)


OF_HYPERPOD = (
    "; HyperPod writes to a log group of its own, for whose retention there is no option; metrics and alarms are "
    "'monitoring' at the top of the file"
)
OF_A_FLEET = (
    "; days that a fleet keeps its logs are 'log_retention_days' in 'cluster'; its metrics and alarms are 'monitoring' "
    "at the top of the file"
)


@pytest.mark.parametrize(
    ("orchestrator", "spec", "key", "value", "says"),
    [
        ("fleet", DeploymentSpec, "Monitoring", {"Logs": {}}, OF_A_FLEET),
        (
            "hyperpod",
            DeploymentSpec,
            "Monitoring",
            {"Logs": {}},
            OF_HYPERPOD,
        ),
        ("parallelcluster", DeploymentSpec, "Monitoring", {"Logs": {}}, PARALLELCLUSTER_MONITORING),
        (
            "hyperpod",
            HyperPodSpec,
            "Orchestrator",
            {"Slurm": {"SlurmConfigStrategy": "Merge"}},
            "; use 'slurm_config_strategy'; that it is Slurm is said by 'orchestrator' at the top of the file",
        ),
        ("fleet", MonitoringSection, "log_retention_days", 14, "; it is 'log_retention_days' in 'cluster'"),
        ("fleet", MonitoringSection, "detailed", True, "; a fleet has no such option; leave it out"),
        ("hyperpod", InstanceGroup, "type", "controller", "; use 'role'"),
        ("hyperpod", InstanceGroup, "type", "ml.m5.xlarge", "; use 'instance_type'"),
        (
            "hyperpod",
            MonitoringSection,
            "slurm_exporter",
            True,
            "; use 'node_setup' of 'cluster' with 'exporters', whose 'slurm' says it",
        ),
        ("fleet", MonitoringSection, "dcgm_exporter", True, "; use 'exporters' with 'gpu'"),
        (
            "parallelcluster",
            StorageSection,
            "nfs",
            "fs-1",
            "; use 'shared_storage' of 'cluster', with 'efs', 'ebs', 'openzfs' or 'ontap'",
        ),
        ("hyperpod", MonitoringSection, "log_retention_days", 14, "; HyperPod has no such option; leave it out"),
        ("parallelcluster", MonitoringSection, "detailed", True, "; it is in 'monitoring' of 'cluster'"),
        (
            "fleet",
            FleetSpec,
            "monitoring",
            {"log_retention_days": 14},
            "; use 'log_retention_days'; 'monitoring' at the top of the file is of metrics",
        ),
        (
            "fleet",
            DeploymentSpec,
            "env",
            {"account": "1"},
            "; its 'account' and 'region' stand at the top of the file; leave it out",
        ),
    ],
)
def test_what_a_file_has_chosen_tells_where_a_key_is(
    orchestrator: str, spec: type, key: str, value: object, says: str
) -> None:
    whole = (DeploymentSpec, {"orchestrator": orchestrator})
    assert meaning(key, spec, (), known=keys_of(spec), whole=whole, value=value)[0] == says


@pytest.mark.parametrize(
    ("spec", "key", "given"),
    [(FleetSpec, "Image", "image"), (DeploymentSpec, "cluster_type", "orchestrator"), (FleetSpec, "nodes", "count")],
)
def test_a_key_that_is_given_is_not_offered_again(spec: type, key: str, given: str) -> None:
    says = f"; {given!r} is given already; leave one of both out"
    known = keys_of(spec)
    assert meaning(key, spec, (), known=known, whole=(spec, {}), given={key, given}) == (says, [])


@pytest.mark.parametrize("key", ["instance_type", "tasks", "rollout"])
def test_a_key_of_a_section_beside_that_is_lacking_is_named_there(key: str) -> None:
    file = {"serving": {"engine": {"kind": "tgi"}}, "orchestrator": "hyperpod", "cluster": {"groups": {}}}
    assert elsewhere(key, ("serving", "engine"), whole=(DeploymentSpec, file)) == f"; there is 'serving.hosts.{key}'"


@pytest.mark.parametrize(
    ("storage", "key", "says"),
    [
        ({}, "capacity_gib", ""),
        ({"lustre": {}}, "capacity_gib", ""),
        ({}, "metadata_iops", ""),
        ({"lustre": {}}, "metadata_iops", "; there is 'storage.lustre.metadata_iops'"),
        ({}, "lustre", "; there is 'storage.lustre'"),
        ({}, "service_zones", "; there is 'network.service_zones'"),
    ],
)
def test_a_key_of_another_section_is_one_that_the_file_has_or_needs(
    storage: dict[str, object], key: str, says: str
) -> None:
    data = {"orchestrator": "parallelcluster", "cluster": {"queues": ({},)}, "storage": storage}
    assert elsewhere(key, ("cluster", "queues", 0), whole=(DeploymentSpec, data)) == says


@pytest.mark.parametrize("orchestrator", OWN)
@pytest.mark.parametrize(
    ("section", "keys"),
    [
        (("network",), "removal_policy version key_arn image_id instance_type"),
        (("cluster", "accounting"), "removal_policy backups maintenance capacity_gib log_retention_days version"),
        (("cluster", "slurm", "accounting"), "removal_policy version image_id role_arn"),
        (("cluster", "groups", "one"), "removal_policy backups capacity_gib version"),
        (("storage", "open_zfs"), "removal_policy capacity_gib log_retention_days instance_type"),
        (("serving", "hosts"), "removal_policy image_id version role_arn"),
    ],
)
def test_what_things_have_of_their_own_is_not_answered_with_that_of_another(
    orchestrator: str, section: tuple[str, ...], keys: str
) -> None:
    storage = {"lustre": {}, "buckets": {}}
    data = {"orchestrator": orchestrator, "cluster": {"groups": {}, "slurm": {}}, "storage": storage, "serving": {}}
    for key in keys.split():
        named = re.findall(r"'([\w.]+)\.\w+'", elsewhere(key, section, whole=(DeploymentSpec, data)))
        assert not [each for each in named if tuple(each.split(".")) != section[:1]], key


def test_a_key_of_the_cluster_at_the_top_is_told_where_it_stands() -> None:
    data = {"orchestrator": "parallelcluster", "cluster": {}}
    assert elsewhere("image_id", (), whole=(DeploymentSpec, data)) == "; there is 'cluster.image_id'"
    assert elsewhere("removal_policy", (), whole=(DeploymentSpec, data)) == ""


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("KMSKeyId", "kms_key_id"),
        ("VolumeSizeInGB", "volume_size_in_gb"),
        ("EFAEnabled", "efa_enabled"),
        ("S3Access", "s3_access"),
        ("instance-type", "instance_type"),
        ("lifecycleConfig", "lifecycle_config"),
    ],
)
def test_every_form_of_a_name_is_one(key: str, found: str) -> None:
    assert in_snake_case(key) == found


@pytest.mark.parametrize(
    ("key", "known", "found"),
    [
        ("InstanceType", ["instance_type", "instance_types", "interface_type"], ["instance_type"]),
        ("acclerator_subnet", ["accelerator_subnet", "service_subnets"], ["accelerator_subnet"]),
        ("headnod", ["head_node", "queues"], ["head_node"]),
        ("zones", ["public_zones", "service_zones", "zone"], ["zone"]),
        ("zona", ["zone", "nat"], ["zone"]),
        ("rolr", ["role", "name"], ["role"]),
        ("nta", ["nat", "zone"], ["nat"]),
        ("efa", ["efa_enabled", "at"], ["efa_enabled"]),
        ("kms_key_id", ["key_arn", "at"], ["key_arn"]),
        ("throughput", ["throughput_mb_s", "at"], ["throughput_mb_s"]),
        ("volume_type", ["type", "volume_id"], ["type"]),
        ("c\u043eunt", ["count"], ["count"]),
        ("volume_gib", ["volume_mib_s", "at"], []),
        ("volume_mb_s", ["volume_mib_s", "volume_gib"], ["volume_mib_s"]),
        ("size_gb", ["size_gib", "size_iops"], ["size_gib"]),
        ("groups", ["reservation_group_arn"], []),
        ("security_groups", ["restrict_default_security_group"], []),
        ("fsx", ["efs"], []),
        ("instance_role", ["instance_type"], []),
        ("version", ["region"], []),
        ("https", ["plain_http"], []),
        ("hyperthreading", ["disable_hyperthreading"], []),
        ("plian_http", ["plain_http"], ["plain_http"]),
        ("account", ["accounting", "count"], []),
    ],
)
def test_only_what_is_near_is_suggested(key: str, known: list[str], found: list[str]) -> None:
    assert near(key, known) == found
