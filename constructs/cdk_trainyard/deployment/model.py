"""The deployment file as a whole: one frozen value for one environment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import Field, PrivateAttr, ValidationError

from cdk_trainyard.deployment._checks import house_problems
from cdk_trainyard.deployment._document import Document, KeyPath, read_document, write_document
from cdk_trainyard.deployment._document import Problem as FileProblem
from cdk_trainyard.deployment._load import read_text
from cdk_trainyard.deployment._messages import translate
from cdk_trainyard.deployment._on_demand import OnDemand
from cdk_trainyard.deployment._schema import schema_of
from cdk_trainyard.deployment._section import LAX, Section, TagKey, TagValue, text
from cdk_trainyard.deployment._sections import Said, Sections
from cdk_trainyard.deployment._specified import read_specified
from cdk_trainyard.deployment.accounting import AccountingSection
from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.network import NETWORK, AnyNetwork
from cdk_trainyard.deployment.storage import BUCKETS, LUSTRE, OPEN_ZFS, StorageSection
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.options.fields import Part
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import Problem, sentence

if TYPE_CHECKING:
    from cdk_trainyard.deployment.serving.section import ServingSection
else:
    ServingSection = Any  # its model is imported when a file serves

SPECIFIED: Final[Mapping[KeyPath, Part]] = {
    ("network",): NETWORK,
    ("storage", "lustre"): LUSTRE,
    ("storage", "open_zfs"): OPEN_ZFS,
    ("storage", "buckets"): BUCKETS,
}
"""The sections that are specifications of a room."""
_LONGEST_SUFFIX = len("-training")
_LONGEST_STACK_NAME = 128  # CreateStack, StackName: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/


class Orchestrator(StrEnum):
    """What runs the jobs on the nodes; it decides what the ``cluster:`` section is."""

    HYPERPOD = "hyperpod"
    PARALLELCLUSTER = "parallelcluster"
    FLEET = "fleet"


@dataclass(frozen=True, slots=True)
class _Written:
    """Where a deployment was written; any two compare as equal, as it is no part of what a deployment is."""

    document: Document | None = field(default=None, compare=False)


class Deployment(Section):
    """What every deployment has, whatever runs the jobs: frozen, checked, and aware of the lines it came from."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=_LONGEST_STACK_NAME - _LONGEST_SUFFIX),
        text(
            r"^[a-zA-Z][a-zA-Z0-9-]*$",
            "letters, digits and hyphens, beginning with a letter",
            example="llama2",
        ),
    ]
    """Its name, with which the names of its stacks begin (name-network, name-storage, name-training)."""
    region: Annotated[str, text(r"^[a-z]{2,4}(-[a-z]+)+-[0-9]$", "the name of a region", example="us-east-1")]
    """The AWS Region."""
    account: Annotated[
        str | None, text(r"^[0-9]{12}$", "an account number, 12 digits in quotes", example="111111111111")
    ] = None
    """The AWS account, in quotes. Default - the account of the credentials in use."""
    tags: Mapping[TagKey, TagValue] = Field(default_factory=dict)
    """Tags of everything that can have tags. Default - none."""
    network: AnyNetwork
    """A new VPC, or with vpc_id one that exists."""
    storage: StorageSection = StorageSection()
    """Shared file systems and buckets. Default - no file system, and buckets for every purpose."""
    orchestrator: Annotated[Orchestrator, LAX] | None
    """What runs the jobs. Default - nothing: the deployment only serves."""
    serving: Annotated[ServingSection | None, OnDemand("cdk_trainyard.deployment.serving.section:ServingSection")] = (
        None
    )
    """A model that is served, from the deployment's models bucket. Default - none."""
    alerts: AlertsSection | None = None
    """Who is told of trouble; not with parallelcluster. Default - nobody."""

    _written: _Written = PrivateAttr(default_factory=_Written)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a deployment file.

        Args:
            path: The YAML file.

        Returns:
            The deployment, of the class that its ``orchestrator`` asks for.

        Raises:
            ConfigurationError: With every problem of the file, each with file, line and column.
        """
        document = read_document(read_text(Path(path)), str(path))
        kind = _kind_of_file(document.data)
        region, account = document.data.get("region"), document.data.get("account")
        environment = Environment(
            region=region if isinstance(region, str) else None, account=account if isinstance(account, str) else None
        )
        data, wrong = read_specified(document, SPECIFIED, environment)
        problems = [*document.problems, *_placed(document, wrong)]
        invalid, deployment = [problem.at for problem in wrong], None
        try:
            deployment = kind.model_validate(data)
        except ValidationError as error:
            faults = [
                fault
                for fault in translate(error, document, schema_of(kind))
                if fault.path not in _unjudged(kind, document.data)
                and not any(problem.at[: len(fault.path)] == fault.path for problem in wrong)
            ]
            problems += [fault.problem for fault in faults]
            invalid += [fault.path for fault in faults]
        document.refuse([*problems, *house_problems(document, data, invalid, kind.own_problems)])
        if not isinstance(deployment, cls):
            allowed = " or ".join(name for name, known in kinds().items() if issubclass(known, cls)) or "left out"
            text = f"'orchestrator' must be {allowed} here, got {document.data.get('orchestrator')!r}"
            raise ConfigurationError(str(path), [f"{document.at(('orchestrator',))}: {text}"])
        deployment._written = _Written(document)  # noqa: SLF001  its own class
        return deployment

    @classmethod
    def own_problems(cls, sections: Sections) -> Said:  # noqa: ARG003  the sections of other kinds
        """Ask the rules of the sections that only this kind of deployment has.

        Args:
            sections: The parts of the file that have the right form.
        """
        return iter(())

    @property
    def new_accounting(self) -> AccountingSection | None:
        """The database of Slurm's accounting that is made with the storage. None: there is none, or it exists."""
        return None

    @property
    def document(self) -> Document | None:
        """The file with the places of its keys; None when the deployment was made in Python."""
        return self._written.document

    def locate(self, *path: str | int) -> str:
        """Return ``file:line:column`` of what stands at ``path``, or of the section that lacks it.

        Args:
            path: The keys from the top: ``"cluster", "groups", "workers", "count"``.
        """
        return self.document.at(path) if self.document else self.name

    def dump(self) -> str:
        """Return the deployment as a file that loads to an equal one, every default written out."""
        return write_document(self.model_dump(mode="json", exclude_none=True))

    def resolve_path(self, path: str) -> Path:
        """Return a path of the file's, which is relative to the file's own directory."""
        return Path(self.document.file).parent / path if self.document else Path(path)


