"""The root squash of a Lustre file system, set after its creation: CloudFormation has no property for it.

Source: ``AWS::FSx::FileSystem`` in the resource schemas of cfn-lint 1.58.0 and of aws-cdk-lib 2.275.0; the FSx API has
``RootSquashConfiguration`` in ``UpdateFileSystem``.
"""

from importlib.resources import files

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.inline_function import InlineFunction
from cdk_trainyard.storage.spec import RootSquash


class RootSquashSetting(InlineFunction):
    """Sets the root squash of a file system when it is created, and whenever the setting changes.

    Deleting the setting leaves the file system as it is, so that a retained file system stays protected.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, file_system_id: str, file_system_arn: str, root_squash: RootSquash
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            code=files(__package__).joinpath("root_squash_handler.py").read_text(encoding="utf-8"),
            description="Sets the root squash of one FSx for Lustre file system",
            statements=[iam.PolicyStatement(actions=["fsx:UpdateFileSystem"], resources=[file_system_arn])],
            resource_type="Custom::LustreRootSquash",
            properties={
                "FileSystemId": file_system_id,
                "RootSquash": root_squash.text,
                "NoSquashNids": list(root_squash.no_squash_nids),
            },
        )
