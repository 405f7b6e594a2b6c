"""What ParallelCluster and the services behind it accept, where its package does not say it as data.

Sources, read in November 2026: ``aws-parallelcluster`` 3.12.0 to 3.16.1, and its CloudFormation provider
``cloudformation/custom_resource/cluster.yaml`` of 3.13.1 (github.com/aws/aws-parallelcluster).
"""

import re

CLUSTER_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
VERSION = re.compile(r"3(\.(0|[1-9][0-9]*)){2}")
FIRST_VERSION = (3, 10)
"""``SuppressValidators`` is honoured from 3.10 on, and Slurm's includes are where our settings expect them."""
NEWEST_PATCHES = {10: 1, 11: 1, 12: 0, 13: 2, 14: 2, 15: 1, 16: 3}
"""The newest release of each 3.x, none before it missing (PyPI has ``aws-parallelcluster`` up to 3.16.1; release notes
of aws/aws-parallelcluster for 3.16.2 of 2026-10-29 and 3.16.3 of 2026-11-17)."""
RELEASES_AS_OF = "2026-11-27"

GONE_SYSTEMS = {"alinux2": "3.16.0", "ubuntu2004": "3.14.0"}
"""Operating systems that earlier versions had, and the first version without them."""

NEW_SYSTEMS = {"ubuntu2404": (3, 13, 0)}
"""Operating systems that earlier versions had not: the first version with them (aws-parallelcluster-cookbook,
``CHANGELOG.md`` of 3.13.0, 2025-03-12)."""
NEW_REGIONS = {"ap-southeast-5": (3, 13, 0), "ap-southeast-7": (3, 13, 0)}
"""Regions that earlier versions had not ("Supported AWS Regions" of its user guide, read in November 2026)."""
NEW_ALLOCATIONS = {"prioritized": (3, 14, 0), "capacity-optimized-prioritized": (3, 14, 0)}
NEW_FAMILIES = {"p6-b200": (3, 14, 0), "p6e-gb200": (3, 14, 0)}
"""Types for which earlier images had no drivers."""
NEW_DESKTOPS = {"alinux2023": (3, 14, 0)}
"""Operating systems that had no DCV before (aws-parallelcluster-cookbook, ``CHANGELOG.md`` of 3.14.0, 2025-09; so of
allocation and types; ``cluster_config.py`` and ``constants.py`` of the package 3.13.2 and 3.14.0)."""
NEW_KEYS = {"LaunchTemplateOverrides": (3, 15, 0), "SharedStorageEfsSettings": (3, 14, 0)}
"""Raw keys that earlier versions had not (``cluster_schema.py`` of the package 3.13.2 to 3.15.0)."""
IMAGE_GIB = {(3, 10, 0): 40, (3, 13, 0): 45, (3, 16, 2): 50}
"""How large its images are from a version on (``EBS_VOLUME_SIZE_DEFAULT`` and ``EBS_ROOT_VOLUME_SIZE_DEFAULT`` of the
package 3.12.0 and 3.13.0; release notes of 3.16.2, 2026-10-29)."""

LOGIN_POOLS_SINCE = (3, 11, 0)
"""``LoginNodes/Pools/Ssh/AllowedIps``, which is always said, lest everybody can connect; so are custom actions, DCV and
a second pool from there on (aws-parallelcluster, ``CHANGELOG.md`` and ``cluster_schema.py`` of 3.10.0 and 3.11.0)."""

LOGIN_TAGS_SINCE = (3, 16, 0)
"""From here on AWS's policies let the provider make what login nodes stand behind with tags beside its own, which
CloudFormation gives since July 2026 (aws/aws-parallelcluster issue 7491, "(3.7.0-3.15.1) Cannot deploy login nodes with
... CloudFormation Custom Resource"; pull requests 7490 and 7496)."""

ARCHITECTURES = ("x86_64", "arm64")
"""What its images are built for (``SUPPORTED_ARCHITECTURES`` of ``pcluster/constants.py``)."""

NEURON_SYSTEMS = ("alinux2023", "ubuntu2204", "ubuntu2404")
"""Where AWS publishes the Neuron SDK."""

IAM_PREFIX = re.compile(r"(/[a-zA-Z0-9_.,+@=-]+)+/[a-zA-Z0-9_.,+@=-]{0,30}|[a-zA-Z0-9_.,+@=-]{1,30}")
"""``Iam/ResourcePrefix``: a path, a name prefix of at most 30 characters, or one after the other."""

IAM_PATH_LENGTH = 512
"""Characters of its path, slashes included (``IAM_PATH_LENGTH_LIMIT`` of ``pcluster/constants.py``; also IAM's own)."""

HEAD_MEMORY_GIB = 0.6
NODES_PER_GIB = 25
HEAD_MEMORY_MOST_GIB = 16
"""Memory of the head node: 0.6 GiB and one for 25 nodes; 16 GiB is enough for any number."""

CUSTOM_RESOURCE_SECONDS = 3600
"""CloudFormation waits an hour for a custom resource, and not longer."""

GP3_THROUGHPUT_MB_S = range(125, 1001)
GP3_THROUGHPUT_PER_IOPS = 0.25
TAGS = 40
"""Tags of a compute resource with those of its queue and cluster; ParallelCluster adds its own."""

ROLE_POLICIES = (10, 25)
"""Managed policies of a role: as accounts begin, and the most that the quota is raised to (IAM user guide, "IAM and AWS
STS quotas", read 2026-11)."""
PROVIDER_POLICIES = 4
"""Further policies of the provider's role: IAM attaches ten, and the template takes six."""
PROVIDER_ATTACHES = (
    "AWSBatchFullAccess",
    "AmazonS3ReadOnlyAccess",
    "AmazonSSMManagedInstanceCore",
    "CloudWatchAgentServerPolicy",
    "EC2InstanceProfileForImageBuilder",
    "service-role/AWSBatchServiceRole",
    "service-role/AWSLambdaBasicExecutionRole",
    "service-role/AmazonEC2ContainerServiceforEC2Role",
    "service-role/AmazonEC2SpotFleetTaggingRole",
    "service-role/AmazonECSTaskExecutionRolePolicy",
)
"""Policies of AWS's own that the provider's role may attach (``cloudformation/policies/parallelcluster-policies.yaml``,
the same from 3.6.0 of 2023-01 to 3.15, read in November 2026)."""
SLURM = {
    "3.10": "23.11",
    "3.11": "23.11",
    "3.12": "23.11",
    "3.13": "24.05",
    "3.14": "24.11",
    "3.15": "25.11",
    "3.16": "25.11",
}
"""The Slurm of each version (``CHANGELOG.md`` of aws-parallelcluster 3.16.0, read in November 2026)."""
SLURM_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RESERVED_TAG = "parallelcluster:"
"""ParallelCluster's own tags begin with it."""

GRACE_MINUTES = (3, 120)
"""``LoginNodes/Pools/GracetimePeriod``."""
