"""AWS's node problem detector for Neuron on every host of a service: a broken device takes its host away.

Source: aws-neuron-sdk, "Neuron Problem Detector And Recovery" for ECS. The detector reads the kernel's log, where the
driver writes ``NEURON_HW_ERR``; the recovery beside it asks the detector, publishes metrics in ``NeuronHealthCheck``
and tells the auto scaling group that the instance is unhealthy.

The detector is an image of the Kubernetes project, whose registry sends clients on to a bucket of its own in the
Region, without a signature; the network's S3 endpoint lets that bucket through. The registry promises no such place
("DO NOT depend on the implementation details", kubernetes/registry.k8s.io, README): who cannot have that gives a copy.
A pull-through cache of ECR would not help, since the first pull of an image goes to its registry ("Amazon ECR interface
VPC endpoints", considerations; aws/containers-roadmap issue 2304).
"""

import json
from functools import partial

from aws_cdk import Annotations, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.serving.image_reference import ImageReference
from cdk_trainyard.serving.logs import log_driver
from cdk_trainyard.serving.managed_role import ManagedRole, statement
from cdk_trainyard.serving.service import InferenceService
from cdk_trainyard.serving.spec_service import DETECTOR_VERSION, NodeHealthSpec
from cdk_trainyard.surroundings import surroundings

METRICS_NAMESPACE = "NeuronHealthCheck"
_START = (
    'printf %s "$KERNEL_MONITOR" >/config/kernel-monitor.json && exec /node-problem-detector --v=2 --logtostderr '
    "--enable-k8s-exporter=false --config.system-log-monitor=/config/kernel-monitor.json"
)
_RESERVED_MIB, _LIMIT_MIB = 128, 512


