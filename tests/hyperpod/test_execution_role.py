"""The execution role's document, statement by statement: it is what a security review reads first."""

import json
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.hyperpod import (
    EbsVolume,
    HyperPodCluster,
    Lifecycle,
    MultiHead,
    NodeProvisioning,
)
from cdk_trainyard.lifecycle import LifecycleScripts, SlurmTopology
from cdk_trainyard.storage import AccountingDatabase, Mount, OpenZfs, TrainingBuckets
from tests.hyperpod.parts import (
    SCRIPTS,
    controller,
    legacy_scripts,
    policy_document,
    service_subnets,
    shared_group,
    statements,
    worker,
)
from tests.parts import existing_network, subnet_id

ZFS = OpenZfs(dns_name="fs-01234567.fsx.us-west-2.example")


def arn(*parts: Any) -> dict[str, Any]:
    """Write an ARN of the test account as CDK does: partition first, adjacent texts joined."""
    joined: list[Any] = ["arn:", {"Ref": "AWS::Partition"}]
    for part in parts:
        if isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return {"Fn::Join": ["", joined]}


LOGS = ":logs:us-west-2:111111111111:log-group:/aws/sagemaker/Clusters/train/*"
NODE_STATEMENTS = {
    "CreateLogGroup": {"Action": "logs:CreateLogGroup", "Resource": arn(LOGS)},
    "WriteLogs": {
        "Action": ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
        "Resource": arn(LOGS, ":log-stream:*"),
    },
    "WriteMetrics": {
        "Action": "cloudwatch:PutMetricData",
        "Resource": "*",
        "Condition": {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/Clusters"}},
    },
    "OpenSessions": {
        "Action": [
            "ssmmessages:CreateControlChannel",
            "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel",
            "ssmmessages:OpenDataChannel",
        ],
        "Resource": "*",
    },
}


def full(expected: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {sid: {"Sid": sid, "Effect": "Allow", **statement} for sid, statement in expected.items()}


def test_a_node_in_the_services_own_vpc_writes_logs_and_metrics_and_takes_sessions(stack: Stack) -> None:
    HyperPodCluster(stack, "Cluster", cluster_name="train", groups=[controller(), worker()])
    assert statements(stack) == full(NODE_STATEMENTS)


def test_only_sagemaker_assumes_the_role_and_no_policy_is_inline(stack: Stack) -> None:
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker()])
    template = Template.from_stack(stack)
    trust = {"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}}
    roles = template.find_resources("AWS::IAM::Role").values()
    assert [role["Properties"]["AssumeRolePolicyDocument"]["Statement"] for role in roles] == [[trust], [trust]]
    assert [role["Properties"]["Description"] for role in roles] == [
        "Nodes of a HyperPod cluster",
        "Nodes of a HyperPod cluster that control it",
    ]
    template.resource_count_is("AWS::IAM::Policy", 0)


def test_interfaces_are_made_and_changed_only_in_the_clusters_subnets(stack: Stack) -> None:
    network = existing_network(stack)
    HyperPodCluster(
        stack,
        "Cluster",
        cluster_name="train",
        groups=[controller(), worker(network=existing_network(stack, "Far"))],
        network=network,
        security_group=shared_group(stack, network),
    )
    (group_id,) = Template.from_stack(stack).find_resources("AWS::EC2::SecurityGroup")
    near, far = (arn(f":ec2:us-west-2:*:subnet/{subnet_id(name)}") for name in ("Network", "Far"))
    interfaces = arn(":ec2:us-west-2:111111111111:network-interface/*")
    assert statements(stack) == full(
        NODE_STATEMENTS
        | {
            "DescribeNetwork": {
                "Action": [
                    "ec2:DescribeDhcpOptions",
                    "ec2:DescribeNetworkInterfaces",
                    "ec2:DescribeSecurityGroups",
                    "ec2:DescribeSubnets",
                    "ec2:DescribeVpcs",
                ],
                "Resource": "*",
            },
            "CreateInterfaces": {
                "Action": "ec2:CreateNetworkInterface",
                "Resource": [
                    near,
                    far,
                    arn(":ec2:us-west-2:111111111111:security-group/", {"Fn::GetAtt": [group_id, "GroupId"]}),
                    interfaces,
                ],
            },
            "ChangeInterfaces": {
                "Action": [
                    "ec2:CreateNetworkInterfacePermission",
                    "ec2:DeleteNetworkInterface",
                    "ec2:DetachNetworkInterface",
                ],
                "Resource": interfaces,
                "Condition": {"ArnLike": {"ec2:Subnet": [near, far]}},
            },
            "RevokeInterfaces": {  # names no interface, so it may be evaluated without one
                "Action": "ec2:DeleteNetworkInterfacePermission",
                "Resource": "*",
                "Condition": {"StringEquals": {"ec2:Region": {"Ref": "AWS::Region"}}},
            },
            "DetachFromInstances": {
                "Action": "ec2:DetachNetworkInterface",
                "Resource": arn(":ec2:us-west-2:*:instance/*"),
            },
            "TagInterfaces": {"Action": "ec2:CreateTags", "Resource": interfaces},
        }
    )


def test_scripts_are_read_and_never_written(stack: Stack) -> None:
    bucket = s3.Bucket(stack, "Bucket", encryption_key=kms.Key(stack, "Key"))
    scripts = LifecycleScripts(stack, "Scripts", bucket=bucket, folder=SCRIPTS)
    HyperPodCluster(
        stack,
        "Cluster",
        cluster_name="train",
        groups=[controller(), worker()],
        lifecycle=Lifecycle(on_create="on_create.sh", scripts=scripts),
    )
    (bucket_id,) = Template.from_stack(stack).find_resources("AWS::S3::Bucket")
    (key_id,) = Template.from_stack(stack).find_resources("AWS::KMS::Key")
    bucket_arn = {"Fn::GetAtt": [bucket_id, "Arn"]}
    found = [one for one in statements(stack).values() if one.get("Sid") not in NODE_STATEMENTS]
    versions = scripts.prefix.removesuffix(f"/{scripts.content_hash[:32]}")
    assert found == [
        {
            "Action": "s3:GetObject",
            "Effect": "Allow",
            "Resource": {"Fn::Join": ["", [bucket_arn, f"/{versions}/*"]]},
        },
        {"Action": "s3:ListBucket", "Effect": "Allow", "Resource": bucket_arn},
        {"Action": "kms:Decrypt", "Effect": "Allow", "Resource": {"Fn::GetAtt": [key_id, "Arn"]}},
    ]


def test_file_systems_are_described_when_there_are_any(stack: Stack) -> None:
    cluster = HyperPodCluster(
        stack,
        "Cluster",
        groups=[controller(), worker()],
        network=existing_network(stack),
        mounts=[Mount(file_system=ZFS)],
    )
    expected = {
        "Sid": "DescribeFileSystems", "Action": "fsx:DescribeFileSystems", "Effect": "Allow", "Resource": "*"
    }  # fmt: skip
    assert statements(stack)["DescribeFileSystems"] == expected
    assert cluster.execution_role.policy.managed_policy_name


def test_volume_keys_are_used_through_sagemaker_only(stack: Stack) -> None:
    keys = [kms.Key(stack, f"Key{number}") for number in (1, 2)]
    volumes = [EbsVolume(root=True, key=keys[0]), EbsVolume(size_gb=500, key=keys[1])]
    HyperPodCluster(
        stack,
        "Cluster",
        groups=[controller(volumes=volumes), worker(volumes=volumes)],
        provisioning=NodeProvisioning.CONTINUOUS,
    )
    arns = [{"Fn::GetAtt": [key_id, "Arn"]} for key_id in Template.from_stack(stack).find_resources("AWS::KMS::Key")]
    via = {"kms:ViaService": {"Fn::Join": ["", ["sagemaker.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]}}
    found = statements(stack)
    assert found["EncryptVolumes"] == {
        "Sid": "EncryptVolumes",
        "Action": "kms:CreateGrant",
        "Effect": "Allow",
        "Resource": arns,
        "Condition": {"StringEquals": via, "Bool": {"kms:GrantIsForAWSResource": "true"}},
    }
    assert found["DescribeVolumeKeys"] == {
        "Sid": "DescribeVolumeKeys",
        "Action": "kms:DescribeKey",
        "Effect": "Allow",
        "Resource": arns,
        "Condition": {"StringEquals": via},
    }


def test_controllers_of_a_multi_head_cluster_read_the_password_and_tell_a_topic(stack: Stack) -> None:
    network = existing_network(stack)
    database = AccountingDatabase.from_attributes(
        stack,
        "Database",
        endpoint="db.example",
        secret=secretsmanager.Secret(stack, "Secret"),
        security_group=shared_group(stack, network, "DatabaseGroup").security_group,
    )
    multi_head = MultiHead(database=database, topic=sns.Topic(stack, "Topic"))
    HyperPodCluster(
        stack,
        "Cluster",
        groups=[controller(count=2), worker()],
        network=network,
        topology=SlurmTopology.LEGACY,
        multi_head=multi_head,
        lifecycle=Lifecycle(on_create="on_create.sh", scripts=legacy_scripts(stack)),
    )
    template = Template.from_stack(stack)
    (secret_id,) = template.find_resources("AWS::SecretsManager::Secret")
    (topic_id,) = template.find_resources("AWS::SNS::Topic")
    found = statements(stack, "ControllerRole")
    assert found["secretsmanager:GetSecretValue"] == {
        "Action": ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
        "Effect": "Allow",
        "Resource": {"Ref": secret_id},
    }
    assert found["sns:Publish"] == {"Action": "sns:Publish", "Effect": "Allow", "Resource": {"Ref": topic_id}}
    (nodes,) = [one for name, one in template.find_resources("AWS::IAM::ManagedPolicy").items() if "Execution" in name]
    assert "secretsmanager" not in str(nodes)
    assert len(nodes["Properties"]["Roles"]) == 2  # what other nodes may do, controllers may too


def test_grants_to_the_cluster_land_in_its_managed_policy(stack: Stack) -> None:
    cluster = HyperPodCluster(stack, "Cluster", groups=[controller(), worker()])
    ecr.Repository(stack, "Repository").grant_pull(cluster)
    kms.Key(stack, "Key").grant_decrypt(cluster)
    s3.Bucket.from_bucket_attributes(stack, "Far", bucket_name="far-bucket", account="222222222222").grant_read(cluster)
    secretsmanager.Secret(stack, "Secret", encryption_key=kms.Key(stack, "SecretKey")).grant_read(cluster)
    found = statements(stack)
    assert {"ecr:BatchCheckLayerAvailability", "ecr:GetAuthorizationToken", "kms:Decrypt", "s3:GetObject*"} <= set(
        found
    )
    Template.from_stack(stack).resource_count_is("AWS::IAM::Policy", 0)


def test_a_role_of_the_users_gets_the_policy(stack: Stack) -> None:
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::111111111111:role/team/hyperpod")
    own = iam.Role.from_role_arn(stack, "Own", "arn:aws:iam::111111111111:role/of-one-group")
    cluster = HyperPodCluster(stack, "Cluster", groups=[controller(), worker(execution_role=own)], role=role)
    assert cluster.role is role
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::IAM::Role", 0)
    template.has_resource_properties("AWS::IAM::ManagedPolicy", {"Roles": ["hyperpod"]})
    (resource,) = template.find_resources("AWS::SageMaker::Cluster").values()
    roles = [entry["ExecutionRole"] for entry in resource["Properties"]["InstanceGroups"]]
    assert roles == ["arn:aws:iam::111111111111:role/team/hyperpod", "arn:aws:iam::111111111111:role/of-one-group"]


@pytest.mark.parametrize(
    ("settings", "policies"),
    [({}, [arn(":iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy")]), ({"aws_managed_policy": False}, None)],
)
def test_new_roles_have_the_policy_that_aws_wants_them_to_have(
    stack: Stack, settings: dict[str, Any], policies: list[object] | None
) -> None:
    HyperPodCluster(stack, "Cluster", cluster_name="train", groups=[controller(), worker()], **settings)
    roles = Template.from_stack(stack).find_resources("AWS::IAM::Role").values()
    assert [role["Properties"].get("ManagedPolicyArns") for role in roles] == [policies, policies]
    assert statements(stack) == full(NODE_STATEMENTS)


def test_controllers_take_a_role_of_the_users_too(stack: Stack) -> None:
    nodes, controllers = (
        iam.Role.from_role_arn(stack, name, f"arn:aws:iam::111111111111:role/{name}") for name in ("nodes", "head")
    )
    network = existing_network(stack, service_subnets=service_subnets(stack, "us-west-2a", "us-west-2b"))
    HyperPodCluster(
        stack,
        "Cluster",
        groups=[controller(), worker()],
        network=network,
        provisioning=NodeProvisioning.CONTINUOUS,
        accounting=AccountingDatabase(stack, "Database", network=network),
        role=nodes,
        controller_role=controllers,
    )
    policies = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy")
    attached = {name: one["Properties"]["Roles"] for name, one in policies.items() if name.startswith("Cluster")}
    assert sorted(attached.values()) == [["head"], ["nodes", "head"]]


def test_nodes_pull_images_and_write_metrics_where_that_was_asked_for(stack: Stack) -> None:
    names = {"one": "team/train", "other": "team/tools"}
    repositories = [
        ecr.Repository.from_repository_attributes(
            stack, key, repository_name=name, repository_arn=f"arn:aws:ecr:us-west-2:111111111111:repository/{name}"
        )
        for key, name in names.items()
    ]
    workspace = "arn:aws:aps:us-west-2:111111111111:workspace/ws-1"
    HyperPodCluster(
        stack,
        "Cluster",
        groups=[controller(), worker()],
        image_repositories=repositories,
        prometheus_workspace_arn=workspace,
    )
    arns = [f"arn:aws:ecr:us-west-2:111111111111:repository/{name}" for name in names.values()]
    pull = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    granted = {
        "PullImages": {"Action": pull, "Resource": arns},
        "LogInToRegistries": {"Action": "ecr:GetAuthorizationToken", "Resource": "*"},
        "RemoteWrite": {"Action": "aps:RemoteWrite", "Resource": workspace},
    }
    found = statements(stack)
    assert {name: found[name] for name in granted} == full(granted)


@pytest.mark.parametrize(("count", "policies"), [(10, 0), (45, 1), (100, 2)])
def test_many_repositories_have_policies_of_their_own(stack: Stack, count: int, policies: int) -> None:
    names = [f"team/{'long-' * 4}{number:03}" for number in range(count)]
    arns = [f"arn:aws:ecr:us-west-2:111111111111:repository/{name}" for name in names]
    repositories = [
        ecr.Repository.from_repository_attributes(stack, name[-3:], repository_name=name, repository_arn=arn)
        for name, arn in zip(names, arns, strict=True)
    ]
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker()], image_repositories=repositories)
    template = Template.from_stack(stack)
    found = template.find_resources("AWS::IAM::ManagedPolicy")
    documents = {key: json.dumps(each["Properties"]["PolicyDocument"]) for key, each in found.items()}
    apart = [key for key in documents if "Images" in key]
    assert len(apart) == policies
    assert [key for key in apart if len(documents[key].replace(" ", "")) > 6144] == []
    assert [arn for arn in arns if sum(f'"{arn}"' in each for each in documents.values()) != 1] == []
    (cluster,) = template.find_resources("AWS::SageMaker::Cluster").values()
    assert {*apart} <= {*cluster["DependsOn"]}


def test_more_policies_than_a_role_has_by_default_are_warned_of(stack: Stack) -> None:
    names = [f"{number:03}{'x' * 250}" for number in range(150)]
    repositories = [ecr.Repository.from_repository_name(stack, name[:3], name) for name in names]
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker()], image_repositories=repositories)
    Annotations.from_stack(stack).has_warning(
        "*", Match.string_like_regexp("raise IAM's quota of 10 policies of a role")
    )


def test_the_policy_fits_into_a_managed_policy(stack: Stack) -> None:
    network = existing_network(stack)
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker()], network=network, mounts=[Mount(file_system=ZFS)])
    document = policy_document(stack)
    assert len("".join(str(document).split())) < 6144 / 2  # half of what IAM takes is left for grants


def test_jobs_read_datasets_and_write_checkpoints_and_models(stack: Stack) -> None:
    cluster = HyperPodCluster(stack, "Cluster", cluster_name="train", groups=[controller(), worker()])
    names = {name: s3.Bucket.from_bucket_name(stack, name, name) for name in ("scripts", "data", "saved", "models")}
    cluster.use(
        TrainingBuckets(
            stack,
            "Buckets",
            scripts=names["scripts"],
            datasets=names["data"],
            checkpoints=names["saved"],
            models=names["models"],
        )
    )
    found = {
        str(one["Resource"]["Fn::Join"][1][-1]).removeprefix(":s3:::"): one["Action"]
        for one in policy_document(stack)["Statement"]
        if "s3:" in str(one["Action"]) and "/*" in str(one["Resource"])
    }
    write = ["s3:AbortMultipartUpload", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject"]
    assert found == {
        "data/*": "s3:GetObject",
        "saved/*": [*write, "s3:PutObjectTagging"],
        "models/*": [*write, "s3:PutObjectTagging"],
    }
