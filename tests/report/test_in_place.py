"""What services refuse of changes in place."""

from typing import Any

import pytest

from cdk_trainyard.report.in_place import refused_in_place

FSX = "AWS::FSx::FileSystem"
DATABASE = "AWS::RDS::DBInstance"


def lustre(capacity: Any = 4800, config: Any = None, **more: Any) -> dict[str, Any]:
    return {"FileSystemType": "LUSTRE", "StorageCapacity": capacity, "LustreConfiguration": config or {}, **more}


def metadata(iops: Any = None, capacity: Any = 4800) -> dict[str, Any]:
    of = {"Mode": "USER_PROVISIONED", "Iops": iops} if iops else {"Mode": "AUTOMATIC"}
    return lustre(capacity, {"MetadataConfiguration": of})


def per_tib(throughput: Any, config: Any = None, **more: Any) -> dict[str, Any]:
    return lustre(9600, {"PerUnitStorageThroughput": throughput, **(config or {})}, **more)


def tiering(throughput: int) -> dict[str, Any]:
    return lustre(None, {"ThroughputCapacity": throughput}, StorageType="INTELLIGENT_TIERING")


def other(kind: str, capacity: int) -> dict[str, Any]:
    return {"FileSystemType": kind, "StorageCapacity": capacity}


SCRATCH = {"DeploymentType": "SCRATCH_1"}
EFA = {"EfaEnabled": True}


@pytest.mark.parametrize(
    ("kind", "before", "after", "said"),
    [
        (FSX, lustre(4800), lustre(2400), ["StorageCapacity cannot be lowered from 4800 to 2400"]),
        (FSX, lustre(2400), lustre("4800"), []),
        (FSX, lustre("4800"), lustre({"Ref": "Capacity"}), []),
        (
            FSX,
            lustre(1200, SCRATCH),
            lustre(2400, SCRATCH),
            ["StorageCapacity cannot change where DeploymentType is SCRATCH_1"],
        ),
        (FSX, metadata(12000), metadata(6000), ["metadata IOPS cannot be lowered from 12000 to 6000"]),
        (FSX, metadata(12000), metadata(), ["metadata IOPS cannot be lowered from 12000 to 6000"]),
        (FSX, metadata(capacity=4800), metadata(3000), ["metadata IOPS cannot be lowered from 6000 to 3000"]),
        (FSX, metadata(6000), metadata(), []),
        (FSX, metadata(6000), metadata(12000), []),
        (FSX, metadata(12000), lustre(), []),
        (FSX, metadata({"Ref": "Iops"}), metadata(1500), []),
        (
            FSX,
            metadata(capacity=4800),
            metadata(capacity=2400),
            ["StorageCapacity cannot be lowered from 4800 to 2400"],
        ),
        (
            FSX,
            lustre(),
            metadata(),
            ["MetadataConfiguration cannot be added to a file system that was made without one"],
        ),
        (FSX, tiering(8000), tiering(4000), ["ThroughputCapacity cannot be lowered from 8000 to 4000"]),
        (FSX, tiering(4000), tiering(8000), []),
        (FSX, per_tib(250), per_tib(125), []),
        (
            FSX,
            per_tib(500, EFA),
            per_tib(1000, EFA),
            ["PerUnitStorageThroughput cannot change where EfaEnabled is true"],
        ),
        (
            FSX,
            per_tib(12, StorageType="HDD"),
            per_tib(40, StorageType="HDD"),
            ["PerUnitStorageThroughput cannot change where StorageType is HDD"],
        ),
        (
            FSX,
            other("OPENZFS", 1000),
            other("OPENZFS", 1050),
            ["StorageCapacity grows by 10 percent or more at a time, got 1000 and 1050"],
        ),
        (FSX, other("OPENZFS", 1000), other("OPENZFS", 1100), []),
        (FSX, other("OPENZFS", 1000), other("OPENZFS", 900), ["StorageCapacity cannot be lowered from 1000 to 900"]),
        (FSX, other("ONTAP", 4096), other("ONTAP", 2048), []),
        (
            DATABASE,
            {"AllocatedStorage": "100"},
            {"AllocatedStorage": "50"},
            ["AllocatedStorage cannot be lowered from 100 to 50"],
        ),
        (
            DATABASE,
            {"EngineVersion": "8.4.3"},
            {"EngineVersion": "8.0.40"},
            ["EngineVersion cannot be lowered from 8.4.3 to 8.0.40"],
        ),
        (DATABASE, {"EngineVersion": "10.11.8"}, {"EngineVersion": "10.11"}, []),
        (DATABASE, {"EngineVersion": "8.0.mysql_aurora.3.05"}, {"EngineVersion": "5.7.mysql_aurora.2.11"}, []),
        (
            "AWS::Grafana::Workspace",
            {"GrafanaVersion": "10.4"},
            {"GrafanaVersion": "9.4"},
            ["GrafanaVersion cannot be lowered from 10.4 to 9.4"],
        ),
        ("AWS::S3::Bucket", {"StorageCapacity": 2}, {"StorageCapacity": 1}, []),
    ],
)
def test_services_refuse_what_cloudformation_would_change(kind: str, before: Any, after: Any, said: list[str]) -> None:
    assert refused_in_place(kind, before, after) == said
