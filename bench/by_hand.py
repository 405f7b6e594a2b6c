"""The default training environment by hand in Python: typescript/app.ts, statement by statement.

It is here to be measured against, and for nothing else: it is the least that Python can take for these resources.
"""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as s3deploy
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

NAME = "hyperpod-cpu-ddp"
ENV = cdk.Environment(region="us-east-1")
SCRIPTS = Path(__file__).parents[1] / "lifecycle_scripts" / "hyperpod"


class NetworkStack(cdk.Stack):
    """The network, and the security group that nodes and file system share."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id, env=ENV, stack_name=f"{NAME}-network")
        vpc = ec2.CfnVPC(self, "Vpc", cidr_block="10.1.0.0/16", enable_dns_hostnames=True, enable_dns_support=True)
        gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = ec2.CfnVPCGatewayAttachment(self, "Attachment", vpc_id=vpc.ref, internet_gateway_id=gateway.ref)
        public = ec2.PublicSubnet(
            self,
            "Public",
            vpc_id=vpc.ref,
            availability_zone="us-east-1a",
            cidr_block="10.1.0.0/24",
            map_public_ip_on_launch=False,
        )
        public.add_default_internet_route(gateway.ref, attachment)
        nat = public.add_nat_gateway()
        self.subnet = ec2.PrivateSubnet(
            self, "Accelerator", vpc_id=vpc.ref, availability_zone="us-east-1a", cidr_block="10.1.128.0/17"
        )
        self.subnet.add_default_nat_route(nat.ref)
        for subnet in (public, self.subnet):
            resource: Any = subnet.node.default_child
            resource.availability_zone = None
            resource.availability_zone_id = "use1-az4"
        self._s3_endpoint(vpc, [public.route_table.route_table_id, self.subnet.route_table.route_table_id])
        self._flow_log(vpc)
        self._closed_default_security_group(vpc)

        imported = ec2.Vpc.from_vpc_attributes(self, "Imported", vpc_id=vpc.ref, availability_zones=["us-east-1a"])
        self.security_group = ec2.SecurityGroup(self, "Efa", vpc=imported, allow_all_outbound=True)
        group = self.security_group.security_group_id
        ec2.CfnSecurityGroupIngress(
            self, "FromItself", group_id=group, source_security_group_id=group, ip_protocol="-1"
        )
        ec2.CfnSecurityGroupEgress(
            self, "ToItself", group_id=group, destination_security_group_id=group, ip_protocol="-1"
        )
        cdk.CfnOutput(self, "VpcId", value=vpc.ref)

    def _s3_endpoint(self, vpc: ec2.CfnVPC, tables: list[str]) -> None:
        ec2.CfnVPCEndpoint(
            self,
            "S3",
            vpc_id=vpc.ref,
            service_name=f"com.amazonaws.{self.region}.s3",
            route_table_ids=tables,
            policy_document=iam.PolicyDocument(
                statements=[
                    iam.PolicyStatement(
                        actions=["s3:*"],
                        principals=[iam.AnyPrincipal()],
                        resources=["*"],
                        conditions={"StringEquals": {"aws:PrincipalAccount": self.account}},
                    ),
                    iam.PolicyStatement(
                        actions=["s3:GetObject"],
                        principals=[iam.AnyPrincipal()],
                        resources=[
                            f"arn:aws:s3:::{name}-us-east-1/*"
                            for name in ("amazon-ssm", "al2023-repos", "prod-starport")
                        ],
                    ),
                ]
            ),
        )

    def _flow_log(self, vpc: ec2.CfnVPC) -> None:
        group = logs.LogGroup(self, "FlowLogs", retention=logs.RetentionDays.THREE_MONTHS)
        role = iam.Role(
            self,
            "FlowRole",
            assumed_by=iam.ServicePrincipal("vpc-flow-logs.amazonaws.com"),
            managed_policies=[
                iam.ManagedPolicy(
                    self,
                    "FlowPolicy",
                    statements=[
                        iam.PolicyStatement(
                            actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                            resources=[group.log_group_arn],
                        )
                    ],
                )
            ],
        )
        ec2.CfnFlowLog(
            self,
            "FlowLog",
            resource_id=vpc.ref,
            resource_type="VPC",
            traffic_type="ALL",
            log_group_name=group.log_group_name,
            deliver_logs_permission_arn=role.role_arn,
        )

    def _closed_default_security_group(self, vpc: ec2.CfnVPC) -> None:
        group = logs.LogGroup(self, "CloserLogs", retention=logs.RetentionDays.THREE_MONTHS)
        default = vpc.attr_default_security_group
        role = iam.Role(
            self,
            "CloserRole",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            managed_policies=[
                iam.ManagedPolicy(
                    self,
                    "CloserPolicy",
                    statements=[
                        iam.PolicyStatement(
                            actions=["ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"],
                            resources=[f"arn:aws:ec2:us-east-1:{self.account}:security-group/{default}"],
                        ),
                        iam.PolicyStatement(
                            actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[group.log_group_arn]
                        ),
                    ],
                )
            ],
        )
        closer = lambda_.Function(
            self,
            "Closer",
            runtime=lambda_.Runtime.PYTHON_3_13,
            handler="index.handler",
            code=lambda_.Code.from_inline("def handler(event, context):\n    pass\n"),
            role=role.without_policy_updates(),
            log_group=group,
        )
        cdk.CustomResource(
            self,
            "DefaultSecurityGroup",
            service_token=closer.function_arn,
            resource_type="Custom::VpcRestrictDefaultSG",
            properties={"DefaultSecurityGroupId": default, "Account": self.account},
        )


class StorageStack(cdk.Stack):
    """The buckets and the file system."""

    def __init__(self, scope: Construct, construct_id: str, network: NetworkStack) -> None:
        super().__init__(scope, construct_id, env=ENV, stack_name=f"{NAME}-storage")
        key = kms.Key(self, "Key", enable_key_rotation=True, removal_policy=cdk.RemovalPolicy.RETAIN)
        common: dict[str, Any] = {
            "block_public_access": s3.BlockPublicAccess.BLOCK_ALL,
            "enforce_ssl": True,
            "minimum_tls_version": 1.2,
            "object_ownership": s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            "removal_policy": cdk.RemovalPolicy.RETAIN,
        }
        week = cdk.Duration.days(7)
        access_logs = s3.Bucket(
            self,
            "AccessLogs",
            **common,
            encryption=s3.BucketEncryption.S3_MANAGED,
            lifecycle_rules=[
                s3.LifecycleRule(abort_incomplete_multipart_upload_after=week),
                s3.LifecycleRule(expiration=cdk.Duration.days(365)),
            ],
        )
        self.buckets = {}
        for purpose in ("Scripts", "Datasets", "Checkpoints", "Models"):
            self.buckets[purpose] = s3.Bucket(
                self,
                purpose,
                **common,
                encryption=s3.BucketEncryption.KMS,
                encryption_key=key,
                bucket_key_enabled=True,
                versioned=True,
                server_access_logs_bucket=access_logs,
                server_access_logs_prefix=f"{purpose.lower()}/",
                lifecycle_rules=[
                    s3.LifecycleRule(
                        abort_incomplete_multipart_upload_after=week,
                        noncurrent_version_expiration=cdk.Duration.days(90),
                    )
                ],
            )
            cdk.CfnOutput(self, f"{purpose}Bucket", value=self.buckets[purpose].bucket_name)
        events = logs.LogGroup(
            self, "LustreLogs", log_group_name=f"/aws/fsx/{NAME}", retention=logs.RetentionDays.THREE_MONTHS
        )
        self.file_system = fsx.CfnFileSystem(
            self,
            "Lustre",
            file_system_type="LUSTRE",
            file_system_type_version="2.15",
            storage_capacity=1200,
            storage_type="SSD",
            subnet_ids=[network.subnet.subnet_id],
            security_group_ids=[network.security_group.security_group_id],
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type="PERSISTENT_2",
                per_unit_storage_throughput=250,
                data_compression_type="LZ4",
                automatic_backup_retention_days=7,
                metadata_configuration=fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC"),
                log_configuration=fsx.CfnFileSystem.LogConfigurationProperty(
                    level="WARN_ERROR", destination=events.log_group_arn
                ),
            ),
        )
        self.file_system.apply_removal_policy(cdk.RemovalPolicy.RETAIN)


class TrainingStack(cdk.Stack):
    """The cluster with its scripts and its role."""

    def __init__(self, scope: Construct, construct_id: str, network: NetworkStack, storage: StorageStack) -> None:
        super().__init__(scope, construct_id, env=ENV, stack_name=f"{NAME}-training")
        grants = {
            "Logs": ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
            "Sessions": ["ssmmessages:CreateControlChannel", "ssmmessages:OpenControlChannel"],
            "Describe": ["ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:DescribeVpcs"],
            "Interfaces": ["ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface"],
            "FileSystems": ["fsx:DescribeFileSystems"],
        }
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            statements=[
                iam.PolicyStatement(sid=sid, actions=actions, resources=["*"]) for sid, actions in grants.items()
            ],
        )
        self.role = iam.Role(
            self, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"), managed_policies=[policy]
        )
        self.storage, self.prefix = storage, "lifecycle-scripts/cluster"
        bucket_name = storage.buckets["Scripts"].bucket_name
        scripts = s3deploy.BucketDeployment(
            self,
            "Scripts",
            sources=[
                s3deploy.Source.asset(str(SCRIPTS)),
                s3deploy.Source.json_data("settings.json", {"lustre": {"dns_name": storage.file_system.attr_dns_name}}),
            ],
            destination_bucket=s3.Bucket.from_bucket_name(self, "ScriptsBucket", bucket_name),
            destination_key_prefix=self.prefix,
            prune=False,
            log_group=logs.LogGroup(self, "ScriptsLogs", retention=logs.RetentionDays.THREE_MONTHS),
        )
        slurm = sagemaker.CfnCluster.ClusterSlurmConfigProperty
        cluster = sagemaker.CfnCluster(
            self,
            "Cluster",
            cluster_name=f"{NAME}-cluster",
            node_recovery="Automatic",
            orchestrator=sagemaker.CfnCluster.OrchestratorProperty(
                slurm=sagemaker.CfnCluster.ClusterOrchestratorSlurmConfigProperty(slurm_config_strategy="Merge")
            ),
            vpc_config=sagemaker.CfnCluster.VpcConfigProperty(
                subnets=[network.subnet.subnet_id],
                security_group_ids=[network.security_group.security_group_id],
            ),
            instance_groups=[
                self._group("controller-machine", "ml.m5.large", 1, slurm(node_type="Controller")),
                self._group(
                    "worker-group-1",
                    "ml.c5.4xlarge",
                    2,
                    slurm(node_type="Compute", partition_names=["worker-group-1"]),
                ),
            ],
        )
        cluster.node.add_dependency(policy, scripts)
        cdk.CfnOutput(self, "ClusterArn", value=cluster.attr_cluster_arn)

    def _group(
        self, name: str, instance_type: str, count: int, slurm: sagemaker.CfnCluster.ClusterSlurmConfigProperty
    ) -> sagemaker.CfnCluster.ClusterInstanceGroupProperty:
        file_system, scripts = self.storage.file_system, self.storage.buckets["Scripts"]
        return sagemaker.CfnCluster.ClusterInstanceGroupProperty(
            instance_group_name=name,
            instance_type=instance_type,
            instance_count=count,
            execution_role=self.role.role_arn,
            slurm_config=slurm,
            life_cycle_config=sagemaker.CfnCluster.ClusterLifeCycleConfigProperty(
                on_create="on_create.sh", source_s3_uri=f"s3://{scripts.bucket_name}/{self.prefix}/"
            ),
            instance_storage_configs=[
                sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty(
                    ebs_volume_config=sagemaker.CfnCluster.ClusterEbsVolumeConfigProperty(volume_size_in_gb=500)
                ),
                sagemaker.CfnCluster.ClusterInstanceStorageConfigProperty(
                    fsx_lustre_config=sagemaker.CfnCluster.ClusterFsxLustreConfigProperty(
                        dns_name=file_system.attr_dns_name,
                        mount_name=file_system.attr_lustre_mount_name,
                        mount_path="/fsx",
                    )
                ),
            ],
        )


app = cdk.App()
network = NetworkStack(app, "NetworkStack")
storage = StorageStack(app, "StorageStack", network)
TrainingStack(app, "TrainingStack", network, storage)
app.synth()
