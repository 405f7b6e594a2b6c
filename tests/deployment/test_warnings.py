"""What ``check`` warns of is what the constructs warn of at synthesis."""

from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import Annotations, App

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.warnings import warnings
from cdk_trainyard.problems import At
from stacks import build_stacks
from tests.deployment.good_file import GOOD, GOOD_FLEET, GOOD_PARALLELCLUSTER, GOOD_SERVING, edited

DATA = Path(__file__).parent / "data"
OF_OBJECTS = ("-key", "-policy")
"""How ids end of what only an object of CDK's tells."""
FULL = (
    "everything_new",
    "everything_fleet",
    "everything_parallelcluster",
    "everything_serving",
    "existing_serving",
    "unbuilt_serving",
)


def said_at_synthesis(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    said = set[tuple[str, str]]()
    monkeypatch.setattr(Annotations, "add_warning_v2", lambda _, slug, text: said.add((slug, text)))
    build_stacks(App(), deployment)
    return {(slug, text) for slug, text in said if not slug.endswith(OF_OBJECTS)}


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_a_file_tells_what_its_constructs_tell(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = Deployment.load(DATA / f"{name}.yaml")
    found = {(each.slug, each.text) for each in warnings(deployment)}
    assert found
    assert found == said_at_synthesis(deployment, monkeypatch)


def test_a_warning_stands_at_the_section_that_it_is_about(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = Deployment.load(write(edited(("zone: use1-az4\n", "zone: use1-az4\n  cidr: 172.17.0.0/16\n"))))
    (found,) = warnings(deployment)
    assert (found.at, found.slug) == (("network",), "@cdk-trainyard/network:docker-bridge")
    assert said_at_synthesis(deployment, monkeypatch) == {(found.slug, found.text)}


OWN_ALARMS = {
    "Idle": ("slurm_jobs_pending{$cluster} > 5", "no-slurm"),
    "Everywhere": ('max by (node) (node_load1{job="node"}) > 900', "every-cluster"),
    "ByName": ('up{cluster="demo"} == 0', "other-cluster"),
    "Another": ('up{cluster="another-one"} == 0', ""),
    "Right": ("up{$cluster} == 0 unless absent(slurm_up)", ""),
}
"""Each with what is said of it, where that is said."""
SHARED = "  workspace_arn: arn:aws:aps:us-west-2:111111111111:workspace/ws-0123\n"


SERVED = GOOD_SERVING[GOOD_SERVING.index("serving:") :]
BOTH = edited(("usw2-az2\n", "usw2-az2\n  service_zones: [usw2-az1, usw2-az2]\n"), good=GOOD_FLEET) + SERVED


@pytest.mark.parametrize(
    ("good", "more", "slugs"),
    [
        (GOOD_FLEET, SHARED, {"no-slurm", "every-cluster", "other-cluster"}),
        (GOOD_FLEET, "", {"no-slurm", "other-cluster"}),
        (GOOD_SERVING, SHARED, {"no-slurm", "every-cluster", "other-cluster"}),
        (BOTH, "", {"no-slurm", "other-cluster"}),
        (GOOD, "", {"other-cluster"}),
        (GOOD.replace("cluster:\n", "cluster:\n  cluster_name: demo\n"), "", set()),
    ],
)
def test_an_alarm_of_ones_own_asks_for_metrics_of_the_deployment(
    good: str, more: str, slugs: set[str], write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "".join(f"    {name}: {{expr: '{expr}', minutes: 1, summary: x}}\n" for name, (expr, _) in OWN_ALARMS.items())
    scripts = (
        good.replace("cluster:\n", "cluster:\n  lifecycle: {on_create: on_create.sh}\n") if "hyperpod" in good else good
    )
    deployment = Deployment.load(write(f"{scripts}monitoring:\n{more}  own_alarms:\n{own}"))
    prefix = "@cdk-trainyard/monitoring:"
    found = {(each.slug.removeprefix(prefix), each.at[-1]) for each in warnings(deployment) if prefix in each.slug}
    assert found == {(slug, name) for name, (_, slug) in OWN_ALARMS.items() if slug in slugs}
    said = said_at_synthesis(deployment, monkeypatch)
    assert {each for each in said if prefix in each[0]} == {
        (each.slug, each.text) for each in warnings(deployment) if prefix in each.slug
    }


JWT = """\
      kind: jwt
      issuer: {issuer}
      key_set_url: https://issuer.example/pool
      claims: [{{name: client_id, values: [chat]}}]
"""
KEY = GOOD_SERVING[GOOD_SERVING.index("      kind: api-key") :]
OWN = "monitoring:\n  own_alarms: {Mine: {expr: '%s', minutes: 1, summary: x, severity: critical}}\n"
ALERTS = "alerts: {emails: [me@example.com]}\n"
LINKED = "  buckets: {}\n  lustre:\n    data_repositories: [{file_system_path: %s, bucket: datasets}]\n"
DAYS = "{name: day, schedule: cron(0 7 ? * 1-5 *), min_tasks: 2, max_tasks: 2}"
SURPRISES = (
    {
        "an alarm of what is free rings when little is used": (
            GOOD_SERVING + "monitoring:\n  alarms: {InodesLow: {threshold: 50}, DiskFull: {threshold: 90}}\n",
            ("monitoring", "alarms", "DiskFull"),
            "monitoring:rings-early",
            "less than 90 percent are free; for 90 percent that are used, write 10",
        ),
        "an alarm at a part of a percent": (
            GOOD_SERVING + "monitoring: {alarms: {EngineErrors: {threshold: 0.05}}}\n",
            ("monitoring", "alarms", "EngineErrors"),
            "monitoring:part-of-percent",
            "counts percent of requests, and is less than one; for 5 percent, write 5",
        ),
        "errors at a part of a percent": (
            edited(("  engine:", "  monitoring: {error_percent: 0.05}\n  engine:"), good=GOOD_SERVING),
            ("serving", "monitoring"),
            "serving:part-of-percent",
            "'error_percent' 0.05 is less than one of a hundred requests; for 5 percent, write 5",
        ),
        "an alarm of GPUs whose exporter is off": (
            GOOD_FLEET + ALERTS + OWN % "DCGM_FI_DEV_GPU_TEMP{$cluster} > 85",
            ("monitoring", "own_alarms", "Mine"),
            "monitoring:no-gpu",
            "nothing here gives metrics of GPUs: it never rings, unless something of yours writes them; leave it out",
        ),
        "an alarm of whatever a metric is": (
            GOOD_FLEET + ALERTS + OWN % "up{$cluster} == bool 0",
            ("monitoring", "own_alarms", "Mine"),
            "monitoring:rings-always",
            "rings as long as there is such a metric, whatever its value is; compare it with a number, without bool",
        ),
        "an alarm of another engine": (
            GOOD_SERVING + ALERTS + OWN % "vllm:num_requests_waiting{$cluster} > 4",
            ("monitoring", "own_alarms", "Mine"),
            "monitoring:no-vllm",
            "and what serves here is not vLLM: it never rings, unless something of yours writes them; leave it out",
        ),
        "an alarm of devices that no node has": (
            GOOD_FLEET + ALERTS + OWN % "neuroncore_utilization_ratio{$cluster} > 0",
            ("monitoring", "own_alarms", "Mine"),
            "monitoring:no-neuron",
            "nothing here gives metrics of Neuron: it never rings, unless something of yours writes them; leave it out",
        ),
        "a critical alarm that nobody hears": (
            GOOD_FLEET + OWN % "up{$cluster} == 0",
            ("monitoring",),
            "monitoring:nobody-told",
            "some of 'own_alarms' are critical; a file names in 'alerts' who is, and Python gives 'topic'",
        ),
        "an issuer without https": (
            edited((KEY, JWT.format(issuer="issuer.example/pool")), good=GOOD_SERVING),
            ("serving", "load_balancer"),
            "serving:issuer",
            "as that of OpenID Connect does: tokens pass only if their claim iss is the same to the letter",
        ),
        "keys at the issuer itself": (
            edited((KEY, JWT.format(issuer="https://issuer.example/pool")), good=GOOD_SERVING),
            ("serving", "load_balancer"),
            "serving:key-set",
            "give what its https://issuer.example/pool/.well-known/openid-configuration says as 'jwks_uri'",
        ),
        "days of a schedule as numbers": (
            edited(
                (
                    "  engine:",
                    f"  scaling:\n    min_tasks: 1\n    max_tasks: 2\n    schedules: [{DAYS}]\n  engine:",
                ),
                good=GOOD_SERVING,
            ),
            ("serving",),
            "serving:numbered-days",
            "comes on SUN-THU, since 1 is Sunday there; for MON-FRI write the names",
        ),
        "days of a build as numbers": (
            edited(
                (
                    "    dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04",
                    "    build: {base: base-oss-nvidia-driver-gpu-ubuntu-24.04, schedule: cron(0 7 ? * 1 *)}",
                ),
                ("count: 8", "min_count: 0\n  max_count: 8"),
                good=GOOD_FLEET[: GOOD_FLEET.index("  master:")],
            ),
            ("cluster", "image", "build"),
            "fleet:numbered-days",
            "'schedule' 'cron(0 7 ? * 1 *)' comes on SUN, since 1 is Sunday there; for MON write the names",
        ),
        "builds every minute": (
            edited(
                (
                    "    dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04",
                    "    build: {base: base-oss-nvidia-driver-gpu-ubuntu-24.04, schedule: cron(* * * * ? *)}",
                ),
                ("count: 8", "min_count: 0\n  max_count: 8"),
                good=GOOD_FLEET[: GOOD_FLEET.index("  master:")],
            ),
            ("cluster", "image", "build"),
            "fleet:many-builds",
            "are paid for; for one, write one minute, as cron(0 4 ? * SUN *)",
        ),
        "a database on the head node": (
            edited(
                (
                    "  head_node:\n",
                    (
                        "  slurm:\n    accounting:\n      endpoint: localhost\n      user_name: slurm\n"
                        "      password_secret_arn: arn:aws:secretsmanager:us-east-1:111111111111:secret:db-abcdef\n"
                        "  head_node:\n"
                    ),
                ),
                good=GOOD_PARALLELCLUSTER,
            ),
            ("cluster",),
            "parallelcluster:own-database",
            "give the host of one, unless a script of yours does so before Slurm starts",
        ),
        "a schema of a ParallelCluster that MySQL reserves": (
            edited(
                (
                    "  head_node:\n",
                    (
                        "  slurm:\n    accounting:\n      endpoint: db.example\n      user_name: slurm\n"
                        "      password_secret_arn: arn:aws:secretsmanager:us-east-1:111111111111:secret:db-abcdef\n"
                        "      schema_name: rank\n  head_node:\n"
                    ),
                ),
                good=GOOD_PARALLELCLUSTER,
            ),
            ("cluster",),
            "parallelcluster:reserved-schema",
            "make it there before, or name it as 'slurm_rank'",
        ),
        "a schema of HyperPod that MySQL takes for a number": (
            edited(
                (
                    "cluster:\n",
                    (
                        "cluster:\n  provisioning: Continuous\n  accounting:\n    endpoint: db.example\n"
                        "    secret_arn: arn:aws:secretsmanager:us-east-1:111111111111:secret:db-abcdef\n"
                        "    security_group_id: sg-0123456789abcdef0\n    schema_name: '1e5'\n"
                    ),
                ),
            ),
            ("cluster",),
            "hyperpod:reserved-schema",
            "as it writes no quotes; make it there before, or name it as 'slurm_1e5'",
        ),
        "a database on the controller": (
            edited(
                (
                    "cluster:\n",
                    (
                        "cluster:\n  provisioning: Continuous\n  accounting:\n    endpoint: 127.0.0.1\n"
                        "    secret_arn: arn:aws:secretsmanager:us-east-1:111111111111:secret:db-abcdef\n"
                        "    security_group_id: sg-0123456789abcdef0\n"
                    ),
                ),
            ),
            ("cluster",),
            "hyperpod:own-database",
            "or give the host of one, unless a script of yours does so before Slurm starts",
        ),
    }
    | {
        f"a database of {orchestrator} that never grows": (
            edited(
                (f"zone: {zone}\n", f"zone: {zone}\n  service_zones: [{zone}, {other}]\n"),
                ("cluster:\n", f"cluster:\n  {said % 'accounting: {max_storage_gb: 22}'}\n"),
                good=good,
            ),
            at,
            "storage:database-growth",
            "RDS adds 10 GB or a tenth at a time, and stays below 'max_storage_gb'; use 31 or more",
        )
        for orchestrator, good, zone, other, said, at in (
            ("hyperpod", GOOD, "use1-az4", "use1-az5", "provisioning: Continuous\n  %s", ("cluster", "accounting")),
            (
                "parallelcluster",
                GOOD_PARALLELCLUSTER,
                "us-east-1a",
                "us-east-1b",
                "slurm: {%s}",
                ("cluster", "slurm", "accounting"),
            ),
        )
    }
    | {
        "fewer metadata IOPS than the file system has by itself": (
            edited(("capacity_gib: 1200", "capacity_gib: 2400\n    metadata_iops: 1500"), good=GOOD),
            ("storage", "lustre"),
            "storage:metadata-iops",
            "leave 'metadata_iops' out, or use 3000",
        ),
    }
    | {
        f"an address of another registry in {orchestrator}": (
            edited(("cluster:\n", "cluster:\n  image_repositories: [ghcr.io/team/train]\n"), good=good),
            ("cluster",),
            f"{orchestrator}:other-registry",
            "leave it out where nodes pull from ghcr.io itself, which asks for no right",
        )
        for orchestrator, good in (("fleet", GOOD_FLEET), ("hyperpod", GOOD), ("parallelcluster", GOOD_PARALLELCLUSTER))
    }
    | {
        f"a directory in {orchestrator} with the path of the mount": (
            edited(("  lustre:\n", LINKED % "/fsx/data"), good=good),
            at,
            f"{orchestrator}:mount-path-twice",
            "its 'file_system_path' begins at the root of the file system; for /fsx/data on nodes write /data",
        )
        for orchestrator, good, at in (
            ("fleet", GOOD_FLEET, ("cluster",)),
            ("hyperpod", GOOD, ("cluster",)),
            ("parallelcluster", GOOD_PARALLELCLUSTER, ("cluster",)),
        )
    }
)


@pytest.mark.parametrize(("file", "at", "slug", "says"), SURPRISES.values(), ids=SURPRISES)
def test_what_may_surprise_is_told_by_a_file_and_by_constructs(
    file: str, at: At, slug: str, says: str, write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = Deployment.load(write(file))
    (found,) = (each for each in warnings(deployment) if each.slug == f"@cdk-trainyard/{slug}")
    assert found.at == at
    assert found.text.endswith(says)
    assert (found.slug, found.text) in said_at_synthesis(deployment, monkeypatch)


@pytest.mark.parametrize(
    "file",
    [
        GOOD_SERVING + "monitoring: {alarms: {EngineErrors: {threshold: 1}}}\n",
        GOOD_FLEET + ALERTS + OWN % "up{$cluster} == 0",
        GOOD_FLEET + ALERTS + OWN % "DCGM_A{$cluster} > 1" + "  exporters: {gpu: true}\n",
        GOOD_FLEET + "monitoring: {alarms: {EfaDrops: {threshold: 0.5}}}\n",
        edited(("  lustre:\n", LINKED % "/fsx-data"), good=GOOD),
    ],
)
def test_what_is_usual_surprises_nobody(file: str, write: Callable[[str], Path]) -> None:
    slugs = {slug for _, _, slug, _ in SURPRISES.values()}
    assert not [each for each in warnings(Deployment.load(write(file))) if each.slug.partition("/")[2] in slugs]
