"""From a path to text: everything that a path can be instead of a deployment file."""

import os
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from cdk_trainyard.deployment._load import read_text
from cdk_trainyard.errors import ConfigurationError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deployments").mkdir()
    for name in ("cpu.yaml", "trn1.yaml", "notes.txt"):
        (tmp_path / "deployments" / name).write_text("name: x\n")
    return tmp_path


def problems_of(path: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        read_text(Path(path))
    assert caught.value.path == str(Path(path))
    return list(caught.value.problems)


def test_a_file_is_read_with_or_without_a_byte_order_mark(folder: Path) -> None:
    assert read_text(Path("deployments/cpu.yaml")) == "name: x\n"
    (folder / "bom.yaml").write_bytes(b"\xef\xbb\xbfname: \xc3\xa9\n")
    assert read_text(Path("bom.yaml")) == "name: é\n"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("deployments/cpuu.yaml", "the file does not exist; did you mean 'cpu.yaml'?"),
        ("deployments/zzzzzzzzzzzzzz", "the file does not exist; 'deployments' has cpu.yaml, trn1.yaml"),
        ("deployment/cpu.yaml", "the file does not exist; neither does its directory 'deployment'"),
        ("nothing.yaml", "the file does not exist; '.' has no .yaml or .yml file"),
        (
            "deployments",
            "this is a directory, not a file; name a file in it: cpu.yaml, trn1.yaml",
        ),
        ("", "this is a directory, not a file"),
        ("deployments/cpu.yaml/x", "the file cannot be read: Not a directory"),
        ("x\0y", "the file cannot be read: embedded null byte"),
        ("n" * 300, "the file cannot be read: File name too long"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_fails_for_a_path_to_no_file(path: str, says: str) -> None:
    assert problems_of(path) == [says]


def test_fails_for_text_that_is_not_utf_8(folder: Path) -> None:
    (folder / "latin.yaml").write_bytes(b"name: x\nowner: J\xfcrgen\n")
    assert problems_of("latin.yaml") == ["latin.yaml:2:9: byte 0xfc is not UTF-8; save the file as UTF-8"]


@pytest.mark.parametrize("before", ["\ufeffname: x\nowner: J", "name: x\nowner: é", "\ufeffname: x\nowner: é"])
def test_fails_for_text_that_is_not_utf_8_where_an_editor_shows_it(folder: Path, before: str) -> None:
    """A byte order mark is no character of the file, and a character may be several bytes."""
    (folder / "mixed.yaml").write_bytes(before.encode() + b"\xfcrgen\n")
    assert problems_of("mixed.yaml") == ["mixed.yaml:2:9: byte 0xfc is not UTF-8; save the file as UTF-8"]


def test_fails_for_a_huge_file_without_reading_it_whole(folder: Path) -> None:
    with (folder / "huge.yaml").open("wb") as stream:
        stream.truncate(8 * 2**30)
    assert problems_of("huge.yaml") == ["the file is larger than 256 KiB; is it a deployment file?"]


def test_fails_for_what_is_no_file_without_waiting(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")
    for path in ("pipe.yaml", "/dev/zero"):
        assert problems_of(path) == ["this is a pipe, a socket or a device, not a file"]
    with socket(AF_UNIX) as listener:
        listener.bind(str(folder / "socket.yaml"))
        assert problems_of("socket.yaml")
