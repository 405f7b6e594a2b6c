"""The build that compiles a model: its project, and its commands run for real against stand-ins of Hub and compiler."""

import hashlib
import json
import shlex
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
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.serving import ModelCompilation, NeuronDtype, NeuronModel, Server, TextGenerationEngine
from cdk_trainyard.serving.engine_settings import settings
from cdk_trainyard.serving.rules_compilation import build_host
from cdk_trainyard.serving.spec_service import CompilationSpec
from tests.serving.build_machine import REVISION, BuildMachine
from tests.serving.parts import model, new_stack, only, warnings
from tests.shown import lacking, promised

SOURCE = "meta-llama/Llama-3.2-3B-Instruct"
KEY = "arn:aws:kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef"
SECRET = "arn:aws:secretsmanager:us-west-2:111111111111:secret:hub-token-AbCdEf"  # noqa: S105  a name, and of nothing


def compilation(stack: Stack, of_model: NeuronModel | None = None, **changes: Any) -> ModelCompilation:
    source = {} if "exported" in changes else {"source": SOURCE, "revision": REVISION}
    given = {"model": of_model or model(stack), "engine": TextGenerationEngine.hf_vllm(), **source, **changes}
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
        revision="f" * 40,
        hub_token=secretsmanager.Secret.from_secret_attributes(
            stack, "Token", secret_complete_arn=SECRET, encryption_key=key
        ),
        timeout=Duration.hours(36),
        log_retention=logs.RetentionDays.ONE_WEEK,
        log_key=key,
    )
    template = Template.from_stack(stack)
    project = only(template, "AWS::CodeBuild::Project")
    assert project["TimeoutInMinutes"] == 2160
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


def test_an_export_is_the_source_and_the_one_folder_that_is_read(stack: Stack) -> None:
    compilation(stack, exported="exports/llama/step-10/", engine=TextGenerationEngine.tgi())
    template = Template.from_stack(stack)
    project = only(template, "AWS::CodeBuild::Project")
    assert (project["Source"]["Type"], project["Source"]["Location"]) == ("S3", "some-models/exports/llama/step-10/")
    assert project["Environment"]["Image"] == "ghcr.io/huggingface/text-generation-inference:3.3.7-neuron"
    assert project["Environment"]["EnvironmentVariables"] == [
        {"Name": "NEURON_PLATFORM_TARGET_OVERRIDE", "Value": "trn1"}
    ]
    read = [row for row in statements(template) if "s3:GetObject" in row["Action"] or row["Action"] == "s3:ListBucket"]
    assert [json.dumps(row["Resource"]).count("/exports/llama/step-10/*") for row in read] == [1, 0, 1]
    assert read[1]["Condition"] == {"StringLike": {"s3:prefix": ["exports/llama/step-10", "exports/llama/step-10/*"]}}


def test_every_build_goes_to_a_folder_of_its_own_whichever_is_served(stack: Stack) -> None:
    compilation(stack, model(stack, build="3f9a0c51d7e2"))
    template = Template.from_stack(stack)
    artifacts = only(template, "AWS::CodeBuild::Project")["Artifacts"]
    assert (artifacts["Path"], artifacts["Name"]) == ("models", "llama")
    assert "/models/llama/*" in json.dumps(statements(template))


# ---------------------------------------------------------------- what is compiled is what is served
def words(text: str) -> dict[str, str]:
    """Return the options of a command."""
    parts = shlex.split(text)
    return {part: parts[index + 1] for index, part in enumerate(parts) if part.startswith("--")}


@pytest.mark.parametrize(("batch", "length", "degree"), [(4, 4096, 2), (1, 8192, 1), (16, 2048, 2)])
def test_the_command_has_the_static_shapes_of_the_engine(batch: int, length: int, degree: int) -> None:
    for engine in (TextGenerationEngine.hf_vllm(), TextGenerationEngine.tgi()):
        stack = new_stack()
        described = model(stack, batch=batch, sequence_length=length, tensor_parallel=degree)
        served = settings(engine, described, request_seconds=600).environment
        said = words(shlex.join(compilation(stack, described, engine=engine).command))
        assert said.pop("--task") == "text-generation"
        if engine.kind is Server.HF_VLLM:
            assert said == {
                "--instance_type": "inf2",
                "--batch_size": served["SM_ON_BATCH_SIZE"],
                "--sequence_length": served["SM_ON_SEQUENCE_LENGTH"],
                "--tensor_parallel_size": served["SM_ON_TENSOR_PARALLEL_SIZE"],
            }
        else:
            assert said == {
                "--batch_size": served["MAX_BATCH_SIZE"],
                "--sequence_length": served["MAX_TOTAL_TOKENS"],
                "--num_cores": served["HF_NUM_CORES"],
                "--auto_cast_type": served["HF_AUTO_CAST_TYPE"],
            }


