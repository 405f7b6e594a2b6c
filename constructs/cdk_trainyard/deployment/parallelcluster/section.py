"""The ``cluster:`` section with ``orchestrator: parallelcluster``: what a cluster says, and what only a file has."""

from dataclasses import dataclass
from typing import Annotated

from cdk_trainyard.options.fields import INLINE
from cdk_trainyard.options.texts import LINE
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.storage.spec import AccountingSpec, NodeGrantsSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptsSection:
    """The scripts that nodes run by name."""

    folder: Annotated[str | None, LINE] = None
    """Folder with the scripts, relative to this file. Default - the scripts that come with cdk-trainyard."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParallelClusterSection(ParallelClusterSpec):
    """A cluster of AWS ParallelCluster: Slurm, a head node, and queues of nodes that come and go."""

    scripts: ScriptsSection = ScriptsSection()
    """The scripts that nodes run by name. Default - those that come with cdk-trainyard."""
    grants: Annotated[NodeGrantsSpec, INLINE] = NodeGrantsSpec()  # noqa: RUF009  a frozen value
    """What nodes may pull and write beside what they need. Default - nothing."""

    @property
    def new_accounting(self) -> AccountingSpec | None:
        """The database that is made for the cluster. None: there is none, or it exists."""
        said = self.slurm.accounting
        return said if isinstance(said, AccountingSpec) else None
