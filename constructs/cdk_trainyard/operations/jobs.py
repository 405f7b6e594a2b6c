"""A job for Slurm: its files go to the cluster, sbatch takes it, and its output is followed.

Sources: sbatch(1) and scontrol(1) of Slurm 22.05 to 24.05 (``--parsable``; ``JobState``, ``StdOut``, ``ExitCode``;
``MinJobAge``: a job that has ended is shown for five minutes); AWS Systems Manager user guide, "Specify an idle session
timeout value" (a session without input ends after 20 minutes unless told otherwise); read 2026-11.
"""

import hashlib
import io
import re
import secrets
import shlex
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cdk_trainyard.operations.commands import Commands, Ended
from cdk_trainyard.operations.protocol import Node, OperationError
from cdk_trainyard.operations.transfers import (
    MOST_BY_BUCKET_BYTES,
    MOST_BY_SESSIONS_BYTES,
    Bucket,
    fetched,
    parts,
)

_SCRIPT: Final = "job.sbatch"
_LEFT_OUT: Final = frozenset({".git", "__pycache__", ".venv", "node_modules", ".mypy_cache", ".ruff_cache"})
_STATE: Final = "trainyard-state"
_OVER: Final = "COMPLETED|FAILED|CANCELLED|TIMEOUT|OUT_OF_MEMORY|BOOT_FAIL|DEADLINE|NODE_FAIL|PREEMPTED|REVOKED"
"""The states of a job that has ended."""
_POLL_SECONDS: Final = 2
_LOST: Final = 75
"""EX_TEMPFAIL: Slurm says nothing of the job, for a minute."""
_BREAKS: Final = 5
_SIGNAL: Final = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job's files.

    Attributes:
        name: What it is called: its folder, or its script without the ending.
        script: The script, relative to the folder.
        data: The files, as tar with gzip.
    """

    name: str
    script: str
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Submitted:
    """A job that Slurm has taken.

    Attributes:
        number: Its number.
        folder: Where its files are.
    """

    number: str
    folder: str


def packed(path: Path) -> Job:
    """Return the files of a job: a script alone, or a folder with one.

    Args:
        path: The script, or the folder; its script is ``job.sbatch``, or the only one that ends with ``.sbatch``.

    Raises:
        OperationError: There is no such script, sbatch would refuse it, or the files are too large.
    """
    script = _script(path)
    _judge(script)
    files = io.BytesIO()
    with tarfile.open(fileobj=files, mode="w:gz") as archive:
        if script == path:
            archive.add(path, arcname=path.name, filter=_anonymous)
        else:
            archive.add(path, arcname=".", filter=_anonymous)
    data = files.getvalue()
    if len(data) > MOST_BY_BUCKET_BYTES:
        raise _too_large(str(path), data, f"a job's folder may have {MOST_BY_BUCKET_BYTES >> 20} MiB")
    name = re.sub(r"[^\w.-]", "-", (path if script != path else path.with_suffix("")).resolve().name) or "job"
    return Job(name=name, script=script.name, data=data)


def _too_large(what: str, data: bytes, most: str) -> OperationError:
    return OperationError(
        f"{what}: {len(data) / 2**20:.1f} MiB, packed, and {most} at most: put data on the shared file system or into "
        "a bucket, and the program alone into the job's folder"
    )


def _script(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise OperationError(f"{path}: there is no such script or folder")
    found = sorted(path.glob("*.sbatch"))
    named = [each for each in found if each.name == _SCRIPT] or found
    if len(named) != 1:
        several = ", ".join(each.name for each in named)
        raise OperationError(
            f"{path}: which script is the job? It has {several}: name one of them {_SCRIPT}"
            if named
            else f"{path}: it has no {_SCRIPT}"
        )
    return named[0]


def _judge(script: Path) -> None:
    """Refuse what sbatch refuses."""
    try:
        first = script.read_bytes()
    except OSError as error:
        raise OperationError(str(error)) from None
    if not first.startswith(b"#!"):
        raise OperationError(f"{script}: sbatch takes a script whose first line is its program, as #!/bin/bash")
    if b"\r\n" in first:
        raise OperationError(
            f"{script}: its lines end as those of DOS, which sbatch refuses: save it with Unix line ends"
        )


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if Path(member.name).name in _LEFT_OUT:
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


class Jobs:
    """Slurm, by the sessions of a node that has its commands.

    Args:
        commands: Commands on nodes.
        node: The node.
        user: Who submits.
        bucket: What files pass through that are too large for sessions. Default - they are refused.
    """

    def __init__(self, commands: Commands, node: Node, user: str, bucket: Bucket | None = None) -> None:
        self._commands = commands
        self._node = node
        self._user = user
        self._bucket = bucket

    def submit(self, job: Job, options: Sequence[str] = ()) -> Submitted:
        """Copy a job's files into a folder of their own, and submit it there.

        Args:
            job: The job.
            options: Further words for sbatch.

        Raises:
            OperationError: The files are too large, a session was refused, the files did not arrive, or sbatch refused
                the job; with what it said.
        """
        token = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        archive = f".trainyard-{token}.tar.gz"
        self._copy(job, archive)
        folder = f"trainyard-jobs/{job.name}-{token}"
        hashed = hashlib.sha256(job.data).hexdigest()
        words = shlex.join(["sbatch", "--parsable", *options, job.script])
        lines = self._run(
            f"set -e; cd; echo {hashed} {archive} | sha256sum --check --quiet; mkdir -p {folder}; "
            f"tar -xzf {archive} -C {folder}; rm {archive}; cd {folder}; pwd; {words}"
        )
        found = re.fullmatch(r"(\d+)(;.*)?", lines[-1]) if lines else None
        if found is None:
            raise OperationError(f"sbatch named no job: {' '.join(lines)}")
        place = next((line for line in lines if line.endswith(folder)), folder)
        return Submitted(number=found[1], folder=place)

    def _copy(self, job: Job, archive: str) -> None:
        """Bring a job's files to the node: to the home of the user, under a name."""
        if len(job.data) <= MOST_BY_SESSIONS_BYTES:
            for line in parts(job.data, f"~/{archive}"):
                self._run(line)
        elif self._bucket is None:
            most = f"sessions carry {MOST_BY_SESSIONS_BYTES >> 20} MiB, where a deployment has no bucket of its own,"
            raise _too_large(job.name, job.data, most)
        else:
            with self._bucket.lent(archive, job.data) as url:
                self._run(fetched(url, f"~/{archive}"))

    def follow(self, number: str, heard: Callable[[str], None], told: Callable[[str], None]) -> int:
        """Pass a job's output on until the job ends, and return its exit code.

        A session ends now and then; another goes on with the line after the last one.

        Args:
            number: The job's number.
            heard: Told each line of output.
            told: Told what Slurm says of the job, when it changes.

        Raises:
            OperationError: Sessions end again and again, or Slurm does not know the job any more.
        """
        seen, breaks, last = 0, 0, ""

        def hear(_node: Node, line: str) -> None:
            nonlocal seen, breaks, last
            breaks = 0
            state = line.removeprefix(f"{_STATE} ")
            if state == line:
                seen += 1
                heard(line)
            elif state.startswith("again"):
                seen = 0
            elif state != last:
                last = state
                told(state)

        while True:
            ended = self._commands.one(self._node, _following(number, seen), hear, user=self._user)
            if ended.code == _LOST:
                raise OperationError(f"Slurm knows nothing of job {number} any more: 'sacct' may")
            if ended.code is not None:
                return ended.code
            breaks += 1
            if breaks >= _BREAKS:
                raise OperationError(f"job {number} goes on, but its output is not followed: {ended.why}")

    def _run(self, line: str) -> list[str]:
        lines: list[str] = []
        ended = self._commands.one(self._node, line, lambda _node, text: lines.append(text), user=self._user)
        if ended.code != 0:
            raise OperationError(_why(ended, lines))
        return lines


