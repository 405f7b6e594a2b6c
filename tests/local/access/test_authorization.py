"""Calls of a role's session are allowed and refused as AWS does, by the policies that are deployed."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.access.sessions import issue
from cdk_trainyard.local.access.trust import Kind
from cdk_trainyard.local.errors import ApiError
from tests.local.access.conftest import Role, allow, document

BUCKET, EMPTY = "own-data", "own-empty"
MakeRole = Callable[..., Role]


@pytest.fixture
def bucket(aws: LocalAws) -> Iterator[str]:
    client = aws.client("s3")
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": aws.region})
    client.put_object(Bucket=BUCKET, Key="a/b", Body=b"x")
    yield BUCKET
    for row in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client.delete_object(Bucket=BUCKET, Key=row["Key"])
    client.delete_bucket(Bucket=BUCKET)


@pytest.fixture
def key(aws: LocalAws, bucket: str) -> str:
    """A KMS key with which the bucket is encrypted; its policy delegates to the account."""
    made: str = aws.client("kms").create_key()["KeyMetadata"]["Arn"]
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": made}
    rule = {"ApplyServerSideEncryptionByDefault": default, "BucketKeyEnabled": True}
    aws.client("s3").put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [rule]})
    aws.client("s3").put_object(Bucket=bucket, Key="a/b", Body=b"x")
    return made


def refused(call: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(ClientError) as error:
        call()
    return error.value.response["Error"]["Code"], error.value.response["Error"].get("Message", "")


def test_an_administrator_is_free(aws: LocalAws, bucket: str) -> None:
    assert aws.client("s3").get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"


def test_the_cli_is_an_administrator(role: MakeRole, bucket: str) -> None:
    """What `cdk deploy` calls with is no part of a deployment: the bootstrap template tags its roles."""
    made = role(Tags=[{"Key": "aws-cdk:bootstrap-role", "Value": "deploy"}])
    assert made.client("s3").list_objects_v2(Bucket=bucket)["KeyCount"] == 1


def test_what_is_granted_is_allowed_and_nothing_else(role: MakeRole, bucket: str) -> None:
    client = role(allow("s3:GetObject", f"arn:aws:s3:::{bucket}/a/*")).client("s3")
    assert client.get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"
    code, message = refused(lambda: client.put_object(Bucket=bucket, Key="a/b", Body=b"y"))
    assert code == "AccessDenied"
    missing = {"Effect": "Allow", "Action": "s3:PutObject", "Resource": f"arn:aws:s3:::{bucket}/a/b"}
    assert json.dumps(missing) in message


def test_a_managed_policy_counts_and_so_does_one_of_aws(aws: LocalAws, role: MakeRole, bucket: str) -> None:
    made = role()
    client = made.client("s3")
    assert refused(lambda: client.list_objects_v2(Bucket=bucket))[0] == "AccessDenied"
    arn = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
    aws.client("iam").attach_role_policy(RoleName=made.name, PolicyArn=arn)
    assert client.list_objects_v2(Bucket=bucket)["KeyCount"] == 1


@pytest.mark.parametrize(
    ("service", "call", "code", "status"),
    [
        ("s3", lambda client: client.list_buckets(), "AccessDenied", 403),
        ("ec2", lambda client: client.describe_instances(), "UnauthorizedOperation", 403),
        ("ssm", lambda client: client.get_parameter(Name="x"), "AccessDeniedException", 400),
        ("iam", lambda client: client.list_roles(), "AccessDenied", 403),
        ("secretsmanager", lambda client: client.get_secret_value(SecretId="x"), "AccessDeniedException", 400),
        ("autoscaling", lambda client: client.describe_auto_scaling_groups(), "AccessDenied", 403),
        ("logs", lambda client: client.create_log_group(logGroupName="x"), "AccessDeniedException", 400),
        ("kinesis", lambda client: client.list_streams(), "AccessDeniedException", 400),
        ("events", lambda client: client.list_rules(), "AccessDeniedException", 400),
        ("lambda", lambda client: client.list_functions(), "AccessDeniedException", 403),
        ("batch", lambda client: client.describe_job_queues(), "AccessDeniedException", 403),
        ("efs", lambda client: client.describe_file_systems(), "AccessDeniedException", 403),
        ("apigateway", lambda client: client.get_rest_apis(), "AccessDeniedException", 403),
        ("apigatewayv2", lambda client: client.get_apis(), "AccessDeniedException", 403),
    ],
)
def test_each_service_refuses_in_its_own_way(role: MakeRole, service: str, call: Any, code: str, status: int) -> None:
    with pytest.raises(ClientError) as error:
        call(role().client(service))
    assert error.value.response["Error"]["Code"] == code
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    assert "not authorized to perform" in str(error.value)


_TABLE = {
    "KeySchema": [{"AttributeName": "run", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "run", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
_ITEM = {"run": {"S": "1"}}


def test_a_table_takes_items_of_those_whose_policies_or_its_own_allow_it(aws: LocalAws, role: MakeRole) -> None:
    tables, one = aws.client("dynamodb"), role()
    arn = tables.create_table(TableName="runs", **_TABLE)["TableDescription"]["TableArn"]
    other = role(allow("dynamodb:PutItem", arn)).client("dynamodb")
    other.put_item(TableName="runs", Item=_ITEM)
    code, message = refused(lambda: other.get_item(TableName="runs", Key=_ITEM))
    assert (code, f"dynamodb:GetItem on resource: {arn}" in message) == ("AccessDeniedException", True)
    own = {"Effect": "Allow", "Principal": {"AWS": one.arn}, "Action": "dynamodb:GetItem", "Resource": arn}
    tables.put_resource_policy(ResourceArn=arn, Policy=document([own]))
    assert one.client("dynamodb").get_item(TableName="runs", Key=_ITEM)["Item"] == _ITEM
    tables.delete_table(TableName="runs")


def test_streams_and_buses_take_from_those_who_may(aws: LocalAws, role: MakeRole) -> None:
    streams, buses = aws.client("kinesis"), aws.client("events")
    streams.create_stream(StreamName="losses", ShardCount=1)
    arn = streams.describe_stream_summary(StreamName="losses")["StreamDescriptionSummary"]["StreamARN"]
    bus = buses.create_event_bus(Name="training")["EventBusArn"]
    made = role(allow(["kinesis:PutRecord", "kinesis:Get*"], arn), allow("events:PutEvents", bus))
    client = made.client("kinesis")
    shard = client.put_record(StreamName="losses", Data=b"1", PartitionKey="1")["ShardId"]
    place = {"StreamName": "losses", "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = client.get_shard_iterator(**place)["ShardIterator"]
    assert client.get_records(ShardIterator=iterator)["Records"][0]["Data"] == b"1"
    assert refused(lambda: client.delete_stream(StreamName="losses"))[0] == "AccessDeniedException"
    event = {"Source": "training", "DetailType": "done", "Detail": "{}"}
    assert made.client("events").put_events(Entries=[{**event, "EventBusName": bus}])["FailedEntryCount"] == 0
    assert refused(lambda: made.client("events").put_events(Entries=[event]))[0] == "AccessDeniedException"
    streams.delete_stream(StreamName="losses")
    buses.delete_event_bus(Name="training")


def test_identity_needs_no_permission(role: MakeRole) -> None:
    made = role({"Effect": "Deny", "Action": "*", "Resource": "*"})
    assert made.client("sts").get_caller_identity()["Arn"].endswith(f":assumed-role/{made.name}/test")


class TestMissingKeys:
    """Amazon S3 API Reference, GetObject and HeadObject, Permissions."""

    def test_who_may_list_is_told_404(self, role: MakeRole, bucket: str) -> None:
        grants = allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*"), allow("s3:ListBucket", f"arn:aws:s3:::{bucket}")
        client = role(*grants).client("s3")
        assert refused(lambda: client.get_object(Bucket=bucket, Key="gone"))[0] == "NoSuchKey"
        assert refused(lambda: client.head_object(Bucket=bucket, Key="gone"))[0] == "404"

    def test_who_may_not_is_told_403(self, role: MakeRole, bucket: str) -> None:
        client = role(allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*")).client("s3")
        assert refused(lambda: client.get_object(Bucket=bucket, Key="gone"))[0] == "AccessDenied"
        assert refused(lambda: client.head_object(Bucket=bucket, Key="gone"))[0] == "403"

    def test_a_condition_on_the_prefix_hides_them_too(self, role: MakeRole, bucket: str) -> None:
        condition = {"StringLike": {"s3:prefix": "a/*"}}
        listing = allow("s3:ListBucket", f"arn:aws:s3:::{bucket}", Condition=condition)
        client = role(allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*"), listing).client("s3")
        assert client.list_objects_v2(Bucket=bucket, Prefix="a/")["KeyCount"] == 1
        assert refused(lambda: client.list_objects_v2(Bucket=bucket))[0] == "AccessDenied"
        code, message = refused(lambda: client.get_object(Bucket=bucket, Key="a/gone"))
        assert code == "AccessDenied"
        assert "s3:prefix, which is absent" in message
        assert refused(lambda: client.head_bucket(Bucket=bucket))[0] == "403"

    def test_a_bucket_that_does_not_exist_is_told_to_everybody(self, role: MakeRole) -> None:
        client = role().client("s3")
        assert refused(lambda: client.get_object(Bucket="nobodys", Key="x"))[0] == "NoSuchBucket"


class TestKeys:
    """Amazon S3 User Guide, "Using server-side encryption with AWS KMS keys"; KMS Developer Guide, "Key policies"."""

    def test_reading_what_is_encrypted_needs_the_key(self, role: MakeRole, bucket: str, key: str) -> None:
        objects = allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*")
        code, message = refused(lambda: role(objects).client("s3").get_object(Bucket=bucket, Key="a/b"))
        assert code == "AccessDenied"
        assert f'"Action": "kms:Decrypt", "Resource": "{key}"' in message
        decrypt = role(objects, allow("kms:Decrypt", key)).client("s3")
        assert decrypt.get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"

    def test_writing_needs_a_data_key_and_parts_must_be_read_again(self, role: MakeRole, bucket: str, key: str) -> None:
        objects = allow(["s3:PutObject", "s3:AbortMultipartUpload"], f"arn:aws:s3:::{bucket}/*")
        client = role(objects, allow("kms:GenerateDataKey", key)).client("s3")
        client.put_object(Bucket=bucket, Key="c", Body=b"x")
        upload = client.create_multipart_upload(Bucket=bucket, Key="d")["UploadId"]
        _, message = refused(
            lambda: client.upload_part(Bucket=bucket, Key="d", UploadId=upload, PartNumber=1, Body=b"x")
        )
        assert '"Action": "kms:Decrypt"' in message
        client.abort_multipart_upload(Bucket=bucket, Key="d", UploadId=upload)

    @pytest.mark.parametrize(
        ("keys", "allowed"),
        [
            ({"kms:ViaService": "s3.us-west-2.amazonaws.com"}, True),
            ({"kms:ViaService": "ebs.us-west-2.amazonaws.com"}, False),
            ({"kms:EncryptionContext:aws:s3:arn": f"arn:aws:s3:::{BUCKET}"}, True),
            ({"kms:EncryptionContext:aws:s3:arn": f"arn:aws:s3:::{BUCKET}/a/b"}, False),
        ],
    )
    def test_the_key_is_asked_through_s3(
        self, role: MakeRole, bucket: str, key: str, keys: dict[str, str], allowed: bool
    ) -> None:
        decrypt = allow("kms:Decrypt", key, Condition={"StringEquals": keys})
        client = role(allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*"), decrypt).client("s3")
        if allowed:
            assert client.get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"
        else:
            assert refused(lambda: client.get_object(Bucket=bucket, Key="a/b"))[0] == "AccessDenied"

    def test_a_key_that_does_not_name_the_account_ignores_identity_policies(
        self, aws: LocalAws, role: MakeRole, bucket: str, key: str
    ) -> None:
        made = role(allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*"), allow("kms:*", key))
        aws.client("kms").put_key_policy(KeyId=key, PolicyName="default", Policy=document([
            {**allow("kms:*"), "Principal": {"Service": "logs.us-east-1.amazonaws.com"}}]))  # fmt: skip
        assert refused(lambda: made.client("s3").get_object(Bucket=bucket, Key="a/b"))[0] == "AccessDenied"
        aws.client("kms").put_key_policy(KeyId=key, PolicyName="default", Policy=document([
            {**allow("kms:Decrypt"), "Principal": {"AWS": made.arn}}]))  # fmt: skip
        assert made.client("s3").get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"

    def test_a_secret_needs_its_key(self, aws: LocalAws, role: MakeRole, key: str) -> None:
        arn = aws.client("secretsmanager").create_secret(Name="encrypted", SecretString="x", KmsKeyId=key)["ARN"]
        reading = allow("secretsmanager:GetSecretValue", arn)
        client = role(reading).client("secretsmanager")
        code, message = refused(lambda: client.get_secret_value(SecretId="encrypted"))
        assert (code, "kms:Decrypt" in message) == ("AccessDeniedException", True)
        client = role(reading, allow("kms:Decrypt", key)).client("secretsmanager")
        assert client.get_secret_value(SecretId="encrypted")["SecretString"] == "x"
        aws.client("secretsmanager").delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)


class TestOtherPolicies:
    def test_a_bucket_policy_denies_and_grants(self, aws: LocalAws, role: MakeRole, bucket: str) -> None:
        granted, denied = role(), role(allow("s3:*"))
        objects = f"arn:aws:s3:::{bucket}/*"
        aws.client("s3").put_bucket_policy(Bucket=bucket, Policy=document([
            {**allow("s3:GetObject", objects), "Principal": {"AWS": granted.arn}},
            {"Effect": "Deny", "Action": "s3:GetObject", "Resource": objects, "Principal": {"AWS": denied.arn}},
        ]))  # fmt: skip
        assert granted.client("s3").get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"
        code, message = refused(lambda: denied.client("s3").get_object(Bucket=bucket, Key="a/b"))
        assert (code, "explicit deny in policy of arn:aws:s3" in message) == ("AccessDenied", True)

    def test_a_deny_without_tls_denies_nobody_who_uses_tls(self, aws: LocalAws, role: MakeRole, bucket: str) -> None:
        """The local AWS speaks HTTP on the loopback; a session's calls count as the TLS that they are at AWS."""
        deny = {
            "Effect": "Deny",
            "Action": "s3:*",
            "Resource": f"arn:aws:s3:::{bucket}/*",
            "Principal": "*",
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
        aws.client("s3").put_bucket_policy(Bucket=bucket, Policy=document([deny]))
        client = role(allow("s3:GetObject")).client("s3")
        assert client.get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"

    def test_a_permissions_boundary_limits(self, aws: LocalAws, role: MakeRole, bucket: str) -> None:
        boundary = aws.client("iam").create_policy(
            PolicyName="boundary", PolicyDocument=document([allow("s3:ListBucket")])
        )["Policy"]["Arn"]
        client = role(allow("s3:*"), PermissionsBoundary=boundary).client("s3")
        assert client.list_objects_v2(Bucket=bucket)["KeyCount"] == 1
        code, message = refused(lambda: client.get_object(Bucket=bucket, Key="a/b"))
        assert (code, f"permissions boundary {boundary}" in message) == ("AccessDenied", True)

    def test_a_session_policy_limits(self, role: MakeRole, bucket: str) -> None:
        client = role(allow("s3:*")).client("s3", Policy=document([allow("s3:ListBucket")]))
        assert client.list_objects_v2(Bucket=bucket)["KeyCount"] == 1
        assert "no session policy" in refused(lambda: client.get_object(Bucket=bucket, Key="a/b"))[1]

    def test_tags_of_a_role_are_variables(self, role: MakeRole, bucket: str) -> None:
        own = allow("s3:GetObject", f"arn:aws:s3:::{bucket}/${{aws:PrincipalTag/team}}/*")
        made = role(own, Tags=[{"Key": "team", "Value": "a"}])
        assert made.client("s3").get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"
        other = role(own, Tags=[{"Key": "team", "Value": "c"}])
        assert refused(lambda: other.client("s3").get_object(Bucket=bucket, Key="a/b"))[0] == "AccessDenied"

    def test_a_policy_that_the_evaluator_does_not_know_is_named(
        self, aws: LocalAws, role: MakeRole, bucket: str
    ) -> None:
        statement = {**allow("s3:*", Condition={"StringIsNice": {"aws:username": "x"}}), "Principal": "*"}
        aws.client("s3").put_bucket_policy(Bucket=bucket, Policy=document([statement]))
        code, message = refused(lambda: role(allow("s3:*")).client("s3").list_objects_v2(Bucket=bucket))
        assert (code, "'StringIsNice'" in message) == ("NotImplemented", True)

    def test_a_condition_key_that_nothing_reads_is_named(self, role: MakeRole, bucket: str) -> None:
        statement = allow("s3:*", Condition={"IpAddress": {"aws:SourceIp": "192.0.2.0/24"}})
        code, message = refused(lambda: role(statement).client("s3").list_objects_v2(Bucket=bucket))
        assert (code, "asks for aws:SourceIp" in message) == ("NotImplemented", True)


class TestTrust:
    """STS API Reference, AssumeRole, Permissions."""

    def test_the_trust_policy_must_allow_a_session(self, aws: LocalAws, role: MakeRole) -> None:
        first, second = role(allow("sts:AssumeRole")), role()
        iam, sts = aws.client("iam"), first.client("sts")
        for principal, allowed in (({"AWS": first.arn}, True), ({"Service": "ec2.amazonaws.com"}, False)):
            trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}
            iam.update_assume_role_policy(RoleName=second.name, PolicyDocument=document([trust]))
            if allowed:
                assert sts.assume_role(RoleArn=second.arn, RoleSessionName="second")["Credentials"]
            else:
                assert (
                    refused(lambda: sts.assume_role(RoleArn=second.arn, RoleSessionName="second"))[0] == "AccessDenied"
                )

    @pytest.mark.parametrize(
        ("kind", "name", "service"),
        [
            ("function", "f", "lambda"),
            ("task", "t", "ecs-tasks"),
            ("build", "b", "codebuild"),
            ("instance", "i-0123456789abcdef0", "sagemaker"),
        ],
    )
    def test_a_service_is_given_a_role_that_trusts_it_only(
        self, aws: LocalAws, role: MakeRole, kind: Kind, name: str, service: str
    ) -> None:
        """IAM User Guide, "Create a role to delegate permissions to an AWS service"."""
        made, iam = role(), aws.client("iam")
        trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
        iam.update_assume_role_policy(RoleName=made.name, PolicyDocument=document([trust]))
        with pytest.raises(ApiError, match=rf"{service}\.amazonaws\.com is not authorized to perform: sts:AssumeRole"):
            issue(made.arn, name, kind, aws.region)
        trust["Principal"] = {"Service": [f"{service}.amazonaws.com"]}
        iam.update_assume_role_policy(RoleName=made.name, PolicyDocument=document([trust]))
        assert issue(made.arn, name, kind, aws.region).kind == kind

    def test_ec2_starts_its_instances_itself(self, aws: LocalAws, role: MakeRole) -> None:
        made = role()
        trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
        aws.client("iam").update_assume_role_policy(RoleName=made.name, PolicyDocument=document([trust]))
        run = aws.client("ec2").run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1)["Instances"][0]
        assert made.client("sts", session=run["InstanceId"]).get_caller_identity()["Arn"].endswith(run["InstanceId"])
        aws.client("ec2").terminate_instances(InstanceIds=[run["InstanceId"]])


