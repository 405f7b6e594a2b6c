"""What commands are given as a deployment: a folder that the cdk CLI wrote, or a file that is synthesized first."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.cli._files import is_assembly
from cdk_trainyard.cli.contract.collect import Found, clusters, identities, stack_of, templates_of
from cdk_trainyard.cli.synth import synthesize


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A deployment, as CloudFormation gets it.

    Attributes:
        stacks: Name of a stack to its template.
        clusters: The ParallelClusters in them.
        identities: Name of a stack to the name and Region that CloudFormation knows it by.
    """

    stacks: dict[str, dict[str, Any]]
    clusters: list[Found]
    identities: dict[str, tuple[str, str]] = field(default_factory=dict)


def load(given: Path, workspace: Path) -> Side:
    """Return a deployment.

    Args:
        given: A ``cdk.out`` folder, or a deployment file.
        workspace: Where a deployment file is synthesized.

    Raises:
        Wrong: It is neither.
    """
    outdir = given
    if not is_assembly(given):
        outdir = workspace
        synthesize(given, workspace)
    try:
        stacks = {stack_of(path): template for path, template in templates_of(outdir).items()}
        return Side(stacks=stacks, clusters=clusters(outdir), identities=identities(outdir))
    except (json.JSONDecodeError, OSError) as error:
        raise Wrong(f"{given} cannot be read: {error}") from None
