"""Clusters that work."""

from aws_cdk import Duration

from cdk_trainyard.instances import UsageClass
from cdk_trainyard.parallelcluster import (
    AllocationStrategy,
    ClusterIam,
    ComputeResource,
    CustomAction,
    Dcv,
    ParallelClusterMonitoring,
    Placement,
    Queue,
    RootVolume,
    SharedEbs,
    SharedEfs,
    SharedFsxVolume,
    SharedStorage,
    SlurmSettings,
    Timeouts,
    VolumeType,
)
from cdk_trainyard.storage import Mount
from tools.contract.table.clusters import (
    BLOCK,
    GROUP_ARN,
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


def good(parts: Imported) -> dict[str, Candidate]:
    """Return clusters that work.

    Args:
        parts: Parts that exist already.
    """
    tight, loose = Placement.CLUSTER, Placement.ANYWHERE
    return {
        "hello: CPU nodes, EBS": cluster(
            queue(placement=tight), shared_storage=SharedStorage(ebs=[SharedEbs(at="/shared")])
        ),
        "Trainium with EFA and Lustre": cluster(
            queue(trn1(), placement=tight), mounts=[Mount(file_system=parts.lustre)]
        ),
        "EFA, placed anywhere": cluster(queue(trn1(), placement=loose)),
        "GPU nodes on a capacity block": cluster(p5()),
        "a block for each kind of node": cluster(
            Queue(
                name="p5",
                compute=[ComputeResource(instance_type="p5.48xlarge", max_count=2, reservation_id=BLOCK)],
                capacity=UsageClass.CAPACITY_BLOCK,
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
                capacity=UsageClass.SPOT,
                allocation=AllocationStrategy.CAPACITY_OPTIMIZED,
            )
        ),
        "on demand, in the order of the list": cluster(
            queue(
                flexible("c5.xlarge", "c6i.xlarge"),
                capacity=UsageClass.ON_DEMAND,
                allocation=AllocationStrategy.PRIORITIZED,
            )
        ),
        "several types in two zones": cluster(
            queue(flexible("c5.xlarge", "c6i.xlarge"), subnets=[parts.private, parts.other_zone])
        ),
        "a reservation": cluster(queue(trn1(), reservation_id=BLOCK)),
        "a reservation of two queues": cluster(
            queue(trn1(), reservation_id=BLOCK), queue(trn1(), name="second", reservation_id=BLOCK)
        ),
        "a resource group of reservations": cluster(queue(trn1(), reservation_group_arn=GROUP_ARN)),
        "Arm head and nodes": cluster(queue(cpu(instance_type="c7g.xlarge")), head=head(instance_type="c7g.xlarge")),
        "login nodes": cluster(login_pools=[login(count=2, grace_period=Duration.minutes(3))]),
        "no login node yet": cluster(login_pools=[login(count=0)]),
        "an accounting database": cluster(slurm=accounting(parts, schema_name="jobs_1")),
        "a name of 60": cluster(cluster_name="c" * 60),
        "a name of 40 with accounting": cluster(cluster_name="c" * 40, slurm=accounting(parts)),
        "Ubuntu 24.04": cluster(operating_system="ubuntu2404"),
        "Rocky with an image": cluster(operating_system="rocky9", image_id="ami-" + "a" * 17),
        "an ED25519 key on Ubuntu": cluster(
            head=head(key_pair=parts.ed25519, ssh_from="10.0.0.0/8"), operating_system="ubuntu2204"
        ),
        "SSH from a prefix list": cluster(head=head(ssh_from="pl-12345678")),
        "a remote desktop": cluster(head=head(instance_type="g5.xlarge", dcv=Dcv(allowed_from="10.0.0.0/8"))),
        "50 queues": cluster(*(queue(name=f"q{index}") for index in range(50)), head=head(instance_type="c5.9xlarge")),
        "an existing EFS": cluster(
            shared_storage=SharedStorage(
                efs=[SharedEfs(at="/home", file_system_id="fs-" + "b" * 17, security_group=parts.group.security_group)]
            )
        ),
        "an EFS that ParallelCluster makes": cluster(shared_storage=SharedStorage(efs=[SharedEfs(at="/apps")])),
        "OpenZFS and ONTAP": cluster(
            shared_storage=SharedStorage(
                openzfs=[SharedFsxVolume(at="/home", volume_id="fsvol-" + "a" * 17)],
                ontap=[SharedFsxVolume(at="/data", volume_id="fsvol-" + "b" * 17)],
            )
        ),
        "a RAID array": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/raid", raid_volumes=2)])),
        "a fast volume": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/fast", type=VolumeType.IO2, size_gib=100, iops=20000)])
        ),
        "a fast gp3 volume": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/fast", size_gib=500, iops=8000, throughput_mb_s=1000)])
        ),
        "the smallest gp3 volume": cluster(shared_storage=SharedStorage(ebs=[SharedEbs(at="/small", size_gib=6)])),
        "an existing volume": cluster(
            shared_storage=SharedStorage(ebs=[SharedEbs(at="/old", volume_id="vol-" + "a" * 17)])
        ),
        "a larger disk": cluster(
            queue(root_volume=RootVolume(size_gib=200)), head=head(root_volume=RootVolume(size_gib=500))
        ),
        "local disks elsewhere": cluster(queue(trn1(), placement=tight, scratch_at="/local_scratch")),
        "priorities and memory": cluster(
            queue(cpu(static_node_priority=1, dynamic_node_priority=10, schedulable_memory_mib=7000)),
            slurm=SlurmSettings(memory_scheduling=True, idle_time=Duration.minutes(60)),
        ),
        "Slurm's own parameters": cluster(
            queue(cpu(slurm={"Sockets": 1, "CoresPerSocket": 2, "ThreadsPerCore": 2}), slurm={"PriorityTier": 10}),
            slurm=SlurmSettings(custom=[{"JobCompType": "jobcomp/filetxt"}, {"NodeName": "external[1-2]", "CPUs": 4}]),
        ),
        "no DNS of its own": cluster(slurm=SlurmSettings(managed_dns=False)),
        "tags": cluster(queue(cpu(tags={"a": "1"}), tags={"b": "2"}), tags={"c": "3"}),
        "a boundary and a prefix": cluster(
            iam=ClusterIam(permissions_boundary=parts.boundary, resource_prefix="/parallelcluster/mine/")
        ),
        "the longest prefix": cluster(iam=ClusterIam(resource_prefix=f"/parallelcluster/{'p' * 494}/{'n' * 30}")),
        "longer timeouts": cluster(
            timeouts=Timeouts(head_node=Duration.minutes(50), compute_node=Duration.minutes(45))
        ),
        "little monitoring": cluster(
            monitoring=ParallelClusterMonitoring(log_retention_days=30, dashboard=False, alarms=False, keep_logs=False)
        ),
        "scripts from addresses": cluster(
            queue(
                on_configured=[
                    CustomAction(script="https://example.com/a.sh", args=["x"]),
                    CustomAction(script="s3://bucket/c"),
                ]
            ),
            head=head(on_configured=[CustomAction(script="s3://bucket/key.sh")]),
        ),
        "raw keys": cluster(
            queue(
                cpu(raw_overrides={"Efa": {"GdrSupport": False}}),
                raw_overrides={"Networking": {"Proxy": {"HttpProxyAddress": "http://p:1"}}},
            ),
            head=head(raw_overrides={"Imds": {"Secured": False}}),
            raw_overrides={"DeploymentSettings": {"DefaultUserHome": "Local"}},
        ),
        "one thread for each core": cluster(queue(cpu(threads_per_core=1))),
        "several types with one thread": cluster(queue(flexible("c5.xlarge", "c6i.xlarge", threads_per_core=1))),
        "a public queue": cluster(queue(subnets=[parts.public], public_ip=True)),
    }
