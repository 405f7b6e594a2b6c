# ruff: noqa: E501  the messages are the point, each on its line
"""Bad input with orchestrator parallelcluster: what is said about it, with line and column."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from aws_cdk import App

from cdk_trainyard.cli.contract.collect import Found, clusters
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.local.parallelcluster.updates import update_problems
from stacks import build_stacks
from tests.deployment.good_file import (
    GOOD_PARALLELCLUSTER,
    Edit,
    assert_refused,
    edited,
    problems_of,
    row,
)

SYSTEMS = "alinux2023, ubuntu2204, ubuntu2404, rhel8, rocky8, rhel9, rocky9"
TRN1 = "instance_type: trn1.32xlarge"
COUNTS = "min_count: 0\n          max_count: 16"
ACCOUNTING = "  head_node:\n", "  slurm:\n    accounting: {}\n  head_node:\n"
ZONES = "zone: us-east-1a\n", "zone: us-east-1a\n  service_zones: [us-east-1a, us-east-1b]\n"
SERVING = """\
serving:
  model: {name: llama, preset: llama-3.2-3b, prefix: llama-3.2-3b/, tensor_parallel: 2}
  hosts: {instance_type: inf2.xlarge, tasks: 1010}
  load_balancer: {plain_http: true, authentication: {kind: none}}
