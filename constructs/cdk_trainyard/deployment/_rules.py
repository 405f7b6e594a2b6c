"""Which rules of network and storage their sections are asked, and the few that only a file can break."""

from collections.abc import Mapping

from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.network import rules as network_rules
from cdk_trainyard.network.spec import ExistingNetworkSpec, NetworkSpec
from cdk_trainyard.problems import Problem
from cdk_trainyard.storage import rules as storage_rules
from cdk_trainyard.storage import rules_data
from cdk_trainyard.storage.resolve import resolve_lustre
from cdk_trainyard.storage.spec import BucketsSpec, ExistingLustreSpec, LustreSpec


def tag_problems(tags: Mapping[str, str] | None) -> list[str]:
    """Tags that begin with aws: are AWS's own."""
    return [
        f"{key!r} must not begin with 'aws:'; such tags are AWS's own"
        for key in tags or ()
        if key.lower().startswith("aws:")
    ]


# ---------------------------------------------------------------- network and storage
def network_problems(network: object, region: str | None) -> list[Problem]:
    """A network that EC2 makes, or one that can be as it is said to be."""
    match network:
        case NetworkSpec():
            return network_rules.network_problems(network, region)
        case ExistingNetworkSpec():
            return network_rules.existing_network_problems(network, region)
    return []


def lustre_problems(lustre: object, region: str | None) -> list[Problem]:
    """A file system that FSx has."""
    match lustre:
        case LustreSpec():
            return storage_rules.lustre_problems(resolve_lustre(lustre))
        case ExistingLustreSpec():
            return storage_rules.existing_lustre_problems(lustre, region)
    return []


def buckets_problems(buckets: object) -> list[Problem]:
    """Buckets that are told apart, and age by rules of their own."""
    return list(rules_data.buckets_problems(buckets)) if isinstance(buckets, BucketsSpec) else []


# ---------------------------------------------------------------- alerts
def alerts_problems(alerts: AlertsSection | None) -> list[str]:
    """A topic of yours, or addresses for a new one."""
    if alerts is None or bool(alerts.emails) is not bool(alerts.topic_arn):
        return []
    got = "both" if alerts.emails else "neither"
    return [
        f"'alerts' must have either 'emails' or 'topic_arn', got {got}; subscribe the addresses to your topic yourself"
    ]
