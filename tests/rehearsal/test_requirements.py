import os
import sys

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
