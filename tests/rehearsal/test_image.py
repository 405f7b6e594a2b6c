from pathlib import Path

import pytest

from cdk_trainyard.rehearsal import RehearsalError, image


def test_the_machines_own_archive_is_used() -> None:
    targets = (
        "https://mirror.example/debian/|bookworm|bookworm|main|Debian|$(SIGNED_BY)\n"
        "https://mirror.example/debian/|bookworm-updates|bookworm-updates|main|Debian|/usr/share/keyrings/d.gpg\n"
        "https://mirror.example/security/|stable-security|bookworm-security|main|Debian|$(SIGNED_BY)\n"
        "https://mirror.example/backports/|trixie|trixie|main|Debian|$(SIGNED_BY)\n"
        "https://vendor.example/apt/|bookworm|bookworm|main|Vendor|$(SIGNED_BY)\n"
    )
    assert image.archive_sources(targets) == [
        "deb [signed-by=/usr/share/keyrings/d.gpg] https://mirror.example/debian/ bookworm-updates main",
        "deb https://mirror.example/debian/ bookworm main",
        "deb https://mirror.example/security/ stable-security main",
    ]


@pytest.mark.parametrize("targets", ["", "https://u.example/|noble|noble|main|Ubuntu|$(SIGNED_BY)\n"])
def test_fails_without_a_debian_archive(targets: str) -> None:
    with pytest.raises(RehearsalError, match="knows no Debian bookworm archive; run 'apt-get update'"):
        image.archive_sources(targets)


def test_only_the_way_to_the_archive_is_passed_on() -> None:
    dump = 'APT "";\nAcquire::http "";\nAcquire::http::Proxy "http://p:1";\nAcquire::Retries "3";\nDpkg::Tools "x";\n'
    assert image.apt_options(dump) == ['Acquire::http::Proxy "http://p:1";', 'Acquire::Retries "3";']


def test_the_packages_have_what_the_scripts_start() -> None:
    assert {"systemd-sysv", "slurmctld", "slurmd", "slurmdbd", "munge", "mariadb-server"} <= set(image.packages())
    assert not [name for name in image.packages() if "#" in name or " " in name]


def test_another_content_is_another_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "packages.txt").write_text("one\n")
    monkeypatch.setattr(image, "_DATA", tmp_path)
    first = image.image_key()
    assert first == image.image_key()
    (tmp_path / "packages.txt").write_text("two\n")
    assert first != image.image_key()
