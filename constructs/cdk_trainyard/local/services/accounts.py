"""Whose account this is: the number that every caller has, as their keys are made up."""

import re

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.iam import models

from cdk_trainyard.local.environment import ACCOUNT
from cdk_trainyard.local.services.api import remember

_NUMBER = re.compile(r"[0-9]{12}")


class _Account:
    number = ACCOUNT


def checked(number: str) -> str:
    """Return ``number``.

    Raises:
        ValueError: It is no account number.
    """
    if not _NUMBER.fullmatch(number):
        raise ValueError(f"'{number}' is no account number, which has 12 digits")
    return number


def use(number: str) -> None:
    """Give callers the account ``number`` from now on."""
    _Account.number = number


def current() -> str:
    """Return the number of the account."""
    return _Account.number


def _account_of(access_key: str) -> str:
    """Return the account of an access key; moto knows those that it has given out itself."""
    for account, partitions in list(models.iam_backends.items()):
        if account != DEFAULT_ACCOUNT_ID and any(access_key in of.access_keys for of in list(partitions.values())):
            return str(account)
    return _Account.number


def extend() -> None:
    """Have moto take callers for those of this account."""
    remember(models, {"get_account_id_from": _account_of})
