"""A door: what it lets in, what it looks at, and what it does to the service behind it."""

import json
from typing import Any

import pytest
from aws_cdk import Duration, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.serving import (
    ClaimFormat,
    ClientAuthentication,
    ConcurrencyLimit,
    JwtClaim,
    PromptWebAcl,
    TextGenerationEngine,
)
from tests.serving.parts import CERTIFICATE, JWT, load_balancer, new_stack, only, service, warnings


@pytest.fixture(scope="module")
def smallest() -> Template:
    """The template of the smallest call."""
    stack = new_stack()
    load_balancer(stack)
    return Template.from_stack(stack)


def attributes(properties: dict[str, Any], key: str) -> dict[str, str]:
    return {entry["Key"]: entry["Value"] for entry in properties[key]}


def rules(template: Template, word: str, direction: str) -> list[tuple[Any, int, int]]:
    """What a security group's rules let through: peer, first port, last port."""
    kind = f"AWS::EC2::SecurityGroup{direction}"
    own = [
        rule
        for name, resource in template.find_resources("AWS::EC2::SecurityGroup").items()
        if word in name
        for rule in resource["Properties"].get(f"SecurityGroup{direction}", [])
    ]
    others = [
        resource["Properties"] for name, resource in template.find_resources(kind).items() if name.startswith(word)
    ]
    return [(rule.get("CidrIp"), rule["FromPort"], rule["ToPort"]) for rule in [*own, *others]]


def test_the_load_balancer_of_the_smallest_call(smallest: Template) -> None:
    properties = only(smallest, "AWS::ElasticLoadBalancingV2::LoadBalancer")
    assert properties["Scheme"] == "internal"
    assert properties["Subnets"] == ["subnet-00000010", "subnet-00000011"]
    found = attributes(properties, "LoadBalancerAttributes")
    assert found["idle_timeout.timeout_seconds"] == "600"
    assert found["routing.http.drop_invalid_header_fields.enabled"] == "true"
    assert found["routing.http2.enabled"] == "true"
    assert found["deletion_protection.enabled"] == "false"
    assert found["access_logs.s3.enabled"] == "true"
    assert found["access_logs.s3.prefix"] == "front-door"


def test_whatever_is_not_listed_is_not_there(smallest: Template) -> None:
    listener = only(smallest, "AWS::ElasticLoadBalancingV2::Listener")
    assert (listener["Port"], listener["Protocol"]) == (443, "HTTPS")
    assert listener["SslPolicy"].startswith("ELBSecurityPolicy-TLS13-1-2")
    assert listener["Certificates"] == [{"CertificateArn": CERTIFICATE}]
    (action,) = listener["DefaultActions"]
    assert action["FixedResponseConfig"]["StatusCode"] == "404"
    assert json.loads(action["FixedResponseConfig"]["MessageBody"])["error"]["code"] == 404


def test_the_one_rule_verifies_the_token_and_its_claims_before_it_forwards(smallest: Template) -> None:
    rule = only(smallest, "AWS::ElasticLoadBalancingV2::ListenerRule")
    assert rule["Conditions"] == [
        {"Field": "path-pattern", "PathPatternConfig": {"Values": ["/v1/*"]}},
        {"Field": "http-request-method", "HttpRequestMethodConfig": {"Values": ["GET", "POST"]}},
    ]
    verify, forward = rule["Actions"]
    assert verify == {
        "Order": 1,
        "Type": "jwt-validation",
        "JwtValidationConfig": {
            "AdditionalClaims": [{"Format": "single-string", "Name": "client_id", "Values": ["chat"]}],
            "Issuer": "https://issuer.example/pool",
            "JwksEndpoint": "https://issuer.example/pool/keys",
        },
    }
    assert (forward["Order"], forward["Type"]) == (2, "forward")


