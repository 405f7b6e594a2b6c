"""Classes of wrong files, each at several options: what stands there reaches no template, wherever it is said."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.options.fields import keys_of
from cdk_trainyard.options.kinds import Open
from tests.deployment.good_file import (
    GOOD,
    GOOD_FLEET,
    GOOD_PARALLELCLUSTER,
    GOOD_SERVING,
    Edit,
    edited,
    problems_of,
)
from tests.options.test_every_option import reachable, scalars

EXISTING = (
    "vpc_id: vpc-0123456789abcdef0\n"
    "  accelerator_subnet: {subnet_id: subnet-0123456789abcdef0, zone: use1-az4, cidr: CIDR}\n"
    "  public_subnets: [{subnet_id: subnet-0123456789abcdef1, zone: use1-az4, cidr: 10.2.0.0/24}]"
)
LUSTRE = (
    "{file_system_id: fs-0123456789abcdef0, dns_name: fs-NAME, mount_name: abcdefgh, "
    "security_group_id: sg-0123456789abcdef0}"
)
HEAD = "    public: true\n"
TYPES = "instance_type: ml.trn1.32xlarge"
WORKERS = "      count: 4\n"
BUILD = ("image:\n    dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", "image:\n    build:\n      base: BASE")
DATABASE = (
    "      endpoint: db.cluster-abcdefghijkl.eu-west-1.rds.amazonaws.com\n      user_name: slurm\n"
    "      password_secret_arn: arn:aws:secretsmanager:us-east-1:111111111111:secret:slurm-abcdef\n"
)
HUB = "arn:aws:secretsmanager:us-west-2:111111111111:secret:key-AbCdEf"
KEY = "arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef"
POLICIES = ", ".join(f"arn:aws:iam::111111111111:policy/parallelcluster/p{number}" for number in range(23))
PASSWORD = HUB.replace("us-west-2", "us-east-1")
OWN_DATABASE = (
    "  slurm:\n    accounting: {endpoint: db.example.com, user_name: slurm, password_secret_arn: "
    f"'{PASSWORD}'}}\n  head_node:\n"
)
TRAINED = (
    "orchestrator: hyperpod\ncluster:\n  lifecycle: {on_create: on_create.sh}\n  groups:\n"
    "    controller: {role: controller, instance_type: ml.m5.xlarge, count: 1}\n"
    "    workers: {role: compute, instance_type: ml.m5.xlarge, count: 1}\n"
    "  accounting: {endpoint: db.example.com, security_group_id: sg-0123456789abcdef0"
)
TOPIC = "arn:aws:sns:us-east-1:111111111111:ops"
HERE = "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com"
CAPACITY = "    capacity_gib: 1200"
OLD = f"{CAPACITY}\n    deployment: SCRATCH_2\n    lustre_version: '2.10'"
PLAIN = "build: {base: ubuntu-24.04, families: [p4d], nvidia_branch: '580'}"
OF_EFS = HERE.replace("fsx", "efs")


def hyperpod(option: str) -> Edit:
    return "cluster:\n", f"cluster:\n  {option}\n"


CASES: list[tuple[str, str, list[Edit], str]] = [
    *(
        (
            GOOD_PARALLELCLUSTER,
            f"local disks at {place}",
            [("placement: cluster", f"placement: cluster\n      scratch_at: {place}")],
            "cluster.queues[1].scratch_at' must",
        )
        for place in (
            "/etc",
            "/opt/slurm",
            "/opt/dlami/nvme",
            "/home",
            "/usr/local",
            "/opt",
            "/home/ubuntu",
        )
    ),
    *(
        (
            GOOD_PARALLELCLUSTER,
            f"addresses {block}",
            [(HEAD, f"{HEAD}    ssh_from: {block}\n")],
            "cluster.head_node.ssh_from' must",
        )
        for block in ("10.1.0.1/16", "10.1.0.0/0", "127.0.0.1/32", "224.0.0.0/4", "pl-1")
    ),
    *(
        (
            GOOD_PARALLELCLUSTER,
            f"a cluster with the name of the stack of the {stack}",
            [hyperpod(f"cluster_name: demo-{stack}")],
            "cluster.cluster_name' must be another than",
        )
        for stack in ("network", "storage", "training", "serving")
    ),
    *(
        (
            GOOD_PARALLELCLUSTER,
            f"a script at {address}",
            [(HEAD, f'{HEAD}    on_start: [{{script: "{address}"}}]\n')],
            f"cluster.head_node.on_start[0].script' must be {says}",
        )
        for address, says in (
            *((address, "an address") for address in ("s3://my-bucket/${AWS::Region}", "s3://Bucket/x")),
            ("s3://b/x", "in a bucket, whose name has 3 to 63 characters"),
            ("https://host/{{resolve:ssm:/x}}", "without '${' and '{{resolve:'"),
        )
    ),
    (
        GOOD_PARALLELCLUSTER,
        "no subnet",
        [("placement: cluster", "placement: cluster\n      subnets: []")],
        "cluster.queues[1].subnets' must name at least one",
    ),
    *(
        (
            GOOD,
            f"{said} in place of text",
            [("name: demo", f"name: demo\ntags: {{of: {said}}}")],
            f"2:12: 'tags.of' must be text, got {said}; put it in quotes: \"{said}\"",
        )
        for said in (".nan", "-.Inf", "0x1F", "0o17", "0b11", "1_000", "1_0.5", "12e45678", "1" * 19)
    ),
    (
        GOOD,
        "a database that is only switched on",
        [hyperpod("accounting: true")],
        "got true; write {} for one as it is without any key, or leave it out (default: a MariaDB on the controller",
    ),
    (GOOD, "a number by its base", [("count: 4", "count: 0x10")], "count' must be a whole number, got 0x10; write 16"),
    *(
        (GOOD, f"{said} in JSON", [hyperpod(f"raw_overrides: {{A: [{said}]}}")], f"A[0]' must be a plain number, {got}")
        for said, got in (
            ("0x10", 'or text in quotes, got 0x10; write 16, or "0x10" in quotes for text'),
            (".inf", 'or text in quotes, got .inf; write ".inf" in quotes for text'),
        )
    ),
    (GOOD_PARALLELCLUSTER, "no version", [hyperpod('version: ""')], "cluster.version' must be"),
    (
        GOOD_PARALLELCLUSTER,
        "more nodes than there are addresses",
        [("max_count: 16", "max_count: 10000000035")],
        "24:22: 'cluster.queues[1].compute[0].max_count' must be 1 to 65531, got 10000000035",
    ),
    (
        GOOD_PARALLELCLUSTER,
        "how long there are no logs",
        [hyperpod("monitoring: {logs: false, log_retention_days: 30}")],
        "cluster.monitoring.log_retention_days' must be left out",
    ),
    *(
        (
            GOOD,
            f"{said} in other words",
            [(WORKERS, f"{WORKERS}      raw_overrides: {{{said}: 1}}\n")],
            f"cluster.groups.workers.raw_overrides.{said}' must",
        )
        for said in ("InstanceCount", "LifeCycleConfig", "ImageId", "instanceCount")
    ),
    (
        GOOD_PARALLELCLUSTER,
        "a database whose name DNS does not have",
        [hyperpod("slurm:\n    accounting:\n      endpoint: " + "d" * 64 + ".example\n")],
        "12:17: 'cluster.slurm.accounting.endpoint' must be a host name or an IPv4 address, and no more, as ",
    ),
    (
        GOOD_PARALLELCLUSTER,
        "a database of another Region with a security group",
        [hyperpod("slurm:\n    accounting:\n" + DATABASE + "      security_group_id: sg-0123456789abcdef0")],
        "12:17: 'cluster.slurm.accounting.endpoint' must be of us-east-1, where its security group must be",
    ),
    (
        GOOD,
        "metrics of devices on nodes that other scripts set up",
        [
            hyperpod("node_setup: {job_hooks: false, exporters: {neuron: true}}"),
            ("      role: controller\n", "      role: controller\n      lifecycle: {on_create: on_create.sh}\n"),
        ],
        "10:54: 'cluster.node_setup.exporters.neuron' must be left out when no type of a group that runs",
    ),
    (
        GOOD,
        "a property that there is not",
        [(WORKERS, f"{WORKERS}      raw_overrides: {{OverrideVpcConfig.SubnetIds: [subnet-1]}}\n")],
        "raw_overrides.OverrideVpcConfig.SubnetIds' is no property of CloudFormation there; did you mean 'Subnets'",
    ),
    (
        GOOD,
        "a property in one that there is not",
        [(WORKERS, f"{WORKERS}      raw_overrides: {{OverrideVpcConf.Subnets: [subnet-1]}}\n")],
        "raw_overrides.OverrideVpcConf.Subnets' has 'OverrideVpcConf', which is no property of CloudFormation there",
    ),
    *(
        (GOOD, f"the override {name} of a cluster", [hyperpod(f"raw_overrides: {{{name}: a}}")], f"{name}' {says}")
        for name, says in (
            ("node_recovery", "must not be overridden: use 'node_recovery'"),
            ("nodeRecovery", "must not be overridden: use 'node_recovery'"),
            ("tags", "must not be overridden: tags of the whole deployment stand there"),
            (
                "tiered_storage_config.mode",
                "must be names of properties with a dot between two, as VpcConfig.SecurityGroupIds, each",
            ),
            ("TieredStorageConfig..Mode", "must be names of properties with a dot between two"),
        )
    ),
    *(
        (
            GOOD,
            f"the override {name} of a group",
            [(WORKERS, f"{WORKERS}      raw_overrides: {{{name}: a}}\n")],
            f"19:23: 'cluster.groups.workers.raw_overrides.{name}' {says}",
        )
        for name, says in (
            ("training_plan_arn", "must not be overridden: use 'training_plan_arn'"),
            ("InstanceGroupName", "must not be overridden: the group's name says it, which in a file is its key"),
        )
    ),
    (
        GOOD,
        "an override as options are written",
        [(WORKERS, f"{WORKERS}      raw_overrides: {{override_vpc_config.subnets: a}}\n")],
        "with a capital, got 'override_vpc_config.subnets' as a name; did you mean 'OverrideVpcConfig.Subnets'?",
    ),
    (
        GOOD,
        "an id that is none",
        [
            (
                WORKERS,
                f"{WORKERS}      raw_overrides: {{OverrideVpcConfig: {{Subnets: [subnet-xyz]}}}}\n",
            )
        ],
        "19:53: 'cluster.groups.workers.raw_overrides.OverrideVpcConfig.Subnets[0]' must be the id of a subnet",
    ),
    (
        GOOD,
        "a value that a property does not take",
        [hyperpod("raw_overrides: {TieredStorageConfig: {Mode: Sometimes}}")],
        "10:47: 'cluster.raw_overrides.TieredStorageConfig.Mode' must be Enable or Disable, got 'Sometimes'",
    ),
    (
        GOOD,
        "a property without its partner",
        [hyperpod("raw_overrides: {TieredStorageConfig.InstanceMemoryAllocationPercentage: 20}")],
        "must be given with 'TieredStorageConfig.Mode', which CloudFormation requires",
    ),
    (
        GOOD,
        "a property that there is not, in a value",
        [hyperpod("raw_overrides: {TieredStorageConfig: {Mod: Disable}}")],
        "10:41: 'cluster.raw_overrides.TieredStorageConfig.Mod' is no property of CloudFormation there; did you mean",
    ),
    (
        GOOD,
        "accelerators of two kinds",
        [(TYPES, "instance_types: [ml.trn1.32xlarge, ml.p5.48xlarge]")],
        "cluster.groups.workers.instance_types' must be types of one processor",
    ),
    *(
        (
            GOOD,
            f"a database on {name}",
            [hyperpod(f"accounting: {{instance_type: {name}}}")],
            "cluster.accounting.instance_type' must be a class of RDS",
        )
        for name in ("t4g.mediumx", "zz9.large", "trn1.32xlarge", "m6a.large", "m5.metal", "db.t4g.medium")
    ),
    *(
        (
            GOOD,
            f"the client {nid}",
            [("capacity_gib: 1200", f'root_squash: {{uid: 1, gid: 1, no_squash_nids: ["{nid}"]}}')],
            "storage.lustre.root_squash.no_squash_nids[0]' must be",
        )
        for nid in ("10.1.0.999@tcp", "10.1.0.[20-1]@tcp", "10.1.0.[1-@tcp", "...@tcp", "10.1.0.6")
    ),
    (
        GOOD,
        "one file system of both kinds",
        [
            ("\n    capacity_gib: 1200", " " + LUSTRE.replace("fs-NAME", HERE)),
            ("storage:", f"storage:\n  open_zfs: {{dns_name: {HERE}}}"),
        ],
        f"6:24: 'storage.open_zfs.dns_name' must be of another file system than 'lustre', got '{HERE}'; one is not",
    ),
    (
        GOOD,
        "access logs in a bucket with a key",
        [("storage:", f"storage:\n  buckets: {{access_logs: {{bucket_name: my-logs, key_arn: '{KEY}'}}}}")],
        "6:49: 'storage.buckets.access_logs.key_arn' is no key here; AWS delivers access logs only to",
    ),
    (
        GOOD,
        "a secret of a HyperPod cluster's database in another account",
        [
            ("region:", "account: '222222222222'\nregion:"),
            ("  groups:", f"  accounting: {{endpoint: db.example.com, secret_arn: '{PASSWORD}'}}\n  groups:"),
        ],
        f"cluster.accounting.secret_arn' must be of account 222222222222, got '{PASSWORD}', whose key the cluster's",
    ),
    (
        GOOD_PARALLELCLUSTER,
        "a secret of a ParallelCluster's database in another account",
        [("region:", "account: '222222222222'\nregion:"), ("  head_node:\n", OWN_DATABASE)],
        f"cluster.slurm.accounting.password_secret_arn' must be of account 222222222222, got '{PASSWORD}', whose key",
    ),
    (
        GOOD_SERVING,
        "the password of a database as the key of callers",
        [("serving:", f"{TRAINED}, secret_arn: '{HUB}'}}\nserving:")],
        "serving.load_balancer.authentication.secret_arn' must be another secret than that of the cluster's",
    ),
    (
        GOOD,
        "a FIFO topic",
        [("storage:", "alerts: {topic_arn: 'arn:aws:sns:us-east-1:111111111111:ops.fifo'}\nstorage:")],
        "topic_arn' must be the ARN of a standard topic, got 'arn:aws:sns:us-east-1:111111111111:ops.fifo'",
    ),
    (
        GOOD,
        "a topic of another account that events of a cluster do not reach",
        [
            ("region:", "account: '222222222222'\nregion:"),
            ("storage:", f"alerts: {{topic_arn: '{TOPIC}'}}\nstorage:"),
        ],
        "6:21: 'alerts.topic_arn' must be of account 222222222222, as the cluster is, since the rules that tell of its",
    ),
    (
        GOOD,
        "a topic of another account than a role of the cluster's",
        [
            ("  groups:", "  role_arn: arn:aws:iam::222222222222:role/nodes\n  groups:"),
            ("storage:", f"alerts: {{topic_arn: '{TOPIC}'}}\nstorage:"),
        ],
        "5:21: 'alerts.topic_arn' must be of account 222222222222, as the cluster is, since the rules that tell of its",
    ),
    *(
        (
            GOOD,
            f"a file system at {name}",
            [("\n    capacity_gib: 1200", " " + LUSTRE.replace("fs-NAME", name))],
            "storage.lustre.dns_name' must be",
        )
        for name in (
            HERE.replace("us-east-1", "eu-west-1"),
            f"{HERE}.cn",
            f"{HERE}x",
            HERE.replace("fsx.us-east-1", "us-east-1.fsx"),
            HERE.replace("cdef0", "cdef1"),
        )
    ),
    *(
        (
            GOOD,
            f"a file system of EFS as one of FSx, at line {place}",
            [(old, new.replace("fs-NAME", OF_EFS))],
            f"{place}: 'storage.{key}.dns_name' must be the name of a file system of FSx, as {HERE}, got '{OF_EFS}'",
        )
        for place, key, old, new in (
            ("6:60", "lustre", "\n    capacity_gib: 1200", " " + LUSTRE),
            ("6:24", "open_zfs", "storage:", "storage:\n  open_zfs: {dns_name: fs-NAME}"),
        )
    ),
    (GOOD, "subnets over one another", [("zone: use1-az4", EXISTING.replace("CIDR", "10.2.0.0/20"))], "overlap"),
    (
        GOOD,
        "a subnet larger than its VPC",
        [("zone: use1-az4", EXISTING.replace("CIDR", "10.4.0.0/20") + "\n  cidr: 10.4.0.0/24")],
        "network.accelerator_subnet.cidr' must be within the VPC's block 10.4.0.0/24, or outside of it",
    ),
    (
        GOOD,
        "a subnet of another private range than its VPC",
        [("zone: use1-az4", EXISTING.replace("CIDR", "192.168.0.0/20") + "\n  cidr: 10.2.0.0/16")],
        (
            "5:83: 'network.accelerator_subnet.cidr' must not be of another private range than 10.2.0.0/16 in the same "
            "VPC, got 192.168.0.0/20; EC2 has no VPC with both"
        ),
    ),
    (
        GOOD,
        "subnets of two private ranges",
        [("zone: use1-az4", EXISTING.replace("CIDR", "172.16.0.0/20"))],
        "'network.public_subnets[0].cidr' must not be of another private range than 172.16.0.0/20 in the same VPC",
    ),
    (
        GOOD,
        "a new network that exists",
        [("zone: use1-az4", "zone: use1-az4\n  " + EXISTING.replace("CIDR", "10.4.0.0/20"))],
        "network.zone' is no key beside 'vpc_id', which says that it exists already; with 'vpc_id' it is 'zone' of",
    ),
    (GOOD, "a subnet of no host", [("zone: use1-az4", EXISTING.replace("CIDR", "127.0.0.0/20"))], "that hosts have"),
    (
        GOOD,
        "48 tags beside ours",
        [("region:", f"tags: {{{', '.join(f't{n}: x' for n in range(48))}}}\nregion:")],
        "47",
    ),
    (
        GOOD_FLEET,
        "a tag that Image Builder does not take",
        [("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", PLAIN), ("region:", "tags: {größe: x}\nregion:")],
        "2:8: 'tags.größe' must be of plain letters (a to z) and digits, got 'größe' as a name: Image Builder, which",
    ),
    *(
        (
            GOOD_SERVING,
            f"a tag that CodeBuild does not take, its {what}",
            [
                ("region:", f"tags: {{{key}: {value}}}\nregion:"),
                ("  load_balancer:", f"  compile: {{source: a/b, revision: {'0' * 40}}}\n  load_balancer:"),
            ],
            f"' must have at most {most}: CodeBuild, which 'serving.compile' makes, takes no more",
        )
        for what, key, value, most in (
            ("key", "k" * 128, "v", "127 characters as a name, got 128"),
            ("value", "k", "v" * 256, "255 characters, got 256"),
        )
    ),
    *(
        (
            good,
            f"an empty tag and {name}",
            [("region:", f"tags: {{team: ''}}\n{section}region:")],
            f"tags.team' must have a value, got '': alarms, dashboards and capacity providers, which '{name}' makes",
        )
        for good, name, section in (
            (GOOD, "alerts", "alerts: {emails: [ops@example.com]}\n"),
            (GOOD, "monitoring", "monitoring: {}\n"),
            (GOOD_SERVING, "serving", ""),
        )
    ),
    *(
        (
            GOOD,
            f"the zone {zone}",
            [("zone: use1-az4", f"zone: {zone}")],
            "network.zone' must be",
        )
        for zone in ("use1-az4use1-az4", "us-east-1z", "use1-az9", "use1-az04")
    ),
    *(
        (
            GOOD_SERVING,
            f"the variable {name}",
            [("kind: tgi", f"kind: tgi\n    environment: {{{name}: abcdef0123}}")],
            f"serving.engine.environment.{name}' must be left out: a secret",
        )
        for name in (
            "GITHUB_PAT",
            "BEARER",
            "WANDB_KEY",
            "HUGGING_FACE_HUB_TOKEN",
            "BASIC_AUTH",
            "DB_PASS",
            "PASSKEY",
            "CREDS",
            "JWT",
        )
    ),
    *(
        (
            GOOD_SERVING,
            f"the value {value}",
            [("kind: tgi", f"kind: tgi\n    environment: {{EXTRA: '{value}'}}")],
            "serving.engine.environment.EXTRA' must ",
        )
        for value in (
            *("postgres://u:p@h/db", "at https://:token@mirror.example", "Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc"),
            *("eyJhbGciOiJIUzI1NiJ9.e30.abc", "github_pat_11ABCDEFG0123456789abcdef", "gho_11ABCDEFG0123456789abcdef"),
            "xoxb-123456789012-abcdefghijkl",
        )
    ),
    *(
        (
            GOOD_FLEET,
            f"a copy in {region}",
            [(BUILD[0], BUILD[1].replace("BASE", f"neuron-base-ubuntu-24.04\n      regions: [{region}]"))],
            "cluster.image.build.regions[",
        )
        for region in ("us-east-9", "us-east-1, us-east-1", "cn-north-1")
    ),
    *(
        (
            GOOD,
            f"a file system of type {kind}",
            [("capacity_gib: 1200", f"deployment: {kind}")],
            f" must be SCRATCH_1, SCRATCH_2, PERSISTENT_1 or PERSISTENT_2, got '{kind}'{remedy}",
        )
        for kind, remedy in (
            ("INTELLIGENT_TIERING", "; it is a storage class: use 'storage' INTELLIGENT_TIERING"),
            ("SCRATCH", "; use SCRATCH_1, or the newer SCRATCH_2"),
            ("scratch_2", "; did you mean 'SCRATCH_2'?"),
        )
    ),
    *(
        (
            GOOD_PARALLELCLUSTER,
            f"more policies of {name} than IAM attaches",
            [(old, f"{old}{indent}policy_arns: [{POLICIES}, arn:aws:iam::111111111111:policy/parallelcluster/last]\n")],
            f"cluster.{name}.policy_arns' must make at most 25 with those of the cluster, all that IAM attaches",
        )
        for name, old, indent in (("head_node", HEAD, "    "), ("queues[1]", "      placement: cluster\n", "      "))
    ),
    (
        GOOD_PARALLELCLUSTER,
        "local disks where there are none",
        [("    public: true\n", "    public: true\n    scratch_at: /scratch\n")],
        "14:17: 'cluster.head_node.scratch_at' must be left out for c5.xlarge: there is no local disk",
    ),
    *(
        (
            good,
            f"a file system of Lustre 2.10 for nodes of {words}",
            [(CAPACITY, OLD), *more],
            f"storage.lustre.lustre_version' must be 2.12 or 2.15 for nodes of {words}, whose client mounts no other",
        )
        for good, words, more in (
            (GOOD, "HyperPod's image for Slurm", []),
            (GOOD_PARALLELCLUSTER, "ParallelCluster 3.16's image of Amazon Linux 2023", []),
            (GOOD_FLEET, "the Deep Learning Base OSS AMI of Ubuntu 24.04", []),
            (
                GOOD_FLEET,
                "Canonical's Ubuntu 24.04 of 20260714",
                [("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", PLAIN)],
            ),
        )
    ),
    (
        GOOD_SERVING,
        "a file system that nothing mounts",
        [("serving:\n", "storage:\n  lustre: {capacity_gib: 1200}\nserving:\n")],
        "7:3: 'storage.lustre' must be left out where nothing trains",
    ),
    (
        GOOD_SERVING,
        "home directories that nothing mounts",
        [("serving:\n", f"storage:\n  open_zfs: {{dns_name: {HERE.replace('us-east-1', 'us-west-2')}}}\nserving:\n")],
        "7:3: 'storage.open_zfs' must be left out where nothing trains",
    ),
    (
        GOOD_SERVING,
        "the longest prompt of vLLM",
        [("batch: 4", "batch: 4\n    max_input_tokens: 100"), ("kind: tgi", "kind: hf-vllm")],
        "13:23: 'serving.model.max_input_tokens' must be left out for hf-vllm",
    ),
    (
        GOOD_SERVING,
        "a token that nobody uses",
        [("kind: tgi", f"kind: tgi\n    hub_token_secret_arn: {HUB}")],
        "serving.engine.hub_token_secret_arn' must be left out for a model with 'precompiled'",
    ),
]


@pytest.mark.parametrize(
    ("good", "edits", "says"), [pytest.param(good, edits, says, id=name) for good, name, edits, says in CASES]
)
def test_is_refused_wherever_it_is_said(good: str, edits: list[Edit], says: str, write: Callable[[str], Path]) -> None:
    found = problems_of(write(edited(*edits, good=good)))
    assert [problem for problem in found if says in problem], found


REFERENCE = "'{{resolve:ssm:/x}}'"
LEFT_TO_RULES: list[tuple[str, str, str, Edit]] = [
    (GOOD, "zone_problems", "network.zone", ("use1-az4", REFERENCE)),
    (
        GOOD,
        "version_problems",
        "storage.lustre.lustre_version",
        (CAPACITY, f"{CAPACITY}\n    lustre_version: {REFERENCE}"),
    ),
    (
        GOOD,
        "root_squash_problems",
        "storage.lustre.root_squash.no_squash_nids[0]",
        (CAPACITY, f"{CAPACITY}\n    root_squash: {{uid: 1, gid: 1, no_squash_nids: [{REFERENCE}]}}"),
    ),
    (
        GOOD,
        "repository_problems",
        "storage.lustre.data_repositories[0].file_system_path",
        (CAPACITY, f"{CAPACITY}\n    data_repositories: [{{bucket: datasets, file_system_path: {REFERENCE}}}]"),
    ),
    (
        GOOD,
        "partition_problems",
        "cluster.groups.workers.partition",
        (WORKERS, f"{WORKERS}      partition: {REFERENCE}\n"),
    ),
    (GOOD, "folder_problems", "cluster.lifecycle.folder", hyperpod(f"lifecycle: {{folder: {REFERENCE}}}")),
    (
        GOOD,
        "override_problems",
        f"monitoring.alarms.{REFERENCE[1:-1]}",
        ("network:", f"monitoring: {{alarms: {{{REFERENCE}: {{enabled: false}}}}}}\nnetwork:"),
    ),
    *(
        (
            GOOD,
            "own_alarm_problems",
            f"monitoring.own_alarms.Odd.{key}",
            ("network:", f"monitoring: {{own_alarms: {{Odd: {{minutes: 5, {texts}}}}}}}\nnetwork:"),
        )
        for key, texts in (
            ("expr", "summary: x, expr: 'up{$cluster, x=\"{{resolve:ssm:/x}}\"} == 0'"),
            ("summary", f"expr: 'up{{$cluster}} == 0', summary: {REFERENCE}"),
        )
    ),
    (GOOD_PARALLELCLUSTER, "operating_system_problems", "cluster.operating_system", ("alinux2023", REFERENCE)),
    (GOOD_PARALLELCLUSTER, "cluster_name_problems", "cluster.cluster_name", hyperpod(f"cluster_name: {REFERENCE}")),
    (
        GOOD_PARALLELCLUSTER,
        "resource_prefix_problems",
        "cluster.iam.resource_prefix",
        hyperpod(f"iam: {{resource_prefix: {REFERENCE}}}"),
    ),
    (
        GOOD_PARALLELCLUSTER,
        "suppressed_validator_problems",
        "cluster.suppress_validators[0]",
        hyperpod(f"suppress_validators: [{REFERENCE}]"),
    ),
    (
        GOOD_PARALLELCLUSTER,
        "action_problems",
        "cluster.head_node.on_start[0].script",
        (HEAD, f"{HEAD}    on_start: [{{script: {REFERENCE}}}]\n"),
    ),
    (GOOD_SERVING, "image_problems", "serving.engine.image", ("kind: tgi", f"kind: tgi\n    image: {REFERENCE}")),
    (
        GOOD_PARALLELCLUSTER,
        "slurm_settings_problems",
        "cluster.slurm.custom[0].LaunchType",
        hyperpod(f"slurm: {{custom: [{{LaunchType: {REFERENCE}}}]}}"),
    ),
    (
        GOOD_PARALLELCLUSTER,
        "slurm_settings_problems",
        "cluster.queues[0].slurm.QOS",
        ("name: cpu", f"name: cpu\n      slurm: {{QOS: {REFERENCE}}}"),
    ),
]


@pytest.mark.parametrize(
    ("good", "key", "edit"), [pytest.param(good, key, edit, id=key) for good, _, key, edit in LEFT_TO_RULES]
)
def test_a_text_that_a_rule_judges_is_no_reference(
    good: str, key: str, edit: Edit, write: Callable[[str], Path]
) -> None:
    found = problems_of(write(edited(edit, good=good)))
    assert [problem for problem in found if f" '{key}' must " in problem], found


def test_a_reference_is_tried_in_every_text_that_a_rule_judges() -> None:
    left = {
        kind.rule
        for spec in reachable(DeploymentSpec)
        for option in keys_of(spec).values()
        for scalar in scalars(option.shape)
        for kind in scalar.kinds
        if scalar.type is str and isinstance(kind, Open)
    }
    assert left - {rule for _, rule, _, _ in LEFT_TO_RULES} == {"accounting_problems"}  # of Python alone


TAKEN: list[tuple[str, str, list[Edit]]] = [
    *(
        (GOOD, f"{said}, which no reader takes for a number", [("region:", f"tags: {{of: {said}}}\nregion:")])
        for said in ("1e5abc", "0x", "0xfg", "_1", "1:30", "2026-11-28", "1.2.3", ".info", "nan", "e5")
    ),
    (GOOD_FLEET, "a tag with an accent where no image is built", [("region:", "tags: {größe: x}\nregion:")]),
    (GOOD_SERVING, "a long tag where nothing is compiled", [("region:", f"tags: {{{'k' * 128}: x}}\nregion:")]),
    (
        GOOD_PARALLELCLUSTER,
        "a file system of Lustre 2.10 where a kernel has a client for it",
        [(CAPACITY, OLD), ("alinux2023", "ubuntu2204")],
    ),
    (
        GOOD_FLEET,
        "a file system of Lustre 2.10 for an image of yours",
        [(CAPACITY, OLD), ("dlami: base-oss-nvidia-driver-gpu-ubuntu-24.04", "ami_id: ami-0123456789abcdef0")],
    ),
    *(
        (
            GOOD,
            f"a subnet of {block}, in another block of its VPC",
            [("zone: use1-az4", EXISTING.replace("CIDR", block) + "\n  cidr: 10.1.0.0/16")],
        )
        for block in ("10.3.0.0/20", "100.64.0.0/20")
    ),
    (
        GOOD_SERVING,
        "access logs of a load balancer beside those of S3",
        [
            ("  load_balancer:\n", "  load_balancer:\n    access_logs: {bucket_name: my-logs}\n"),
            ("serving:", "storage: {buckets: {access_logs: {bucket_name: my-logs}}}\nserving:"),
        ],
    ),
    (GOOD, "a file system of Lustre 2.12", [(CAPACITY, OLD.replace("2.10", "2.12"))]),
    (
        GOOD_PARALLELCLUSTER,
        "a secret of another account whose key a policy lets the head node use",
        [
            ("region:", "account: '222222222222'\nregion:"),
            ("  head_node:\n", OWN_DATABASE),
            (HEAD, f"{HEAD}    policy_arns: [arn:aws:iam::222222222222:policy/parallelcluster/key]\n"),
        ],
    ),
    (GOOD_SERVING, "a secret for each purpose", [("serving:", f"{TRAINED}, secret_arn: '{HUB[:-1]}g'}}\nserving:")]),
    (GOOD_PARALLELCLUSTER, "a database of the user's own", [("  head_node:\n", OWN_DATABASE)]),
    (GOOD_PARALLELCLUSTER, "as many policies as IAM attaches", [(HEAD, f"{HEAD}    policy_arns: [{POLICIES}]\n")]),
    (GOOD, "a topic where the account is not said", [("storage:", f"alerts: {{topic_arn: '{TOPIC}'}}\nstorage:")]),
    (
        GOOD_FLEET,
        "a topic of another account that a fleet tells",
        [
            ("region:", "account: '222222222222'\nregion:"),
            ("storage:", f"alerts: {{topic_arn: '{TOPIC.replace('us-east-1', 'us-west-2')}'}}\nstorage:"),
        ],
    ),
]


@pytest.mark.parametrize(("good", "edits"), [pytest.param(good, edits, id=name) for good, name, edits in TAKEN])
def test_what_is_right_is_taken(good: str, edits: list[Edit], write: Callable[[str], Path]) -> None:
    assert problems_of(write(edited(*edits, good=good))) == []


def test_every_bucket_of_yours_leaves_nothing_to_encrypt(write: Callable[[str], Path]) -> None:
    names = ("scripts", "datasets", "checkpoints", "models", "access_logs")
    buckets = "".join(f"    {name}: {{bucket_name: my-{name.replace('_', '-')}}}\n" for name in names)
    text = edited(("storage:\n", f"storage:\n  buckets:\n{buckets}    auto_delete: true\n"))
    none = "must be left out where every bucket exists: none is made"
    assert problems_of(write(text)) == [
        f"11:5: 'storage.buckets.access_logs' {none}",
        f"12:5: 'storage.buckets.auto_delete' {none}",
    ]


def test_a_database_of_another_region_may_let_the_cluster_in_by_itself(write: Callable[[str], Path]) -> None:
    text = edited(hyperpod("slurm:\n    accounting:\n" + DATABASE.rstrip()), good=GOOD_PARALLELCLUSTER)
    assert problems_of(write(text)) == []
