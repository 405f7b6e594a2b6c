"""Scripts of nodes: a folder that is checked and uploaded once, and the actions that run its files.

ParallelCluster fetches one file for each action and runs it as root. For a queue the address may change, so it holds
the hash of the folder: a node runs what was reviewed, or nothing. For the head node and for login nodes it may never
change, so there it is a small program under a fixed key, which reads from a plan beside it what is to be run.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from aws_cdk import Names, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from constructs import Construct, IDependable

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.lifecycle import rules as bundle_rules
from cdk_trainyard.lifecycle.bundle import read_bundle
from cdk_trainyard.lifecycle.reading import script_statements
from cdk_trainyard.lifecycle.uploaded_folder import UploadedFolder
from cdk_trainyard.lifecycle.uploader import FAMILY_LENGTH, ROOT_PREFIX, Uploader
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction
from cdk_trainyard.storage.grants import objects_arn

BOOTSTRAP = "bootstrap.sh"
"""The small program: it fetches a folder and runs a file of it, or follows a plan."""


class NodeScripts(UploadedFolder):
    """A folder of scripts for the nodes of a ParallelCluster: checked, uploaded under its hash, read-only to nodes.

    Defines the upload. The folder is there for the nodes before the cluster is made, and stays when it changes.

    Args:
        bucket: Where it is uploaded.
        folder: The folder. Default - the project's own, with the Neuron installer.

    Attributes:
        bucket: Where it is.
        content_hash: Hash of every name and content.
        prefix: Its place in the bucket.
        uploaded: What to depend on: when it exists, the scripts are there.

    Raises:
        ConfigurationError: The folder cannot be read, holds CR LF line ends, links out of it, secrets, or is too large.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, bucket: s3.IBucket, folder: str | Path | None = None
    ) -> None:
        super().__init__(scope, construct_id)
        own = scripts_folder() / "parallelcluster"
        place = own if folder is None else Path(folder)
        problems = bundle_rules.folder_problems(place)
        raise_problems(self, problems)
        library = [] if folder is not None else [("lib", scripts_folder() / "lib")]
        self._bundle = read_bundle(("", place), *library, ("trainyard", own / "trainyard"))
        raise_problems(self, bundle_rules.content_problems(self._bundle))
        self._is_own = folder is None
        family = Names.unique_resource_name(self, max_length=FAMILY_LENGTH, separator="-")
        self._upload(self._bundle, bucket, family)

    @property
    def is_own(self) -> bool:
        """Whether it is the project's own folder."""
        return self._is_own

    def action(self, entry: str, *args: str) -> CustomAction:
        """Return the action that runs a file of the folder.

        Args:
            entry: The file, at the top of the folder.
            args: Its arguments.

        Raises:
            ConfigurationError: There is no such file, or it is no script; or an argument cannot be passed on.
        """
        judge, action = Judge(environment=NOWHERE), CustomAction(script=entry, args=args, scripts=self)
        judge.judged(action)
        raise_problems(self, [*bundle_rules.entry_problems(self._bundle, entry), *judge.problems])
        return action


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanLine:
    """One line of a plan: a file of a folder to run.

    Attributes:
        action: What is run.
        once: Whether a node that has run exactly this before skips it.
    """

    action: CustomAction
    once: bool

    def fields(self) -> list[str]:
        """Return what the line says."""
        once = "once" if self.once else "always"
        return [once, _of_folder(self.action).s3_uri, self.action.script, *self.action.args]


class FixedScripts(Construct):
    """Plans under keys that never change, and the program that follows them.

    Args:
        bucket: Where they are.
        name: Their place in the bucket: never changed while the cluster lives.
        plans: Name of a plan to its lines.

    Attributes:
        content_hash: Hash of all plans.
        uploaded: What to depend on.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        name: str,
        plans: dict[str, Sequence[PlanLine]],
    ) -> None:
        super().__init__(scope, construct_id)
        self._bucket = bucket
        self.prefix = f"{ROOT_PREFIX}/{name}"
        self._plans = {plan: [line.fields() for line in lines] for plan, lines in plans.items()}
        program = read_bundle(("", scripts_folder() / "parallelcluster" / "trainyard"))
        canonical = json.dumps(Stack.of(self).resolve(self._canonical(plans)), sort_keys=True)
        self.content_hash: str = program.digest(canonical)
        data = [
            deployment.Source.data(f"plans/{plan}", "".join("\t".join(line) + "\n" for line in lines))
            for plan, lines in self._plans.items()
        ]
        self.uploaded: IDependable = Uploader.of(self).upload(
            self, "Resource", bucket=bucket, prefix=self.prefix, bundle=program, data=data
        )

    @property
    def bootstrap_uri(self) -> str:
        """Address of the program."""
        return f"s3://{self._bucket.bucket_name}/{self.prefix}/{BOOTSTRAP}"

    @property
    def objects_arn(self) -> str:
        """ARN of the program and every plan."""
        return objects_arn(self._bucket, prefix=self.prefix)

    def plan_uri(self, plan: str) -> str:
        """Return the address of a plan.

        Args:
            plan: Its name.
        """
        return f"s3://{self._bucket.bucket_name}/{self.prefix}/plans/{plan}"

    def read_statements(self) -> list[iam.PolicyStatement]:
        """Return the permissions of a node."""
        return script_statements(self._bucket, objects_arn=self.objects_arn)

    @staticmethod
    def _canonical(plans: dict[str, Sequence[PlanLine]]) -> dict[str, Any]:
        return {
            plan: [
                [line.once, _of_folder(line.action).content_hash, line.action.script, *line.action.args]
                for line in lines
            ]
            for plan, lines in plans.items()
        }


def bootstrap_uri(scripts: NodeScripts) -> str:
    """Return the address of the program that a folder brings along.

    Args:
        scripts: The folder.
    """
    return f"{scripts.s3_uri}trainyard/{BOOTSTRAP}"


def _of_folder(action: CustomAction) -> NodeScripts:
    return cast("NodeScripts", action.scripts)
