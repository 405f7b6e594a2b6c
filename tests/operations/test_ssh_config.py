"""Entries for ssh: written twice is written once, and what is not ours stays as it is."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.cli import main
from cdk_trainyard.local import LocalAws
from cdk_trainyard.operations import Node, OperationError, proxy
from cdk_trainyard.operations.ssh_config import Entries, included, markers, not_included, put, taken
from tests.deployed import deploy
from tests.operations.asked import asked
from tests.operations.pages import permissions
from tests.operations.stages import PARALLELCLUSTER, SERVING, hosts, queue_node

NODES = [
    Node(id="i-1", group="head", type="m5.large", state="Running", target="i-1", is_head=True),
    Node(id="i-2", group="workers", type="c5.large", state="Running", target="c:a_w-i-2", slurm_name="ip-10-0-0-2"),
    Node(id="slot", group="workers", type="c5.large", state="Pending"),
]
MINE = Entries(name="mine", region="us-east-1", user="ubuntu", proxy=["/a b/100%/python", "-m", "x"])
OURS = MINE.text(NODES)
OTHERS = Entries(name="mine", region="us-west-2", user="me", proxy=["x"], identity="~/.ssh/50%").text(NODES)
FOREIGN = st.lists(
    st.sampled_from(["Host x\n", "  Port 2222\n", "# note\n", "\n", "Match all\r\n", "Include other.conf\n", "\t#\n"])
).map("".join)
FILES = st.tuples(FOREIGN, st.sampled_from(["", "Host last", OTHERS]), st.booleans()).map(
    lambda parts: parts[1] + parts[0] if parts[2] else parts[0] + parts[1]
)


def test_the_entries() -> None:
    assert OURS == (
        "# trainyard: mine in us-east-1 begins\n"
        "Host mine mine-head-1 i-1\n  HostName i-1\n  HostKeyAlias i-1\n  User ubuntu\n"
        "  StrictHostKeyChecking accept-new\n"
        "  ProxyCommand '/a b/100%%/python' -m x us-east-1 i-1 %p\n"
        "Host mine-workers-1 i-2 mine-ip-10-0-0-2\n  HostName i-2\n  HostKeyAlias i-2\n  User ubuntu\n"
        "  StrictHostKeyChecking accept-new\n"
        "  ProxyCommand '/a b/100%%/python' -m x us-east-1 c:a_w-i-2 %p\n"
        "# trainyard: mine in us-east-1 ends\n"
    )
    assert '  IdentityFile "~/.ssh/50%%"\n' in OTHERS


@given(FILES)
def test_written_twice_is_written_once(text: str) -> None:
    once = put(text, OURS)
    assert put(once, OURS) == once
    assert once.count(OURS) == 1
    newer = MINE.text(NODES[:1])
    assert put(once, newer) == once.replace(OURS, newer)


@given(FILES)
def test_what_is_not_ours_stays(text: str) -> None:
    whole = text if text.endswith("\n") or not text else f"{text}\n"
    assert taken(put(text, OURS), "mine", "us-east-1") == whole
    assert taken(text, "mine", "us-east-1") == text
    assert put(text, OURS).startswith(text)


@given(FILES)
def test_the_line_that_includes_is_there_once_and_first(text: str) -> None:
    once = included(text)
    assert once == f"Include trainyard.conf\n{text}"
    assert included(once) == once
    assert not_included(once) == text


@pytest.mark.parametrize(
    "line", ["include ~/.ssh/trainyard.conf", 'Include "/home/me/.ssh/trainyard.conf" x', "Include=trainyard.conf"]
)
def test_an_include_that_holds_for_all_hosts_is_enough(line: str) -> None:
    assert included(f"# note\n{line}\nHost x\n") == f"# note\n{line}\nHost x\n"
    assert included(f"Host x\n{line}\n").startswith("Include trainyard.conf\n")


@pytest.mark.parametrize("lines", [(0,), (1,), (1, 0), (0, 1, 0)])
def test_markers_that_somebody_has_broken_are_refused(lines: tuple[int, ...]) -> None:
    text = "".join(f"{markers('mine', 'us-east-1')[line]}\n" for line in lines)
    with pytest.raises(OperationError, match="are not there once each"):
        put(text, OURS)
    with pytest.raises(OperationError, match="are not there once each"):
        taken(text, "mine", "us-east-1")


def test_the_proxy_keeps_a_profile() -> None:
    assert proxy.words("/p", "x") == ["env", "AWS_PROFILE=x", "/p", "-P", "-m", "cdk_trainyard.operations.proxy"]
    assert proxy.words("/p")[0] == "/p"


class TestCommand:
    """The command, in a home of its own."""

    FILES = ("hyperpod-cpu-ddp", "fleet-p3dn-bert")

    @pytest.fixture(autouse=True)
    def home(self, here: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        for name in self.FILES:
            deploy(here, name)
        monkeypatch.setenv("HOME", str(tmp_path))
        return tmp_path / ".ssh"

    def ssh_config(self, name: str, *words: str) -> int:
        return main(["ssh-config", f"deployments/{name}.yaml", *words])

    def test_two_deployments_come_and_go(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        home.mkdir()
        (home / "real").write_text("Host x\n  Port 1\n")
        (home / "real").chmod(0o640)
        (home / "config").symlink_to("real")
        for name in self.FILES:
            assert self.ssh_config(name) == 0
            assert "+++" in capsys.readouterr().out
        assert (home / "config").is_symlink()
        assert (home / "real").read_text() == "Include trainyard.conf\nHost x\n  Port 1\n"
        modes = [stat.S_IMODE((home / name).stat().st_mode) for name in ("real", "trainyard.conf")]
        assert modes == [0o640, 0o600]
        text = (home / "trainyard.conf").read_text()
        assert text.count("\nHost hyperpod-cpu-ddp") == 3
        assert text.count("\nHost fleet-p3dn-bert") == 9
        assert self.ssh_config(self.FILES[0]) == 0
        assert capsys.readouterr().out == "nothing changes\n"
        assert self.ssh_config(self.FILES[0], "--remove") == 0
        assert (home / "trainyard.conf").read_text().count("\nHost ") == 9
        assert "Include" in (home / "real").read_text()
        assert self.ssh_config(self.FILES[1], "--remove") == 0
        assert (home / "real").read_text() == "Host x\n  Port 1\n"
        assert sorted(path.name for path in home.iterdir()) == ["config", "real", "trainyard.conf"]

    def test_a_file_of_ones_own(self, home: Path, tmp_path: Path) -> None:
        assert self.ssh_config(self.FILES[0], "--file", str(tmp_path / "x"), "--user", "me") == 0
        assert (tmp_path / "x").read_text().count("  User me\n") == 3
        assert not home.exists()

    def test_what_cannot_be_written_is_said(
        self, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        home.mkdir()
        (home / "trainyard.conf").write_text("# trainyard: hyperpod-cpu-ddp in us-east-1 begins\n")
        assert self.ssh_config(self.FILES[0], "--remove") == 1
        assert f"{home / 'trainyard.conf'}: the lines '# trainyard" in capsys.readouterr().err
        assert self.ssh_config(self.FILES[0], "--file", str(tmp_path)) == 1
        assert "Is a directory" in capsys.readouterr().err
        (home / "trainyard.conf").write_bytes(b"\xff")
        assert self.ssh_config(self.FILES[0]) == 1
        assert "no text in UTF-8" in capsys.readouterr().err

    @pytest.mark.slow
    @pytest.mark.parametrize("name", [*FILES, PARALLELCLUSTER, SERVING])
    def test_the_page_names_the_permissions(self, here: LocalAws, home: Path, name: str) -> None:
        deploy(here, name)
        made = {PARALLELCLUSTER: lambda: [queue_node(here, "trn1-st-trn1-32xlarge-1")], SERVING: lambda: hosts(here)}
        ids = made.get(name, list)()
        with asked() as kept:
            assert self.ssh_config(name) == 0
        assert kept.permissions == permissions("ssh-config", name)
        text = (home / "trainyard.conf").read_text()
        assert [each for each in ids if f" {each} %p" not in text] == []
        if name == PARALLELCLUSTER:
            assert f" {name}-trn1-st-trn1-32xlarge-1\n" in text
            assert f"Host {name} " in text
