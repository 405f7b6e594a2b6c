"""What a deployment file says: one frozen value for one environment. No CDK: a file is judged with it alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from cdk_trainyard.deployment._document import Document
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.deployment.orchestrators import OrchestratorName, orchestrators, spec_of
from cdk_trainyard.deployment.serving.section import ServingSection
from cdk_trainyard.deployment.storage import StorageSection
from cdk_trainyard.identifiers import stack_name
from cdk_trainyard.instances import regions
from cdk_trainyard.instances.kind import RegionName
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.options.accounts import ACCOUNT
from cdk_trainyard.options.fields import Chosen, Unless
from cdk_trainyard.options.kinds import Environment, Text
from cdk_trainyard.options.tags import TagKey, TagValue
from cdk_trainyard.storage.spec import AccountingSpec
from cdk_trainyard.tokens import unresolved

_LONGEST_STACK_NAME = 128  # CreateStack, StackName: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/
LONGEST_NAME: Final = _LONGEST_STACK_NAME - len(stack_name("", "training"))


@dataclass(frozen=True, kw_only=True, slots=True)
class DeploymentSpec:
    """A network, what is stored, and what computes, in one account and Region."""

    name: Annotated[
        str,
        Text(
            pattern=r"[a-zA-Z][a-zA-Z0-9-]*",
            words="letters, digits and hyphens, beginning with a letter",
            example="llama2",
            longest=LONGEST_NAME,
        ),
    ]
    """Its name, with which the names of its stacks begin (name-network, name-storage, name-training)."""
    region: Annotated[str, RegionName()]
    """The AWS Region."""
    account: Annotated[str | None, ACCOUNT] = None
    """The AWS account, in quotes. Default - the account of the credentials in use."""
    tags: Mapping[TagKey, TagValue] = field(default_factory=dict)
    """Tags of everything that can have tags. Default - none."""
    network: Annotated[NetworkSpec | ExistingNetworkSpec, Unless("vpc_id")]
    """A new VPC, or with vpc_id one that exists."""
    storage: StorageSection = StorageSection()  # noqa: RUF009  a frozen value
    """Shared file systems and buckets. Default - no file system, and buckets for every purpose."""
    orchestrator: Annotated[str | None, OrchestratorName()] = None
    """What runs the jobs. Default - nothing: the deployment only serves."""
    cluster: Annotated[Any, Chosen("orchestrator", spec_of, orchestrators)] = None
    """The cluster; its keys depend on the orchestrator, see below. Default - none, with serving."""
    serving: ServingSection | None = None
    """A model that is served, from the deployment's models bucket. Default - none."""
    alerts: AlertsSection | None = None
    """Who is told of trouble; with parallelcluster only beside ``monitoring`` or ``serving``. Default - nobody."""

    monitoring: MonitoringSection | None = None
    """Metrics of what computes and serves, and alarms on them; of clusters with hyperpod. Default - none."""

    _document: Document | None = field(default=None, compare=False, repr=False)

    @property
    def environment(self) -> Environment:
        """Where it goes, as far as that is known."""
        return Environment(
            region=None if unresolved(self.region) else self.region,
            account=None if unresolved(self.account) else self.account,
            regions=frozenset(regions()),
        )

    @property
    def new_accounting(self) -> AccountingSpec | None:
        """The database of Slurm's accounting that is made with the storage. None: there is none, or it exists."""
        found = getattr(self.cluster, "new_accounting", None)
        return found if isinstance(found, AccountingSpec) else None

    @property
    def document(self) -> Document | None:
        """The file with the places of its keys; None when the deployment was made in Python."""
        return self._document

    def resolve_path(self, path: str) -> Path:
        """Return a path of the file's, which is relative to the file's own directory."""
        return Path(self._document.file).parent / path if self._document else Path(path)