def machine(
    folder: Path, stack: Stack, server: Server = Server.HF_VLLM, sources: dict[str, bytes] | None = None, **changes: Any
) -> BuildMachine:
    """Return a machine that has a build before it."""
    compilation(stack, engine=TextGenerationEngine(kind=server), **changes)
    project = only(Template.from_stack(stack), "AWS::CodeBuild::Project")
    return BuildMachine(folder, project, server, sources or {})


def test_the_build_uploads_graphs_and_weights_in_pieces_in_a_folder_named_by_its_content(
    tmp_path: Path, stack: Stack
) -> None:
    built = machine(tmp_path, stack)
    done = built.run()
    assert done.returncode == 0, done.stderr
    manifest = (built.build / "trainyard-manifest.json").read_bytes()
    assert built.build.name == hashlib.sha256(manifest).hexdigest()[:12]
    shown = promised("constructs/cdk_trainyard/serving/README.md", "aws logs tail {CompileLogGroupName} --follow")
    assert lacking([*shown[:-1], shown[-1].replace("3f9a0c51d7e2", built.build.name)], done.stdout) == []
    there = {path.relative_to(built.build).as_posix(): path for path in built.build.rglob("*") if path.is_file()}
    said = json.loads(manifest)
    assert said["files"] == {
        name: {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for name, path in there.items()
        if path.name != "trainyard-manifest.json"
    }
    assert set(said["files"]) == {
        "config.json",
        "generation_config.json",  # with the tokens that end an answer
        "model.pt",
        "neuron_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "checkpoint/weights/tp0_sharded_checkpoint.safetensors",
        "checkpoint/weights/tp1_sharded_checkpoint.safetensors",
    }
    assert (said["model"]["source"], said["model"]["revision"]) == (SOURCE, REVISION)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("compiler", "NCC_ITEN404"),
        ("weights", "not uploaded: there is no checkpoint/weights/tp0_sharded_checkpoint.safetensors"),
        ("dtype", "not uploaded: torch_dtype of neuron_config.json is float32, and the service asks for bfloat16"),
        ("tokenizer", "not compiled: there is no tokenizer.[jm]*"),
    ],
)
def test_what_came_out_wrong_is_not_uploaded(broken: str, says: str, tmp_path: Path, stack: Stack) -> None:
    built = machine(tmp_path, stack)
    done = built.run(broken=broken)
    assert done.returncode != 0
    assert says in done.stderr
    assert not built.uploads.exists()


def test_an_export_that_is_not_whole_is_not_compiled(tmp_path: Path, stack: Stack) -> None:
    sources = {"config.json": b"{}", "model.safetensors": b"weights"}
    done = machine(tmp_path, stack, Server.TGI, sources, exported="exports/llama").run()
    assert done.returncode != 0
    assert "not compiled: there is no trainyard-manifest.json" in done.stderr


# ---------------------------------------------------------------- refusals
def problems(**changes: Any) -> list[str]:
    stack = new_stack()
    described = model(stack, **changes.pop("of_model", {}))
    with pytest.raises(ConfigurationError) as raised:
        compilation(stack, described, **changes)
    return list(raised.value.problems)


def test_fails_for_engines_that_compile_on_devices_only() -> None:
    assert problems(engine=TextGenerationEngine.neuron_vllm()) == [
        (
            "'engine.kind' must be hf-vllm or tgi for a model that a build compiles, got neuron-vllm: it compiles with "
            "NxD Inference, on Neuron devices; compile elsewhere, or use hf-vllm"
        )
    ]
    assert problems(engine=TextGenerationEngine.hf_vllm(image="registry.example/vllm:1")) == [
        (
            "'engine.image' must be hf-vllm-0.4.5 or hf-vllm-0.4.5-ghcr for a model that a build compiles, got "
            "registry.example/vllm:1: it is not in the catalogue; compile elsewhere"
        )
    ]


def test_unchecked_compiles_in_an_image_that_nobody_knows(stack: Stack) -> None:
    engine = TextGenerationEngine.hf_vllm(image="registry.example/vllm:1", unchecked=True)
    made = compilation(stack, model(stack, dtype=NeuronDtype.FP8), engine=engine)
    assert made.command[:3] == ("optimum-cli", "export", "neuron")
    found = [text for text in warnings(stack) if "serving:unchecked" in text]
    assert [text.partition(" must")[0] for text in found] == ["'model.dtype'", "'engine.image'"]


