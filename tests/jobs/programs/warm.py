"""A Python that has torch already, and runs programs: each process is a fork of this one that has done nothing yet.

A line of JSON in for each run, and one out. A run has ``ranks`` processes, which find one another as those of torchrun
do: by the same variables, and a store that is there while they run.
"""

import json
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np  # noqa: F401
import safetensors.torch  # noqa: F401
import torch.nn.parallel
import torch.optim
import torch.utils.checkpoint  # noqa: F401
from torch import distributed


def forked(function, *words):
    """The id of a process that does this, and nothing after it."""
    if process := os.fork():
        return process
    code = 1
    try:
        code = function(*words)
    except SystemExit as end:
        code = end.code or 0
        if isinstance(code, str):
            sys.stderr.write(f"{code}\n")
            code = 1
    except BaseException:  # noqa: BLE001  as Python ends
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def code_of(status):
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 1


def rank(number, run, port):
    """Be a rank: the program, as Python starts it, once the store is there."""
    os.environ.clear()
    os.environ.update(run["variables"])
    if run["ranks"]:
        names = ("RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TORCHELASTIC_USE_AGENT_STORE")
        os.environ.update(zip(names, map(str, (number, number, 0, run["ranks"], run["ranks"], True)), strict=True))
        os.environ.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": os.read(port, 10).decode()})
    program, *_ = sys.argv = run["words"]
    sys.path[:1] = [str(Path(program).parent), *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
    runpy.run_path(program, run_name="__main__")
    return 0


def launch(run, files):
    """Start the ranks, wait for them, and end with the code of the first that failed, and with it the others."""
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    ends = [os.pipe() for _ in range(run["ranks"] or 1)]
    ranks = {forked(rank, number, run, end) for number, (end, _) in enumerate(ends)}
    if run["ranks"]:
        store = distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        for _, end in ends:
            os.write(end, str(store.port).encode())
    failed = 0
    while ranks:
        process, status = os.wait()
        ranks.remove(process)
        if code_of(status) and not failed:
            failed = code_of(status)
            for other in ranks:
                os.kill(other, signal.SIGTERM)
    return failed


def main():
    for line in sys.stdin:
        run = json.loads(line)
        with (
            Path(os.devnull).open() as none,
            TemporaryFile("a+b") as out,
            TemporaryFile("a+b") as err,
        ):
            _, status = os.waitpid(forked(launch, run, (none, out, err)), 0)
            answer = {"code": code_of(status)}
            for name, file in (("out", out), ("err", err)):
                file.seek(0)
                answer[name] = file.read().decode(errors="replace")
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


main()
