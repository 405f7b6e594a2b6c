"""Clusters that work."""

from aws_cdk import Duration

from cdk_trainyard.parallelcluster import (
    AllocationStrategy,
    ClusterIam,
    ClusterMonitoring,
    ComputeResource,
    CustomAction,
    Dcv,
    Placement,
    Queue,
    QueueCapacity,
    Reservation,
    RootVolume,
    SharedEbs,
    SharedEfs,
    SharedLustre,
    SharedOntap,
    SharedOpenZfs,
    SlurmSettings,
    Timeouts,
    VolumeType,
)
from cdk_trainyard.parallelcluster.resolved import ResolvedCluster
from tools.contract.table.clusters import (
    BLOCK,
    GROUP_ARN,
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


def good(parts: Imported) -> dict[str, ResolvedCluster]:
    """Return clusters that work.

    Args:
        parts: Parts that exist already.
    """
    tight, loose = Placement.cluster(), Placement.anywhere()
    return {
        "hello: CPU nodes, EBS": cluster(queue(placement=tight), storage=[SharedEbs(at="/shared")]),
        "Trainium with EFA and Lustre": cluster(
            queue(trn1(), placement=tight), storage=[SharedLustre(file_system=parts.lustre)]
        ),
        "EFA, placed anywhere": cluster(queue(trn1(), placement=loose)),
        "GPU nodes on a capacity block": cluster(p5()),
        "a block for each kind of node": cluster(
            Queue(
                name="p5",
                compute=[
                    ComputeResource(
                        instance_type="p5.48xlarge", max_count=2, reservation=Reservation(reservation_id=BLOCK)
                    )
                ],
                capacity=QueueCapacity.capacity_block(),
            )
        ),
        "several queues and kinds of nodes": cluster(
            queue(trn1(min_count=2), placement=tight),
            queue(cpu(), cpu(instance_type="c5.2xlarge"), name="cpu"),
            queue(cpu(instance_type="g5.xlarge"), name="gpu", gpu_health_check=True),
        ),
        "Spot, several types": cluster(
            queue(
                flexible("c5.xlarge", "c5a.xlarge", "c6i.xlarge", spot_price=0.2),
                capacity=QueueCapacity.spot(allocation=AllocationStrategy.CAPACITY_OPTIMIZED),
            )
        ),
        "on demand, in the order of the list": cluster(
            queue(
                flexible("c5.xlarge", "c6i.xlarge"),
                capacity=QueueCapacity.on_demand(allocation=AllocationStrategy.PRIORITIZED),
            )
        ),
        "several types in two zones": cluster(
            queue(flexible("c5.xlarge", "c6i.xlarge"), subnets=[parts.private, parts.other_zone])
        ),
        "a reservation": cluster(queue(trn1(), capacity=QueueCapacity.odcr(BLOCK))),
        "a resource group of reservations": cluster(queue(trn1(), capacity=QueueCapacity.odcr(group_arn=GROUP_ARN))),
        "Arm head and nodes": cluster(queue(cpu(instance_type="c7g.xlarge")), head=head(instance_type="c7g.xlarge")),
        "login nodes": cluster(pools=[login(count=2, grace_period=Duration.minutes(3))]),
        "no login node yet": cluster(pools=[login(count=0)]),
        "an accounting database": cluster(slurm=accounting(parts, schema_name="jobs_1")),
        "a name of 60": cluster(name="c" * 60),
        "a name of 40 with accounting": cluster(name="c" * 40, slurm=accounting(parts)),
        "Ubuntu 24.04": cluster(operating_system="ubuntu2404"),
        "Rocky with an image": cluster(operating_system="rocky9", image_id="ami-" + "a" * 17),
        "an ED25519 key on Ubuntu": cluster(
            head=head(key_pair=parts.ed25519, ssh_from="10.0.0.0/8"), operating_system="ubuntu2204"
        ),
        "SSH from a prefix list": cluster(head=head(ssh_from="pl-12345678")),
        "a remote desktop": cluster(head=head(instance_type="g5.xlarge", dcv=Dcv(allowed_from="10.0.0.0/8"))),
        "50 queues": cluster(*(queue(name=f"q{index}") for index in range(50)), head=head(instance_type="c5.9xlarge")),
        "an existing EFS": cluster(storage=[SharedEfs(at="/home", file_system=parts.efs)]),
        "an EFS that ParallelCluster makes": cluster(storage=[SharedEfs(at="/apps")]),
        "OpenZFS and ONTAP": cluster(
            storage=[
                SharedOpenZfs(at="/home", volume_id="fsvol-" + "a" * 17),
                SharedOntap(at="/data", volume_id="fsvol-" + "b" * 17),
            ]
        ),
        "a Lustre that ParallelCluster makes": cluster(storage=[SharedLustre(capacity_gib=4800)]),
        "a scratch Lustre": cluster(storage=[SharedLustre(capacity_gib=1200, deployment_type="SCRATCH_2")]),
        "a hard disk Lustre": cluster(
            storage=[
                SharedLustre(
                    capacity_gib=6000, deployment_type="PERSISTENT_1", storage_type="HDD", throughput_mb_s_per_tib=12
                )
            ]
        ),
        "a RAID array": cluster(storage=[SharedEbs(at="/raid", raid_volumes=2)]),
        "a fast volume": cluster(storage=[SharedEbs(at="/fast", type=VolumeType.IO2, size_gib=100, iops=20000)]),
        "a fast gp3 volume": cluster(storage=[SharedEbs(at="/fast", size_gib=500, iops=8000, throughput_mb_s=1000)]),
        "an existing volume": cluster(storage=[SharedEbs(at="/old", volume_id="vol-" + "a" * 17)]),
        "a larger disk": cluster(
            queue(root_volume=RootVolume(size_gib=200)), head=head(root_volume=RootVolume(size_gib=500))
        ),
        "local disks elsewhere": cluster(queue(trn1(), placement=tight, scratch_at="/local_scratch")),
        "priorities and memory": cluster(
            queue(cpu(static_node_priority=1, dynamic_node_priority=10, schedulable_memory_mib=7000)),
            slurm=SlurmSettings(memory_scheduling=True, idle_time=Duration.minutes(60)),
        ),
        "Slurm's own parameters": cluster(
            queue(cpu(slurm={"Sockets": 1}), slurm={"PriorityTier": 10}),
            slurm=SlurmSettings(custom=[{"JobCompType": "jobcomp/filetxt"}, {"NodeName": "external[1-2]", "CPUs": 4}]),
        ),
        "no DNS of its own": cluster(slurm=SlurmSettings(managed_dns=False)),
        "tags": cluster(queue(cpu(tags={"a": "1"}), tags={"b": "2"}), tags={"c": "3"}),
        "a boundary and a prefix": cluster(
            iam=ClusterIam(permissions_boundary=parts.boundary, resource_prefix="/parallelcluster/mine/")
        ),
        "longer timeouts": cluster(
            timeouts=Timeouts(head_node=Duration.minutes(50), compute_node=Duration.minutes(45))
        ),
        "little monitoring": cluster(
            monitoring=ClusterMonitoring(log_retention_days=30, dashboard=False, alarms=False, keep_logs=False)
        ),
        "scripts from addresses": cluster(
            queue(
                on_configured=[
                    CustomAction.from_url("https://example.com/a.sh", "x"),
                    CustomAction.from_url("s3://b/c"),
                ]
            ),
            head=head(on_configured=[CustomAction.from_url("s3://bucket/key.sh")]),
        ),
        "raw keys": cluster(
            queue(
                cpu(extra={"Efa": {"Enabled": False}}),
                extra={"Networking": {"Proxy": {"HttpProxyAddress": "http://p:1"}}},
            ),
            head=head(extra={"Imds": {"Secured": False}}),
            extra={"DeploymentSettings": {"DefaultUserHome": "Local"}},
        ),
        "one thread for each core": cluster(queue(cpu(simultaneous_multithreading=False))),
        "several types with one thread": cluster(
            queue(flexible("c5.xlarge", "c6i.xlarge", simultaneous_multithreading=False))
        ),
        "a public queue": cluster(queue(subnets=[parts.public], public_ip=True)),
    }
