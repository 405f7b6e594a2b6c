"""What controllers of a cluster read of its accounting database, by the statements of their role."""

from collections.abc import Callable, Iterator

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Template
from botocore.exceptions import ClientError

from cdk_trainyard.acknowledgments import main_resource
from cdk_trainyard.hyperpod.execution_role import ControllerRole, ExecutionRole
from cdk_trainyard.local import LocalAws
from tests.local.access.conftest import Role
from tests.local.stacks import Stacks, template


@pytest.fixture
def secret(aws: LocalAws) -> Iterator[tuple[str, str]]:
    """A secret, and a key of one's own that encrypts it, whose policy leaves all to IAM."""
    key = str(aws.client("kms").create_key()["KeyMetadata"]["Arn"])
    made = aws.client("secretsmanager").create_secret(Name="accounting", SecretString="x", KmsKeyId=key)
    yield made["ARN"], key
    aws.client("secretsmanager").delete_secret(SecretId=made["ARN"], ForceDeleteWithoutRecovery=True)


def test_controllers_read_it_under_a_key_of_ones_own_and_decrypt_nothing_else_with_that(
    secret: tuple[str, str], role: Callable[..., Role], stacks: Stacks
) -> None:
    arn, key = secret
    stack = Stack(App(), "Stack")
    controllers = ControllerRole(
        stack, "Controllers", nodes=ExecutionRole(stack, "Nodes", cluster_name="cluster"), role=None
    )
    taken = secretsmanager.Secret.from_secret_attributes(
        stack, "Secret", secret_complete_arn=arn, encryption_key=kms.Key.from_key_arn(stack, "Key", key)
    )
    controllers.allow_secret(taken)
    name = stacks.deployed(template(Template.from_stack(stack).to_json()["Resources"]))
    policy = stacks.physical_id(name, stack.get_logical_id(main_resource(controllers.policy)))
    made, client = role(), stacks.aws.client("kms")
    stacks.aws.client("iam").attach_role_policy(RoleName=made.name, PolicyArn=policy)
    assert made.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"] == "x"
    sealed = client.encrypt(KeyId=key, Plaintext=b"x")["CiphertextBlob"]
    with pytest.raises(ClientError, match="not authorized to perform: kms:Decrypt"):
        made.client("kms").decrypt(KeyId=key, CiphertextBlob=sealed)
    stacks.aws.client("iam").detach_role_policy(RoleName=made.name, PolicyArn=policy)
