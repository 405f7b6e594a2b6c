"""The server: moto's services with this package's CloudFormation, on 127.0.0.1 and nowhere else."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, ClassVar, Self

from moto import backends
from moto.core import base_backend
from moto.core.base_backend import AccountSpecificBackend, BackendDict, BaseBackend
from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import BaseWSGIServer, make_server

from cdk_trainyard.local import clients, shortcuts
from cdk_trainyard.local.access import recording, sessions
from cdk_trainyard.local.access.credentials import Credentials, new_credentials
from cdk_trainyard.local.access.recording import RecordedCall
from cdk_trainyard.local.application import application
from cdk_trainyard.local.engine.api import replace_cloudformation
from cdk_trainyard.local.environment import ACCOUNT, DEFAULT_REGION, environment
from cdk_trainyard.local.existing import make_existing
from cdk_trainyard.local.faults import Fault, faults
from cdk_trainyard.local.mishaps import NO_CAPACITY, shortage
from cdk_trainyard.local.services import (
    accounts,
    amp,
    apigateway,
    autoscaling,
    batch,
    capacity,
    ce,
    cloudtrail,
    cloudwatch,
    codebuild,
    dynamodb,
    ec2,
    ecs,
    efs,
    elbv2,
    events,
    fsx,
    iam,
    lambda_,
    launches,
    logs,
    rds,
    s3,
    sagemaker,
    servicequotas,
    session_manager,
    ssm,
)
from cdk_trainyard.local.services.sagemaker_nodes import fail
from cdk_trainyard.local.state import forget_everything

RECORDING_VARIABLE = "CDK_TRAINYARD_CALLS"
"""Names the file that takes the recording of roles' calls when a server stops."""
_HOST = "127.0.0.1"
_EXTENDED = (
    accounts,
    amp,
    apigateway,
    autoscaling,
    batch,
    capacity,
    ce,
    cloudtrail,
    cloudwatch,
    codebuild,
    dynamodb,
    ec2,
    ecs,
    efs,
    elbv2,
    events,
    fsx,
    iam,
    lambda_,
    launches,
    logs,
    rds,
    s3,
    sagemaker,
    servicequotas,
    session_manager,
    sessions,
    ssm,
)
AccountSpecificBackend.get_session()  # made once, now: later the user's profile would be in the way


