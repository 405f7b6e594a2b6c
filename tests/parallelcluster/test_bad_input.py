# ruff: noqa: E501  the messages are the point, each on its line
"""Everything that a user can get wrong is said before anything is deployed, all at once, in the user's words."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Duration, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.lifecycle.rules_setup import NOT_SLURMS_PORT
from cdk_trainyard.network import TrainingNetwork
from cdk_trainyard.parallelcluster import (
    ClusterIam,
    ComputeResource,
    CustomAction,
    Dcv,
    HeadNode,
    LoginPool,
    NodeScripts,
    ParallelCluster,
    ParallelClusterProvider,
    Placement,
    SharedEbs,
    SharedStorage,
    SlurmSettings,
    Timeouts,
)
from tests.parallelcluster.parts import cpu, head, new_network, new_stack, queue, trn1

TIGHT = Placement.CLUSTER
BLOCK = {"capacity": UsageClass.CAPACITY_BLOCK, "reservation_id": "cr-0123456789abcdef0"}
Changes = Callable[[TrainingNetwork], dict[str, Any]]


def with_subnets(network: TrainingNetwork, *subnets: ec2.ISubnet) -> dict[str, Any]:
    nodes = ComputeResource(instance_types=["c5n.9xlarge"], name="efa", efa=True)
    return {"queues": [queue(nodes, placement=Placement.ANYWHERE, subnets=[network.accelerator_subnet, *subnets])]}


def queues(*compute: ComputeResource, **changes: Any) -> Changes:
    return lambda _: {"queues": [queue(*compute, **changes)]}


def given(**changes: Any) -> Changes:
    return lambda _: changes


def with_neuron(operating_system: str, *args: str) -> Changes:
    def changes(network: TrainingNetwork) -> dict[str, Any]:
        place = Construct(network, f"Neuron{len(network.node.children)}")
        scripts = NodeScripts(place, "Scripts", bucket=s3.Bucket.from_bucket_name(place, "Bucket", "scripts"))
        action = scripts.action("neuron.sh", *args)
        nodes = queue(on_configured=[action])
        return {"operating_system": operating_system, "head_node": head(on_configured=[action]), "queues": [nodes]}

    return changes


GRID: dict[str, tuple[Changes, str]] = {
    "trn1.2xlarge with EFA": (
        queues(cpu(instance_type="trn1.2xlarge", efa=True), placement=TIGHT),
        "'queues[0].compute[0].efa' must be false for trn1.2xlarge, which has no EFA, got true",
    ),
    "EFA without a placement decision": (
        queues(trn1()),
        (
            "'queues[0].placement' must be given for nodes with EFA: cluster for the lowest latency, or anywhere where capacity is short; 'efa' false goes without EFA"
        ),
    ),
    "two subnets for one EFA type": (
        lambda network: with_subnets(network, network.public_subnets[0]),
        "'queues[0].subnets' must be one for nodes with EFA, which does not cross zones, got 2; leave it out for the accelerator subnet",
    ),
    "two subnets of one zone": (
        lambda network: {
            "queues": [
                queue(
                    ComputeResource(instance_types=["c5.xlarge", "c6i.xlarge"], max_count=4),
                    subnets=[network.accelerator_subnet, network.public_subnets[0]],
                    public_ip=True,
                )
            ]
        },
        "'queues[0].subnets' must each be in another zone, got 2 in us-east-1a",
    ),
    "a public subnet for a multi-card type": (
        lambda network: {"queues": [queue(trn1(), placement=TIGHT, subnets=[network.public_subnets[0]])]},
        (
            "'queues[0].subnets' must keep trn1.32xlarge private: EC2 gives no public address to an instance with several network interfaces; use the accelerator subnet, behind NAT"
        ),
    ),
    "max < min": (
        queues(cpu(min_count=4, max_count=2)),
        "'queues[0].compute[0].max_count' must be at least 'min_count', got 2 and 4",
    ),
    "a capacity block with min != max": (
        queues(ComputeResource(instance_type="p5.48xlarge", min_count=2, max_count=4), **BLOCK),
        (
            "'queues[0].compute[0].min_count' must be equal to 'max_count' on a capacity block, got 2 and 4; say there how many instances it has, and leave this out"
        ),
    ),
    "a capacity block of which nobody says how many instances it has": (
        queues(ComputeResource(instance_type="p5.48xlarge", min_count=4), **BLOCK),
        (
            "'queues[0].compute[0].max_count' must be given on a capacity block, whose nodes are all always there: how many instances it has, as 4"
        ),
    ),
    "names of queue and nodes that are one when they are joined": (
        given(queues=[queue(cpu(name="bc"), name="a"), queue(cpu(name="b"), cpu(name="c"), name="ab")]),
        "'queues[1].compute[1].name' must be another: with queue 'ab' its launch template would be that of queue 'a' with 'bc', got 'c'",
    ),
    "names of queue and nodes that are one with a hyphen": (
        given(queues=[queue(cpu(name="c"), name="a-b"), queue(cpu(name="b-c"), cpu(name="bc"), name="a")]),
        "'queues[1].compute[0].name' must be another: with queue 'a' its launch template would be that of queue 'a-b' with 'c', got 'b-c'",
    ),
    "nodes with the launch template of a login pool": (
        given(
            queues=[queue(cpu(name="b"), name="a")],
            login_pools=[LoginPool(name=name, instance_type="c5.large") for name in ("ab", "a-b")],
        ),
        "'queues[0].compute[0].name' must be another: with queue 'a' its launch template would be that of pool 'a-b', got 'b'",
    ),
    "two things on /a": (
        given(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a"), SharedEbs(at="/a", name="other")])),
        "'shared_storage.ebs[1].at' must be another for every shared directory, got /a a second time",
    ),
    "a queue name in upper case": (
        queues(name="Compute"),
        (
            "'queues[0].name' must be a lower case letter and then lower case letters, digits and hyphens, as compute, got 'Compute'"
        ),
    ),
    "OS ubuntu2004": (
        given(operating_system="ubuntu2004"),
        (
            "'operating_system' must be alinux2023, ubuntu2204, ubuntu2404, rhel8, rocky8, rhel9 or rocky9, got 'ubuntu2004', which is gone since ParallelCluster 3.14.0"
        ),
    ),
    "OS alinux2": (
        given(operating_system="alinux2"),
        (
            "'operating_system' must be alinux2023, ubuntu2204, ubuntu2404, rhel8, rocky8, rhel9 or rocky9, got 'alinux2', which is gone since ParallelCluster 3.16.0"
        ),
    ),
    "an environment that the head node does not make": (
        lambda network: {
            **with_neuron("ubuntu2404", "--venv", "/home/neuron")(network),
            "head_node": head(
                on_configured=with_neuron("ubuntu2404", "--venv", "/home/a")(network)["head_node"].on_configured
            ),
        },
        "'queues[0].on_configured[0].args[1]' must be /home/a, which the head node makes, got '/home/neuron'",
    ),
    "an environment that nobody makes": (
        lambda network: {**with_neuron("ubuntu2404", "--venv", "/home/neuron")(network), "head_node": head()},
        "'queues[0].on_configured[0].args' must be left out where the head node has no --venv, and makes none, got '/home/neuron'",
    ),
    "OS misspelt": (
        given(operating_system="ubuntu2205"),
        (
            "'operating_system' must be alinux2023, ubuntu2204, ubuntu2404, rhel8, rocky8, rhel9 or rocky9, got 'ubuntu2205'; did you mean 'ubuntu2204' or 'ubuntu2404'?"
        ),
    ),
    "Rocky without an image": (
        given(operating_system="rocky9"),
        (
            "'image_id' must be given with operating system 'rocky9', of which ParallelCluster publishes no image; build one with 'pcluster build-image'"
        ),
    ),
    "PyTorch for Neuron on Ubuntu 22.04": (
        with_neuron("ubuntu2204", "--venv", "/apps/neuron"),
        (
            "'head_node.on_configured[0].script' must not be neuron.sh with --venv on operating system 'ubuntu2204' with Python 3.10: torch-neuronx==2.9.0.2.15.32035, neuronx-cc==2.26.6360.0 are for Python 3.11, 3.12, 3.13; use ubuntu2404, or leave --venv out and train in containers"
        ),
    ),
    "Neuron with a word that its script does not know": (
        with_neuron("ubuntu2404", "--vnev", "/apps/neuron"),
        (
            "'head_node.on_configured[0].args' must be [--venv, DIRECTORY] with an absolute path for neuron.sh, or left out, got [--vnev, /apps/neuron]"
        ),
    ),
    "Neuron in a directory of nowhere": (
        with_neuron("ubuntu2404", "--venv", "neuron"),
        (
            "'head_node.on_configured[0].args' must be [--venv, DIRECTORY] with an absolute path for neuron.sh, or left out, got [--venv, neuron]"
        ),
    ),
    "an environment that would empty a shared directory": (
        lambda network: {
            **with_neuron("ubuntu2404", "--venv", "/apps")(network),
            "shared_storage": SharedStorage(ebs=[SharedEbs(at="/apps")]),
        },
        "'head_node.on_configured[0].args[1]' must not be /apps or around it, got '/apps'; neuron.sh takes no directory with something else in it: name one of its own, as /apps/neuron",
    ),
    "an environment that would empty a home": (
        with_neuron("ubuntu2404", "--venv", "/home/ubuntu"),
        "'head_node.on_configured[0].args[1]' must not be /home/ubuntu or around it, got '/home/ubuntu'; neuron.sh takes no directory with something else in it: name one of its own, as /home/neuron",
    ),
    "Neuron with an empty word": (
        with_neuron("ubuntu2404", ""),
        "'head_node.on_configured[0].args' must be [--venv, DIRECTORY] with an absolute path for neuron.sh, or left out, got ['']",
    ),
    "Neuron on Red Hat": (
        with_neuron("rhel9"),
        (
            "'head_node.on_configured[0].script' must not be neuron.sh on operating system 'rhel9', for which AWS publishes no Neuron SDK; use alinux2023, ubuntu2204 or ubuntu2404"
        ),
    ),
    "a key of the schema misspelt": (
        given(raw_overrides={"DeploymentSetting": {}}),
        "'raw_overrides.DeploymentSetting' is not a key of ParallelCluster; did you mean 'DeploymentSettings' or 'DevSettings'?",
    ),
    "a key of a queue misspelt": (
        queues(raw_overrides={"Netwroking": {}}),
        "'queues[0].raw_overrides.Netwroking' is not a key of ParallelCluster; did you mean 'Networking'?",
    ),
    "a raw key that a keyword says": (
        queues(raw_overrides={"CapacityType": "SPOT"}),
        "'queues[0].raw_overrides.CapacityType' has an option: use 'capacity', spot",
    ),
    "an unknown instance type": (
        queues(cpu(instance_type="trn1.32xlrge")),
        (
            "'queues[0].compute[0].instance_type' must be the name of an EC2 instance type, got 'trn1.32xlrge'; did you mean 'trn1.32xlarge' or 'trn1n.32xlarge' or 'trn1.2xlarge'?"
        ),
    ),
    "neither type nor types": (
        queues(ComputeResource(name="none")),
        ("'queues[0].compute[0].instance_type' must be given, or 'instance_types', got neither"),
    ),
    "no queue": (given(queues=[]), "'queues' must hold at least one queue, got none"),
    "an empty queue": (
        lambda _: {"queues": [queue(compute=[])]},
        "'queues[0].compute' must hold at least one compute resource, got none",
    ),
    "more nodes than a capacity block has": (
        queues(
            *(ComputeResource(instance_type="p5.48xlarge", name=name, max_count=40) for name in ("a", "b", "c")),
            **BLOCK,
        ),
        "'queues[0].compute[1].max_count' must be at most 64 with all that draw from 'cr-0123456789abcdef0', the largest capacity block, got 80",
    ),
    "more nodes than a capacity block of UltraServers has": (
        queues(ComputeResource(instance_type="p6e-gb200.36xlarge", max_count=19), **BLOCK),
        "'queues[0].compute[0].max_count' must be at most 18 with all that draw from 'cr-0123456789abcdef0', the largest capacity block, got 19",
    ),
    "a capacity block without its id": (
        queues(ComputeResource(instance_type="p5.48xlarge", max_count=4), capacity=UsageClass.CAPACITY_BLOCK),
        (
            "'queues[0].compute[0].reservation_id' must be given, here or as 'reservation_id' of the queue: which capacity block it is"
        ),
    ),
    "a capacity block of CPU nodes": (
        queues(cpu(), **BLOCK),
        "'queues[0].capacity' must be on-demand or spot for c5.xlarge, got capacity-block",
    ),
    "Gres for Trainium": (
        queues(trn1(slurm={"Gres": "neuron:16"}), placement=TIGHT),
        (
            "'queues[0].compute[0].slurm.Gres' is ParallelCluster's own to set; schedule whole nodes with 'exclusive' of the queue"
        ),
    ),
    "a parameter of nodes that is taken, whatever its value": (
        queues(cpu(slurm={"Weight": "x"})),
        "'queues[0].compute[0].slurm.Weight' is ParallelCluster's own to set; remove it",
    ),
    "a parameter of slurm.conf that is taken": (
        given(slurm=SlurmSettings(custom=[{"GresTypes": "neuron"}])),
        "'slurm.custom[0].GresTypes' is ParallelCluster's own to set; remove it",
    ),
    "nodes of another architecture": (
        queues(cpu(instance_type="c7g.xlarge")),
        "'queues[0].compute[0].instance_type' must be x86_64 as the head node's c5.xlarge, got c7g.xlarge of arm64",
    ),
    "nodes that ParallelCluster has no images for": (
        lambda _: {"head_node": head(instance_type="mac1.metal"), "queues": [queue(cpu(instance_type="mac1.metal"))]},
        (
            "'head_node.instance_type' must be of x86_64 or arm64, as ParallelCluster's images are, got mac1.metal of "
            "x86_64_mac"
        ),
    ),
    "a small head node": (
        lambda _: {"head_node": head(instance_type="c5.large"), "queues": [queue(cpu(max_count=500))]},
        "'head_node.instance_type' must have at least 16.0 GiB of memory for 500 nodes, got c5.large with 4 GiB",
    ),
    "a key that nobody may use": (
        lambda network: {
            "head_node": head(
                key_pair=ec2.KeyPair.from_key_pair_attributes(
                    network, "Key", key_pair_name="k", type=ec2.KeyPairType.ED25519
                )
            )
        },
        "'head_node.ssh_from' must be given with 'key_pair': the addresses that may use it, as '203.0.113.7/32'",
    ),
    "an elastic address in a private subnet": (
        given(head_node=HeadNode(instance_type="c5.xlarge", elastic_ip=True)),
        "'head_node.elastic_ip' must be left out in a private subnet; put the node into a public one with 'public'",
    ),
    "a public head node without an address": (
        given(head_node=head(elastic_ip=False)),
        (
            "'head_node.elastic_ip' must be true in a public subnet of a new network, which gives no address by itself: without one the node reaches nothing, got false"
        ),
    ),
    "a public login pool": (
        lambda network: {
            "login_pools": [LoginPool(name="login", instance_type="c5.large", subnet=network.public_subnets[0])]
        },
        (
            "'login_pools[0].subnet' must be private, or a public one that gives public addresses by itself; without one the nodes reach nothing, got a public subnet of a new network; leave it out, and connect through the head node"
        ),
    ),
    "a public queue without addresses": (
        lambda network: {"queues": [queue(subnets=[network.public_subnets[0]])]},
        (
            "'queues[0].public_ip' must be true in a public subnet of a new network, which gives no address by itself: without one the nodes reach nothing, got nothing"
        ),
    ),
    "a public queue that says so": (
        lambda network: {"queues": [queue(subnets=[network.public_subnets[0]], public_ip=False)]},
        "'queues[0].public_ip' must be true in a public subnet of a new network",
    ),
    "a small gp3 volume": (
        given(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", size_gib=5)])),
        "'shared_storage.ebs[0].size_gib' must be 6 or more for gp3, got 5: it has 3000 operations per second, and at most 500 for each GiB",
    ),
    "a reservation for two types": (
        queues(
            cpu(),
            cpu(instance_type="c5.2xlarge", reservation_id="cr-0123456789abcdef0"),
            reservation_id="cr-0123456789abcdef0",
        ),
        "'queues[0].compute[1].instance_type' must be c5.xlarge, as the other nodes of reservation 'cr-0123456789abcdef0', got c5.2xlarge; a reservation is of one type",
    ),
    "a path that IAM finds too long": (
        given(iam=ClusterIam(resource_prefix=f"/parallelcluster/{'p' * 496}/")),
        "'iam.resource_prefix' must have a path of at most 512 characters, got 514",
    ),
    "a test of GPUs without one": (
        queues(cpu(gpu_health_check=True)),
        "'queues[0].compute[0].gpu_health_check' must be left out for c5.xlarge: there is no GPU",
    ),
    "a queue's test of GPUs without one": (
        queues(trn1(), placement=TIGHT, gpu_health_check=True),
        "'queues[0].gpu_health_check' must be left out for trn1.32xlarge: there is no GPU",
    ),
    "a priority of nodes that never go": (
        queues(cpu(min_count=8, dynamic_node_priority=5)),
        "'queues[0].compute[0].dynamic_node_priority' must be left out where all nodes are always there",
    ),
    "a desktop for the world": (
        given(head_node=head(dcv=Dcv(allowed_from="0.0.0.0/0"))),
        "'head_node.dcv.allowed_from' must not be open to the world, got '0.0.0.0/0'; give the addresses of its users",
    ),
    "a remote desktop on a port of Slurm's": (
        given(head_node=head(dcv=Dcv(allowed_from="203.0.113.0/24", port=6820))),
        f"'head_node.dcv.port' {NOT_SLURMS_PORT}, got 6820",
    ),
    "SSH from no address": (
        given(head_node=head(ssh_from="anywhere")),
        "'head_node.ssh_from' must be an IPv4 block or a prefix list, as 203.0.113.7/32, got 'anywhere'",
    ),
    "an hour for the head node": (
        given(timeouts=Timeouts(head_node=Duration.minutes(60))),
        (
            "'timeouts.head_node' must be less than an hour, which CloudFormation waits for the whole cluster, got 60 minutes; put what takes long into an image"
        ),
    ),
    "a snapshot for an array": (
        given(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", raid_volumes=2, snapshot_id="snap-12345678")])),
        "'shared_storage.ebs[0].snapshot_id' must be left out with 'raid_volumes': ParallelCluster formats the volumes that it joins",
    ),
    "a size of a volume that exists": (
        given(shared_storage=SharedStorage(ebs=[SharedEbs(at="/a", volume_id="vol-12345678", size_gib=50)])),
        "'shared_storage.ebs[0].volume_id' must stand alone, but for 'at', 'name' and 'key': it names a volume that exists",
    ),
    "a directory of the system": (
        given(shared_storage=SharedStorage(ebs=[SharedEbs(at="/srv")])),
        "'shared_storage.ebs[0].at' must not be a directory of the system, got /srv",
    ),
    "a script that is no address": (
        given(head_node=head(on_configured=[CustomAction(script="/home/me/install.sh")])),
        (
            "'head_node.on_configured[0].script' must be an address as s3://bucket/key or https://host/path, or a file of the folder of scripts, got '/home/me/install.sh'"
        ),
    ),
    "a web page for a script": (
        given(head_node=head(on_configured=[CustomAction(script="https://github.com/me/repo/blob/main/a/x.sh")])),
        "'head_node.on_configured[0].script' must be the address of a file, got a web page that shows it, 'https://github.com/me/repo/blob/main/a/x.sh'; use 'https://raw.githubusercontent.com/me/repo/main/a/x.sh'",
    ),
    "a password for a script": (
        given(head_node=head(on_start=[CustomAction(script="https://me:secret@files.example/x.sh")])),
        "'head_node.on_start[0].script' must be a URL without user and password, as https://host/path; take out what stands before '@'",
    ),
    "a presigned script": (
        given(head_node=head(on_updated=[CustomAction(script="https://b.s3.amazonaws.com/x.sh?a&X-Amz-Signature=0")])),
        "'head_node.on_updated[0].script' must not be presigned, which is for 7 days at most, and nodes start later, too; use s3://bucket/key",
    ),
    "a sign that nobody sees in the key of a script": (
        given(head_node=head(on_configured=[CustomAction(script="s3://bucket/x\u200b.sh")])),
        "'head_node.on_configured[0].script' must be without signs that nobody sees, got 's3://bucket/x\\u200b.sh' with U+200B (ZERO WIDTH SPACE); take them out",
    ),
    "a key of a script that S3 does not take": (
        given(head_node=head(on_configured=[CustomAction(script=f"s3://bucket/{'ä' * 513}")])),
        "'head_node.on_configured[0].script' must have a key of at most 1024 bytes, got 1026",
    ),
    "a folder for a script": (
        given(head_node=head(on_configured=[CustomAction(script="s3://bucket/folder/")])),
        "'head_node.on_configured[0].script' must be one file, got the folder 's3://bucket/folder/'; name the file in it",
    ),
    "a key that ends early": (
        given(head_node=head(on_configured=[CustomAction(script="s3://bucket/a b?c#d.sh")])),
        "'head_node.on_configured[0].script' must have a key without '?', as nodes read it as a web address, got 's3://bucket/a b?c#d.sh'; copy the script to another key",
    ),
    "a key that begins with a slash": (
        given(head_node=head(on_configured=[CustomAction(script="s3://bucket//x.sh")])),
        "'head_node.on_configured[0].script' must have one '/' before its key, as nodes read it as a web address, got 's3://bucket//x.sh'; copy the script to another key",
    ),
    "two addresses for a script": (
        given(head_node=head(on_updated=[CustomAction(script="s3://bucket/x.sh,s3://bucket/y.sh")])),
        "'head_node.on_updated[0].script' must be one address alone, got 's3://bucket/x.sh,s3://bucket/y.sh'; write one, and in a list one item each",
    ),
    "a bucket for a script": (
        given(head_node=head(on_configured=[CustomAction(script="s3://bucket/")])),
        "'head_node.on_configured[0].script' must be one file, got the folder 's3://bucket/'; name the file in it",
    ),
    "a reference for a script": (
        given(head_node=head(on_configured=[CustomAction(script="s3://bucket/{{resolve:ssm:/x}}")])),
        "'head_node.on_configured[0].script' must be an address as s3://bucket/key or https://host/path, or a file of the folder of scripts, got 's3://bucket/{{resolve:ssm:/x}}'",
    ),
    "a remote desktop on NFS's port": (
        given(head_node=head(dcv=Dcv(allowed_from="203.0.113.0/24", port=2049))),
        "'head_node.dcv.port' must be another port than that of the head node's NFS server, got 2049",
    ),
    "an action without a script": (
        given(head_node=head(on_start=[CustomAction(script="setup.sh")])),
        (
            "'head_node.on_start[0].script' must be an address as s3://bucket/key or https://host/path, or a file of the folder of scripts, got 'setup.sh'"
        ),
    ),
    "a login pool of negative size": (
        given(login_pools=[LoginPool(name="login", instance_type="c5.large", count=-1)]),
        "'login_pools[0].count' must be 0 to 65531, got -1",
    ),
    "a check that there is not": (
        given(suppress_validators=["type:HeadNodeMemorySizeValidtor"]),
        (
            "'suppress_validators[0]' must be 'type:' with the name of a check of ParallelCluster, or ALL, got 'type:HeadNodeMemorySizeValidtor'; did you mean 'type:HeadNodeMemorySizeValidator' or 'type:HeadNodeLaunchTemplateValidator' or 'type:SchedulableMemoryValidator'?"
        ),
    ),
    "all checks in small letters": (
        given(suppress_validators=["all"]),
        "'suppress_validators[0]' must be 'type:' with the name of a check of ParallelCluster, or ALL, got 'all'; did you mean 'ALL'?",
    ),
    "a check with a blank at its end": (
        given(suppress_validators=["type:HeadNodeMemorySizeValidator "]),
        "'suppress_validators[0]' must be 'type:' with the name of a check of ParallelCluster, or ALL, got 'type:HeadNodeMemorySizeValidator '; use 'type:HeadNodeMemorySizeValidator'",
    ),
    "a check without its 'type:'": (
        given(suppress_validators=["HeadNodeMemorySizeValidator"]),
        "'suppress_validators[0]' must be 'type:' with the name of a check of ParallelCluster, or ALL, got 'HeadNodeMemorySizeValidator'; use 'type:HeadNodeMemorySizeValidator'",
    ),
    "a cluster name with an underscore": (
        given(cluster_name="my_cluster"),
        "'cluster_name' must be a letter and then letters, digits and hyphens, at most 60 characters, got 'my_cluster'",
    ),
    "a cluster named like its stack": (
        given(cluster_name="Stack"),
        "'cluster_name' must be another than the stack's, got 'Stack'; ParallelCluster makes a stack of that name",
    ),
    "an old version": (
        given(version="2.11.9"),
        "'version' must be ParallelCluster's version 3, as 3.16.1, got '2.11.9'",
    ),
    "a version without SuppressValidators": (given(version="3.6.0"), "'version' must be 3.10.0 or later, got '3.6.0'"),
    "a version that never was": (
        given(version="3.14.9"),
        "'version' must be one that was released, the newest of 3.14 is 3.14.2 (as of 2026-11-27), got '3.14.9'",
    ),
    "a version with a leading zero": (
        given(version="3.016.1"),
        "'version' must be ParallelCluster's version 3, as 3.16.1, got '3.016.1'",
    ),
    "more nodes than addresses": (
        lambda _: {"queues": [queue(cpu(max_count=40000))], "head_node": head(instance_type="c5.9xlarge")},
        "'network.accelerator_cidr' must hold 40000 addresses (compute/c5-xlarge 40000 x c5.xlarge x 1 = 40000), got 10.1.128.0/17 with 32763; use a /16, as 'secondary_cidr' of a new network may be",
    ),
}


@pytest.fixture(scope="module")
def network() -> TrainingNetwork:
    """The network of all refused clusters."""
    return new_network(new_stack())


@pytest.mark.parametrize(("changes", "problem"), GRID.values(), ids=GRID)
def test_fails(network: TrainingNetwork, changes: Changes, problem: str) -> None:
    construct_id = f"Cluster{len(Stack.of(network).node.children)}"
    usual = {"network": network, "head_node": head(), "queues": [queue()]}
    with pytest.raises(ConfigurationError) as error:
        ParallelCluster(Stack.of(network), construct_id, **{**usual, **changes(network)})
    assert error.value.path == f"Stack/{construct_id}"
    assert [one for one in error.value.problems if one.startswith(problem)], error.value.problems


def test_fails_in_a_region_without_parallelcluster() -> None:
    stack = new_stack(region="ap-south-2")
    network = TrainingNetwork(stack, "Network", zone="ap-south-2a")
    with pytest.raises(ConfigurationError) as error:
        ParallelCluster(stack, "Cluster", network=network, head_node=head(), queues=[queue()])
    assert error.value.problems[0] == (
        "'region' must be one that ParallelCluster 3.16.1 supports, got 'ap-south-2'; those of its area are ap-east-1, "
        "ap-northeast-1, ap-northeast-2, ap-south-1, ap-southeast-1, ap-southeast-2, ap-southeast-3, ap-southeast-5, … "
        "(all are in ParallelCluster's user guide, 'Supported Regions')"
    )


def test_fails_with_all_problems_at_once(stack: Stack) -> None:
    with pytest.raises(ConfigurationError) as error:
        ParallelCluster(
            stack,
            "Cluster",
            network=new_network(stack),
            head_node=head(),
            queues=[queue(trn1(), cpu(min_count=9), name="Q")],
            operating_system="alinux2",
        )
    assert len(error.value.problems) == 4


def test_fails_with_the_name_of_another_cluster_of_the_app() -> None:
    app = App()
    first, second = new_stack(app, name="First"), new_stack(app, name="Second")
    for stack in (first, second):
        new_network(stack)
    usual = {"head_node": head(), "queues": [queue()], "cluster_name": "train"}
    ParallelCluster(first, "Cluster", network=first.node.find_child("Network"), **usual)
    with pytest.raises(
        ConfigurationError, match="got 'train' a second time; the provider deletes the cluster of that name"
    ):
        ParallelCluster(second, "Cluster", network=second.node.find_child("Network"), **usual)


def test_fails_with_a_provider_of_another_version(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    provider = ParallelClusterProvider(stack, "Provider", version="3.15.0")
    with pytest.raises(ConfigurationError, match=r"'version' must be that of the 'provider', 3\.15\.0, got 3\.16\.1"):
        build(provider=provider, version="3.16.1")


def test_tokens_pass_where_they_may_stand() -> None:
    stack = Stack(App(), "Stack", env=Environment())  # neither account nor Region is known
    vpc = ec2.Vpc(stack, "Vpc")
    network = TrainingNetwork.from_existing(
        stack, "Network", vpc=vpc, accelerator_subnet=vpc.private_subnets[0], zone="us-east-1a",
        public_subnets=vpc.public_subnets,
    )  # fmt: skip
    cluster = ParallelCluster(stack, "Cluster", network=network, head_node=head(), queues=[queue()])
    assert cluster.config["HeadNode"]["InstanceType"] == "c5.xlarge"
