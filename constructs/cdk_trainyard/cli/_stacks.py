"""Stacks as the cdk CLI knows them: which there are, and what it says while it deploys or destroys, a line for each."""

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._folders import scratch_folder
from cdk_trainyard.cli._progress import drawing, working
from cdk_trainyard.errors import did_you_mean

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from cdk_trainyard.cli._cdk import Cdk

_EVENT: Final = re.compile(r"^(?P<name>[\w-]+) \| +(?P<done>\d+)(?:/(?P<all>\d+))? \|")
_BEGUN: Final = re.compile(r"^(?P<id>\S+?)(?: \((?P<name>[\w-]+)\))?: (?P<what>deploying|destroying)\.\.\.")
_ENDED: Final = re.compile(r"^\s*(?P<sign>✅|❌)\s+(?P<id>[^\s:]+)(?: \((?P<name>[\w-]+)\))?(?P<rest>.*)$")
_FAILED: Final = re.compile(r"\| \w*_FAILED +\|")
_PATTERN: Final = re.compile(r"[*?!{}\[\]()+@|]")


def listed(cdk: "Cdk", *words: str) -> list[dict[str, Any]]:
    """Return what the CLI lists of stacks: id, name, environment, dependencies.

    Args:
        cdk: The CLI.
        words: Ids or patterns. None of them: every stack; and the CLI's words for the app.

    Raises:
        Wrong: The app cannot be synthesized.
    """
    done = cdk.run("list", *words, "--show-dependencies", "--long", "--json")
    said = "\n".join(done.lines)
    if done.code:
        raise Wrong(said)
    begins = re.search(r"^\[\]?$", said, re.MULTILINE)  # warnings come first
    found: list[dict[str, Any]] = json.JSONDecoder().raw_decode(said[begins.start() :])[0] if begins else []
    return [{**each, "id": id_of(each)} for each in found]


def id_of(row: dict[str, Any]) -> str:
    """Return the id of a stack, or of one that it depends on: the CLI adds the name, where it is another."""
    return str(row["id"]).partition(" ")[0]


@contextmanager
def app_with(stacks: Sequence[str], cdk: "Cdk", *app: str) -> Iterator[Sequence[str]]:
    """Refuse a stack that is not in the app, which the CLI would pass over; yield what to tell the CLI of the app.

    What is synthesized lies in a folder that is gone with the block; whoever looks for stacks takes what was made then.

    Args:
        stacks: Ids or patterns; of patterns nothing is asked.
        cdk: The CLI.
        app: Its words for the app.

    Raises:
        Wrong: There is no such stack; or the app cannot be synthesized.
    """
    named = [each for each in stacks if not _PATTERN.search(each)]
    with scratch_folder() as assembly:
        if not named:
            yield (*app, "--output", str(assembly))
            return
        with working("looking for the stacks"):
            known = [each["id"] for each in listed(cdk, *app, "--output", str(assembly))]
        refuse_unknown(named, known)
        yield ("--app", str(assembly))


def synthesized(app: Sequence[str]) -> Sequence[str]:
    """Return what to tell the CLI of an app that it has synthesized already, told what `app_with` yields."""
    return ("--app", app[-1])


def refuse_unknown(stacks: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a stack that is not in the app.

    Args:
        stacks: Ids or patterns; patterns are not judged.
        known: The ids of those that are.

    Raises:
        Wrong: There is no such stack.
    """
    unknown = [each for each in stacks if not _PATTERN.search(each) and each not in known]
    if unknown:
        raise Wrong(
            "\n".join(
                f"there is no stack {each!r}, only {', '.join(known)}{did_you_mean(each, known)}" for each in unknown
            )
        )


class Stacks:
    """Listens to the CLI's lines.

    Attributes:
        failures: The events of what failed, as the CLI said them.
        done: The ids of the stacks that are done, in their order.
    """

    def __init__(self, bars: "Progress | None") -> None:
        """Listen.

        Args:
            bars: Where progress is drawn. None: each stack is a line when it is done.
        """
        self.failures: list[str] = []
        self.done: list[str] = []
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._since: dict[str, float] = {}
        self._names: dict[str, str] = {}

    def hear(self, line: str) -> None:
        """Take a line.

        Args:
            line: The line.
        """
        if found := _BEGUN.match(line):
            self._begin(found["id"], found["name"] or found["id"])
        elif found := _ENDED.match(line):
            self._end(found["id"], found["sign"] == "✅", found["rest"])
        elif found := _EVENT.match(line):
            self._advance(found["name"], int(found["done"]), int(found["all"] or 0))
            if _FAILED.search(line):
                self.failures.append(line)

    def _begin(self, stack: str, name: str) -> None:
        self._since[stack] = time.monotonic()
        self._names[name] = stack
        if self._bars is not None:
            self._tasks[stack] = self._bars.add_task(stack, total=None)

    def _advance(self, name: str, done: int, whole: int) -> None:
        task = self._tasks.get(self._names.get(name, name))
        if self._bars is not None and task is not None:
            self._bars.update(task, completed=done, total=whole or None)

    def _end(self, stack: str, good: bool, rest: str) -> None:
        if good and stack not in self.done:
            self.done.append(stack)
        took = f", {time.monotonic() - self._since[stack]:.0f} s" if stack in self._since else ""
        what = "nothing to change" if "no changes" in rest else "done" if good else "failed"
        click.echo(f"{stack}: {what}{took}", err=True)
        if self._bars is not None and (task := self._tasks.pop(stack, None)) is not None:
            self._bars.remove_task(task)


@contextmanager
def listening() -> Iterator[Stacks]:
    """Listen until the block ends; on a terminal a bar moves for each stack."""
    if not sys.stderr.isatty():
        yield Stacks(None)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn()]
    with drawing() as console, Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bars:
        yield Stacks(bars)
