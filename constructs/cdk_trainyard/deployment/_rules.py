"""Which rules of network and storage their sections are asked, and the few that only a file can break."""

from collections.abc import Mapping

from cdk_trainyard.deployment.alerts import AlertsSection
from cdk_trainyard.deployment.storage import BucketsSection, ExistingLustreSection, LustreSection
from cdk_trainyard.deployment.values import lustre_settings, root_squash
from cdk_trainyard.network import rules
from cdk_trainyard.problems import sentence
from cdk_trainyard.storage import rules as storage_rules
from cdk_trainyard.storage import rules_data


def tag_problems(tags: Mapping[str, str] | None) -> list[str]:
    """Tags that begin with aws: are AWS's own."""
    return [
        f"{key!r} must not begin with 'aws:'; such tags are AWS's own"
        for key in tags or ()
        if key.lower().startswith("aws:")
    ]


# ---------------------------------------------------------------- storage
def lustre_problems(lustre: LustreSection | ExistingLustreSection | None, region: str | None) -> list[str]:
    """The file system is one that FSx has."""
    match lustre:
        case LustreSection():
            settings = lustre_settings(lustre)
            return [
                *settings.problems(),
                *storage_rules.root_squash_problems(root_squash(lustre)),
                *storage_rules.file_system_key_problems(settings.deployment, key_given=lustre.key_arn is not None),
                *(storage_rules.key_problems(lustre.key_arn, region) if region else []),
            ]
        case ExistingLustreSection(file_system_id=file_system_id, dns_name=dns_name, mount_name=mount_name):
            return [
                *storage_rules.attribute_problems(
                    file_system_id=file_system_id, dns_name=dns_name, mount_name=mount_name
                ),
                *(
                    sentence(each)
                    for each in (rules.zone_problems(("zone",), lustre.zone, region) if lustre.zone else [])
                ),
            ]
    return []


def buckets_problems(buckets: BucketsSection | None) -> list[str]:
    """Checkpoints expire where the bucket is made here."""
    if buckets is None:
        return []
    return rules_data.checkpoint_days_problems(
        buckets.checkpoint_days, checkpoints_given=buckets.checkpoints is not None
    )


# ---------------------------------------------------------------- alerts
def alerts_problems(alerts: AlertsSection | None) -> list[str]:
    """A topic of yours, or addresses for a new one."""
    if alerts is None or bool(alerts.emails) is not bool(alerts.topic_arn):
        return []
    got = "both" if alerts.emails else "neither"
    return [
        f"'alerts' must have either 'emails' or 'topic_arn', got {got}; subscribe the addresses to your topic yourself"
    ]