class TestEndpoints:
    """AWS PrivateLink Guide, "Gateway endpoints": its policy bounds what goes through it."""

    @pytest.fixture
    def instance(self, aws: LocalAws) -> Iterator[str]:
        ec2 = aws.client("ec2")
        vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
        policy = document([{**allow("s3:GetObject"), "Principal": "*"}])
        endpoint = ec2.create_vpc_endpoint(
            VpcId=vpc,
            ServiceName=f"com.amazonaws.{aws.region}.s3",
            VpcEndpointType="Gateway",
            PolicyDocument=policy,
        )["VpcEndpoint"]["VpcEndpointId"]
        made = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, SubnetId=subnet)["Instances"][0]
        yield made["InstanceId"]
        ec2.terminate_instances(InstanceIds=[made["InstanceId"]])
        ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])
        ec2.delete_subnet(SubnetId=subnet)
        ec2.delete_vpc(VpcId=vpc)

    def test_it_limits_nodes_in_its_network_only(self, role: MakeRole, bucket: str, instance: str) -> None:
        made = role(allow("s3:*"))
        inside, outside = made.client("s3", session=instance), made.client("s3")
        assert inside.get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"
        assert "no statement of endpoint policy vpce-" in refused(lambda: inside.list_objects_v2(Bucket=bucket))[1]
        assert outside.list_objects_v2(Bucket=bucket)["KeyCount"] == 1

    def test_policies_see_the_endpoint(self, role: MakeRole, bucket: str, instance: str) -> None:
        made = role(allow("s3:GetObject", Condition={"Null": {"aws:SourceVpce": "false"}}))
        assert made.client("s3", session=instance).get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"x"
        assert refused(lambda: made.client("s3").get_object(Bucket=bucket, Key="a/b"))[0] == "AccessDenied"


