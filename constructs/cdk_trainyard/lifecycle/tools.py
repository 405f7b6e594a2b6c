"""Programs that a node fetches when its image lacks them: which file, pinned by its SHA-256, for which processor."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from cdk_trainyard.lifecycle.spec import NodeTool, ToolFile
from cdk_trainyard.versions import rows


def pinned_architectures(tool: NodeTool) -> tuple[str, ...]:
    """Return the processors for which a file of a tool is pinned here.

    Args:
        tool: The tool.
    """
    return tuple(_pinned(tool))


def tool_files(
    tools: Iterable[NodeTool], given: Sequence[ToolFile], architectures: Iterable[str], *, bucket: str | None = None
) -> dict[str, dict[str, dict[str, str]]]:
    """Return ``url`` and ``sha256`` by tool and processor: what was given, else what is pinned, else nothing.

    Args:
        tools: The tools that the options may need.
        given: Files that were given.
        architectures: Processors of the nodes.
        bucket: Name of the bucket of the scripts. Default - every file that is given says where it is.
    """
    own = {
        (file.tool, file.architecture): {"url": address(file, bucket), "sha256": file.sha256.lower()} for file in given
    }
    found: dict[str, dict[str, dict[str, str]]] = {}
    for tool in tools:
        for architecture in sorted(set(architectures)):
            file = own.get((tool, architecture), _pinned(tool).get(architecture))
            if file:
                found.setdefault(tool.value, {})[architecture] = dict(file)
    return found


def address(file: ToolFile, bucket: str | None = None) -> str:
    """Return where a file is, as the nodes fetch it.

    Args:
        file: The file.
        bucket: Name of the bucket of the scripts.
    """
    if file.key is None:
        return file.url or ""
    return f"s3://{file.bucket.bucket_name if file.bucket else bucket}/{file.key}"


@cache
def _pinned(tool: NodeTool) -> Mapping[str, Mapping[str, str]]:
    """Return ``url`` and ``sha256`` of the files that the matrix has of a tool, by processor."""
    return next((row["files"] for row in rows("tools") if row["tool"] == tool), {})