def test_requests_go_to_the_task_with_the_fewest(smallest: Template) -> None:
    group = only(smallest, "AWS::ElasticLoadBalancingV2::TargetGroup")
    assert (group["Port"], group["TargetType"], group["HealthCheckPath"]) == (8080, "ip", "/health")
    assert group["Matcher"] == {"HttpCode": "200"}
    assert "TargetControlPort" not in group
    found = attributes(group, "TargetGroupAttributes")
    assert found["load_balancing.algorithm.type"] == "least_outstanding_requests"
    assert found["deregistration_delay.timeout_seconds"] == "600"
    assert found["stickiness.enabled"] == "false"


def test_the_door_reaches_tasks_and_the_issuers_keys_alone(smallest: Template) -> None:
    assert rules(smallest, "DoorSecurityGroup", "Ingress") == [("10.1.0.0/16", 443, 443)]
    assert sorted(rules(smallest, "DoorSecurityGroup", "Egress"), key=str) == [
        ("0.0.0.0/0", 443, 443),
        (None, 8080, 8080),
    ]
    assert rules(smallest, "ServingSecurityGroup", "Ingress") == [(None, 8080, 8080)]


def test_the_service_waits_for_the_rule_and_gets_time_to_load(smallest: Template) -> None:
    (resource,) = smallest.find_resources("AWS::ECS::Service").values()
    (rule,) = smallest.find_resources("AWS::ElasticLoadBalancingV2::ListenerRule")
    assert rule in resource["DependsOn"]
    assert resource["Properties"]["HealthCheckGracePeriodSeconds"] == 900
    (target,) = resource["Properties"]["LoadBalancers"]
    assert (target["ContainerName"], target["ContainerPort"]) == ("engine", 8080)


def test_claims_in_every_format(stack: Stack) -> None:
    claims = [
        JwtClaim(name="scope", values=["infer"], format=ClaimFormat.SPACE_SEPARATED),
        JwtClaim(name="aud", values=["a", "b"], format=ClaimFormat.STRING_ARRAY),
    ]
    load_balancer(
        stack,
        authentication=ClientAuthentication.jwt(
            issuer="https://i.example", key_set_url="https://i.example/k", claims=claims
        ),
    )
    rule = only(Template.from_stack(stack), "AWS::ElasticLoadBalancingV2::ListenerRule")
    assert rule["Actions"][0]["JwtValidationConfig"]["AdditionalClaims"] == [
        {"Format": "space-separated-values", "Name": "scope", "Values": ["infer"]},
        {"Format": "string-array", "Name": "aud", "Values": ["a", "b"]},
    ]


@pytest.mark.parametrize(
    ("engine", "variable"),
    [(TextGenerationEngine.tgi(), "API_KEY"), (TextGenerationEngine.hf_vllm(), "VLLM_API_KEY")],
)
def test_an_api_key_reaches_the_engine_as_a_secret(engine: TextGenerationEngine, variable: str, stack: Stack) -> None:
    secret = secretsmanager.Secret.from_secret_name_v2(stack, "Key", "api-key")
    load_balancer(stack, service(stack, engine=engine), authentication=ClientAuthentication.api_key(secret))
    template = Template.from_stack(stack)
    (serving,) = [
        entry
        for entry in only(template, "AWS::ECS::TaskDefinition")["ContainerDefinitions"]
        if entry["Name"] == "engine"
    ]
    assert [entry["Name"] for entry in serving["Secrets"]] == [variable]
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {"PolicyDocument": {"Statement": Match.array_with([Match.object_like(
            {"Action": "secretsmanager:GetSecretValue"})])}},
    )  # fmt: skip
    assert rules(template, "DoorSecurityGroup", "Egress") == [(None, 8080, 8080)]


def test_a_plain_internal_door(stack: Stack) -> None:
    opened = load_balancer(stack, plain_http=True, authentication=ClientAuthentication.none())
    template = Template.from_stack(stack)
    listener = only(template, "AWS::ElasticLoadBalancingV2::Listener")
    assert (listener["Port"], listener["Protocol"]) == (80, "HTTP")
    assert opened.base_url.startswith("http://")
    assert rules(template, "DoorSecurityGroup", "Ingress") == [("10.1.0.0/16", 80, 80)]


