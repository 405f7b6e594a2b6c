"""Links of Lustre file systems to S3 that FSx would not make beside those that there are.

CloudFormation makes what is new before it deletes what is gone, so both are there for a while. Sources: AWS
CloudFormation User Guide, "Update behaviors of stack resources"; botocore 1.44.5, ``fsx/2018-03-01``,
CreateDataRepositoryAssociation ("Two data repository associations cannot have overlapping file system paths", "a unique
S3 bucket or prefix"). Read 2026-11-28.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from cdk_trainyard.report.nested import at
from cdk_trainyard.report.replacement import marked, resources

Template = Mapping[str, Any]
_ASSOCIATION: Final = "AWS::FSx::DataRepositoryAssociation"
ONE_AFTER_THE_OTHER: Final = (
    "FSx has no two links whose paths or prefixes overlap, and CloudFormation makes the new one before it deletes the "
    "old one: remove the link in one deployment, add the new one in the next"
)
"""What to do about it."""
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
