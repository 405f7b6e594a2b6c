"""A small training environment in plain CDK: what `test_cli.py` deploys with the real CLI.

Context: ``workers`` (number of machines), ``answer`` (what the custom resource says; ``FAILED`` makes it fail),
``extra_type`` (a resource type to add), ``instance_type`` (of the workers).
"""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_ssm as ssm
from aws_cdk import custom_resources as cr
from constructs import Construct

_HANDLER = """
def on_event(event, context):
    answer = event["ResourceProperties"]["Answer"]
    if answer == "FAILED" and event["RequestType"] != "Delete":
        raise RuntimeError("the answer is FAILED")
    return {"PhysicalResourceId": "answer", "Data": {"Answer": answer}}
"""


class Network(cdk.Stack):
    def __init__(self, scope: Construct, construct_id: str, **more: Any) -> None:
        super().__init__(scope, construct_id, **more)
        self.vpc = ec2.Vpc(self, "Vpc", max_azs=2, nat_gateways=1, restrict_default_security_group=True)
        self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        self.group = ec2.SecurityGroup(self, "Group", vpc=self.vpc, allow_all_outbound=False)
        everything = {"group_id": self.group.security_group_id, "ip_protocol": "-1"}
        ec2.CfnSecurityGroupIngress(self, "In", source_security_group_id=self.group.security_group_id, **everything)
        ec2.CfnSecurityGroupEgress(
            self, "Out", destination_security_group_id=self.group.security_group_id, **everything
        )


class Storage(cdk.Stack):
    def __init__(self, scope: Construct, construct_id: str, *, network: Network, **more: Any) -> None:
        super().__init__(scope, construct_id, **more)
        self.bucket = s3.Bucket(
            self,
            "Scripts",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            auto_delete_objects=True,
            removal_policy=cdk.RemovalPolicy.DESTROY,
            lifecycle_rules=[s3.LifecycleRule(abort_incomplete_multipart_upload_after=cdk.Duration.days(7))],
        )
        self.uploaded = deployment.BucketDeployment(
            self,
            "Upload",
            sources=[deployment.Source.asset(str(Path(__file__).parent / "scripts"))],
            destination_bucket=self.bucket,
            destination_key_prefix="scripts",
        )
        self.file_system = fsx.CfnFileSystem(
            self,
            "Scratch",
            file_system_type="LUSTRE",
            storage_capacity=1200,
            subnet_ids=[network.vpc.private_subnets[0].subnet_id],
            security_group_ids=[network.group.security_group_id],
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type="PERSISTENT_2", per_unit_storage_throughput=250
            ),
        )
        cdk.CfnOutput(self, "MountName", value=self.file_system.attr_lustre_mount_name)


class Training(cdk.Stack):
    def __init__(self, scope: Construct, construct_id: str, *, network: Network, storage: Storage, **more: Any) -> None:
        super().__init__(scope, construct_id, **more)
        self.add_stack_dependency(storage)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        storage.bucket.grant_read(role)
        cluster = sagemaker.CfnCluster(
            self,
            "Cluster",
            node_recovery="Automatic",
            vpc_config=sagemaker.CfnCluster.VpcConfigProperty(
                security_group_ids=[network.group.security_group_id],
                subnets=[network.vpc.private_subnets[0].subnet_id],
            ),
            instance_groups=[
                self._group("controller", "ml.m5.large", 1, role, storage.bucket),
                self._group(
                    "workers",
                    self.node.try_get_context("instance_type") or "ml.c5.4xlarge",
                    int(self.node.try_get_context("workers") or 2),
                    role,
                    storage.bucket,
                ),
            ],
        )
        cluster.node.add_dependency(role)
        cdk.CfnOutput(self, "ClusterArn", value=cluster.attr_cluster_arn)
        ssm.StringParameter(self, "FileSystem", string_value=storage.file_system.ref)
        self._watch(storage.file_system)
        self._ask(self.node.try_get_context("answer") or "42")
        extra = self.node.try_get_context("extra_type")
        if extra:
            cdk.CfnResource(self, "Extra", type=extra)
        cdk.Tags.of(self).add("project", "training")

    @staticmethod
    def _group(
        name: str, instance_type: str, count: int, role: iam.Role, bucket: s3.IBucket
    ) -> sagemaker.CfnCluster.ClusterInstanceGroupProperty:
        return sagemaker.CfnCluster.ClusterInstanceGroupProperty(
            instance_group_name=name,
            instance_type=instance_type,
            instance_count=count,
            execution_role=role.role_arn,
            life_cycle_config=sagemaker.CfnCluster.ClusterLifeCycleConfigProperty(
                source_s3_uri=bucket.s3_url_for_object("scripts/"), on_create="on_create.sh"
            ),
        )

    def _watch(self, file_system: fsx.CfnFileSystem) -> None:
        free = cloudwatch.Metric(
            namespace="AWS/FSx",
            metric_name="FreeDataStorageCapacity",
            dimensions_map={"FileSystemId": file_system.ref},
        )
        free.create_alarm(self, "Full", threshold=1, evaluation_periods=1)

    def _ask(self, answer: str) -> None:
        """Define a custom resource behind CDK's provider framework."""
        function = lambda_.Function(
            self,
            "OnEvent",
            runtime=lambda_.Runtime.PYTHON_3_12,
            handler="index.on_event",
            code=lambda_.Code.from_inline(_HANDLER),
            log_group=logs.LogGroup(self, "Logs", removal_policy=cdk.RemovalPolicy.DESTROY),
        )
        provider = cr.Provider(self, "Provider", on_event_handler=function)
        resource = cdk.CustomResource(
            self, "Answer", service_token=provider.service_token, properties={"Answer": answer}
        )
        cdk.CfnOutput(self, "Answered", value=resource.get_att_string("Answer"))


def define(app: cdk.App) -> None:
    """Define the stacks."""
    env = cdk.Environment(account="123456789012", region="us-east-2")
    network_stack = Network(app, "Network", env=env)
    storage_stack = Storage(app, "Storage", network=network_stack, env=env)
    Training(app, "Training", network=network_stack, storage=storage_stack, env=env)


if __name__ == "__main__":
    made = cdk.App()
    define(made)
    made.synth()
