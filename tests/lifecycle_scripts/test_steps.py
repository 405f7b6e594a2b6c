"""The step library, on steps of its own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cdk_trainyard.lifecycle import scripts_folder

Run = Callable[..., subprocess.CompletedProcess[str]]
NOTHING = "step_one_done() { false; }\nstep_one_run() { :; }\nstep_one_verify() { :; }\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run an entry script of one step, ``one``, after lines of its own."""

    def start(step: str, *, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "steps").mkdir(exist_ok=True)
        (tmp_path / "steps/one.sh").write_text(f"step one 'do one' 'the cause'\n{NOTHING}\n{step}\n")
        library = scripts_folder() / "lib/steps.sh"
        (tmp_path / "entry.sh").write_text(f'source "{library}"\n{before}\nprovision "{tmp_path}" one\n')
        return subprocess.run(
            ["bash", str(tmp_path / "entry.sh")],  # noqa: S607
            env={
                "PATH": "/usr/bin:/bin",
                "TRAINYARD_ROOT": str(tmp_path),
                "TRAINYARD_LOG_GRACE": "0",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )

    return start


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The log without its times."""
    return [line.split(" ", 1)[-1] if line[:2] == "20" else line for line in done.stdout.splitlines()]


def test_what_is_not_done_is_done_and_verified(run: Run) -> None:
    done = run("step_one_run() { echo running; }\nstep_one_verify() { echo verifying; }")
    assert done.returncode == 0
    assert lines(done)[1:] == [
        "[one] do one",
        "running",
        "verifying",
        "[one] done in 0 s",
        "[end] all steps are done, after 0 s",
    ]


def test_what_is_done_is_left_alone(run: Run) -> None:
    done = run("step_one_done() { true; }\nstep_one_run() { exit 9; }")
    assert done.returncode == 0
    assert lines(done)[1] == "[one] do one: nothing to do"


def test_the_log_is_appended_to_where_hyperpod_ships_it_from(run: Run, tmp_path: Path) -> None:
    first, second = run(""), run("")
    assert (tmp_path / "var/log/provision/provisioning.log").read_text() == first.stdout + second.stdout


@pytest.mark.parametrize(
    ("body", "command", "code"),
    [
        ("(exit 7)", "(exit 7)", 7),
        ("false | cat", "false | cat", 1),
        ("x=$(exit 3)", "x=$(exit 3)", 3),
        ("no-such-program --fast", "no-such-program --fast", 127),
        ("helper 4", "helper 4", 4),
    ],
)
def test_a_failure_names_step_command_place_code_and_cause(run: Run, body: str, command: str, code: int) -> None:
    done = run(f"helper() {{\n  return $1\n}}\nstep_one_run() {{\n  {body}\n}}")
    assert done.returncode == code
    assert lines(done)[-3].endswith(f"in step 'one' with exit code {code}, in the command: {command} (at one.sh:10)")
    assert lines(done)[-2] == "[one] likely cause: the cause"


def test_an_unset_variable_fails(run: Run) -> None:
    done = run('step_one_run() { echo "${missing}"; }')
    assert done.returncode == 1
    assert "missing: unbound variable" in done.stdout
    assert "[one] likely cause: the cause" in done.stdout


def test_a_verification_that_fails_fails_the_run(run: Run) -> None:
    done = run("step_one_verify() {\n  test 1 = 2\n}")
    assert done.returncode == 1
    assert "in the command: test 1 = 2 (at one.sh:7)" in done.stdout


def test_fail_says_the_sentence_and_nothing_of_commands(run: Run) -> None:
    done = run("step_one_run() { fail 'the disk is full'; }")
    assert done.returncode == 1
    assert lines(done)[-4:-2] == ["[one] ERROR: the disk is full", "[one] FAILED in step 'one' with exit code 1"]


def test_values_of_variables_never_reach_the_log(run: Run) -> None:
    done = run('step_one_run() {\n  grep "${PASSWORD}" /dev/null\n}', PASSWORD="hunter2")  # noqa: S106
    assert done.returncode == 1
    assert "hunter2" not in done.stdout
    assert 'in the command: grep "${PASSWORD}" /dev/null (at one.sh:7)' in done.stdout


def test_a_terminated_run_says_where_it_was(run: Run) -> None:
    done = run("step_one_run() { kill -TERM $$; sleep 1; }")
    assert done.returncode == 143
    assert "FAILED in step 'one' with exit code 143" in done.stdout


def test_a_failed_run_stays_until_its_log_is_shipped(run: Run) -> None:
    stubs = 'sync() { echo synced >&2; }; sleep() { echo slept "$@" >&2; }\n'
    failed = run("step_one_run() { false; }", before=stubs, TRAINYARD_LOG_GRACE="60")
    assert failed.stdout.endswith("synced\nslept 60\n")
    assert "slept" not in run("", before=stubs).stdout


# ---------------------------------------------------------------- wait_until
def test_waiting_ends_when_the_answer_comes(run: Run) -> None:
    done = run(
        'answer() { echo x >>"${ROOT}/asked"; [[ $(grep -c x "${ROOT}/asked") == 3 ]]; }\n'
        "step_one_run() { wait_until 20 'the answer' answer; }"
    )
    assert done.returncode == 0


def test_waiting_ends_at_the_deadline_with_the_last_word(run: Run) -> None:
    done = run("step_one_run() { wait_until 600 'the answer' ls /no/such/file; }", TRAINYARD_DEADLINE="0")
    assert done.returncode == 1
    assert "[one] waited in vain for the answer: ls: cannot access" in done.stdout


# ---------------------------------------------------------------- put_file and make_home
def test_a_file_is_written_whole_with_its_mode(run: Run, tmp_path: Path) -> None:
    assert run("step_one_run() { put_file \"${ROOT}/new/file\" 0640 $'a\\nb'; }").returncode == 0
    assert (tmp_path / "new/file").read_text() == "a\nb\n"
    assert (tmp_path / "new/file").stat().st_mode & 0o777 == 0o640
    assert list((tmp_path / "new").iterdir()) == [tmp_path / "new/file"]


def test_an_equal_file_is_not_touched(run: Run, tmp_path: Path) -> None:
    step = 'step_one_run() { put_file "${ROOT}/file" 0640 text; }'
    run(step)
    before = (tmp_path / "file").stat()
    run(step)
    assert (tmp_path / "file").stat().st_ino == before.st_ino


def test_a_home_that_another_node_has_made_is_kept(run: Run, tmp_path: Path) -> None:
    (tmp_path / "skel").mkdir()
    (tmp_path / "skel/.bashrc").write_text("new")
    step = 'chown() { %s; }\nstep_one_run() { make_home "${ROOT}/home/ada" "$(id -un)" "${ROOT}/skel"; }'
    # the other node is faster by as much as chown takes
    assert run(step % 'mkdir -p "${ROOT}/home/ada" && echo old >"${ROOT}/home/ada/.bashrc"').returncode == 0
    assert (tmp_path / "home/ada/.bashrc").read_text() == "old\n"
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["ada"]