def test_everything_set(stack: Stack) -> None:
    logs = s3.Bucket(stack, "Logs")
    acl = PromptWebAcl(stack, "Acl", requests_per_address=500)
    opened = load_balancer(
        stack,
        service(stack, request_timeout=Duration.minutes(30)),
        public=True,
        clients=["192.0.2.0/24"],
        domain_name="models.example",
        paths=["/v1/chat/completions", "/v1/models"],
        web_acl=acl,
        access_logs=logs,
        deletion_protection=True,
    )
    template = Template.from_stack(stack)
    assert opened.base_url == "https://models.example/v1"
    properties = only(template, "AWS::ElasticLoadBalancingV2::LoadBalancer")
    assert (properties["Scheme"], properties["Subnets"]) == (
        "internet-facing",
        ["subnet-00000020", "subnet-00000021"],
    )
    found = attributes(properties, "LoadBalancerAttributes")
    assert (found["idle_timeout.timeout_seconds"], found["deletion_protection.enabled"]) == ("1800", "true")
    assert rules(template, "DoorSecurityGroup", "Ingress") == [("192.0.2.0/24", 443, 443)]
    template.resource_count_is("AWS::S3::Bucket", 1)
    template.resource_count_is("AWS::WAFv2::WebACLAssociation", 1)


def test_a_public_door_lets_in_everybody_with_a_token(stack: Stack) -> None:
    load_balancer(stack, public=True, authentication=JWT)
    assert rules(Template.from_stack(stack), "DoorSecurityGroup", "Ingress") == [("0.0.0.0/0", 443, 443)]


def test_what_no_task_has_room_for_is_refused_and_the_engine_keeps_a_queue(stack: Stack) -> None:
    load_balancer(stack, concurrency=ConcurrencyLimit())
    template = Template.from_stack(stack)
    group = only(template, "AWS::ElasticLoadBalancingV2::TargetGroup")
    assert (group["Port"], group["TargetControlPort"], group["HealthCheckPort"]) == (8081, 3000, "8080")
    (agent,) = [
        entry
        for entry in only(template, "AWS::ECS::TaskDefinition")["ContainerDefinitions"]
        if entry["Name"] == "agent"
    ]
    assert {entry["Name"]: entry["Value"] for entry in agent["Environment"]} == {
        "AWS_REGION": "us-west-2",
        "TARGET_CONTROL_CONTROL_ADDRESS": "0.0.0.0:3000",
        "TARGET_CONTROL_DATA_ADDRESS": "0.0.0.0:8081",
        "TARGET_CONTROL_DESTINATION_ADDRESS": "127.0.0.1:8080",
        "TARGET_CONTROL_MAX_CONCURRENCY": "16",
    }
    (target,) = only(template, "AWS::ECS::Service")["LoadBalancers"]
    assert (target["ContainerName"], target["ContainerPort"]) == ("agent", 8081)
    assert {first for _, first, _ in rules(template, "ServingSecurityGroup", "Ingress")} == {3000, 8080, 8081}


