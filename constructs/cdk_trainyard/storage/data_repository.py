"""Links between a directory of a Lustre file system and a prefix of an S3 bucket."""

from collections.abc import Sequence
from itertools import pairwise

from aws_cdk import Annotations, Aws, Stack
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, made_here
from cdk_trainyard.storage.buckets import goes_before_emptying
from cdk_trainyard.storage.spec import DataRepository

_KEY_ACTIONS = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"]


def associate(
    scope: Construct, file_system_id: str, repositories: Sequence[DataRepository]
) -> list[fsx.CfnDataRepositoryAssociation]:
    """Link ``repositories`` to a file system, each under its own path, and let FSx use the keys of their buckets.

    They are made one after the other: of those that FSx makes side by side, some end as FAILED, without the right to
    their bucket (hashicorp/terraform-provider-aws#24678, 2022-05-06, "upstream").

    Args:
        scope: Where the associations are made.
        file_system_id: The file system.
        repositories: Links that have been checked.
    """
    for key in _keys(repositories):
        _let_fsx_use(scope, key)
    associations = [_association(scope, file_system_id, repository) for repository in repositories]
    for before, after in pairwise(associations):
        after.add_dependency(before)
    return associations


def _association(scope: Construct, file_system_id: str, repository: DataRepository) -> fsx.CfnDataRepositoryAssociation:
    imported, exported = list(repository.import_events), list(repository.export_events)
    association = fsx.CfnDataRepositoryAssociation(
        scope,
        ":".join(repository.segments) or "Root",
        file_system_id=file_system_id,
        file_system_path="/" + "/".join(repository.segments),
        data_repository_path=repository.s3_url,
        batch_import_meta_data_on_create=repository.import_existing,
        imported_file_chunk_size=repository.chunk_mib,
        s3=fsx.CfnDataRepositoryAssociation.S3Property(
            auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(events=imported)
            if imported
            else None,
            auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(events=exported)
            if exported
            else None,
        ),
    )
    goes_before_emptying(association, repository.bucket)  # or its files would be deleted in the file system, too
    return association


def _keys(repositories: Sequence[DataRepository]) -> list[kms.IKey]:
    keys = {
        repository.bucket.encryption_key.node.path: repository.bucket.encryption_key
        for repository in repositories
        if repository.bucket.encryption_key is not None
    }
    return list(keys.values())


def _let_fsx_use(scope: Construct, key: kms.IKey) -> None:
    """Let FSx's service-linked roles for S3 use ``key``, through S3 only.

    The role is made with the link, so a key policy cannot name it before; its name begins the same for every file
    system. Source: "Working with server-side encrypted Amazon S3 buckets",
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html
    """
    role = Stack.of(scope).format_arn(
        service="iam",
        region="",
        resource="role",
        resource_name="aws-service-role/s3.data-source.lustre.fsx.*/AWSServiceRoleForFSxS3Access_fs-*",
    )
    statement = iam.PolicyStatement(
        sid="FsxDataRepositories",
        principals=[iam.AnyPrincipal()],
        actions=_KEY_ACTIONS,
        resources=["*"],  # in a key policy: this key
        conditions={
            "StringEquals": {
                "kms:CallerAccount": Aws.ACCOUNT_ID,
                "kms:ViaService": f"s3.{Aws.REGION}.{Aws.URL_SUFFIX}",
            },
            "ArnLike": {"aws:PrincipalArn": role},
        },
    )
    if not key.add_to_resource_policy(statement).statement_added:
        Annotations.of(scope).add_warning_v2(
            "@cdk-trainyard/storage:repository-key-policy",
            f"the policy of the key of a data repository cannot be changed from here ({key.node.path}): "
            f"let AWSServiceRoleForFSxS3Access_fs-* use it through S3, or files of the repository cannot be read",
        )
        return
    resource = key.node.default_child
    # not yet for another file system
    if isinstance(resource, kms.CfnKey) and made_here(key) and not resource.get_metadata("checkov"):
        reason = "the only statement for any principal is narrowed to FSx's service-linked roles of this account"
        acknowledge(resource, {"CKV_AWS_33": reason})
