"""The task of a service: the engine, and the collector of its metrics beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from aws_cdk import Duration, Stack
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.monitoring import ClusterMonitoring
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.serving.concurrency import AGENT_MIB, CONTROL_PORT, DATA_PORT
from cdk_trainyard.serving.engine_settings import (
    MODEL_PATH,
    PORT,
    SHARED_MEMORY_MIB,
    STOP_SECONDS,
    EngineSettings,
)
from cdk_trainyard.serving.host_script import MOUNT_PATH, SCRATCH_PATH
from cdk_trainyard.serving.image_reference import ImageReference
from cdk_trainyard.serving.logs import log_driver
from cdk_trainyard.serving.managed_role import ManagedRole, statement
from cdk_trainyard.serving.metrics_agent import METRICS_MIB, TaskMetrics
from cdk_trainyard.serving.spec_load_balancer import ConcurrencyLimit
from cdk_trainyard.serving.spec_model import TextGenerationEngine
from cdk_trainyard.storage.secret_grants import secret_statements

METRICS_NAMESPACE = "CdkTrainyard/Serving"
MODEL_LABEL = "trainyard.model"
"""What an engine serves, as hosts mount it: with another folder there is another task definition, so that ECS deploys
it, waits until it is healthy, and rolls back; replaced hosts alone would be nothing that anybody waits for."""
COLLECT_SECONDS = 15
_COLLECTOR_MIB = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskPlan:
    """Inputs of the ECS task definition: engine settings, address in S3, Neuron devices, memory.

    Attributes:
        service_name: What its metrics are called by.
        settings: What the engine is started with.
        served: The address in S3 of what the engine serves.
        devices: Neuron devices it is given.
        memory_mib: The memory it may take, of all the host has.
        precompiled: Whether the engine only loads; otherwise it writes gigabytes while it compiles.
        metrics: Where its metrics go. None: to CloudWatch alone.
    """

    service_name: str
    settings: EngineSettings
    served: str
    devices: int
    memory_mib: int
    precompiled: bool
    metrics: ClusterMonitoring | None = None


class InferenceTask(Construct):
    """A task definition with the engine and its collector.

    Defines an execution role that pulls, reads secrets and logs, and a task role, too, which may write metrics to
    their workspace, and without metrics nothing.

    Args:
        engine: The engine.
        plan: What the task is.
        log_group: Where its containers log.
        execution_role: A role of the user's for ECS, which gets the policy attached. Default - a new one.
        task_role: A role of the user's for the task, which is left as it is. Default - a new one.

    Attributes:
        definition: The task definition.
        engine: The engine's container.
        execution_role: The role that ECS pulls the image, reads secrets and logs with.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        engine: TextGenerationEngine,
        plan: TaskPlan,
        log_group: logs.ILogGroup,
        execution_role: iam.IRole | None = None,
        task_role: iam.IRole | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._plan, self._logging = plan, partial(log_driver, log_group)
        self.execution_role = ManagedRole(
            self,
            "ExecutionRole",
            service="ecs-tasks.amazonaws.com",
            description="ECS pulls, logs and reads secrets",
            given=execution_role,
        )
        self.execution_role.allow(statement(["logs:CreateLogStream", "logs:PutLogEvents"], [log_group.log_group_arn]))
        self.definition = ecs.Ec2TaskDefinition(
            self,
            "Resource",
            network_mode=ecs.NetworkMode.AWS_VPC,
            execution_role=self.execution_role.role,
            task_role=task_role or self._task_role(),
            volumes=list(self._volumes()),
        )
        reference = ImageReference.of(engine, Stack.of(self))
        reference.allow_pull(self.execution_role)
        reference.has_rights(self)
        image = ecs.ContainerImage.from_registry(reference.uri)
        self.engine = self._engine(image)
        self._collector(image)
        if plan.metrics is not None:
            TaskMetrics(
                self,
                "Metrics",
                definition=self.definition,
                engine=self.engine,
                metrics=plan.metrics,
                cluster_name=plan.service_name,
                logging=self._logging,
            )
        if engine.hub_token is not None:
            self.add_secret("HF_TOKEN", engine.hub_token)
        reason = "the engine's settings, reviewed with the template; what is secret comes from Secrets Manager"
        acknowledge(main_resource(self.definition), {"AwsSolutions-ECS2": reason})

    def add_secret(self, variable: str, secret: secretsmanager.ISecret, key: kms.IKey | None = None) -> None:
        """Give the engine a secret in an environment variable, and ECS the right to read it.

        Args:
            variable: The variable.
            secret: The secret.
            key: Its key. None: the one that the secret knows of.
        """
        self.engine.add_secret(variable, ecs.Secret.from_secrets_manager(secret))
        self.execution_role.allow(*secret_statements(secret, key))

    def add_agent(self, limit: ConcurrencyLimit, requests: int) -> None:
        """Put the target optimizer's agent before the engine."""
        ImageReference.of_uri(limit.image, Stack.of(self)).allow_pull(self.execution_role)
        linux = ecs.LinuxParameters(self, "AgentLinux", init_process_enabled=True)
        linux.drop_capabilities(ecs.Capability.ALL)
        self.definition.add_container(
            "agent",
            image=ecs.ContainerImage.from_registry(limit.image),
            environment={
                "TARGET_CONTROL_CONTROL_ADDRESS": f"0.0.0.0:{CONTROL_PORT}",
                "TARGET_CONTROL_DATA_ADDRESS": f"0.0.0.0:{DATA_PORT}",
                "TARGET_CONTROL_DESTINATION_ADDRESS": f"127.0.0.1:{PORT}",
                "TARGET_CONTROL_MAX_CONCURRENCY": str(requests),
            },
            essential=True,
            linux_parameters=linux,
            memory_limit_mib=AGENT_MIB,
            logging=self._logging("agent"),
            port_mappings=[
                ecs.PortMapping(container_port=DATA_PORT, name="data"),
                ecs.PortMapping(container_port=CONTROL_PORT, name="control"),
            ],
            readonly_root_filesystem=True,
        )

    def _task_role(self) -> iam.IRole:
        service, name = "ecs-tasks.amazonaws.com", "TaskRole"
        if self._plan.metrics is None:
            text = "A task that serves a model: no permission"
            return ManagedRole.without_permissions(self, name, service=service, description=text)
        made = ManagedRole(self, name, service=service, description="A task that serves a model: it writes metrics")
        made.allow(statement(["aps:RemoteWrite"], [self._plan.metrics.workspace.workspace_arn]))
        return made.role

    # ---------------------------------------------------------------- containers
    def _engine(self, image: ecs.ContainerImage) -> ecs.ContainerDefinition:
        settings = self._plan.settings
        container = self.definition.add_container(
            "engine",
            image=image,
            command=list(settings.arguments) or None,
            environment=dict(settings.environment),
            docker_labels={MODEL_LABEL: self._plan.served},
            essential=True,
            memory_limit_mib=self._plan.memory_mib
            - _COLLECTOR_MIB
            - AGENT_MIB
            - (METRICS_MIB if self._plan.metrics else 0),
            linux_parameters=self._linux(),
            logging=self._logging("engine"),
            port_mappings=[ecs.PortMapping(container_port=PORT, name="http")],
            readonly_root_filesystem=True,
            stop_timeout=Duration.seconds(STOP_SECONDS),
            # the host's mount may die after the task was started, and the task would keep its dead handle
            health_check=ecs.HealthCheck(
                command=["CMD", "ls", f"{MODEL_PATH}/"],
                interval=Duration.seconds(30),
                timeout=Duration.seconds(20),
                retries=3,
            ),
            ulimits=[
                ecs.Ulimit(name=ecs.UlimitName.MEMLOCK, soft_limit=-1, hard_limit=-1),
                ecs.Ulimit(name=ecs.UlimitName.NOFILE, soft_limit=65536, hard_limit=65536),
            ],
        )
        container.add_mount_points(*self._mounts())
        return container

    def _linux(self) -> ecs.LinuxParameters:
        linux = ecs.LinuxParameters(self, "Linux", init_process_enabled=True, shared_memory_size=SHARED_MEMORY_MIB)
        linux.drop_capabilities(ecs.Capability.ALL)
        for number in range(self._plan.devices):
            linux.add_devices(
                ecs.Device(
                    host_path=f"/dev/neuron{number}",
                    container_path=f"/dev/neuron{number}",
                    permissions=[ecs.DevicePermission.READ, ecs.DevicePermission.WRITE],
                )
            )
        for path, mib in self._in_memory().items():
            linux.add_tmpfs(
                ecs.Tmpfs(
                    container_path=path,
                    size=mib,
                    mount_options=[ecs.TmpfsMountOption.NOSUID, ecs.TmpfsMountOption.NODEV, ecs.TmpfsMountOption.EXEC],
                )
            )
        return linux

    def _collector(self, image: ecs.ContainerImage) -> None:
        script = (scripts_folder() / "ecs" / "collector.py").read_text(encoding="utf-8")
        pairs = [part for pair in self._plan.settings.metrics.items() for part in pair]
        url = f"http://127.0.0.1:{PORT}/metrics"
        linux = ecs.LinuxParameters(self, "CollectorLinux", init_process_enabled=True)
        linux.drop_capabilities(ecs.Capability.ALL)
        self.definition.add_container(
            "collector",
            image=image,
            entry_point=["python3", "-u", "-c", script],
            command=[url, str(COLLECT_SECONDS), METRICS_NAMESPACE, self._plan.service_name, *pairs],
            essential=False,
            enable_restart_policy=True,
            restart_attempt_period=Duration.seconds(60),
            linux_parameters=linux,
            memory_limit_mib=_COLLECTOR_MIB,
            logging=self._logging("collector"),
            readonly_root_filesystem=True,
        )

    # ---------------------------------------------------------------- what it reads and writes
    def _in_memory(self) -> Mapping[str, int]:
        """Folders that are written a little to; a compiler's gigabytes go to the host's disk instead."""
        return {path: mib for path, mib in self._plan.settings.writes.items() if path not in self._on_disk()}

    def _on_disk(self) -> Mapping[str, str]:
        if self._plan.precompiled:
            return {}
        return {path: path.strip("/").replace("/", "-") for path in self._plan.settings.writes}

    def _volumes(self) -> Sequence[ecs.Volume]:
        model = ecs.Volume(name="model", host=ecs.Host(source_path=MOUNT_PATH))
        scratch = [
            ecs.Volume(name=name, host=ecs.Host(source_path=f"{SCRATCH_PATH}/{name}"))
            for name in self._on_disk().values()
        ]
        return [model, *scratch]

    def _mounts(self) -> Sequence[ecs.MountPoint]:
        model = ecs.MountPoint(source_volume="model", container_path=MODEL_PATH, read_only=True)
        scratch = [
            ecs.MountPoint(source_volume=name, container_path=path, read_only=False)
            for path, name in self._on_disk().items()
        ]
        return [model, *scratch]
