"""KMS keys of shared directories: what EC2 and EFS ask of whoever makes a volume or a file system, or attaches one.

Sources (read 2026-11): Amazon EBS user guide, "Requirements for Amazon EBS encryption"; ParallelCluster user guide,
"Configuring shared storage encryption with an AWS KMS key": the policy of head node and queues; KMS developer guide,
"Using policy conditions": EBS's own key lets all of it be asked through EC2; Amazon EFS user guide, "AWS KMS": grants.
"""

from collections.abc import Iterable, Iterator, Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms

from cdk_trainyard.parallelcluster.resolve import volumes
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.parallelcluster.spec_storage import SharedEbs, SharedEfs


def node_key_statements(spec: ParallelClusterSpec) -> Iterator[iam.PolicyStatement]:
    """Yield what nodes may do with keys: the head node attaches volumes of EBS itself, those that exist too.

    Args:
        spec: The resolved cluster.
    """
    keys = [one.key for _, one in volumes(spec.shared_storage) if isinstance(one, SharedEbs)]
    yield from _statements(keys, ["kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo"], ["ec2"])


def provider_key_statements(spec: ParallelClusterSpec) -> Iterator[iam.PolicyStatement]:
    """Yield what the provider may do with keys of what it makes, from snapshots too.

    Args:
        spec: The resolved cluster.
    """
    shared = [one for _, one in volumes(spec.shared_storage)]
    keys = [
        one.key for one in shared if isinstance(one, SharedEfs) or (isinstance(one, SharedEbs) and not one.volume_id)
    ]
    actions = ["kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"]
    yield from _statements(keys, actions, ["ec2", "elasticfilesystem"])


def _statements(
    keys: Iterable[kms.IKey | None], actions: Sequence[str], services: Sequence[str]
) -> Iterator[iam.PolicyStatement]:
    """Yield who may do what through services, and look at the keys: ParallelCluster's ``KmsKeyValidator`` does."""
    arns = list({key.node.path: key.key_arn for key in keys if key is not None}.values())
    if not arns:
        return
    via = {"StringEquals": {"kms:ViaService": [f"{service}.{Aws.REGION}.{Aws.URL_SUFFIX}" for service in services]}}
    granted = {**via, "Bool": {"kms:GrantIsForAWSResource": "true"}}
    yield iam.PolicyStatement(actions=["kms:CreateGrant"], resources=arns, conditions=granted)
    yield iam.PolicyStatement(actions=list(actions), resources=arns, conditions=via)
    yield iam.PolicyStatement(actions=["kms:DescribeKey"], resources=arns)