def test_an_agent_of_a_private_registry_is_pulled_with_the_rights_that_takes(stack: Stack) -> None:
    load_balancer(stack, concurrency=ConcurrencyLimit(image="222222222222.dkr.ecr.us-west-2.amazonaws.com/agent:1"))
    policies = json.dumps(Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy"))
    assert ":ecr:us-west-2:222222222222:repository/agent" in policies
    assert not [text for text in warnings(stack) if "Proper policies" in text]


def decision(acl: dict[str, Any], matched: dict[str, dict[str, str]]) -> str:
    """Return what AWS WAF does with a request of which ``matched`` rules of each managed group say Block, with labels.

    Source: AWS WAF developer guide, "Overriding rule actions in a rule group" and "Label match rule statement": a
    rule whose action is overridden to Count labels and goes on; the first other one ends its group, and the group's
    override decides what becomes of that.
    """
    labels: set[str] = set()
    for rule in sorted(acl["Rules"], key=lambda rule: int(rule["Priority"])):
        statement = rule["Statement"]
        if group := statement.get("ManagedRuleGroupStatement"):
            counted = {override["Name"] for override in group.get("RuleActionOverrides", [])}
            for name, label in matched.get(group["Name"], {}).items():
                labels.add(label)
                if name not in counted:
                    if "None" in rule["OverrideAction"]:
                        return "Block"
                    break
        elif either := statement.get("OrStatement"):
            keys = {each["LabelMatchStatement"]["Key"] for each in either["Statements"]}
            if labels & keys:
                return "Block"
    return "Allow"


CORE, BAD = "AWSManagedRulesCommonRuleSet", "AWSManagedRulesKnownBadInputsRuleSet"
CORE_LABEL, BAD_LABEL = "awswaf:managed:aws:core-rule-set", "awswaf:managed:aws:known-bad-inputs"


@pytest.mark.parametrize(
    ("matched", "decided"),
    [
        ({CORE: {"SizeRestrictions_BODY": f"{CORE_LABEL}:SizeRestrictions_Body"}}, "Allow"),
        ({BAD: {"ReactJSRCE_BODY": f"{BAD_LABEL}:ReactJSRCE_Body"}}, "Allow"),
        ({BAD: {"OfTomorrow_BODY": f"{BAD_LABEL}:OfTomorrow_Body"}}, "Allow"),
        ({CORE: {"UserAgent_BadBots_HEADER": f"{CORE_LABEL}:BadBots_Header"}}, "Block"),
        (
            {
                CORE: {
                    "SizeRestrictions_BODY": f"{CORE_LABEL}:SizeRestrictions_Body",
                    "GenericLFI_URIPATH": f"{CORE_LABEL}:GenericLFI_URIPath",
                }
            },
            "Block",
        ),
        ({BAD: {"Log4JRCE_HEADER": f"{BAD_LABEL}:Log4JRCE_Header"}}, "Block"),
        ({"AWSManagedRulesAmazonIpReputationList": {"AWSManagedIPReputationList": "awswaf:x"}}, "Block"),
    ],
)
def test_a_web_acl_refuses_nothing_for_its_body(matched: dict[str, dict[str, str]], decided: str, stack: Stack) -> None:
    PromptWebAcl(stack, "Acl")
    assert decision(only(Template.from_stack(stack), "AWS::WAFv2::WebACL"), matched) == decided


def test_a_web_acl_counts_what_it_finds_in_bodies(stack: Stack) -> None:
    PromptWebAcl(stack, "Acl")
    template = Template.from_stack(stack)
    acl = only(template, "AWS::WAFv2::WebACL")
    counted = {
        override["Name"]
        for rule in acl["Rules"]
        for override in rule["Statement"].get("ManagedRuleGroupStatement", {}).get("RuleActionOverrides", [])
    }
    assert len(counted) == 8
    assert [name for name in counted if not name.endswith("_BODY")] == []
    refused = json.dumps([rule["Statement"].get("OrStatement") for rule in acl["Rules"]])
    assert "_body" not in refused.lower()
    logging = only(template, "AWS::WAFv2::LoggingConfiguration")
    assert logging["RedactedFields"] == [{"SingleHeader": {"Name": "authorization"}}]
    name = only(template, "AWS::Logs::LogGroup")["LogGroupName"]["Fn::Join"][1]
    assert name[0].startswith("aws-waf-logs-")
    assert "AWS::StackId" in str(name[1])  # a retained one of a stack that is gone stands in nobody's way


def test_fails_on_logs_in_a_bucket_with_a_key() -> None:
    stack = new_stack()
    logs = s3.Bucket.from_bucket_attributes(stack, "Logs", bucket_name="logs", encryption_key=kms.Key(stack, "Key"))
    with pytest.raises(ConfigurationError) as caught:
        load_balancer(stack, access_logs=logs)
    [said] = caught.value.problems
    assert said == "'access_logs' must be a bucket without a KMS key: load balancers write to SSE-S3 alone"
