"""A build that compiles a model for static shapes, on CPU: no inf2 host waits for the compiler."""

import json
import shlex
from collections.abc import Sequence

from aws_cdk import Duration, Stack
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from cdk_trainyard.acknowledgments import AWS_SOLUTIONS, acknowledge_checkov, acknowledge_nag
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.serving.engine import TextGenerationEngine
from cdk_trainyard.serving.image_reference import ImageReference
from cdk_trainyard.serving.log_group import log_group
from cdk_trainyard.serving.managed_role import ManagedRole, statement
from cdk_trainyard.serving.model import NeuronDtype, NeuronModel
from cdk_trainyard.serving.rules_compilation import build_host, compilation_problems, source_problems
from cdk_trainyard.serving.rules_model import model_problems, shape_problems
from cdk_trainyard.storage.grants import objects_arn, write_statements

_OUTPUT = "model"
_DTYPES = {NeuronDtype.BF16: "bfloat16", NeuronDtype.FP16: "float16"}
"""What optimum-neuron's neuron_config.json calls them."""


class ModelCompilation(Construct):
    """A build that compiles a model of the Hugging Face Hub into the model's prefix, when somebody starts it.

    Defines a CodeBuild project with the engine's own image (so that compiler and runtime library belong together), a
    role that may write the prefix and read nothing else, and a log group. The build fetches the weights, exports them
    with ``optimum-cli export neuron``, compares what was compiled with what the service asks for, and only then
    uploads, in pieces per core (``presharded``). Nothing runs, and nothing costs, until ``start_command`` is run.

    Source: optimum-neuron v0.4.5, optimum/commands/export/neuronx.py and docs/source/guides/export_model.mdx; that
    CodeBuild runs its own program instead of an image's entry point: aws/aws-codebuild-docker-images issue 254.

    Args:
        model: The model as it is served: the shapes to compile for, and where it goes.
        engine: The engine that will serve it.
        source: The model on the Hub, as ``"meta-llama/Llama-3.1-8B-Instruct"``.
        revision: Its branch, tag or commit there. Default: main.
        hub_token: A secret whose whole value is a token of the Hub, for a gated model. Default - none.
        timeout: The longest that a build may take. Default - 8 hours.
        log_retention: How long its logs are kept. Default: THREE_MONTHS.
        log_key: The key of the log group. Default - CloudWatch Logs encrypts with its own.

    Attributes:
        command: What is exported, without the places of weights and result.
        project: The project.
        project_name: Its name.
        log_group: Where builds log.
        start_command: What starts a build.

    Raises:
        ConfigurationError: The engine's image compiles on Neuron devices only, or no build host is large enough.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        model: NeuronModel,
        engine: TextGenerationEngine,
        source: str,
        revision: str = "main",
        hub_token: secretsmanager.ISecret | None = None,
        timeout: Duration | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        log_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        minutes = 480 if timeout is None else int(timeout.to_minutes())
        raise_problems(
            self.node.path,
            [
                *shape_problems(model.shape),
                *model_problems(model, engine.server),
                *compilation_problems(model, engine, region=Stack.of(self).region, timeout_hours=-(-minutes // 60)),
                *source_problems(source, revision),
            ],
        )
        self.command = _export_command(model)
        self.log_group = log_group(self, "Logs", retention=log_retention, key=log_key)
        image = ImageReference.of(engine, Stack.of(self))
        role = self._role(model, image, hub_token)
        key = model.bucket.encryption_key
        path, _, name = model.folder.rstrip("/").rpartition("/")
        self.project = codebuild.CfnProject(
            self,
            "Resource",
            description=f"Compiles {source} for {model.name}",
            service_role=role.role.role_arn,
            timeout_in_minutes=minutes,
            encryption_key=None if key is None else key.key_arn,
            source=codebuild.CfnProject.SourceProperty(
                type="NO_SOURCE", build_spec=json.dumps(self._build_spec(model, source, revision))
            ),
            artifacts=codebuild.CfnProject.ArtifactsProperty(
                type="S3",
                location=model.bucket.bucket_name,
                path=path or None,
                name=name,
                namespace_type="NONE",
                packaging="NONE",
                # without a key of its own the objects take the bucket's default encryption
                encryption_disabled=key is None,
            ),
            environment=codebuild.CfnProject.EnvironmentProperty(
                type="LINUX_CONTAINER",
                compute_type=build_host(model).compute_type,
                image=image.uri,
                image_pull_credentials_type="SERVICE_ROLE",
                privileged_mode=False,
                environment_variables=_variables(hub_token),
            ),
            logs_config=codebuild.CfnProject.LogsConfigProperty(
                cloud_watch_logs=codebuild.CfnProject.CloudWatchLogsConfigProperty(
                    status="ENABLED", group_name=self.log_group.log_group_name
                )
            ),
        )
        self.project.node.add_dependency(role.policy)
        self.project_name: str = self.project.ref
        self.start_command = (
            f"aws codebuild start-build --project-name {self.project_name} --region {Stack.of(self).region}"
        )
        self._acknowledge(has_key=key is not None)

    def _role(self, model: NeuronModel, image: ImageReference, hub_token: secretsmanager.ISecret | None) -> ManagedRole:
        role = ManagedRole(self, "Role", service="codebuild.amazonaws.com", description="Compiles a model, writes it")
        role.allow(
            statement(["logs:CreateLogStream", "logs:PutLogEvents"], [self.log_group.log_group_arn]),
            statement(["s3:GetBucketAcl", "s3:GetBucketLocation"], [model.bucket.bucket_arn]),
            *write_statements(model.bucket, prefix=model.folder),
        )
        role.acknowledge("a model is everything under its prefix", objects_arn(model.bucket, prefix=model.folder))
        image.allow_pull(role)
        if hub_token is not None:
            role.allow(statement(["secretsmanager:GetSecretValue"], [hub_token.secret_arn]))
            if hub_token.encryption_key is not None:
                role.allow(statement(["kms:Decrypt"], [hub_token.encryption_key.key_arn]))
        return role

    def _build_spec(self, model: NeuronModel, source: str, revision: str) -> dict[str, object]:
        script = (scripts_folder() / "compile" / "compile.py").read_text(encoding="utf-8")
        run = shlex.join(["python3", "compile.py", source, revision, _OUTPUT, _wanted(model), *self.command])
        return {
            "version": "0.2",
            "phases": {
                "build": {
                    "on-failure": "ABORT",
                    "commands": [f"cat >compile.py <<'TRAINYARD_END_OF_FILE'\n{script}TRAINYARD_END_OF_FILE", run],
                }
            },
            "artifacts": {"base-directory": _OUTPUT, "files": ["**/*"]},
        }

    def _acknowledge(self, *, has_key: bool) -> None:
        acknowledge_nag(
            self.project,
            pack=AWS_SOLUTIONS,
            rule="CB5",
            reason="a model is compiled by the compiler that belongs to the engine's runtime library: in its image",
        )
        if not has_key:
            reason = "the only artifact is the model, which takes the default encryption of its bucket"
            acknowledge_nag(self.project, pack=AWS_SOLUTIONS, rule="CB4", reason=reason)
            acknowledge_checkov(self.project, check="CKV_AWS_78", reason=reason)


def _export_command(model: NeuronModel) -> Sequence[str]:
    return (
        *("optimum-cli", "export", "neuron"),
        *("--task", "text-generation"),
        *("--instance_type", "inf2"),
        *("--batch_size", str(model.batch)),
        *("--sequence_length", str(model.sequence_length)),
        *("--tensor_parallel_size", str(model.tensor_parallel)),
    )


def _wanted(model: NeuronModel) -> str:
    """Return what the compiled model must say of itself; the dtype is the checkpoint's, which the export keeps."""
    return json.dumps(
        {
            "batch_size": model.batch,
            "sequence_length": model.sequence_length,
            "tp_degree": model.tensor_parallel,
            "torch_dtype": _DTYPES[model.dtype],
        }
    )


def _variables(
    hub_token: secretsmanager.ISecret | None,
) -> list[codebuild.CfnProject.EnvironmentVariableProperty] | None:
    if hub_token is None:
        return None
    return [
        codebuild.CfnProject.EnvironmentVariableProperty(
            name="HF_TOKEN", type="SECRETS_MANAGER", value=hub_token.secret_arn
        )
    ]
