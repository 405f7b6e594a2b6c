"""The command line."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO, cast

import pytest

from cdk_trainyard.cli import main as trainyard
from cdk_trainyard.local import LocalAws, supported_types
from cdk_trainyard.local import __main__ as local
from cdk_trainyard.local.__main__ import _end, _ended, _run, _serve, main
from tests.shown import lacking, promised

_TOPICS = "import boto3, os; print(boto3.client('sns').create_topic(Name='x')['TopicArn'], os.environ['AWS_REGION'])"


_TOPIC = "arn:aws:sns:us-west-2:210987654321:alerts"
_CERTIFICATE = "arn:aws:acm:us-west-2:210987654321:certificate/12345678-1234-1234-1234-123456789012"


@pytest.mark.slow
def test_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a process of its own, as users start it, and with a real profile in reach."""
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAREAL")
    command = [sys.executable, "-m", "cdk_trainyard.local", "run", "--region", "eu-west-1", "--"]
    done = subprocess.run(
        [*command, sys.executable, "-c", f"{_TOPICS}; raise SystemExit(7)"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    assert done.stdout == "arn:aws:sns:eu-west-1:123456789012:x eu-west-1\n"
    assert done.stderr.startswith("local AWS: http://127.0.0.1:")
    assert done.stderr.endswith(" is account 123456789012, region eu-west-1\n")


@pytest.fixture(scope="module")
def in_another_account() -> list[str]:
    """What a command prints in another account and region, where things exist already."""
    topic = '{"Resources": {"R": {"Type": "AWS::SNS::Topic"}}, "Outputs": {"Arn": {"Value": {"Ref": "R"}}}}'
    program = f"""if True:
        import boto3, os
        stacks = boto3.client("cloudformation")
        stacks.create_stack(StackName="x", TemplateBody='{topic}')
        print(stacks.describe_stacks()["Stacks"][0]["Outputs"][0]["OutputValue"])
        print(boto3.client("sts").get_caller_identity()["Account"], os.environ["CDK_DEFAULT_ACCOUNT"])
        print(*(each["CertificateArn"] for each in boto3.client("acm").list_certificates()["CertificateSummaryList"]))
        print(*(each["TopicArn"] for each in boto3.client("sns").list_topics()["Topics"]))
    """
    options = ["--account", "210987654321", "--region", "us-west-2", "--existing", _TOPIC, "--existing", _CERTIFICATE]
    command = [sys.executable, "-m", "cdk_trainyard.local", "run", *options, "--", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_run_in_another_account(in_another_account: list[str]) -> None:
    arn, accounts, *_ = in_another_account
    assert arn.startswith("arn:aws:sns:us-west-2:210987654321:x-R-")
    assert accounts == "210987654321 210987654321"


@pytest.mark.slow
def test_run_with_what_exists(in_another_account: list[str]) -> None:
    certificates, topics = in_another_account[2:]
    assert certificates == _CERTIFICATE
    assert _TOPIC in topics.split()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ([sys.executable, "-c", ""], 0),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"], 143),
        (["no-such-command"], 127),
    ],
)
def test_exit_codes(aws: LocalAws, command: list[str], code: int) -> None:
    assert _run(command, aws) == code


def test_types_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["types"]) == 0
    assert capsys.readouterr().out.split() == sorted(supported_types())


