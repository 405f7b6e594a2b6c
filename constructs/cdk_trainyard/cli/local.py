"""``trainyard local run``, ``serve`` and ``types``: the local AWS from the command line."""

from collections.abc import Callable
from typing import Any

import click

_OPTIONS = (
    click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; 0 is a free one."),
    click.option("--region", "regions", multiple=True, help="Region that the command sees; others are bootstrapped."),
    click.option("--account", metavar="NUMBER", help="The account that it is; default 123456789012."),
    click.option(
        "--existing",
        multiple=True,
        metavar="ARN[,KEY=VALUE]",
        help="Certificate, key pair, role, key, bucket, secret, topic, or thing of a network that is there already.",
    ),
    click.option("--verbose", is_flag=True, help="Say what the stacks do, and what is not emulated."),
    click.option("--bootstrap", is_flag=True, help="Run cdk bootstrap in the Regions first."),
)
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Say it as JSON.")


def _with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.group("local")
def command() -> None:
    """An AWS on 127.0.0.1 for the real cdk CLI.

    Nothing that runs against it can reach an account.
    """


@command.command("run", context_settings={"ignore_unknown_options": False})
@_with_options
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
def _run(words: tuple[str, ...], **options: Any) -> int:
    """Run a command against a local AWS of its own, and return its exit code."""
    return _main("run", options, "--", *words)


@command.command("serve")
@_with_options
@_AS_JSON
def _serve(as_json: bool, **options: Any) -> int:
    """Serve until interrupted; prints what another terminal sets."""
    return _main("serve", options, *["--json"] * as_json)


@command.command("types")
@_AS_JSON
def _types(as_json: bool) -> int:
    """Print the resource types that can be deployed."""
    from cdk_trainyard.local.__main__ import main

    return main(["types", *["--json"] * as_json])


def _main(mode: str, options: dict[str, Any], *command_words: str) -> int:
    from cdk_trainyard.local.__main__ import main

    words = [mode, f"--port={options['port']}"]
    words += [f"--region={region}" for region in options["regions"]]
    words += [f"--existing={arn}" for arn in options["existing"]]
    words += [f"--account={options['account']}"] if options["account"] else []
    words += [f"--{name}" for name in ("verbose", "bootstrap") if options[name]]
    return main([*words, *command_words])
