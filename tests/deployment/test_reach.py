"""A file whose options fetch what its network does not reach is refused, with option, address and remedy."""

from pathlib import Path

import pytest

from tests.deployment.good_file import GOOD, GOOD_FLEET, GOOD_PARALLELCLUSTER, Edit, edited, problems_of

CLOSED = ("zone: use1-az4", "zone: use1-az4\n  nat: none")
SCRIPTS = "cluster:\n  lifecycle: {on_create: on_create.sh}\n  node_setup:\n"
SUM = "0" * 64
NO_ROUTE = "the subnet has no route to the internet, and no endpoint"
NAT = "or give the network a NAT gateway"


def nodes(*lines: str) -> Edit:
    return ("cluster:\n", SCRIPTS + "".join(f"    {line}\n" for line in lines))


def said(path: Path, *edits: Edit, good: str | None = None) -> list[str]:
    path = path / "deployment.yaml"
    path.write_text(edited(*edits, **({} if good is None else {"good": good})))
    return problems_of(path)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            ["exporters: {}"],
            (
                "13:5: 'cluster.node_setup.exporters' fetches files of releases at GitHub from github.com, "
                f"release-assets.githubusercontent.com: {NO_ROUTE}; give 'tools' a file of node_exporter by its "
                f"key in the scripts bucket, {NAT}"
            ),
        ),
        (
            ["neuron_environment: {}"],
            (
                "13:5: 'cluster.node_setup.neuron_environment' fetches Neuron's Python packages, Python packages from "
                f"pip.repos.neuron.amazonaws.com, the index that pip is configured for: {NO_ROUTE}; give its "
                f"'index' a mirror that the nodes reach, {NAT}"
            ),
        ),
        (
            ["containers: {}", "tools:", f"  - {{tool: enroot, sha256: '{SUM}', url: 'https://github.com/a/b.deb'}}"],
            (
                "15:105: 'cluster.node_setup.tools[0].url' fetches files of releases at GitHub from github.com, "
                f"release-assets.githubusercontent.com: {NO_ROUTE}; give its key in the scripts bucket, {NAT}"
            ),
        ),
        (
            ["neuron_environment: {index: 'https://pip.repos.neuron.amazonaws.com'}"],
            (
                "13:33: 'cluster.node_setup.neuron_environment.index' fetches Neuron's Python packages from "
                f"pip.repos.neuron.amazonaws.com: {NO_ROUTE}; give a mirror in the network, {NAT}"
            ),
        ),
    ],
)
def test_an_option_whose_downloads_do_not_arrive_is_refused(lines: list[str], problem: str, tmp_path: Path) -> None:
    (found,) = said(tmp_path, CLOSED, nodes(*lines))
    assert found == problem


@pytest.mark.parametrize(
    "lines",
    [
        ["exporters: {}", "tools:", f"  - {{tool: node_exporter, sha256: '{SUM}', key: tools/node.tar.gz}}"],
        ["neuron_environment: {index: 'https://mirror.corp.example/simple'}"],
        ["containers: {}"],
        ["s3_mounts: [{bucket: datasets, path: /data}]"],  # its tool is in us-east-1, where the endpoint leads to it
        ["pam_slurm_adopt: {}", "tools:", f"  - {{tool: pam_slurm_adopt, sha256: '{SUM}', key: tools/pam.so}}"],
    ],
    ids=["by key", "a mirror", "what the image has", "Mountpoint in us-east-1", "a module by key"],
)
def test_what_arrives_without_nat_is_not_refused(lines: list[str], tmp_path: Path) -> None:
    assert said(tmp_path, CLOSED, nodes(*lines)) == []


def test_the_pinned_mountpoint_arrives_elsewhere_with_nat_alone(tmp_path: Path) -> None:
    mounts = nodes("s3_mounts: [{bucket: datasets, path: /data}]")
    region, zone = ("region: us-east-1", "region: us-west-2"), ("zone: use1-az4", "zone: usw2-az4")
    assert said(tmp_path, region, zone, mounts) == []
    (problem,) = said(tmp_path, region, (zone[0], f"{zone[1]}\n  nat: none"), mounts)
    assert "'cluster.node_setup.s3_mounts' fetches Mountpoint for Amazon S3 from s3.amazonaws.com" in problem
    assert "the bucket is in us-east-1" in problem


def test_a_processor_without_a_given_file_fetches_the_pinned_one(tmp_path: Path) -> None:
    lines = ["exporters: {}", "tools:", f"  - {{tool: node_exporter, sha256: '{SUM}', key: tools/node.tar.gz}}"]
    arm = ("instance_type: ml.m5.large", "instance_type: ml.m7g.large")
    (problem,) = said(tmp_path, CLOSED, nodes(*lines), arm)
    assert "'cluster.node_setup.exporters'" in problem


