"""How the types of IAM, CloudWatch, Logs, SNS, SQS, SSM, Events and Secrets Manager are tried."""

import json

from cdk_trainyard.local import LocalAws
from tests.local.cases import Case, look
from tests.local.support import POLICY, TRUST, of
from tests.support import every

_TAGS = [{"Key": "Name", "Value": "first"}]
_OTHER_TAGS = [{"Key": "Name", "Value": "second"}]
_OTHER_POLICY = {**POLICY, "Statement": [{**POLICY["Statement"][0], "Action": "s3:PutObject"}]}
_ALARM = {
    "Namespace": "AWS/FSx",
    "MetricName": "FreeDataStorageCapacity",
    "Dimensions": [{"Name": "FileSystemId", "Value": "fs-1"}],
    "ComparisonOperator": "LessThanThreshold",
    "EvaluationPeriods": 2,
    "Period": 300,
    "Statistic": "Sum",
    "Threshold": 10,
    "AlarmActions": [of("TopicArn")],
    "TreatMissingData": "notBreaching",
}
_FUNCTION = {
    "Runtime": "python3.12",
    "Handler": "index.handler",
    "Role": of("RoleArn"),
    "Code": {"ZipFile": "def handler(event, context):\n    return event\n"},
}
_NEEDS_FUNCTION = {"Function": {"Type": "AWS::Lambda::Function", "Properties": _FUNCTION}}
_ROTATION = {
    "Permission": {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "FunctionName": {"Ref": "Function"},
            "Action": "lambda:InvokeFunction",
            "Principal": "secretsmanager.amazonaws.com",
        },
    }
}
_SECRET = {"Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"SecretString": '{"username": "admin"}'}}}


def _streams(aws: LocalAws, name: str) -> list[str]:
    """Return the names of the log streams ``name`` of every log group."""
    logs = aws.client("logs")
    groups = [group["logGroupName"] for group in every(logs, "describe_log_groups")["logGroups"]]
    asked = {"logStreamNamePrefix": name}
    found = [every(logs, "describe_log_streams", logGroupName=group, **asked)["logStreams"] for group in groups]
    return [stream["logStreamName"] for streams in found for stream in streams]


_MANAGER = "alertmanager_config: |\n  route: {{receiver: {0}}}\n  receivers: [{{name: {0}}}]\n"


def _workspace(aws: LocalAws, arn: str) -> list[object]:
    amp, workspace = aws.client("amp"), arn.rpartition("/")[2]
    told = amp.describe_workspace(workspaceId=workspace)["workspace"]
    configuration = amp.describe_workspace_configuration(workspaceId=workspace)["workspaceConfiguration"]
    manager = amp.describe_alert_manager_definition(workspaceId=workspace)["alertManagerDefinition"]["data"].decode()
    return [told["alias"], told["tags"], configuration["retentionPeriodInDays"], manager]


def _rules(aws: LocalAws, arn: str) -> str:
    *_, workspace, name = arn.split("/")
    amp = aws.client("amp")
    found = amp.describe_rule_groups_namespace(workspaceId=workspace, name=name)["ruleGroupsNamespace"]
    return str(found["data"].decode())


CASES = (
    # ---------------------------------------------------------------- Managed Prometheus
    Case(
        type="AWS::APS::Workspace",
        properties={
            "Alias": "first",
            "AlertManagerDefinition": _MANAGER.format("a"),
            "WorkspaceConfiguration": {"RetentionPeriodInDays": 30},
            "Tags": _TAGS,
        },
        look=_workspace,
        made=["first", {"Name": "first"}, 30, _MANAGER.format("a")],
        change={
            "Alias": "second",
            "AlertManagerDefinition": _MANAGER.format("b"),
            "WorkspaceConfiguration": {"RetentionPeriodInDays": 60},
            "Tags": _OTHER_TAGS,
        },
        changed=["second", {"Name": "second"}, 60, _MANAGER.format("b")],
        attributes=("Arn", "WorkspaceId", "PrometheusEndpoint"),
    ),
    Case(
        type="AWS::APS::RuleGroupsNamespace",
        properties={"Name": "rules", "Workspace": {"Fn::GetAtt": ["Workspace", "Arn"]}, "Data": "groups: []"},
        needs={"Workspace": {"Type": "AWS::APS::Workspace", "Properties": {}}},
        look=_rules,
        made="groups: []",
        change={"Data": "groups: [{name: x, rules: []}]"},
        changed="groups: [{name: x, rules: []}]",
        attributes=("Arn",),
    ),
    # ---------------------------------------------------------------- IAM
    Case(
        type="AWS::IAM::Role",
        properties={
            "AssumeRolePolicyDocument": TRUST,
            "Description": "first",
            "MaxSessionDuration": 3600,
            "ManagedPolicyArns": [{"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/AmazonSSMManagedInstanceCore"}],
            "Policies": [{"PolicyName": "inline", "PolicyDocument": POLICY}],
            "Path": "/tried/",
            "Tags": _TAGS,
        },
        look=lambda aws, name: [
            look("iam", "get_role", "Role.Description", RoleName="{}")(aws, name),
            look("iam", "list_role_policies", "PolicyNames", RoleName="{}")(aws, name),
            look("iam", "list_attached_role_policies", "AttachedPolicies[].PolicyName", RoleName="{}")(aws, name),
        ],
        made=["first", ["inline"], ["AmazonSSMManagedInstanceCore"]],
        change={"Description": "second", "Policies": [], "ManagedPolicyArns": [], "Tags": _OTHER_TAGS},
        changed=["second", [], []],
        attributes=("Arn", "RoleId"),
    ),
    Case(
        type="AWS::IAM::User",
        properties={"Policies": [{"PolicyName": "inline", "PolicyDocument": POLICY}], "Path": "/tried/"},
        look=lambda aws, name: [
            look("iam", "get_user", "User.Path", UserName="{}")(aws, name),
            look("iam", "list_user_policies", "PolicyNames", UserName="{}")(aws, name),
        ],
        made=["/tried/", ["inline"]],
        change={"Policies": []},
        changed=["/tried/", []],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::IAM::Policy",
        properties={"PolicyName": "tried", "PolicyDocument": POLICY, "Roles": [of("RoleName")]},
        look=lambda aws, name: [
            found["PolicyDocument"]["Statement"][0]["Action"]
            for role in every(aws.client("iam"), "get_account_authorization_details", Filter=["Role"])["RoleDetailList"]
            for found in role["RolePolicyList"]
            if found["PolicyName"] == name
        ],
        made=["s3:GetObject"],
        change={"PolicyDocument": _OTHER_POLICY},
        changed=["s3:PutObject"],
        attributes=("Id",),
    ),
    Case(
        type="AWS::IAM::ManagedPolicy",
        properties={"PolicyDocument": POLICY, "Description": "tried", "Roles": [of("RoleName")]},
        look=look(
            "iam",
            "list_policy_versions",
            "Versions[?IsDefaultVersion] | [0].Document.Statement[0].Action",
            PolicyArn="{}",
        ),
        made="s3:GetObject",
        change={"PolicyDocument": _OTHER_POLICY, "Roles": []},
        changed="s3:PutObject",
        attributes=("PolicyArn", "PolicyId"),
    ),
    Case(
        type="AWS::IAM::InstanceProfile",
        properties={"Roles": [of("RoleName")]},
        look=look("iam", "get_instance_profile", "length(InstanceProfile.Roles)", InstanceProfileName="{}"),
        made=1,
        attributes=("Arn",),
    ),
    Case(
        type="AWS::IAM::ServiceLinkedRole",
        properties={"AWSServiceName": "autoscaling.amazonaws.com", "CustomSuffix": "tried"},
        look=look("iam", "get_role", "Role.RoleName", RoleName="{}"),
        attributes=("RoleName",),
    ),
    # ---------------------------------------------------------------- watching
    Case(
        type="AWS::CloudWatch::Alarm",
        properties={**_ALARM, "Tags": _TAGS},
        look=look("cloudwatch", "describe_alarms", "MetricAlarms[0].[Threshold, TreatMissingData]", AlarmNames=["{}"]),
        made=[10.0, "notBreaching"],
        change={"Threshold": 20, "Tags": _OTHER_TAGS},
        changed=[20.0, "notBreaching"],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::CloudWatch::CompositeAlarm",
        properties={"AlarmRule": "FALSE", "Tags": _TAGS},
        look=look(
            "cloudwatch",
            "describe_alarms",
            "CompositeAlarms[0].AlarmRule",
            AlarmNames=["{}"],
            AlarmTypes=["CompositeAlarm"],
        ),
        made="FALSE",
        change={"AlarmRule": "TRUE", "Tags": _OTHER_TAGS},
        changed="TRUE",
        attributes=("Arn",),
    ),
    Case(
        type="AWS::CloudWatch::Dashboard",
        properties={"DashboardBody": json.dumps({"widgets": []})},
        look=look("cloudwatch", "get_dashboard", "DashboardBody", DashboardName="{}"),
        made=json.dumps({"widgets": []}),
        change={"DashboardBody": json.dumps({"widgets": [], "start": "-P1D"})},
        changed=json.dumps({"widgets": [], "start": "-P1D"}),
    ),
    Case(
        type="AWS::Logs::LogGroup",
        properties={"RetentionInDays": 90, "LogGroupClass": "STANDARD", "Tags": _TAGS},
        look=look("logs", "describe_log_groups", "logGroups[0].[retentionInDays]", logGroupNamePrefix="{}"),
        made=[90],
        change={"RetentionInDays": 30, "Tags": _OTHER_TAGS},
        changed=[30],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::Logs::LogStream",
        properties={"LogGroupName": of("LogsName")},
        look=_streams,
    ),
    Case(
        type="AWS::Logs::MetricFilter",
        properties={
            "LogGroupName": of("LogsName"),
            "FilterPattern": "ERROR",
            "MetricTransformations": [{"MetricName": "Errors", "MetricNamespace": "Tried", "MetricValue": "1"}],
        },
        look=look("logs", "describe_metric_filters", "metricFilters[0].filterPattern", filterNamePrefix="{}"),
        made="ERROR",
        change={"FilterPattern": "FATAL"},
        changed="FATAL",
    ),
    Case(
        type="AWS::Logs::ResourcePolicy",
        properties={"PolicyName": "tried", "PolicyDocument": json.dumps(POLICY)},
        look=look("logs", "describe_resource_policies", "resourcePolicies[?policyName=='{}'].policyDocument"),
        made=[json.dumps(POLICY)],
        change={"PolicyDocument": json.dumps(_OTHER_POLICY)},
        changed=[json.dumps(_OTHER_POLICY)],
    ),
    Case(
        type="AWS::Events::Rule",
        properties={
            "EventPattern": {"source": ["aws.sagemaker"]},
            "State": "ENABLED",
            "Targets": [{"Id": "Topic", "Arn": of("TopicArn")}],
        },
        look=lambda aws, name: [
            look("events", "describe_rule", "State", Name="{}")(aws, name),
            look("events", "list_targets_by_rule", "length(Targets)", Rule="{}")(aws, name),
        ],
        made=["ENABLED", 1],
        change={"State": "DISABLED", "Targets": []},
        changed=["DISABLED", 0],
        attributes=("Arn",),
    ),
    # ---------------------------------------------------------------- messages
    Case(
        type="AWS::SNS::Topic",
        properties={"DisplayName": "first", "Tags": _TAGS},
        look=look("sns", "get_topic_attributes", "Attributes.DisplayName", TopicArn="{}"),
        made="first",
        change={"DisplayName": "second", "Tags": _OTHER_TAGS},
        changed="second",
        attributes=("TopicArn", "TopicName"),
    ),
    Case(
        type="AWS::SNS::TopicPolicy",
        properties={"Topics": [of("TopicArn")], "PolicyDocument": POLICY},
        look=lambda aws, _: [
            policy
            for topic in every(aws.client("sns"), "list_topics")["Topics"]
            for policy in [
                json.loads(aws.client("sns").get_topic_attributes(**topic)["Attributes"]["Policy"])["Statement"]
            ]
            if policy[0]["Action"] in ("s3:GetObject", "s3:PutObject")
        ],
        made=[POLICY["Statement"]],
        change={"PolicyDocument": _OTHER_POLICY},
        changed=[_OTHER_POLICY["Statement"]],
        attributes=("Id",),
    ),
    Case(
        type="AWS::SNS::Subscription",
        properties={
            "TopicArn": of("TopicArn"),
            "Protocol": "email",
            "Endpoint": "team@example.com",
            "FilterPolicy": {"kind": ["first"]},
        },
        look=look("sns", "get_subscription_attributes", "Attributes.FilterPolicy", SubscriptionArn="{}"),
        made='{"kind": ["first"]}',
        change={"FilterPolicy": {"kind": ["second"]}},
        changed='{"kind": ["second"]}',
        attributes=("Arn",),
    ),
    Case(
        type="AWS::SQS::Queue",
        properties={"VisibilityTimeout": 60, "Tags": _TAGS},
        look=look("sqs", "get_queue_attributes", "Attributes.VisibilityTimeout", QueueUrl="{}", AttributeNames=["All"]),
        made="60",
        change={"VisibilityTimeout": 90},
        changed="90",
        attributes=("Arn", "QueueName", "QueueUrl"),
    ),
    Case(
        type="AWS::SQS::QueuePolicy",
        needs={"Queue": {"Type": "AWS::SQS::Queue"}},
        properties={"Queues": [{"Ref": "Queue"}], "PolicyDocument": POLICY},
        look=lambda aws, _: [
            found["Attributes"]["Policy"]
            for queue in every(aws.client("sqs"), "list_queues").get("QueueUrls", [])
            for found in [aws.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])]
            if found["Attributes"].get("Policy")
        ],
        made=[json.dumps(POLICY)],
        change={"PolicyDocument": _OTHER_POLICY},
        changed=[json.dumps(_OTHER_POLICY)],
        attributes=("Id",),
    ),
    # ---------------------------------------------------------------- management
    Case(
        type="AWS::SSM::Parameter",
        properties={"Type": "String", "Value": "first", "Description": "tried", "Tags": {"Name": "first"}},
        look=look("ssm", "get_parameter", "Parameter.Value", Name="{}"),
        made="first",
        change={"Value": "second", "Tags": {"Name": "second"}},
        changed="second",
        attributes=("Type", "Value"),
    ),
    Case(
        type="AWS::SSM::Document",
        properties={
            "DocumentType": "Session",
            "DocumentFormat": "JSON",
            "Content": {"schemaVersion": "1.0", "sessionType": "Standard_Stream"},
        },
        look=look("ssm", "describe_document", "Document.DocumentType", Name="{}"),
        made="Session",
        change={"Content": {"schemaVersion": "1.0", "sessionType": "Standard_Stream", "description": "second"}},
    ),
    Case(
        type="AWS::SecretsManager::Secret",
        properties={
            "Description": "first",
            "GenerateSecretString": {
                "SecretStringTemplate": '{"username": "admin"}',
                "GenerateStringKey": "password",
                "PasswordLength": 20,
                "ExcludePunctuation": True,
            },
            "Tags": _TAGS,
        },
        look=lambda aws, name: [
            look("secretsmanager", "describe_secret", "Description", SecretId="{}")(aws, name),
            len(json.loads(aws.client("secretsmanager").get_secret_value(SecretId=name)["SecretString"])["password"]),
        ],
        made=["first", 20],
        change={"Description": "second", "Tags": _OTHER_TAGS},
        changed=["second", 20],
        attributes=("Id",),
    ),
    Case(
        type="AWS::SecretsManager::ResourcePolicy",
        needs=_SECRET,
        properties={"SecretId": {"Ref": "Secret"}, "ResourcePolicy": POLICY, "BlockPublicPolicy": True},
        look=look("secretsmanager", "get_resource_policy", "ResourcePolicy", SecretId="{}"),
        made=json.dumps(POLICY),
        change={"ResourcePolicy": _OTHER_POLICY},
        changed=json.dumps(_OTHER_POLICY),
        attributes=("Id",),
    ),
    Case(
        type="AWS::SecretsManager::RotationSchedule",
        needs={**_SECRET, **_NEEDS_FUNCTION, **_ROTATION},
        properties={
            "SecretId": {"Ref": "Secret"},
            "RotationLambdaARN": {"Fn::GetAtt": ["Function", "Arn"]},
            "RotationRules": {"AutomaticallyAfterDays": 30},
        },
        look=look(
            "secretsmanager",
            "describe_secret",
            "[RotationEnabled, RotationRules.AutomaticallyAfterDays]",
            SecretId="{}",
        ),
        made=[True, 30],
        change={"RotationRules": {"AutomaticallyAfterDays": 60}},
        changed=[True, 60],
        attributes=("Id",),
    ),
)
