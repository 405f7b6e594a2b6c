from pathlib import Path
from threading import Barrier, Thread

import pytest

from cdk_trainyard.rehearsal.cache import VARIABLE, built, cache_directory, key_of


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def test_the_directory_is_the_users_own_unless_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_directory() == tmp_path
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_directory() == Path("/somewhere/cdk-trainyard")


def test_keys_tell_parts_apart() -> None:
    assert key_of(["ab", "c"]) != key_of(["a", "bc"])
    assert key_of(["a", b"b"]) == key_of(["a", "b"])


def test_what_is_there_is_not_built_again(directory: Path) -> None:
    def build(target: Path) -> None:
        (target / "file").write_text("x")

    first = built("thing", "k", build, say=print)
    assert first == directory / "thing" / "k"
    assert (first / "file").read_text() == "x"
    assert built("thing", "k", lambda _: pytest.fail("built twice"), say=print) == first


def test_fails_without_leaving_a_half_built_one(directory: Path) -> None:
    def build(target: Path) -> None:
        (target / "file").write_text("x")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        built("thing", "k", build, say=print)
    assert [path.name for path in (directory / "thing").iterdir()] == ["k.lock"]


def test_what_a_killed_builder_left_is_removed(directory: Path) -> None:
    (directory / "thing" / "k.partial-x").mkdir(parents=True)
    built("thing", "k", lambda _: None, say=print)
    assert not (directory / "thing" / "k.partial-x").exists()


def test_two_builders_at_once_build_it_once() -> None:
    builds: list[Path] = []
    said: list[str] = []
    both = Barrier(2)

    def one() -> None:
        both.wait()
        built("thing", "k", builds.append, say=said.append)

    threads = [Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1
    assert set(said) <= {"another process builds the thing: waiting for it"}