def test_a_file_of_a_closed_bucket_is_refused_with_nat_too(tmp_path: Path) -> None:
    """S3 of the own Region goes through the endpoint; the remedy is to name the bucket."""
    url = "https://tools-of-ours.s3.us-east-1.amazonaws.com/node.tar.gz"
    lines = nodes("exporters: {}", "tools:", f"  - {{tool: node_exporter, sha256: '{SUM}', url: '{url}'}}")
    (problem,) = said(tmp_path, lines)
    assert problem.endswith("name tools-of-ours in 'public_buckets'")
    assert said(tmp_path, lines, ("zone: use1-az4", "zone: use1-az4\n  public_buckets: [tools-of-ours]")) == []


def test_accounting_needs_its_secret(tmp_path: Path) -> None:
    accounting = ("  groups:", "  lifecycle: {on_create: on_create.sh}\n  accounting: {}\n  groups:")
    zones = ("zone: use1-az4", "zone: use1-az4\n  nat: none\n  service_zones: [use1-az4, use1-az5]")
    (problem,) = said(tmp_path, zones, accounting)
    assert "'cluster.accounting' asks AWS Secrets Manager at secretsmanager.us-east-1.amazonaws.com" in problem
    assert "; add secretsmanager to 'interface_endpoints', " in problem
    endpoint = (zones[0], f"{zones[1]}\n  interface_endpoints: [secretsmanager]")
    assert said(tmp_path, endpoint, accounting) == []


def test_a_fleet_without_nat_needs_endpoints(tmp_path: Path) -> None:
    zone = "zone: usw2-az2"
    (problem,) = said(tmp_path, (zone, f"{zone}\n  nat: none"), good=GOOD_FLEET)
    assert "; add autoscaling, ec2, logs, ssm to 'interface_endpoints', " in problem
    endpoints = f"{zone}\n  nat: none\n  interface_endpoints: [autoscaling, ec2, logs, ssm]"
    assert said(tmp_path, (zone, endpoints), good=GOOD_FLEET) == []


PUBLIC_HEAD = "zone: us-east-1a\n  nat: none\n  public_zones: [us-east-1a]"


def test_queues_without_nat_need_endpoints_and_a_public_head_node_does_not(tmp_path: Path) -> None:
    zone = "zone: us-east-1a"
    problems = said(tmp_path, (zone, PUBLIC_HEAD), good=GOOD_PARALLELCLUSTER)
    assert len(problems) == 2
    assert all("asks AWS CloudFormation, Amazon EC2, CloudWatch Logs at" in problem for problem in problems)
    assert ["'cluster.queues[0]'" in problems[0], "'cluster.queues[1]'" in problems[1]] == [True, True]
    endpoints = f"{PUBLIC_HEAD}\n  interface_endpoints: [cloudformation, ec2, logs]"
    assert said(tmp_path, (zone, endpoints), good=GOOD_PARALLELCLUSTER) == []


@pytest.mark.parametrize(
    ("system", "packages"),
    [("alinux2023", "yum.repos.neuron.amazonaws.com"), ("ubuntu2204", "apt.repos.neuron.amazonaws.com")],
)
def test_neuron_comes_from_its_repository(system: str, packages: str, tmp_path: Path) -> None:
    endpoints = f"{PUBLIC_HEAD}\n  interface_endpoints: [cloudformation, ec2, logs]"
    edits = [
        ("zone: us-east-1a", endpoints),
        ("alinux2023", system),
        ("          max_count: 16", "          max_count: 16\n      on_configured: [{script: neuron.sh}]"),
    ]
    (problem,) = said(tmp_path, *edits, good=GOOD_PARALLELCLUSTER)
    assert "'cluster.queues[1].on_configured[0].script' fetches" in problem
    assert packages in problem
    own = (edits[2][0], f"{edits[2][1]}\n      image_id: ami-0123456789abcdef0")
    assert said(tmp_path, *edits[:2], own, good=GOOD_PARALLELCLUSTER) == []


def test_a_script_at_github_is_out_of_reach_but_by_a_proxy(tmp_path: Path) -> None:
    endpoints = f"{PUBLIC_HEAD}\n  interface_endpoints: [cloudformation, ec2, logs]"
    count = "          max_count: 16"
    script = f"{count}\n      on_start: [{{script: 'https://raw.githubusercontent.com/a/b/main/x.sh'}}]"
    (problem,) = said(tmp_path, ("zone: us-east-1a", endpoints), (count, script), good=GOOD_PARALLELCLUSTER)
    assert "on_start[0].script' fetches files of repositories at GitHub from raw.githubusercontent.com: " in problem
    proxy = f"{script}\n      raw_overrides: {{Networking: {{Proxy: {{HttpProxyAddress: 'https://proxy:1'}}}}}}"
    assert said(tmp_path, ("zone: us-east-1a", endpoints), (count, proxy), good=GOOD_PARALLELCLUSTER) == []


def test_an_existing_network_is_taken_for_granted(tmp_path: Path) -> None:
    existing = (
        "  zone: use1-az4\n",
        (
            "  vpc_id: vpc-0123456789abcdef0\n"
            "  accelerator_subnet: {subnet_id: subnet-0123456789abcdef0, zone: use1-az4}\n"
        ),
    )
    assert said(tmp_path, existing, nodes("exporters: {}")) == []


ECR = (
    "container images in Amazon ECR of the Region at api.ecr.us-east-1.amazonaws.com, *.dkr.ecr.us-east-1.amazonaws.com"
)
REPOSITORIES = "cluster:\n  image_repositories: [train]\n"


