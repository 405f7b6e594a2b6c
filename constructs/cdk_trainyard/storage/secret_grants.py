"""What a role needs to read a secret, where a key of one's own encrypts it too."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager


def secret_statements(secret: secretsmanager.ISecret, key: kms.IKey | None = None) -> list[iam.PolicyStatement]:
    """Return the statements that let somebody read a secret.

    Args:
        secret: The secret.
        key: Its key. None: the one that the secret knows of.
    """
    read = iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=[secret.secret_arn])
    return [read, *decrypt_statements(key or secret.encryption_key)]


def decrypt_statements(key: kms.IKey | None) -> list[iam.PolicyStatement]:
    """Return the statement that lets somebody use the key of a secret, through Secrets Manager alone.

    CDK's own ``grant_read`` asks the key's policy for it, and that of an imported key cannot be changed. Source:
    Secrets Manager user guide, "Secret encryption and decryption", Permissions for the KMS key.

    Args:
        key: The key. None: the account's own for Secrets Manager, which everybody there may use through it.
    """
    if key is None:
        return []
    via = {"StringEquals": {"kms:ViaService": f"secretsmanager.{Aws.REGION}.{Aws.URL_SUFFIX}"}}
    return [iam.PolicyStatement(actions=["kms:Decrypt"], resources=[key.key_arn], conditions=via)]