def test_types_for_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert trainyard(["local", "types", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"types": sorted(supported_types())}


def test_a_server_for_a_program(
    aws: LocalAws, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what it is, until Ctrl-C."""

    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(local, "time", SimpleNamespace(sleep=interrupted))  # its server sleeps by the true one
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert _serve(aws, as_json=True) == 0
    said = json.loads(capsys.readouterr().out)
    environment = said.pop("environment")
    assert said == {"endpoint": aws.endpoint, "account": aws.account, "region": aws.region}
    assert environment["AWS_ENDPOINT_URL"] == aws.endpoint


@pytest.mark.parametrize("arguments", [[], ["run"], ["run", "--"], ["walk"], ["serve", "--account", "1"]])
def test_fails_on_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_the_command_is_started_ends_it(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the microseconds in which the command has begun, and has no name yet."""
    begun = []

    class Interrupted(subprocess.Popen):  # type: ignore[type-arg]  # it talks to nobody
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            begun.append(self)
            signal.raise_signal(number)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    before = signal.signal(number, _end)
    try:
        with pytest.raises(SystemExit) as caught:
            _run(["sleep", "3600"], cast("LocalAws", SimpleNamespace(environment=dict(os.environ))))
    finally:
        signal.signal(number, before)
        left = [process for process in begun if process.poll() is None]
        for process in left:
            process.kill()
            process.wait()
    assert (caught.value.code, left, [process.returncode for process in begun]) == (128 + number, [], [-signal.SIGTERM])


@pytest.mark.parametrize("hurried", [False, True])
def test_a_command_that_does_not_hear_is_killed(
    hurried: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """When its time is over, or when who has told it to end says so once more."""
    monkeypatch.setattr(local, "_PATIENCE_SECONDS", 0.1)
    if hurried:
        before = local._say
        monkeypatch.setattr(local, "_say", lambda text: (before(text), "one more" in text and sys.exit(143)))
    else:
        monkeypatch.setattr(local, "_GRACE_SECONDS", 0.1)
    words = ["bash", "-c", "trap '' TERM; echo ready; while :; do read -t 3600 <> <(:); done"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            _ended(process, "bash")
        finally:
            process.kill()
    assert process.returncode == -signal.SIGKILL
    waited, killed = capsys.readouterr().err.splitlines()
    assert waited.startswith("local AWS: bash has been told to end, and has ")
    assert killed == "local AWS: bash did not end, and was killed"


_SERVE = """if True:
    import io, sys, zipfile
    from cdk_trainyard.local.__main__ import main
    from cdk_trainyard.local.services.lambda_ import _Code
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("index.py", "")
    print(_Code.unpacked(archive.getvalue()).parent, flush=True)
    sys.exit(main(["serve", "--region", "eu-west-1"]))
"""
"""``python -m cdk_trainyard.local serve``, which has a function's code unpacked already, and says where."""


def until(last: str, stream: TextIO) -> Iterator[str]:
    """Yield the lines that a program says, up to the one that is named."""
    for line in iter(stream.readline, ""):
        yield line
        if line.rstrip() == last:
            return


@pytest.fixture
def serving() -> Iterator["subprocess.Popen[str]"]:
    """A server in a process of its own, which says that it serves."""
    command = [sys.executable, "-c", _SERVE]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509  nohup may have started this
    ) as process:
        yield process
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_serve_says_how_it_is_called_and_ends_when_it_is_told_to(
    number: signal.Signals, code: int, serving: "subprocess.Popen[str]"
) -> None:
    """Nothing is left of its functions then."""
    assert serving.stdout
    unpacked = Path(serving.stdout.readline().strip())
    assert [*unpacked.iterdir()]
    shown = promised("constructs/cdk_trainyard/local/README.md", "trainyard local serve --port 5000")
    said = [*until(shown[-1], serving.stdout)]
    assert lacking(shown, "".join(said).replace("eu-west-1", "us-east-1")) == []
    serving.send_signal(number)
    assert serving.wait(600) == code
    assert not unpacked.exists()
    assert re.search(r"^export AWS_ACCESS_KEY_ID=AKIA[A-Z2-7]{16}$", "".join(said), re.MULTILINE)


@pytest.mark.slow
def test_serve_answers_who_has_set_what_it_says(serving: "subprocess.Popen[str]") -> None:
    assert serving.stdout is not None
    lines = until("local AWS: serving who has set these; Ctrl-C ends it", serving.stdout)
    exports = dict(line.removeprefix("export ").rstrip().split("=", 1) for line in lines if line.startswith("export "))
    command = [sys.executable, "-c", _TOPICS]
    done = subprocess.run(command, env=exports, capture_output=True, text=True, check=False)
    assert done.stdout == "arn:aws:sns:eu-west-1:123456789012:x eu-west-1\n", done.stderr
    stranger = exports | {"AWS_SECRET_ACCESS_KEY": "guessed"}
    done = subprocess.run(command, env=stranger, capture_output=True, text=True, check=False)
    assert "SignatureDoesNotMatch" in done.stderr
