"""Lambda functions in Python really run, in a child process of this server.

moto runs functions in containers, and without docker not at all.
"""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError
from moto.awslambda.models import EventSourceMapping, LambdaBackend, LambdaFunction, lambda_backends

from cdk_trainyard.local.access.credentials import Credentials
from cdk_trainyard.local.access.sessions import Session, issue
from cdk_trainyard.local.clients import client, endpoint
from cdk_trainyard.local.environment import environment
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.accounts import current
from cdk_trainyard.local.services.api import remember, replace
from cdk_trainyard.local.services.on_behalf import read_events

_GRACE_S = 60
_INVOCATION = "RequestId: 00000000-0000-0000-0000-000000000000"
_BOOT = Path(__file__).with_name("lambda_boot.py")
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")


class _Code:
    """Unpacked archives, under one folder that ends with the server."""

    folder: Path | None = None

    @classmethod
    def unpacked(cls, archive: bytes) -> Path:
        """Return the folder with the content of ``archive``."""
        if cls.folder is None:
            cls.folder = Path(tempfile.mkdtemp(prefix="cdk-trainyard-lambda-"))
        target = cls.folder / hashlib.sha256(archive).hexdigest()[:32]
        if not target.exists():
            with zipfile.ZipFile(io.BytesIO(archive)) as found:
                found.extractall(target)
        return target


def clean_up() -> None:
    """Delete the unpacked code."""
    if _Code.folder is not None:
        shutil.rmtree(_Code.folder, ignore_errors=True)
        _Code.folder = None


def _layer_folders(function: LambdaFunction) -> list[Path]:
    backend = lambda_backends[function.account_id][function.region]
    folders = []
    for layer in function.layers:
        name, number = str(layer["Arn"]).split(":")[-2:]
        version = backend.get_layer_version(name, number)
        if version.code_bytes:
            folders.append(_Code.unpacked(version.code_bytes))
    return folders


def session_of(function: LambdaFunction) -> Session:
    """Return a new session of a function's execution role.

    Raises:
        ApiError: The role does not exist.
    """
    return issue(function.role, function.function_name, "function", function.region)


def _variables(function: LambdaFunction, key: Credentials, code: Path, scratch: str) -> dict[str, str]:
    """Return the environment of the function: Lambda's variables, its own, and the way to this server only."""
    inherited = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    paths = [code, *(folder / "python" for folder in _layer_folders(function))]
    own = {name: str(value) for name, value in function.environment_vars.items()}
    return {
        **environment(endpoint(), function.region, inherited, key, current()),
        "HOME": scratch,
        "TMPDIR": scratch,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_LOG_GROUP_NAME": function.logs_group_name,
        "LAMBDA_TASK_ROOT": str(code),
        "_HANDLER": str(function.handler),
        **own,
        "LOCAL_AWS_FUNCTION_ARN": function.function_arn,
        "LOCAL_AWS_TIMEOUT_S": str(function.timeout),
        "LOCAL_AWS_RESULT": str(Path(scratch, "result.json")),
    }


def run(function: LambdaFunction, event: Any) -> tuple[Any, bool, str]:
    """Run a function: its result, whether it failed, and what it printed."""
    runtime = str(function.run_time or "container image")
    if not runtime.startswith("python"):
        return _error("Runtime.NotEmulated", f"local AWS: the runtime {runtime} is not emulated"), True, ""
    code, key = _Code.unpacked(function.code_bytes), session_of(function).credentials
    with tempfile.TemporaryDirectory(prefix="cdk-trainyard-run-") as scratch:
        try:
            done = subprocess.run(  # noqa: S603  it is the user's own function, as documented
                [sys.executable, str(_BOOT)],
                input=json.dumps(event),
                env=_variables(function, key, code, scratch),
                cwd=code,
                capture_output=True,
                text=True,
                timeout=int(function.timeout) + _GRACE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _error("Sandbox.Timedout", f"Task timed out after {function.timeout}.00 seconds"), True, ""
        printed = done.stdout + done.stderr
        result = Path(scratch, "result.json")
        answer: Mapping[str, Any] = json.loads(result.read_text()) if result.exists() else {}
    _log(function, key, printed)
    if "result" in answer:
        return answer["result"], False, printed
    ended = _error("Runtime.ExitError", f"the function ended with exit code {done.returncode}")
    return answer.get("error", ended), True, printed


def _error(kind: str, message: str) -> dict[str, str]:
    return {"errorType": kind, "errorMessage": message}


def _log(function: LambdaFunction, key: Credentials, printed: str) -> None:
    """Write to a function's log, with its own role as Lambda does; a role that may not write leaves no log."""
    logs, group, stream = client("logs", function.region, key), function.logs_group_name, f"[$LATEST]{uuid4().hex}"
    now = int(time.time() * 1000)
    lines = [f"START {_INVOCATION}", *printed.splitlines(), f"END {_INVOCATION}"]
    events = [{"timestamp": now, "message": line or " "} for line in lines]
    with suppress(ClientError):
        try:
            logs.create_log_stream(logGroupName=group, logStreamName=stream)
        except logs.exceptions.ResourceNotFoundException:
            logs.create_log_group(logGroupName=group)
            logs.create_log_stream(logGroupName=group, logStreamName=stream)
        logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)


def _invoke(function: LambdaFunction, event: Any = None) -> tuple[str, bool, str]:
    result, failed, printed = run(function, event)
    return json.dumps(result), failed, printed


_make, _change = LambdaFunction.__init__, LambdaFunction.update_configuration
_describe = LambdaFunction.get_configuration


def _made(self: LambdaFunction, account_id: str, spec: dict[str, Any], region: str, version: str | int = 1) -> None:
    _make(self, account_id, spec, region, version)
    _keep_logging(self, spec)


def _changed(self: LambdaFunction, updates: dict[str, Any]) -> dict[str, Any]:
    _keep_logging(self, updates)
    return _change(self, updates)


def _keep_logging(function: LambdaFunction, said: Mapping[str, Any]) -> None:
    """Have a function write to the log group of its own that it names, which moto forgets."""
    default = {"LogFormat": "Text", "LogGroup": f"/aws/lambda/{function.function_name}"}
    kept = {**default, **getattr(function, "logging_config", {}), **said.get("LoggingConfig", {})}
    remember(function, {"logging_config": kept, "logs_group_name": kept["LogGroup"]})


def _described(self: LambdaFunction, on_create: bool = False) -> dict[str, Any]:
    return {**_describe(self, on_create), "LoggingConfig": vars(self)["logging_config"]}


_map = LambdaBackend.create_event_source_mapping


def _mapped(self: LambdaBackend, spec: dict[str, Any]) -> EventSourceMapping:
    """Map a source whose events the function's role may read."""
    made, function = _map(self, spec), self.get_function(spec["FunctionName"])
    try:
        read_events(function.role, spec["EventSourceArn"], self.region_name)
    except ApiError as refusal:
        self.delete_event_source_mapping(made.uuid)
        message = f"The function execution role does not have permissions to read the event source: {refusal.message}"
        raise ApiError("InvalidParameterValueException", message) from refusal
    return made


def extend() -> None:
    """Make moto's Lambda run functions here."""
    replace(LambdaBackend, {"create_event_source_mapping": _mapped})
    corrections = {"__init__": _made, "update_configuration": _changed, "get_configuration": _described}
    replace(LambdaFunction, {"_invoke_lambda": _invoke, **corrections})
