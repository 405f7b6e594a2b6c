"""What data repositories and buckets may look like: pure functions, one problem a sentence."""

from collections.abc import Sequence
from itertools import combinations

from cdk_trainyard.storage.bucket_purpose import BucketPurpose
from cdk_trainyard.storage.data_repository import ALL_EVENTS, DataRepository
from cdk_trainyard.storage.lustre_deployment import LustreDeployment
from cdk_trainyard.storage.lustre_facts import MAX_REPOSITORIES, REPOSITORY_VERSIONS
from cdk_trainyard.tokens import unresolved

_MAX_PATH = 4096
_MAX_CHUNK_MIB = 512000


def linking_problems(
    deployment: LustreDeployment, lustre_version: str, repositories: Sequence[DataRepository]
) -> list[str]:
    """Check that such a file system can be linked to S3, and how often."""
    if not repositories:
        return []
    problems: list[str] = []
    if deployment.facts is not None and not deployment.facts.repositories:
        problems.append(
            f"'data_repositories' cannot be linked to {deployment.label}, got {len(repositories)}; "
            f"use LustreDeployment.persistent_2 or .scratch_2"
        )
    if not unresolved(lustre_version) and lustre_version not in REPOSITORY_VERSIONS:
        problems.append(
            f"'data_repositories' need Lustre {' or '.join(REPOSITORY_VERSIONS)}, "
            f"got 'lustre_version' {lustre_version}; use 2.15"
        )
    if len(repositories) > MAX_REPOSITORIES:
        problems.append(
            f"'data_repositories' must be at most {MAX_REPOSITORIES}, got {len(repositories)}; "
            f"link a common parent directory"
        )
    return problems


def repository_problems(repository: DataRepository) -> list[str]:
    """Check the path, the prefix, the events and the stripe size of one link."""
    chunk = repository.chunk_mib
    problems = _path_problems(repository.file_system_path) + _prefix_problems(repository.prefix)
    problems += _event_problems("import_events", repository.import_events)
    problems += _event_problems("export_events", repository.export_events)
    if chunk is not None and not unresolved(chunk) and not 1 <= chunk <= _MAX_CHUNK_MIB:
        problems.append(f"'chunk_mib' must be 1 to {_MAX_CHUNK_MIB}, got {chunk}; leave it out for 1024")
    return problems


def _path_problems(path: str) -> list[str]:
    if unresolved(path):
        return ["'file_system_path' must be known at synthesis, got a Token: it identifies the link; write it out"]
    parts = path.removesuffix("/").split("/")[1:]
    sound = path.startswith("/") and all(part.strip() == part and part not in {"", ".", ".."} for part in parts)
    if (path == "/" or sound) and len(path) <= _MAX_PATH and path.isprintable():
        return []
    return [
        (
            f"'file_system_path' must be an absolute directory such as '/datasets', of at most {_MAX_PATH} characters, "
            f"got {path[:80]!r}; it starts at the root of the file system, not at its mount point"
        )
    ]


def _prefix_problems(prefix: str) -> list[str]:
    if unresolved(prefix) or not (prefix.startswith(("/", "s3:")) or "//" in prefix):
        return []
    return [f"'prefix' must be a key prefix such as 'tokenized/', got {prefix!r}; remove the bucket and extra slashes"]


def _event_problems(keyword: str, events: Sequence[str]) -> list[str]:
    allowed = [event.value for event in ALL_EVENTS]
    if len(set(events)) == len(events) and set(events) <= set(allowed):
        return []
    return [f"'{keyword}' must be some of {', '.join(allowed)}, each once, got {', '.join(map(str, events))}"]


def overlap_problems(repositories: Sequence[DataRepository]) -> list[str]:
    """Check that no two links share a directory, or a prefix of a bucket."""
    problems: list[str] = []
    for one, other in combinations(repositories, 2):
        if unresolved(one.file_system_path, other.file_system_path, one.prefix, other.prefix):
            continue
        depth = min(len(one.segments), len(other.segments))
        if one.segments[:depth] == other.segments[:depth]:
            problems.append(
                f"'file_system_path' of two data repositories must not overlap, "
                f"got {one.file_system_path!r} and {other.file_system_path!r}; use directories side by side"
            )
        same_bucket = one.bucket.node.path == other.bucket.node.path
        if same_bucket and one.prefix.strip("/") == other.prefix.strip("/"):
            problems.append(
                f"'prefix' of two data repositories on one bucket must differ, "
                f"got {one.prefix!r} for {one.file_system_path!r} and {other.file_system_path!r}"
            )
    return problems


def purpose_problems(
    purpose: BucketPurpose, *, key_given: bool, access_logs_given: bool, expire_after_days: int | None
) -> list[str]:
    """Check what a bucket of a purpose can be given."""
    logs, name = purpose is BucketPurpose.ACCESS_LOGS, purpose.name
    problems: list[str] = []
    if logs and key_given:
        problems.append(
            f"'key' must not be given for {name}: S3 delivers logs only under its own encryption; remove it"
        )
    if logs and access_logs_given:
        problems.append(f"'access_logs' must not be given for {name}: its own log would log itself; remove it")
    if expire_after_days is not None and not purpose.expires:
        problems.append(
            f"'expire_after_days' is for CHECKPOINTS and ACCESS_LOGS, got {expire_after_days} for {name}; remove it"
        )
    return problems + _age_problems("expire_after_days", expire_after_days)


def checkpoint_days_problems(checkpoint_days: int | None, *, checkpoints_given: bool) -> list[str]:
    """Check the age at which checkpoints expire."""
    if checkpoint_days is not None and checkpoints_given:
        return [
            "'checkpoint_days' must not be given with 'checkpoints': the rules of your own bucket are yours; remove it"
        ]
    return _age_problems("checkpoint_days", checkpoint_days)


def _age_problems(keyword: str, days: int | None) -> list[str]:
    if days is None or unresolved(days) or days >= 1:
        return []
    return [f"'{keyword}' must be 1 or more, got {days}; use 30, or leave it out for the default"]
