"""A deployment file: read once, judged whole, every problem with file, line and column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from cdk_trainyard.deployment._document import read_document, write_document
from cdk_trainyard.deployment._load import read_text
from cdk_trainyard.deployment.arranging import arranged
from cdk_trainyard.deployment.orchestrators import recognized, regions_of
from cdk_trainyard.deployment.placing import problems_at_their_places
from cdk_trainyard.deployment.rules import problems
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.instances import regions
from cdk_trainyard.instances.kind import RegionName
from cdk_trainyard.options.accounts import ACCOUNT
from cdk_trainyard.options.kinds import NOWHERE, Environment
from cdk_trainyard.options.reading import Reader
from cdk_trainyard.options.writing import written
from cdk_trainyard.tokens import unresolved


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment(DeploymentSpec):
    """A deployment, aware of the lines that it was read from."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a deployment file.

        Args:
            path: The YAML file.

        Raises:
            ConfigurationError: With every problem of the file, each with file, line and column.
        """
        document, data, moved = arranged(read_document(read_text(Path(path)), str(path)))
        reader = Reader(environment=_environment(data), sources=dict(document.sources), whole=(cls, data))
        read: Self = reader.read(cls, data, ())
        reader.problems.extend(moved)
        document = document.also_at(reader.moved)
        meant = recognized(data.get("orchestrator")) if unresolved(read.orchestrator) else None
        deployment = replace(read, orchestrator=meant or read.orchestrator, _document=document)
        document.refuse([*problems_at_their_places(document, deployment, reader, [*problems(deployment)])])
        return deployment

    def locate(self, *path: str | int) -> str:
        """Return ``file:line:column`` of what stands at ``path``, or of the section that lacks it.

        Args:
            path: The keys from the top: ``"cluster", "groups", "workers", "count"``.
        """
        return self.document.at(path) if self.document else self.name

    def says(self, path: Sequence[str | int]) -> bool:
        """Whether the file has the key at ``path``.

        Args:
            path: The keys from the top.
        """
        return self.document is not None and tuple(path) in self.document.keys

    def dump(self) -> str:
        """Return the deployment as a file that loads to an equal one, every default written out."""
        return write_document(written(self))


def _environment(data: Mapping[str, Any]) -> Environment:
    """Return where the deployment goes, as far as the file says so in the right form."""
    region, account = data.get("region"), data.get("account")
    known = isinstance(region, str) and RegionName().problem(region, NOWHERE) is None
    return Environment(
        region=region if known else None,
        account=account if isinstance(account, str) and ACCOUNT.problem(account, NOWHERE) is None else None,
        regions=frozenset(regions()),
        offered=frozenset() if known else regions_of(data.get("orchestrator")),
    )
