"""Limits and name patterns of SageMaker HyperPod (``CreateCluster``), each with its source.

Sources, read in November 2026: the service's own model (botocore 1.44.5, ``sagemaker``, ``CreateCluster``), its
CloudFormation schema (``AWS::SageMaker::Cluster`` as cfn-lint 1.58.0 ships it), and what is named beside the facts.
"""

import re

NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*")
"""Cluster, group and partition names: no underscore, no dot, no hyphen at either end."""
NAME_LENGTH = 63
PARTITION_LENGTH = 1024
"""Characters of ``ClusterPartitionName``."""

GROUPS = range(1, 101)
INSTANCES = range(6759)
"""Instances of one group; zero keeps the group and its configuration without nodes."""
INSTANCE_TYPES = range(1, 21)
THREADS_PER_CORE = (1, 2)
PLAN_TYPES = (
    *("ml.p4d.24xlarge", "ml.p4de.24xlarge", "ml.p5.4xlarge", "ml.p5.48xlarge", "ml.p5e.48xlarge", "ml.p5en.48xlarge"),
    *("ml.p6-b200.48xlarge", "ml.p6-b300.48xlarge", "ml.p6e-gb200.36xlarge", "ml.trn1.32xlarge", "ml.trn2.48xlarge"),
)
"""Types that training plans reserve (``ReservedCapacityInstanceType`` of the same model)."""

VOLUME_GB = range(1, 16385)
SECURITY_GROUPS = range(1, 6)
FILE_SYSTEM_DNS_NAME = re.compile(r"(fs|fc)i?-[0-9a-f]{8,}\..{4,253}")

IMAGE_ID = re.compile(r"ami-[0-9a-f]{8}([0-9a-f]{9})?|default")
"""Ids of EC2 have 8 digits, or 17 since 2016 (EC2 user guide, "Resource IDs"); SageMaker's model has 8 to 17."""
IMAGE_BY_DEFAULT = "default"
"""HyperPod's own name for its newest image."""
WAIT_SECONDS = range(3601)
ROLLBACK_ALARMS = range(1, 11)
PERCENT = range(1, 101)

PROPERTY_PATH = re.compile(r"[A-Z][A-Za-z0-9]*(\.([A-Za-z][A-Za-z0-9]*|[0-9]+))*")
"""Names of CloudFormation properties and indices of lists, as ``add_property_override`` takes them."""
READ_ONLY = ("ClusterStatus", "CreationTime", "CurrentCount", "FailureMessage", "NextPatchDate")
"""Outputs of the service that the L1 offers as inputs; writing one is drift from the first day."""

SCRIPT_LENGTH = 128
"""Characters of ``OnCreate`` and ``OnInitComplete``."""
PARTITION_OF_DEFAULTS = "default"
"""``DEFAULT`` sets defaults in slurm.conf, in any case (its page in Slurm's documentation)."""
PARTITION_OF_ALL = "dev"
"""HyperPod puts every node into it (``sagemaker-hyperpod-ref`` in the SageMaker developer guide). AWS's example of the
legacy file has it as the one partition of its workers (``5.sagemaker-hyperpod/README.md`` of
awsome-distributed-training, read 2026-11)."""
EBS_MOUNT = "/opt/sagemaker"
"""Where HyperPod mounts the secondary volume."""
HOME = "/home/ubuntu"
"""Of whom HyperPod's image has for people and jobs (SageMaker developer guide, "Set up multi-user environment")."""
