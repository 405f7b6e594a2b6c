"""Sessions of Session Manager: started by the API, carried by AWS's own session-manager-plugin.

Sources: botocore's model of SSM; source code of the AWS CLI (``customizations/sessionmanager.py``: what the plugin is
told, and how) and of aws/session-manager-plugin; AWS Systems Manager user guide, "Install the Session Manager plugin
for the AWS CLI", "Verify or add instance permissions for Session Manager" and "Troubleshooting Session Manager"; read
2026-11.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from cdk_trainyard.account import Account, Call, Refusal, Why
from cdk_trainyard.operations.protocol import Node, OperationError

PLUGIN: Final = "session-manager-plugin"
SSH: Final = "AWS-StartSSHSession"
COMMAND: Final = "AWS-StartNonInteractiveCommand"
GET_PLUGIN: Final = (
    f"AWS's {PLUGIN} is not on the path, and it carries every session: the AWS Systems Manager user guide has it for "
    'each system, "Install the Session Manager plugin for the AWS CLI"'
)
_VARIABLE: Final = "AWS_SSM_START_SESSION_RESPONSE"
_LAST_WITHOUT_VARIABLE: Final = (1, 2, 497, 0)
_RUNNING: Final = frozenset({"running", "inservice"})
_HINTS: Final = {
    "TargetNotConnected": "it is still starting or has just stopped ('trainyard nodes' says), its role or its network "
    "does not let it reach Systems Manager, or the credentials are of another account or Region than the node",
    "InvalidDocument": "the account has no such document in this Region",
}
"""What a refusal may mean, by its code."""
_OF_KINDS: Final = {
    Why.DENIED: "the credentials need ssm:StartSession on the node and on the document of the session",
    Why.THROTTLED: "HyperPod starts three sessions a second for an account: somebody else starts many",
}


class PluginMissingError(OperationError):
    """The session-manager-plugin is not installed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """The plugin, as it is started to carry one session.

    Attributes:
        words: The program and its arguments.
        environment: What it is started with.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugin:
    """The session-manager-plugin of this machine.

    Attributes:
        path: Where it is.
        reads_variable: Whether it takes a session's token from a variable, where other users of this machine do not
            see it; a plugin of before 2023 takes it from its arguments.
    """

    path: str
    reads_variable: bool

    @classmethod
    def find(cls) -> Self:
        """Return it.

        Raises:
            PluginMissingError: It is not on the path; says how to get it.
        """
        path = shutil.which(PLUGIN)
        if path is None:
            raise PluginMissingError(GET_PLUGIN)
        try:
            words = [path, "--version"]
            said = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120).stdout  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PluginMissingError(f"{path} does not run: {error}; {GET_PLUGIN}") from None
        version = said.strip()
        numbers = tuple(map(int, version.split("."))) if re.fullmatch(r"\d+(\.\d+){0,3}", version) else ()
        return cls(path=path, reads_variable=numbers > _LAST_WITHOUT_VARIABLE)

    def program(self, account: Account, asked: Call, session: Mapping[str, Any]) -> Program:
        """Return the plugin as it is started for a session, told what the AWS CLI tells it.

        Args:
            account: The account of the session.
            asked: The call that started it.
            session: What the call was answered.
        """
        response = json.dumps({name: session[name] for name in ("SessionId", "TokenValue", "StreamUrl")})
        given = _VARIABLE if self.reads_variable else response
        profile = ""  # of the AWS CLI's option; AWS_PROFILE the plugin reads itself
        endpoint = account.client("ssm").meta.endpoint_url
        return Program(
            words=(
                *(self.path, given, account.region, asked.operation, profile),
                *(json.dumps(dict(asked.parameters)), endpoint),
            ),
            environment={**os.environ, _VARIABLE: response} if self.reads_variable else dict(os.environ),
        )


def call(target: str, document: str = "", **parameters: str) -> Call:
    """Return the call that starts a session.

    Args:
        target: The target: of a node ``Node.target``.
        document: The session's document. Default - the account's shell.
        parameters: The document's parameters.
    """
    asked: dict[str, Any] = {"Target": target}
    if document:
        asked["DocumentName"] = document
    if parameters:
        asked["Parameters"] = {name: [value] for name, value in parameters.items()}
    return Call("ssm", "StartSession", asked)


def start(account: Account, plugin: Plugin, asked: Call, *, called: str) -> Program:
    """Start a session, and return the program that carries it.

    Args:
        account: The account.
        plugin: What carries sessions.
        asked: The call.
        called: What the target is called in messages.

    Raises:
        OperationError: It was refused; says what that may mean.
    """
    answer = account.ask(asked)
    if answer.refusal is not None:
        raise OperationError(f"{called}: {refused(answer.refusal)}")
    return plugin.program(account, asked, answer.value)


def refused(refusal: Refusal) -> str:
    """Return what a refusal of a session says, and what it may mean.

    Args:
        refusal: The refusal.
    """
    hint = _HINTS.get(refusal.code) or _OF_KINDS.get(refusal.why, "")
    return f"{refusal}{f': {hint}' if hint else ''}"


def called(node: Node) -> str:
    """Return what a node is called in messages: group and id.

    Args:
        node: The node.
    """
    return f"{node.group} {node.id}"


def first(nodes: Sequence[Node]) -> Node:
    """Return the node that a session is opened with: the first that runs.

    Args:
        nodes: The nodes that are meant.

    Raises:
        OperationError: None of them can have one.
    """
    reachable = [node for node in nodes if node.target]
    if not reachable:
        states = ", ".join(f"{called(node)} is {node.state}" for node in nodes)
        raise OperationError(f"no session can be opened: {states}")
    return next((node for node in reachable if node.state.lower() in _RUNNING), reachable[0])


def heads(nodes: Sequence[Node], groups: Sequence[str] = ()) -> list[Node]:
    """Return the nodes that a session is opened with where nobody says which: heads, or else the only group.

    Args:
        nodes: The nodes of the deployment.
        groups: The groups that the file makes heads, where the API does not tell.

    Raises:
        OperationError: There is no head, and more than one group.
    """
    found = [node for node in nodes if node.is_head] or [node for node in nodes if node.group in groups]
    if not found and len(names := sorted({node.group for node in nodes})) > 1:
        raise OperationError(f"which node? There is no head; the groups are {', '.join(names)}")
    return found or list(nodes)
