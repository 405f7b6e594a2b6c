"""What FSx refuses while a link of a Lustre file system to S3 is there: a second one over it, and backups.

CloudFormation makes and changes before it deletes, so what is gone is there for a while. Sources: AWS CloudFormation
User Guide, "Update behaviors of stack resources"; botocore 1.44.5, ``fsx/2018-03-01``, CreateDataRepositoryAssociation
("Two data repository associations cannot have overlapping file system paths", "a unique S3 bucket or prefix"); FSx for
Lustre User Guide, "Using data repositories" ("File system backups aren't supported on file systems that are linked").
Read 2026-11-28.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from cdk_trainyard.report.nested import at, references
from cdk_trainyard.report.replacement import marked, resources

Template = Mapping[str, Any]
_ASSOCIATION: Final = "AWS::FSx::DataRepositoryAssociation"
ONE_AFTER_THE_OTHER: Final = (
    "FSx has no two links whose paths or prefixes overlap, and CloudFormation makes the new one before it deletes the "
    "old one: remove the link in one deployment (with 'backups: {retention_days: 0}' if it was the last), add the new "
    "one in the next"
)
"""What to do about links that overlap."""
BACKUPS_AFTER_LINKS: Final = (
    "FSx backs up no file system with a link, and CloudFormation turns backups on before it deletes the link: say "
    "'backups: {retention_days: 0}' in the deployment that removes the last link, ask for backups in the next"
)
"""What to do about backups that begin with the end of a link."""
_FILE_SYSTEM: Final = "AWS::FSx::FileSystem"
_UNIQUE: Final = ("FileSystemPath", "DataRepositoryPath")


def blocked(
    old: Mapping[str, Template], new: Mapping[str, Template], found: Mapping[tuple[str, str], list[str]]
) -> set[tuple[str, str]]:
    """Return the associations that cannot be made while those of before are there: stack and name.

    Args:
        old: Stack to its template, before.
        new: Stack to its template, after.
        found: What is replaced.
    """
    return {
        (stack, name)
        for stack, template in new.items()
        for name, body in _associations(template).items()
        if (before := _associations(old.get(stack, {})))
        and (name not in before or (stack, name) in found)
        and any(_collide(each, marked(body, stack, found, {})) for each in before.values())
    }


def backed_up(
    old: Mapping[str, Template], new: Mapping[str, Template], found: Mapping[tuple[str, str], list[str]]
) -> set[tuple[str, str]]:
    """Return the file systems whose backups would begin while they have links: stack and name.

    Args:
        old: Stack to its template, before.
        new: Stack to its template, after.
        found: What is replaced.
    """
    return {
        (stack, name)
        for stack, template in new.items()
        for name, body in resources(template).items()
        if body["Type"] == _FILE_SYSTEM
        and (stack, name) not in found
        and is_linked(name, before := resources(old.get(stack, {})))
        and backup_days(before.get(name, {})) == 0 < (backup_days(body) or 0)
    }


def is_linked(name: str, stack: Mapping[str, Template]) -> bool:
    """Return whether a file system has a link among the resources of its stack.

    Args:
        name: Its logical id.
        stack: The resources.
    """
    return any(
        body["Type"] == _ASSOCIATION and name in references(at(body, "Properties", "FileSystemId"))
        for body in stack.values()
    )


def backup_days(file_system: Template) -> int | None:
    """Return for how many days backups of a Lustre file system are kept, 0 by default; None where nobody knows yet.

    Args:
        file_system: The resource.
    """
    days = at(file_system, "Properties", "LustreConfiguration", "AutomaticBackupRetentionDays")
    return 0 if days is None else int(days) if str(days).isdecimal() else None


def _associations(template: Template) -> dict[str, Template]:
    return {name: body for name, body in resources(template).items() if body["Type"] == _ASSOCIATION}


def _collide(old: Template, new: Template) -> bool:
    """Return whether two are of the same file system and overlap; a reference to what is replaced is to another one."""
    return at(old, "Properties", "FileSystemId") == at(new, "Properties", "FileSystemId") and any(
        _overlap(_path(old, name), _path(new, name)) for name in _UNIQUE
    )


def _overlap(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _path(association: Template, name: str) -> str:
    match at(association, "Properties", name):
        case {"Fn::Join": ["", list(parts)]}:
            text = "".join(part if isinstance(part, str) else json.dumps(part) for part in parts)
        case value:
            text = value if isinstance(value, str) else json.dumps(value)
    return f"{text.rstrip('/')}/"
