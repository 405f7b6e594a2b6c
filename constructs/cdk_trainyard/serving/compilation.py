"""A build that compiles a model for static shapes, on CPU: no inf2 host waits for the compiler."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from aws_cdk import Duration, Stack
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.names import Naming, named
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import within
from cdk_trainyard.real import real
from cdk_trainyard.serving.catalogue import Server
from cdk_trainyard.serving.findings import Findings
from cdk_trainyard.serving.image_reference import ImageReference
from cdk_trainyard.serving.logs import log_group
from cdk_trainyard.serving.managed_role import ManagedRole, statement
from cdk_trainyard.serving.model_layout import EXPORTED, layout
from cdk_trainyard.serving.rules_catalogue import engine_problems, server_problems
from cdk_trainyard.serving.rules_compilation import (
    build_host,
    compilation_problems,
    compilation_warnings,
    known_compilation_problems,
)
from cdk_trainyard.serving.rules_model import bucket_problems, dtype_problems, model_problems
from cdk_trainyard.serving.rules_secrets import hub_token_problems
from cdk_trainyard.serving.spec_model import NeuronModel, TextGenerationEngine
from cdk_trainyard.serving.spec_service import CompilationSpec
from cdk_trainyard.storage.grants import objects_arn, read_statements, write_statements
from cdk_trainyard.storage.secret_grants import secret_statements
from cdk_trainyard.surroundings import surroundings

_OUTPUT = "model"
_FILES = (("compile", "compile.py"), ("ecs", "model_files.py"))
_SCRIPTS = "/tmp/trainyard"  # noqa: S108  of the build's own container
_NO_KEY = dict.fromkeys(
    ("AwsSolutions-CB4", "CKV_AWS_78"),
    "the only artifact is the model, which takes the default encryption of its bucket",
)
_END = "TRAINYARD_END_OF_FILE"


class ModelCompilation(Construct):
    """A build that compiles a model into a folder of its own in the model's prefix, when somebody starts it.

    Defines a CodeBuild project with the engine's own image (so that compiler and runtime library belong together), a
    role that may write the prefix and read nothing but an export, and a log group. The build takes the weights, exports
    them from disk with ``optimum-cli export neuron``, which then keeps them in pieces per core (``presharded``),
    compares what was compiled with what hosts will ask for, and only then uploads. The last line of its log names the
    ``build`` to be served. Nothing runs, and nothing costs, until ``start_command`` is run.

    Source: optimum-neuron v0.3.0 and v0.4.5, ``commands/export/neuronx.py`` and ``models/inference/backend``: weights
    are kept when the model is a local directory. Without a device: neuronx-distributed 2.24.0 to 2.28.0 (c9ee222 and
    later), ``trace/model_builder.py``, which traces on CPU and takes the platform from NEURON_PLATFORM_TARGET_OVERRIDE;
    huggingface/optimum-neuron pull requests 961 and 988. That CodeBuild runs its own program instead of an image's
    entry point: aws/aws-codebuild-docker-images issue 254.

    Args:
        model: The model as it is served: the shapes to compile for, and the prefix that it goes to.
        engine: The engine that will serve it: hf_vllm or tgi, with an image of the catalogue.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        source: A model on the Hugging Face Hub. Default - ``exported`` is given instead.
        revision: Its commit there, which a branch is not. Default - ``exported`` is given instead.
        exported: A folder of the models bucket that jobs/export-for-serving wrote.
            Default - ``source`` is given instead.
        hub_token: A secret whose whole value is a token of the Hub, for a gated model; where a file names it, one that
            no KMS key of your own encrypts.
            Default - none.
        timeout: The longest that a build may take, 1 to 36 hours. Default: 8.
        log_retention: How long its logs are kept. Default: THREE_MONTHS.
        log_key: KMS key of the log group. Default - CloudWatch Logs encrypts with its own.

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
        names: Naming | None = None,
        source: str | None = None,
        revision: str | None = None,
        exported: str | None = None,
        hub_token: secretsmanager.ISecret | None = None,
        timeout: Duration | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        log_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(CompilationSpec, locals()))
        of_model, of_engine = judge.judged(model, ("model",)), judge.judged(engine, ("engine",))
        findings = Findings.of(
            of_engine,
            [
                *judge.problems,
                *within(("model",), bucket_problems(model)),
                *within(("model",), model_problems(of_model, of_engine.kind)),
                *within(("engine",), engine_problems(of_engine, judge.environment.region)),
                *compilation_problems(spec, of_model, of_engine),
                *hub_token_problems(spec.hub_token, judge.environment.account),
            ],
            [
                *server_problems(of_engine),
                *dtype_problems(of_model, of_engine.kind),
                *known_compilation_problems(spec, of_model, of_engine),
            ],
            compilation_warnings(spec),
        )
        raise_problems(self, findings.problems)
        say_warnings(self, findings.warnings)
        self._spec = spec
        self.command = _COMMANDS[engine.kind](model)
        self.log_group = log_group(self, "Logs", retention=real(spec.log_retention), key=log_key)
        image = ImageReference.of(engine, Stack.of(self))
        role = self._role(model, image)
        key = model.bucket.encryption_key
        path, _, name = model.home.rstrip("/").rpartition("/")
        self.project = codebuild.CfnProject(
            self,
            "Resource",
            description=f"Compiles {source or 'an export'} for {model.name}",
            service_role=role.role.role_arn,
            timeout_in_minutes=int(real(spec.timeout).to_minutes()),
            encryption_key=None if key is None else key.key_arn,
            source=codebuild.CfnProject.SourceProperty(
                type="S3" if exported else "NO_SOURCE",
                location=f"{model.bucket.bucket_name}/{self._exports}" if exported else None,
                build_spec=json.dumps(self._build_spec(model, engine)),
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
                environment_variables=_variables(engine.kind, hub_token),
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

    @property
    def _exports(self) -> str:
        """The export's prefix with its slash."""
        return f"{(self._spec.exported or '').strip('/')}/"

    def _role(self, model: NeuronModel, image: ImageReference) -> ManagedRole:
        hub_token = self._spec.hub_token
        role = ManagedRole(self, "Role", service="codebuild.amazonaws.com", description="Compiles a model, writes it")
        role.allow(
            statement(["logs:CreateLogStream", "logs:PutLogEvents"], [self.log_group.log_group_arn]),
            statement(["s3:GetBucketAcl", "s3:GetBucketLocation"], [model.bucket.bucket_arn]),
            *write_statements(model.bucket, prefix=model.home),
        )
        role.acknowledge("a model is everything under its prefix", objects_arn(model.bucket, prefix=model.home))
        if self._spec.exported is not None:
            objects = objects_arn(model.bucket, prefix=self._exports)
            role.allow(
                *read_statements(model.bucket, prefix=self._exports), statement(["s3:GetObjectVersion"], [objects])
            )
            role.acknowledge("an export is everything under its prefix", objects)
        image.allow_pull(role)
        if hub_token is not None:
            role.allow(*secret_statements(hub_token))
        return role

    def _build_spec(self, model: NeuronModel, engine: TextGenerationEngine) -> dict[str, object]:
        source, revision = self._spec.source, self._spec.revision
        plan: Mapping[str, JsonValue] = {
            "source": source or "export",
            "revision": revision,
            "reads": EXPORTED,
            "command": self.command,
            "layout": layout(replace(model, presharded=True), engine.container),
            "model": {
                "source": source or self._exports,
                "revision": revision,
                "image": engine.container.key,
                "command": self.command,
            },
            "target": _OUTPUT,
        }
        scripts = {name: scripts_folder() / folder / name for folder, name in _FILES}
        return {
            "version": "0.2",
            "phases": {
                "build": {
                    "on-failure": "ABORT",
                    "commands": [
                        f"mkdir -p {_SCRIPTS}",
                        *(
                            f"cat >{_SCRIPTS}/{name} <<'{_END}'\n{path.read_text(encoding='utf-8')}{_END}"
                            for name, path in scripts.items()
                        ),
                        shlex.join(["python3", f"{_SCRIPTS}/compile.py", json.dumps(plan)]),
                    ],
                }
            },
            "artifacts": {"base-directory": _OUTPUT, "files": ["**/*"]},
        }

    def _acknowledge(self, *, has_key: bool) -> None:
        reason = "a model is compiled by the compiler that belongs to the engine's runtime library: in its image"
        acknowledge(self.project, {"AwsSolutions-CB5": reason, **({} if has_key else _NO_KEY)})


def _shapes(model: NeuronModel) -> Sequence[str]:
    return (
        *("optimum-cli", "export", "neuron"),
        *("--task", "text-generation"),
        *("--batch_size", str(model.batch)),
        *("--sequence_length", str(model.tokens)),
    )


def _of_hf_vllm(model: NeuronModel) -> Sequence[str]:
    """Of optimum-neuron 0.4.5, which keeps the checkpoint's dtype."""
    return (*_shapes(model), "--instance_type", "inf2", "--tensor_parallel_size", str(model.tensor_parallel))


def _of_tgi(model: NeuronModel) -> Sequence[str]:
    """Of optimum-neuron 0.3.0, which casts, and drops ``--tensor_parallel_size`` for language models."""
    return (*_shapes(model), "--num_cores", str(model.tensor_parallel), "--auto_cast_type", model.dtype.value)


_COMMANDS: Mapping[Server, Callable[[NeuronModel], Sequence[str]]] = {
    Server.HF_VLLM: _of_hf_vllm,
    Server.TGI: _of_tgi,
}


def _variables(
    server: Server, hub_token: secretsmanager.ISecret | None
) -> list[codebuild.CfnProject.EnvironmentVariableProperty] | None:
    found = []
    if server is Server.TGI:  # what optimum-neuron 0.4 sets by itself for inf2, which the libraries call trn1
        found.append(
            codebuild.CfnProject.EnvironmentVariableProperty(name="NEURON_PLATFORM_TARGET_OVERRIDE", value="trn1")
        )
    if hub_token is not None:
        found.append(
            codebuild.CfnProject.EnvironmentVariableProperty(
                name="HF_TOKEN", type="SECRETS_MANAGER", value=hub_token.secret_arn
            )
        )
    return found or None