class NeuronNodeHealth(Construct):
    """A daemon on every host of a service that has a host with a broken Neuron device replaced.

    Defines a task definition, a daemon service in the service's cluster, and two roles. The detector is privileged, as
    AWS's own documentation has it, since it reads the kernel's log.

    Args:
        service: The service whose hosts are watched.
        recover: Whether a host is replaced; otherwise metrics and logs only tell. Default: True.
        detector_image: The detector, of the version that AWS's documentation names.
            Default: registry.k8s.io/node-problem-detector/node-problem-detector:v0.8.19.
        detector_repository: An ECR repository of yours that has a copy of the detector, with the tag ``v0.8.19``.
            Default - it is pulled from the Kubernetes project's registry.
        recovery_image: The recovery. Default: public.ecr.aws/neuron/neuron-node-recovery:1.3.0.

    Attributes:
        service: The daemon service.
        task_definition: Its task definition.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service: InferenceService,
        recover: bool = True,
        detector_image: str = "registry.k8s.io/node-problem-detector/node-problem-detector:v0.8.19",
        detector_repository: ecr.IRepository | None = None,
        recovery_image: str = "public.ecr.aws/neuron/neuron-node-recovery:1.3.0",
    ) -> None:
        super().__init__(scope, construct_id)
        judge = Judge(environment=surroundings(self))
        judge.judged(given(NodeHealthSpec, locals()))
        raise_problems(self, judge.problems)
        self._logging = partial(log_driver, service.log_group)
        execution = ManagedRole(
            self, "ExecutionRole", service="ecs-tasks.amazonaws.com", description="ECS pulls and logs"
        )
        execution.allow(statement(["logs:CreateLogStream", "logs:PutLogEvents"], [service.log_group.log_group_arn]))
        stack = Stack.of(self)
        detector = ImageReference.of_uri(detector_image, stack)
        if detector_repository is not None:
            detector = ImageReference.of_copy(detector_repository, DETECTOR_VERSION)
        detector.allow_pull(execution)
        ImageReference.of_uri(recovery_image, stack).allow_pull(execution)
        self.task_definition = ecs.Ec2TaskDefinition(
            self,
            "Task",
            # the recovery asks the instance's metadata who it is, which tasks of other modes cannot reach
            network_mode=ecs.NetworkMode.HOST,
            execution_role=execution.role,
            task_role=self._recovery_role(service).role,
        )
        detector.has_rights(self)
        self._detector(detector.uri)
        self._recovery(recovery_image, recover=recover)
        self.service = ecs.Ec2Service(
            self,
            "Resource",
            cluster=service.cluster,
            task_definition=self.task_definition,
            daemon=True,
            min_healthy_percent=0,
            max_healthy_percent=100,
            enable_ecs_managed_tags=True,
        )
        Annotations.of(self.service).acknowledge_warning(
            "@aws-cdk/aws-ecs:shouldUseCircuitBreaker",
            "the circuit breaker counts desired tasks, and a daemon has none (aws/aws-cdk issue 38102)",
        )
        main_resource(self.service).node.add_dependency(execution.policy)
        self._acknowledge()

    def _recovery_role(self, service: InferenceService) -> ManagedRole:
        role = ManagedRole(
            self, "Role", service="ecs-tasks.amazonaws.com", description="Tells which hosts have broken Neuron devices"
        )
        group = service.hosts.group.auto_scaling_group_arn
        role.allow(
            statement(["autoscaling:SetInstanceHealth"], [group]),
            statement(["autoscaling:DescribeAutoScalingInstances", "ec2:DescribeInstances"], ["*"]),
            statement(["cloudwatch:PutMetricData"], ["*"], StringEquals={"cloudwatch:namespace": METRICS_NAMESPACE}),
        )
        role.acknowledge("the Describe actions and metrics know no resources (metrics are held to one namespace)", "*")
        role.acknowledge("the id in the ARN of an auto scaling group is not known to CloudFormation", group)
        return role

    def _detector(self, image: str) -> None:
        rules = json.loads((scripts_folder() / "ecs" / "neuron-problems.json").read_text(encoding="utf-8"))
        linux = ecs.LinuxParameters(self, "DetectorLinux", init_process_enabled=True)
        linux.add_devices(
            ecs.Device(host_path="/dev/kmsg", container_path="/dev/kmsg", permissions=[ecs.DevicePermission.READ])
        )
        linux.add_tmpfs(
            ecs.Tmpfs(
                container_path="/config",
                size=1,
                mount_options=[ecs.TmpfsMountOption.NOSUID, ecs.TmpfsMountOption.NODEV],
            )
        )
        self.task_definition.add_container(
            "detector",
            image=ecs.ContainerImage.from_registry(image),
            entry_point=["/bin/sh", "-c"],
            command=[_START],
            environment={"KERNEL_MONITOR": json.dumps(rules, separators=(",", ":"))},
            essential=True,
            linux_parameters=linux,
            logging=self._logging("detector"),
            memory_limit_mib=_LIMIT_MIB,
            memory_reservation_mib=_RESERVED_MIB,
            privileged=True,
            readonly_root_filesystem=True,
        )

    def _recovery(self, image: str, *, recover: bool) -> None:
        self.task_definition.add_container(
            "recovery",
            image=ecs.ContainerImage.from_registry(image),
            entry_point=["/bin/sh", "-c"],
            command=["python scripts/check-health.py"],
            environment={"ENABLE_RECOVERY": str(recover).lower()},
            essential=True,
            logging=self._logging("recovery"),
            memory_limit_mib=_LIMIT_MIB,
            memory_reservation_mib=_RESERVED_MIB,
            readonly_root_filesystem=True,
        )

    def _acknowledge(self) -> None:
        acknowledge(
            main_resource(self.task_definition),
            {
                "AwsSolutions-ECS2": (
                    "what the detector looks for and whether the recovery acts, reviewed with the template"
                ),
                "NIST.800.53.R5-ECSTaskDefinitionUserForHostMode": (
                    "it reads the kernel's log and the instance's metadata, as AWS's own task definition does"
                ),
            },
        )
