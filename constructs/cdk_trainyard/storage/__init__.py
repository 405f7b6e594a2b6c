"""Storage of a training environment: file systems linked to S3, buckets by purpose, an accounting database."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.storage.accounting import AccountingDatabase, AccountingDatabaseBase
    from cdk_trainyard.storage.bucket_purpose import BucketPurpose
    from cdk_trainyard.storage.buckets import TrainingBucket, TrainingBuckets
    from cdk_trainyard.storage.grants import BucketGrants
    from cdk_trainyard.storage.lustre import LustreFileSystem
    from cdk_trainyard.storage.lustre_base import Lustre
    from cdk_trainyard.storage.lustre_deployment import LustreDeployment, LustreReadCache
    from cdk_trainyard.storage.lustre_facts import LustreStorage, LustreType
    from cdk_trainyard.storage.mount import Mount
    from cdk_trainyard.storage.spec import (
        DatabaseEngine,
        DataRepository,
        LustreBackups,
        LustreCompression,
        LustreLogLevel,
        MaintenanceTime,
        OpenZfs,
        RepositoryEvent,
        RootSquash,
        Weekday,
    )
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "AccountingDatabase",
    "AccountingDatabaseBase",
    "BucketGrants",
    "BucketPurpose",
    "DataRepository",
    "DatabaseEngine",
    "Lustre",
    "LustreBackups",
    "LustreCompression",
    "LustreDeployment",
    "LustreFileSystem",
    "LustreLogLevel",
    "LustreReadCache",
    "LustreStorage",
    "LustreType",
    "MaintenanceTime",
    "Mount",
    "OpenZfs",
    "RepositoryEvent",
    "RootSquash",
    "TrainingBucket",
    "TrainingBuckets",
    "Weekday",
]
