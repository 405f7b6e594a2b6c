"""How the types of S3, KMS, RDS, FSx and SageMaker are tried."""

import json

from tests.local.cases import Case, look
from tests.local.support import POLICY, of

_TAGS = [{"Key": "Name", "Value": "first"}]
_OTHER_TAGS = [{"Key": "Name", "Value": "second"}]
_KEY_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}},
            "Action": "kms:*",
            "Resource": "*",
        }
    ],
}
_KEY = {"Key": {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": _KEY_POLICY}}}
_SUBNETS = {
    "Subnets": {
        "Type": "AWS::RDS::DBSubnetGroup",
        "Properties": {"DBSubnetGroupDescription": "both", "SubnetIds": [of("SubnetA"), of("SubnetB")]},
    }
}
_SECRET = {
    "Secret": {
        "Type": "AWS::SecretsManager::Secret",
        "Properties": {
            "GenerateSecretString": {
                "SecretStringTemplate": '{"username": "admin"}',
                "GenerateStringKey": "password",
                "ExcludePunctuation": True,
            }
        },
    }
}
_DATABASE = {
    "Engine": "mysql",
    "EngineVersion": "8.0.39",
    "DBInstanceClass": "db.t4g.medium",
    "AllocatedStorage": "20",
    "DBSubnetGroupName": {"Ref": "Subnets"},
    "VPCSecurityGroups": [of("Group")],
    "MasterUsername": {"Fn::Sub": "{{resolve:secretsmanager:${Secret}:SecretString:username::}}"},
    "MasterUserPassword": {"Fn::Sub": "{{resolve:secretsmanager:${Secret}:SecretString:password::}}"},
    "StorageEncrypted": True,
    "BackupRetentionPeriod": 7,
    "DeletionProtection": False,
}
_NEEDS_DATABASE = {**_SUBNETS, **_SECRET, "Database": {"Type": "AWS::RDS::DBInstance", "Properties": _DATABASE}}
_LUSTRE = {
    "DeploymentType": "PERSISTENT_2",
    "PerUnitStorageThroughput": 250,
    "DataCompressionType": "LZ4",
    "MetadataConfiguration": {"Mode": "AUTOMATIC"},
    "LogConfiguration": {"Level": "WARN_ERROR", "Destination": of("LogsArn")},
    "RootSquashConfiguration": {"RootSquash": "65534:65534", "NoSquashNids": ["10.0.1.6@tcp"]},
}
_FILE_SYSTEM = {
    "FileSystemType": "LUSTRE",
    "FileSystemTypeVersion": "2.15",
    "StorageCapacity": 1200,
    "StorageType": "SSD",
    "SubnetIds": [of("SubnetA")],
    "SecurityGroupIds": [of("Group")],
    "LustreConfiguration": _LUSTRE,
}
_NEEDS_FILE_SYSTEM = {"Scratch": {"Type": "AWS::FSx::FileSystem", "Properties": _FILE_SYSTEM}}
_SCRIPTS = {
    "SourceS3Uri": {"Fn::Sub": ["s3://${bucket}/scripts/", {"bucket": of("Bucket")}]},
    "OnCreate": "on_create.sh",
}
_CONTROLLER = {
    "InstanceGroupName": "controller",
    "InstanceType": "ml.m5.large",
    "InstanceCount": 1,
    "ExecutionRole": of("RoleArn"),
    "LifeCycleConfig": _SCRIPTS,
    "SlurmConfig": {"NodeType": "Controller"},
    "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
    "ThreadsPerCore": 1,
}
_WORKERS = {
    **_CONTROLLER,
    "InstanceGroupName": "workers",
    "InstanceType": "ml.trn1.32xlarge",
    "InstanceCount": 2,
    "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
}

CASES = (
    # ---------------------------------------------------------------- buckets
    Case(
        type="AWS::S3::Bucket",
        # moto writes the access logs, and a bucket with objects cannot be deleted
        needs={**_KEY, "Logs": {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"}},
        properties={
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [
                    {
                        "BucketKeyEnabled": True,
                        "ServerSideEncryptionByDefault": {
                            "SSEAlgorithm": "aws:kms",
                            "KMSMasterKeyID": {"Fn::GetAtt": ["Key", "Arn"]},
                        },
                    }
                ]
            },
            "LifecycleConfiguration": {
                "Rules": [
                    {
                        "Id": "parts",
                        "Status": "Enabled",
                        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
                    },
                    {
                        "Id": "old",
                        "Status": "Enabled",
                        "Prefix": "checkpoints/",
                        "TagFilters": [{"Key": "keep", "Value": "false"}],
                        "ExpirationInDays": 30,
                        "NoncurrentVersionExpiration": {"NoncurrentDays": 14, "NewerNoncurrentVersions": 2},
                        "Transitions": [{"StorageClass": "INTELLIGENT_TIERING", "TransitionInDays": 1}],
                    },
                ]
            },
            "LoggingConfiguration": {"DestinationBucketName": {"Ref": "Logs"}, "LogFilePrefix": "access/"},
            "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
            "PublicAccessBlockConfiguration": {"BlockPublicAcls": True, "BlockPublicPolicy": True},
            "VersioningConfiguration": {"Status": "Enabled"},
            "NotificationConfiguration": {"EventBridgeConfiguration": {"EventBridgeEnabled": True}},
            "CorsConfiguration": {"CorsRules": [{"AllowedMethods": ["GET"], "AllowedOrigins": ["*"], "MaxAge": 60}]},
            "Tags": _TAGS,
        },
        look=lambda aws, name: [
            look("s3", "get_bucket_encryption", "*.Rules[][].*.SSEAlgorithm | [0][0]", Bucket="{}")(aws, name),
            look("s3", "get_bucket_lifecycle_configuration", "Rules[].ID", Bucket="{}")(aws, name),
            look("s3", "get_bucket_versioning", "Status", Bucket="{}")(aws, name),
            look("s3", "get_bucket_logging", "LoggingEnabled.TargetPrefix", Bucket="{}")(aws, name),
            look("s3", "get_bucket_tagging", "TagSet[0].Value", Bucket="{}")(aws, name),
        ],
        made=["aws:kms", ["parts", "old"], "Enabled", "access/", "first"],
        change={
            "LifecycleConfiguration": {
                "Rules": [{"Id": "all", "Status": "Enabled", "ExpirationInDays": 1, "Prefix": "tmp/"}]
            },
            "VersioningConfiguration": {"Status": "Suspended"},
            "LoggingConfiguration": {"Ref": "AWS::NoValue"},
            "Tags": _OTHER_TAGS,
        },
        changed=["aws:kms", ["all"], "Suspended", None, "second"],
        attributes=("Arn", "DomainName", "RegionalDomainName", "DualStackDomainName", "WebsiteURL"),
    ),
    Case(
        type="AWS::S3::BucketPolicy",
        needs={"Bucket": {"Type": "AWS::S3::Bucket"}},
        properties={"Bucket": {"Ref": "Bucket"}, "PolicyDocument": POLICY},
        look=look("s3", "get_bucket_policy", "Policy", Bucket="{}"),
        made=json.dumps(POLICY),
        change={"PolicyDocument": {**POLICY, "Id": "second"}},
        changed=json.dumps({**POLICY, "Id": "second"}),
    ),
    # ---------------------------------------------------------------- keys
    Case(
        type="AWS::KMS::Key",
        properties={
            "KeyPolicy": _KEY_POLICY,
            "Description": "first",
            "EnableKeyRotation": True,
            "PendingWindowInDays": 7,
            "Tags": _TAGS,
        },
        look=lambda aws, key: (
            aws.client("kms").describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "Enabled"
            and [
                look("kms", "describe_key", "KeyMetadata.Description", KeyId="{}")(aws, key),
                look("kms", "get_key_rotation_status", "KeyRotationEnabled", KeyId="{}")(aws, key),
            ]
        ),
        made=["first", True],
        change={"Description": "second", "EnableKeyRotation": False, "Tags": _OTHER_TAGS},
        changed=["second", False],
        attributes=("Arn", "KeyId"),
    ),
    Case(
        type="AWS::KMS::Alias",
        needs=_KEY,
        properties={"AliasName": "alias/tried", "TargetKeyId": {"Ref": "Key"}},
        look=look("kms", "list_aliases", "Aliases[?AliasName=='{}'].TargetKeyId"),
    ),
    # ---------------------------------------------------------------- databases
    Case(
        type="AWS::RDS::DBSubnetGroup",
        properties={
            "DBSubnetGroupDescription": "first",
            "SubnetIds": [of("SubnetA"), of("SubnetB")],
            "Tags": _TAGS,
        },
        look=look(
            "rds", "describe_db_subnet_groups", "DBSubnetGroups[0].DBSubnetGroupDescription", DBSubnetGroupName="{}"
        ),
        made="first",
        change={"DBSubnetGroupDescription": "second", "Tags": _OTHER_TAGS},
        changed="second",
        attributes=("DBSubnetGroupArn",),
    ),
    Case(
        type="AWS::RDS::DBParameterGroup",
        properties={
            "Family": "mysql8.0",
            "Description": "tried",
            "Parameters": {"require_secure_transport": "1"},
            "Tags": _TAGS,
        },
        look=look(
            "rds",
            "describe_db_parameters",
            "Parameters[?ParameterName=='require_secure_transport'].ParameterValue",
            DBParameterGroupName="{}",
        ),
        made=["1"],
        change={"Parameters": {"require_secure_transport": "0"}},
        changed=["0"],
        attributes=("DBParameterGroupArn",),
    ),
    Case(
        type="AWS::RDS::DBInstance",
        needs={**_SUBNETS, **_SECRET},
        properties={**_DATABASE, "Tags": _TAGS},
        look=look(
            "rds",
            "describe_db_instances",
            "DBInstances[0].[DBInstanceClass, StorageEncrypted, length(VpcSecurityGroups)]",
            DBInstanceIdentifier="{}",
        ),
        made=["db.t4g.medium", True, 1],
        change={"DBInstanceClass": "db.t4g.large", "Tags": _OTHER_TAGS},
        changed=["db.t4g.large", True, 1],
        attributes=("DBInstanceArn", "DbiResourceId", "Endpoint.Address", "Endpoint.Port"),
    ),
    Case(
        type="AWS::SecretsManager::SecretTargetAttachment",
        needs=_NEEDS_DATABASE,
        properties={
            "SecretId": {"Ref": "Secret"},
            "TargetId": {"Ref": "Database"},
            "TargetType": "AWS::RDS::DBInstance",
        },
        look=lambda aws, secret: sorted(
            json.loads(aws.client("secretsmanager").get_secret_value(SecretId=secret)["SecretString"])
        ),
        made=["dbInstanceIdentifier", "engine", "host", "password", "port", "username"],
        attributes=("Id",),
    ),
    # ---------------------------------------------------------------- file systems
    Case(
        type="AWS::FSx::FileSystem",
        properties={**_FILE_SYSTEM, "Tags": _TAGS},
        look=look(
            "fsx",
            "describe_file_systems",
            "FileSystems[0].[StorageCapacity, LustreConfiguration.PerUnitStorageThroughput, Tags[0].Value]",
            FileSystemIds=["{}"],
        ),
        made=[1200, 250, "first"],
        change={
            "StorageCapacity": 2400,
            "LustreConfiguration": {**_LUSTRE, "PerUnitStorageThroughput": 500},
            "Tags": _OTHER_TAGS,
        },
        changed=[2400, 500, "second"],
        attributes=("DNSName", "LustreMountName", "ResourceARN"),
    ),
    Case(
        type="AWS::FSx::DataRepositoryAssociation",
        needs=_NEEDS_FILE_SYSTEM,
        properties={
            "FileSystemId": {"Ref": "Scratch"},
            "FileSystemPath": "/data",
            "DataRepositoryPath": {"Fn::Sub": ["s3://${bucket}/data", {"bucket": of("Bucket")}]},
            "BatchImportMetaDataOnCreate": True,
            "S3": {"AutoImportPolicy": {"Events": ["NEW"]}},
            "Tags": _TAGS,
        },
        look=look(
            "fsx",
            "describe_data_repository_associations",
            "Associations[0].[S3.AutoImportPolicy.Events, Tags[0].Value]",
            AssociationIds=["{}"],
        ),
        made=[["NEW"], "first"],
        change={"S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}, "Tags": _OTHER_TAGS},
        changed=[["NEW", "CHANGED"], "second"],
        attributes=("AssociationId", "ResourceARN"),
    ),
    # ---------------------------------------------------------------- clusters
    Case(
        type="AWS::SageMaker::Cluster",
        properties={
            "NodeRecovery": "Automatic",
            "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}},
            "VpcConfig": {"SecurityGroupIds": [of("Group")], "Subnets": [of("SubnetA")]},
            "InstanceGroups": [_CONTROLLER, _WORKERS],
            "Tags": _TAGS,
        },
        look=look(
            "sagemaker",
            "describe_cluster",
            "[ClusterStatus, NodeRecovery, InstanceGroups[].CurrentCount, InstanceGroups[].SlurmConfig.NodeType]",
            ClusterName="{}",
        ),
        made=["InService", "Automatic", [1, 2], ["Controller", "Compute"]],
        change={"InstanceGroups": [_CONTROLLER, {**_WORKERS, "InstanceCount": 4}], "Tags": _OTHER_TAGS},
        changed=["InService", "Automatic", [1, 4], ["Controller", "Compute"]],
        attributes=("ClusterArn", "ClusterStatus", "CreationTime"),
    ),
)