def _why(ended: Ended, lines: Sequence[str]) -> str:
    said = "\n".join(lines)
    if ended.code is None:
        return f"{ended.node.group} {ended.node.id}: {ended.why}"
    return said or f"{ended.node.group} {ended.node.id}: exit code {ended.code}"


def _following(number: str, seen: int) -> str:
    """Return a line for a shell that says whole lines of a job's output after those that were seen, until it ends."""
    return f"""
seen={seen}; silent=0
while :; do
  job=$(scontrol show job {number} 2>/dev/null)
  state=$(printf "%s\\n" "$job" | sed -n "s/^ *JobState=\\([A-Z_]*\\).*/\\1/p" | head -n 1)
  reason=$(printf "%s\\n" "$job" | sed -n "s/^ *JobState=.* Reason=\\([^ ]*\\).*/\\1/p" | head -n 1)
  out=$(printf "%s\\n" "$job" | sed -n "s/^ *StdOut=//p" | head -n 1)
  if [ -z "$state" ]; then
    silent=$((silent + 1)); [ $silent -lt 30 ] || exit {_LOST}
    sleep {_POLL_SECONDS}; continue
  fi
  silent=0; over=; case $state in {_OVER}) over=1 ;; esac
  [ -n "$over" ] || [ "$state $reason" = "$shown" ] || echo "{_STATE} $state $reason"
  shown="$state $reason"
  if [ -f "$out" ]; then
    lines=$(wc -l < "$out")
    if [ $lines -lt $seen ]; then echo "{_STATE} again"; seen=0; fi
    if [ $lines -gt $seen ]; then sed -n "$((seen + 1)),${{lines}}p" "$out"; seen=$lines; fi
  fi
  [ -z "$over" ] || break
  sleep {_POLL_SECONDS}
done
if [ -f "$out" ] && [ -n "$(tail -c 1 "$out")" ]; then sed -n "$((seen + 1)),\\$p" "$out"; echo; fi
echo "{_STATE} $state $reason"
set -- $(printf "%s\\n" "$job" | sed -n "s/.*ExitCode=\\([0-9]*\\):\\([0-9]*\\).*/\\1 \\2/p" | head -n 1)
[ "${{2:-0}}" = 0 ] || exit $(({_SIGNAL} + $2))
[ "$state" = COMPLETED ] || [ "${{1:-1}}" != 0 ] || exit 1
exit ${{1:-1}}
"""
