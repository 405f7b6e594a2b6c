"""Elastic Load Balancing v2: an action and a port that moto does not know yet, and target groups' load balancers."""

from typing import Any

from moto.core.responses import ActionResult
from moto.elbv2.models import ELBv2Backend, FakeAction
from moto.elbv2.responses import ELBV2Response

from cdk_trainyard.local.services.api import replace

_NEWER = frozenset({"jwt-validation"})
_MOVING = (
    *("create_listener", "modify_listener", "delete_listener", "delete_load_balancer"),
    *("create_rule", "modify_rule", "delete_rule"),
)
_validate = ELBv2Backend._validate_actions  # noqa: SLF001  it has no other place to be told of an action
_create_target_group = ELBV2Response.create_target_group


def _validate_those_known(backend: ELBv2Backend, actions: list[FakeAction]) -> None:
    _validate(backend, [action for action in actions if action.type not in _NEWER])


def _create_with_control_port(response: ELBV2Response) -> ActionResult:
    """Keep the port of the target optimizer's agent."""
    answer = _create_target_group(response)
    port = response._get_int_param("TargetControlPort")  # noqa: SLF001  moto's way to read requests
    if port is not None:
        made: Any = answer.result
        made["TargetGroups"][0].target_control_port = port
    return answer


def _associating(name: str) -> Any:
    """Return an operation of moto's after which each target group knows the load balancers that forward to it."""
    operation = getattr(ELBv2Backend, name)

    def run(backend: ELBv2Backend, *arguments: Any, **named: Any) -> Any:
        answer = operation(backend, *arguments, **named)
        for group in backend.target_groups.values():
            group.load_balancer_arns = []
        for balancer in backend.load_balancers.values():
            for listener in balancer.listeners.values():
                _associate(backend, listener)
        return answer

    return run


def _associate(backend: ELBv2Backend, listener: Any) -> None:
    actions = [*listener.default_actions, *(action for rule in listener.rules.values() for action in rule.actions)]
    for action in actions:
        if action.type == "forward":
            for arn in backend._get_target_group_arns_from(action_data=action.data):  # noqa: SLF001  moto's reading
                group = backend.target_groups.get(arn)
                if group is not None and listener.load_balancer_arn not in group.load_balancer_arns:
                    group.load_balancer_arns.append(listener.load_balancer_arn)


def extend() -> None:
    """Give moto's load balancing what it lacks."""
    moving = {name: _associating(name) for name in _MOVING}
    replace(ELBv2Backend, {"_validate_actions": _validate_those_known, **moving})
    replace(ELBV2Response, {"create_target_group": _create_with_control_port})
