"""CodeBuild: projects without a source and on every size of host, their keys, and changes of them. Nothing is built."""

from collections.abc import Mapping
from typing import Any

from moto.codebuild.exceptions import InvalidInputException, ResourceAlreadyExistsException, ResourceNotFoundException
from moto.codebuild.models import CodeBuild, CodeBuildBackend, codebuild_backends
from moto.codebuild.responses import CodeBuildResponse
from moto.core.responses import ActionResult

from cdk_trainyard.local.services.api import Request, install, replace
from cdk_trainyard.local.services.on_behalf import start_build

_start_build = CodeBuildResponse.start_build
_KEPT = (
    *("description", "source", "artifacts", "environment", "serviceRole", "timeoutInMinutes"),
    *("queuedTimeoutInMinutes", "encryptionKey", "tags", "cache", "sourceVersion", "logsConfig", "vpcConfig"),
)


def _backend(request: Request) -> CodeBuildBackend:
    backend: CodeBuildBackend = codebuild_backends[request.account][request.region]
    return backend


def _create(request: Request) -> Mapping[str, Any]:
    projects, name = _backend(request).codebuild_projects, request["name"]
    if name in projects:
        raise ResourceAlreadyExistsException(f"Project already exists: {projects[name].arn}")
    _check(request)
    project = CodeBuild(
        request.account,
        request.region,
        project_name=name,
        description=request.get("description"),
        project_source=request["source"],
        artifacts=request["artifacts"],
        environment=request["environment"],
        serviceRole=request["serviceRole"],
        timeout=request.get("timeoutInMinutes", 60),
        queued_timeout=request.get("queuedTimeoutInMinutes", 480),
    )
    _keep(project, request)
    projects[name] = project
    _backend(request).build_history[name] = []
    return {"project": project.project_metadata}


def _update(request: Request) -> Mapping[str, Any]:
    """Change what is said; what is not said stays."""
    project = _backend(request).codebuild_projects.get(request["name"])
    if project is None:
        raise ResourceNotFoundException(f"Project cannot be found: {request.arn('codebuild', request['name'])}")
    _check(request)
    _keep(project, request)
    return {"project": project.project_metadata}


def _keep(project: CodeBuild, request: Request) -> None:
    said = {key: request.get(key) for key in _KEPT}
    project.project_metadata.update({key: value for key, value in said.items() if value is not None})


def _check(request: Request) -> None:
    """Refuse what CodeBuild refuses of sources and artifacts (API reference, ProjectSource and ProjectArtifacts)."""
    source, artifacts = request.get("source", {}), request.get("artifacts", {})
    if source.get("type") in {"NO_SOURCE", "CODEPIPELINE"} and source.get("location"):
        raise InvalidInputException("Invalid project source: location must not be given for this type")
    if source.get("type") == "NO_SOURCE" and not source.get("buildspec"):
        raise InvalidInputException("Invalid project source: a project without a source needs a buildspec")
    if artifacts.get("type") == "S3" and not artifacts.get("location"):
        raise InvalidInputException("Invalid artifacts: S3 artifacts need a location")


def _start(response: CodeBuildResponse) -> ActionResult:
    """Start a build, whose role may do what CodeBuild does before and after it."""
    answer = _start_build(response)
    project = response.codebuild_backend.codebuild_projects[response._get_param("projectName")]  # noqa: SLF001
    start_build(project.project_metadata, response.region)
    return answer


def extend() -> None:
    """Give moto's CodeBuild what it lacks."""
    install(CodeBuildResponse, {"create_project": _create, "update_project": _update})
    replace(CodeBuildResponse, {"start_build": _start})
