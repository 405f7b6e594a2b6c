"""An AWS account as its APIs answer: calls side by side, paginated and retried, each with what it says. No CDK."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.account.account import Account
    from cdk_trainyard.account.answer import Answer, Refusal, Why
    from cdk_trainyard.account.call import Call
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = ["Account", "Answer", "Call", "Refusal", "Why"]
