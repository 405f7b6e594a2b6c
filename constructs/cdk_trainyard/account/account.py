"""An AWS account in one Region, asked with the credentials in use."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from botocore import exceptions
from botocore.config import Config
from botocore.session import get_session

from cdk_trainyard.account.answer import Answer, refusal_of
from cdk_trainyard.account.call import Call

if TYPE_CHECKING:
    import boto3  # what it adds to botocore takes a tenth of a second to import, and is transfers to S3

_AT_ONCE: Final = 16
_CONFIG: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 8},
    connect_timeout=5,
    read_timeout=30,
    max_pool_connections=_AT_ONCE,
    user_agent_extra="cdk-trainyard",
)
_OF_SERVICES: Final = {
    # or a URL that is signed for others is of the global endpoint, and of a version that KMS does not take
    "s3": _CONFIG.merge(Config(signature_version="s3v4", s3={"addressing_style": "virtual"})),
}


class Account:
    """An AWS account in one Region.

    Clients are made once and used by several threads. Throttled calls are made again, as botocore's retry mode
    ``standard`` does, eight times at most.

    Attributes:
        region: The Region.
    """

    def __init__(self, region: str, *, session: "boto3.Session | None" = None) -> None:
        """Ask nothing yet.

        Args:
            region: The Region.
            session: A session of boto3. Default - one with the credentials in use.
        """
        self.region = region
        self._session = session
        self._make: Callable[..., Any] | None = None
        self._looked = False
        self._lock = Lock()
        self._clients: dict[tuple[str, str], Any] = {}

    def client(self, service: str, region: str | None = None) -> Any:
        """Return the client of a service; each is made once.

        Args:
            service: The service as boto3 names it.
            region: The Region of its endpoint. Default - the account's.

        Raises:
            botocore.exceptions.BotoCoreError: It cannot be made: an unknown profile, no credentials.
        """
        key = (service, region or self.region)
        with self._lock:  # making clients is not thread-safe, using them is
            if key not in self._clients:
                self._clients[key] = self._maker()(
                    service, region_name=key[1], config=_OF_SERVICES.get(service, _CONFIG)
                )
            return self._clients[key]

    def prepare(self, *services: str) -> None:
        """Make clients of services that are asked later, beside what goes on; what prevents it the asking says.

        Args:
            services: The services, in the order in which they are asked.
        """

        def make() -> None:
            with suppress(exceptions.BotoCoreError):
                for service in services:
                    self.client(service)

        Thread(target=make, daemon=True).start()

    def _maker(self) -> Callable[..., Any]:
        """Return what makes clients; credentials are looked for once: without any, each would ask the network."""
        if not self._looked:
            if self._session is not None:
                make, found = self._session.client, self._session.get_credentials()
            else:
                session = get_session()
                make, found = session.create_client, session.get_credentials()
            self._make = make if found is not None else None
            self._looked = True
        if self._make is None:
            raise exceptions.NoCredentialsError
        return self._make

    def ask(self, call: Call) -> Answer:
        """Make a call and return what was said, all pages of it; refusals are answers.

        Args:
            call: The call.
        """
        try:
            client = self.client(call.service, call.region or None)
            if client.can_paginate(call.method):
                value = client.get_paginator(call.method).paginate(**call.parameters).build_full_result()
            else:
                value = getattr(client, call.method)(**call.parameters)
        except (exceptions.BotoCoreError, exceptions.ClientError) as error:
            return Answer(call=call, refusal=refusal_of(error))
        return Answer(call=call, value={name: each for name, each in value.items() if name != "ResponseMetadata"})

    def ask_all(
        self, calls: Iterable[Call], heard: Callable[[Answer], None] = lambda _answer: None
    ) -> dict[Call, Answer]:
        """Make calls side by side; the same call is made once.

        Args:
            calls: The calls.
            heard: Told each answer when it has come, in the thread that asked. Default - nobody is told.

        Returns:
            The answers by their calls, in the order of the calls.
        """

        def one(call: Call) -> Answer:
            answer = self.ask(call)
            heard(answer)
            return answer

        wanted = list(dict.fromkeys(calls))
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            return dict(zip(wanted, pool.map(one, wanted), strict=True))

    def identity(self) -> Answer:
        """Say who asks: account, ARN and user id."""
        return self.ask(Call("sts", "GetCallerIdentity"))
