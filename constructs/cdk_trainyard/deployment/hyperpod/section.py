"""The ``cluster:`` section with ``orchestrator: hyperpod``: the cluster's specification, and what only a file says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cdk_trainyard.hyperpod.spec import HyperPodSpec
from cdk_trainyard.hyperpod.spec_groups import InstanceGroup, Lifecycle
from cdk_trainyard.lifecycle.spec import DatabaseServer
from cdk_trainyard.network.spec import SecurityGroupId
from cdk_trainyard.options.fields import ByName, Unless
from cdk_trainyard.options.kinds import Open
from cdk_trainyard.storage.spec import AccountingSpec, SchemaName

if TYPE_CHECKING:
    from aws_cdk import aws_secretsmanager as secretsmanager


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleSection(Lifecycle):
    """What runs on a node when it starts: one of two scripts; with neither, HyperPod's image alone."""

    folder: Annotated[str | None, Open(rule="folder_problems", examples=("scripts",))] = None
    """Folder with the scripts, relative to this file. Default - the scripts that come with cdk-trainyard."""

    @property
    def is_own(self) -> bool:
        """Whether one of the project's own scripts runs."""
        return self.script is not None and self.folder is None


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupSection(InstanceGroup):
    """A group of equal nodes; its name is its key."""

    lifecycle: LifecycleSection | None = None
    """What runs when a node starts. Default - the cluster's lifecycle."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingAccounting(DatabaseServer):
    """A MySQL-compatible database that exists already."""

    secret: "secretsmanager.ISecret"
    """Secret with username and password; where a KMS key of your own encrypts it, ``controller_role`` must be one that
    may decrypt with it."""
    security_group_id: SecurityGroupId
    """Its security group; the cluster is let in."""
    rules_exist: bool = False
    """Whether it lets the nodes' group in already, which may go to it: EC2 refuses a rule that exists. Otherwise both
    rules are added. Default: false."""
    schema_name: SchemaName | None = None
    """Schema of the accounting. Default - named after the cluster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodSection(HyperPodSpec):
    """A HyperPod cluster with Slurm."""

    groups: Annotated[Sequence[GroupSection], ByName()]
    """The instance groups by name: one controller, at most one login group, one or more of compute."""
    lifecycle: LifecycleSection = LifecycleSection()
    """What runs when a node starts. Default - HyperPod's image alone."""
    accounting: Annotated[AccountingSpec | ExistingAccounting | None, Unless("endpoint")] = None
    """Database for Slurm's accounting, a new one or with ``endpoint`` one that exists; needs provisioning Continuous,
    or on_create.sh on the controller. Default - a MariaDB on the controller where HyperPod's image configures it."""

    @property
    def new_accounting(self) -> AccountingSpec | None:
        """The database that is made for the cluster. None: there is none, or it exists."""
        return self.accounting if isinstance(self.accounting, AccountingSpec) else None

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of scripts of one's own, each once."""
        used = [group.lifecycle or self.lifecycle for group in self.groups]
        return tuple(dict.fromkeys(each.folder for each in used if each.folder is not None))
