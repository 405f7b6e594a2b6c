"""The folder as a value: what is in it, and a hash that is the same on any machine."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.lifecycle import scripts_folder
from cdk_trainyard.lifecycle.bundle import Bundle, BundleFile, default_folders, read_bundle


def bundle_of(**files: bytes) -> Bundle:
    return Bundle(files=tuple(BundleFile(name=name, data=data) for name, data in sorted(files.items())))


def test_every_file_is_read_in_a_stable_order(folder: Path) -> None:
    (folder / "Z").write_bytes(b"\0\1")
    bundle = read_bundle(("", folder))
    assert bundle.names == ["Z", "lib/helper.sh", "on_create.sh"]
    assert [file.executable for file in bundle.files] == [False, False, True]
    assert [file.is_text for file in bundle.files] == [False, True, True]


def test_what_editors_python_and_git_leave_behind_is_not_read(folder: Path) -> None:
    before = read_bundle(("", folder))
    for path in [
        "__pycache__/x.pyc",
        ".git/config",
        ".DS_Store",
        "lib/helper.sh~",
        "lib/.helper.sh.swp",
        "a.pyc",
        ".idea/x",
    ]:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("x")
    assert read_bundle(("", folder)) == before


def test_folders_are_laid_over_one_another(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/helper.sh").write_text("false\n")
    bundle = read_bundle(("", folder), ("lib", tmp_path / "more"))
    assert bundle.names == ["lib/helper.sh", "on_create.sh"]
    assert bundle.find("lib/helper.sh") == BundleFile(name="lib/helper.sh", data=b"false\n")


def test_a_link_within_the_folder_is_the_file_it_stands_for(folder: Path) -> None:
    (folder / "again.sh").symlink_to("lib/helper.sh")
    assert read_bundle(("", folder)).find("again.sh") == BundleFile(name="again.sh", data=b"true\n")


def test_links_that_lead_out_and_special_files_are_not_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "nowhere").symlink_to("no-such-file")
    (folder / "to_lib").symlink_to("lib")
    os.mkfifo(folder / "pipe")
    bundle = read_bundle(("", folder))
    assert bundle.unreadable == ("nowhere", "out", "pipe", "to_lib")
    assert bundle.names == ["lib/helper.sh", "on_create.sh"]


def test_what_nobody_may_ask_about_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Path.is_dir

    def refuse(path: Path) -> bool:
        if path.name == "lib":
            raise PermissionError
        return asked(path)

    monkeypatch.setattr(Path, "is_dir", refuse)
    bundle = read_bundle(("", folder))
    assert "lib" in bundle.unreadable
    assert "lib/helper.sh" not in bundle.names


def test_the_hash_knows_neither_place_nor_modes_nor_times(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "deep"
    shutil.copytree(folder, other, copy_function=shutil.copyfile)  # copies neither modes nor times
    assert read_bundle(("", other)).digest() == read_bundle(("", folder)).digest()


def test_the_hash_is_pinned() -> None:
    """A changed algorithm gives every cluster a new address of its scripts: never by accident."""
    bundle = bundle_of(a=b"1", b=b"")
    assert bundle.digest() == "8d792d649dace668665ca2144af2648966377651fefd588cc0ec0b9731479143"


@given(
    st.dictionaries(st.text("ab/", min_size=1, max_size=3), st.binary(max_size=3), max_size=3),
    st.dictionaries(st.text("ab/", min_size=1, max_size=3), st.binary(max_size=3), max_size=3),
)
def test_different_folders_have_different_hashes(first: dict[str, bytes], second: dict[str, bytes]) -> None:
    assert (bundle_of(**first).digest() == bundle_of(**second).digest()) == (first == second)


def test_what_is_written_has_the_same_modes_everywhere(folder: Path, tmp_path: Path) -> None:
    (folder / "lib/helper.sh").chmod(0o600)
    before = os.umask(0o077)
    try:
        read_bundle(("", folder)).write(tmp_path / "out")
    finally:
        os.umask(before)
    assert (tmp_path / "out/on_create.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out/lib/helper.sh").stat().st_mode & 0o777 == 0o644


def test_the_projects_own_scripts_are_self_contained() -> None:
    names = read_bundle(*default_folders()).names
    assert {"on_create.sh", "on_init_complete.sh", "lib/steps.sh", "resource_config.py"} <= set(names)
    assert scripts_folder().name == "lifecycle_scripts"
