"""Beside an engine: the agent that writes its metrics to a workspace, and what tells of its host.

The agent is vmagent (VictoriaMetrics documentation, "vmagent"): it scrapes as Prometheus does, signs what it writes
with the task's credentials, and keeps what it could not write on the host's disk. Neither container can take the
service down: none is essential, each has its limit of memory, and their logs never block.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.monitoring import ClusterMonitoring
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.serving.engine_settings import PORT
from cdk_trainyard.versions import rows

AGENT_PORT: Final = 8429
EXPORTER_PORT: Final = 9100
METRICS_MIB: Final = 320
"""What both may take of the host's memory."""
_EXPORTER_MIB: Final = 64
_QUEUE: Final = "/queue"
_CONFIG: Final = "/config"
_AGENT_KEEPS: Final = "vmagent_remotewrite_.+|process_resident_memory_bytes"
"""Of the agent's own series: whether it writes."""
_COLLECTORS: Final = ("cpu", "diskstats", "filesystem", "loadavg", "meminfo", "timex", "vmstat")
_HOST_FOLDERS: Final = {"proc": "/proc", "sys": "/sys"}


class TaskMetrics(Construct):
    """The two containers that take the metrics of a task to a workspace.

    Both see the task's loopback interface alone. The agent ends before the engine does, as container dependencies are
    reversed when a task stops (Amazon ECS API reference, ``ContainerDependency``): a task that is replaced falls
    silent, and does not seem to be an engine that died.

    Args:
        definition: The task definition.
        engine: The engine's container.
        metrics: Where the metrics go.
        cluster_name: The label ``cluster`` of every sample.
        logging: Makes a log driver of a prefix.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        definition: ecs.TaskDefinition,
        engine: ecs.ContainerDefinition,
        metrics: ClusterMonitoring,
        cluster_name: str,
        logging: Callable[[str], ecs.LogDriver],
    ) -> None:
        super().__init__(scope, construct_id)
        self._definition, self._logging = definition, logging
        exporter = self._container("exporter", image="node_exporter", memory_mib=_EXPORTER_MIB, command=_exporter())
        for name, path in _HOST_FOLDERS.items():
            definition.add_volume(name=f"host-{name}", host=ecs.Host(source_path=path))
            exporter.add_mount_points(
                ecs.MountPoint(source_volume=f"host-{name}", container_path=f"/host/{name}", read_only=True)
            )
        script = (scripts_folder() / "ecs" / "metrics_agent.sh").read_text(encoding="utf-8")
        agent = self._container(
            "metrics",
            image="vmagent",
            memory_mib=METRICS_MIB - _EXPORTER_MIB,
            entry_point=["/bin/sh", "-c", script, "metrics"],
            command=_agent(metrics),
            environment={"SCRAPE": json.dumps(_scrape(cluster_name, metrics.scrape_seconds))},
            writes=[_CONFIG],
        )
        definition.add_volume(name="metrics-queue")
        agent.add_mount_points(ecs.MountPoint(source_volume="metrics-queue", container_path=_QUEUE, read_only=False))
        agent.add_container_dependencies(
            ecs.ContainerDependency(container=engine, condition=ecs.ContainerDependencyCondition.START)
        )

    def _container(
        self,
        name: str,
        *,
        image: str,
        memory_mib: int,
        command: Sequence[str],
        entry_point: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        writes: Sequence[str] = (),
    ) -> ecs.ContainerDefinition:
        linux = ecs.LinuxParameters(self, f"{name.capitalize()}Linux", init_process_enabled=True)
        linux.drop_capabilities(ecs.Capability.ALL)
        for path in writes:
            options = [ecs.TmpfsMountOption.NOSUID, ecs.TmpfsMountOption.NODEV]
            linux.add_tmpfs(ecs.Tmpfs(container_path=path, size=1, mount_options=options))
        reference = next(str(row["reference"]) for row in rows("sidecar_images") if row["sidecar"] == image)
        return self._definition.add_container(
            name,
            image=ecs.ContainerImage.from_registry(reference),
            entry_point=list(entry_point) if entry_point else None,
            command=list(command),
            environment=environment,
            essential=False,
            enable_restart_policy=True,
            restart_attempt_period=Duration.seconds(60),
            linux_parameters=linux,
            memory_limit_mib=memory_mib,
            logging=self._logging(name),
            readonly_root_filesystem=True,
        )


def _exporter() -> list[str]:
    """Return the flags of node_exporter: of the host's file systems it can see the one that containers are on."""
    return [
        f"--web.listen-address=127.0.0.1:{EXPORTER_PORT}",
        *(f"--path.{name}fs=/host/{name}" for name in _HOST_FOLDERS),
        "--collector.disable-defaults",
        *(f"--collector.{name}" for name in _COLLECTORS),
        "--collector.filesystem.mount-points-exclude=^/.+",
        "--web.disable-exporter-metrics",
    ]


def _agent(metrics: ClusterMonitoring) -> list[str]:
    """Return the flags of vmagent; the service that it signs for is ``aps`` by default."""
    return [
        f"-httpListenAddr=127.0.0.1:{AGENT_PORT}",
        f"-promscrape.config={_CONFIG}/scrape.json",
        f"-remoteWrite.url={metrics.workspace.remote_write_url}",
        "-remoteWrite.aws.useSigv4=true",
        f"-remoteWrite.aws.region={metrics.workspace.region}",
        "-remoteWrite.forcePromProto=true",
        f"-remoteWrite.tmpDataPath={_QUEUE}",
        "-remoteWrite.maxDiskUsagePerURL=1GB",
        "-remoteWrite.queues=1",
    ]


def _scrape(cluster_name: str, seconds: int) -> JsonValue:
    """Return what the agent scrapes; ``%{…}`` it takes from its environment."""
    targets: Mapping[str, int] = {"engine": PORT, "node": EXPORTER_PORT, "agent": AGENT_PORT}
    keep: JsonValue = [{"source_labels": ["__name__"], "regex": _AGENT_KEEPS, "action": "keep"}]
    return {
        "global": {
            "scrape_interval": f"{seconds}s",
            "scrape_timeout": f"{min(seconds, 10)}s",
            "external_labels": {"cluster": cluster_name, "task": "%{TASK}", "node": "%{NODE}"},
        },
        "scrape_configs": [
            {
                "job_name": name,
                "static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": "%{NODE}"}}],
                **({"metric_relabel_configs": keep} if name == "agent" else {}),
            }
            for name, port in targets.items()
        ],
    }