"""
LOCAL_ZONE = "zone: us-east-1a\n", "zone: use1-dfw2-az1\n  service_zones: [use1-az1, use1-az2]\n"
EXISTING = (
    "vpc_id: vpc-0123456789abcdef0\n  accelerator_subnet: {subnet_id: subnet-0123456789abcdef0, zone: us-east-1a}"
)

_SEVERAL = "- instance_type: c5.xlarge\n", "- instance_types: [c5.xlarge, c5d.xlarge]\n"
_SERVICE_A = "{subnet_id: subnet-0123456789abcdef1, zone: us-east-1a, cidr: 10.0.0.0/28}"
_SERVICE_B = "{subnet_id: subnet-0123456789abcdef2, zone: us-east-1b, cidr: 10.0.1.0/24}"
_P6 = TRN1, "instance_type: p6-b200.48xlarge"


AT_LOAD = [
    row(
        "one zone for the database, and a folder of a shell",
        [
            ("zone: us-east-1a\n", "zone: us-east-1a\n  service_zones: [us-east-1a]\n"),
            ("  head_node:\n", "  scripts: {folder: ~/scripts}\n  slurm: {accounting: {}}\n  head_node:\n"),
        ],
        "5:3: 'network.service_zones' must be at least 2 zones, got 'us-east-1a' alone; add a zone, or leave them out without accounting and serving",
        "12:21: 'cluster.scripts.folder' must be an existing folder beside this file, got '~/scripts'; nothing is put in place of '~': write a path from this file on",
    ),
    row(
        "values that are near to what is taken",
        [
            ("operating_system: alinux2023", "operating_system: 2204"),
            (
                "zone: us-east-1a\n",
                "zone: us-east-1a\n  service_zones: (us-east-1a, us-east-1b)\n  flow_logs_retention_days: 45\n",
            ),
            ("capacity_gib: 1200\n", "capacity_tib: 24\n    maintenance: {day: Sun, hour: 3}\n"),
            ("public: true\n", "public: true\n    policy_arns: [AmazonS3ReadOnlyAccess]\n"),
            ("placement: cluster\n", "placement: spread\n      subnets: [private]\n"),
            ("max_count: 8", "max_count: !!float 8"),
        ],
        "5:18: 'network.service_zones' must be a list, got '(us-east-1a, us-east-1b)'; write [us-east-1a, us-east-1b]",
        "6:29: 'network.flow_logs_retention_days' must be 1, 3, 5, 7, 14, 30, 60, 90, … (all are in the reference of the deployment file), got 45; the nearest are 30 and 60",
        "9:5: 'storage.lustre.capacity_tib' is no key here; use 'capacity_gib', in GiB and in sizes that FSx has: 1200, 2400 and multiples of 2400 on SSD",
        "10:24: 'storage.lustre.maintenance.day' must be MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY or SUNDAY, got 'Sun'; did you mean 'SUNDAY'?",
        "13:21: 'cluster.operating_system' must be text, got 2204; did you mean 'ubuntu2204'?",
        "17:19: 'cluster.head_node.policy_arns[0]' must be the ARN of a managed policy, arn:aws:iam::<account>:policy/<name>, got 'AmazonS3ReadOnlyAccess'; one of AWS's own is arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
        "22:22: 'cluster.queues[0].compute[0].max_count' must be a whole number, got 8; write 8, without a tag",
        "24:18: 'cluster.queues[1].placement' must be cluster or anywhere, got 'spread'; write anywhere: ParallelCluster makes no groups that spread",
        "25:17: 'cluster.queues[1].subnets[0]' must be accelerator, public or service, got 'private'; accelerator is the nodes' private subnet, and service are other private ones",
    ),
    row(
        "a bucket by its URI",
        [
            (
                "    capacity_gib: 1200\n",
                "    capacity_gib: 1200\n  buckets:\n    datasets: {bucket_name: 's3://my-data/x'}\n",
            )
        ],
        "9:29: 'storage.buckets.datasets.bucket_name' must be the name of a bucket, 3 to 63 lowercase letters, digits, '-' and '.' that begin and end with a letter or a digit, without s3:// and path, as my-bucket, got 's3://my-data/x'; use 'my-data'",
    ),
    row(
        "raw keys with dots",
        [("  head_node:\n", "  raw_overrides: {DevSettings.Timeouts.HeadNodeBootstrapTimeout: 3000}\n  head_node:\n")],
        "11:19: 'cluster.raw_overrides.DevSettings.Timeouts.HeadNodeBootstrapTimeout' is not a key of ParallelCluster; write a section for each dot, beginning with 'DevSettings:'",
    ),
    row(
        "a system in place of an image",
        [("  operating_system: alinux2023\n", "  image_id: ubuntu22.04\n")],
        "10:13: 'cluster.image_id' must be the id of an image, as ami-0123456789abcdef0, got 'ubuntu22.04'; a system is 'operating_system' of the cluster: ubuntu2204",
    ),
    row(
        "a capacity block by its ARN",
        [
            (
                "      placement: cluster\n",
                "      capacity: capacity-block\n      reservation_arn: arn:aws:ec2:us-east-1:111111111111:capacity-reservation/cr-0123456789abcdef0\n",
            ),
            (COUNTS, "max_count: 16"),
        ],
        "21:7: 'cluster.queues[1].reservation_arn' is no key here; use 'reservation_id': cr-0123456789abcdef0",
    ),
    row(
        "items of a list with the dashes of a word processor",
        [("    ebs:\n      - at: /shared\n", "    ebs:\n      \u2013 at: /shared\n")],
        "27:7: 'cluster.shared_storage.ebs.\u2013 at' must begin with '- ', as an item of a list, got '\u2013'; write '- at: …'",
    ),
    row(
        "a section that must be left out, whatever is in it",
        [("    capacity_gib: 1200\n", "    capacity_gib: 1200\n  open_zfs:\n    capacity_gib: 64\n    at: home\n")],
        "8:3: 'storage.open_zfs' must be left out with orchestrator parallelcluster, which mounts volumes by id; give 'openzfs' in the cluster's 'shared_storage' its 'volume_id'",
    ),
    row(
        "a subnet by its id, as ParallelCluster names it",
        [
            ("      placement: cluster\n", "      placement: cluster\n      subnets: [subnet-0123456789abcdef0]\n"),
            ("    - name: cpu\n", "    - name: cpu\n      Networking: {SubnetIds: [subnet-0123456789abcdef0]}\n"),
        ],
        "16:7: 'cluster.queues[0].Networking' is no key here; use 'subnets', 'public_ip' and 'placement'; subnets that exist stand in 'network' at the top of the file, with 'vpc_id'",
        "22:17: 'cluster.queues[1].subnets[0]' must be accelerator, public or service, got 'subnet-0123456789abcdef0'; subnets that exist stand in 'network', with 'vpc_id': in 'accelerator_subnet', 'public_subnets' or 'service_subnets'",
    ),
    row(
        "queues by name, with one type, and what is wrong in them",
        [
            ("    - name: cpu\n      compute:\n        - ", "    cpu:\n      compute:\n          "),
            ("    - name: training\n", "    training:\n"),
            ("max_count: 8", "max_count: x"),
            ("trn1.32xlarge", "trn1.33xlarge"),
        ],
        "14:3: 'cluster.queues' must be a list of mappings, got a mapping; begin each with '- name: …', below it 'compute: …'",
        "16:7: 'cluster.queues[0].compute' must be a list of mappings, got a mapping; begin each with '- instance_type: …'",
        "18:22: 'cluster.queues[0].compute[0].max_count' must be a whole number, got 'x'",
        "22:26: 'cluster.queues[1].compute[0].instance_type' must be the name of an EC2 instance type, got 'trn1.33xlarge'; did you mean 'trn1.32xlarge' or 'trn1n.32xlarge' or 'trn2.3xlarge'?",
    ),
    row(
        "queues by name, one of them called like an option",
        [
            ("    - name: cpu\n", "    compute:\n"),
            ("    - name: training\n", "    training:\n"),
            ("max_count: 8", "max_count: x"),
        ],
        "14:3: 'cluster.queues' must be a list of mappings, got a mapping; begin each with '- name: …', below it 'compute: …'",
        "18:22: 'cluster.queues[0].compute[0].max_count' must be a whole number, got 'x'",
    ),
    row(
        "one queue without its list, and its option without one",
        [
            (
                "    - name: cpu\n      compute:\n        - instance_type: c5.xlarge\n          max_count: 8\n    - name: training\n      placement: cluster\n      compute:\n        - ",
                "    compute:\n          name: trn\n          ",
            ),
        ],
        "14:3: 'cluster.queues' must be a list of mappings, got a mapping; begin each with '- name: …', below it 'compute: …'",
        "15:5: 'cluster.queues[0].compute' must be a list of mappings, got a mapping; begin each with '- instance_type: …'",
        "15:5: 'cluster.queues[0].name' is missing",
        "15:5: 'cluster.queues[0].placement' must be given for nodes with EFA: cluster for the lowest latency, or anywhere where capacity is short; 'efa' false goes without EFA",
    ),
    row(
        "a queue whose '-' has no blank, and options that are right",
        [
            ("    - name: cpu\n", "    -name: cpu\n"),
            (
                "      compute:\n        - instance_type: c5.xlarge\n",
                "    compute:\n        - instance_type: c5.xlarge\n",
            ),
            (
                "    - name: training\n      placement: cluster\n      compute:\n        - instance_type: trn1.32xlarge\n          min_count: 0\n          max_count: 16\n",
                "",
            ),
        ],
        "15:5: 'cluster.queues.-name' must have a blank after '-', as an item of a list, got '-name'; write '- name: …'",
    ),
    row(
        "a database as ParallelCluster names it",
        [
            (
                "  head_node:\n",
                "  slurm:\n    accounting: {Uri: db, UserName: slurm, PasswordSecretArn: x}\n  head_node:\n",
            )
        ],
        "12:18: 'cluster.slurm.accounting.Uri' is no key here; use 'endpoint'",
        "12:27: 'cluster.slurm.accounting.UserName' is no key here; did you mean 'user_name'?",
        "12:44: 'cluster.slurm.accounting.PasswordSecretArn' is no key here; did you mean 'password_secret_arn'?",
    ),
    row(
        "allocation of nodes without a form",
        [
            ("- name: cpu\n", "- name: cpu\n      allocation: lowest-price\n"),
            ("- instance_type: c5.xlarge\n          max_count: 8\n", "- c5.xlarge\n"),
        ],
        "18:11: 'cluster.queues[0].compute[0]' must be a mapping ('instance_type: c5.xlarge' on lines below it), got 'c5.xlarge'",
    ),
    row(
        "a key like none, where those of the section alone are named first",
        [("- name: cpu\n", "- name: cpu\n      xyzzy: 1\n")],
        "16:7: 'cluster.queues[0].xyzzy' is no key here; there are name, compute, capacity, allocation, subnets, public_ip, exclusive, root_volume, …",
    ),
    row(
        "storage as a list of ParallelCluster's, and lists for one line of Slurm's",
        [
            ("ebs:\n      - at: /shared", "- {name: home, mount_dir: /home2, storage_type: Efs}"),
            (
                "- name: cpu\n",
                "- name: cpu\n      slurm: {AllowGroups: [a, b], TRESBillingWeights: {CPU: 1.0, Mem: 2}}\n",
            ),
            ("public: true\n", "public: true\n    on_start: [{script: 's3://my/boot.sh'}]\n"),
        ],
        "14:25: 'cluster.head_node.on_start[0].script' must be in a bucket, whose name has 3 to 63 characters, got 's3://my/boot.sh'",
        "17:15: 'cluster.queues[0].slurm.AllowGroups' must be one value, got a list; write 'a,b'",
        "17:36: 'cluster.queues[0].slurm.TRESBillingWeights' must be one value, got a mapping; write 'CPU=1.0,Mem=2'",
        "27:3: 'cluster.shared_storage' must be a mapping ('ebs: …' on lines below it), got a list; its entries stand in lists below 'efs', 'ebs', 'openzfs' and 'ontap', by their StorageType, each with 'at' for MountDir; FSx for Lustre is 'lustre' in 'storage'",
    ),
    row(
        "keys of other sections",
        [
            ("capacity_gib: 1200", "storage_capacity: 1200"),
            ("cluster:\n", "cluster:\n  accounting: {}\n  vpc_id: vpc-1\n  ami_id: ami-1\n"),
            ("- name: cpu\n", "- name: cpu\n      min_count: 1\n"),
        ],
        "7:5: 'storage.lustre.storage_capacity' is no key here; use 'capacity_gib'",
        "10:3: 'cluster.accounting' is no key here; there is 'cluster.slurm.accounting'",
        "11:3: 'cluster.vpc_id' is no key here; there is 'network.vpc_id'",
        "12:3: 'cluster.ami_id' is no key here; use 'image_id'",
        "19:7: 'cluster.queues[0].min_count' is no key here; there is 'cluster.queues[0].compute[…].min_count'",
    ),
    row(
        "keys of the top, of a section around, and of another orchestrator",
        [
            ("cluster:\n", "cluster:\n  Region: us-east-1\n  provisioning: Continuous\n"),
            (
                "- name: cpu\n",
                "- name: cpu\n      slurm_settings: {}\n      operating_system: rocky9\n      queues: []\n",
            ),
        ],
        "10:3: 'cluster.Region' is no key here; 'region' stands at the top of the file",
        "11:3: 'cluster.provisioning' is no key here; that is for hyperpod; 'orchestrator' is parallelcluster",
        "18:7: 'cluster.queues[0].slurm_settings' is no key here; did you mean 'slurm'?",
        "19:7: 'cluster.queues[0].operating_system' is no key here; there is 'cluster.operating_system'",
        "20:7: 'cluster.queues[0].queues' is no key here; there is 'cluster.queues'",
    ),
    row(
        "ParallelCluster's own keys",
        [
            ("cluster:\n", "cluster:\n  BaseOs: alinux2023\n"),
            ("public: true\n", "public: true\n    AdditionalIamPolicies: []\n    SubnetId: subnet-1\n"),
            ("- at: /shared\n", "- at: /shared\n        volume-type: gp3\n        Raid: {}\n"),
        ],
        "10:3: 'cluster.BaseOs' is no key here; 'operating_system' is given already; leave one of both out",
        "15:5: 'cluster.head_node.AdditionalIamPolicies' is no key here; use 'policy_arns'",
        "16:5: 'cluster.head_node.SubnetId' is no key here; use 'public'; subnets that exist stand in 'network' at the top of the file, with 'vpc_id'",
        "31:9: 'cluster.shared_storage.ebs[0].volume-type' is no key here; did you mean 'type'?",
        "32:9: 'cluster.shared_storage.ebs[0].Raid' is no key here; use 'raid_volumes' and 'raid_level'",
    ),
    row(
        "a database that exists, in ParallelCluster's words",
        [("cluster:\n", "cluster:\n  slurm: {accounting: {Uri: db.example.com, UserName: slurm}}\n")],
        "10:11: 'cluster.slurm.accounting.password_secret_arn' is missing",
        "10:24: 'cluster.slurm.accounting.Uri' is no key here; use 'endpoint'",
        "10:45: 'cluster.slurm.accounting.UserName' is no key here; did you mean 'user_name'?",
    ),
    row(
        "compute resources that are no mappings",
        [("\n        - instance_type: c5.xlarge\n          max_count: 8", " [5]")],
        "16:17: 'cluster.queues[0].compute[0]' must be a mapping ('instance_type: …' on lines below it), got 5",
    ),
    row(
        "a scratch directory inside a mounted one",
        [("placement: cluster\n", "placement: cluster\n      scratch_at: /fsx/scratch\n")],
        "21:19: 'cluster.queues[1].scratch_at' must not be inside another mounted directory, got /fsx/scratch in /fsx",
    ),
    row(
        "alerts of nothing, told to nobody",
        [("name: demo\n", "name: demo\nalerts: {}\n")],
        "2:1: 'alerts' must be left out with orchestrator parallelcluster alone, whose alarms of the head node tell nobody; give 'monitoring' beside 'cluster', whose alarms tell",
    ),
    row(
        "repositories that no policy has room for",
        [
            (
                "cluster:\n",
                f"cluster:\n  image_repositories: [{', '.join(f'team/{number:0>95}' for number in range(36))}]\n",
            )
        ],
        "10:3: 'cluster.image_repositories' must have ARNs of at most 5000 characters together, all that a managed policy has room for, got 36 with 5256; use '*' for all of the account",
    ),
    row(
        "an access point for an EFS file system",
        [
            (
                "shared_storage:\n",
                "shared_storage:\n    efs: [{at: /e, file_system_id: fsap-0123456789abcdef0, security_group_id: sg-0123456789abcdef0}]\n",
            )
        ],
        "26:36: 'cluster.shared_storage.efs[0].file_system_id' must be the id of a file system of EFS, as fs-0123456789abcdef0, got 'fsap-0123456789abcdef0'",
    ),
    row(
        "a Region with one neighbor",
        [("us-east-1\n", "me-central-1\n"), ("us-east-1a", "me-central-1a")],
        "2:9: 'region' must be one that ParallelCluster 3.16.1 supports, got 'me-central-1'; the one of its area is me-south-1",
    ),
    row(
        "a Region without a neighbor",
        [("us-east-1\n", "mx-central-1\n"), ("us-east-1a", "mx-central-1a")],
        "2:9: 'region' must be one that ParallelCluster 3.16.1 supports, got 'mx-central-1'; all are in ParallelCluster's user guide, 'Supported Regions'",
    ),
    row(
        "a type named many times",
        [("- instance_type: c5.xlarge\n", f"- instance_types: [{', '.join(['c5.xlarge'] * 45)}]\n")],
        "17:39: 'cluster.queues[0].compute[0].instance_types[1]' must be another than those before it, got 'c5.xlarge' 45 times",
    ),
    row(
        "a name for instances that have one",
        [
            ("- instance_type: c5.xlarge\n", "- instance_type: c5.xlarge\n          tags: {Name: x}\n"),
            ("placement: cluster\n", "placement: cluster\n      tags: {Name: x, team: y}\n"),
        ],
        "18:18: 'cluster.queues[0].compute[0].tags.Name' must be left out: ParallelCluster names every instance of a queue 'Compute', whatever this says",
        "22:14: 'cluster.queues[1].tags.Name' must be left out: […]",
    ),
    row(
        "too many tags of all, and a reserved one",
        [("name: demo\n", f"name: demo\ntags: {{'parallelcluster:a': b{''.join(f', k{i}: v' for i in range(50))}}}\n")],
        "2:1: 'tags' must be at most 40 tags beside 10 that are added, got 51",
        "2:8: 'tags.parallelcluster:a' must not begin with parallelcluster:, which is ParallelCluster's own",
    ),
    row(
        "too many tags together",
        [
            ("name: demo\n", f"name: demo\ntags: {{{', '.join(f'k{i}: v' for i in range(30))}}}\n"),
            ("cluster:\n", f"cluster:\n  tags: {{{', '.join(f'l{i}: v' for i in range(11))}}}\n"),
        ],
        "11:3: 'cluster.tags' must be at most 40 together with those around it, got 41",
    ),
    row(
        "what an older version has not",
        [
            ("cluster:\n", "cluster:\n  version: 3.10.1\n  login_pools: [{name: a, instance_type: c5.xlarge}]\n"),
            ("alinux2023", "ubuntu2404"),
        ],
        "11:3: 'cluster.login_pools' must be left out with 'version' 3.10.1: who may connect to login nodes can be said from 3.11.0 on",
        "12:21: 'cluster.operating_system' must be another with 'version' 3.10.1, got 'ubuntu2404', which ParallelCluster has from 3.13.0 on",
    ),
    row(
        "what versions before 3.14 had not",
        [
            ("cluster:\n", "cluster:\n  version: 3.13.2\n"),
            ("    public: true\n", "    public: true\n    dcv: {allowed_from: 10.0.0.0/8}\n"),
            ("- name: cpu\n", "- name: cpu\n      allocation: prioritized\n"),
            _SEVERAL,
            (TRN1, "instance_type: p6-b200.48xlarge\n          raw_overrides: {LaunchTemplateOverrides: {Version: 1}}"),
        ],
        "15:5: 'cluster.head_node.dcv' must be left out with 'version' 3.13.2 on 'alinux2023': ParallelCluster has it from 3.14.0 on",
        "18:19: 'cluster.queues[0].allocation' must be another with 'version' 3.13.2, got 'prioritized', which ParallelCluster has from 3.14.0 on",
        "25:26: 'cluster.queues[1].compute[0].instance_type' must be another with 'version' 3.13.2, got 'p6-b200.48xlarge', which ParallelCluster has from 3.14.0 on",
        "26:27: 'cluster.queues[1].compute[0].raw_overrides.LaunchTemplateOverrides' must be left out with 'version' 3.13.2: ParallelCluster has it from 3.15.0 on",
    ),
    row(
        "a Region before its version",
        [
            ("region: us-east-1", "region: ap-southeast-5"),
            ("us-east-1a", "ap-southeast-5a"),
            ("cluster:\n", "cluster:\n  version: 3.12.0\n"),
        ],
        "2:9: 'region' must be another with 'version' 3.12.0, got 'ap-southeast-5', which ParallelCluster has from 3.13.0 on",
    ),
    row(
        "a disk that the larger image of newer versions does not fit on",
        [
            ("cluster:\n", "cluster:\n  version: 3.16.2\n"),
            ("    public: true\n", "    public: true\n    root_volume: {size_gib: 49}\n"),
        ],
        "15:29: 'cluster.head_node.root_volume.size_gib' must be at least 50 GiB, as ParallelCluster's image is, got 49",
    ),
    row(
        "logs that are kept, and not there",
        [("cluster:\n", "cluster:\n  monitoring: {logs: false, log_retention_days: 180, keep_logs: true}\n")],
        "10:29: 'cluster.monitoring.log_retention_days' must be left out when 'logs' is false: there are none",
        "10:54: 'cluster.monitoring.keep_logs' must be left out when 'logs' is false: there are none",
    ),
    row(
        "names of nodes that cannot be told apart",
        [
            ("- instance_type: c5.xlarge\n", "- instance_type: c5.xlarge\n          name: a-dy-b\n"),
            (TRN1, f"{TRN1}\n          name: st-1"),
        ],
        "18:17: 'cluster.queues[0].compute[0].name' must have no part 'st' or 'dy' with another behind it, by which nodes are told apart, got 'a-dy-b'",
        "24:17: 'cluster.queues[1].compute[0].name' must have no part 'st' […]",
    ),
    row(
        "GPUDirect without EFA",
        [
            (
                "- instance_type: c5.xlarge\n",
                "- instance_type: c5.xlarge\n          raw_overrides: {Efa: {GdrSupport: true}}\n",
            )
        ],
        "18:33: 'cluster.queues[0].compute[0].raw_overrides.Efa.GdrSupport' must be left out without EFA",
    ),
    row(
        "policies that the provider may not attach",
        [
            ("public: true\n", 'public: true\n    policy_arns: ["arn:aws:iam::123456789012:policy/mine"]\n'),
            (
                "placement: cluster\n",
                'placement: cluster\n      policy_arns: ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess", "arn:aws:iam::123456789012:policy/parallelcluster-mine", "arn:aws:iam::123456789012:policy/mine/parallelcluster"]\n',
            ),
        ],
        "14:19: 'cluster.head_node.policy_arns[0]' must be one whose path or name begins with 'parallelcluster', got 'arn:aws:iam::123456789012:policy/mine'; the provider may attach no other of an account",
        "22:128: 'cluster.queues[1].policy_arns[2]' must be one whose path […]",
    ),
    row(
        "a role that the provider may not pass",
        [("cluster:\n", "cluster:\n  iam: {lambda_role_arn: 'arn:aws:iam::123456789012:role/mine'}\n")],
        "10:26: 'cluster.iam.lambda_role_arn' must be one whose path begins with '/parallelcluster/', got 'arn:aws:iam::123456789012:role/mine'; the provider may pass no other to a function",
    ),
    row(
        "a password in JSON",
        [
            (
                "cluster:\n",
                "cluster:\n  slurm:\n    accounting:\n      endpoint: db.example.internal\n      user_name: slurm\n      password_secret_arn: arn:aws:secretsmanager:us-east-1:123456789012:secret:rds!db-0123-AbCdEf\n",
            )
        ],
        "14:28: 'cluster.slurm.accounting.password_secret_arn' must hold the password alone, in plain text, got 'arn:aws:secretsmanager:us-east-1:123456789012:secret:rds!db-0123-AbCdEf', which RDS keeps as JSON; make a secret with that of a user for it",
    ),
    row(
        "EFA for a type without it, and no word of placement",
        [("max_count: 8", "efa: true")],
        "18:16: 'cluster.queues[0].compute[0].efa' must be false for c5.xlarge, which has no EFA, got true",
    ),
    row(
        "a desktop on the port of the metrics' agent",
        [
            ("name: demo\n", "name: demo\nmonitoring: {}\n"),
            ("operating_system: alinux2023", "operating_system: ubuntu2404"),
            ("public: true\n", "public: true\n    dcv: {allowed_from: 203.0.113.0/24, port: 8429}\n"),
        ],
        "15:47: 'cluster.head_node.dcv.port' must be another port than that of a program of the metrics, got 8429",
    ),
    row(
        "daemons of Slurm on ports of others",
        [
            ("name: demo\n", "name: demo\nmonitoring: {}\n"),
            ("operating_system: alinux2023", "operating_system: ubuntu2404"),
            ("  head_node:\n", "  slurm:\n    accounting: {}\n    custom: [{SlurmctldPort: 6819}]\n  head_node:\n"),
            ZONES,
            ("max_count: 8", "max_count: 8\n          slurm: {Port: 9100}"),
        ],
        "15:30: 'cluster.slurm.custom[0].SlurmctldPort' must be another port than 6819 of slurmdbd, got 6819",
        "24:25: 'cluster.queues[0].compute[0].slurm.Port' must be another port than 9100 of a program of the metrics, got 9100",
    ),
    row(
        "an environment in a directory that is mounted later",
        [
            ("operating_system: alinux2023", "operating_system: ubuntu2404"),
            ("public: true\n", "public: true\n    on_start: [{script: neuron.sh, args: [--venv, /fsx/neuron]}]\n"),
        ],
        "14:51: 'cluster.head_node.on_start[0].args[1]' must be given to 'on_configured': /fsx is mounted after 'on_start', over what that has made, got '/fsx/neuron'",
    ),
    row(
        "an existing subnet that is too small",
        [
            ("zone: us-east-1a", f"{EXISTING[:-1]}, cidr: 10.0.0.0/28}}"),
            ("public: true", "public: false"),
        ],
        "5:85: 'network.accelerator_subnet.cidr' must hold 27 addresses (cpu/c5-xlarge 8 x c5.xlarge x 1 = 8, training/trn1-32xlarge 16 x trn1.32xlarge x 1 = 16, Lustre file servers = 2, other = 1), got 10.0.0.0/28 with 11; use a /27 or larger; one that exists cannot grow, so name another",
    ),
    row(
        "a mask that leaves too few addresses",
        [("zone: us-east-1a", "zone: us-east-1a\n  accelerator_mask: 28")],
        "5:21: 'network.accelerator_mask' must hold 26 addresses […]",
    ),
    row(
        "a file system with more servers than the subnet has addresses",
        [
            ("zone: us-east-1a", "zone: us-east-1a\n  accelerator_mask: 26"),
            ("capacity_gib: 1200", "capacity_gib: 480000"),
        ],
        "5:21: 'network.accelerator_mask' must hold 240 addresses (cpu/c5-xlarge 8 x c5.xlarge x 1 = 8, training/trn1-32xlarge 16 x trn1.32xlarge x 1 = 16, Lustre file servers = 216), got 10.1.128.0/26 with 59; use a /24 or larger",
    ),
    row(
        "more nodes than all service subnets have addresses",
        [
            ZONES,
            ("c5.xlarge\n    public", "c5.4xlarge\n    public"),
            ("- name: cpu\n", "- name: cpu\n      subnets: [service]\n"),
            _SEVERAL,
            ("max_count: 8", "max_count: 2039"),
        ],
        "20:22: 'cluster.queues[0].compute[0].max_count' must let the nodes take at most 2038 addresses, all of 10.1.64.0/22 and 10.1.68.0/22, got 2039 […]",
    ),
    row(
        "more login nodes than the service subnet has addresses",
        [
            ("zone: us-east-1a", f"{EXISTING}\n  service_subnets: [{_SERVICE_A}, {_SERVICE_B}]"),
            (
                "  head_node:\n",
                "  login_pools: [{name: login, instance_type: c5.xlarge, subnet: service, count: 12}]\n  head_node:\n",
            ),
            ("public: true", "public: false"),
        ],
        "13:81: 'cluster.login_pools[0].count' must let the nodes take at most 11 addresses, all of 10.0.0.0/28, got 12 […]",
    ),
    row(
        "a public head node and login nodes in a Local Zone",
        [
            LOCAL_ZONE,
            ("  head_node:\n", "  login_pools:\n  - {name: login, instance_type: c5.xlarge}\n  head_node:\n"),
        ],
        "13:5: 'cluster.login_pools[0].subnet' must be in no Local Zone, got one in 'use1-dfw2-az1', where there is no Network Load Balancer, and login nodes stand behind one; use a service subnet",
        "16:13: 'cluster.head_node.public' must come with 'elastic_ip_id' in the Local Zone 'use1-dfw2-az1', got true alone: the address that ParallelCluster takes is one of the Region's, which cannot be associated there; give one of that zone, or make the node private",
    ),
    row(
        "login nodes and served models in the same service subnets",
        [
            ZONES,
            (
                "  head_node:\n",
                "  login_pools: [{name: login, instance_type: c5.xlarge, subnet: service, count: 3}]\n  head_node:\n",
            ),
            ("orchestrator: parallelcluster\n", f"orchestrator: parallelcluster\n{SERVING}"),
        ],
        "5:3: 'network.service_zones' must have 2039 addresses for 'serving', got 2 zones with 2038 at most: 1010 hosts take 2020 with their tasks, and a load balancer 16, and nodes of the cluster 3; add zones, give the accelerator subnet a 'secondary_cidr', or lower the tasks, or the cluster's nodes",
    ),
    row(
        "more nodes than any subnet has addresses",
        [("max_count: 8", "max_count: 65531"), ("c5.xlarge\n    public", "c5.4xlarge\n    public")],
        "18:22: 'cluster.queues[0].compute[0].max_count' must let the nodes take at most 65531 addresses, all that the largest subnet (a /16) has, got 65549 (cpu/c5-xlarge 65531 x c5.xlarge x 1 = 65531, training/trn1-32xlarge 16 x trn1.32xlarge x 1 = 16, Lustre file servers = 2); use fewer nodes, or further subnets",
    ),
    row(
        "a database in a VPC that has no subnets for it",
        [("zone: us-east-1a", EXISTING), ("public: true", "public: false"), ACCOUNTING],
        "3:1: 'network.service_subnets' must be in at least 2 zones for the accounting database, got none; name private subnets of the VPC in two zones",
    ),
    row(
        "a database in a VPC whose subnets for it are in one zone",
        [
            (
                "zone: us-east-1a",
                f"{EXISTING}\n  service_subnets: [{{subnet_id: subnet-0123456789abcdef1, zone: us-east-1b}}]",
            ),
            ("public: true", "public: false"),
            ACCOUNTING,
        ],
        "6:3: 'network.service_subnets' must stand in at least 2 zones, got us-east-1b alone; add a subnet, or leave them out",
    ),
    row(
        "names in a zone that the head node cannot reach",
        [
            (
                "zone: us-east-1a",
                "zone: us-east-1a\n  nat: none\n  interface_endpoints: [cloudformation, ec2, logs, ssm, ssmmessages, ec2messages]",
            ),
            ("public: true", "public: false"),
            ("cluster:\n", "cluster:\n  slurm: {managed_dns: true}\n"),
        ],
        "12:24: 'cluster.slurm.managed_dns' must be left out, or false: without NAT the head node cannot reach Route 53, got true",
    ),
    row(
        "a version with two numbers",
        [("cluster:\n", "cluster:\n  version: 3.16\n")],
        "10:12: 'cluster.version' must be ParallelCluster's version 3, as 3.16.1, got '3.16'",
    ),
    row(
        "a version that never was",
        [("cluster:\n", "cluster:\n  version: 3.14.9\n")],
        "10:12: 'cluster.version' must be one that was released, the newest of 3.14 is 3.14.2 (as of 2026-11-27), got '3.14.9'",
    ),
    row(
        "PyTorch for Neuron on Amazon Linux",
        [("public: true", "public: true\n    on_configured: [{script: neuron.sh, args: [--venv, /fsx/neuron]}]")],
        "14:30: 'cluster.head_node.on_configured[0].script' must not be neuron.sh with --venv on operating system 'alinux2023' with Python 3.9: torch-neuronx==2.9.0.2.15.32035, neuronx-cc==2.26.6360.0 are for Python 3.11, 3.12, 3.13; use ubuntu2404, or leave --venv out and train in containers",
    ),
    row(
        "Neuron twice",
        [
            (
                "public: true",
                "public: true\n    on_configured: [{script: neuron.sh}, {script: neuron.sh}]\n    on_start: [{script: neuron.sh}]",
            )
        ],
        "14:51: 'cluster.head_node.on_configured[1].script' must be another than the one before it, got neuron.sh again with the same 'args'; it would do nothing",
    ),
    row(
        "PyTorch for Neuron where no other node sees it",
        [
            ("operating_system: alinux2023", "operating_system: ubuntu2404"),
            ("public: true", "public: true\n    on_configured: [{script: neuron.sh, args: [--venv, /opt/neuron]}]"),
        ],
        "14:56: 'cluster.head_node.on_configured[0].args[1]' must be on shared storage, as /fsx/neuron, /shared/neuron or /home/neuron, got '/opt/neuron'; no other node would see it",
    ),
    row(
        "PyTorch for Neuron in place of what a bucket shows",
        [
            (
                "capacity_gib: 1200",
                "capacity_gib: 1200\n    data_repositories: [{file_system_path: /data, bucket: datasets}]",
            ),
            ("orch", "  buckets: {datasets: {bucket_name: some-data}}\norch"),
            ("operating_system: alinux2023", "operating_system: ubuntu2404"),
            ("public: true", "public: true\n    on_configured: [{script: neuron.sh, args: [--venv, /fsx/data]}]"),
        ],
        "16:56: 'cluster.head_node.on_configured[0].args[1]' must not be /fsx/data or around it, got '/fsx/data'; neuron.sh takes no directory with something else in it: name one of its own, as /fsx/neuron",
    ),
    row(
        "PyTorch for Neuron in a directory that is written in other ways",
        [
            ("operating_system: alinux2023", "operating_system: ubuntu2404"),
            ("public: true", "public: true\n    on_configured: [{script: neuron.sh, args: [--venv, /fsx/n/]}]"),
            ("- name: cpu\n", "- name: cpu\n      on_configured: [{script: neuron.sh, args: [--venv, /fsx/n]}]\n"),
            (
                "- name: training\n",
                "- name: training\n      on_configured: [{script: neuron.sh, args: [--venv, /home/../fsx]}]\n",
            ),
        ],
        "14:56: 'cluster.head_node.on_configured[0].args[1]' must be an absolute path of letters, digits, '.', '_' and '-' without a slash at the end, as /fsx, got '/fsx/n/'",
        "22:58: 'cluster.queues[1].on_configured[0].args[1]' must be written without '.' and '..' as parts, got '/home/../fsx'",
    ),
    row(
        "trn1.2xlarge with EFA",
        [(TRN1, "instance_type: trn1.2xlarge\n          efa: true")],
        "23:16: 'cluster.queues[1].compute[0].efa' must be false for trn1.2xlarge, which has no EFA, got true",
    ),
    row(
        "EFA without a placement decision",
        [("      placement: cluster\n", "")],
        "19:7: 'cluster.queues[1].placement' must be given for nodes with EFA […]",
    ),
    row(
        "two subnets for one EFA type",
        [
            ("placement: cluster", "placement: anywhere\n      subnets: [accelerator, public]"),
            (TRN1, "instance_types: [c5n.18xlarge]\n          efa: true"),
        ],
        "19:7: 'cluster.queues[1].public_ip' must be true in a public subnet […]",
        "21:7: 'cluster.queues[1].subnets' must be one for nodes with EFA, which does not cross zones, got 2; leave it out for the accelerator subnet, or go without it by 'efa' false",
        "21:7: 'cluster.queues[1].subnets' must keep c5n.18xlarge private: EC2 gives no public address to an instance with several network interfaces; use the accelerator subnet, behind NAT",
    ),
    row(
        "two subnets for one EFA type in a placement group",
        [ZONES, ("placement: cluster", "placement: cluster\n      subnets: [service]")],
        "22:7: 'cluster.queues[1].subnets' must be one for nodes with EFA, which does not cross zones, got 2; leave it out for the accelerator subnet",
    ),
    row(
        "two subnets for a reservation",
        [
            ZONES,
            ("- name: cpu\n", "- name: cpu\n      reservation_id: cr-0123456789abcdef0\n      subnets: [service]\n"),
        ],
        "18:7: 'cluster.queues[0].subnets' must be one for a reservation by id, which is of one zone, got 2; leave it out for the accelerator subnet",
    ),
    row(
        "a public subnet for a multi-card type",
        [("placement: cluster", "placement: cluster\n      public_ip: true\n      subnets: [public]")],
        "21:18: 'cluster.queues[1].public_ip' must keep trn1.32xlarge private […]",
    ),
    row(
        "max < min",
        [(COUNTS, "min_count: 4\n          max_count: 2")],
        "24:22: 'cluster.queues[1].compute[0].max_count' must be at least 'min_count', got 2 and 4",
    ),
    row(
        "a capacity block with min != max",
        [
            (
                "placement: cluster",
                "capacity: capacity-block\n      reservation_id: cr-0123456789abcdef0",
            ),
            (TRN1, "instance_type: p5.48xlarge"),
            (COUNTS, "min_count: 2\n          max_count: 4"),
        ],
        "24:22: 'cluster.queues[1].compute[0].min_count' must be equal to 'max_count' on a […]",
    ),
    row(
        "Lustre 1300",
        [("1200", "1300")],
        "7:19: 'storage.lustre.capacity_gib' must be 1200 or a multiple of […]",
    ),
    row(
        "two things on /fsx",
        [("at: /shared", "at: /fsx\n        name: other")],
        "27:13: 'cluster.shared_storage.ebs[0].at' must be another for every shared directory […]",
    ),
    row(
        "two things on /fsx, unnamed",
        [("at: /shared", "at: /fsx")],
        "27:13: 'cluster.shared_storage.ebs[0].at' must be another for every shared directory […]",
    ),
    row(
        "a queue name in upper case",
        [("name: training", "name: Training")],
        "19:13: 'cluster.queues[1].name' must be a lower case letter and then lower case letters, digits and hyphens, as compute, got 'Training'",
    ),
    row(
        "OS ubuntu2004",
        [("alinux2023", "ubuntu2004")],
        "10:21: 'cluster.operating_system' must be alinux2023, ubuntu2204, ubuntu2404, rhel8, rocky8 […]",
    ),
    row(
        "OS alinux2",
        [("alinux2023", "alinux2")],
        "10:21: 'cluster.operating_system' must be alinux2023, ubuntu2204, ubuntu2404, rhel8, rocky8 […]",
    ),
    row(
        "a region without ParallelCluster",
        [("us-east-1\n", "ap-south-2\n"), ("us-east-1a", "ap-south-2a")],
        "2:9: 'region' must be one that ParallelCluster 3.16.1 supports […]",
    ),
    row(
        "a schema that ParallelCluster does not take",
        [(ACCOUNTING[0], ACCOUNTING[1].replace("{}", "{schema_name: Jobs$}"))],
        "3:1: 'network.service_zones' must be in at least 2 zones […]",
        "12:31: 'cluster.slurm.accounting.schema_name' must be lower case letters, digits and '_', not digits alone, and no schema of the server's own, as jobs, got 'Jobs$'",
    ),
    row(
        "a schema that cannot be made without quotes",
        [ZONES, (ACCOUNTING[0], ACCOUNTING[1].replace("{}", "{schema_name: order}"))],
        "13:31: 'cluster.slurm.accounting.schema_name' must be a name that the database takes without quotes, got 'order', a reserved word of mysql; use 'slurm_order'",
    ),
    row(
        "a key of the schema misspelt",
        [("cluster:\n", "cluster:\n  raw_overrides: {DeploymentSetting: {}}\n")],
        "10:19: 'cluster.raw_overrides.DeploymentSetting' is not a key of ParallelCluster […]",
    ),
    row(
        "a raw key of a section that is none",
        [("cluster:\n", "cluster:\n  monitoring: 5\n  raw_overrides: {Monitoring: {Alarms: {Enabled: true}}}\n")],
        "10:15: 'cluster.monitoring' must be a mapping […]",
        "11:41: 'cluster.raw_overrides.Monitoring.Alarms.Enabled' has an option: use 'monitoring.alarms'",
    ),
    row(
        "a key of the file misspelt",
        [("min_count: 0", "min_cuont: 0")],
        "23:11: 'cluster.queues[1].compute[0].min_cuont' is no key here; did you mean 'min_count'?",
    ),
    row(
        "an instance type misspelt",
        [("trn1.32xlarge", "trn1.32xlrge")],
        "22:26: 'cluster.queues[1].compute[0].instance_type' must be the name of an EC2 […]",
    ),
    row(
        "a public head node without a public subnet",
        [("zone: us-east-1a", "zone: us-east-1a\n  nat: none\n  interface_endpoints: [cloudformation, ec2, logs]")],
        "15:13: 'cluster.head_node.public' must be false in a network without public subnets, got true",
    ),
    row(
        "a public head node in an existing network without a public subnet",
        [("zone: us-east-1a", EXISTING)],
        "14:13: 'cluster.head_node.public' must be false in a network without public subnets, got true",
    ),
    row(
        "a public head node without an address",
        [("public: true", "public: true\n    elastic_ip: false")],
        "14:17: 'cluster.head_node.elastic_ip' must be true in a public subnet […]",
    ),
    row(
        "an address and not",
        [("public: true", "public: true\n    elastic_ip: true\n    elastic_ip_id: eipalloc-0123456789abcdef0")],
        "14:5: 'cluster.head_node.elastic_ip' must be left out with 'elastic_ip_id', which says it",
    ),
    row(
        "a script that is neither a name nor an address",
        [("public: true", "public: true\n    on_configured: [{script: /home/me/install.sh}]")],
        "14:30: 'cluster.head_node.on_configured[0].script' must be an address as s3 […]",
    ),
    row(
        "a script at a port that there is not",
        [("public: true", "public: true\n    on_configured: [{script: 'https://x.example:99999/y.sh'}]")],
        "14:30: 'cluster.head_node.on_configured[0].script' must have a port of 1 to 65535, or none for 443, got 'https://x.example:99999/y.sh'",
    ),
    row(
        "an hour for the head node",
        [("cluster:\n", "cluster:\n  timeouts: {head_node_minutes: 60}\n")],
        "10:33: 'cluster.timeouts.head_node_minutes' must be less than an hour, which […]",
    ),
    row(
        "minutes below all",
        [("cluster:\n", "cluster:\n  slurm: {idle_minutes: -5}\n")],
        "10:25: 'cluster.slurm.idle_minutes' must be 0 or more, got -5",
    ),
    row(
        "parameters of Slurm that are no values",
        [("name: training", "name: training\n      slurm: {MaxTime: [1, 2]}")],
        "20:15: 'cluster.queues[1].slurm.MaxTime' must be one value, got a list",
    ),
    row(
        "half of an EFS file system",
        [("ebs:", "efs: [{at: /efs, file_system_id: fs-0123456789abcdef0}]\n    ebs:")],
        "26:11: 'cluster.shared_storage.efs[0].security_group_id' must be given with 'file_system_id'",
    ),
    row(
        "a Lustre of the cluster's own",
        [("    ebs:", "    lustre: [{at: /fsx}]\n    ebs:")],
        "26:5: 'cluster.shared_storage.lustre' is no key here; there is 'storage.lustre'",
    ),
    row(
        "no queue",
        [(GOOD_PARALLELCLUSTER.partition("  queues:")[2].partition("  shared_storage:")[0], " []\n")],
        "14:3: 'cluster.queues' must hold at least one queue, got none",
    ),
    row(
        "a mount point of no use",
        [("placement: cluster", "placement: cluster\n      scratch_at: s3://x")],
        "21:19: 'cluster.queues[1].scratch_at' must be an absolute path of letters, digits, '.', '_' and '-' without a slash at the end, as /fsx, got 's3://x'",
    ),
    row(
        "two queues of one name",
        [("name: training", "name: cpu")],
        "19:13: 'cluster.queues[1].name' must be different from every other, got 'cpu' 2 times",
    ),
    row(
        "what is reserved, a number of nodes with an exponent",
        [("- name: cpu\n", "- name: cpu\n      capacity: reserved\n      slurm: {MaxNodes: 1e3}\n")],
        "16:17: 'cluster.queues[0].capacity' must be on-demand, spot or capacity-block, got 'reserved'; leave it out, and name the reservation by 'reservation_id'; hyperpod has 'training_plan_arn'",
        "17:25: 'cluster.queues[0].slurm.MaxNodes' must be a whole number of 1 to 4294967295, or UNLIMITED, got 1000.0; write 1000",
    ),
    row(
        "a zone by its number",
        [("zone: us-east-1a", "zone: 1")],
        "4:9: 'network.zone' must be text, as use1-az4, got 1",
    ),
    row(
        "a price that is no number",
        [("- name: cpu\n", "- name: cpu\n      capacity: spot\n"), ("max_count: 8", "spot_price: cheap")],
        "19:23: 'cluster.queues[0].compute[0].spot_price' must be a number of USD, got 'cheap'",
    ),
    row(
        "a price where nothing is bid",
        [("max_count: 8", "spot_price: 0.5")],
        "18:11: 'cluster.queues[0].compute[0].spot_price' must be left out unless the queue's capacity is spot",
    ),
    row(
        "two reservations",
        [
            (
                "max_count: 8",
                "reservation_id: cr-0123456789abcdef0\n          reservation_group_arn: arn:aws:resource-groups:us-east-1:111111111111:group/g",
            )
        ],
        "18:11: 'cluster.queues[0].compute[0].reservation_id' must be left out with 'reservation_group_arn'; a reservation is one of the two",
    ),
    row(
        "Lustre over EFA in another zone",
        [
            (
                "capacity_gib: 1200",
                "file_system_id: fs-0123456789abcdef0\n    mount_name: fsx\n    dns_name: fs-0123456789abcdef0.fsx.us-east-1.example\n    security_group_id: sg-12345678\n    efa_enabled: true\n    zone: us-east-1b",
            )
        ],
        "6:3: 'storage.lustre' must be in the zone of the nodes, us-east-1a, got one with EFA in us-east-1b; EFA does not cross zones",
    ),
    row(
        "a Region without its number, near to one that ParallelCluster does not support",
        [("region: us-east-1", "region: eu-central"), ("zone: us-east-1a", "zone: euc1-az1")],
        "2:9: 'region' must be a Region (as of 2026-10-27), as us-east-1, got 'eu-central'; did you mean 'eu-central-1' or 'il-central-1' or 'ca-central-1'?",
    ),
    row(
        "Lustre with an id of former years",
        [
            (
                "capacity_gib: 1200",
                "file_system_id: fs-12345678\n    mount_name: fsx\n    dns_name: fs-12345678.fsx.us-east-1.amazonaws.com\n    security_group_id: sg-12345678",
            )
        ],
        "7:21: 'storage.lustre.file_system_id' must have 17 digits: ParallelCluster takes no file system whose id is shorter, got 'fs-12345678'",
    ),
    row(
        "alerts where no alarms are offered that tell",
        [
            ("region: us-east-1", "region: cn-north-1\nalerts: {emails: [ops@example.com]}"),
            ("zone: us-east-1a", "zone: cn-north-1a"),
        ],
        "3:1: 'alerts' must be left out with orchestrator parallelcluster alone, whose alarms of the head node tell nobody; there is no other: Amazon Managed Service for Prometheus is not offered in China",
    ),
    row(
        "alerts where no metrics are collected that ring",
        [
            ("region: us-east-1", "region: us-east-1\nalerts: {emails: [ops@example.com]}"),
            ("operating_system: alinux2023", "operating_system: rhel8"),
        ],
        "3:1: 'alerts' must be left out with orchestrator parallelcluster alone, whose alarms of the head node tell nobody; there is no other: 'monitoring' must be left out with operating system 'rhel8', whose Python is older than 3.8, which the programs of the metrics need",
    ),
    row(
        "alerts and monitoring where neither is offered",
        [
            ("region: us-east-1", "region: cn-north-1\nalerts: {emails: [ops@example.com]}\nmonitoring: {}"),
            ("zone: us-east-1a", "zone: cn-north-1a"),
        ],
        "3:1: 'alerts' must be left out with orchestrator parallelcluster alone, whose alarms of the head node tell nobody; there is no other: Amazon Managed Service for Prometheus is not offered in China",
        "4:1: 'monitoring' must be left out in cn-north-1: Amazon Managed Service for Prometheus is not offered in China",
    ),
    row(
        "what HyperPod has",
        [
            (
                "storage:\n  lustre:",
                "storage:\n  open_zfs: {dns_name: fs-0123456789abcdef0.fsx.us-east-1.example}\n  lustre:",
            ),
            ("name: demo", "name: demo\nalerts: {emails: [ops@example.com]}"),
        ],
        "2:1: 'alerts' must be left out with orchestrator parallelcluster alone, whose alarms of the head node tell nobody; give 'monitoring' beside 'cluster', whose alarms tell",
        "7:3: 'storage.open_zfs' must be left out with orchestrator parallelcluster, which mounts volumes by id; give 'openzfs' in the cluster's 'shared_storage' its 'volume_id'",
    ),
    row(
        "a cluster of HyperPod",
        [(GOOD_PARALLELCLUSTER.partition("cluster:\n  ")[2], "groups: {}\n")],
        "9:1: 'cluster.head_node' is missing; it needs 'instance_type'",
        "9:1: 'cluster.queues' is missing",
        "10:3: 'cluster.groups' is no key here; that is for hyperpod; 'orchestrator' is parallelcluster",
    ),
    row(
        "one queue of the wrong form, another that breaks a rule",
        [("max_count: 8", "max_count: eight"), ("      placement: cluster\n", "")],
        "18:22: 'cluster.queues[0].compute[0].max_count' must be a whole number, got 'eight'",
        "19:7: 'cluster.queues[1].placement' must be given for nodes with EFA […]",
    ),
    row(
        "a head node of the wrong form, a queue that breaks a rule",
        [
            ("public: true", "public: please"),
            ("      placement: cluster\n", ""),
            ("c5.xlarge\n          max", "c7g.xlarge\n          max"),
        ],
        "13:13: 'cluster.head_node.public' must be true or false, got 'please'",
        "17:26: 'cluster.queues[0].compute[0].instance_type' must be x86_64 as the head node's […]",
        "19:7: 'cluster.queues[1].placement' must be given for nodes with EFA […]",
    ),
    row(
        "more nodes than addresses",
        [
            ("zone: us-east-1a", "zone: us-east-1a\n  cidr: 10.1.0.0/24"),
            ("max_count: 16", "max_count: 500"),
            ("c5.xlarge\n    p", "m5.8xlarge\n    p"),
        ],
        "5:9: 'network.cidr' must hold 510 addresses (cpu/c5-xlarge 8 x c5.xlarge x 1 = 8, training/trn1-32xlarge 500 x trn1.32xlarge x 1 = 500, Lustre file servers = 2), got 10.1.0.128/25 with 123; use a /22 or larger; that is for the accelerator subnet, which has half of this block",
    ),
    row(
        "an accounting database in one zone",
        [ACCOUNTING],
        "3:1: 'network.service_zones' must be in at least 2 zones […]",
    ),
    row(
        "backups of the accounting database",
        [(ACCOUNTING[0], ACCOUNTING[1].replace("{}", "{backup_retention_days: 40}")), ZONES],
        "13:41: 'cluster.slurm.accounting.backup_retention_days' must be 1 to 35 days, got 40",
    ),
    row(
        "a volume that is too large",
        [("at: /shared", "at: /shared\n      - at: /other\n        size_gib: 100000")],
        "29:19: 'cluster.shared_storage.ebs[1].size_gib' must be 1 to 16384 GiB for gp3, got 100000",
    ),
    row(
        "an error beside a queue that is called compute",
        [("name: cpu", "name: compute"), ("name: training", "name: training\n      scratch_at: here")],
        "20:19: 'cluster.queues[1].scratch_at' must be an absolute path of letters, digits, '.', '_' and '-' without a slash at the end, as /fsx, got 'here'",
    ),
    row(
        "two subnets of one zone",
        [
            ZONES,
            ("- instance_type: c5.xlarge", "- instance_types: [c5.xlarge, c6i.xlarge]"),
            ("- name: cpu\n", "- name: cpu\n      subnets: [accelerator, service]\n"),
        ],
        "17:7: 'cluster.queues[0].subnets' must each be in another zone, got 2 in us-east-1a",
    ),
    row(
        "a key of a section that has one",
        [("cluster:\n", "cluster:\n  scripts: {xyz: 1}\n")],
        "10:13: 'cluster.scripts.xyz' is no key here; there is folder",
    ),
    row(
        "subnets that there are not",
        [("name: training", "name: training\n      subnets: [service]")],
        "20:17: 'cluster.queues[1].subnets[0]' must be a kind of subnets that the network has, got 'service'",
    ),
]


@pytest.mark.parametrize(("edits", "says"), AT_LOAD)
def test_fails_at_load(edits: list[Edit], says: list[str], write: Callable[[str], Path]) -> None:
    assert_refused(write(edited(*edits, good=GOOD_PARALLELCLUSTER)), says)


@pytest.mark.parametrize(
    ("version", "edits"),
    [
        ("3.13.0", [("region: us-east-1", "region: ap-southeast-5"), ("us-east-1a", "ap-southeast-5a")]),
        ("3.14.0", [("- name: cpu\n", "- name: cpu\n      allocation: prioritized\n"), _SEVERAL]),
        ("3.14.0", [("    public: true\n", "    public: true\n    dcv: {allowed_from: 10.0.0.0/8}\n")]),
        ("3.13.2", [("cluster:\n", "cluster:\n  image_id: ami-0123456789abcdef0\n"), _P6]),
        ("3.12.0", [("    public: true\n", "    public: true\n    root_volume: {size_gib: 40}\n")]),
        (
            "3.16.1",
            [
                ("cluster:\n", "cluster:\n  image_id: ami-0123456789abcdef0\n"),
                ("    public: true\n", "    public: true\n    root_volume: {size_gib: 38}\n"),
            ],
        ),
    ],
    ids=["Region", "allocation", "desktop", "own image", "smaller image", "smaller image of one's own"],
)
def test_what_a_version_has_is_taken(version: str, edits: list[Edit], write: Callable[[str], Path]) -> None:
    says = problems_of(
        write(edited(("cluster:\n", f"cluster:\n  version: {version}\n"), *edits, good=GOOD_PARALLELCLUSTER))
    )
    assert [one for one in says if "'version'" in one or "image is" in one] == []


@pytest.mark.parametrize(
    "edit",
    [
        ("public: true", "public: true\n    elastic_ip_id: eipalloc-0123456789abcdef0"),
        ("public: true", "public: false"),
        ("  head_node:\n", "  login_pools: [{name: login, instance_type: c5.xlarge, subnet: service}]\n  head_node:\n"),
    ],
    ids=["an address of the zone", "a private head node", "login nodes in the Region's zones"],
)
def test_a_local_zone_is_taken(edit: Edit, write: Callable[[str], Path]) -> None:
    private = [] if "public" in edit[0] else [("public: true", "public: false")]
    assert problems_of(write(edited(LOCAL_ZONE, edit, *private, good=GOOD_PARALLELCLUSTER))) == []


def test_problems_of_all_sections_come_together(write: Callable[[str], Path]) -> None:
    path = write(
        edited(
            ("zone: us-east-1a", "zone: us-west-2a"),
            ("1200", "1300"),
            ("alinux2023", "alinux2"),
            ("max_count: 8", "max_count: 0"),
            (COUNTS, "min_count: 4\n          max_count: 2"),
            good=GOOD_PARALLELCLUSTER,
        )
    )
    assert [problem.split(": ")[0] for problem in problems_of(path)] == ["4:9", "7:19", "10:21", "18:22", "24:22"]


def test_a_folder_of_which_nodes_run_nothing_is_refused(write: Callable[[str], Path]) -> None:
    file = write(edited(("public: true", "public: true\n  scripts: {folder: scripts}"), good=GOOD_PARALLELCLUSTER))
    (file.parent / "scripts").mkdir()
    assert problems_of(file) == [
        "14:21: 'cluster.scripts.folder' must have a script that nodes run, got none; name one, as in 'on_configured', or leave the folder out"
    ]


def test_scripts_that_are_not_there_are_said_where_they_are_named(write: Callable[[str], Path]) -> None:
    named = ("public: true", "public: true\n    on_configured: [{script: neurn.sh}]")
    assert problems_of(write(edited(named, good=GOOD_PARALLELCLUSTER))) == [
        "14:30: 'cluster.head_node.on_configured[0].script' must be a file at the top of the folder, got 'neurn.sh'; did you mean 'neuron.sh' or 'neuron_node.sh' or 'node.sh'?"
    ]
    folder = ("public: true", "public: true\n    on_start: [{script: a.sh}]\n  scripts: {folder: nowhere}")
    assert problems_of(write(edited(folder, good=GOOD_PARALLELCLUSTER))) == [
        "15:21: 'cluster.scripts.folder' must be an existing folder beside this file, got 'nowhere'"
    ]


# ---------------------------------------------------------------- what an update may not change
@cache
def cluster_of(*edits: Edit) -> Found:
    """The cluster of the good file, edited."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.yaml")
        path.write_text(edited(*edits, good=GOOD_PARALLELCLUSTER))
        app = App()
        build_stacks(app, Deployment.load(path))
        (cluster,) = clusters(Path(app.synth().directory))
        return cluster