class LocalAws:
    """An AWS of one's own: starts on entering, ends on leaving, and forgets everything in between.

    One runs at a time in a process; it has every region.

    Args:
        port: Port on 127.0.0.1. Default - a free one.
        region: Region of `environment` and of `client`. Default: us-east-1.
        account: The account that it is. Default: 123456789012.

    Attributes:
        region: As given.
        account: As given.

    Raises:
        ValueError: ``account`` is not 12 digits.
    """

    _running: ClassVar["LocalAws | None"] = None

    def __init__(self, *, port: int = 0, region: str = DEFAULT_REGION, account: str = ACCOUNT) -> None:
        self.region = region
        self.account = accounts.checked(account)
        self._wanted_port = port
        self._server: BaseWSGIServer | None = None
        self._credentials = new_credentials()

    def start(self) -> Self:
        """Start to serve, in a thread of this process.

        Raises:
            RuntimeError: Another one runs in this process.
        """
        if LocalAws._running is not None:
            raise RuntimeError(f"a LocalAws runs in this process already, on {LocalAws._running.endpoint}")
        _extend_moto()
        accounts.use(self.account)
        self._credentials = new_credentials()
        self._server = make_server(
            _HOST, self._wanted_port, application(self._credentials), threaded=True, request_handler=_Handler
        )
        os.environ["MOTO_PORT"] = str(self._server.port)  # moto's own calls of itself read it
        clients.connect(self._server, self.endpoint, self._credentials)
        self.reset()
        Thread(target=self._server.serve_forever, name="local-aws", daemon=True).start()
        LocalAws._running = self
        return self

    def stop(self) -> None:
        """Stop to serve."""
        if self._server is not None:
            if place := os.environ.get(RECORDING_VARIABLE):
                recording.write(Path(place))
            self._server.shutdown()
            self._server.server_close()
            self._server, LocalAws._running = None, None
            clients.disconnect()
            lambda_.clean_up()

    def __enter__(self) -> Self:
        """Start to serve."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop to serve."""
        self.stop()

    @property
    def endpoint(self) -> str:
        """``http://127.0.0.1:<port>``."""
        if self._server is None:
            raise RuntimeError("this LocalAws does not run; enter it first")
        return f"http://{_HOST}:{self._server.port}"

    @property
    def credentials(self) -> Credentials:
        """The access key of this run, made when it started: whoever has it is the administrator."""
        return self._credentials

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment, changed so that SDKs and the CDK CLI reach this AWS and nothing else."""
        return environment(self.endpoint, self.region, os.environ, self._credentials, self.account)

    def client(self, service: str, region: str | None = None) -> Any:
        """Return a boto3 client of ``service`` here."""
        return clients.client(service, region or self.region, own=False)

    @property
    def session(self) -> Any:
        """A session of boto3's own, as users' programs have: its clients make calls again that were throttled."""
        return clients.session(self.region)

    def set_quota(self, service: str, name: str, value: float, region: str | None = None) -> None:
        """Set a quota of the account.

        Args:
            service: The code of its service: ``"sagemaker"``.
            name: Its name: ``"ml.trn1.32xlarge for cluster usage"``.
            value: Its value.
            region: Where. Default - `region`.
        """
        servicequotas.set_quota(self.account, region or self.region, service, name, value)

    def charge(self, service: str, amount: str, tags: Mapping[str, str]) -> None:
        """Have something cost money, every day, as Cost Explorer tells it.

        Args:
            service: The service as bills name it.
            amount: USD a day.
            tags: Its cost allocation tags.
        """
        ce.charge(self.account, ce.Daily(service=service, amount=Decimal(amount), tags=tags))

    @staticmethod
    def shortage(instance_type: str, message: str = NO_CAPACITY) -> AbstractContextManager[None]:
        """Have no capacity for an instance type during a block: nodes of it that are asked for do not come.

        Args:
            instance_type: The type as EC2 names it.
            message: What AWS says of it. Default: that there is not sufficient capacity.
        """
        return shortage(instance_type, message)

    @staticmethod
    def fail_node(instance_id: str, message: str) -> None:
        """Have a node of a HyperPod cluster fail.

        Args:
            instance_id: The node.
            message: What is wrong with it.

        Raises:
            ValueError: No cluster has it.
        """
        fail(instance_id, message)

    @staticmethod
    def faults(*wanted: Fault) -> AbstractContextManager[None]:
        """Have calls go wrong during a block: `with aws.faults(Fault(call="ec2 Describe*", seconds=0.1)):`.

        Args:
            wanted: What goes wrong. What this AWS asks itself goes on as it is.
        """
        return faults(*wanted)

    @property
    def calls(self) -> list[RecordedCall]:
        """Every call that a role's session has made, with each permission that it needed, in their order."""
        return recording.calls()

    @property
    def recording(self) -> dict[str, Any]:
        """The same for a file: `policies` by name, and `calls`, with names that are the same in every run."""
        return recording.recording()

    @staticmethod
    def add_existing(arn: str) -> None:
        """Have something that a deployment names and does not make: it exists from now on, with this very ARN.

        Args:
            arn: ARN of a certificate, a key pair, an IAM role, a KMS key, a bucket, a secret or a topic, of this
                account; or of a VPC, a subnet, a route table, a gateway or a security group with what its ARN does
                not say: ``arn:…:vpc/vpc-0a1b2c3d,CidrBlock=10.0.0.0/16``. A certificate is issued, a secret's value
                is random, a bucket is empty, a security group trusts itself.

        Raises:
            ValueError: Nothing with this ARN can be made here; says why.
        """
        make_existing(arn)

    @staticmethod
    def reset() -> None:
        """Forget every resource of every service."""
        BackendDict.reset()
        _forget_models()
        forget_everything()


class _Handler(MotoRequestHandler):
    """Requests leave no line in the output."""

    def log_request(self, *_args: Any, **_more: Any) -> None:
        """Do nothing."""


def _extend_moto() -> None:
    """Put this package's services into moto; again does no harm."""
    default_user_config["iam"] = {"load_aws_managed_policies": True}
    if not _Extended.done:
        BaseBackend.reset = _let_go  # type: ignore[assignment, method-assign]
        modules = tuple(backends.list_of_moto_modules())  # moto lists its folder for every request otherwise
        backends.list_of_moto_modules = lambda: modules
        shortcuts.extend()
        replace_cloudformation()
        for service in _EXTENDED:
            service.extend()
        _Extended.done = True


def _forget_models() -> None:
    """Empty moto's lists of everything that was ever made: policies and images alone are thousands of objects."""
    for models in base_backend.model_data.values():  # type: ignore[attr-defined]
        for model in models.values():
            model.instances_tracked.clear()  # type: ignore[attr-defined]


def _let_go(_backend: BaseBackend) -> None:
    """Leave a backend as it is: moto throws it away after its reset, and would make it anew before, for a second."""


class _Extended:
    done = False
