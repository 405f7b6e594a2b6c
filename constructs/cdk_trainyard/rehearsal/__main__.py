"""``trainyard rehearse DEPLOYMENT``, and commands for a rehearsal that runs; it needs no other extra."""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from cdk_trainyard.rehearsal import asked, control, requirements
from cdk_trainyard.rehearsal._process import become, end, wait_for
from cdk_trainyard.rehearsal.control_plane import local_endpoint
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.image import node_image
from cdk_trainyard.rehearsal.job_environment import job_environment
from cdk_trainyard.rehearsal.namespaces import sweep_control_groups
from cdk_trainyard.rehearsal.other_terminal import exports
from cdk_trainyard.rehearsal.report import Report

if TYPE_CHECKING:
    from cdk_trainyard.rehearsal.scenarios import Rehearsal

REQUIRE_NODES = "REQUIRE_NODES"
"""With the value 1, a machine that cannot boot nodes is a failure, not a reason to rehearse less."""

_END_SECONDS = 300
_MISSING = 69  # EX_UNAVAILABLE: this machine cannot


def _parser() -> tuple[argparse.ArgumentParser, Collection[str]]:
    """Return the parser of the command line, and the names of its commands."""
    parser = argparse.ArgumentParser(
        prog="trainyard rehearse",
        description="Boots the nodes of a deployment on this machine: real systemd, real Slurm, the real scripts.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="rehearse a deployment file (the word 'run' may be left out)")
    run.add_argument("deployment", type=Path, help="the deployment file")
    run.add_argument("--max-nodes", type=int, metavar="N", help="boot at most N nodes (default: 8; of a fleet 3)")
    run.add_argument(
        "--scripts", type=Path, metavar="DIR", help="rehearse this folder of scripts, not the uploaded one"
    )
    run.add_argument("--auto-resume", action="store_true", help="srun offers --auto-resume, from a stand-in")
    run.add_argument(
        "--asked", type=Path, metavar="FILE", help="write what nodes asked for beyond their subnet, as JSON"
    )
    run.add_argument("--no-job", action="store_true", help="end when every node is idle in Slurm")
    run.add_argument("--keep", action="store_true", help="keep the nodes until Ctrl-C, for the commands below")
    run.set_defaults(act=_run)
    for name, act, help_ in (
        ("shell", _shell, "open a shell on a node"),
        ("logs", _show("logs"), "show what the scripts of a node wrote"),
        ("crash", _show("crash"), "cut a node's power"),
        ("replace", _show("replace"), "replace a node by a new instance"),
    ):
        command = commands.add_parser(name, help=help_)
        command.add_argument("words", nargs=1, metavar="NODE", help="its name or host name")
        command.set_defaults(act=act)
    scale = commands.add_parser("scale", help="change the number of nodes in a group")
    scale.add_argument("words", nargs=2, metavar=("GROUP", "N"))
    scale.set_defaults(act=_show("scale"))
    for name, act, help_ in (
        ("environment", _show("environment"), "print what another terminal sets for connect, exec, logs and submit"),
        ("nodes", _nodes, "list the nodes of the rehearsal that runs"),
        ("down", _down, "end every rehearsal, and remove what others left"),
        ("build-image", _build_image, "build the node image and the job's Python environment"),
        ("install", _install, "install the packages that this machine lacks, with its own apt"),
        ("check", _check, "say what this machine lacks"),
    ):
        commands.add_parser(name, help=help_).set_defaults(act=act, words=[])
    for name in ("run", "nodes", "check"):
        commands.choices[name].add_argument("--json", action="store_true", help="say it as JSON")
    for command in commands.choices.values():
        command.add_argument("--rehearsal", type=int, metavar="PID", help="which one, when several run")
    return parser, commands.choices


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser, commands = _parser()
    if words and not words[0].startswith("-") and words[0] not in commands:
        words.insert(0, "run")
    options = parser.parse_args(words, argparse.Namespace(given=words))
    handlers = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        code: int = options.act(options)
    except RehearsalError as error:
        sys.stderr.write(f"rehearsal: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("rehearsal: ended\n")
        return 130
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return code


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


# ---------------------------------------------------------------- the rehearsal
def _run(options: argparse.Namespace) -> int:
    lacking = requirements.missing()
    if lacking:
        sys.stderr.write("".join(f"rehearsal: {sentence}\n" for sentence in lacking))
        return _MISSING if os.environ.get(REQUIRE_NODES) == "1" else _rehearse_job_only(options)
    if not options.deployment.is_file():
        raise RehearsalError(f"{options.deployment}: no such deployment file")
    if options.scripts and not options.scripts.is_dir():
        raise RehearsalError(f"{options.scripts}: no such folder of scripts")
    if local_endpoint() is None:
        # the local AWS is a program of its own: this one goes on as its command
        run = [sys.executable, "-m", "cdk_trainyard.local", "run", "--"]
        become([*run, sys.executable, "-m", "cdk_trainyard.rehearsal", *options.given])
    return _rehearse(options)


def _rehearse(options: argparse.Namespace) -> int:
    from cdk_trainyard.rehearsal.scenario import Options  # noqa: PLC0415  most of a start, which only this needs
    from cdk_trainyard.rehearsal.scenarios import Rehearsal  # noqa: PLC0415  as above

    report = Report()
    chosen = Options(
        file=options.deployment,
        most_nodes=options.max_nodes,
        scripts=options.scripts,
        auto_resume=options.auto_resume,
    )
    rehearsal = Rehearsal(chosen, report)
    commands = _commands(rehearsal)
    try:
        with control.Control(commands):
            rehearsal.run(job=not options.no_job)
            if options.keep:
                _keep(report)
    except RehearsalError as error:
        report.say(f"FAILED: {error}")
        if options.keep and rehearsal.has_nodes:
            with control.Control(commands):
                _keep(report)
    finally:
        rehearsal.close()
        if options.asked:
            options.asked.write_text(asked.as_json(report.asked))
        _tell(report, options)
    return 0 if report.passed else 1


def _tell(report: Report, options: argparse.Namespace) -> None:
    sys.stdout.write(f"{_as_json(report.data())}\n" if options.json else f"\n{report.table()}\n")


def _as_json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2)


def _rehearse_job_only(options: argparse.Namespace) -> int:
    """Rehearse what needs no nodes: the job, on a Slurm of the calling user."""
    from cdk_trainyard.rehearsal import rootless  # noqa: PLC0415  as above

    if packages := rootless.missing():
        sys.stderr.write(f"rehearsal: and no job script either: apt-get install {' '.join(packages)}\n")
        return _MISSING
    report = Report()
    with report.step("the job's Python environment"):
        python = job_environment(report.say) / "bin" / "python"
    with report.step("training job on a Slurm without nodes, one process killed"):
        rootless.rehearse(python, report.say)
    report.skip("nodes, lifecycle scripts, power cut", "this machine cannot boot nodes, see above")
    _tell(report, options)
    return 0


def _keep(report: Report) -> None:
    report.say("the nodes are kept; Ctrl-C ends them")
    try:
        while True:  # signal.pause() would sleep through one that comes just before it
            time.sleep(1)
    except KeyboardInterrupt:
        report.say("ended")


# ---------------------------------------------------------------- commands for one that runs
def _commands(rehearsal: "Rehearsal") -> dict[str, control.Handler]:
    def enter(name: str) -> str:
        return json.dumps(rehearsal.scenario.machines.machine(name).enter())

    def crash(name: str) -> str:
        rehearsal.scenario.machines.machine(name).crash()
        return f"{name}: power cut"

    def replace(name: str) -> str:
        return rehearsal.scenario.replace(name)

    def scale(group: str, count: str) -> str:
        return rehearsal.scenario.scale(group, int(count))

    def logs(name: str) -> str:
        return rehearsal.scenario.log(name)

    def nodes() -> str:
        return json.dumps(rehearsal.scenario.nodes())

    def environment() -> str:
        return exports(os.environ, rehearsal.scenario.machines.cluster.region, rehearsal.plugin.parent)

    handlers = (enter, crash, replace, scale, logs, nodes, environment)
    return {handler.__name__: handler for handler in handlers}


def _show(command: str) -> Callable[[argparse.Namespace], int]:
    def act(options: argparse.Namespace) -> int:
        sys.stdout.write(control.ask(command, *options.words, rehearsal=options.rehearsal) + "\n")
        return 0

    return act


def _shell(options: argparse.Namespace) -> NoReturn:
    words = json.loads(control.ask("enter", *options.words, rehearsal=options.rehearsal))
    become([*words, "bash", "--login"])


def _nodes(options: argparse.Namespace) -> int:
    nodes = json.loads(control.ask("nodes", rehearsal=options.rehearsal))
    lines = "\n".join("  ".join(node.values()).rstrip() for node in nodes)
    sys.stdout.write(f"{_as_json({'nodes': nodes}) if options.json else lines}\n")
    return 0


def _down(_options: argparse.Namespace) -> int:
    ended = control.running()
    for number in ended:
        end(number, signal.SIGTERM)
    wait_for("the rehearsals to end", lambda: not control.running(), seconds=_END_SECONDS)
    for path in control.leftovers():
        path.unlink(missing_ok=True)
    groups = sweep_control_groups()
    sys.stdout.write(f"rehearsals ended: {len(ended)}; control groups removed that others left: {len(groups)}\n")
    return 0


def _build_image(_options: argparse.Namespace) -> int:
    report = Report()
    sys.stdout.write(f"{node_image(report.say)}\n{job_environment(report.say)}\n")
    return 0


def _install(_options: argparse.Namespace) -> int:
    requirements.install(Report().say)
    return 0


def _check(options: argparse.Namespace) -> int:
    lacking = requirements.missing()
    lines = "\n".join(lacking or ["this machine can boot nodes"])
    sys.stdout.write(f"{_as_json({'missing': lacking}) if options.json else lines}\n")
    return _MISSING if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
