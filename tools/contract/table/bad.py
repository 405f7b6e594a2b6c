"""Clusters that cannot work."""

from aws_cdk import Duration

from cdk_trainyard.instances import UsageClass
from cdk_trainyard.parallelcluster import (
    AllocationStrategy,
    ClusterIam,
    ComputeResource,
    Dcv,
    ParallelClusterMonitoring,
    Placement,
    Queue,
    RootVolume,
    SlurmSettings,
)
from tools.contract.table.clusters import (
    BLOCK,
    GROUP_ARN,
    PUBLIC,
    Candidate,
    Imported,
    accounting,
    cluster,
    cpu,
    flexible,
    head,
    login,
    p5,
    queue,
    trn1,
)


def bad(parts: Imported) -> dict[str, Candidate]:
    """Return clusters that cannot work.

    Args:
        parts: Parts that exist already.
    """
    tight = Placement.CLUSTER
    return {
        "a cluster name with an underscore": cluster(cluster_name="my_cluster"),
        "a cluster name that begins with a digit": cluster(cluster_name="1cluster"),
        "a cluster name of 61": cluster(cluster_name="c" * 61),
        "a cluster name of 41 with accounting": cluster(cluster_name="c" * 41, slurm=accounting(parts)),
        "a Region without ParallelCluster": cluster(region="ap-south-2"),
        "alinux2": cluster(operating_system="alinux2"),
        "ubuntu2004": cluster(operating_system="ubuntu2004"),
        "an unknown operating system": cluster(operating_system="alinux2024"),
        "Rocky without an image": cluster(operating_system="rocky8"),
        "a queue in upper case": cluster(queue(name="Compute")),
        "a queue with an underscore": cluster(queue(name="my_queue")),
        "a queue name of 26": cluster(queue(name="q" * 26)),
        "a queue named default": cluster(queue(name="default")),
        "two queues of one name": cluster(queue(), queue()),
        "two kinds of nodes of one name": cluster(queue(cpu(), cpu())),
        "a kind of node in upper case": cluster(queue(cpu(name="C5"))),
        "51 queues": cluster(*(queue(name=f"q{index}") for index in range(51)), head=head(instance_type="c5.9xlarge")),
        "51 kinds of nodes": cluster(
            queue(*(cpu(name=f"c{index}") for index in range(51))), head=head(instance_type="c5.9xlarge")
        ),
        "11 login pools": cluster(login_pools=[login(name=f"l{index}") for index in range(11)]),
        "EFA on a type without": cluster(queue(cpu(instance_type="trn1.2xlarge", efa=True), placement=tight)),
        "EFA on a CPU type without": cluster(queue(cpu(efa=True), placement=tight)),
        "EFA without a placement decision": cluster(queue(trn1())),
        "EFA on one of several types only": cluster(
            queue(flexible("c5n.9xlarge", "c5.9xlarge", efa=True), placement=tight)
        ),
        "EFA in two subnets": cluster(
            queue(
                flexible("c5n.9xlarge", efa=True),
                placement=Placement.ANYWHERE,
                subnets=[parts.private, parts.other_zone],
            )
        ),
        "one type in two subnets": cluster(queue(subnets=[parts.private, parts.other_zone])),
        "the same subnet twice": cluster(
            queue(flexible("c5.xlarge", "c6i.xlarge"), subnets=[parts.private, parts.private])
        ),
        "two subnets of one zone": cluster(
            queue(flexible("c5.xlarge", "c6i.xlarge"), subnets=[parts.private, parts.public])
        ),
        "a placement group in two subnets": cluster(
            queue(flexible("c5.xlarge", "c6i.xlarge"), subnets=[parts.private, parts.other_zone], placement=tight)
        ),
        "several network cards in a public subnet": cluster(queue(trn1(), placement=tight, subnets=[parts.public])),
        "EFA on one card in a public subnet": cluster(
            queue(cpu(instance_type="c5n.18xlarge", efa=True), placement=tight, subnets=[parts.public])
        ),
        "a placement group of a type that takes none": cluster(queue(cpu(instance_type="t3.large"), placement=tight)),
        "fewer at most than at least": cluster(queue(cpu(min_count=4, max_count=2))),
        "at most none": cluster(queue(cpu(max_count=0))),
        "a negative minimum": cluster(queue(cpu(min_count=-1))),
        "a capacity block with a minimum of its own": cluster(p5(min_count=2)),
        "an empty capacity block": cluster(p5(max_count=0)),
        "a capacity block without an id": cluster(
            Queue(
                name="p5",
                compute=[ComputeResource(instance_type="p5.48xlarge", max_count=4)],
                capacity=UsageClass.CAPACITY_BLOCK,
            )
        ),
        "a capacity block of a type without": cluster(p5(instance_type="c5.xlarge")),
        "a capacity block with an order of types": cluster(
            Queue(
                name="p5",
                compute=[flexible("p5.48xlarge", max_count=4)],
                capacity=UsageClass.CAPACITY_BLOCK,
                reservation_id=BLOCK,
                allocation=AllocationStrategy.LOWEST_PRICE,
            )
        ),
        "Spot of a type without": cluster(
            queue(cpu(instance_type="trn2u.48xlarge"), capacity=UsageClass.SPOT, placement=tight)
        ),
        "several types for one reservation": cluster(queue(flexible("c5.xlarge", "c6i.xlarge"), reservation_id=BLOCK)),
        "a reservation that is two things": cluster(queue(reservation_id=BLOCK, reservation_group_arn=GROUP_ARN)),
        "an order of Spot on demand": cluster(
            queue(
                flexible("c5.xlarge", "c6i.xlarge"),
                capacity=UsageClass.ON_DEMAND,
                allocation=AllocationStrategy.CAPACITY_OPTIMIZED,
            )
        ),
        "an order of on demand on Spot": cluster(
            queue(
                flexible("c5.xlarge", "c6i.xlarge"),
                capacity=UsageClass.SPOT,
                allocation=AllocationStrategy.PRIORITIZED,
            )
        ),
        "types with different vCPUs": cluster(queue(flexible("c5.xlarge", "c5.2xlarge"))),
        "types with different GPUs": cluster(queue(flexible("g5.12xlarge", "c5.12xlarge"))),
        "a type twice in a list": cluster(queue(flexible("c5.xlarge", "c5.xlarge"))),
        "a type and a list of types": cluster(queue(cpu(instance_types=["c6i.xlarge"]))),
        "neither a type nor a list": cluster(queue(ComputeResource(name="none"))),
        "an Arm node under an x86 head": cluster(queue(cpu(instance_type="c7g.xlarge"))),
        "a head node too small for its nodes": cluster(queue(cpu(max_count=1000)), head=head(instance_type="c5.large")),
        "more memory than there is": cluster(queue(cpu(schedulable_memory_mib=9000))),
        "no memory": cluster(queue(cpu(schedulable_memory_mib=0))),
        "a negative price": cluster(queue(cpu(spot_price=-1.0), capacity=UsageClass.SPOT)),
        "a priority of 0": cluster(queue(cpu(static_node_priority=0))),
        "Gres of a kind of node": cluster(queue(cpu(slurm={"Gres": "neuron:16"}))),
        "State of a queue": cluster(queue(slurm={"State": "UP"})),
        "GresTypes": cluster(slurm=SlurmSettings(custom=[{"GresTypes": "neuron"}])),
        "an accounting parameter beside a database": cluster(
            slurm=SlurmSettings(custom=[{"AccountingStorageHost": "x"}], accounting=accounting(parts).accounting)
        ),
        "nodes with a reserved name": cluster(slurm=SlurmSettings(custom=[{"NodeName": "a-st-b-1", "CPUs": 2}])),
        "a database with a scheme": cluster(slurm=accounting(parts, endpoint="mysql://db.example")),
        "a database name in upper case": cluster(slurm=accounting(parts, schema_name="Jobs")),
        "a prefix with a space": cluster(iam=ClusterIam(resource_prefix="my prefix")),
        "a name prefix of 31": cluster(iam=ClusterIam(resource_prefix="p" * 31)),
        "a disk smaller than the image": cluster(queue(root_volume=RootVolume(size_gib=20))),
        "a head disk smaller than the image": cluster(head=head(root_volume=RootVolume(size_gib=20))),
        "SSH from no address": cluster(head=head(ssh_from="anywhere")),
        "login SSH from no address": cluster(login_pools=[login(ssh_from="anywhere")]),
        "a desktop for no address": cluster(head=head(dcv=Dcv(allowed_from="anywhere"))),
        "a negative number of login nodes": cluster(login_pools=[login(count=-1)]),
        "a grace of 2 minutes": cluster(login_pools=[login(grace_period=Duration.minutes(2))]),
        "a login pool in upper case": cluster(login_pools=[login(name="Login")]),
        "an image that is none": cluster(image_id="image-1"),
        "a queue image that is none": cluster(queue(image_id="image-1")),
        "a log period that there is not": cluster(monitoring=ParallelClusterMonitoring(log_retention_days=8)),
        "a reserved tag": cluster(tags={"parallelcluster:version": "1"}),
        "a reserved tag of a queue": cluster(queue(tags={"parallelcluster:version": "1"})),
        "41 tags": cluster(tags={f"tag{index}": "x" for index in range(41)}),
        "a script that is no address": cluster(
            queue(raw_overrides={"CustomActions": {"OnNodeStart": {"Args": ["x"]}}})
        ),
        "an unknown key": cluster(raw_overrides={"HeadNodes": {}}),
        "an unknown key of the head node": cluster(head=head(raw_overrides={"Netwroking": {"SubnetId": PUBLIC}})),
        "an unknown key of a queue": cluster(queue(raw_overrides={"ComputeSetting": {}})),
        "an unknown key of a kind of node": cluster(queue(cpu(raw_overrides={"MaximumCount": 2}))),
        "text for a number": cluster(
            queue(cpu(raw_overrides={"LaunchTemplateOverrides": {"LaunchTemplateId": "lt-1", "Version": "x"}}))
        ),
        "a choice that there is not": cluster(raw_overrides={"DeploymentSettings": {"DefaultUserHome": "Nowhere"}}),
        "a section that lacks a key": cluster(raw_overrides={"DirectoryService": {"DomainName": "corp.example"}}),
        "a list for a section": cluster(raw_overrides={"DeploymentSettings": ["Local"]}),
        "security groups instead of additional ones": cluster(
            queue(raw_overrides={"Networking": {"SecurityGroups": ["sg-" + "a" * 17]}})
        ),
        "a role and policies": cluster(
            queue(
                raw_overrides={"Iam": {"InstanceRole": "arn:aws:iam::111111111111:role/parallelcluster/x"}},
                policies=[parts.boundary],
            )
        ),
    }