def test_fails_for_what_no_build_host_holds() -> None:
    assert problems(of_model={"preset": "qwen3-32b"}, source="Qwen/Qwen3-32B") == [
        (
            "'model' must be small enough for a build host of 145 GiB: qwen3-32b takes 2 GiB + 3 x its weights = 185 "
            "GiB; compile it on an instance with that memory and copy it to 'prefix'"
        )
    ]


@pytest.mark.parametrize("revision", ["main", "v1.2", "0123abc", "a b"])
def test_fails_for_a_revision_that_moves(revision: str) -> None:
    assert problems(revision=revision) == [
        (
            f"'revision' must be a commit, 40 hexadecimal digits, as 40c069824f4251a91eefaf281ebe4c544efd3e18, got "
            f"{revision!r}; a branch moves, and what is compiled again would be another model; the Hub lists commits "
            f"under 'Files and versions'"
        )
    ]


def test_fails_for_what_cannot_stand_in_a_command() -> None:
    assert problems(source="llama; rm -rf /") == [
        (
            "'source' must be the name of a model on the Hugging Face Hub, <organization>/<model>, as "
            "meta-llama/Llama-3.1-8B-Instruct, got 'llama; rm -rf /'"
        )
    ]
    (said,) = problems(source=None, revision=None, exported="exports//llama $(id)")
    assert said.startswith("'exported' must be a folder of the bucket")


@pytest.mark.parametrize(
    "source",
    [
        *("datasets/squad", "spaces/demo", "acme/llama--7b", "acme--x/llama", "acme/llama..7b", "acme/llama.git"),
        *("acme/llama-", "acme/llama.", "acme-/llama", "acme/.llama", f"acme/{'x' * 97}"),
    ],
)
def test_fails_for_what_the_hub_calls_no_model(source: str) -> None:
    (said,) = problems(source=source)
    assert said.startswith("'source' must be the name of a model on the Hugging Face Hub, <organization>/<model>, as")


@pytest.mark.parametrize("source", ["acme/_llama_", "A-c.m_e/Llama-3.1_8B", "datasets-team/x", f"acme/{'x' * 96}"])
def test_takes_what_the_hub_may_call_a_model(source: str) -> None:
    judge = Judge(environment=NOWHERE)
    judge.judged(CompilationSpec(source=source))
    assert judge.problems == []


def test_fails_for_two_sources_or_none() -> None:
    either = "'source' or 'exported' must be given, one of a model of the Hub and a folder of the bucket, got "
    assert problems(source=None, revision=None) == [f"{either}neither"]
    assert problems(source=SOURCE, exported="exports/llama") == [f"{either}both"]
    assert problems(source=None, exported="exports/llama", revision=REVISION) == [
        "'revision' must be left out beside 'exported': it is a commit of 'source'"
    ]
    token = secretsmanager.Secret.from_secret_complete_arn(new_stack(), "Token", SECRET)
    assert problems(source=None, revision=None, exported="exports/llama", hub_token=token) == [
        "'hub_token' must be left out beside 'exported', which comes from the bucket: the Hub is asked for nothing"
    ]
    assert problems(revision=None) == [
        "'revision' must be given beside 'source': a commit of it, which a branch is not"
    ]


def test_fails_for_a_token_of_another_account_without_its_key(stack: Stack) -> None:
    arn = SECRET.replace("111111111111", "222222222222")
    (said,) = problems(hub_token=secretsmanager.Secret.from_secret_complete_arn(stack, "Token", arn))
    assert said.startswith("'hub_token' must be of account 111111111111, got ")
    key = kms.Key.from_key_arn(stack, "Key", KEY.replace("111111111111", "222222222222"))
    token = secretsmanager.Secret.from_secret_attributes(stack, "Keyed", secret_complete_arn=arn, encryption_key=key)
    assert compilation(stack, hub_token=token).project_name


def test_fails_for_a_build_of_two_days_of_a_model_that_is_compiled_elsewhere() -> None:
    assert problems(timeout=Duration.hours(48), of_model={"precompiled": False, "dtype": NeuronDtype.FP8}) == [
        "'model.precompiled' must be true for a model that a build compiles: the engine then only loads what it made",
        "'timeout' must be 1 to 36 hours, got 48",
        "'model.dtype' must be bf16 or fp16 for hf-vllm, got fp8; use bf16, or an engine of kind neuron-vllm",
    ]
