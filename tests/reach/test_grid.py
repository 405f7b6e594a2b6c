"""Every fetch of every shipped deployment arrives, in every Region, with each kind of network that a file may have."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import App

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.network import Endpoint
from cdk_trainyard.network.bucket_policy import s3_policy
from cdk_trainyard.reach import (
    Fetch,
    Gateway,
    Need,
    Place,
    Region,
    addresses,
    fetches,
    judge,
    judge_target,
    read_places,
)
from stacks import build_stacks
from tests.reach.parts import REGIONS
from tests.support import DEPLOYMENTS, ROOT

pytestmark = pytest.mark.slow

Templates = dict[str, dict[str, Any]]
Change = Callable[[dict[str, Any]], object]
SETUP: dict[str, Any] = {
    "exporters": {},
    "containers": {},
    "s3_mounts": [{"bucket": "datasets", "path": "/datasets"}],
}
EVERY_OPTION = {"hyperpod-cpu-ddp": SETUP, "hyperpod-trn1-llama2": {**SETUP, "neuron_environment": {}}}
"""What the grid asks for beside what the shipped files do: all that a node may fetch."""
SUBNET = {"subnet_id": "subnet-0123456789abcdef0"}


def as_shipped(content: dict[str, Any]) -> None:
    if "cluster" in content:
        workspace = f"arn:aws:aps:{content['region']}:111111111111:workspace/ws-1"
        content["cluster"] |= {"image_repositories": ["*"], "prometheus_workspace_arn": workspace}
    if content["name"] == "serving-inf2-vllm":
        content["monitoring"] = {}
    setup = EVERY_OPTION.get(content["name"])
    if setup or content.get("orchestrator") in {"parallelcluster", "fleet"}:
        content["monitoring"] = {}
    if setup:
        content["cluster"]["node_setup"] = setup


def no_nat(content: dict[str, Any]) -> None:
    content["network"]["nat"] = "none"
    if "head_node" in content.get("cluster", {}):
        content["cluster"]["head_node"]["public"] = False


def with_endpoints(content: dict[str, Any]) -> None:
    no_nat(content)
    content["network"]["interface_endpoints"] = [endpoint.value for endpoint in Endpoint]


def existing(content: dict[str, Any]) -> None:
    as_shipped(content)
    zone = content["network"]["zone"]
    zones = content["network"].get("service_zones", [])
    subnets = [{"subnet_id": f"subnet-{number:017x}", "zone": name} for number, name in enumerate(zones)]
    public = {"subnet_id": "subnet-00000000000000fff", "zone": zone}
    content["network"] = {
        "vpc_id": "vpc-0123456789abcdef0", "cidr": "10.1.0.0/16",
        "accelerator_subnet": SUBNET | {"zone": zone}, "service_subnets": subnets, "public_subnets": [public],
    }  # fmt: skip


def written(path: Path, change: Change, folder: Path) -> Path:
    content = yaml.safe_load(path.read_text())
    change(content)
    target = folder / path.name
    target.write_text(yaml.safe_dump(content))
    return target


def synthesized(path: Path) -> tuple[Deployment, Templates]:
    deployment = Deployment.load(path)
    app = App()
    build_stacks(app, deployment)
    return deployment, {stack.id: stack.template for stack in app.synth().stacks}


def moved(templates: Templates, source: str, target: str) -> Templates:
    """Return templates as they would be in another Region: the only thing in them that says the Region is its name."""
    text = json.dumps(templates).replace(source, target).replace(source.replace("-", ""), target.replace("-", ""))
    return dict(json.loads(text))


def options_on(deployment: Deployment, templates: Templates) -> set[str]:
    """Return the options of the table that a deployment turns on."""
    cluster, text = getattr(deployment, "cluster", None), json.dumps(templates)
    setup = getattr(cluster, "node_setup", None)
    slurm, image = getattr(cluster, "slurm", None), getattr(cluster, "image", None)
    grants = getattr(cluster, "grants", cluster)
    on = {
        "on_create": "on_create.sh" in text,
        "exporters": setup is not None and setup.exporters is not None,
        "metrics": getattr(deployment, "monitoring", None) is not None,
        "s3_mounts": setup is not None and bool(setup.s3_mounts),
        "neuron_environment": setup is not None and setup.neuron_environment is not None,
        "accounting": slurm is not None and slurm.accounting is not None,
        "login_pools": bool(getattr(cluster, "login_pools", ())),
        "image_repositories": bool(getattr(grants, "image_repositories", ())),
        "prometheus_workspace_arn": getattr(grants, "prometheus_workspace_arn", None) is not None,
        "lustre": deployment.storage.lustre is not None,
        "logs": True,
        "scripts": True,
        "neuron.sh": "neuron.sh" in text,
        "neuron.sh --venv": "neuron.sh" in text and "--venv" in text,
        "build": image is not None and image.build is not None,
        "ghcr.io": "ghcr.io/" in text,
        "public.ecr.aws": "public.ecr.aws/" in text,
        "ecr": ".dkr.ecr." in text,
        "node_health": "registry.k8s.io/" in text,
        "concurrency": "envoy" in text,
        "compile": "AWS::CodeBuild::Project" in text,
    }
    return {"", *(option for option, is_on in on.items() if is_on)}


def asked(place: Place, options: set[str], system: str) -> Iterator[Fetch]:
    for fetch in fetches():
        here = fetch.at == place.at or (fetch.at == "node" and place.at in {"head", "login"})
        if fetch.room == place.room and here and fetch.option in options and fetch.system in {"", system}:
            yield fetch


CERTAIN, LIKELY = {Need.ALWAYS}, {Need.ALWAYS, Need.MISSING}


def blocked(
    deployment: Deployment, templates: Templates, *, regions: list[str] = REGIONS, needs: set[Need] = CERTAIN
) -> list[str]:
    """Return every fetch that does not arrive somewhere."""
    options = options_on(deployment, templates)
    system = "dnf" if "alinux2023" in str(getattr(deployment, "cluster", "")) else "apt"
    found = []
    for name in regions:
        region = Region(name=name)
        for place in read_places(moved(templates, deployment.region, name), region):
            for fetch in asked(place, options, "dnf" if place.room == "serving" else system):
                found += [
                    f"{name} | {place.name} | {fetch.by} | {verdict.target.host} | {verdict.why}"
                    for verdict in judge(fetch, place, region)
                    if not verdict.reached and fetch.need in needs
                ]
    return found


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Deployment, Templates]]:
    """Synthesizes a shipped deployment with every option, once."""
    folder = tmp_path_factory.mktemp("grid")

    @cache
    def shipped(name: str) -> tuple[Deployment, Templates]:
        return synthesized(written(ROOT / "deployments" / f"{name}.yaml", as_shipped, folder))

    return shipped


@pytest.mark.parametrize("name", [path.stem for path in DEPLOYMENTS])
def test_everything_arrives_with_nat_in_every_region(name: str, shipped: Any) -> None:
    deployment, templates = shipped(name)
    assert blocked(deployment, templates, needs=LIKELY) == []


def test_the_grid_asks_for_every_fetch_of_machines(shipped: Any) -> None:
    """Whoever adds a fetch to the table adds a deployment that makes it, or says here why none does."""
    made = set()
    for path in DEPLOYMENTS:
        deployment, templates = shipped(path.stem)
        options = options_on(deployment, templates)
        for place in read_places(templates, Region(name=deployment.region)):
            for system in ("apt", "dnf"):
                made |= {(fetch.room, fetch.at, fetch.option) for fetch in asked(place, options, system)}
    rooms = {"hyperpod", "parallelcluster", "fleet", "serving"}
    of_machines = [fetch for fetch in fetches() if fetch.room in rooms and fetch.when != "deployment"]
    of_table = {(fetch.room, fetch.at, fetch.option) for fetch in of_machines}
    assert of_table - made == {
        ("hyperpod", "node", "accounting"),  # tests/deployment/test_reach.py
        ("hyperpod", "node", "containers"),  # as need is "missing"
        *((room, "node", "gpu_image") for room in ("hyperpod", "parallelcluster", "fleet")),  # the user's own address
        ("hyperpod", "node", "pam_slurm_adopt"),  # the user's own address
        ("parallelcluster", "node", "on_configured"),  # the user's own address
        ("serving", "host", "concurrency"),  # an image of the registry that 'public.ecr.aws' is
    }


def without(templates: Templates, bucket: str) -> Templates:
    """Return templates whose S3 endpoint does not let everybody use some buckets."""

    def is_of(arn: Any) -> bool:
        return f":s3:::{bucket}" in json.dumps(arn)

    changed: Templates = json.loads(json.dumps(templates))
    for template in changed.values():
        for resource in template["Resources"].values():
            for statement in resource.get("Properties", {}).get("PolicyDocument", {}).get("Statement", []):
                if isinstance(statement.get("Resource"), list):
                    statement["Resource"] = [arn for arn in statement["Resource"] if not is_of(arn)]
    return changed


@pytest.mark.parametrize(
    ("name", "bucket", "where"),
    [
        ("fleet-p3dn-bert", "ec2imagebuilder-toe-", REGIONS),
        ("fleet-p3dn-bert", "ec2imagebuilder-managed-resources-", REGIONS),
        ("fleet-p3dn-bert", "fsx-lustre-client-repo", REGIONS),
        ("hyperpod-cpu-ddp", "mountpoint-s3-release", ["us-east-1"]),
        ("serving-inf2-vllm", "al2023-repos-", REGIONS),
        ("serving-inf2-vllm", "prod-us-east-2-starport", REGIONS),
        ("serving-inf2-vllm", "prod-registry-k8s-io-", REGIONS),
        ("parallelcluster-hello", "cloudformation-waitcondition-", REGIONS),
        ("serving-inf2-vllm", "docker-images-prod", ["us-east-1"]),
        ("serving-inf2-vllm", "quayio-production-s3", ["us-east-1"]),
    ],
)
def test_a_bucket_that_the_endpoint_forgets_is_found(name: str, bucket: str, where: list[str], shipped: Any) -> None:
    """NAT does not help: S3 of the own Region always goes through the endpoint."""
    deployment, templates = shipped(name)
    found = blocked(deployment, without(templates, bucket), regions=["us-east-1", deployment.region, "eu-central-1"])
    assert {line.partition(" | ")[0] for line in found} == {"us-east-1", deployment.region, "eu-central-1"} & set(where)
    assert all("the endpoint's policy refuses it" in line for line in found)


REFUSED = {
    no_nat: {
        "fleet-p3dn-bert", "fleet-p5-capacity-block", "parallelcluster-hello", "parallelcluster-p5-capacity-block",
        "parallelcluster-trn1", "parallelcluster-trn1-ultracluster", "serving-inf2-tgi", "serving-inf2-vllm",
    },
    with_endpoints: {
        "fleet-p3dn-bert", "parallelcluster-trn1", "parallelcluster-trn1-ultracluster", "serving-inf2-tgi",
        "serving-inf2-vllm",
    },
    existing: set(),
}  # fmt: skip
"""Without NAT an image is not built, Neuron not installed, a model not served; and services need endpoints."""


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: change.__name__)
@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: path.stem)
def test_a_deployment_is_refused_or_everything_arrives(path: Path, change: Change, tmp_path: Path) -> None:
    changed = written(path, change, tmp_path)
    if path.stem in REFUSED[change]:
        with pytest.raises(ConfigurationError):
            Deployment.load(changed)
    else:
        assert blocked(*synthesized(changed)) == []


ONLY_FOR_REACH: Mapping[str, Change] = {
    "hyperpod-trn1-llama2": lambda content: (as_shipped(content), with_endpoints(content)),
    "fleet-p5-capacity-block": no_nat,
    "parallelcluster-trn1": with_endpoints,
    "parallelcluster-hello": no_nat,
}


@pytest.mark.parametrize("name", ONLY_FOR_REACH)
def test_what_is_refused_would_not_arrive(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's check and the templates agree: what the one refuses, the other finds blocked."""
    changed = written(ROOT / "deployments" / f"{name}.yaml", ONLY_FOR_REACH[name], tmp_path)
    with pytest.raises(ConfigurationError) as refused:
        Deployment.load(changed)
    monkeypatch.setattr("cdk_trainyard.reach.choices.judge_target", lambda *_: _Reached())
    deployment, templates = synthesized(changed)
    found = blocked(deployment, templates, regions=[deployment.region])
    hosts = {line.split(" | ")[3] for line in found}
    text = str(refused.value)
    assert hosts
    for host in hosts - {"{region}.ec2.archive.ubuntu.com", "security.ubuntu.com"}:
        assert Region(name=deployment.region).write(host) in text


class _Reached:
    reached = True


def test_the_policy_that_a_file_is_checked_with_is_the_one_that_is_deployed(shipped: Any) -> None:
    deployment, templates = shipped("hyperpod-cpu-ddp")
    for name in REGIONS:
        region = Region(name=name)
        (place, *_) = read_places(moved(templates, deployment.region, name), region)
        ours = s3_policy(name, region.partition, region.account)
        checked = Place(name="nodes", route=place.route, gateways={"s3": Gateway(policy=ours)})
        for address in addresses().values():
            for target in address.targets:
                if target.bucket and target.asked_in(name):
                    assert judge_target(target, checked, region).reached == judge_target(target, place, region).reached
