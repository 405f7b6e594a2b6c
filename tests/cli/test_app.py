"""The group of commands: help, what is misspelt, what is missing, how it ends."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import click
import pytest

from cdk_trainyard.cli import _cdk, _extras, main
from cdk_trainyard.cli._app import COMMANDS
from cdk_trainyard.cli.contract.ask import VARIABLE
from tests.cli.test_plan import assembly
from tests.support import DEPLOYMENTS, ROOT

pytestmark = pytest.mark.programs

TRAINYARD = [sys.executable, "-m", "cdk_trainyard"]


def run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*TRAINYARD, *words], capture_output=True, text=True, check=False, env=os.environ | environment
    )


def test_the_help_imports_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if f"  {name} " not in shown] == []
    program = "import sys; from cdk_trainyard.cli import main; main(['--help']); print(*sys.modules, sep='\\n')"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {f"cdk_trainyard.cli.{row.module}" for row in COMMANDS.values()} & set(loaded)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_agrees_with_the_table(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command: click.Command = import_module(f"cdk_trainyard.cli.{COMMANDS[name].module}").command
    assert command.name == name
    assert str(command.help).partition("\n")[0] == COMMANDS[name].help
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: trainyard {name} ")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_on_forty_columns(name: str) -> None:
    shown = run(name, "--help", COLUMNS="40", NO_COLOR="1").stdout
    assert shown
    assert [line for line in shown.splitlines() if len(line) > 40] == []


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["chek", "x.yaml"], "No such command 'chek'. Did you mean 'check'?"),
        (["synth", "--ouput", "x", "y.yaml"], "No such option '--ouput'. Did you mean '--output'?"),
        (["check"], "Missing argument 'FILE...'."),
        (["local", "sreve"], "No such command 'sreve'. Did you mean 'serve'?"),
        (["local", "run"], "Missing argument '-- COMMAND [ARGUMENT]...'."),
    ],
)
def test_a_wrong_command_line_is_answered(words: list[str], answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert answer in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "extra"),
    [("demo", "local"), ("synth", "review"), ("local", "local"), ("rehearse", "rehearsal"), ("plan", "review")],
)
def test_a_missing_extra_is_named(
    name: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = set(_extras.BRINGS[extra]) - {"yaml"}
    monkeypatch.setattr(_extras, "find_spec", lambda module: None if module in lacking else module)
    words = {"demo": [], "synth": ["x.yaml"], "local": ["run", "--", "true"]}.get(name, ["x", "y"])
    assert main([name, *words]) == 3
    said = f"trainyard {name} needs what the extra '{extra}' brings: pip install 'cdk-trainyard[{extra}]'\n"
    assert capsys.readouterr().err == said
    assert main([name, "--help"]) == 0


def test_without_the_extra_of_the_command_line_it_says_so() -> None:
    program = "import sys; sys.modules['click'] = None; from cdk_trainyard.cli import main; sys.exit(main(['check']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "trainyard needs what the extra 'cli' brings: pip install 'cdk-trainyard[cli]'\n"


def test_the_readme_says_exit_codes_and_of_each_command_its_extras_and_permissions() -> None:
    page = (ROOT / "constructs" / "cdk_trainyard" / "cli" / "README.md").read_text()
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "130"]
    permissions = page.partition("\n## Permissions\n")[2].partition("\n\n`show`")[0]
    assert [name for name in COMMANDS if f"`{name}`" not in permissions] == []
    rows = dict(re.findall(r"^\| `trainyard ([\w-]+).*\|([^|]+)\|$", page, re.MULTILINE))
    assert {name: set(re.findall(r"\w+", extras)) for name, extras in rows.items()} == {
        name: {"cli", *row.extras.split()} - {"file"}  # which cli has, too
        for name, row in COMMANDS.items()
    }


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("trainyard de", ["deploy", "destroy", "demo"]), ("trainyard synth --js", ["--json"])],
)
def test_the_shell_completes(typed: str, offered: list[str]) -> None:
    """Bash asks the program itself."""
    number = str(len(typed.split()) - 1)
    shown = run(_TRAINYARD_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=number).stdout
    assert sorted(shown.split()) == sorted(f"plain,{name}" for name in offered)


@pytest.mark.parametrize(
    ("terminal", "no_color", "flags"), [(True, "", []), (True, "1", ["--no-color"]), (False, "", ["--no-color"])]
)
def test_colours_are_for_terminals(
    terminal: bool, no_color: str, flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert _cdk.colours() == flags


def test_a_terminal_without_colours_gets_none() -> None:
    """On a pseudo-terminal of 40 columns: help and what is wrong."""
    spawn = f"import pty, sys; pty.spawn([{sys.executable!r}, '-m', 'cdk_trainyard', *sys.argv[1:]])"
    for words in (["--help"], ["check", "none.yaml"], ["chek"]):
        environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "40"}
        done = subprocess.run(
            [sys.executable, "-c", spawn, *words], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout
        assert "\x1b" not in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`trainyard check … | head -1`."""
    many = tmp_path / "many.yaml"
    many.write_text("name: X\n")
    with subprocess.Popen(
        [*TRAINYARD, "check", *[str(many)] * 2000], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert said == ""


@pytest.mark.parametrize("name", ["synth", "contract"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_what_was_started(number: signal.Signals, code: int, name: str, tmp_path: Path) -> None:
    """The cdk CLI and its app, and ParallelCluster's program with its Node, are gone when the command is."""
    said = tmp_path / "pid"
    for program, text in (
        ("node", "#!/bin/sh\necho v24.0.0\n"),
        ("cdk", f'#!/bin/sh\n[ "$1" = --version ] && echo 2.1148.1 && exit\nsleep 300 &\necho $! > {said}\nwait\n'),
    ):
        (tmp_path / program).write_text(text)
        (tmp_path / program).chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "JSII_NODE": str(tmp_path / "node"),
        VARIABLE: str(tmp_path / "cdk"),
    }
    cluster = {"Type": "Custom::PclusterCluster", "Properties": {"ClusterName": "x", "ClusterConfiguration": {}}}
    given = assembly(tmp_path / "cdk.out", Cluster=cluster) if name == "contract" else DEPLOYMENTS[0]
    with subprocess.Popen(
        [*TRAINYARD, name, str(given)],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        # what a shell starts in the background ignores SIGINT, and so would this
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as process:
        while not (said.exists() and said.read_text().strip()):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(600) == code
    for _ in range(3000):  # a signal takes its time where much else runs
        if not is_running(int(said.read_text())):
            break
        time.sleep(0.1)
    else:
        pytest.fail("what the command had started still runs")


def is_running(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
