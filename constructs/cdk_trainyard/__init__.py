"""AWS CDK constructs for the machines that train and serve large models.

Every public name is here; its room is imported when the name is first used, so that nobody waits for what they do not
use (``cdk_trainyard.local`` needs no CDK, the instance catalogue needs no AWS library at all).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cdk_trainyard.errors import ConfigurationError as ConfigurationError

if TYPE_CHECKING:
    from cdk_trainyard.fleet import *  # noqa: F403  for type checkers; the table below is what runs
    from cdk_trainyard.hyperpod import *  # noqa: F403  for type checkers; the table below is what runs
    from cdk_trainyard.instances import *  # noqa: F403  for type checkers; the table below is what runs
    from cdk_trainyard.lifecycle import *  # noqa: F403  for type checkers; the table below is what runs
    from cdk_trainyard.network import *  # noqa: F403  for type checkers; the table below is what runs
    from cdk_trainyard.parallelcluster import *  # noqa: F403  for type checkers; the table below is what runs
    from cdk_trainyard.quotas import *  # noqa: F403  for type checkers; the table below is what runs
    from cdk_trainyard.serving import *  # noqa: F403  for type checkers; the table below is what runs
    from cdk_trainyard.storage import *  # noqa: F403  for type checkers; the table below is what runs

_NAMES = {
    "fleet": """
        EfaFleet
        EfaInstaller
        EfaLaunchTemplate
        FleetCapacity
        FleetCapacityKind
        FleetPlacement
        FleetScripts
        FleetSize
        MasterNode
        NodeImage
        NodeRole
        TrainingImage
        dlami_names
    """,
    "hyperpod": """
        ApiTopology
        AutoPatch
        BatchSize
        BatchUnit
        Capacity
        CapacityKind
        ClusterEvent
        ClusterStatus
        ControllerRole
        DeepHealthCheck
        EbsVolume
        ExecutionRole
        HyperPodCluster
        HyperPodClusterBase
        InstanceGroup
        InterfaceType
        LegacyTopology
        Lifecycle
        LifecycleTrigger
        MultiHead
        NodeProvisioning
        NodeRecovery
        PatchingStrategy
        RollingUpdate
        ScheduledUpdate
        SlurmConfigStrategy
    """,
    "instances": """
        Accelerator
        AcceleratorKind
        InstanceType
        NetworkCard
        catalogue_date
        hyperpod_type_names
        is_zone_id
        zone_ids
        zone_region
    """,
    "lifecycle": """
        Containers
        DatabaseAccounting
        Exporters
        GroupRole
        LifecycleScripts
        LocalAccounting
        LogRotation
        NeuronEnvironment
        NodeGroup
        NodeLustre
        NodeOpenZfs
        NodeSettings
        NodeSetup
        NodeTool
        PamSlurmAdopt
        S3Mount
        SlurmTopology
        ToolFile
        scripts_folder
    """,
    "network": """
        AddressPlan
        AddressUse
        EfaBackend
        EfaInterface
        EfaSecurityGroup
        Endpoint
        HYPERPOD_ENDPOINTS
        Nat
        Network
        PlacementGroup
        TrainingNetwork
        efa_network_interfaces
        interface_addresses
        launch_template_interfaces
    """,
    "parallelcluster": """
        AllocationStrategy
        CapacityType
        ClusterIam
        ClusterMonitoring
        ComputeResource
        CustomAction
        Dcv
        HeadNode
        LoginPool
        NodeScripts
        OperatingSystem
        ParallelCluster
        ParallelClusterBase
        ParallelClusterProvider
        Placement
        Queue
        QueueCapacity
        QueueUpdateStrategy
        Reservation
        RootVolume
        ScalingStrategy
        SharedEbs
        SharedEfs
        SharedLustre
        SharedOntap
        SharedOpenZfs
        SlurmAccounting
        SlurmSettings
        StorageDeletion
        Timeouts
        VolumeType
        parallelcluster_version
    """,
    "quotas": """
        Market
        Needs
        Prerequisite
        Quota
        QuotaNeed
        hyperpod_needs
        instance_needs
        most_of
    """,
    "serving": """
        AuthenticationKind
        ClaimFormat
        ConcurrencyLimit
        DoorAuthentication
        EngineImage
        FrontDoor
        HostImage
        InferenceService
        JwtClaim
        ModelCompilation
        ModelShape
        NeuronDtype
        NeuronModel
        NeuronNodeHealth
        PromptWebAcl
        Rollout
        ScalingMetric
        ScalingSchedule
        Server
        ServiceMonitoring
        ServiceScaling
        Sizing
        TextGenerationEngine
    """,
    "storage": """
        AccountingDatabase
        AccountingDatabaseBase
        BucketGrants
        BucketPurpose
        DataRepository
        Lustre
        LustreBackups
        LustreCompression
        LustreDeployment
        LustreFileSystem
        LustreLogLevel
        LustreReadCache
        LustreStorage
        LustreType
        MaintenanceTime
        Mount
        OpenZfs
        RepositoryEvent
        RootSquash
        TrainingBucket
        TrainingBuckets
        Weekday
    """,
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names.split()}
__all__ = ["ConfigurationError", *_ROOM_OF]  # noqa: PLE0604  strings all the same

if not TYPE_CHECKING:  # or every misspelt name would be an Any

    def __getattr__(name: str) -> Any:
        """Import the room of a public name when it is first asked for (PEP 562)."""
        if name not in _ROOM_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List what can be imported."""
    return sorted({*globals(), *__all__})
