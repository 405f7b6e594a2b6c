"""Which operating system a rehearsal node says it is: the image is Debian, the scripts ask for what the cluster has.

Debian has dnf 4.14, as Amazon Linux 2023, and a later rpm. Two settings make them what they are there.
"""

from cdk_trainyard.rehearsal.nodes import NodeFile

_RELEASES = {
    "ubuntu2204": ("Ubuntu 22.04 (stand-in)", "ubuntu", "22.04", "jammy"),
    "ubuntu2404": ("Ubuntu 24.04 (stand-in)", "ubuntu", "24.04", "noble"),
    "alinux2023": ("Amazon Linux 2023 (stand-in)", "amzn", "2023", ""),
}
_DNF_FILES = {
    "/etc/rpm/macros": NodeFile(text="%_dbpath /var/lib/rpm\n"),  # Debian has a database for each user
    "/etc/dnf/vars/releasever": NodeFile(text="2023\n"),  # no package of rpm says it here
}


def system_files(system: str) -> dict[str, NodeFile]:
    """Return what says that a node is a system of ParallelCluster; for one that is not known here, Debian's stays.

    Args:
        system: As ``Image.Os`` of ParallelCluster has it.
    """
    if system not in _RELEASES:
        return {}
    title, name, version, codename = _RELEASES[system]
    lines = {"PRETTY_NAME": title, "ID": name, "VERSION_ID": version}
    lines |= {"VERSION_CODENAME": codename} if codename else {}
    text = "".join(f'{key}="{value}"\n' for key, value in lines.items())
    return {"/usr/lib/os-release": NodeFile(text=text)} | (_DNF_FILES if name == "amzn" else {})
