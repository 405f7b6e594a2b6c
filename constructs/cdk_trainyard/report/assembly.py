"""Cloud assemblies and CloudFormation templates, read from files that anybody may have written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.report.formats import parse_template
from cdk_trainyard.report.origins import NOWHERE, Origin, Origins, origin_of, origins

_STACK: Final = "aws:cloudformation:stack"
_NESTED_ASSEMBLY: Final = "cdk:cloud-assembly"
_NESTED_STACK: Final = "AWS::CloudFormation::Stack"
_LARGEST: Final = 64 * 2**20


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One resource of a template.

    Attributes:
        stack: Id of its stack.
        name: Logical id.
        type: CloudFormation's type.
        body: What the template says of it.
        path: Construct path, without the leaves that CDK adds; the stack and the logical id where there is none.
        origin: Where it comes from. Default - nobody says.
    """

    stack: str
    name: str
    type: str
    body: Mapping[str, Any] = field(compare=False)
    path: str
    origin: Origin = NOWHERE

    @property
    def key(self) -> str:
        """Stack and logical id: unique in an assembly."""
        return f"{self.stack}/{self.name}"

    @property
    def properties(self) -> Mapping[str, Any]:
        """The properties, as the template has them."""
        found = self.body.get("Properties")
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """One stack.

    Attributes:
        id: Its id in the assembly; of a nested stack the parent's, a slash, and the logical id there.
        name: What CloudFormation calls it.
        region: Region. Default - nothing, where the assembly does not say.
        account: Account. Default - nothing, where the assembly does not say.
        file: The template, from the assembly's folder.
        digest: SHA-256 of the template's bytes.
        template: The template.
        resources: Logical id to resource.
        parent: The resource that a nested stack is. Default - none.
        origins: Where its constructs come from, by their paths. Default - nobody says.
    """

    id: str
    name: str
    region: str
    account: str
    file: str
    digest: str
    template: Mapping[str, Any]
    resources: Mapping[str, Resource]
    parent: Resource | None = None
    origins: Origins = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembly:
    """What an app synthesizes to.

    Attributes:
        folder: Where it is.
        stacks: The stacks, nested ones after their parents.
        validation: ``validation-report.json``. None: the assembly has none.
        notes: What could not be read, and is therefore not judged.
    """

    folder: Path
    stacks: tuple[Stack, ...]
    validation: Mapping[str, Any] | None
    notes: tuple[str, ...]

    @property
    def resources(self) -> dict[str, Resource]:
        """Every resource by its key."""
        return {each.key: each for stack in self.stacks for each in stack.resources.values()}

    @property
    def origins(self) -> Origins:
        """Where constructs come from, by their paths, also those that are no resources."""
        return {path: each for stack in self.stacks for path, each in stack.origins.items()}


def read_assembly(path: str | Path) -> Assembly:
    """Read a ``cdk.out`` folder, or a template in JSON or YAML.

    Args:
        path: The folder or the file.

    Raises:
        ConfigurationError: It is neither, or cannot be read; names the file and what is wrong.
    """
    given = Path(path)
    reader = _Reader(given if given.is_dir() else given.parent)
    if given.is_dir():
        if not (given / "manifest.json").is_file():
            raise ConfigurationError(str(given), ["is no cloud assembly: there is no manifest.json in it"])
        reader.folder(given)
        report = given / "validation-report.json"
        validation = _object(report, json.loads(_read(report))) if report.is_file() else None
        return Assembly(
            folder=given, stacks=tuple(reader.stacks), validation=validation, notes=tuple(dict.fromkeys(reader.notes))
        )
    reader.template(given, given.stem.removesuffix(".template") or "Stack", {})
    return Assembly(
        folder=given.parent, stacks=tuple(reader.stacks), validation=None, notes=tuple(dict.fromkeys(reader.notes))
    )


