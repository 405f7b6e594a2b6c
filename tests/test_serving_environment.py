"""Served models from end to end: the real cdk CLI deploys what ships, tells what changes, and destroys it."""

import json
import re
import shlex
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.cli._made_up import arns
from cdk_trainyard.local import LocalAws
from tests.deployed import RolledBackError
from tests.environment import Environment
from tests.support import ROOT, every

pytestmark = [pytest.mark.cli, pytest.mark.usefixtures("empty_aws")]
BUILD = "3f9a0c51d7e2"


class ServingEnvironment(Environment):
    """An environment with a served model; what its file names by ARN exists."""

    def __init__(self, aws: LocalAws, source: Path, folder: Path) -> None:
        super().__init__(aws, source, folder)
        for arn in dict.fromkeys(arns(self.content)):
            aws.add_existing(arn)

    @property
    def serving(self) -> dict[str, Any]:
        """The section, to be changed."""
        return dict(self.content["serving"])

    def serve(self) -> list[str]:
        return self.deploy("ServingStack")

    def physical_id(self, kind: str) -> str:
        """Return the id of the one resource of a type."""
        name = f"{self.content['name']}-serving"
        rows = self.client("cloudformation").describe_stack_resources(StackName=name)["StackResources"]
        (found,) = [row["PhysicalResourceId"] for row in rows if row["ResourceType"] == f"AWS::{kind}"]
        return str(found)

    def service(self) -> dict[str, Any]:
        outputs = self.outputs("serving")
        (found,) = self.client("ecs").describe_services(
            cluster=outputs["ClusterName"], services=[outputs["ServiceName"]]
        )["services"]
        return dict(found)

    def engine(self) -> dict[str, Any]:
        definition = self.client("ecs").describe_task_definition(taskDefinition=self.service()["taskDefinition"])
        containers = definition["taskDefinition"]["containerDefinitions"]
        return next(dict(entry) for entry in containers if entry["name"] == "engine")

    def statements(self, part: str) -> Iterator[dict[str, Any]]:
        """Yield the statements of the managed policies of the deployment's stack that ends in ``part``."""
        iam = self.client("iam")
        for policy in every(iam, "list_policies", Scope="Local")["Policies"]:
            if f"-{part}-" in policy["PolicyName"]:
                version = iam.get_policy_version(PolicyArn=policy["Arn"], VersionId=policy["DefaultVersionId"])
                yield from version["PolicyVersion"]["Document"]["Statement"]

    def group(self) -> tuple[int, int]:
        """Return the least and the largest number of hosts."""
        name = self.physical_id("AutoScaling::AutoScalingGroup")
        (found,) = self.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])[
            "AutoScalingGroups"
        ]
        return found["MinSize"], found["MaxSize"]

    def user_data(self) -> str:
        """Return what new hosts run."""
        (version,) = self.client("ec2").describe_launch_template_versions(
            LaunchTemplateId=self.physical_id("EC2::LaunchTemplate"), Versions=["$Latest"]
        )["LaunchTemplateVersions"]
        return b64decode(version["LaunchTemplateData"]["UserData"]).decode()

    def rules(self) -> dict[str, dict[str, Any]]:
        """Return the rules of the load balancer's listener by priority."""
        listener = self.physical_id("ElasticLoadBalancingV2::Listener")
        found = self.client("elbv2").describe_rules(ListenerArn=listener)["Rules"]
        return {rule["Priority"]: rule for rule in found}


def serving_leaves_training_out(tgi: ServingEnvironment) -> None:
    printed = tgi.create("ServingStack")
    assert tgi.statuses("network", "storage", "serving") == {"CREATE_COMPLETE"}
    assert tgi.status("training") == "GONE"
    assert tgi.service()["desiredCount"] == 2
    assert tgi.group() == (2, 2)
    engine = tgi.engine()
    assert engine["image"] == "ghcr.io/huggingface/text-generation-inference:3.3.7-neuron"
    (secret,) = (tgi.content["serving"]["load_balancer"]["authentication"]["secret_arn"],)
    assert [(entry["name"], entry["valueFrom"]) for entry in engine["secrets"]] == [("API_KEY", secret)]
    bucket = tgi.outputs("storage")["ModelsBucket"]
    assert f"source=s3://{bucket}/llama-2-7b/{BUILD}/\n" in tgi.user_data()
    assert f"ServingStack.CompileCommand = {tgi.outputs('serving')['CompileCommand']}\n" in printed
    assert "ServingStack.BaseUrl = https://models.example.com/v1\n" in printed
    assert "ServingStack.CallWithCurl = curl https://models.example.com/v1/chat/completions " in printed
    assert 'ServingStack.CallWithOpenAi = OpenAI(base_url="https://models.example.com/v1", api_key="<key>")' in printed


