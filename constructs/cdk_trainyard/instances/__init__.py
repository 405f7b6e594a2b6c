"""Typed facts about EC2 instance types and zones: what they have, not what one hopes from their name."""

from typing import TYPE_CHECKING

from cdk_trainyard.lazy import lazily

if TYPE_CHECKING:
    from cdk_trainyard.instances.hardware import Accelerator, AcceleratorKind, NetworkCard
    from cdk_trainyard.instances.instance_type import InstanceType, catalogue_date, hyperpod_type_names
    from cdk_trainyard.instances.kind import UsageClass
    from cdk_trainyard.instances.zones import is_zone_id, regions, zone_ids, zone_region
else:  # or every misspelt name would be an Any
    __getattr__ = lazily(__name__)

__all__ = [
    "Accelerator",
    "AcceleratorKind",
    "InstanceType",
    "NetworkCard",
    "UsageClass",
    "catalogue_date",
    "hyperpod_type_names",
    "is_zone_id",
    "regions",
    "zone_ids",
    "zone_region",
]