_KINDS: Final[Mapping[str, str]] = {
    Orchestrator.HYPERPOD.value: "cdk_trainyard.deployment.hyperpod:HyperPodDeployment",
    Orchestrator.PARALLELCLUSTER.value: "cdk_trainyard.deployment.parallelcluster:ParallelClusterDeployment",
    Orchestrator.FLEET.value: "cdk_trainyard.deployment.fleet:FleetDeployment",
}
"""``orchestrator`` → the model of the whole file, which is imported when a file asks for it."""


def kinds() -> dict[str, type[Deployment]]:
    """Return the model of the whole file for every ``orchestrator``."""
    return {name: kind_of(name) for name in _KINDS}


def kind_of(orchestrator: object) -> type[Deployment]:
    """Return the model of a file, :class:`Deployment` itself when nobody knows its orchestrator."""
    name = _KINDS.get(str(orchestrator))
    kind: type[Deployment] = resolve_name(name) if name else Deployment
    return kind


def serving_kind() -> type[Deployment]:
    """Return the model of a file without a cluster."""
    kind: type[Deployment] = resolve_name("cdk_trainyard.deployment.serving:ServingDeployment")
    return kind


def _kind_of_file(data: Mapping[str, Any]) -> type[Deployment]:
    without_cluster = "orchestrator" not in data and "cluster" not in data
    return serving_kind() if without_cluster else kind_of(data.get("orchestrator"))


def _placed(document: Document, problems: Sequence[Problem]) -> Iterator[FileProblem]:
    """Yield what is wrong with the form of sections, with its places; YAML's own problems are said already."""
    for problem in problems:
        if problem.at not in document.reported:
            place = document.keys[problem.at] if problem.of_key else document.place(problem.at)
            yield FileProblem(place=place, text=sentence(problem))


def _unjudged(kind: type[Deployment], data: Mapping[str, Any]) -> Sequence[KeyPath]:
    """Without a known orchestrator nobody knows what belongs into ``cluster``; a rule asks for one of two sections."""
    return [("cluster",)] if kind is Deployment else [("serving",)] if "serving" not in data else []
