"""How the types of ECS, ECR, load balancing, scaling and Lambda layers are tried."""

from tests.local.cases import Case, look
from tests.local.support import POLICY, of
from tests.support import every

_TAGS = [{"Key": "Name", "Value": "first"}]
_OTHER_TAGS = [{"Key": "Name", "Value": "second"}]
_TEMPLATE = {
    "Template": {
        "Type": "AWS::EC2::LaunchTemplate",
        "Properties": {"LaunchTemplateData": {"ImageId": "ami-12c6146b", "InstanceType": "c5.large"}},
    }
}
_GROUP = {
    "MinSize": "0",
    "MaxSize": "2",
    "DesiredCapacity": "1",
    "VPCZoneIdentifier": [of("SubnetA")],
    "LaunchTemplate": {
        "LaunchTemplateId": {"Ref": "Template"},
        "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
    },
}
_NEEDS_GROUP = {**_TEMPLATE, "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": _GROUP}}
_CLUSTER = {"Cluster": {"Type": "AWS::ECS::Cluster"}}
_TASK = {
    "Family": "tried",
    "NetworkMode": "awsvpc",
    "ContainerDefinitions": [
        {
            "Name": "server",
            "Image": "public.ecr.aws/nginx/nginx:stable",
            "Memory": 512,
            "PortMappings": [{"ContainerPort": 80, "Protocol": "tcp"}],
            "Environment": [{"Name": "A", "Value": "1"}],
            "LinuxParameters": {"Devices": [{"HostPath": "/dev/neuron0"}]},
        }
    ],
}
_NEEDS_TASK = {**_CLUSTER, "Task": {"Type": "AWS::ECS::TaskDefinition", "Properties": _TASK}}
_SERVICE = {"Cluster": {"Ref": "Cluster"}, "TaskDefinition": {"Ref": "Task"}, "DesiredCount": 1}
_NEEDS_SERVICE = {**_NEEDS_TASK, "Service": {"Type": "AWS::ECS::Service", "Properties": _SERVICE}}
_SCALING = {
    "ResourceId": {"Fn::Sub": "service/${Cluster}/${Service.Name}"},
    "ScalableDimension": "ecs:service:DesiredCount",
    "ServiceNamespace": "ecs",
}
_TARGET = {
    "Target": {
        "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
        "Properties": {**_SCALING, "MinCapacity": 1, "MaxCapacity": 3},
    }
}
_TRACKING = {
    "PredefinedMetricSpecification": {"PredefinedMetricType": "ECSServiceAverageCPUUtilization"},
    "TargetValue": 50,
}
_PROVIDER = {
    "Provider": {
        "Type": "AWS::ECS::CapacityProvider",
        "Properties": {"AutoScalingGroupProvider": {"AutoScalingGroupArn": {"Ref": "Group"}}},
    }
}
_BALANCER = {"Scheme": "internal", "Subnets": [of("SubnetA"), of("SubnetB")], "SecurityGroups": [of("Group")]}
_TARGETS = {"Port": 80, "Protocol": "HTTP", "VpcId": of("Vpc"), "TargetType": "ip"}
_FORWARD = {"Type": "forward", "TargetGroupArn": {"Ref": "Targets"}}
_NEEDS_BALANCER = {
    "Balancer": {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": _BALANCER},
    "Targets": {"Type": "AWS::ElasticLoadBalancingV2::TargetGroup", "Properties": _TARGETS},
}
_LISTENER = {"LoadBalancerArn": {"Ref": "Balancer"}, "Port": 80, "Protocol": "HTTP", "DefaultActions": [_FORWARD]}
_NEEDS_LISTENER = {
    **_NEEDS_BALANCER,
    "Listener": {"Type": "AWS::ElasticLoadBalancingV2::Listener", "Properties": _LISTENER},
}

CASES = (
    # ---------------------------------------------------------------- containers
    Case(
        type="AWS::ECR::Repository",
        properties={
            "ImageTagMutability": "IMMUTABLE",
            "ImageScanningConfiguration": {"ScanOnPush": True},
            "EmptyOnDelete": True,
            "RepositoryPolicyText": POLICY,
            "Tags": _TAGS,
        },
        look=look("ecr", "describe_repositories", "repositories[0].imageTagMutability", repositoryNames=["{}"]),
        made="IMMUTABLE",
        change={"ImageTagMutability": "MUTABLE", "Tags": _OTHER_TAGS},
        changed="MUTABLE",
        attributes=("Arn", "RepositoryUri"),
    ),
    Case(
        type="AWS::ECS::Cluster",
        properties={"ClusterSettings": [{"Name": "containerInsights", "Value": "enabled"}], "Tags": _TAGS},
        look=look("ecs", "describe_clusters", "clusters[?status=='ACTIVE'] | [0].settings[0].value", clusters=["{}"]),
        made="enabled",
        change={"ClusterSettings": [{"Name": "containerInsights", "Value": "disabled"}], "Tags": _OTHER_TAGS},
        changed="disabled",
        attributes=("Arn",),
    ),
    Case(
        type="AWS::ECS::CapacityProvider",
        needs=_NEEDS_GROUP,
        properties={
            "AutoScalingGroupProvider": {
                "AutoScalingGroupArn": {"Ref": "Group"},
                "ManagedScaling": {"Status": "ENABLED", "TargetCapacity": 90},
                "ManagedTerminationProtection": "DISABLED",
            }
        },
        look=look(
            "ecs",
            "describe_capacity_providers",
            "capacityProviders[?status=='ACTIVE'] | [0].autoScalingGroupProvider.managedScaling.targetCapacity",
            capacityProviders=["{}"],
        ),
        made=90,
        change={
            "AutoScalingGroupProvider": {
                "AutoScalingGroupArn": {"Ref": "Group"},
                "ManagedScaling": {"Status": "ENABLED", "TargetCapacity": 80},
                "ManagedTerminationProtection": "DISABLED",
            }
        },
        changed=80,
    ),
    Case(
        type="AWS::ECS::ClusterCapacityProviderAssociations",
        needs={**_NEEDS_GROUP, **_CLUSTER, **_PROVIDER},
        properties={
            "Cluster": {"Ref": "Cluster"},
            "CapacityProviders": [{"Ref": "Provider"}],
            "DefaultCapacityProviderStrategy": [{"CapacityProvider": {"Ref": "Provider"}, "Weight": 1}],
        },
        look=look("ecs", "describe_clusters", "clusters[0].defaultCapacityProviderStrategy[].weight", clusters=["{}"]),
        made=[1],
        change={"DefaultCapacityProviderStrategy": [{"CapacityProvider": {"Ref": "Provider"}, "Weight": 2}]},
        changed=[2],
    ),
    Case(
        type="AWS::ECS::TaskDefinition",
        properties={**_TASK, "Tags": _TAGS},
        look=look(
            "ecs",
            "describe_task_definition",
            "taskDefinition.[status=='ACTIVE' && containerDefinitions[0].linuxParameters.devices[0].hostPath]",
            taskDefinition="{}",
        ),
        made=["/dev/neuron0"],
        change={"Tags": _OTHER_TAGS},
        attributes=("TaskDefinitionArn",),
        stays=True,
    ),
    Case(
        type="AWS::ECS::Service",
        needs={**_NEEDS_TASK, "Role": {"Type": "AWS::SNS::Topic"}},
        properties={**_SERVICE, "Tags": _TAGS},
        look=lambda aws, arn: look(
            "ecs",
            "describe_services",
            "services[?status=='ACTIVE'] | [0].desiredCount",
            cluster=arn.split("/")[1],
            services=[arn],
        )(aws, ""),
        made=1,
        change={"DesiredCount": 2, "Tags": _OTHER_TAGS},
        changed=2,
        attributes=("Name", "ServiceArn"),
    ),
    # ---------------------------------------------------------------- load balancing
    Case(
        type="AWS::ElasticLoadBalancingV2::LoadBalancer",
        properties={
            **_BALANCER,
            "Type": "application",
            "LoadBalancerAttributes": [{"Key": "deletion_protection.enabled", "Value": "false"}],
            "Tags": _TAGS,
        },
        look=look(
            "elbv2", "describe_load_balancers", "LoadBalancers[0].length(SecurityGroups)", LoadBalancerArns=["{}"]
        ),
        made=1,
        change={
            "LoadBalancerAttributes": [{"Key": "idle_timeout.timeout_seconds", "Value": "90"}],
            "Tags": _OTHER_TAGS,
        },
        attributes=("CanonicalHostedZoneID", "DNSName", "LoadBalancerArn", "LoadBalancerFullName", "LoadBalancerName"),
    ),
    Case(
        type="AWS::ElasticLoadBalancingV2::TargetGroup",
        properties={
            **_TARGETS,
            "HealthCheckPath": "/first",
            "TargetGroupAttributes": [{"Key": "deregistration_delay.timeout_seconds", "Value": "30"}],
            "Tags": _TAGS,
        },
        look=look("elbv2", "describe_target_groups", "TargetGroups[0].HealthCheckPath", TargetGroupArns=["{}"]),
        made="/first",
        change={"HealthCheckPath": "/second", "Tags": _OTHER_TAGS},
        changed="/second",
        attributes=("TargetGroupArn", "TargetGroupFullName", "TargetGroupName"),
    ),
    Case(
        type="AWS::ElasticLoadBalancingV2::Listener",
        needs=_NEEDS_BALANCER,
        properties=_LISTENER,
        look=look("elbv2", "describe_listeners", "Listeners[0].Port", ListenerArns=["{}"]),
        made=80,
        change={"Port": 8080},
        changed=8080,
        attributes=("ListenerArn",),
    ),
    Case(
        type="AWS::ElasticLoadBalancingV2::ListenerRule",
        needs=_NEEDS_LISTENER,
        properties={
            "ListenerArn": {"Ref": "Listener"},
            "Priority": 1,
            "Conditions": [{"Field": "path-pattern", "Values": ["/first"]}],
            "Actions": [_FORWARD],
        },
        look=look("elbv2", "describe_rules", "Rules[0].Conditions[0].Values", RuleArns=["{}"]),
        made=["/first"],
        change={"Conditions": [{"Field": "path-pattern", "Values": ["/second"]}]},
        changed=["/second"],
        attributes=("RuleArn",),
    ),
    # ---------------------------------------------------------------- scaling
    Case(
        type="AWS::AutoScaling::AutoScalingGroup",
        needs=_TEMPLATE,
        properties={
            **_GROUP,
            "MetricsCollection": [{"Granularity": "1Minute"}],
            "Tags": [{"Key": "Name", "Value": "first", "PropagateAtLaunch": True}],
        },
        look=look(
            "autoscaling",
            "describe_auto_scaling_groups",
            "AutoScalingGroups[0].[MaxSize, Tags[?Key=='Name'] | [0].Value]",
            AutoScalingGroupNames=["{}"],
        ),
        made=[2, "first"],
        change={"MaxSize": "4"},
        changed=[4, "first"],
        attributes=("AutoScalingGroupARN",),
    ),
    Case(
        type="AWS::AutoScaling::LifecycleHook",
        needs=_NEEDS_GROUP,
        properties={
            "AutoScalingGroupName": {"Ref": "Group"},
            "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
            "HeartbeatTimeout": 300,
        },
        look=lambda aws, name: [
            hook["HeartbeatTimeout"]
            for group in every(aws.client("autoscaling"), "describe_auto_scaling_groups")["AutoScalingGroups"]
            for hook in aws.client("autoscaling").describe_lifecycle_hooks(
                AutoScalingGroupName=group["AutoScalingGroupName"]
            )["LifecycleHooks"]
            if hook["LifecycleHookName"] == name
        ],
        made=[300],
        change={"HeartbeatTimeout": 600},
        changed=[600],
    ),
    Case(
        type="AWS::AutoScaling::ScheduledAction",
        needs=_NEEDS_GROUP,
        properties={"AutoScalingGroupName": {"Ref": "Group"}, "Recurrence": "0 8 * * 1-5", "DesiredCapacity": 2},
        look=lambda aws, name: [
            row["DesiredCapacity"]
            for row in every(aws.client("autoscaling"), "describe_scheduled_actions")["ScheduledUpdateGroupActions"]
            if row["ScheduledActionName"] == name
        ],
        made=[2],
        change={"DesiredCapacity": 1},
        changed=[1],
        attributes=("ScheduledActionName",),
    ),
    Case(
        type="AWS::AutoScaling::WarmPool",
        needs=_NEEDS_GROUP,
        properties={"AutoScalingGroupName": {"Ref": "Group"}, "MinSize": 1, "PoolState": "Stopped"},
        look=look("autoscaling", "describe_warm_pool", "WarmPoolConfiguration.MinSize", AutoScalingGroupName="{}"),
        made=1,
        change={"MinSize": 2},
        changed=2,
    ),
    Case(
        type="AWS::AutoScaling::ScalingPolicy",
        needs=_NEEDS_GROUP,
        properties={
            "AutoScalingGroupName": {"Ref": "Group"},
            "PolicyType": "SimpleScaling",
            "AdjustmentType": "ChangeInCapacity",
            "ScalingAdjustment": 1,
        },
        look=lambda aws, arn: [
            row["ScalingAdjustment"]
            for row in every(aws.client("autoscaling"), "describe_policies")["ScalingPolicies"]
            if row["PolicyARN"] == arn
        ],
        made=[1],
        change={"ScalingAdjustment": 2},
        changed=[2],
        attributes=("Arn", "PolicyName"),
    ),
    Case(
        type="AWS::ApplicationAutoScaling::ScalableTarget",
        needs=_NEEDS_SERVICE,
        properties={**_SCALING, "MinCapacity": 1, "MaxCapacity": 3},
        look=look(
            "application-autoscaling",
            "describe_scalable_targets",
            "ScalableTargets[0].MaxCapacity",
            ServiceNamespace="ecs",
        ),
        made=3,
        change={"MaxCapacity": 5},
        changed=5,
        attributes=("Id",),
    ),
    Case(
        type="AWS::ApplicationAutoScaling::ScalingPolicy",
        needs={**_NEEDS_SERVICE, **_TARGET},
        properties={
            "PolicyName": "tried",
            "PolicyType": "TargetTrackingScaling",
            "ScalingTargetId": {"Ref": "Target"},
            "TargetTrackingScalingPolicyConfiguration": _TRACKING,
        },
        look=look(
            "application-autoscaling",
            "describe_scaling_policies",
            "ScalingPolicies[0].TargetTrackingScalingPolicyConfiguration.TargetValue",
            ServiceNamespace="ecs",
        ),
        made=50.0,
        change={"TargetTrackingScalingPolicyConfiguration": {**_TRACKING, "TargetValue": 60}},
        changed=60.0,
        attributes=("Arn",),
    ),
    # ---------------------------------------------------------------- layers
    Case(
        type="AWS::Lambda::LayerVersion",
        properties={
            "Content": {"S3Bucket": of("Bucket"), "S3Key": "layer.zip"},
            "CompatibleRuntimes": ["python3.12"],
            "Description": "tried",
        },
        look=lambda aws, arn: look(
            "lambda", "get_layer_version", "Description", LayerName=arn.split(":")[-2], VersionNumber=1
        )(aws, ""),
        made="tried",
        attributes=("LayerVersionArn",),
    ),
)
