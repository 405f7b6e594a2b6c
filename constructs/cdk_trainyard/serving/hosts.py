"""The hosts of a service: one launch template, one group, one capacity provider, one role."""

from collections.abc import Sequence

from aws_cdk import Stack, Tags
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from constructs import Construct, IDependable

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.managed_policy import SESSION_CHANNELS
from cdk_trainyard.serving.catalogue import host_image
from cdk_trainyard.serving.host_script import HostSettings, render
from cdk_trainyard.serving.managed_role import ManagedRole, statement
from cdk_trainyard.serving.sizing import root_disk_gib
from cdk_trainyard.serving.spec_model import NeuronModel
from cdk_trainyard.serving.spec_service import ServingHosts
from cdk_trainyard.storage.grants import objects_arn, read_statements

_GP3_IOPS_PER_MIB_S = 4
_GP3_IOPS = 3000


class InferenceHosts(Construct):
    """The hosts of a service. Defines a role with its policy, a security group without a way in, and the group.

    Args:
        cluster: The cluster they join.
        vpc: The VPC.
        subnets: Private subnets.
        spec: What the hosts are.
        min_hosts: The least number of hosts.
        max_hosts: The largest number of hosts.
        settings: What they serve.
        model: The model that they may read.
        route_out: What they wait for.

    Attributes:
        role: Their role.
        security_group: Their security group.
        group: The auto scaling group.
        capacity_provider: What ECS scales them by.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: ecs.Cluster,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        spec: ServingHosts,
        min_hosts: int,
        max_hosts: int,
        settings: HostSettings,
        model: NeuronModel,
        route_out: IDependable,
    ) -> None:
        super().__init__(scope, construct_id)
        self.role = ManagedRole(self, "Role", service="ec2.amazonaws.com", description="ECS hosts that serve a model")
        self._allow(cluster, model)
        self.security_group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=vpc, allow_all_outbound=False, description="ECS hosts: no way in, HTTPS out"
        )
        self.security_group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "S3, ECR, ECS, registries")
        self.user_data = ec2.UserData.custom(render(settings))
        template = self._template(spec, model)
        self.group = autoscaling.AutoScalingGroup(
            self,
            "Group",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=list(subnets)),
            launch_template=template,
            min_capacity=min_hosts,
            max_capacity=max_hosts,
            new_instances_protected_from_scale_in=spec.protect,
            update_policy=autoscaling.UpdatePolicy.rolling_update(
                max_batch_size=1, min_instances_in_service=max(0, min(min_hosts, max_hosts - 1))
            ),
            group_metrics=[autoscaling.GroupMetrics.all()],
        )
        self.group.node.add_dependency(self.role.policy, route_out)
        self.capacity_provider = ecs.AsgCapacityProvider(
            self,
            "CapacityProvider",
            auto_scaling_group=self.group,
            enable_managed_scaling=True,
            enable_managed_draining=True,
            enable_managed_termination_protection=spec.protect,
            instance_warmup_period=300,
            maximum_scaling_step_size=max(1, max_hosts),
        )
        cluster.add_asg_capacity_provider(self.capacity_provider)
        self._acknowledge()

    def _template(self, spec: ServingHosts, model: NeuronModel) -> ec2.LaunchTemplate:
        template = ec2.LaunchTemplate(
            self,
            "Template",
            instance_type=ec2.InstanceType(str(spec.instance_type)),
            machine_image=ec2.MachineImage.from_ssm_parameter(
                host_image(spec.host_image).parameter, user_data=self.user_data
            ),
            user_data=self.user_data,
            role=self.role.role,
            security_group=self.security_group,
            require_imdsv2=True,
            http_put_response_hop_limit=1,
            http_endpoint=True,
            instance_metadata_tags=False,
            detailed_monitoring=True,
            ebs_optimized=True,
            associate_public_ip_address=False,
            block_devices=[
                ec2.BlockDevice(
                    device_name="/dev/xvda",
                    volume=ec2.BlockDeviceVolume.ebs(
                        root_disk_gib(model),
                        volume_type=ec2.EbsDeviceVolumeType.GP3,
                        throughput=spec.volume_mib_s,
                        iops=max(_GP3_IOPS, _GP3_IOPS_PER_MIB_S * spec.volume_mib_s),
                        encrypted=True,
                        kms_key=spec.volume_key,
                        delete_on_termination=True,
                    ),
                )
            ],
        )
        Tags.of(template).add("Name", self.node.path)
        return template

    def _allow(self, cluster: ecs.Cluster, model: NeuronModel) -> None:
        """What AmazonEC2ContainerServiceforEC2Role holds, narrowed to this cluster; the weights; sessions of SSM.

        Source: Service Authorization Reference, Amazon ECS (2026-10-27): the agent's reports know the resource cluster
        and no key ``ecs:cluster``, which only calls about a container instance have.
        """
        instances = Stack.of(self).format_arn(service="ec2", resource="instance", resource_name="*")
        self.role.allow(
            statement(
                [
                    "ecs:DeregisterContainerInstance",
                    "ecs:RegisterContainerInstance",
                    "ecs:SubmitAttachmentStateChanges",
                    "ecs:SubmitContainerStateChange",
                    "ecs:SubmitTaskStateChange",
                ],
                [cluster.cluster_arn],
            ),
            statement(
                ["ecs:Poll", "ecs:StartTelemetrySession", "ecs:UpdateContainerInstancesState"],
                ["*"],
                ArnEquals={"ecs:cluster": cluster.cluster_arn},
            ),
            statement(["ecs:DiscoverPollEndpoint", *SESSION_CHANNELS], ["*"]),
            statement(["ssm:UpdateInstanceInformation"], [instances]),
            *read_statements(model.bucket, prefix=model.home),  # hosts of the former build read until they are replaced
        )
        self.role.acknowledge(
            "the agent's calls about a container instance are held to the cluster by a condition; "
            "DiscoverPollEndpoint and sessions know no resources; instances get ids from EC2; a model is everything "
            "in its prefix, one build beside another",
            "*",
            instances,
            objects_arn(model.bucket, prefix=model.home),
        )

    def _acknowledge(self) -> None:
        reason = "ECS scales the group as tasks come and go; the service's alarms say when that goes wrong"
        acknowledge(main_resource(self.group), {"AwsSolutions-AS3": reason})
