"""``trainyard local run -- CMD``, ``serve`` and ``types``: the local AWS from the command line, with no other extra."""

import argparse
import json
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

from cdk_trainyard.local.environment import ACCOUNT, DEFAULT_REGION
from cdk_trainyard.local.registry import supported_types
from cdk_trainyard.local.server import LocalAws
from cdk_trainyard.local.services.accounts import checked
from cdk_trainyard.signals import later

_PATIENCE_SECONDS = 5
_GRACE_SECONDS = 300  # a rehearsal ends its nodes first
_SIGNAL_BASE = 128
_COMMAND_NOT_FOUND = 127

_RUN_HELP = "run a command against a local AWS of its own, and return its exit code"
_SERVE_HELP = "serve until interrupted"
_TYPES_HELP = "print the resource types that can be deployed, one on a line"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="trainyard local",
        description="An AWS on this machine, on 127.0.0.1 only: nothing that runs against it can reach an account.",
    )
    modes = parser.add_subparsers(dest="mode", required=True)
    types = modes.add_parser("types", help=_TYPES_HELP)
    run, serve = modes.add_parser("run", help=_RUN_HELP), modes.add_parser("serve", help=_SERVE_HELP)
    for mode in (run, serve):
        mode.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
        mode.add_argument(
            "--region",
            action="append",
            help=f"region that the command sees (default: {DEFAULT_REGION}); further ones are bootstrapped, too",
        )
        mode.add_argument("--account", type=checked, default=ACCOUNT, help=f"the account it is (default: {ACCOUNT})")
        mode.add_argument(
            "--existing",
            action="append",
            default=[],
            metavar="ARN[,Key=value]",
            help="certificate, key pair, role, key, bucket, secret, topic, or thing of a network that is there already",
        )
        mode.add_argument("--verbose", action="store_true", help="say what the stacks do, and what is not emulated")
        mode.add_argument("--bootstrap", action="store_true", help="run `cdk bootstrap` in the regions first")
    for mode in (serve, types):
        mode.add_argument("--json", action="store_true", help="say it as JSON")
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command and its arguments")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code of ``run`` is the command's."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.mode == "types":
        names = sorted(supported_types())
        sys.stdout.write(_as_json({"types": names}) if options.json else "".join(f"{name}\n" for name in names))
        return 0
    command = list(options.command) if options.mode == "run" else []
    if command[:1] == ["--"]:
        command = command[1:]
    if options.mode == "run" and not command:
        parser.error("run needs a command: trainyard local run -- cdk deploy")
    level = logging.INFO if options.verbose else logging.ERROR
    logging.basicConfig(level=level, stream=sys.stderr, format="local AWS: %(message)s")
    _forget_accounts()
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that the server stops and its files go
        if signal.getsignal(number) is signal.SIG_DFL:  # and not one that nohup lets nobody hear
            signal.signal(number, _end)
    regions = options.region or [DEFAULT_REGION]
    with LocalAws(port=options.port, region=regions[0], account=options.account) as aws:
        _say(f"{aws.endpoint} is account {aws.account}, region {aws.region}")
        for arn in options.existing:
            try:
                aws.add_existing(arn)
            except ValueError as problem:
                parser.error(f"argument --existing: {problem}")
        code = _bootstrap(aws, regions) if options.bootstrap else 0
        if code or options.mode == "serve":
            return code or _serve(aws, as_json=options.json)
        return _run(command, aws)


def _forget_accounts() -> None:
    """Drop this process's own ways to a real account, before any SDK looks for them."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(_SIGNAL_BASE + number)


def _say(text: str) -> None:
    sys.stderr.write(f"local AWS: {text}\n")
    sys.stderr.flush()


def _as_json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2) + "\n"


def _serve(aws: LocalAws, *, as_json: bool) -> int:
    own = {name: value for name, value in aws.environment.items() if os.environ.get(name) != value}
    about = {"endpoint": aws.endpoint, "account": aws.account, "region": aws.region, "environment": own}
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in own.items())
    sys.stdout.write(_as_json(about) if as_json else exports)
    sys.stdout.flush()
    _say("serving who has set these; Ctrl-C ends it")
    try:
        while True:  # signal.pause() would sleep through one that comes just before it
            time.sleep(1)
    except KeyboardInterrupt:
        _say("ended")
        return 0


def _run(command: Sequence[str], aws: LocalAws, **options: Any) -> int:
    environment = aws.environment
    program = shutil.which(command[0], path=environment.get("PATH"))
    if program is None:
        _say(f"{command[0]}: command not found")
        return _COMMAND_NOT_FOUND
    code = _waited([program, *command[1:]], env=environment, **options)
    return _SIGNAL_BASE - code if code < 0 else code


def _waited(words: Sequence[str], **options: Any) -> int:
    """Start the command and wait for it; an interrupt goes to it as well, and it decides when to end."""
    process = None
    while True:
        try:
            if process is None:
                with later():  # or what has begun would have no name to end it by
                    process = subprocess.Popen(words, **options)  # noqa: S603  the user's own
            return process.wait()
        except KeyboardInterrupt:
            if process is None:
                raise
        except SystemExit:
            if process is not None:
                _ended(process, words[0])
            raise


def _ended(process: "subprocess.Popen[Any]", name: str) -> None:
    """End the command; one that does not hear, or whose user does not want to wait for it, is killed."""
    try:
        process.terminate()
        try:
            process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            _say(f"{name} has been told to end, and has {_GRACE_SECONDS} s for it; one more signal kills it")
            process.wait(_GRACE_SECONDS)
    except (subprocess.TimeoutExpired, SystemExit, KeyboardInterrupt):
        with later():
            process.kill()
            process.wait()
        _say(f"{name} did not end, and was killed")


def _bootstrap(aws: LocalAws, regions: Sequence[str]) -> int:
    """Bootstrap ``regions``, in an empty folder: with an app in sight the CLI would synthesize it first.

    What it says is progress, for standard error.
    """
    _say(f"bootstrapping {', '.join(regions)}")
    with tempfile.TemporaryDirectory() as empty:
        return _run(
            ["cdk", "bootstrap", *(f"aws://{aws.account}/{region}" for region in regions)], aws, cwd=empty, stdout=2
        )


if __name__ == "__main__":
    sys.exit(main())
