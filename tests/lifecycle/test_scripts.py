"""``LifecycleScripts``: what a stack gets, and what it is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, RemovalPolicy, Stack
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.lifecycle import LifecycleScripts, NodeLustre, NodeSettings, SlurmTopology
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from tests.support import STAGED

UPLOAD = "Custom::CDKBucketDeployment"
ENV = Environment(account="111111111111", region="us-west-2")


def template_of(stack: Stack) -> Template:
    return Template.from_stack(stack)


def upload_of(stack: Stack) -> dict[str, Any]:
    (found,) = template_of(stack).find_resources(UPLOAD).values()
    return dict(found)


def statements(stack: Stack, kind: str = "AWS::IAM::ManagedPolicy") -> list[dict[str, Any]]:
    (policy,) = template_of(stack).find_resources(kind).values()
    return list(policy["Properties"]["PolicyDocument"]["Statement"])


def staged(stack: Stack, name: str) -> str:
    """The one file of this name in the cloud assembly."""
    (found,) = Path(App.of(stack).outdir).glob(f"asset.*/{name}")
    return found.read_text()


# ---------------------------------------------------------------- minimal
@pytest.fixture(scope="module")
def smallest(tmp_path_factory: pytest.TempPathFactory) -> tuple[LifecycleScripts, Stack]:
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "on_create.sh").write_text("#!/bin/bash\necho hello >>/var/log/provision/provisioning.log\n")
    (folder / "on_create.sh").chmod(0o755)
    stack = Stack(App(), "Stack", env=ENV)
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-scripts")
    return LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder), stack


def test_the_address_is_the_hash_of_the_content(smallest: tuple[LifecycleScripts, Stack]) -> None:
    scripts, _ = smallest
    assert scripts.content_hash == "f909a0f7d5f32f653139dba4e0e4ed02765a0c618e6da5aa3b0e3d561b5e9e0c"
    assert scripts.prefix == f"lifecycle-scripts/Stack-Scripts-F2FD3C63/{scripts.content_hash[:32]}"
    assert scripts.s3_uri == f"s3://sagemaker-scripts/{scripts.prefix}/"
    assert scripts.entry == "on_create.sh"
    assert scripts.topology is SlurmTopology.API_DRIVEN


def test_the_folder_is_copied_and_nothing_is_ever_removed(smallest: tuple[LifecycleScripts, Stack]) -> None:
    scripts, stack = smallest
    properties = upload_of(stack)["Properties"]
    assert properties["DestinationBucketName"] == "sagemaker-scripts"
    assert properties["DestinationBucketKeyPrefix"] == scripts.prefix
    assert (properties["Prune"], properties["RetainOnDelete"]) == (False, True)
    assert len(properties["SourceObjectKeys"]) == 1


def test_the_uploader_logs_for_three_months(smallest: tuple[LifecycleScripts, Stack]) -> None:
    template = template_of(smallest[1])
    template.has_resource("AWS::Logs::LogGroup", {"Properties": {"RetentionInDays": 90}, "DeletionPolicy": "Delete"})
    template.has_resource_properties(
        "AWS::Lambda::Function", {"LoggingConfig": {"LogGroup": {"Ref": Match.string_like_regexp("Uploader")}}}
    )


def test_the_uploader_can_write_scripts_and_nothing_else(smallest: tuple[LifecycleScripts, Stack]) -> None:
    _, stack = smallest
    assert template_of(stack).find_resources("AWS::IAM::Policy") == {}
    found = {str(statement["Action"]): statement for statement in statements(stack)}
    assert set(found) == {
        "['logs:CreateLogStream', 'logs:PutLogEvents']",
        "s3:GetObject",
        "s3:PutObject",
        "s3:ListBucket",
    }
    assert "sagemaker-scripts/lifecycle-scripts/*" in json.dumps(found["s3:PutObject"]["Resource"])
    assert "cdk-hnb659fds-assets-111111111111-us-west-2/*.zip" in json.dumps(found["s3:GetObject"]["Resource"])
    assert found["s3:ListBucket"]["Condition"] == {"StringLike": {"s3:prefix": "lifecycle-scripts/*"}}


def test_the_uploader_permissions_stay_when_scripts_change(
    smallest: tuple[LifecycleScripts, Stack], stack: Stack, bucket: s3.IBucket, folder: Path
) -> None:
    """A permission that changes with the scripts is used before IAM knows it."""
    scripts = LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    assert scripts.prefix != smallest[0].prefix
    assert statements(stack) == statements(smallest[1])


# ---------------------------------------------------------------- the project's own scripts, everything set
def test_the_projects_own_scripts_with_everything_set(
    stack: Stack, bucket: s3.IBucket, settings: NodeSettings, tmp_path: Path
) -> None:
    (tmp_path / "people").write_text("ada,2001,/fsx/ada\n")
    legacy = {"version": "1.0.0", "workload_manager": "slurm", "controller_group": "controller"}
    scripts = LifecycleScripts(
        stack,
        "Scripts",
        bucket=bucket,
        entry="on_init_complete.sh",
        settings=settings,
        topology=SlurmTopology.LEGACY,
        legacy_topology=legacy,
        users_file=tmp_path / "people",
    )
    assert len(upload_of(stack)["Properties"]["SourceObjectKeys"]) == 3
    assert json.loads(staged(stack, "settings.json")) == settings.render(
        topology=SlurmTopology.LEGACY, users_file="shared_users.txt"
    )
    assert json.loads(staged(stack, "provisioning_parameters.json")) == legacy
    assert staged(stack, "shared_users.txt") == "ada,2001,/fsx/ada\n"
    assert staged(stack, "lib/steps.sh").startswith("# shellcheck shell=bash\n")
    assert scripts.topology is SlurmTopology.LEGACY
    assert scripts.entry_problems("on_create.sh", at=("script",)) == []
    assert scripts.entry_problems("on_crate.sh", at=("script",)) != []


def test_what_is_known_only_at_deployment_is_filled_in_then(
    stack: Stack, bucket: s3.IBucket, settings: NodeSettings
) -> None:
    system = fsx.CfnFileSystem(stack, "Lustre", file_system_type="LUSTRE", subnet_ids=["subnet-1"])
    lustre = NodeLustre(dns_name=system.attr_dns_name, mount_name=system.attr_lustre_mount_name)
    LifecycleScripts(stack, "Scripts", bucket=bucket, settings=NodeSettings(groups=settings.groups, lustre=lustre))
    markers = upload_of(stack)["Properties"]["SourceMarkers"][1]
    assert [*markers.values()] == [
        {"Fn::Join": ["", ['"', {"Fn::GetAtt": ["Lustre", "DNSName"]}, '"']]},
        {"Fn::Join": ["", ['"', {"Fn::GetAtt": ["Lustre", "LustreMountName"]}, '"']]},
    ]
    rendered = staged(stack, "settings.json")
    for marker in markers:
        rendered = rendered.replace(marker, '"known now"')
    assert json.loads(rendered)["lustre"] == {
        "dns_name": "known now",
        "mount_name": "known now",
        "mount_path": "/fsx",
    }


def test_another_file_system_is_another_address(bucket: s3.IBucket, stack: Stack, settings: NodeSettings) -> None:
    prefixes = set()
    for name in ("One", "Two"):
        system = fsx.CfnFileSystem(stack, f"{name}Lustre", file_system_type="LUSTRE", subnet_ids=["subnet-1"])
        lustre = NodeLustre(dns_name=system.attr_dns_name, mount_name="x")
        with_lustre = NodeSettings(groups=settings.groups, lustre=lustre)
        prefixes.add(LifecycleScripts(stack, name, bucket=bucket, settings=with_lustre).prefix)
    assert len(prefixes) == 2


# ---------------------------------------------------------------- buckets
def test_a_bucket_of_another_stack_stays_as_it_is(folder: Path, tmp_path: Path) -> None:
    """Else every edit of a script would change the stack that keeps the data: CDK tags the bucket with the prefix."""

    def storage_template(*, with_scripts: bool) -> dict[str, Any]:
        app = App(outdir=str(tmp_path / f"out-{with_scripts}"))
        bucket = s3.Bucket(Stack(app, "Storage", env=ENV), "Bucket", encryption=s3.BucketEncryption.KMS)
        training = Stack(app, "Training", env=ENV)
        if with_scripts:
            LifecycleScripts(training, "Scripts", bucket=bucket, folder=folder)
        app.synth()
        return dict(json.loads((tmp_path / f"out-{with_scripts}" / "Storage.template.json").read_text())["Resources"])

    assert storage_template(with_scripts=True) == storage_template(with_scripts=False)


def test_a_bucket_of_the_same_stack_is_ready_before_the_scripts_come(stack: Stack, folder: Path) -> None:
    bucket = s3.Bucket(stack, "Own", enforce_ssl=True, auto_delete_objects=True, removal_policy=RemovalPolicy.DESTROY)
    LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    waits_for = upload_of(stack)["DependsOn"]
    policy, emptied = (
        next(iter(template_of(stack).find_resources(kind)))
        for kind in ("AWS::S3::BucketPolicy", "Custom::S3AutoDeleteObjects")
    )
    assert {policy, emptied} <= set(waits_for)


def test_a_bucket_with_a_key_is_written_and_read_with_it(stack: Stack, folder: Path) -> None:
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:111111111111:key/abc")
    bucket = s3.Bucket.from_bucket_attributes(stack, "Own", bucket_name="sagemaker-own", encryption_key=key)
    scripts = LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    assert statements(stack)[-1]["Action"] == "kms:GenerateDataKey"
    assert statements(stack)[-1]["Resource"] == key.key_arn
    decrypt = stack.resolve(scripts.read_statements()[-1].to_json())
    assert decrypt == {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": key.key_arn}


# ---------------------------------------------------------------- permissions of nodes
def test_nodes_may_read_this_folder_in_all_its_versions_and_nothing_else(
    stack: Stack, bucket: s3.IBucket, folder: Path
) -> None:
    """The role changes before the cluster: a node that starts in between still needs the version before."""
    scripts = LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    versions = scripts.prefix.removesuffix(f"/{scripts.content_hash[:32]}")
    arn = {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::sagemaker-scripts"]]}
    objects = {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":s3:::sagemaker-scripts/{versions}/*"]]}
    expected = [
        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": objects},
        {
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": arn,
        },  # on a condition, a missing key would answer 403
    ]
    assert [stack.resolve(statement.to_json()) for statement in scripts.read_statements()] == expected
    assert stack.resolve(scripts.objects_arn) == objects

    role = iam.Role(stack, "Node", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    scripts.grant_read(role).assert_success()
    assert statements(stack, "AWS::IAM::Policy") == expected


def test_each_statement_list_is_its_own(stack: Stack, bucket: s3.IBucket, folder: Path) -> None:
    scripts = LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    first = scripts.read_statements()
    first[0].add_actions("s3:PutObject")
    first.clear()
    assert scripts.read_statements()[0].actions == ["s3:GetObject"]


# ---------------------------------------------------------------- one uploader for a stack
def test_two_folders_share_one_uploader(stack: Stack, bucket: s3.IBucket, folder: Path, settings: NodeSettings) -> None:
    LifecycleScripts(stack, "One", bucket=bucket, folder=folder)
    LifecycleScripts(stack, "Two", bucket=bucket, settings=settings)
    template = template_of(stack)
    template.resource_count_is(UPLOAD, 2)
    template.resource_count_is("AWS::Lambda::Function", 1)
    template.resource_count_is("AWS::Logs::LogGroup", 1)
    assert len(statements(stack)) == 4


def test_deployments_of_the_app_itself_keep_their_own_function(stack: Stack, bucket: s3.IBucket, folder: Path) -> None:
    """They would lack permissions if they shared ours, whose role cannot be widened."""
    LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    deployment.BucketDeployment(
        stack, "Site", destination_bucket=bucket, sources=[deployment.Source.data("index.html", "hello")]
    )
    template_of(stack).resource_count_is("AWS::Lambda::Function", 2)


@pytest.mark.review
def test_every_finding_of_the_review_tools_is_explained(tmp_path: Path, settings: NodeSettings, folder: Path) -> None:
    app = App(outdir=str(tmp_path / "out"))
    attach_checks(app)
    stack = Stack(app, "Stack")  # of no account: ARNs are joined from references then
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-scripts")
    LifecycleScripts(stack, "One", bucket=bucket, settings=settings)
    LifecycleScripts(stack, "Two", bucket=bucket, folder=folder)
    app.synth()
    assert unmatched_acknowledgments(app, tmp_path / "out") == []


# ---------------------------------------------------------------- the same anywhere
def assembly(app: App) -> dict[str, bytes]:
    root = Path(app.synth().directory)
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_the_same_folder_gives_the_same_bytes_on_another_machine(
    folder: Path, tmp_path: Path, settings: NodeSettings
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere, copy_function=shutil.copyfile)
    (elsewhere / "on_create.sh").chmod(0o775)
    (elsewhere / "__pycache__").mkdir()
    (elsewhere / "__pycache__" / "x.pyc").write_text("x")

    def build(path: Path, out: str) -> dict[str, bytes]:
        app = App(outdir=str(tmp_path / out), post_cli_context=STAGED)
        stack = Stack(app, "Stack", env=ENV)
        bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-scripts")
        LifecycleScripts(stack, "Scripts", bucket=bucket, folder=path, settings=settings)
        return assembly(app)

    first, second = build(folder, "first"), build(elsewhere, "second")
    assert first == second
    assert not any(str(tmp_path).encode() in data for data in first.values())


# ---------------------------------------------------------------- refusals
Change = Callable[[Path], object]


def crlf(folder: Path) -> None:
    (folder / "on_create.sh").write_bytes(b"#!/bin/bash\r\ntrue\r\n")


def wrong_users(folder: Path) -> None:
    shutil.copy(scripts_folder() / "hyperpod/shared_users.py", folder)
    (folder / "shared_users.txt").write_text("ada,1,/fsx/ada\n")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda folder: (folder / "on_create.sh").unlink(),
            "'entry' must be a file at the top of the folder, got 'on_create.sh'",
        ),
        (
            crlf,
            "'folder' must hold LF line ends only, got CR LF at on_create.sh:1 (2 lines in all); convert it with",
        ),
        (
            wrong_users,
            "'folder' shared_users.txt:1: uid must be a number from 1001 to 2147483646, not 65534 or 65535, got",
        ),
        (shutil.rmtree, "'folder' must be an existing folder, got "),
    ],
)
def test_fails_for_a_folder_that_would_fail_on_the_nodes(
    stack: Stack, bucket: s3.IBucket, folder: Path, change: Change, problem: str
) -> None:
    change(folder)
    with pytest.raises(ConfigurationError) as told:
        LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    assert told.value.path == "Stack/Scripts"
    (sentence,) = told.value.problems
    assert sentence.startswith(problem)


def test_fails_with_every_problem_at_once(stack: Stack, bucket: s3.IBucket, folder: Path, tmp_path: Path) -> None:
    crlf(folder)
    (folder / "id_rsa").touch()
    (folder / "out").symlink_to(tmp_path)
    (folder / "provisioning_parameters.json").write_text("{}")
    with pytest.raises(ConfigurationError) as told:
        LifecycleScripts(
            stack,
            "Scripts",
            bucket=bucket,
            folder=folder,
            settings=NodeSettings(groups=[]),
            users_file=tmp_path / "none",
        )
    assert [problem.split(" ")[0] for problem in told.value.problems] == [
        "'users_file'",
        "'folder'",
        "'folder'",
        "'folder'",
        "'folder'",
        "'settings.groups'",
    ]


def test_a_script_whose_log_nobody_will_see_is_warned_about(stack: Stack, bucket: s3.IBucket, folder: Path) -> None:
    (folder / "on_create.sh").write_text("#!/bin/bash\ntrue\n")
    LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    Annotations.from_stack(stack).has_warning(
        "/Stack/Scripts", Match.string_like_regexp(r"\[ack: @cdk-trainyard/lifecycle:log-not-shipped\]")
    )


def test_the_projects_own_scripts_bring_no_warning(stack: Stack, bucket: s3.IBucket, settings: NodeSettings) -> None:
    LifecycleScripts(stack, "Scripts", bucket=bucket, settings=settings)
    assert Annotations.from_stack(stack).find_warning("*", Match.any_value()) == []


def test_a_stack_with_a_long_name_still_has_room_for_its_scripts(folder: Path) -> None:
    stack = Stack(App(), "S" * 120, env=ENV)
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-scripts")
    scripts = LifecycleScripts(stack, "Scripts", bucket=bucket, folder=folder)
    assert len(scripts.prefix) <= 102
