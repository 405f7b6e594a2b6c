"""What images are built with: the kernel is held first, EFA is what AWS signed, NVIDIA's modules are its own."""

import os
import subprocess
import tarfile
from pathlib import Path
from shutil import which

import pytest

from cdk_trainyard.node_scripts import scripts_folder

pytestmark = pytest.mark.programs

GPG, BASH = which("gpg") or "gpg", which("bash") or "bash"
KERNEL = "6.17.0-1019-aws"
CURL = 'cp -- "${WEB}/${!###*/}" .'
INSTALLER = """\
#!/bin/bash
mkdir -p "${TRAINYARD_ROOT}/opt/amazon/efa/bin"
install -m 755 "$0" "${TRAINYARD_ROOT}/opt/amazon/efa/bin/fi_info"
"""
KNOWN = "installed linux-aws\nnot-installed linux-image-unsigned\ninstalled linux-image-6.17.0-1019-aws"


class Builder:
    """A host of Image Builder: the scripts run with programs that write down how they were called."""

    def __init__(self, directory: Path) -> None:
        self.root, self.bin, self.web = (directory / name for name in ("root", "bin", "web"))
        for folder in (self.root / "etc", self.bin, self.web):
            folder.mkdir(parents=True)
        (self.root / "etc/os-release").write_text("ID=ubuntu\nVERSION_CODENAME=noble\n")
        for name in ("apt-get", "apt-mark", "modinfo"):
            self.program(name, "")
        self.program("uname", f"echo {KERNEL}")
        self.program("curl", CURL)
        self.program("dpkg-query", f"printf '%s\\n' '{KNOWN}'")

    def program(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/bash\nprintf "%s\\n" "${{0##*/}} $*" >>"{self.bin.parent}/calls"\n{body}\n')
        path.chmod(0o755)

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        known = {"TRAINYARD_ROOT": str(self.root), "WEB": str(self.web), "PATH": f"{self.bin}:{os.environ['PATH']}"}
        path = scripts_folder() / "fleet" / "image" / f"{script}.sh"
        return subprocess.run([BASH, path], env=known | environment, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> list[str]:
        path = self.bin.parent / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def host(tmp_path: Path) -> Builder:
    return Builder(tmp_path)


# ---------------------------------------------------------------- the kernel
def test_every_package_of_the_kernel_is_held(host: Builder) -> None:
    assert host.run("kernel", KERNEL=KERNEL).returncode == 0
    assert host.calls[-1] == "apt-mark hold linux-aws linux-image-6.17.0-1019-aws"


def test_another_kernel_than_everything_was_chosen_for_ends_the_build_at_once(host: Builder) -> None:
    ended = host.run("kernel", KERNEL="7.0.0-1012-aws")
    assert ended.returncode == 1
    assert f"this image has kernel {KERNEL}, and the versions that are installed were chosen for 7.0.0" in ended.stderr
    assert not any(call.startswith("apt-mark") for call in host.calls)


def test_whatever_runs_is_held_when_nothing_is_known(host: Builder) -> None:
    assert host.run("kernel").returncode == 0


def test_the_lock_of_ubuntus_own_updates_is_waited_for(host: Builder) -> None:
    host.program("sleep", "")
    host.program("apt-mark", 'mkdir "${TRAINYARD_ROOT}/first" 2>/dev/null && exit 100 || exit 0')
    assert host.run("kernel").returncode == 0
    assert [call.split()[0] for call in host.calls[-3:]] == ["apt-mark", "sleep", "apt-mark"]
    host.program("apt-mark", "exit 100")
    assert host.run("kernel").returncode == 1


def test_the_lustre_client_holds_nothing_afterwards() -> None:
    assert "apt-mark" not in (scripts_folder() / "fleet" / "image" / "lustre.sh").read_text()


# ---------------------------------------------------------------- NVIDIA
def test_nvidias_modules_are_made_for_the_kernel_that_runs(host: Builder) -> None:
    assert host.run("nvidia", NVIDIA_BRANCH="580").returncode == 0
    (install,) = [call for call in host.calls if " install " in call]
    assert f" linux-headers-{KERNEL} nvidia-dkms-580-server " in install
    assert "server-aws" not in install  # which follows the newest kernel of the archive
    assert host.calls[-1] == f"modinfo --set-version={KERNEL} nvidia"


# ---------------------------------------------------------------- EFA
def gpg(home: Path, *arguments: str) -> str:
    ran = subprocess.run(
        [GPG, "--homedir", home, "--batch", "--quiet", *arguments], capture_output=True, text=True, check=True
    )
    return ran.stdout


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("keys")
    home.chmod(0o700)
    for name in ("aws", "other"):
        gpg(home, "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "never")
    return home


def fingerprint(keys: Path, name: str) -> str:
    listed = gpg(keys, "--with-colons", "--list-keys", name).splitlines()
    return next(line.split(":")[9] for line in listed if line.startswith("fpr"))


def publish(host: Builder, keys: Path, signer: str = "aws", key: str = "aws") -> None:
    program = host.bin.parent / "efa_installer.sh"
    program.write_text(INSTALLER)
    program.chmod(0o755)
    archive = host.web / "aws-efa-installer-1.49.0.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(program, "aws-efa-installer/efa_installer.sh")
    gpg(keys, "--local-user", signer, "--detach-sign", "--output", f"{archive}.sig", str(archive))
    gpg(keys, "--armor", "--export", "--output", str(host.web / "aws-efa-installer.key"), key)


def install(host: Builder, key: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return host.run("efa", **{"EFA_INSTALLER": "1.49.0", "EFA_KEY": key, "EFA_KEEP": "yes"} | environment)


def is_installed(host: Builder) -> bool:
    return (host.root / "opt/amazon/efa/bin/fi_info").exists()


def test_an_installer_that_aws_signed_is_installed(host: Builder, keys: Path) -> None:
    publish(host, keys)
    ended = install(host, fingerprint(keys, "aws"))
    assert ended.returncode == 0, ended.stderr
    assert is_installed(host)


@pytest.mark.parametrize(("signer", "key"), [("other", "other"), ("other", "aws")])
def test_an_installer_that_another_signed_is_not(host: Builder, keys: Path, signer: str, key: str) -> None:
    """Whether the key that is served is the other's, too, or is AWS's."""
    publish(host, keys, signer, key)
    ended = install(host, fingerprint(keys, "aws"))
    assert ended.returncode == 1
    said = fingerprint(keys, "other") if key == "other" else "nobody"
    assert f"is signed by {said}, and must be by {fingerprint(keys, 'aws')}; nothing was installed" in ended.stderr
    assert not is_installed(host)


def test_an_installer_that_was_changed_is_not(host: Builder, keys: Path) -> None:
    publish(host, keys)
    with (host.web / "aws-efa-installer-1.49.0.tar.gz").open("ab") as archive:
        archive.write(b"more")
    assert "is signed by nobody" in install(host, fingerprint(keys, "aws")).stderr
    assert not is_installed(host)


def test_a_checksum_that_is_given_must_be_right_as_well(host: Builder, keys: Path) -> None:
    publish(host, keys)
    assert install(host, fingerprint(keys, "aws"), EFA_SHA256="0" * 64).returncode == 1
    assert not is_installed(host)


def test_what_the_base_has_stays(host: Builder) -> None:
    packages = host.root / "opt/amazon/efa_installed_packages"
    packages.parent.mkdir(parents=True)
    packages.write_text("# EFA installer version: 1.50.0\n")
    assert "the image has EFA already" in install(host, "any").stdout
    assert not any(call.startswith("curl") for call in host.calls)
