"""The build that compiles a model: its project, and its commands run for real against stand-ins of Hub and compiler."""

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Duration, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.serving import ModelCompilation, NeuronDtype, NeuronModel, Server, TextGenerationEngine
from cdk_trainyard.serving.engine_settings import settings
from cdk_trainyard.serving.rules_compilation import build_host, compilation_problems
from tests.serving.parts import model, new_stack, only

SOURCE = "meta-llama/Llama-3.2-3B-Instruct"
KEY = "arn:aws:kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef"
SECRET = "arn:aws:secretsmanager:us-west-2:111111111111:secret:hub-token-AbCdEf"  # noqa: S105  a name, and of nothing


def compilation(stack: Stack, of_model: NeuronModel | None = None, **changes: Any) -> ModelCompilation:
    given = {"model": of_model or model(stack), "engine": TextGenerationEngine.hf_vllm(), "source": SOURCE, **changes}
    return ModelCompilation(stack, "Compilation", **given)


def statements(template: Template) -> list[dict[str, Any]]:
    return list(only(template, "AWS::IAM::ManagedPolicy")["PolicyDocument"]["Statement"])


# ---------------------------------------------------------------- the project
def test_the_smallest_call(stack: Stack) -> None:
    made = compilation(stack)
    template = Template.from_stack(stack)
    project = only(template, "AWS::CodeBuild::Project")
    assert project["TimeoutInMinutes"] == 480
    assert project["Environment"] == {
        "ComputeType": "BUILD_GENERAL1_XLARGE",
        "Image": {
            "Fn::Join": [
                "",
                [
                    "763104351884.dkr.ecr.us-west-2.",
                    {"Ref": "AWS::URLSuffix"},
                    "/huggingface-vllm-inference-neuronx:0.11.0-optimum0.4.5-neuronx-py310-sdk2.26.1-ubuntu22.04",
                ],
            ]
        },
        "ImagePullCredentialsType": "SERVICE_ROLE",
        "PrivilegedMode": False,
        "Type": "LINUX_CONTAINER",
    }
    assert project["Artifacts"] == {
        "EncryptionDisabled": True,  # the bucket's own encryption is what counts
        "Location": "some-models",
        "Name": "llama",
        "NamespaceType": "NONE",
        "Packaging": "NONE",
        "Path": "models",
        "Type": "S3",
    }
    assert "EncryptionKey" not in project
    assert "Name" not in project
    assert only(template, "AWS::Logs::LogGroup")["RetentionInDays"] == 90
    name = stack.resolve(made.project_name)
    assert stack.resolve(made.start_command) == {
        "Fn::Join": ["", ["aws codebuild start-build --project-name ", name, " --region us-west-2"]]
    }


