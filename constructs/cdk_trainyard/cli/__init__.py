"""The command ``trainyard``: one file for each command, imported when the command is asked for.

Exit codes: 0 right; 1 something is wrong with the file, or with what was asked for; 2 the command line is wrong;
3 something that the command needs is missing (an extra, Node, the cdk CLI, credentials); 130 interrupted.
"""

import atexit
import gc
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

gc.disable()  # most commands live for a moment
atexit.register(gc.freeze)  # or Python would search everything for garbage before it ends

INTERRUPTED = 130
MISSING = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What stands after ``trainyard``. Default - the arguments of the process.

    Returns:
        The exit code.
    """
    if arguments is None:
        for number in (signal.SIGTERM, signal.SIGHUP):  # so that what was started ends, and files of a moment go
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
    try:
        from cdk_trainyard.cli._app import run

        if arguments is None:
            from click import termui

            from cdk_trainyard.cli._signals import answered

            termui.visible_prompt_func = answered
        return run(sys.argv[1:] if arguments is None else list(arguments))
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("trainyard needs what the extra 'cli' brings: pip install 'cdk-trainyard[cli]'\n")
        return MISSING
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        return INTERRUPTED


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
