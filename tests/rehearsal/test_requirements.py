import os
import sys
from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import RehearsalError, _process, requirements


def test_fails_plainly_elsewhere_than_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert requirements.missing() == ["nodes boot on Linux only, this is darwin"]


def test_fails_plainly_for_others_than_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert requirements.missing()[0].startswith("nodes boot for root only")


def without(*programs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(_process, "find", lambda name: None if name in programs else f"/usr/bin/{name}")


def test_missing_programs_are_named_by_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    without("unshare", "nsenter", "systemd-nspawn", monkeypatch=monkeypatch)
    assert requirements.missing() == [
        "packages are missing: apt-get install --no-install-recommends systemd-container util-linux"
    ]


def test_fails_plainly_without_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    without("apt-get", "ip", monkeypatch=monkeypatch)
    assert requirements.missing() == [
        "the node image is built with apt, and this machine has none: rehearse on Debian 12"
    ]
    with pytest.raises(RehearsalError, match="rehearse on Debian 12"):
        requirements.install(print)


def test_nothing_is_installed_when_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch=monkeypatch)
    requirements.install(pytest.fail)


@pytest.mark.parametrize(("before", "after"), [("128", "8192"), ("65536", "65536")])
def test_more_nodes_are_watched_than_a_kernel_allows_by_itself(
    before: str, after: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text(before)
    monkeypatch.setattr(requirements, "_INOTIFY", limit)
    requirements.raise_inotify_limit()
    assert limit.read_text() == after
