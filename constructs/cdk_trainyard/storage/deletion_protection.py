"""The deletion protection of a database, switched on when its creation has succeeded.

With ``DeletionProtection`` in the template, CloudFormation could not take back a first creation that failed: its
``DeleteHandler`` asks RDS to delete and does not unprotect (aws-cloudformation-resource-providers-rds, 2025-07-29), the
rollback ends in ROLLBACK_FAILED, and the database stays and costs.
"""

from importlib.resources import files

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.inline_function import InlineFunction
from cdk_trainyard.retention import KEPT


class DeletionProtection(InlineFunction):
    """Protects a database from deletion once it stands.

    It is deleted, and the protection with it, only while the creation that made it is rolled back; a stack that is
    deleted, and a database that is replaced, leave it alone.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, db_instance_identifier: str, db_instance_arn: str
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            code=files(__package__).joinpath("deletion_protection_handler.py").read_text(encoding="utf-8"),
            description="Protects one database from deletion",
            statements=[iam.PolicyStatement(actions=["rds:ModifyDBInstance"], resources=[db_instance_arn])],
            resource_type="Custom::DeletionProtection",
            properties={"DBInstanceIdentifier": db_instance_identifier},
            timeout=Duration.minutes(10),
        )
        self.resource.apply_removal_policy(KEPT)