def test_everything_set(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", KEY)
    bucket = s3.Bucket.from_bucket_attributes(stack, "Bucket", bucket_name="own-models", encryption_key=key)
    mirror = ecr.Repository.from_repository_name(stack, "Mirror", "mirror/vllm")
    compilation(
        stack,
        model(bucket=bucket, prefix="llama"),
        engine=TextGenerationEngine.hf_vllm(repository=mirror, tag="sha256:" + "0" * 64),
        revision="v1.2",
        hub_token=secretsmanager.Secret.from_secret_attributes(
            stack, "Token", secret_complete_arn=SECRET, encryption_key=key
        ),
        timeout=Duration.hours(2),
        log_retention=logs.RetentionDays.ONE_WEEK,
        log_key=key,
    )
    template = Template.from_stack(stack)
    project = only(template, "AWS::CodeBuild::Project")
    assert project["TimeoutInMinutes"] == 120
    assert project["EncryptionKey"] == KEY
    assert (project["Artifacts"]["EncryptionDisabled"], project["Artifacts"]["Name"]) == (False, "llama")
    assert "Path" not in project["Artifacts"]
    assert project["Environment"]["EnvironmentVariables"] == [
        {"Name": "HF_TOKEN", "Type": "SECRETS_MANAGER", "Value": SECRET}
    ]
    assert "@sha256:" + "0" * 64 in json.dumps(project["Environment"]["Image"])
    assert only(template, "AWS::Logs::LogGroup")["KmsKeyId"] == KEY
    assert json.dumps(statements(template)).count(KEY) == 2  # of the objects, and of the token


def test_its_role_writes_one_folder_and_reads_nothing(stack: Stack) -> None:
    compilation(stack)
    template = Template.from_stack(stack)
    allowed = {
        action: statement["Resource"]
        for statement in statements(template)
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert {action for action in allowed if action.startswith("s3:")} == {
        "s3:AbortMultipartUpload", "s3:GetBucketAcl", "s3:GetBucketLocation", "s3:ListMultipartUploadParts",
        "s3:PutObject", "s3:PutObjectTagging",
    }  # fmt: skip
    assert "/models/llama/*" in json.dumps(allowed["s3:PutObject"])
    assert [action for action in allowed if allowed[action] == "*"] == ["ecr:GetAuthorizationToken"]
    assert not any("*" in action for action in allowed)


@pytest.mark.parametrize(
    ("preset", "size"),
    [
        ("tinyllama-1.1b", "BUILD_GENERAL1_LARGE"),
        ("llama-3.1-8b", "BUILD_GENERAL1_XLARGE"),
        ("qwen3-14b", "BUILD_GENERAL1_2XLARGE"),
    ],
)
def test_the_build_host_holds_the_weights(preset: str, size: str) -> None:
    assert build_host(model(preset=preset)).compute_type == size


# ---------------------------------------------------------------- what is compiled is what is served
def words(text: str) -> dict[str, str]:
    """Return the options of a command."""
    parts = shlex.split(text)
    return {part: parts[index + 1] for index, part in enumerate(parts) if part.startswith("--")}


@pytest.mark.parametrize(("batch", "length", "degree"), [(4, 4096, 2), (1, 8192, 1), (16, 2048, 2)])
def test_the_command_has_the_static_shapes_of_the_engine(batch: int, length: int, degree: int, stack: Stack) -> None:
    described = model(stack, batch=batch, sequence_length=length, tensor_parallel=degree)
    engine = TextGenerationEngine.hf_vllm()
    served = settings(engine, described, request_seconds=600).environment
    said = words(shlex.join(compilation(stack, described, engine=engine).command))
    assert said == {
        "--task": "text-generation",
        "--instance_type": "inf2",
        "--batch_size": served["SM_ON_BATCH_SIZE"],
        "--sequence_length": served["SM_ON_SEQUENCE_LENGTH"],
        "--tensor_parallel_size": served["SM_ON_TENSOR_PARALLEL_SIZE"],
    }


# The options of optimum-neuron v0.4.5 (commands/export/neuronx.py), and what its export leaves behind.
COMPILER = """\
#!{python}
import argparse, json, os, pathlib, sys

assert sys.argv[1:3] == ["export", "neuron"], sys.argv
parser = argparse.ArgumentParser()
for name in ("batch_size", "sequence_length", "tensor_parallel_size"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--instance_type", choices=["trn1", "inf2", "trn1n", "trn2"], required=True)
parser.add_argument("--task", required=True)
parser.add_argument("-m", "--model", required=True)
parser.add_argument("output", type=pathlib.Path)
said = parser.parse_args(sys.argv[3:])
if os.environ.get("BREAK") == "compiler":
    sys.exit("neuronx-cc: NCC_ITEN404")
weights = pathlib.Path(said.model)
assert weights.is_dir(), weights
config = json.loads((weights / "config.json").read_text())
said.output.mkdir(parents=True)
(said.output / "model.pt").write_bytes(b"graphs")
(said.output / "neuron_config.json").write_text(json.dumps({{
    "batch_size": said.batch_size, "sequence_length": said.sequence_length, "tp_degree": said.tensor_parallel_size,
    "torch_dtype": config["torch_dtype"], "target": "trn1",
}}))
if os.environ.get("BREAK") != "weights":
    folder = said.output / "checkpoint" / "weights"
    folder.mkdir(parents=True)
    for rank in range(said.tensor_parallel_size):
        (folder / f"tp{{rank}}_sharded_checkpoint.safetensors").write_bytes(b"weights")
"""
HUB = """\
import json, pathlib, os

def snapshot_download(repo_id, *, revision, local_dir, allow_patterns):
    assert (repo_id, revision) == ("meta-llama/Llama-3.2-3B-Instruct", "main")
    assert "*.safetensors" in allow_patterns and not any(pattern.endswith("py") for pattern in allow_patterns)
    assert os.environ.get("HF_TOKEN") == "a token"
    folder = pathlib.Path(local_dir)
    folder.mkdir()
    dtype = "float32" if os.environ.get("BREAK") == "dtype" else "bfloat16"
    (folder / "config.json").write_text(json.dumps({"torch_dtype": dtype}))
    (folder / "model.safetensors").write_bytes(b"weights")
"""


def build(folder: Path, stack: Stack, *, broken: str = "", **of_model: Any) -> subprocess.CompletedProcess[str]:
    """Run the commands of the project as CodeBuild does: one after the other, until one fails."""
    compilation(stack, model(stack, **of_model))
    spec = json.loads(only(Template.from_stack(stack), "AWS::CodeBuild::Project")["Source"]["BuildSpec"])
    assert spec["artifacts"] == {"base-directory": "model", "files": ["**/*"]}
    compiler, hub = folder / "bin" / "optimum-cli", folder / "packages" / "huggingface_hub.py"
    for path, text in ((compiler, COMPILER.format(python=sys.executable)), (hub, HUB)):
        path.parent.mkdir()
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    python = Path(sys.executable)
    environment = os.environ | {
        "PATH": f"{compiler.parent}:{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(hub.parent),
        "HF_TOKEN": "a token",
        "BREAK": broken,
    }
    work = folder / "src"
    work.mkdir()
    for command in spec["phases"]["build"]["commands"]:
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            break
    return done


def test_the_build_uploads_graphs_and_weights_in_pieces(tmp_path: Path, stack: Stack) -> None:
    done = build(tmp_path, stack)
    assert done.returncode == 0, done.stderr
    assert "4 files are uploaded" in done.stdout
    uploaded = {str(path.relative_to(tmp_path / "src/model")) for path in (tmp_path / "src/model").rglob("*.*")}
    assert uploaded == {
        "model.pt",
        "neuron_config.json",
        "checkpoint/weights/tp0_sharded_checkpoint.safetensors",
        "checkpoint/weights/tp1_sharded_checkpoint.safetensors",
    }


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("compiler", "NCC_ITEN404"),
        ("weights", "not uploaded: the export kept no weights beside the graphs"),
        ("dtype", "not uploaded: torch_dtype is float32, and the service wants bfloat16"),
    ],
)
def test_what_came_out_wrong_is_not_uploaded(broken: str, says: str, tmp_path: Path, stack: Stack) -> None:
    done = build(tmp_path, stack, broken=broken)
    assert done.returncode != 0
    assert says in done.stderr
    assert not (tmp_path / "src" / "model").exists()


