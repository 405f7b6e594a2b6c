"""Node scripts as content-addressed objects in a bucket, checked before they are uploaded."""

import json
from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Annotations, Names, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from constructs import Construct

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.lifecycle import rules
from cdk_trainyard.lifecycle.bundle import Bundle, BundleFile, content_of, default_folders, read_bundle
from cdk_trainyard.lifecycle.settings import LEGACY_FILE, SETTINGS_FILE, USERS_FILE, NodeSettings
from cdk_trainyard.lifecycle.spec import AUTHORITY_FILE, SlurmTopology
from cdk_trainyard.lifecycle.uploaded_folder import UploadedFolder
from cdk_trainyard.lifecycle.uploader import FAMILY_LENGTH
from cdk_trainyard.operators import granted
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.problems import At, Problem
from cdk_trainyard.surroundings import surroundings

_SHIPPED_LOG = b"/var/log/provision/"


class LifecycleScripts(UploadedFolder):
    """A folder of node scripts below ``s3://<bucket>/lifecycle-scripts/``: checked, immutable, read-only to nodes.

    The place is the hash of every name and byte in the folder and of the settings. A change of a script is therefore
    a change of the cluster's template, an old template finds its old scripts, and a node that starts while a
    deployment runs never gets half of two versions. Nothing is removed from the bucket.

    A setting that is known only when the stack is deployed (the DNS name of a file system) enters the hash as the
    reference that stands in the template, not as its value.

    Args:
        bucket: Where the folder goes. Nodes need ``grant_read`` unless their role covers the bucket already.
        folder: The folder. Everything in it is uploaded but for what editors, Python and git leave behind.
            Default - the project's own scripts, ``lifecycle_scripts/hyperpod`` with the step library as ``lib``.
        entry: The file that HyperPod executes, at the top of the folder: ``on_create.sh`` configures a node from
            scratch and starts Slurm, ``on_init_complete.sh`` adds to what the machine image configures.
            Default: on_create.sh.
        settings: Rendered as ``settings.json`` beside the scripts.
            Default - none; the project's own scripts, and copies of them, need them.
        topology: Where HyperPod learns which group does what. Default: ``SlurmTopology.API_DRIVEN``.
        legacy_topology: Rendered as ``provisioning_parameters.json`` beside the scripts.
            Default - the folder's own, with ``SlurmTopology.LEGACY``.
        users_file: A file of users and groups, put beside the scripts as ``shared_users.txt``.
            Default - the folder's own, if it has one.

    Raises:
        ConfigurationError: The folder would fail on the nodes, or must not be read by them; names every file and line.

    Attributes:
        bucket: The bucket.
        entry: Name of the file that HyperPod executes.
        topology: Where HyperPod learns which group does what.
        content_hash: SHA-256, in hex, of the folder and its settings.
        prefix: The folder's place in the bucket, without a slash at its end.
        uploaded: Depend on it, and the files are there.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        folder: str | Path | None = None,
        entry: str = "on_create.sh",
        settings: NodeSettings | None = None,
        topology: SlurmTopology = SlurmTopology.API_DRIVEN,
        legacy_topology: Mapping[str, object] | None = None,
        users_file: str | Path | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.entry: str = entry
        self.topology: SlurmTopology = topology
        folders = [("", Path(folder))] if folder is not None else default_folders()
        # of a folder that is not there nothing else can be said
        raise_problems(self, [problem for _, path in folders for problem in rules.folder_problems(path)])
        self._bundle: Bundle = read_bundle(*folders)
        users = Path(users_file) if users_file is not None else None
        unusable = rules.users_file_problems(users, in_folder=self._bundle.find(USERS_FILE) is not None)
        if users and not unusable:
            self._bundle = self._bundle.with_file(BundleFile(name=USERS_FILE, data=content_of(users) or b""))
        judge = Judge(environment=surroundings(self))
        judged = settings and judge.judged(settings, ("settings",))
        problems: list[Problem | str] = [
            *unusable,
            *judge.problems,
            *rules.entry_problems(self._bundle, entry),
            *rules.content_problems(self._bundle),
            *rules.library_problems(self._bundle, entry),
            *rules.topology_problems(self._bundle, topology, legacy_topology),
            *rules.settings_problems(self._bundle, judged, entry=entry),
            *rules.users_problems(self._bundle, at=("folder",) if users is None else ("users_file",)),
        ]
        raise_problems(self, problems)
        if not any(_SHIPPED_LOG in file.data for file in self._bundle.files):
            Annotations.of(self).add_warning_v2(
                "@cdk-trainyard/lifecycle:log-not-shipped",
                "no script writes to /var/log/provision/provisioning.log, the one file that HyperPod ships to "
                "CloudWatch: when a script fails on a node, nobody will see why",
            )

        database = settings.setup.accounting if settings is not None else None
        if database is not None and database.authority is not None:
            certificates = content_of(Path(database.authority)) or b""  # none where CDK has yet to look the name up
            self._bundle = self._bundle.with_file(BundleFile(name=AUTHORITY_FILE, data=certificates))
        rendered = self._render(settings, topology, legacy_topology, bucket)
        canonical = json.dumps(Stack.of(self).resolve(rendered), sort_keys=True, separators=(",", ":"))
        family = Names.unique_resource_name(self, max_length=FAMILY_LENGTH, separator="-")
        data = [deployment.Source.json_data(name, content) for name, content in rendered.items()]
        self._upload(self._bundle, bucket, family, beside=[canonical], data=data)

    def entry_problems(self, entry: str, *, at: At) -> list[Problem]:
        """Return what is wrong with executing a file of the folder; nothing when all is well.

        Args:
            entry: The file's name.
            at: The option that names it.
        """
        return rules.entry_problems(self._bundle, entry, at=at)

    def grant_read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Grant the permissions of ``read_statements``; a role of this app gets them as an inline policy."""
        return granted(grantee, *self.read_statements())

    def _render(
        self,
        settings: NodeSettings | None,
        topology: SlurmTopology,
        legacy_topology: Mapping[str, object] | None,
        bucket: s3.IBucket,
    ) -> dict[str, object]:
        rendered: dict[str, object] = {}
        if settings is not None:
            users_file = USERS_FILE if self._bundle.find(USERS_FILE) else None
            rendered[SETTINGS_FILE] = settings.render(
                topology=topology, users_file=users_file, bucket=bucket.bucket_name
            )
        if legacy_topology is not None:
            rendered[LEGACY_FILE] = dict(legacy_topology)
        return rendered
