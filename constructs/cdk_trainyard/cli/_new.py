"""The deployment file of a new project: a shipped one, with what was asked for put in, and its comments kept."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from cdk_trainyard.cli._exits import Wrong
from cdk_trainyard.deployment._document import Document, KeyPath, read_document
from cdk_trainyard.deployment.orchestrators import orchestrators
from cdk_trainyard.deployment.resizing import counts
from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.identifiers import stack_name
from cdk_trainyard.instances.instance_type import InstanceType
from cdk_trainyard.instances.zones import zone_ids, zone_region
from cdk_trainyard.project import project_folder

_RESERVED: Final = ("cluster", "reserved_instances")
"""What a capacity block holds: as many as there are nodes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What a project begins with; None is what the shipped file has."""

    region: str | None = None
    zone: str | None = None
    instance_type: str | None = None
    count: int | None = None

    @classmethod
    def of(cls, file: Path) -> Self:
        """Return what a shipped file has.

        Args:
            file: The file.
        """
        document = _read(file)
        kind, count = _nodes(file, document)
        return cls(
            region=str(_at(document.data, ("region",))),
            zone=str(_at(document.data, ("network", "zone"))),
            instance_type=str(_at(document.data, kind)) if kind else None,
            count=int(_at(document.data, count)) if count else None,
        )


def defaults() -> dict[str, str]:
    """Return the deployment file that a project begins with, by the orchestrator, of those that have one."""
    return {name: row.begins for name, row in orchestrators().items() if row.begins is not None}


def shipped() -> dict[str, Path]:
    """Return the shipped deployment files by their names."""
    return {path.stem: path for path in sorted((project_folder() / "deployments").glob("*.yaml"))}


def beginning(file: Path) -> str:
    """Return what a shipped file says of itself, its first sentence.

    Args:
        file: The file.
    """
    comments = [line[1:].strip() for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    said = " ".join(line for line in comments if line and not line.startswith("yaml-language-server"))
    return re.split(r"(?<=[.:]) ", said)[0].rstrip(":.")


def chosen_file(like: str | None, orchestrator: str | None) -> Path:
    """Return the shipped file to begin with.

    Args:
        like: Its name, or how no other begins.
        orchestrator: What runs jobs.

    Raises:
        Wrong: There is none of this name, or it has another orchestrator.
    """
    files = shipped()
    if like is None:
        begins = defaults()
        name = begins[orchestrator or next(iter(begins))]
        return files.get(name) or Path(name)
    begin = [name for name in files if name.startswith(like)]
    if like not in files and len(begin) != 1:
        hint = f"; it may be {' or '.join(begin)}" if begin else did_you_mean(like, files)
        raise Wrong(f"no shipped deployment is called {like!r}{hint}; --list names them")
    file = files[like if like in files else begin[0]]
    found = _read(file).data.get("orchestrator")
    if orchestrator not in {None, found}:
        raise Wrong(f"{file.stem} is of {found or 'no orchestrator'}, not of {orchestrator}")
    return file


def project_name(folder: Path) -> str | None:
    """Return the name of a deployment after its folder's; None where that has nothing that a name may have.

    Args:
        folder: The folder.
    """
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")[:32].rstrip("-")
    return name if re.match(r"[a-z]", name) else None


def edited(file: Path, choice: Choice, name: str | None) -> str:
    """Return a shipped file with what was asked for.

    Args:
        file: The file.
        choice: What was asked for.
        name: The deployment's name. None: the file's.

    Raises:
        Wrong: The file has no place for it, or no zone of the Region is known to have the type.
    """
    document = _read(file)
    kind, count = _nodes(file, document)
    wanted: dict[KeyPath, object] = {}
    if name:
        wanted["name",] = name
    for value, path, called in ((choice.instance_type, kind, "type"), (choice.count, count, "count")):
        if value is not None and path is None:
            raise Wrong(f"{file.stem} has no nodes that run jobs, whose {called} could be chosen")
        if value is not None and path is not None:
            wanted[path] = value
    if choice.count is not None and _RESERVED in document.values:
        wanted[_RESERVED] = choice.count
    if choice.region:
        wanted["region",] = choice.region
    if zone := _zone(document, choice, kind):
        wanted["network", "zone"] = zone
    return _without_paths_of_ours("".join(_replaced(document, file, wanted)), document.data["name"], name)


def _zone(document: Document, choice: Choice, kind: KeyPath | None) -> str | None:
    """Return the zone to write: the one asked for, or one of the Region that has the type."""
    has = str(_at(document.data, ("network", "zone")))
    if choice.zone or not (choice.region or choice.instance_type):
        return choice.zone
    region = choice.region or str(document.data["region"])
    said = choice.instance_type or (str(_at(document.data, kind)) if kind else None)
    found = InstanceType.find(said.removeprefix("ml.")) if said else None
    offered = found.offered_in(region) if found and found.zones else zone_ids(region)
    if has in offered or (not offered and zone_region(has) == region):
        return None
    if not offered and zone_ids(region):
        raise Wrong(f"no zone of {region} is known to have {said}; if one has, name it with --zone")
    return offered[0] if offered else None


def _nodes(file: Path, document: Document) -> tuple[KeyPath | None, KeyPath | None]:
    """Return where the type and the number of the nodes stand that run jobs, beside one another."""
    from cdk_trainyard.deployment.model import Deployment

    count = next(iter(counts(Deployment.load(file)).values()), ())
    kind = (*count[:-1], "instance_type")
    return kind if kind in document.values else None, count if count in document.values else None


def _at(data: Any, path: KeyPath) -> Any:
    for key in path:
        data = data[key]
    return data


def _read(file: Path) -> Document:
    return read_document(file.read_text(encoding="utf-8"), str(file))


def _replaced(document: Document, file: Path, wanted: Mapping[KeyPath, object]) -> Iterator[str]:
    """Yield the lines of a file with other scalars in their places; a comment that was about one goes with it."""
    by_line = {document.values[path].line: (path, value) for path, value in wanted.items()}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(keepends=True), start=1):
        if number not in by_line:
            yield line
            continue
        path, value = by_line[number]
        begin = document.values[path].column - 1
        rest = line[begin + len(document.sources[path]) :]
        kept = rest if path == ("name",) else re.sub(r"\s+#.*", "", rest)
        yield f"{line[:begin]}{value}{kept}"


def _without_paths_of_ours(text: str, old: str, new: str | None) -> str:
    """Return a file whose comments are true in a project of its own."""
    lines = [line for line in text.splitlines() if not line.startswith("# yaml-language-server")]
    text = "\n".join(lines).lstrip("#\n ")
    text = re.sub(r"# Every key there is: .*", "# Every key there is, with its default: deployment.schema.json", text)
    for part in ("network", "storage"):
        text = text.replace(stack_name(old, part), stack_name(new or old, part))
    return f"# yaml-language-server: $schema=deployment.schema.json\n#\n# {text}\n"