def test_images_and_metrics_that_do_not_arrive_are_refused_without_scripts_too(tmp_path: Path) -> None:
    workspace = "arn:aws:aps:us-east-1:111111111111:workspace/ws-1"
    grants = ("cluster:\n", f"{REPOSITORIES}  prometheus_workspace_arn: {workspace}\n")
    metrics = "metrics to Amazon Managed Service for Prometheus at aps-workspaces.us-east-1.amazonaws.com"
    assert said(tmp_path, CLOSED, grants) == [
        (
            f"11:3: 'cluster.image_repositories' asks {ECR}: {NO_ROUTE}; add ecr.api, ecr.dkr to "
            f"'interface_endpoints', {NAT}"
        ),
        (
            f"12:29: 'cluster.prometheus_workspace_arn' asks {metrics}: {NO_ROUTE}; add aps-workspaces to "
            f"'interface_endpoints', {NAT}"
        ),
    ]
    endpoints = "nat: none\n  interface_endpoints: [ecr.api, ecr.dkr]"
    assert said(tmp_path, ("zone: use1-az4", f"zone: use1-az4\n  {endpoints}"), ("cluster:\n", REPOSITORIES)) == []


def test_images_that_do_not_arrive_on_a_fleet_or_a_queue_are_refused(tmp_path: Path) -> None:
    for good, whose in ((GOOD_FLEET, ""), (GOOD_PARALLELCLUSTER, "")):
        zone = next(line.strip() for line in good.splitlines() if "zone:" in line)
        problems = said(tmp_path, (zone, f"{zone}\n  nat: none"), ("cluster:\n", REPOSITORIES), good=good)
        assert [problem for problem in problems if f"image_repositories'{whose} asks" in problem], problems


@pytest.mark.parametrize("good", [GOOD, GOOD_FLEET, GOOD_PARALLELCLUSTER], ids=["hyperpod", "fleet", "parallelcluster"])
def test_images_of_another_region_are_behind_no_endpoint(good: str, tmp_path: Path) -> None:
    zone, region = (next(line.strip() for line in good.splitlines() if key in line) for key in ("zone:", "region:"))
    here = region.removeprefix("region: ")
    names = f"train, 'arn:aws:ecr:{here}:111111111111:repository/here'"
    there = "'arn:aws:ecr:eu-west-1:111111111111:repository/train'"
    endpoints = f"{zone}\n  nat: none\n  interface_endpoints: [ecr.api, ecr.dkr]"

    def about(repositories: str, network: str) -> list[str]:
        grants = ("cluster:\n", f"cluster:\n  image_repositories: [{repositories}]\n")
        found = said(tmp_path, (zone, network), grants, good=good)
        return [each.partition(": ")[2] for each in found if "image_repositories" in each]

    answer = (
        "'cluster.image_repositories[{}]' fetches container images in Amazon ECR of eu-west-1, to which endpoints in "
        f"{here} do not lead, from api.ecr.eu-west-1.amazonaws.com, 111111111111.dkr.ecr.eu-west-1.amazonaws.com: "
        f"{NO_ROUTE}; copy them to {here}, {NAT}"
    )
    assert about(names, endpoints) == []
    assert about(f"{names}, {there}", endpoints) == [answer.format(2)]
    assert about(there, f"{zone}\n  nat: none") == [answer.format(0)]
    assert about(f"{names}, {there}", zone) == []


@pytest.mark.parametrize(
    ("registry", "problem"),
    [
        (
            "nvcr.io/nvidia/k8s",
            f"fetches container images of NVIDIA from nvcr.io: {NO_ROUTE}; take an image of nodes that has it",
        ),
        ("111111111111.dkr.ecr.{region}.amazonaws.com", "asks container images in Amazon ECR of the Region at"),
        ("registry.corp.example", None),
    ],
)
@pytest.mark.parametrize("good", [GOOD_FLEET, GOOD_PARALLELCLUSTER], ids=["fleet", "parallelcluster"])
def test_an_image_for_the_metrics_of_gpus_that_does_not_arrive_is_refused(
    registry: str, problem: str | None, good: str, tmp_path: Path
) -> None:
    zone, region = (next(line.strip() for line in good.splitlines() if key in line) for key in ("zone:", "region:"))
    image = f"{registry.format(region=region.removeprefix('region: '))}/dcgm-exporter@sha256:{SUM}"
    monitoring = f"name: demo\nmonitoring: {{exporters: {{gpu: true, gpu_image: '{image}'}}}}\n"
    closed = said(tmp_path, ("name: demo\n", monitoring), (zone, f"{zone}\n  nat: none"), good=good)
    found = [
        each.partition("' ")[2] for each in closed if "'monitoring.exporters.gpu_image' " in each and "GPUs" not in each
    ]
    assert [each[: len(problem or "")] for each in found] == [problem] * (problem is not None)
    with_nat = said(tmp_path, ("name: demo\n", monitoring), good=good)
    assert not [each for each in with_nat if "'monitoring.exporters.gpu_image' " in each]
