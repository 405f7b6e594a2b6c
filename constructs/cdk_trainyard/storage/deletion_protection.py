"""The deletion protection of a database, switched on when its creation has succeeded.

With ``DeletionProtection`` in the template, CloudFormation could not take back a first creation that failed: its
``DeleteHandler`` asks RDS to delete and does not unprotect (aws-cloudformation-resource-providers-rds, 2025-07-29), the
rollback ends in ROLLBACK_FAILED, and the database stays and costs.

What the function may change, it knows by a tag, too. When an update that puts another database in the place of one is
rolled back, its policy names the former again before the function is asked to release the other: new resources go last
(AWS CloudFormation user guide, "Stack status codes", UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS). Source of the
condition: Amazon RDS user guide, "Specifying conditions: Using custom tags". Both read 2026-11-28.
"""

from importlib.resources import files

from aws_cdk import Aws, CfnResource, Duration, Names, Stack, Tags
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.acknowledgments import Wildcards, main_resource
from cdk_trainyard.inline_function import InlineFunction
from cdk_trainyard.retention import KEPT

_TAG = "trainyard:protection"


class DeletionProtection(InlineFunction):
    """Protects a database from deletion once it stands.

    It is deleted, and the protection with it, only while the creation that made it is rolled back; a stack that is
    deleted, and a database that is replaced, leave it alone.

    Args:
        database: The database, which is tagged.
        database_arn: Its ARN.
    """

    def __init__(self, scope: Construct, construct_id: str, *, database: CfnResource, database_arn: str) -> None:
        own = f"{Aws.STACK_NAME}/{Names.unique_resource_name(database, max_length=64)}"
        Tags.of(database).add(_TAG, own)
        every = Stack.of(scope).format_arn(service="rds", resource="db:*")
        super().__init__(
            scope,
            construct_id,
            code=files(__package__).joinpath("deletion_protection_handler.py").read_text(encoding="utf-8"),
            description="Protects one database from deletion",
            statements=[
                iam.PolicyStatement(actions=["rds:ModifyDBInstance"], resources=[database_arn]),
                iam.PolicyStatement(
                    actions=["rds:ModifyDBInstance"],
                    resources=[every],
                    conditions={"StringEquals": {f"rds:db-tag/{_TAG}": own}},
                ),
            ],
            resource_type="Custom::DeletionProtection",
            properties={"DBInstanceIdentifier": database.ref},
            timeout=Duration.minutes(10),
        )
        self.resource.apply_removal_policy(KEPT)
        Wildcards(main_resource(self.node.find_child("Policy"))).acknowledge(
            "the condition narrows it to what has this database's tag: one that an update leaves or takes back", every
        )
