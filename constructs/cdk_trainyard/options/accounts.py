"""ARNs that must be of the deployment's own account, where the deployment does not say which one that is."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, Final

from cdk_trainyard.options.arns import account_of
from cdk_trainyard.options.fields import Items, Named, Scalar, Shape, fields_of
from cdk_trainyard.options.kinds import Arn, Environment, Kind, Text
from cdk_trainyard.options.signs import hyphenated
from cdk_trainyard.options.stand_ins import StandIn
from cdk_trainyard.problems import At, Flaw, Problem, shown
from cdk_trainyard.tokens import unresolved

_AWS = "aws"


class AccountNumber(Text):
    """The number of an account, which YAML would read as a number without quotes."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say which number is meant where hyphens, as the console shows them, or blanks are all that is wrong."""
        wrong = Text.problem(self, value, environment)
        if wrong is None:
            return None
        number = re.sub(r"[\s-]", "", hyphenated(value))
        remedy = f'; write "{number}"' if re.fullmatch(self.pattern, number) else ""
        return replace(wrong, must=f'must be {self.words}, as "{self.example}"', remedy=remedy)


ACCOUNT: Final = AccountNumber(
    pattern=r"[0-9]{12}", words="an account number, 12 digits in quotes", example="111111111111"
)


def one_account_problems(spec: Any) -> Iterator[Problem]:
    """Check that everything that must be of the account of a deployment is of one.

    Args:
        spec: The deployment, which names no account.
    """
    first: str | None = None
    for at, arn in _own_arns(spec, ()):
        first = arn if first is None else first
        if account_of(arn) != account_of(first):
            text = f"must be of the account of {shown(first)}, got {shown(arn)}: a deployment is in one account"
            yield Problem(at, text)


def own_account(spec: Any) -> str | None:
    """Return the account that is of everything that must be of a deployment's own. None: it is not known.

    Args:
        spec: The deployment, which names no account.
    """
    accounts = {account_of(arn) for _, arn in _own_arns(spec, ())}
    return accounts.pop() if len(accounts) == 1 else None


def _own_arns(spec: Any, at: At) -> Iterator[tuple[At, str]]:
    """Yield the ARNs of a specification that must be of its own account, in the order of the options."""
    kind: type = type(spec)
    for name, option in fields_of(kind).items():
        yield from _below(option.shape, getattr(spec, name), (*at, name))


def _below(shape: Shape, value: Any, at: At) -> Iterator[tuple[At, str]]:
    if value is None or unresolved(value):
        return
    match shape, value:
        case _, StandIn():
            yield from _own((type(value).kind,), value.value, at)
        case Scalar(), str():
            yield from _own(shape.kinds, value, at)
        case Items(by_name=name), _:
            for index, item in enumerate(value):
                yield from _below(shape.item, item, (*at, getattr(item, name, index) if name else index))
        case Named(), _:
            for name, item in value.items():
                yield from _below(shape.item, item, (*at, name))
        case _ if is_dataclass(value):
            yield from _own_arns(value, at)


def _own(kinds: Sequence[Kind], value: Any, at: At) -> Iterator[tuple[At, str]]:
    if any(isinstance(kind, Arn) and not kind.any_account for kind in kinds) and account_of(value) != _AWS:
        yield at, value
