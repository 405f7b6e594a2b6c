"""A cluster of ParallelCluster that no provider has made, its scripts in a bucket of the local AWS, and its nodes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from cdk_trainyard.lifecycle.bundle import read_bundle
from cdk_trainyard.local import LocalAws
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.rehearsal import Cluster, EgressProxy, Lustre, Machine, Machines, Node, ScriptRun
from cdk_trainyard.rehearsal.agent import run_unit
from cdk_trainyard.rehearsal.parallelcluster.agent import ParallelClusterAgent
from cdk_trainyard.rehearsal.parallelcluster.clusters import HEAD, Described
from cdk_trainyard.rehearsal.parallelcluster.neuron import SCRIPT, Repositories, with_key
from tests.rehearsal.node_role import may_everything

REGION = "us-west-2"
BUCKET = "rehearsed-scripts"
FOLDER = f"s3://{BUCKET}/folder"
BOOTSTRAP = f"{FOLDER}/trainyard/bootstrap.sh"
QUEUE = "trn1-dy-trn1-32xlarge"
SUBNET = IPv4Network("10.1.0.0/24")
SYSTEM = Lustre(dns_name=f"fs-0123456789abcdef0.fsx.{REGION}.amazonaws.com", mount_name="abcdefgh")


def actions(*scripts: tuple[str, list[str]]) -> dict[str, Any]:
    """Return the section of an event."""
    rows = [{"Script": f"{FOLDER}/{name}", "Args": args} for name, args in scripts]
    return rows[0] if len(rows) == 1 else {"Sequence": rows}


CONFIG: dict[str, Any] = {
    "Image": {"Os": "ubuntu2204"},
    "HeadNode": {"InstanceType": "c5.4xlarge"},
    "Scheduling": {
        "Scheduler": "slurm",
        "SlurmQueues": [
            {
                "Name": "trn1",
                "JobExclusiveAllocation": "true",
                "Networking": {"SubnetIds": ["subnet-2"]},
                "ComputeResources": [
                    {
                        "Name": "trn1-32xlarge",
                        "InstanceType": "trn1.32xlarge",
                        "MinCount": "0",
                        "MaxCount": "16",
                        "Efa": {"Enabled": "true"},
                    }
                ],
            }
        ],
    },
    "SharedStorage": [
        {
            "Name": "fsx",
            "MountDir": "/fsx",
            "StorageType": "FsxLustre",
            "FsxLustreSettings": {"FileSystemId": "fs-0123456789abcdef0"},
        },
        {"Name": "apps", "MountDir": "/apps", "StorageType": "Ebs"},
    ],
}


def node(group: str, number: int, host: int) -> Node:
    """Return a node of the cluster."""
    return Node(
        group=group,
        number=number,
        address=SUBNET[host],
        instance_id=f"i-{host:017x}",
        host_name=None if group == HEAD else f"{group}-{number}",
    )


def described(config: Mapping[str, Any] = CONFIG) -> Described:
    """Return the cluster as its configuration has it."""
    return Described(
        name="Demo",
        version="3.16.1",
        config=config,
        head=node(HEAD, 1, 10),
        head_subnet="subnet-1",
        zone=f"{REGION}d",
    )


def cluster_of(found: Described, *nodes: Node) -> Cluster:
    """Return it with these nodes."""
    return Cluster(
        name=found.name,
        arn="",
        region=REGION,
        subnet=SUBNET,
        zone=found.zone,
        groups=found.groups,
        nodes=nodes,
        file_systems=[SYSTEM],
        domain="demo.pcluster",
    )


def bundle() -> dict[str, bytes]:
    """Return the project's own scripts."""
    root = scripts_folder()
    return {file.name: file.data for file in read_bundle(("", root / "parallelcluster"), ("lib", root / "lib")).files}


def upload(aws: LocalAws, repositories: Repositories | None = None, **own: str) -> None:
    """Put the project's scripts, as they trust the test key, and scripts of one's own into the bucket."""
    client = aws.client("s3", REGION)
    if BUCKET not in [row["Name"] for row in client.list_buckets()["Buckets"]]:
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    files = bundle() | {name: text.encode() for name, text in own.items()}
    if repositories:
        files[SCRIPT] = with_key(files[SCRIPT], repositories.fingerprint)
    for name, data in files.items():
        client.put_object(Bucket=BUCKET, Key=f"folder/{name}", Body=data)


@contextmanager
def booted(
    aws: LocalAws,
    image: Path,
    *nodes: Node,
    config: Mapping[str, Any] = CONFIG,
    sites: Mapping[str, Path] | None = None,
) -> Iterator[Machines[ParallelClusterAgent]]:
    """Nodes that are up, with a way to the local AWS; ParallelCluster has not begun."""
    found = described(config)
    agent = ParallelClusterAgent(found, cluster_of(found, *nodes))
    egress_proxy = EgressProxy(endpoint=aws.endpoint, region=REGION, sites=sites or {})
    with (
        egress_proxy,
        Machines(agent, image=image, egress_proxy=egress_proxy, role_of=may_everything(aws, REGION)) as machines,
    ):
        agent.fill_shared(machines.shared_folder)
        machines.boot()
        yield machines


def of_folder(entry: str, *args: str) -> tuple[str, list[str]]:
    """Return what runs a file of the folder."""
    return BOOTSTRAP.removeprefix(f"{FOLDER}/"), ["run", f"{FOLDER}/", entry, *args]


def config_with_neuron(
    system: str, head: Mapping[str, Any] | None = None, *more: tuple[str, list[str]]
) -> dict[str, Any]:
    """Return the configuration of a cluster whose queue has the Neuron installer, and more."""
    configured = actions(of_folder("neuron.sh"), *more)
    queue = {**CONFIG["Scheduling"]["SlurmQueues"][0], "CustomActions": {"OnNodeConfigured": configured}}
    return {
        **CONFIG,
        "Image": {"Os": system},
        "HeadNode": {**CONFIG["HeadNode"], **(head or {})},
        "Scheduling": {**CONFIG["Scheduling"], "SlurmQueues": [queue]},
    }


def install(machine: Machine, *arguments: str) -> ScriptRun:
    """Run the installer again, as it was fetched, with deadlines that end at once."""
    (folder,) = (machine.root / "opt/trainyard/scripts").iterdir()
    script = f"/opt/trainyard/scripts/{folder.name}/neuron.sh"
    environment = {"TRAINYARD_DEADLINE": "1", "TRAINYARD_LOG_GRACE": "0"}
    return run_unit(machine, "again", [script, *arguments], environment=environment)


def text(machine: Machine, path: str) -> str:
    """Return a file of a node."""
    return (machine.root / path.lstrip("/")).read_text()