class TestHistory:
    """CloudTrail API Reference, LookupEvents; CloudTrail User Guide, "CloudTrail record contents", errorCode."""

    def test_refused_calls_stand_in_the_event_history(self, aws: LocalAws, role: MakeRole, bucket: str) -> None:
        made = role(allow("s3:ListBucket"))
        client = made.client("s3", session="history")
        client.list_objects_v2(Bucket=bucket)
        refused(lambda: client.get_object(Bucket=bucket, Key="a/b"))
        wanted = [{"AttributeKey": "Username", "AttributeValue": "history"}]
        events = aws.client("cloudtrail").lookup_events(LookupAttributes=wanted)["Events"]
        assert [event["EventName"] for event in events] == ["GetObject", "ListObjectsV2"]
        denied, listed = (json.loads(event["CloudTrailEvent"]) for event in events)
        assert (denied["errorCode"], denied["eventSource"]) == ("AccessDenied", "s3.amazonaws.com")
        assert denied["userIdentity"]["arn"].endswith(f":assumed-role/{made.name}/history")
        assert '"Action": "s3:GetObject"' in denied["errorMessage"]
        assert "errorCode" not in listed
        assert denied["requestParameters"] == {"bucket": bucket, "key": "a/b", "checksumMode": "ENABLED"}

    def test_what_no_table_knows_stands_there_too(self, aws: LocalAws, role: MakeRole) -> None:
        refused(lambda: role().client("route53", session="unknown").list_hosted_zones())
        wanted = [{"AttributeKey": "Username", "AttributeValue": "unknown"}]
        (event,) = aws.client("cloudtrail").lookup_events(LookupAttributes=wanted)["Events"]
        assert json.loads(event["CloudTrailEvent"])["errorCode"] == "NotImplemented"

    def test_an_unknown_attribute_is_refused(self, aws: LocalAws) -> None:
        wanted = [{"AttributeKey": "ReadOnly", "AttributeValue": "true"}]
        assert refused(lambda: aws.client("cloudtrail").lookup_events(LookupAttributes=wanted))[0].startswith("Invalid")