class _Reader:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.stacks: list[Stack] = []
        self.notes: list[str] = []

    def folder(self, folder: Path) -> None:
        manifest = folder / "manifest.json"
        content = _object(manifest, _json(manifest))
        for name, artifact in sorted(_mapping(content.get("artifacts")).items(), key=lambda each: str(each[0])):
            properties = _mapping(_mapping(artifact).get("properties"))
            if artifact.get("type") == _NESTED_ASSEMBLY:
                self.folder(_inside(folder, str(properties.get("directoryName", ""))))
            elif artifact.get("type") == _STACK:
                self._stack(folder, name, artifact, properties)

    def _stack(self, folder: Path, name: str, artifact: Mapping[str, Any], properties: Mapping[str, Any]) -> None:
        account, _, region = str(artifact.get("environment", "")).removeprefix("aws://").partition("/")
        metadata = artifact.get("additionalMetadataFile")
        entries = _object(folder / metadata, _json(_inside(folder, metadata))) if isinstance(metadata, str) else {}
        about = {
            "name": str(properties.get("stackName", name)),
            "region": "" if region.startswith("unknown") else region,
            "account": "" if account.startswith("unknown") else account,
            "paths": _paths(entries or _mapping(artifact.get("metadata"))),
            "origins": origins(entries or _mapping(artifact.get("metadata"))),
        }
        self.template(
            _inside(folder, str(properties.get("templateFile", ""))), str(artifact.get("displayName", name)), about
        )

    def template(self, file: Path, name: str, about: Mapping[str, Any], parent: Resource | None = None) -> None:
        text = _read(file)
        template = parse_template(file, text)
        paths, known = about.get("paths", {}), about.get("origins", {})
        resources = {}
        for logical, body in template["Resources"].items():
            if str(logical).startswith("Fn::") or (isinstance(body, Mapping) and [*body] == ["Fn::Transform"]):
                self.notes.append(f"{name}: what {logical} makes")
                continue
            if problem := _type_problem(body):
                raise ConfigurationError(str(file), [f"Resources.{logical}{problem}"])
            path = _construct_path(body, paths.get(logical, "")) or f"{name}/{logical}"
            resources[logical] = Resource(
                stack=name, name=logical, type=body["Type"], body=body, path=path, origin=origin_of(path, known)
            )
        transforms = template.get("Transform", [])
        for transform in [transforms] if isinstance(transforms, str | Mapping) else transforms:
            self.notes.append(f"{name}: what the transform {_name_of(transform)} makes of the template")
        self.stacks.append(
            Stack(
                id=name,
                name=about.get("name", name),
                region=about.get("region", ""),
                account=about.get("account", ""),
                file=self._name(file),
                digest=sha256(text).hexdigest(),
                template=template,
                resources=_with_unique_paths(resources),
                parent=parent,
                origins=known,
            )
        )
        for resource in resources.values():
            if resource.type == _NESTED_STACK:
                self._nested(file.parent, resource, about)

    def _nested(self, folder: Path, resource: Resource, about: Mapping[str, Any]) -> None:
        named = _mapping(resource.body.get("Metadata")).get("aws:asset:path")
        file = _inside(folder, named) if isinstance(named, str) else None
        if file is None or not file.is_file():
            self.notes.append(f"{resource.path}: the nested stack's template is not in the assembly")
            return
        if any(stack.file == self._name(file) for stack in self.stacks):
            self.notes.append(f"{resource.path}: the nested stack's template is one that was read already")
            return
        self.template(file, resource.key, {**about, "name": resource.key}, resource)

    def _name(self, file: Path) -> str:
        return file.relative_to(self.root).as_posix()


def _type_problem(body: Any) -> str:
    """Return what is wrong with the type of a resource; nothing where it has one."""
    if not isinstance(body, Mapping) or "Type" not in body:
        return ": has no Type; a resource is an object with one"
    if isinstance(body["Type"], str):
        return ""
    return (
        f".Type: must be a name such as AWS::S3::Bucket, got {json.dumps(body['Type'], default=str)}; "
        "what a program still makes a template of is reviewed when it is made"
    )


def _with_unique_paths(resources: Mapping[str, Resource]) -> dict[str, Resource]:
    """Return the resources; two of the same construct path have their logical ids behind it."""
    seen: dict[str, int] = {}
    for each in resources.values():
        seen[each.path] = seen.get(each.path, 0) + 1
    return {
        name: each if seen[each.path] == 1 else replace(each, path=f"{each.path} ({name})")
        for name, each in resources.items()
    }


def _construct_path(body: Mapping[str, Any], known: str) -> str:
    path = _mapping(body.get("Metadata")).get("aws:cdk:path") or known
    return trimmed(path) if isinstance(path, str) else ""


def trimmed(path: str) -> str:
    """Return the path of the construct that a resource's path is of, as CDK calls what a construct is made of.

    Args:
        path: The path.
    """
    parts = path.strip("/").split("/")
    while len(parts) > 1 and parts[-1] in {"Resource", "Default"}:
        parts.pop()
    return "/".join(parts)


def _paths(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return logical ids and construct paths, as CDK's metadata has them."""
    return {str(entry["data"]): path for path, entries in metadata.items() for entry in _logical_ids(entries) if path}


def _logical_ids(entries: Any) -> Iterator[Mapping[str, Any]]:
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, Mapping) and entry.get("type") == "aws:cdk:logicalId" and "data" in entry:
            yield entry


def _inside(folder: Path, name: str) -> Path:
    """Return a file that an assembly names; none is outside its folder."""
    path = folder / name
    if not name or not path.resolve().is_relative_to(folder.resolve()):
        raise ConfigurationError(str(folder), [f"its manifest names {name!r}, which is not a file in it"])
    return path


def _read(file: Path) -> bytes:
    try:
        if file.stat().st_size > _LARGEST:
            raise ConfigurationError(str(file), [f"is larger than {_LARGEST >> 20} MiB"])
        return file.read_bytes()
    except OSError as error:
        raise ConfigurationError(str(file), [f"cannot be read: {error.strerror}"]) from None


def _json(file: Path) -> Any:
    try:
        return json.loads(_read(file))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(str(file), [f"is no JSON: {error}"]) from None


def _object(file: Path, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(str(file), ["is no JSON object"])
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _name_of(transform: Any) -> str:
    return str(transform.get("Name", "?")) if isinstance(transform, Mapping) else str(transform)
