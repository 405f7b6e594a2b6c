"""The step library, on steps of its own."""

import re
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from cdk_trainyard.lifecycle import scripts_folder

pytestmark = pytest.mark.programs

Run = Callable[..., subprocess.CompletedProcess[str]]
NOTHING = "step_one_done() { false; }\nstep_one_run() { :; }\nstep_one_verify() { :; }\n"


def provision(
    folder: Path, steps: dict[str, str], *, before: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run an entry script of steps, given by their texts, after lines of its own."""
    (folder / "steps").mkdir(exist_ok=True)
    for name, text in steps.items():
        (folder / f"steps/{name}.sh").write_text(text)
    library = scripts_folder() / "lib/steps.sh"
    (folder / "entry.sh").write_text(f'source "{library}"\n{before}\nprovision "{folder}" {" ".join(steps)}\n')
    with TemporaryFile("w+") as said:  # no pipe: what a step leaves running would keep it open
        done = subprocess.run(
            ["bash", str(folder / "entry.sh")],  # noqa: S607
            env={"PATH": "/usr/bin:/bin", "TRAINYARD_ROOT": str(folder), "TRAINYARD_LOG_GRACE": "0", **environment},
            stdout=said,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        said.seek(0)
        done.stdout = said.read()
    return done


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run an entry script of one step, ``one``, after lines of its own."""

    def start(step: str, **how: str) -> subprocess.CompletedProcess[str]:
        return provision(tmp_path, {"one": f"step one 'do one' 'the cause'\n{NOTHING}\n{step}\n"}, **how)

    return start


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The log without its times, and with N for how many seconds something took."""
    told = [line.split(" ", 1)[-1] if line[:2] == "20" else line for line in done.stdout.splitlines()]
    return [re.sub(r"(in|after) \d+ s$", r"\1 N s", line) for line in told]


def test_what_is_not_done_is_done_and_verified(run: Run) -> None:
    done = run("step_one_run() { echo running; }\nstep_one_verify() { echo verifying; }")
    assert done.returncode == 0
    assert lines(done)[1:] == [
        "[one] do one",
        "running",
        "verifying",
        "[one] done in N s",
        "[end] all steps are done, after N s",
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


def test_a_clock_that_is_set_ends_no_wait(run: Run) -> None:
    asked = 'asked() { echo >>"${ROOT}/asked"; (($(wc -l <"${ROOT}/asked") == 3)); }'
    jumps = "sleep() { SECONDS=$((SECONDS + 1000)); }"
    done = run(
        f"{asked}\n{jumps}\nstep_one_run() {{ wait_until 600 'the third time' asked; }}", TRAINYARD_DEADLINE="600"
    )
    assert done.returncode == 0, done.stdout


def test_an_equal_file_is_not_touched(run: Run, tmp_path: Path) -> None:
    step = 'step_one_run() { put_file "${ROOT}/file" 0640 text; }'
    run(step)
    before = (tmp_path / "file").stat()
    run(step)
    assert (tmp_path / "file").stat().st_ino == before.st_ino


@pytest.mark.parametrize("skipping", ["0", "1"], ids=["mv 8 and 9.5", "mv 9.2"])
def test_a_home_that_another_node_has_made_is_kept(run: Run, tmp_path: Path, skipping: str) -> None:
    (tmp_path / "skel").mkdir()
    (tmp_path / "skel/.bashrc").write_text("new")
    step = f'mv() {{ command mv "$@"; [[ $1 != -nT ]] || return {skipping}; }}\n'
    step += 'chown() { %s; }\nstep_one_run() { make_home "${ROOT}/home/ada" "$(id -un)" "${ROOT}/skel"; }'
    # the other node is faster by as much as chown takes
    assert run(step % 'mkdir -p "${ROOT}/home/ada" && echo old >"${ROOT}/home/ada/.bashrc"').returncode == 0
    assert (tmp_path / "home/ada/.bashrc").read_text() == "old\n"
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["ada"]


# ---------------------------------------------------------------- beside one another
@pytest.fixture
def run_steps(tmp_path: Path) -> Run:
    """Run an entry script of several steps: NAME=(needs, body of run); needs None: none are declared."""

    def start(*, environment: dict[str, str] | None = None, **steps: tuple[str | None, str]) -> Any:
        return provision(tmp_path, {name: text(name, *step) for name, step in steps.items()}, **(environment or {}))

    def text(name: str, needs: str | None, body: str) -> str:
        declared = "" if needs is None else f" '{needs}'"
        functions = NOTHING.replace("_one_", f"_{name}_") + f"step_{name}_run() {{\n  {body}\n}}\n"
        return f"step {name} 'do {name}' 'cause of {name}'{declared}\n{functions}"

    return start


MEET = 'touch "${{ROOT}}/{0}"; wait_until 20 "the other" test -e "${{ROOT}}/{1}"'


def waiting_for(line: str) -> str:
    """What a step says to wait until the log has a line that ends so, or goes on with a semicolon."""
    return f"wait_until 20 'the log' grep -qE '{line}(;|$)' \"${{LOG_FILE}}\""


def test_steps_without_need_of_one_another_run_at_the_same_time(run_steps: Run) -> None:
    done = run_steps(a=("", MEET.format("a", "b")), b=("", MEET.format("b", "a")))
    assert done.returncode == 0, done.stdout


def test_at_most_as_many_as_told_run_at_once(run_steps: Run) -> None:
    at_once = {"TRAINYARD_AT_ONCE": "1", "TRAINYARD_DEADLINE": "0"}
    done = run_steps(environment=at_once, a=("", MEET.format("a", "b")), b=("", MEET.format("b", "a")))
    assert done.returncode == 1
    assert "[a] waited in vain for the other" in done.stdout


def test_a_step_waits_for_what_it_needs_and_for_nothing_else(run_steps: Run) -> None:
    done = run_steps(
        slow=("", 'wait_until 20 "the last" test -e "${ROOT}/last"; touch "${ROOT}/slow"'),
        first=("", 'touch "${ROOT}/first"'),
        last=("first absent", '[[ -e ${ROOT}/first && ! -e ${ROOT}/slow ]]; touch "${ROOT}/last"'),
        end=(None, "[[ -e ${ROOT}/slow && -e ${ROOT}/last ]]"),
    )
    assert done.returncode == 0, done.stdout


def test_what_a_step_without_needs_sets_later_steps_see(run_steps: Run) -> None:
    done = run_steps(a=(None, "SEEN=yes"), b=("a", "[[ ${SEEN} == yes ]]; SEEN=no"), c=(None, "[[ ${SEEN} == yes ]]"))
    assert done.returncode == 0, done.stdout


def test_a_failure_beside_others_names_itself_and_the_others_end(run_steps: Run, tmp_path: Path) -> None:
    done = run_steps(
        bad=("", f"{waiting_for('good runs')}\n  (exit 7)"),
        good=("", f"echo 'good runs'; {waiting_for('bad failed')}; touch \"${{ROOT}}/good\"; echo raw"),
        after=("bad", 'touch "${ROOT}/after"'),
        later=("good", 'touch "${ROOT}/later"'),
    )
    told = lines(done)
    assert done.returncode == 7
    assert "[bad] FAILED in step 'bad' with exit code 7, in the command: (exit 7) (at bad.sh:7)" in told
    assert told[told.index("[bad] likely cause: cause of bad") + 1].startswith("[end] bad failed; what runs beside it")
    assert told[told.index("[good] raw") + 1].startswith("[good] done in ")
    assert (tmp_path / "good").exists()
    assert "[after]" not in done.stdout
    assert "[later]" not in done.stdout
    assert told[-1].startswith("[end] failed: bad, see above; nothing is undone; run ")


def test_two_failures_are_both_told(run_steps: Run) -> None:
    done = run_steps(
        a=("", f"echo 'a runs'; {waiting_for('b failed')}; false"),
        b=("", f"{waiting_for('a runs')}; fail 'the sentence'"),
    )
    assert "[b] ERROR: the sentence" in lines(done)
    assert "[a] likely cause: cause of a" in lines(done)
    assert lines(done)[-1].startswith("[end] failed: b, a, see above")


def test_a_step_whose_shell_is_killed_is_a_failure(run_steps: Run) -> None:
    done = run_steps(a=("", "kill -KILL $BASHPID"), b=("a", "echo never"))
    assert done.returncode == 137
    assert "failed: a, see above" in lines(done)[-1]


def test_a_step_whose_waiting_shell_is_killed_is_a_failure(run_steps: Run) -> None:
    done = run_steps(
        a=("", "read -r _ _ _ parent _ </proc/${BASHPID}/stat; kill -KILL ${parent}"), b=("a", "echo never")
    )
    assert done.returncode == 137
    assert "[end] ERROR: the shell that waits for the step a was killed" in lines(done)
    assert "failed: a, see above" in lines(done)[-1]


def test_a_run_waits_for_the_steps_of_one_that_was_killed(run_steps: Run, tmp_path: Path) -> None:
    log, order = tmp_path / "var/log/provision/provisioning.log", tmp_path / "order"
    order.touch()
    wait = "wait_until 60 'the word' test -e \"${ROOT}/go\""
    work = f'echo begin >>"${{ROOT}}/order"; {wait}; echo end >>"${{ROOT}}/order"'
    with ThreadPoolExecutor(1) as pool:
        assert run_steps(a=("", f'kill -KILL "$$"; {work}')).returncode == -9
        second = pool.submit(run_steps, a=("", work))
        while "another run has not ended" not in log.read_text() and order.read_text().count("begin") < 2:
            time.sleep(0.05)
        (tmp_path / "go").touch()
        assert second.result().returncode == 0, log.read_text()
    assert order.read_text().split() == ["begin", "end", "begin", "end"]


def test_what_a_step_leaves_running_keeps_no_run_waiting(run_steps: Run) -> None:
    daemon = "setsid sleep 20 >/dev/null 2>&1 &"
    assert run_steps(a=("", daemon), b=(None, daemon)).returncode == 0
    done = run_steps(a=("", "true"))
    assert done.returncode == 0
    assert "another run" not in done.stdout


def test_a_run_that_is_told_to_end_waits_for_what_runs(run_steps: Run, tmp_path: Path) -> None:
    done = run_steps(a=("", 'kill -TERM $$; sleep 0.5; touch "${ROOT}/whole"'), b=("a", "echo never"))
    assert done.returncode == 143
    assert (tmp_path / "whole").exists()
    assert "[b]" not in done.stdout


def test_a_need_that_cannot_be_met_ends_the_run(run_steps: Run) -> None:
    done = run_steps(a=("b", "echo never"), b=("a", "echo never"))
    assert done.returncode == 1
    assert "[end] ERROR: the step a cannot start: it needs b" in lines(done)


def test_lines_of_steps_are_whole_and_say_whose_they_are(run_steps: Run) -> None:
    chat = "for n in {1..200}; do printf %s {0}; printf '%s\\n' {0}{0}; done"
    done = run_steps(**{name: ("", chat.replace("{0}", name * 20)) for name in ("a", "b", "c")})
    assert done.returncode == 0
    said = [
        line
        for line in lines(done)
        if "do " not in line and "done in" not in line and line[:3] in {"[a]", "[b]", "[c]"}
    ]
    assert len(said) == 600
    assert [line for line in said if line != f"[{line[1]}] {line[1] * 60}"] == []


def test_two_steps_that_change_one_file_lose_nothing(run_steps: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old\n")
    body = 'added() { cat "${ROOT}/file"; sleep 0.2; echo {0}; }; rewrite "${ROOT}/file" 0644 added'
    done = run_steps(**{name: ("", body.replace("{0}", name)) for name in ("a", "b", "c")})
    assert done.returncode == 0, done.stdout
    assert sorted((tmp_path / "file").read_text().split()) == ["a", "b", "c", "old"]