def the_door_is_internal_speaks_https_and_refuses_by_default(tgi: ServingEnvironment) -> None:
    (balancer,) = tgi.client("elbv2").describe_load_balancers(
        LoadBalancerArns=[tgi.physical_id("ElasticLoadBalancingV2::LoadBalancer")]
    )["LoadBalancers"]
    assert balancer["Scheme"] == "internal"
    assert balancer["DNSName"] == tgi.outputs("serving")["DoorAddress"]
    zones = {zone["ZoneName"] for zone in balancer["AvailabilityZones"]}
    assert len(zones) == 2
    (listener,) = tgi.client("elbv2").describe_listeners(LoadBalancerArn=balancer["LoadBalancerArn"])["Listeners"]
    certificate = tgi.content["serving"]["load_balancer"]["certificate_arn"]
    assert (listener["Port"], listener["Certificates"][0]["CertificateArn"]) == (443, certificate)
    rules = tgi.rules()
    assert rules["default"]["Actions"][0]["FixedResponseConfig"]["StatusCode"] == "404"
    assert [action["Type"] for action in rules["10"]["Actions"]] == ["forward"]


def what_the_outputs_name_exists(tgi: ServingEnvironment) -> None:
    outputs = tgi.outputs("serving")
    groups = tgi.client("logs").describe_log_groups(logGroupNamePrefix=outputs["LogGroupName"])["logGroups"]
    assert [group["retentionInDays"] for group in groups] == [90]
    body = tgi.client("cloudwatch").get_dashboard(DashboardName=outputs["DashboardName"])["DashboardBody"]
    titles = [widget["properties"].get("title") for widget in json.loads(body)["widgets"]]
    assert {"Alarms", "Requests per task", "Engine"} <= set(titles)
    assert tgi.service()["serviceName"] == outputs["ServiceName"]


def the_same_again_changes_nothing(tgi: ServingEnvironment) -> None:
    assert tgi.serve() == []
    assert tgi.status("serving") == "CREATE_COMPLETE"


def another_image_is_another_revision_of_the_same_service(tgi: ServingEnvironment) -> None:
    before, storage = tgi.service(), tgi.outputs("storage")
    tgi.content["serving"]["engine"]["image"] = "tgi-3.3.6"
    tgi.serve()
    after = tgi.service()
    assert tgi.engine()["image"].endswith(":3.3.6-neuron")
    assert after["serviceArn"] == before["serviceArn"]
    assert after["taskDefinition"] != before["taskDefinition"]
    assert tgi.outputs("storage") == storage


def another_build_reaches_hosts_and_is_deployed(tgi: ServingEnvironment) -> None:
    before, service = tgi.physical_id("EC2::LaunchTemplate"), tgi.service()
    tgi.content["serving"]["model"]["build"] = "0c51d7e23f9a"
    tgi.serve()
    bucket = tgi.outputs("storage")["ModelsBucket"]
    assert f"source=s3://{bucket}/llama-2-7b/0c51d7e23f9a/\n" in tgi.user_data()
    assert tgi.physical_id("EC2::LaunchTemplate") == before
    assert tgi.service()["serviceArn"] == service["serviceArn"]
    assert tgi.service()["taskDefinition"] != service["taskDefinition"]
    statements = tgi.statements("serving")
    readable = [statement["Resource"] for statement in statements if statement["Action"] == "s3:GetObject"]
    assert readable == [f"arn:aws:s3:::{bucket}/llama-2-7b/*"]


