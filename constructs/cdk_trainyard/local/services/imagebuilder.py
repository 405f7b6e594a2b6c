"""EC2 Image Builder, which moto lacks: everything is kept, and an image is there at once, an AMI that nobody built."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote

from moto.utilities.utils import get_partition

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.accounts import current
from cdk_trainyard.local.services.api import Operation, Request
from cdk_trainyard.local.state import Store
from cdk_trainyard.local.strings import strings

NAME = "imagebuilder"
Row = dict[str, Any]
_ROWS: Store[dict[str, Row]] = Store(lambda _account, _region: {})
_TAGS_PATH = "/tags/"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """A kind of thing: how its operations and its ARN are spelled."""

    title: str
    path: str
    key: str
    versioned: bool = False
    build: str = ""

    @property
    def member(self) -> str:
        """The member of the answer that carries one."""
        return self.title[0].lower() + self.title[1:]


_COMPONENT = _Kind(title="Component", path="component", key="componentBuildVersionArn", versioned=True, build="/1")
_RECIPE = _Kind(title="ImageRecipe", path="image-recipe", key="imageRecipeArn", versioned=True)
_PIPELINE = _Kind(title="ImagePipeline", path="image-pipeline", key="imagePipelineArn")
_IMAGE = _Kind(title="Image", path="image", key="imageBuildVersionArn")
_CONFIGURATIONS = (
    _Kind(
        title="InfrastructureConfiguration",
        path="infrastructure-configuration",
        key="infrastructureConfigurationArn",
    ),
    _Kind(title="DistributionConfiguration", path="distribution-configuration", key="distributionConfigurationArn"),
)


def _rows(request: Request) -> dict[str, Row]:
    return _ROWS.of(request.account, request.region)


def _find(request: Request, arn: str) -> Row:
    if arn not in _rows(request):
        raise ApiError("ResourceNotFoundException", f"The resource '{arn}' does not exist.")
    return _rows(request)[arn]


def _mentioned(value: Any) -> Iterator[str]:
    """Yield every ARN of an own thing that stands in ``value``."""
    for text in strings(value):
        if f":{NAME}:" in text and ":aws:" not in text.removeprefix("arn:aws:"):
            yield text


def _keep(request: Request, kind: _Kind, arn: str, **more: Any) -> Row:
    if arn in _rows(request):
        raise ApiError("ResourceAlreadyExistsException", f"The resource '{arn}' already exists.")
    for other in _mentioned(request.parameters):
        _find(request, other)
    row = {name: value for name, value in request.parameters.items() if name not in ("clientToken", "semanticVersion")}
    _rows(request)[arn] = {**row, **more, "arn": arn, "tags": request.get("tags", {})}
    return {"requestId": arn, "clientToken": request["clientToken"], kind.key: arn}


def _creation(kind: _Kind) -> Operation:
    def create(request: Request) -> Row:
        name = "-".join(request["name"].lower().replace("_", "-").split())
        version = f"/{request['semanticVersion']}{kind.build}" if kind.versioned else ""
        arn = request.arn(NAME, f"{kind.path}/{name}{version}")
        return _keep(request, kind, arn, **({"version": request["semanticVersion"]} if version else {}))

    return create


def _reading(kind: _Kind) -> Operation:
    return lambda request: {kind.member: _find(request, request[kind.key])}


def _listing(kind: _Kind) -> Operation:
    def rows(request: Request) -> list[Row]:
        found = (row for row in _rows(request).values() if f":{kind.path}/" in row["arn"])
        return [{"arn": row["arn"], "name": row["name"], "tags": row["tags"]} for row in found]

    return lambda request: {f"{kind.member}SummaryList": rows(request)}


def _change(kind: _Kind) -> Operation:
    def update(request: Request) -> Row:
        row = _find(request, request[kind.key])
        for other in _mentioned(request.parameters):
            _find(request, other)
        new = {name: value for name, value in request.parameters.items() if name not in ("clientToken", kind.key)}
        _rows(request)[row["arn"]] = {**{name: row[name] for name in ("arn", "name", "tags")}, **new}
        return {kind.key: row["arn"]}

    return update


def _deletion(kind: _Kind) -> Operation:
    def delete(request: Request) -> Row:
        arn = _find(request, request[kind.key])["arn"]
        users = [
            row["arn"]
            for row in _rows(request).values()
            if row["arn"] != arn and f":{_IMAGE.path}/" not in row["arn"] and arn in _mentioned(row)
        ]
        if users:
            raise ApiError("ResourceDependencyException", f"The resource '{arn}' is used by {', '.join(users)}.")
        del _rows(request)[arn]
        return {kind.key: arn}

    return delete


# ---------------------------------------------------------------- images
def _create_image(request: Request) -> Row:
    """Make an AMI, and write its id where the distribution says."""
    recipe = _find(request, request["imageRecipeArn"])
    prefix = request.arn(NAME, f"{_IMAGE.path}/{recipe['name'].lower()}/{recipe['version']}/")
    number = 1 + sum(arn.startswith(prefix) for arn in _rows(request))
    name = f"{recipe['name']} {number}"
    ami = client("ec2", request.region).register_image(Name=name, Architecture="x86_64", RootDeviceName="/dev/sda1")
    made = {"region": request.region, "image": ami["ImageId"], "name": name, "accountId": request.account}
    _publish(request, ami["ImageId"])
    return _keep(
        request,
        _IMAGE,
        f"{prefix}{number}",
        name=recipe["name"],
        version=recipe["version"],
        state={"status": "AVAILABLE"},
        outputResources={"amis": [made]},
    )


def _publish(request: Request, ami: str) -> None:
    configuration = _find(request, request["distributionConfigurationArn"]) if _distributed(request) else {}
    for distribution in configuration.get("distributions", []):
        for row in distribution.get("ssmParameterConfigurations", []):
            client("ssm", distribution["region"]).put_parameter(
                Name=row["parameterName"],
                Value=ami,
                Type="String",
                Overwrite=True,
                DataType=row.get("dataType", "text"),
            )


def _distributed(request: Request) -> bool:
    return "distributionConfigurationArn" in request.parameters


def _delete_image(request: Request) -> Row:
    """Forget an image; its AMI stays, as Image Builder leaves it."""
    del _rows(request)[_find(request, request[_IMAGE.key])["arn"]]
    return {_IMAGE.key: request[_IMAGE.key]}


def _update_state(request: Request) -> Row:
    """Delete an image together with its AMIs: the one state that is emulated."""
    image = _find(request, request["resourceArn"])
    if request["state"]["status"] != "DELETED" or not request["includeResources"].get("amis"):
        raise ApiError("InvalidParameterValueException", "only DELETED with its AMIs is emulated")
    for ami in image["outputResources"]["amis"]:
        client("ec2", ami["region"]).deregister_image(ImageId=ami["image"])
    del _rows(request)[image["arn"]]
    return {"lifecycleExecutionId": f"lce-{request['clientToken']}", "resourceArn": image["arn"]}


def _start_pipeline(request: Request) -> Row:
    pipeline = _find(request, request[_PIPELINE.key])
    wanted = {name: pipeline[name] for name in pipeline if name.endswith("Arn")}
    parameters = {**wanted, "clientToken": request["clientToken"]}
    return _create_image(
        Request(account=request.account, region=request.region, partition=request.partition, parameters=parameters)
    )


# ---------------------------------------------------------------- tags
def _tag(request: Request) -> Row:
    _find(request, request["resourceArn"])["tags"].update(request["tags"])
    return {}


def _untag(request: Request) -> Row:
    row = _find(request, request["resourceArn"])
    row["tags"] = {key: value for key, value in row["tags"].items() if key not in request["tagKeys"]}
    return {}


def _tags(request: Request) -> Row:
    return {"tags": _find(request, request["resourceArn"])["tags"]}


_KINDS = (_COMPONENT, _RECIPE, _PIPELINE, *_CONFIGURATIONS)
_OPERATIONS: Mapping[str, Operation] = {
    **{f"Create{kind.title}": _creation(kind) for kind in _KINDS},
    **{f"Get{kind.title}": _reading(kind) for kind in (*_KINDS, _IMAGE)},
    **{f"List{kind.title}s": _listing(kind) for kind in (_RECIPE, *_CONFIGURATIONS)},
    **{f"Update{kind.title}": _change(kind) for kind in (_PIPELINE, *_CONFIGURATIONS)},
    **{f"Delete{kind.title}": _deletion(kind) for kind in _KINDS},
    "CreateImage": _create_image,
    "DeleteImage": _delete_image,
    "StartResourceStateUpdate": _update_state,
    "StartImagePipelineExecution": _start_pipeline,
}
_TAG_OPERATIONS: Mapping[str, Operation] = {"POST": _tag, "DELETE": _untag, "GET": _tags}


# ---------------------------------------------------------------- the protocol
def respond(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """Answer a request of the API.

    Raises:
        KeyError: The operation is not emulated.
    """
    path = environ["PATH_INFO"]
    operation = (
        _TAG_OPERATIONS[environ["REQUEST_METHOD"]]
        if path.startswith(_TAGS_PATH)
        else _OPERATIONS[path.removeprefix("/")]
    )
    status, headers = "200 OK", [("Content-Type", "application/json")]
    try:
        body = operation(_request(environ))
    except ApiError as error:
        status, body = "400 Bad Request", {"message": error.message}
        headers.append(("x-amzn-ErrorType", str(error.code)))
    start_response(status, headers)
    return [json.dumps(body).encode()]


def _request(environ: Mapping[str, Any]) -> Request:
    region = environ["HTTP_AUTHORIZATION"].split("Credential=")[1].split("/")[2]
    sent = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    query = parse_qs(environ.get("QUERY_STRING", ""))
    asked = {name: values if name == "tagKeys" else values[0] for name, values in query.items()}
    path = environ["PATH_INFO"]
    named = {"resourceArn": unquote(path.removeprefix(_TAGS_PATH))} if path.startswith(_TAGS_PATH) else {}
    parameters = {**(json.loads(sent) if sent else {}), **asked, **named}
    return Request(account=current(), region=region, partition=get_partition(region), parameters=parameters)
