"""Whether raw keys ask for a Lustre file system that ParallelCluster makes. Pure: nothing is created here.

Source: ``pcluster/validators/fsx_validators.py`` of 3.16.1; what its schema says is said elsewhere.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.problems import At, Problem
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_PERSISTENT: Final = ("PERSISTENT_1", "PERSISTENT_2")
_DEFAULT: Final = "SCRATCH_2"
_OF_PERSISTENT: Final = ("PerUnitStorageThroughput", "KmsKeyId", "AutomaticBackupRetentionDays")
_IMPORTS: Final = ("ImportedFileChunkSize", "ImportPath", "ExportPath", "AutoImportPolicy")
_NEEDS: Final = {
    "ExportPath": "ImportPath",
    "ImportedFileChunkSize": "ImportPath",
    "AutoImportPolicy": "ImportPath",
    "DailyAutomaticBackupStartTime": "AutomaticBackupRetentionDays",
    "CopyTagsToBackups": "AutomaticBackupRetentionDays",
}
"""What is given with another key alone (``FsxS3Validator``, ``FsxBackupOptionsValidator``)."""
_NOT_BESIDE: Final = {
    "AutomaticBackupRetentionDays": _IMPORTS,
    "DataRepositoryAssociations": ("ImportPath", "ExportPath"),
}


def lustre_problems(at: At, lustre: Mapping[str, Any]) -> Problems:
    """A new file system has the size and the keys of its kind (``FsxStorageCapacityValidator`` and others).

    Args:
        at: Where its settings are said.
        lustre: The settings.
    """
    if unresolved(*lustre.values()) or lustre.get("FileSystemId") is not None:
        return
    given = {key for key, value in lustre.items() if value not in (None, "", 0, [])}
    yield from _pair_problems(at, given)
    if "BackupId" not in given:
        yield from _size_problems(at, lustre)
        yield from _kind_problems(at, lustre, given)


def _pair_problems(at: At, given: set[str]) -> Problems:
    for key, needed in _NEEDS.items():
        if key in given and needed not in given:
            yield Problem((*at, key), f"must be left out without {needed}", of_key=True)
    for key, others in _NOT_BESIDE.items():
        if key in given and (beside := next((name for name in others if name in given), None)):
            yield Problem((*at, key), f"must be left out beside {beside}", of_key=True)


def _kind_problems(at: At, lustre: Mapping[str, Any], given: set[str]) -> Problems:
    kind = lustre.get("DeploymentType") or _DEFAULT
    if kind in _PERSISTENT and "PerUnitStorageThroughput" not in given:
        yield Problem((*at, "PerUnitStorageThroughput"), f"must be given with DeploymentType {kind}")
    for key in _OF_PERSISTENT:
        if key in given and kind not in _PERSISTENT:
            text = f"must be left out unless DeploymentType is PERSISTENT_1 or PERSISTENT_2, got {kind}"
            yield Problem((*at, key), text, of_key=True)
    if lustre.get("StorageType") == "HDD" and kind != "PERSISTENT_1":
        yield Problem((*at, "StorageType"), f"must be SSD unless DeploymentType is PERSISTENT_1, got HDD with {kind}")
    if lustre.get("StorageType") != "HDD" and "DriveCacheType" in given:
        yield Problem((*at, "DriveCacheType"), "must be left out unless StorageType is HDD", of_key=True)


def _size_problems(at: At, lustre: Mapping[str, Any]) -> Problems:
    if lustre.get("StorageCapacity") is None:
        yield Problem((*at, "StorageCapacity"), "must be given, as 1200")
    elif text := _capacity_problem(lustre):
        yield Problem((*at, "StorageCapacity"), f"must be {text}, got {lustre['StorageCapacity']}")


def _capacity_problem(lustre: Mapping[str, Any]) -> str | None:
    """Return what a capacity must be. None: it is right, or its form is not."""
    kind, is_hdd = lustre.get("DeploymentType") or _DEFAULT, lustre.get("StorageType") == "HDD"
    text = str(lustre["StorageCapacity"]).strip()
    if not text.isdecimal():
        return None
    size = int(text)
    if is_hdd and kind == "PERSISTENT_1":
        step = {"12": 6000, "40": 1800}.get(str(lustre.get("PerUnitStorageThroughput")), 1)
        return None if size and size % step == 0 else f"a multiple of {step}"
    if kind == "SCRATCH_1":
        return None if size in (1200, 2400) or (size and size % 3600 == 0) else "1200, 2400 or a multiple of 3600"
    if kind in ("SCRATCH_2", *_PERSISTENT):
        return None if size == 1200 or (size and size % 2400 == 0) else "1200 or a multiple of 2400"  # noqa: PLR2004
    return None