def two_hosts_become_four_in_place(tgi: ServingEnvironment) -> None:
    before, group = tgi.service(), tgi.physical_id("AutoScaling::AutoScalingGroup")
    tgi.content["serving"]["hosts"]["tasks"] = 4
    changes = tgi.diff("ServingStack")
    assert re.search(r"\[~\] AWS::ECS::Service", changes)
    assert "requires replacement" not in changes
    tgi.serve()
    assert (tgi.service()["desiredCount"], tgi.group()) == (4, (4, 4))
    assert tgi.service()["serviceArn"] == before["serviceArn"]
    assert tgi.physical_id("AutoScaling::AutoScalingGroup") == group


def what_a_service_refuses_is_rolled_back(tgi: ServingEnvironment) -> None:
    before, rules = tgi.service(), tgi.rules()
    balancer, certificate = (
        tgi.content["serving"]["load_balancer"],
        tgi.content["serving"]["load_balancer"]["certificate_arn"],
    )
    balancer["certificate_arn"] = certificate.replace("01234567-", "ffffffff-")
    tgi.content["serving"]["hosts"]["tasks"] = 3
    with pytest.raises(RolledBackError, match="ertificate"):
        tgi.serve()
    balancer["certificate_arn"] = certificate
    tgi.content["serving"]["hosts"]["tasks"] = 4
    assert tgi.status("serving") == "UPDATE_ROLLBACK_COMPLETE"
    after = tgi.service()
    assert (after["desiredCount"], after["taskDefinition"]) == (4, before["taskDefinition"])
    assert (tgi.group(), tgi.rules()) == ((4, 4), rules)


def what_the_file_gets_wrong_is_refused_before_anything_is_deployed(tgi: ServingEnvironment) -> None:
    tgi.content["serving"]["model"]["tensor_parallel"] = 3
    assert "'serving.model.tensor_parallel' must be 1, 2, 4, 8, 12 or 24, got 3" in tgi.refusal()
    tgi.content["serving"]["model"]["tensor_parallel"] = 2


def a_cluster_beside_it_writes_to_the_bucket_that_it_serves_from(tgi: ServingEnvironment) -> None:
    before = tgi.service()
    tgi.deploy()
    assert tgi.status("training") == "CREATE_COMPLETE"
    bucket = tgi.outputs("storage")["ModelsBucket"]
    written = [
        statement
        for statement in tgi.statements("training")
        if "s3:PutObject" in statement["Action"] and f"arn:aws:s3:::{bucket}/" in json.dumps(statement["Resource"])
    ]
    assert written
    assert tgi.service()["taskDefinition"] == before["taskDefinition"]


def cluster_is_gone(environment: ServingEnvironment, name: str) -> bool:
    """ECS tells of a deleted cluster for a while, as inactive."""
    found = environment.client("ecs").describe_clusters(clusters=[name])["clusters"]
    return {cluster["status"] for cluster in found} <= {"INACTIVE"}


def destroying_the_service_keeps_training_and_everything_keeps_the_models(tgi: ServingEnvironment) -> None:
    bucket, cluster = tgi.outputs("storage")["ModelsBucket"], tgi.outputs("serving")["ClusterName"]
    tgi.client("s3").put_object(Bucket=bucket, Key="llama-2-7b/model.pt", Body=b"graphs")
    tgi.cdk("destroy", "ServingStack", "--force")
    assert (tgi.status("serving"), tgi.status("training")) == ("GONE", "CREATE_COMPLETE")
    assert cluster_is_gone(tgi, cluster)
    tgi.destroy()
    kept = tgi.client("s3").get_object(Bucket=bucket, Key="llama-2-7b/model.pt")["Body"].read()
    assert kept == b"graphs"


def test_a_service_from_creation_to_destruction(aws: LocalAws, tmp_path: Path) -> None:
    """As it is shipped, but that a build is named. Each step stands on the ones before it."""
    tgi = ServingEnvironment(aws, ROOT / "deployments" / "serving-inf2-tgi.yaml", tmp_path)
    tgi.content["serving"]["model"]["build"] = BUILD
    for step in (
        serving_leaves_training_out,
        the_door_is_internal_speaks_https_and_refuses_by_default,
        what_the_outputs_name_exists,
        the_same_again_changes_nothing,
        another_image_is_another_revision_of_the_same_service,
        another_build_reaches_hosts_and_is_deployed,
        two_hosts_become_four_in_place,
        what_a_service_refuses_is_rolled_back,
        what_the_file_gets_wrong_is_refused_before_anything_is_deployed,
        a_cluster_beside_it_writes_to_the_bucket_that_it_serves_from,
        destroying_the_service_keeps_training_and_everything_keeps_the_models,
    ):
        step(tgi)


