# ruff: noqa: E501  the messages are the point, each on its line
"""Scripts of nodes: by hash where ParallelCluster takes a change, under fixed keys where it takes none."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.lifecycle import scripts_folder
from cdk_trainyard.parallelcluster import CustomAction, LoginPool, NodeScripts, ParallelCluster
from tests.parallelcluster.parts import head, new_network, new_stack, queue

Build = Callable[..., ParallelCluster]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "scripts"
    path.mkdir()
    entry = path / "setup.sh"
    entry.write_text("#!/bin/bash\necho one\n")
    entry.chmod(0o755)
    return path


@pytest.fixture
def scripts(stack: Stack, folder: Path) -> NodeScripts:
    return NodeScripts(stack, "Scripts", bucket=s3.Bucket.from_bucket_name(stack, "Bucket", "scripts"), folder=folder)


def cluster_of(folder: Path, *args: str) -> ParallelCluster:
    stack = new_stack()
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "scripts")
    action = NodeScripts(stack, "Scripts", bucket=bucket, folder=folder).action("setup.sh", *args)
    return ParallelCluster(
        stack,
        "Cluster",
        network=new_network(stack),
        head_node=head(on_configured=[action]),
        login_pools=[LoginPool(name="login", instance_type="c5.large", on_configured=[action])],
        queues=[queue(on_configured=[action])],
    )


def actions(cluster: ParallelCluster) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    config = Stack.of(cluster).resolve(dict(cluster.config))
    (login,) = config["LoginNodes"]["Pools"]
    (compute,) = config["Scheduling"]["SlurmQueues"]
    return config["HeadNode"]["CustomActions"], login["CustomActions"], compute["CustomActions"]


def test_a_queue_calls_what_has_the_hash_of_the_folder(folder: Path) -> None:
    cluster = cluster_of(folder, "fast")
    *_, compute = actions(cluster)
    scripts = Stack.of(cluster).node.find_child("Scripts")
    assert isinstance(scripts, NodeScripts)
    assert compute == {
        "OnNodeConfigured": {
            "Script": f"s3://scripts/{scripts.prefix}/trainyard/bootstrap.sh",
            "Args": ["run", f"s3://scripts/{scripts.prefix}/", "setup.sh", "fast"],
        }
    }
    assert scripts.prefix.endswith(f"/{scripts.content_hash[:32]}")


def test_the_head_node_calls_fixed_keys_at_every_event(folder: Path) -> None:
    first, _, _ = actions(cluster_of(folder))
    base = "s3://scripts/lifecycle-scripts/parallelcluster/Stack-Cluster-F0EB02FA"
    assert first["OnNodeConfigured"] == {
        "Script": f"{base}/bootstrap.sh",
        "Args": ["plan", f"{base}/plans/head/OnNodeConfigured"],
    }
    assert first["OnNodeStart"]["Args"] == ["plan", f"{base}/plans/head/OnNodeStart"]
    assert first["OnNodeUpdated"]["Args"][:2] == ["plan", f"{base}/plans/head/OnNodeUpdated"]


def test_a_changed_script_changes_only_what_may_change(folder: Path) -> None:
    before = actions(cluster_of(folder))
    (folder / "setup.sh").write_text("#!/bin/bash\necho two\n")
    after = actions(cluster_of(folder, "more"))
    for node in (0, 1):  # head node and login nodes
        assert before[node]["OnNodeStart"] == after[node]["OnNodeStart"]
        assert before[node]["OnNodeConfigured"] == after[node]["OnNodeConfigured"]
        assert before[node]["OnNodeUpdated"] != after[node]["OnNodeUpdated"]
    assert before[2] != after[2]


def test_a_script_that_is_added_later_changes_no_fixed_action(folder: Path) -> None:
    (folder / "second.sh").write_text("#!/bin/bash\n")
    (folder / "second.sh").chmod(0o755)

    def configured(*entries: str) -> dict[str, Any]:
        stack = new_stack()
        bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "scripts")
        scripts = NodeScripts(stack, "Scripts", bucket=bucket, folder=folder)
        node = head(on_configured=[scripts.action(entry) for entry in entries])
        cluster = ParallelCluster(stack, "Cluster", network=new_network(stack), head_node=node, queues=[queue()])
        return dict(Stack.of(cluster).resolve(dict(cluster.config))["HeadNode"]["CustomActions"])

    one, two = configured("setup.sh"), configured("setup.sh", "second.sh")
    assert one["OnNodeConfigured"] == two["OnNodeConfigured"]
    assert one["OnNodeStart"] == two["OnNodeStart"]


def test_addresses_stay_as_they_are_and_come_first(build: Build, scripts: NodeScripts) -> None:
    cluster = build(
        head_node=head(
            on_configured=[scripts.action("setup.sh"), CustomAction(script="https://x.example/a", args=["b"])]
        )
    )
    configured = cluster.config["HeadNode"]["CustomActions"]["OnNodeConfigured"]["Sequence"]
    assert configured[0] == {"Script": "https://x.example/a", "Args": ["b"]}
    assert configured[1]["Args"][0] == "plan"


def test_a_head_node_with_addresses_alone_has_no_plan(stack: Stack, build: Build) -> None:
    cluster = build(head_node=head(on_configured=[CustomAction(script="s3://bucket/key.sh")]))
    assert cluster.config["HeadNode"]["CustomActions"] == {"OnNodeConfigured": {"Script": "s3://bucket/key.sh"}}
    Template.from_stack(stack).resource_count_is("Custom::CDKBucketDeployment", 0)


def test_the_cluster_waits_for_the_upload_and_the_nodes_may_read_and_not_write(
    stack: Stack, build: Build, scripts: NodeScripts
) -> None:
    build(head_node=head(on_configured=[scripts.action("setup.sh")]))
    template = Template.from_stack(stack)
    (cluster,) = template.find_resources("Custom::PclusterCluster").values()
    assert len([name for name in cluster["DependsOn"] if "CustomResource513MiB" in name]) == 2
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "Description": Match.string_like_regexp("nodes of a ParallelCluster"),
            "PolicyDocument": {"Statement": Match.array_with([Match.object_like({"Action": "s3:GetObject"})])},
        },
    )
    policies = template.find_resources("AWS::IAM::ManagedPolicy", {"Properties": {"Path": "/parallelcluster/"}})
    assert "s3:Put" not in json.dumps(policies)


def test_a_script_that_is_missing_is_said_to_be(stack: Stack, folder: Path) -> None:
    """S3 answers 404 to whoever may list the bucket, which a condition on a prefix denies to a request for one key."""
    scripts = NodeScripts(stack, "S", bucket=s3.Bucket.from_bucket_name(stack, "B", "scripts"), folder=folder)
    (listing,) = [one.to_json() for one in scripts.read_statements() if one.actions == ["s3:ListBucket"]]
    assert set(listing) == {"Action", "Effect", "Resource"}


def test_the_default_folder_has_the_neuron_installer_and_the_step_library(stack: Stack) -> None:
    scripts = NodeScripts(stack, "Own", bucket=s3.Bucket.from_bucket_name(stack, "B", "scripts"))
    assert scripts.action("neuron.sh", "--venv", "/apps/neuron").script == "neuron.sh"
    assert (scripts_folder() / "parallelcluster" / "neuron.sh").is_file()


def test_a_script_of_yours_may_have_the_installer_s_name(stack: Stack, build: Build, folder: Path) -> None:
    entry = folder / "neuron.sh"
    entry.write_text("#!/bin/bash\necho mine\n")
    entry.chmod(0o755)
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "scripts")
    mine = NodeScripts(stack, "Mine", bucket=bucket, folder=folder).action("neuron.sh", "--venv", "/apps")
    build(operating_system="rhel9", head_node=head(on_configured=[mine]))


def test_the_hash_is_of_names_and_contents_alone(folder: Path, tmp_path: Path) -> None:
    def of(path: Path) -> str:
        stack = new_stack()
        return NodeScripts(
            stack, "S", bucket=s3.Bucket.from_bucket_name(stack, "B", "scripts"), folder=path
        ).content_hash

    copy = tmp_path / "elsewhere"
    copy.mkdir()
    (copy / "setup.sh").write_bytes((folder / "setup.sh").read_bytes())
    assert of(folder) == of(copy)
    (copy / "setup.sh").write_text("#!/bin/bash\necho other\n")
    assert of(folder) != of(copy)


@pytest.mark.parametrize(
    ("entry", "args", "problem"),
    [
        ("setpu.sh", (), "'entry' must be a file at the top of the folder, got 'setpu.sh'; did you mean 'setup.sh'?"),
        (
            "setup.sh",
            ("a\tb",),
            r"'args[0]' must be one line without '${AWS::' and '{{resolve:', which are references of CloudFormation, as --verbose, got 'a\tb'",
        ),
        (
            "setup.sh",
            ("a\nb",),
            r"'args[0]' must be one line without '${AWS::' and '{{resolve:', which are references of CloudFormation, as --verbose, got 'a\nb'",
        ),
    ],
)
def test_fails_with_an_action_that_cannot_run(
    scripts: NodeScripts, entry: str, args: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(ConfigurationError) as error:
        scripts.action(entry, *args)
    assert error.value.problems == (problem,)


def test_addresses_and_arguments_reach_nodes_as_they_are(build: Build, folder: Path) -> None:
    own = CustomAction(script="s3://bucket/boot strap/größe 'x'.sh", args=["--format=${NAME}", '"$(x)"'])
    cluster = build(head_node=head(on_configured=[own]))
    config = Stack.of(cluster).resolve(dict(cluster.config))
    assert config["HeadNode"]["CustomActions"]["OnNodeConfigured"] == {"Script": own.script, "Args": own.args}
    *_, compute = actions(cluster_of(folder, "${NAME}"))
    assert compute["OnNodeConfigured"]["Args"][-1] == "${NAME}"


def test_fails_with_a_folder_that_is_none(stack: Stack) -> None:
    with pytest.raises(ConfigurationError, match="'folder' must be an existing folder, got 'nowhere'"):
        NodeScripts(stack, "S", bucket=s3.Bucket.from_bucket_name(stack, "B", "scripts"), folder="nowhere")


def test_fails_with_windows_line_ends(stack: Stack, folder: Path) -> None:
    (folder / "setup.sh").write_bytes(b"#!/bin/bash\r\n")
    with pytest.raises(ConfigurationError, match="must hold LF line ends only"):
        NodeScripts(stack, "S", bucket=s3.Bucket.from_bucket_name(stack, "B", "scripts"), folder=folder)
