"""The checks refuse what they should refuse, and an acknowledgment that hides nothing is itself refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from aws_cdk import App, Environment, Fn, Stack, Stage
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sagemaker as sagemaker

from cdk_trainyard.acknowledgments import Wildcards, acknowledge, flatten_reference, main_resource
from cdk_trainyard.review import attach_checks, template_validation, unmatched_acknowledgments

pytestmark = pytest.mark.review


@pytest.fixture
def app(tmp_path: Path) -> App:
    app = App(outdir=str(tmp_path))
    attach_checks(app)
    return app


@pytest.fixture
def stack(app: App) -> Stack:
    return Stack(app, "Stack", env=Environment(region="us-east-1"))


def findings(app: App) -> dict[str, set[str]]:
    report = json.loads((Path(app.outdir) / "validation-report.json").read_text())
    return {
        plugin["pluginName"]: {violation["ruleName"] for violation in plugin["violations"]}
        for plugin in report["pluginReports"]
    }


def test_an_open_bucket_fails_the_synthesis(app: App, stack: Stack) -> None:
    s3.CfnBucket(stack, "Bucket")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert findings(app)["AwsSolutions"] == {"AwsSolutions-S1", "AwsSolutions-S10"}
    assert "NIST.800.53.R5-S3BucketVersioningEnabled" in findings(app)["NIST.800.53.R5"]


def test_a_template_error_fails_the_synthesis(app: App, stack: Stack) -> None:
    sagemaker.CfnCluster(stack, "Cluster", node_recovery="Sometimes", instance_groups=[])
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert findings(app)["TemplateValidation"] == {"F3032", "W3030"}


def test_a_crash_of_the_template_validation_fails_the_synthesis(
    app: App, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("the engine is missing")

    monkeypatch.setattr(template_validation, "_violations", crash)
    iam.CfnRole(stack, "Role", assume_role_policy_document={})
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()


def test_an_acknowledgment_that_matches_nothing_is_reported(app: App, stack: Stack) -> None:
    bucket = s3.CfnBucket(stack, "Bucket")
    acknowledge(bucket, {"AwsSolutions-S1": "a test"})
    acknowledge(bucket, {"AwsSolutions-S99": "a test"})
    with pytest.raises(RuntimeError):
        app.synth()
    (problem,) = unmatched_acknowledgments(app, app.outdir)
    assert problem == (
        "Stack/Bucket: the acknowledgment of AwsSolutions::AwsSolutions-S99 matches no finding; "
        "remove it, or put it on the resource it is about"
    )


def test_acknowledgments_are_found_in_stages_and_outside_stacks(app: App) -> None:
    stage = Stage(app, "Stage", env=Environment(region="us-east-1"))
    bucket = s3.CfnBucket(Stack(stage, "Stack"), "Bucket")
    for construct in (app, stage, bucket):
        acknowledge(construct, {"AwsSolutions-S99": "a test"})
    with pytest.raises(RuntimeError):
        app.synth()
    paths = [problem.split(":")[0] for problem in unmatched_acknowledgments(app, app.outdir)]
    assert paths == ["", "Stage", "Stage/Stack/Bucket"]


def test_an_acknowledgment_above_the_resource_counts_where_it_is_what_hides_the_finding(app: App, stack: Stack) -> None:
    bucket, other = s3.Bucket(stack, "Bucket"), s3.Bucket(stack, "Other")
    acknowledge(stack, {"AwsSolutions-S10": "of both"})
    acknowledge(bucket, {"AwsSolutions-S1": "of an L2"})
    acknowledge(main_resource(other), {"AwsSolutions-S1": "of an L1"})
    acknowledge(other, {"AwsSolutions-S1": "hidden already"})
    acknowledge(other, {"AwsSolutions-S99": "nothing"})
    with pytest.raises(RuntimeError):  # the other pack
        app.synth()
    found = [problem.partition("; ")[0] for problem in unmatched_acknowledgments(app, app.outdir)]
    assert found == [
        f"Stack/Other: the acknowledgment of AwsSolutions::AwsSolutions-{rule} matches no finding"
        for rule in ("S1", "S99")
    ]


@pytest.mark.slow
def test_an_app_that_is_never_validated_ends_without_a_word() -> None:
    code = "from cdk_trainyard.review import TemplateValidation; kept = TemplateValidation()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert (run.stdout, run.stderr) == ("", "")


def test_an_acknowledgment_on_one_bucket_leaves_the_other_open(app: App, stack: Stack) -> None:
    acknowledge(s3.CfnBucket(stack, "Reviewed"), {"AwsSolutions-S1": "a test"})
    s3.CfnBucket(stack, "Forgotten")
    with pytest.raises(RuntimeError):
        app.synth()
    assert "AwsSolutions-S1" in findings(app)["AwsSolutions"]


def test_wildcards_of_functions_are_acknowledged_as_cdk_nag_sees_them(app: App, stack: Stack) -> None:
    subnet = Fn.select(0, Fn.split(",", Fn.import_value("subnets")))
    arn = stack.format_arn(service="ec2", resource="subnet", resource_name=f"{subnet}*")
    policy = iam.ManagedPolicy(
        stack, "Policy", statements=[iam.PolicyStatement(actions=["ec2:CreateTags"], resources=[arn])]
    )
    Wildcards(main_resource(policy)).acknowledge("a test", arn)
    app.synth()
    assert unmatched_acknowledgments(app, app.outdir) == []


@pytest.mark.parametrize("across_stacks", [False, True])
def test_wildcards_are_acknowledged_by_the_value_that_cdk_nag_sees(
    app: App, stack: Stack, *, across_stacks: bool
) -> None:
    owner = Stack(app, "Owner", env=Environment(region="us-east-1")) if across_stacks else stack
    objects = s3.Bucket(owner, "Bucket").arn_for_objects("scripts/*")
    policy = iam.ManagedPolicy(
        stack, "Policy", statements=[iam.PolicyStatement(actions=["s3:GetObject"], resources=[objects])]
    )
    resource = policy.node.default_child
    assert isinstance(resource, iam.CfnManagedPolicy)
    Wildcards(resource).acknowledge("objects of one prefix", objects)
    with pytest.raises(RuntimeError):  # the bucket itself has findings
        app.synth()
    assert not {rule for rule in findings(app)["AwsSolutions"] if "IAM5" in rule}
    assert unmatched_acknowledgments(app, app.outdir) == []


@pytest.mark.parametrize(
    ("value", "flat"),
    [
        ("arn:x/*", "arn:x/*"),
        ({"Fn::GetAtt": ["Bucket", "Arn"]}, "<Bucket.Arn>"),
        ({"Fn::Join": ["", [{"Fn::GetAtt": ["Bucket", "Arn"]}, "/*"]]}, "<Bucket.Arn>/*"),
        ({"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::b"]]}, "arn:<AWS::Partition>:s3:::b"),
        ({"Fn::ImportValue": "Other:Export"}, "Other:Export"),
        ({"Fn::Sub": "arn:${AWS::Partition}:s3:::b"}, "arn:<AWS::Partition>:s3:::b"),
        ({"Fn::Select": [0, {"Ref": "Subnets"}]}, '{"Fn::Select":[0,{"Ref":"Subnets"}]}'),
        ({"Fn::FindInMap": ["Näme", "a", "b"]}, '{"Fn::FindInMap":["Näme","a","b"]}'),
    ],
)
def test_references_are_flattened_as_cdk_nag_flattens_them(value: object, flat: str) -> None:
    assert flatten_reference(value) == flat
