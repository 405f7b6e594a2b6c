"""What can be wrong with what the scripts are asked to set up. Pure: nothing is created here."""

from collections.abc import Callable

from cdk_trainyard.lifecycle.node_setup import NodeSetup
from cdk_trainyard.lifecycle.rules_basics import accounting_problems, logs_problems

_RULES: tuple[Callable[[NodeSetup], list[str]], ...] = (
    logs_problems,
    accounting_problems,
)


def setup_problems(setup: NodeSetup) -> list[str]:
    """Everything that is wrong with a setup.

    Args:
        setup: The setup.
    """
    return [problem for rule in _RULES for problem in rule(setup)]