NEVER = "cannot be changed while the cluster exists; define a second cluster beside it"


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (
            ("instance_type: c5.xlarge\n    public", "instance_type: c5.2xlarge\n    public"),
            f"'HeadNode.InstanceType' {NEVER}, got 'c5.2xlarge' instead of 'c5.xlarge'",
        ),
        (("public: true", "public: false"), f"'HeadNode.Networking.SubnetId' {NEVER}, got "),
        (
            ("public: true", "public: true\n    on_configured: [{script: https://scripts.example/other.sh}]"),
            f"'HeadNode.CustomActions.OnNodeConfigured.Script' {NEVER}, got 'https://scripts.example/other.sh' instead of 'https://scripts.example/a.sh'",
        ),
    ],
    ids=["type of the head node", "subnet of the head node", "script of the head node"],
)
def test_fails_on_update(edit: Edit, says: str) -> None:
    before = "public: true", "public: true\n    on_configured: [{script: https://scripts.example/a.sh}]"
    first = cluster_of(before) if "script" in edit[1] else cluster_of()
    second = cluster_of(edit)
    problems = update_problems(first.config, second.config)
    assert [problem for problem in problems if problem.startswith(says)], problems


def test_another_version_in_place_asks_another_provider() -> None:
    """CloudFormation refuses it ("Modifying service token is not allowed."), and ``make plan-update`` says so."""
    first = cluster_of()
    other = cluster_of(("cluster:\n", "cluster:\n  version: 3.15.0\n"))
    assert (first.name, first.version, other.name, other.version) == (other.name, "3.16.1", first.name, "3.15.0")
