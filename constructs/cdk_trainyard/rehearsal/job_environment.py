"""The Python environment of the training job: PyTorch for CPUs, made with the system's own Python.

The nodes run the same Python at the same path, so they use the environment as it is, read-only. It is no dependency of
this library: nothing of it is imported here.
"""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cdk_trainyard.rehearsal._process import own_environment, run, watch
from cdk_trainyard.rehearsal.cache import built, key_of
from cdk_trainyard.rehearsal.errors import RehearsalError

PYTHON = "/usr/bin/python3"
"""The Python of this machine and, at the same path, of the nodes."""

REQUIREMENTS = ("torch==2.13.0", "numpy==2.4.6", "safetensors==0.8.0")
"""What jobs and examples import; torch warns in every process when there is no numpy."""

_ADDED = sorted((Path(__file__).parent / "data" / "job_environment").glob("untraced.*"))
"""What is put beside them: jobs here compile nothing, and start in half the time without torch's compiler."""

_IMPORTED = "torch.distributed.run, torch.nn.parallel, torch.optim, torch.utils.checkpoint, numpy, safetensors.torch"
"""What is compiled beforehand, with all that it imports: a fifth of what pip would. Nodes cannot write there."""

_AGAIN_S = (5, 20)
"""How long to wait before pip is run again: mirrors of a registry may disagree for a minute."""

NODE_PYTHON_VERSION = "3.11"
"""Version of the Python in the node image."""


def job_environment(say: Callable[[str], None]) -> Path:
    """Return the directory of the environment, and make it when this machine has none.

    pip is the one of the environment this process runs in, with this machine's own configuration of pip: it decides
    where packages come from.

    Raises:
        RehearsalError: pip failed, three times.
    """
    key = key_of([python_version(), *REQUIREMENTS, *(path.read_bytes() for path in _ADDED)])
    return built("job-environment", key, lambda target: _make(target, say), say=say)


def python_version() -> str:
    """Return major and minor version of the system's Python."""
    return run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).out.strip()


def _make(target: Path, say: Callable[[str], None]) -> None:
    say(f"making the job's Python environment ({', '.join(REQUIREMENTS)}): half a minute, once")
    # without pip, because Debian keeps what a venv installs it from in a package of its own
    run([PYTHON, "-m", "venv", "--without-pip", str(target)])
    for path in _ADDED:
        shutil.copy(path, target / "lib" / f"python{python_version()}" / "site-packages")
    words = [
        "nice", "--adjustment=10", sys.executable, "-m", "pip", "--python", str(target / "bin" / "python"),
        "--disable-pip-version-check", "install", "--no-compile", "--no-input", "--progress-bar=off", *REQUIREMENTS,
    ]  # fmt: skip

    def tell(line: str) -> None:
        if line.startswith(("Installing", "Successfully", "  Downloading", "Collecting torch")):
            say(f"job environment: {line.strip()[:100]}")

    for later_s in _AGAIN_S:
        try:
            watch(words, tell, named="pip")
        except RehearsalError:
            say(f"job environment: pip failed; once more in {later_s} s")
            time.sleep(later_s)
        else:
            break
    else:
        watch(words, tell, named="pip")
    writing = {name: value for name, value in own_environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
    watch([str(target / "bin" / "python"), "-c", f"import {_IMPORTED}"], tell, named="torch", environment=writing)
