"""How the types of DynamoDB, Kinesis, EventBridge's buses and what maps them to functions are tried."""

from cdk_trainyard.local import LocalAws
from tests.local.cases import Case, look
from tests.local.support import POLICY, of

_TAGS = [{"Key": "Name", "Value": "first"}]
_OTHER_TAGS = [{"Key": "Name", "Value": "second"}]
_KEYS = [{"AttributeName": "run", "KeyType": "HASH"}]
_INDEX = {"KeySchema": [{"AttributeName": "step", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}
_POLICY = {**POLICY, "Statement": [{**POLICY["Statement"][0], "Principal": "*", "Action": "dynamodb:GetItem"}]}
_BUS_POLICY = {
    **POLICY,
    "Statement": [
        {
            "Sid": "other",
            "Effect": "Allow",
            "Principal": {"AWS": "arn:aws:iam::210987654321:root"},
            "Action": "events:PutEvents",
            "Resource": {"Fn::Sub": "arn:aws:events:${AWS::Region}:${AWS::AccountId}:event-bus/tried"},
        }
    ],
}


_FUNCTION = {
    "Runtime": "python3.12",
    "Handler": "index.handler",
    "Role": of("RoleArn"),
    "Code": {"ZipFile": "def handler(event, context):\n    return event\n"},
}


def _attributes(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def _table(aws: LocalAws, name: str) -> list[object]:
    return [
        look(
            "dynamodb",
            "describe_table",
            "Table.[BillingModeSummary.BillingMode, GlobalSecondaryIndexes[].IndexName, "
            "StreamSpecification.StreamViewType, DeletionProtectionEnabled]",
            TableName="{}",
        )(aws, name),
        look("dynamodb", "describe_time_to_live", "TimeToLiveDescription.TimeToLiveStatus", TableName="{}")(aws, name),
        look(
            "dynamodb",
            "describe_continuous_backups",
            "ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus",
            TableName="{}",
        )(aws, name),
        look("dynamodb", "list_tags_of_resource", "Tags[].Value", ResourceArn=_arn(aws, name))(aws, name),
    ]


def _arn(aws: LocalAws, name: str) -> str:
    return f"arn:aws:dynamodb:{aws.region}:{aws.account}:table/{name}"


CASES = (
    Case(
        type="AWS::DynamoDB::Table",
        properties={
            "AttributeDefinitions": _attributes("run", "step"),
            "KeySchema": _KEYS,
            "BillingMode": "PAY_PER_REQUEST",
            "GlobalSecondaryIndexes": [{"IndexName": "by-step", **_INDEX}],
            "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
            "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": True},
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            "SSESpecification": {"SSEEnabled": True},
            "ResourcePolicy": {"PolicyDocument": _POLICY},
            "DeletionProtectionEnabled": True,
            "Tags": _TAGS,
        },
        look=_table,
        made=[["PAY_PER_REQUEST", ["by-step"], "NEW_IMAGE", True], "ENABLED", "ENABLED", ["first"]],
        change={
            "AttributeDefinitions": _attributes("run", "epoch"),
            "GlobalSecondaryIndexes": [
                {"IndexName": "by-epoch", **_INDEX, "KeySchema": [{"AttributeName": "epoch", "KeyType": "HASH"}]}
            ],
            "StreamSpecification": {"StreamViewType": "KEYS_ONLY"},
            "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": False},
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False},
            "DeletionProtectionEnabled": False,
            "Tags": _OTHER_TAGS,
        },
        changed=[["PAY_PER_REQUEST", ["by-epoch"], "KEYS_ONLY", False], "DISABLED", "DISABLED", ["second"]],
        attributes=("Arn", "StreamArn"),
    ),
    Case(
        type="AWS::Kinesis::Stream",
        properties={
            "ShardCount": 2,
            "RetentionPeriodHours": 48,
            "StreamEncryption": {"EncryptionType": "KMS", "KeyId": "alias/aws/kinesis"},
            "DesiredShardLevelMetrics": ["IncomingBytes"],
            "Tags": _TAGS,
        },
        look=lambda aws, name: [
            look(
                "kinesis",
                "describe_stream_summary",
                "StreamDescriptionSummary.[OpenShardCount, RetentionPeriodHours, EncryptionType, "
                "EnhancedMonitoring[0].ShardLevelMetrics]",
                StreamName="{}",
            )(aws, name),
            look("kinesis", "list_tags_for_stream", "Tags[].Value", StreamName="{}")(aws, name),
        ],
        made=[[2, 48, "KMS", ["IncomingBytes"]], ["first"]],
        change={
            "ShardCount": 4,
            "RetentionPeriodHours": 24,
            "StreamEncryption": {"EncryptionType": "KMS", "KeyId": "alias/mine"},
            "DesiredShardLevelMetrics": ["OutgoingBytes"],
            "Tags": _OTHER_TAGS,
        },
        changed=[[4, 24, "KMS", ["OutgoingBytes"]], ["second"]],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::Events::EventBus",
        properties={"Name": "tried", "Description": "first", "Policy": _BUS_POLICY, "Tags": _TAGS},
        look=lambda aws, name: [
            look("events", "describe_event_bus", "[Description, Policy != null]", Name="{}")(aws, name),
            look(
                "events",
                "list_tags_for_resource",
                "Tags[].Value",
                ResourceARN=f"arn:aws:events:{aws.region}:{aws.account}:event-bus/{{}}",
            )(aws, name),
        ],
        made=[["first", True], ["first"]],
        change={"Description": "second", "Policy": None, "Tags": _OTHER_TAGS},
        changed=[["second", False], ["second"]],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::Lambda::EventSourceMapping",
        needs={
            "Function": {"Type": "AWS::Lambda::Function", "Properties": _FUNCTION},
            "Queue": {"Type": "AWS::SQS::Queue", "Properties": {}},
        },
        properties={
            "FunctionName": {"Ref": "Function"},
            "EventSourceArn": {"Fn::GetAtt": ["Queue", "Arn"]},
            "BatchSize": 5,
            "ScalingConfig": {"MaximumConcurrency": 2},
            "FilterCriteria": {"Filters": [{"Pattern": '{"body": {"a": [1]}}'}]},
        },
        look=look(
            "lambda", "get_event_source_mapping", "[BatchSize, State, ScalingConfig, EventSourceArn != null]", UUID="{}"
        ),
        made=[5, "Enabled", {"MaximumConcurrency": 2}, True],
        change={"BatchSize": 10, "Enabled": False, "ScalingConfig": {"MaximumConcurrency": 3}},
        changed=[10, "Disabled", {"MaximumConcurrency": 3}, True],
        attributes=("EventSourceMappingArn", "Id"),
    ),
)
