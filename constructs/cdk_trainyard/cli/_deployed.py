"""What commands of day two share: a deployment file, the account that it is in, and what was not told."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from cdk_trainyard.cli._cdk import NO_CREDENTIALS
from cdk_trainyard.cli._exits import Missing, Wrong
from cdk_trainyard.cli._files import load
from cdk_trainyard.cli._progress import working

if TYPE_CHECKING:
    from cdk_trainyard.account import Account, Answer
    from cdk_trainyard.deployment.model import Deployment
    from cdk_trainyard.operations import Deployed, Listing, Node, System

AS_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Say it as JSON.")


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A deployment file, and what there is of it.

    Attributes:
        file: The file.
        deployment: What it says.
        account: The account, in the file's Region.
        deployed: Its stacks.
    """

    file: Path
    deployment: "Deployment"
    account: "Account"
    deployed: "Deployed"

    @property
    def systems(self) -> "list[System]":
        """What runs on nodes.

        Raises:
            Wrong: There is none, and why.
        """
        from cdk_trainyard.operations import OperationError, systems_of

        try:
            return systems_of(self.account, self.deployed)
        except OperationError as error:
            nothing = not self.deployed.stacks and not self.deployed.refused
            raise Wrong(f"{error}: 'trainyard deploy {self.file}' makes it" if nothing else str(error)) from None

    @property
    def known(self) -> "list[System]":
        """What runs on nodes, as far as there is any."""
        from cdk_trainyard.operations import OperationError, systems_of

        try:
            return systems_of(self.account, self.deployed)
        except OperationError:
            return []


def opened(file: Path) -> Opened:
    """Read a deployment file, and ask CloudFormation for its stacks.

    Args:
        file: The file.

    Raises:
        Wrong: The file is wrong, or is for another account than that of the credentials in use.
        Missing: There are no credentials that work.
    """
    deployment = load(file)
    from cdk_trainyard.account import Account
    from cdk_trainyard.deployment.orchestrators import find
    from cdk_trainyard.operations import Deployed

    account, row = Account(deployment.region), find(deployment.orchestrator)
    account.prepare("cloudformation", *(row.services if row else ()))  # a client takes a tenth of a second
    with working(f"asking AWS about {deployment.name} in {deployment.region}{_not_ones_own(deployment.region)}"):
        if deployment.account is not None:
            _same_account(deployment, account)
        deployed = Deployed.read(account, deployment.name)
    refuse_without_credentials(deployed.refused)
    return Opened(file=file, deployment=deployment, account=account, deployed=deployed)


def _not_ones_own(region: str) -> str:
    """Return that the file's Region is another than that of the surroundings, which the AWS CLI would ask."""
    names = ("AWS_REGION", "AWS_DEFAULT_REGION")
    found = next(((name, os.environ[name]) for name in names if os.environ.get(name)), None)
    return f", as the file says; {found[0]} is {found[1]}" if found and found[1] != region else ""


def chosen(of: Opened, names: Sequence[str], systems: "Sequence[System] | None" = None) -> "Listing[Node]":
    """Return the nodes that are named.

    Args:
        of: The deployment.
        names: Ids, names in Slurm, addresses and groups. None of them: every node.
        systems: What runs on them. Default - what the deployment has.

    Raises:
        Wrong: There is none, or nothing of such a name.
    """
    from cdk_trainyard.operations import Listing, OperationError, named

    systems = of.systems if systems is None else systems
    with working("asking for the nodes"):
        found = Listing.joined(system.nodes() for system in systems)
    if not found.rows:
        tell_refused(found.refused)
        if found.is_partial:
            raise Wrong(f"AWS did not tell which nodes {of.deployment.name} has")
        states = Listing.joined(system.status() for system in systems).rows
        raise Wrong("\n".join(f"{each.kind} {each.name} is {each.state}: it has no nodes" for each in states))
    try:
        return Listing(rows=tuple(named(found.rows, names, what=of.deployment.name)), refused=found.refused)
    except OperationError as error:
        tell_refused(found.refused)
        raise Wrong(str(error)) from None


def _same_account(deployment: "Deployment", account: "Account") -> None:
    identity = account.identity()
    refuse_without_credentials([identity])
    found = identity.value.get("Account")
    if found not in {None, deployment.account}:
        raise Wrong(
            f"{deployment.locate('account')}: the deployment is in account {deployment.account}, and the credentials "
            f"in use are of {found}, {identity.value['Arn']}: AWS_PROFILE names others"
        )


def refuse_without_credentials(answers: "Iterable[Answer]") -> None:
    """Refuse to go on without credentials that work.

    Args:
        answers: What was answered.

    Raises:
        Missing: There are none.
    """
    from cdk_trainyard.account import Why

    for answer in answers:
        if answer.refusal is not None and answer.refusal.why is Why.CREDENTIALS:
            raise Missing(f"{answer.refusal.text}\n{NO_CREDENTIALS}")


def tell_refused(answers: "Iterable[Answer]") -> None:
    """Say, beside what is shown, what the account did not tell.

    Args:
        answers: The answers that are refusals.
    """
    for line in dict.fromkeys(f"not told: {answer.call.permission}: {answer.refusal}" for answer in answers):
        click.echo(line, err=True)


def said(rows: Mapping[str, Iterable[Any]], refused: "Iterable[Answer]") -> str:
    """Return what was found as JSON.

    Args:
        rows: Lists of dataclasses by their names.
        refused: What was not told.
    """
    data: dict[str, Any] = {name: [*each] for name, each in rows.items()}
    data["refused"] = [
        {"permission": answer.call.permission, "why": answer.refusal.why, "text": answer.refusal.text}
        for answer in refused
        if answer.refusal is not None
    ]
    return json.dumps(data, indent=2, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds")
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    raise TypeError(f"{type(value).__name__} is not said as JSON")


def age(since: datetime | None) -> str:
    """Return how long something has been there, in the largest unit that says it: ``3 h``.

    Args:
        since: Since when. None: nobody knows.
    """
    if since is None:
        return ""
    seconds = max(0, int((datetime.now(UTC) - since).total_seconds()))
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