# ---------------------------------------------------------------- vLLM, tokens and the build
def a_model_is_compiled_before_it_is_served(vllm: ServingEnvironment) -> None:
    """As the file says: deploy, start the build, name it, deploy."""
    vllm.serve()
    assert (vllm.service()["desiredCount"], vllm.group()) == (0, (0, 1))
    outputs = vllm.outputs("serving")
    command, bucket = outputs["CompileCommand"], vllm.outputs("storage")["ModelsBucket"]
    found = re.fullmatch(r"aws codebuild start-build --project-name (\S+) --region us-east-2", command)
    assert found
    build = vllm.client("codebuild").start_build(projectName=found[1])["build"]
    assert build["projectName"] == found[1]
    (project,) = vllm.client("codebuild").batch_get_projects(names=[found[1]])["projects"]
    assert (project["artifacts"]["location"], project["artifacts"]["name"]) == (bucket, "qwen3-14b")
    plan = shlex.split(json.loads(project["source"]["buildspec"])["phases"]["build"]["commands"][-1])[-1]
    said = " ".join(json.loads(plan)["command"])
    assert "--batch_size 32 --sequence_length 4096 --instance_type inf2 --tensor_parallel_size 8" in said

    vllm.content["serving"]["model"]["build"] = BUILD
    vllm.serve()
    assert (vllm.service()["desiredCount"], vllm.group()) == (1, (1, 2))
    assert f"source=s3://{bucket}/qwen3-14b/{BUILD}/\n" in vllm.user_data()


def the_door_verifies_tokens_and_their_claims(vllm: ServingEnvironment) -> None:
    verify, forward = vllm.rules()["10"]["Actions"]
    assert (verify["Type"], forward["Type"]) == ("jwt-validation", "forward")
    said = verify["JwtValidationConfig"]
    assert said["Issuer"] == "https://issuer.example.com/pool"
    assert said["AdditionalClaims"] == [{"Format": "single-string", "Name": "client_id", "Values": ["chat"]}]
    assert vllm.status("training") == "GONE"
    vllm.destroy()


def test_a_service_that_is_compiled_first_and_takes_tokens(aws: LocalAws, tmp_path: Path) -> None:
    """Each step stands on the ones before it."""
    vllm = ServingEnvironment(aws, ROOT / "deployments" / "serving-inf2-vllm.yaml", tmp_path)
    a_model_is_compiled_before_it_is_served(vllm)
    the_door_verifies_tokens_and_their_claims(vllm)


def test_everything_that_a_file_can_say_deploys(aws: LocalAws, tmp_path: Path) -> None:
    """WAF, target optimizer, hours, a topic; its cluster is not deployed."""
    said = (ROOT / "tests" / "review" / "deployments" / "everything-serving.yaml").read_text()
    source = tmp_path / "everything-serving.yaml"
    source.write_text(said.replace("111111111111", aws.account))
    whole = ServingEnvironment(aws, source, tmp_path)
    whole.serve()
    balancer = whole.physical_id("ElasticLoadBalancingV2::LoadBalancer")
    protects = whole.client("wafv2").get_web_acl_for_resource(ResourceArn=balancer)["WebACL"]
    assert "TooManyRequests" in [rule["Name"] for rule in protects["Rules"]]
    outputs = whole.outputs("serving")
    (target,) = whole.client("application-autoscaling").describe_scalable_targets(ServiceNamespace="ecs")[
        "ScalableTargets"
    ]
    assert target["ResourceId"] == f"service/{outputs['ClusterName']}/{outputs['ServiceName']}"
    assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 4)
    hours = whole.client("application-autoscaling").describe_scheduled_actions(ServiceNamespace="ecs")
    assert len(hours["ScheduledActions"]) == 2
    whole.content["serving"]["load_balancer"]["deletion_protection"] = False
    whole.content["serving"]["hosts"]["protect"] = False
    whole.serve()
    whole.destroy("serving")
