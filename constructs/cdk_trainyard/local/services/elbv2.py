"""Elastic Load Balancing v2, with an action that moto does not know yet: the validation of tokens."""

from moto.elbv2.models import ELBv2Backend, FakeAction

_NEWER = frozenset({"jwt-validation"})
_validate = ELBv2Backend._validate_actions  # noqa: SLF001  it has no other place to be told of an action


def _validate_those_known(backend: ELBv2Backend, actions: list[FakeAction]) -> None:
    _validate(backend, [action for action in actions if action.type not in _NEWER])


def extend() -> None:
    """Give moto's load balancing what it lacks."""
    for name, correction in {"_validate_actions": _validate_those_known}.items():
        setattr(ELBv2Backend, name, correction)
