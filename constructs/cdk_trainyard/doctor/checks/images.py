"""Machine images: their parameters, and whether they are there and of use."""

from collections.abc import Iterator
from typing import Any, Final

from cdk_trainyard.account import Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import Answers, Check, place
from cdk_trainyard.doctor.file import texts
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.fleet.images import parameter_of
from cdk_trainyard.serving.catalogue import host_image

NAME: Final = "image"
_ID: Final = "ami-"


def _images(deployment: DeploymentSpec) -> dict[str, str]:
    """Return the images that the file chooses, by id or by the parameter that holds it, with the places."""
    found: dict[str, str] = {}
    for said in texts(deployment, "ami_id", "image_id", "base", "dlami", "parameter"):
        name = parameter_of(said.value) or said.value
        if name.startswith((_ID, "/")):
            found.setdefault(name, said.at(deployment))
    if deployment.serving is not None:
        parameter = host_image(deployment.serving.hosts.host_image).parameter
        found.setdefault(parameter, place(deployment, "serving", "hosts"))
    return found


def _parameter(name: str) -> Call:
    return Call("ssm", "GetParameter", {"Name": name})


def _image(identifier: str) -> Call:
    return Call("ec2", "DescribeImages", {"ImageIds": [identifier]})


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield a call for each image, or for its parameter."""
    return (_image(name) if name.startswith(_ID) else _parameter(name) for name in _images(deployment))


def then(deployment: DeploymentSpec, answers: Answers) -> Iterator[Call]:
    """Yield a call for each image that a parameter holds."""
    return (_image(held) for name in _images(deployment) if (held := _held(answers, name)))


def _held(answers: Answers, name: str) -> str:
    return "" if name.startswith(_ID) else str(answers[_parameter(name)].value.get("Parameter", {}).get("Value", ""))


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether each image is there and of use."""
    for name, at in _images(deployment).items():
        yield _finding(answers, name, at)


def _finding(answers: Answers, name: str, at: str) -> Finding:
    words = f"the image {name}"
    if not name.startswith(_ID):
        call = _parameter(name)
        if refused := answers.refused([call]):
            return unanswered(NAME, words, refused, at)
        if answers[call].absent:
            has = "no such parameter in this Region"
            remedy = "another image, or another Region"
            return Finding(check=NAME, needed=words, has=has, verdict=Verdict.SHORT, call=call, remedy=remedy, at=at)
    call = _image(_held(answers, name) or name)
    if refused := answers.refused([call]):
        return unanswered(NAME, words, refused, at)
    row = next(iter(answers.items(call, "Images")), None)
    problem = _problem(row)
    has = problem or f"{call.parameters['ImageIds'][0]}, {(row or {}).get('Architecture', '')}"
    verdict = Verdict.SHORT if problem else Verdict.OK
    remedy = "another image" if problem else ""
    return Finding(check=NAME, needed=words, has=has, verdict=verdict, call=call, remedy=remedy, at=at)


def _problem(row: dict[str, Any] | None) -> str:
    if row is None:
        return "there is none, or it is not shared with this account"
    return "" if row.get("State", "available") == "available" else f"it is {row['State']}"


CHECK: Final = Check(
    name=NAME,
    asks=("ssm GetParameter", "ec2 DescribeImages"),
    calls=calls,
    then=then,
    findings=findings,
)
"""Machine images."""
