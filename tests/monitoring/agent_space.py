"""A program: a node in a network of its own, with the agent that the step makes, and a workspace that is shut at times.

It gets programs as JSON, and prints what arrived. Around the agent: the credentials of the node's role (IMDSv2), an
exporter that counts how often it was asked, and the workspace, which takes what is signed as botocore signs it. The
agent is started again while the workspace is shut: first as systemd does it, then after SIGKILL.
"""

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from cdk_trainyard.local.access.credentials import Credentials
from tests.serving.task_space import STORE, Quiet, ask, serve, signed_with, until

KEY = Credentials(access_key_id="ASIAEXAMPLE", secret_access_key="example", session_token="token")  # noqa: S106
SCRAPES = 10
"""How many pass before and after the agent is started again."""
seen: dict[str, Any] = {"asked": 0, "shut": False, "refused": 0, "unsigned": []}


class Metadata(Quiet):
    """Credentials of the node's role, for who has a token."""

    def do_PUT(self) -> None:  # noqa: N802  as http.server calls it
        self.answer(200, b"a-token")

    def do_GET(self) -> None:  # noqa: N802  as http.server calls it
        if self.headers["X-aws-ec2-metadata-token"] != "a-token":
            self.answer(401)
        elif self.path.endswith("/security-credentials/"):
            self.answer(200, b"node-role")
        else:
            told = {
                "Code": "Success",
                "AccessKeyId": KEY.access_key_id,
                "SecretAccessKey": KEY.secret_access_key,
                "Token": KEY.session_token,
                "Expiration": "2099-01-01T00:00:00Z",
            }
            self.answer(200, json.dumps(told).encode())


class Exporter(Quiet):
    """Says how often it was asked: no sample is like another."""

    def do_GET(self) -> None:  # noqa: N802  as http.server calls it
        seen["asked"] += 1
        self.answer(200, f"asked {seen['asked']}\n".encode())


class Workspace(Quiet):
    """Takes what is signed with the role's credentials, to a Prometheus."""

    def do_POST(self) -> None:  # noqa: N802  as http.server calls it
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = signed_with(KEY, self, body)
        if signature is None:
            seen["unsigned"].append(self.headers["Authorization"])
            self.answer(403)
        elif seen["shut"]:
            seen["refused"] += 1
            self.answer(503)
        else:
            seen.update(region=signature.region, service=signature.service, encoding=self.headers["Content-Encoding"])
            kept = {name: self.headers[name] for name in ("Content-Encoding", "Content-Type")}
            request = urllib.request.Request(f"{STORE}/api/v1/write", body, kept)  # noqa: S310  in this space
            try:
                with urllib.request.urlopen(request) as answer:  # noqa: S310
                    self.answer(answer.status)
            except urllib.error.HTTPError as error:
                self.answer(error.code, error.read())
            except OSError:  # it has not started yet
                self.answer(502)


# ---------------------------------------------------------------- the agent
class Agent:
    """Runs the agent, and ends it."""

    def __init__(self, words: list[str], queue: Path, log: IO[str]) -> None:
        self.words, self.queue, self.log = words, queue, log
        self.process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.words, stdout=self.log, stderr=self.log, env={})

    def start_again(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.wait()
        self.process = self._started()

    def says(self) -> str:
        with urllib.request.urlopen("http://127.0.0.1:8429/metrics") as told:
            return str(told.read().decode())

    def index(self) -> Any:
        """What the index of its queue says, or nothing while it is being written."""
        (path,) = self.queue.glob("persistent-queue/*/metainfo.json")
        try:
            return json.loads(path.read_text())
        except ValueError:
            return None

    def on_disk(self) -> int:
        """How far its queue is written."""
        return int(until(self.index, seen)["WriterOffset"])

    def writes_a_block(self) -> None:
        before = self.on_disk()
        wait(lambda: self.on_disk() > before)


def wait(question: Callable[[], object]) -> None:
    until(question, seen)


def arrived() -> set[int]:
    """Which of the exporter's samples there are."""
    found = ask("query", query="asked[1h]")["result"]
    return {int(number) for each in found for _, number in each["values"]}


def pass_scrapes() -> int:
    """Wait for some; return how many there have been since the beginning."""
    enough = seen["asked"] + SCRAPES
    wait(lambda: seen["asked"] >= enough)
    return enough


def keep(agent: Agent) -> None:
    """Wait until what was asked so far is in its queue on the disk: what is written after a block that came later.

    How long that takes, the disk says: the agent waits for it with each block.
    """
    for _ in range(2):
        agent.writes_a_block()


def outage(agent: Agent, number: signal.Signals) -> dict[str, Any]:
    """Start the agent again while the workspace is shut; return what was lost of what it took."""
    begun, seen["shut"] = seen["asked"], True
    ended = pass_scrapes()
    keep(agent)
    agent.start_again(number)
    killed = seen["asked"]
    last = pass_scrapes()
    seen["shut"] = False
    wait(lambda: max(arrived()) > last)
    lost = sorted({*range(1, last)} - arrived())
    return {"begun": begun, "ended": ended, "killed": killed, "last": last, "lost": lost}


def main() -> None:
    """Run it, and print what came of it."""
    said = json.load(sys.stdin)
    root = Path(said["root"])
    for words in (["link", "set", "lo", "up"], ["addr", "add", "169.254.169.254/32", "dev", "lo"]):
        subprocess.run(["ip", *words], check=True)  # noqa: S607
    serve(Metadata, "169.254.169.254", 80)
    serve(Exporter, "127.0.0.1", 9100)
    serve(Workspace, "127.0.0.1", 9999)
    with (root / "log").open("w") as log:
        store = subprocess.Popen(said["store"], stdout=log, stderr=log)
        agent = Agent(said["agent"], root / "queue", log)
        try:
            wait(lambda: len(arrived()) >= SCRAPES)
            outages = {number.name: outage(agent, number) for number in (signal.SIGTERM, signal.SIGKILL)}
            up = ask("query", query="up[1h]")["result"]
            failed = sum(number == "0" for each in up for _, number in each["values"])
            series = ask("series", **{"match[]": '{__name__!=""}'})
            json.dump({**seen, **outages, "failed": failed, "series": series, "says": agent.says()}, sys.stdout)
        finally:
            for process in (agent.process, store):
                process.terminate()
            sys.stderr.write((root / "log").read_text()[-8000:])


if __name__ == "__main__":
    main()