# ---------------------------------------------------------------- refusals
def problems(**changes: Any) -> list[str]:
    stack = new_stack()
    described = model(stack, **changes.pop("of_model", {}))
    with pytest.raises(ConfigurationError) as raised:
        compilation(stack, described, **changes)
    return list(raised.value.problems)


def test_fails_for_engines_that_compile_on_devices_only() -> None:
    for engine in (TextGenerationEngine.tgi(), TextGenerationEngine.neuron_vllm()):
        (said,) = problems(engine=engine)
        assert said.startswith("'engine' must be hf_vllm with hf-vllm-0.4.5 or hf-vllm-0.4.5-ghcr for a compilation")
        assert f"got {engine.server} with {engine.image.key}" in said
    (said,) = problems(engine=TextGenerationEngine.hf_vllm(image="registry.example/vllm:1"))
    assert "it is not in the catalogue" in said
    assert {Server.TGI, Server.NEURON_VLLM, Server.HF_VLLM} == set(Server)


def test_fails_for_what_no_build_host_holds() -> None:
    (said,) = problems(of_model={"preset": "qwen3-32b"})
    sum_of_it = "qwen3-32b takes 2 GiB + 3 x its weights = 185 GiB"
    assert said.startswith(f"'model' must be small enough for a build host of 145 GiB: {sum_of_it}; compile it on an ")


def test_fails_for_what_cannot_stand_in_a_command() -> None:
    assert problems(source="llama; rm -rf /", revision="a b") == [
        "'source' must be a model of the Hub, as meta-llama/Llama-3.1-8B-Instruct, got 'llama; rm -rf /'",
        "'revision' must be a branch, a tag or a commit, got 'a b'; use main",
    ]


def test_fails_for_a_build_of_a_day_of_a_model_that_is_compiled_elsewhere() -> None:
    assert problems(timeout=Duration.hours(24), of_model={"precompiled": False, "dtype": NeuronDtype.FP8}) == [
        "'dtype' must be bf16 or fp16 for hf_vllm, got fp8; use bf16, or the engine neuron_vllm",
        "'precompiled' must be true with a compilation: the engine then only loads what it made",
        "'timeout_hours' must be 1 to 8, got 24; use 8",
    ]


def test_fails_where_the_registry_is_not_known() -> None:
    engine = TextGenerationEngine.hf_vllm()
    (said,) = compilation_problems(model(), engine, region="eu-north-1", timeout_hours=8)
    assert "'image' must be in a registry that is known in eu-north-1" in said
