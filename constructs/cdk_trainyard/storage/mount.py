"""A file system at a path of the nodes."""

from dataclasses import dataclass

from cdk_trainyard.storage.lustre_base import Lustre
from cdk_trainyard.storage.mount_facts import MountFacts
from cdk_trainyard.storage.spec import OpenZfs


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A file system at a path.

    Attributes:
        file_system: The file system: FSx for Lustre or FSx for OpenZFS.
        at: Where it is mounted, an absolute path. Default - ``/fsx`` for Lustre, ``/home`` for OpenZFS.
    """

    file_system: Lustre | OpenZfs
    at: str | None = None

    @property
    def kind(self) -> str:
        """``Lustre`` or ``OpenZFS``; a group takes one of each."""
        return "Lustre" if isinstance(self.file_system, Lustre) else "OpenZFS"

    @property
    def path(self) -> str:
        """Where it is mounted."""
        return self.at or ("/fsx" if isinstance(self.file_system, Lustre) else "/home")

    @property
    def facts(self) -> MountFacts:
        """What rules ask of it."""
        found = self.file_system
        if not isinstance(found, Lustre):
            return MountFacts(path=self.path, kind=self.kind, identity=found.dns_name, dns_name=found.dns_name)
        return MountFacts(
            path=self.path,
            identity=found.file_system_id,
            dns_name=found.dns_name,
            zone=found.zone,
            efa_enabled=found.efa_enabled,
            lustre_version=found.lustre_version,
            subnet=None if found.subnet is None else found.subnet.subnet_id,
            file_servers=found.file_servers,
            repositories=[f"{self.path}{directory}" for directory in found.repositories],
        )
