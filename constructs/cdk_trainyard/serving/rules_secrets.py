"""What ECS and CodeBuild cannot read of a secret. Pure.

Source: Secrets Manager user guide, "Access AWS Secrets Manager secrets from a different account", read 2026-11: the AWS
managed key ``aws/secretsmanager`` is of use in its own account alone, and who reads must be allowed to use the key.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cdk_trainyard.options.arns import account_of
from cdk_trainyard.problems import Problem, option, shown
from cdk_trainyard.serving.spec_load_balancer import ClientAuthentication
from cdk_trainyard.tokens import unresolved

if TYPE_CHECKING:
    from aws_cdk import aws_secretsmanager as secretsmanager

_WHY = "Secrets Manager's own key is of no use to another account"


def key_problems(authentication: ClientAuthentication, account: str | None) -> Iterator[Problem]:
    """Check that the key of a secret of another account is there.

    Args:
        authentication: Who may call.
        account: The deployment's account. None: not known.
    """
    key = authentication.secret_key
    if unresolved(authentication, key) or key is not None:
        return
    if (arn := _elsewhere(authentication.secret, account)) is not None:
        text = f"must be of account {account} without {option('secret_key')}, got {shown(arn)}: {_WHY}"
        yield Problem(("secret",), f"{text}; give the KMS key of the secret as {option('secret_key')}")


def hub_token_problems(secret: "secretsmanager.ISecret | None", account: str | None) -> Iterator[Problem]:
    """Check that a token of the Hub is of this account, or that its key is known, which a file does not say.

    Args:
        secret: The secret with the token.
        account: The deployment's account. None: not known.
    """
    if (arn := _elsewhere(secret, account)) is not None:
        text = f"must be of account {account}, got {shown(arn)}: {_WHY}; copy the token into a secret of this account"
        yield Problem(("hub_token",), text)


def _elsewhere(secret: "secretsmanager.ISecret | None", account: str | None) -> str | None:
    """Return the ARN of a secret of another account whose key is not known."""
    if secret is None or account is None or unresolved(secret, account):
        return None
    arn = secret.secret_arn
    if unresolved(arn) or account_of(arn) == account or getattr(secret, "encryption_key", None) is not None:
        return None
    return arn
