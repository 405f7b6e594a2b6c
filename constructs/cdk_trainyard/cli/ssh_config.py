"""``trainyard ssh-config FILE``: ssh reaches the nodes, through Session Manager."""

import difflib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

import click

from cdk_trainyard.cli._deployed import chosen, opened, tell_refused
from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import FILE, load
from cdk_trainyard.cli._sessions import login_user
from cdk_trainyard.places import home

if TYPE_CHECKING:
    from cdk_trainyard.deployment.model import Deployment


@click.command("ssh-config")
@click.argument("file", type=FILE)
@click.option(
    "--file", "other", type=click.Path(path_type=Path), metavar="PATH", help="Write there, and include nothing."
)
@click.option("--user", help="The user of the nodes. Default - that of their operating system.")
@click.option("--identity", default="", metavar="PATH", help="The file of the key. Default - ssh's own choice.")
@click.option("--remove", is_flag=True, help="Remove the deployment's entries; asks nothing of AWS.")
def command(file: Path, other: Path | None, user: str | None, identity: str, remove: bool) -> None:
    """Let ssh reach the nodes of a deployment, by name.

    The entries stand between markers in ~/.ssh/trainyard.conf, which one line of ~/.ssh/config includes. What changes
    is shown. Again after nodes were replaced: the entries are those of the nodes that there are.
    """
    from cdk_trainyard.operations import OperationError

    own, config = other or _home("trainyard.conf"), None if other else _home("config")
    try:
        texts = _removed(load(file), own, config) if remove else _written(file, own, config, user, identity)
    except OperationError as error:
        raise Wrong(f"{own}: {error}") from None
    except UnicodeDecodeError:
        raise Wrong(f"{own} or {config}: this is no text in UTF-8") from None
    changed = {path: text for path, text in texts.items() if text != _read(path)}
    for path, text in changed.items():
        click.echo(_difference(path, text), nl=False)
    try:
        for path, text in changed.items():
            _write(path, text)
    except OSError as error:
        raise Wrong(str(error)) from None
    if not changed:
        click.echo("nothing changes")


def _home(name: str) -> Path:
    return home() / ".ssh" / name


def _written(file: Path, own: Path, config: Path | None, user: str | None, identity: str) -> Mapping[Path, str]:
    of = opened(file)
    found = chosen(of, [])
    tell_refused(found.refused)
    from cdk_trainyard.operations import proxy, ssh_config

    entries = ssh_config.Entries(
        name=of.deployment.name,
        region=of.deployment.region,
        user=user or login_user(of.deployment),
        identity=identity,
        proxy=proxy.words(sys.executable, os.environ.get("AWS_PROFILE", "")),
    )
    texts = {own: ssh_config.put(_read(own), entries.text(found.rows))}
    return texts | ({config: ssh_config.included(_read(config))} if config else {})


def _removed(deployment: "Deployment", own: Path, config: Path | None) -> Mapping[Path, str]:
    from cdk_trainyard.operations import ssh_config

    left = ssh_config.taken(_read(own), deployment.name, deployment.region)
    is_last = config is not None and not left.strip()
    return {own: left} | ({config: ssh_config.not_included(_read(config))} if config and is_last else {})


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Wrong(str(error)) from None


def _difference(path: Path, text: str) -> str:
    lines = difflib.unified_diff(
        _read(path).splitlines(keepends=True), text.splitlines(keepends=True), str(path), str(path), n=0
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _write(path: Path, text: str) -> None:
    """Write a file whole, in the place of the one that a link names; what is new is its owner's alone."""
    place = path.resolve()
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o600
    with NamedTemporaryFile("wb", dir=place.parent, prefix=f"{place.name}.", delete=False) as written:
        written.write(text.encode())
    Path(written.name).chmod(mode)
    Path(written.name).replace(place)
