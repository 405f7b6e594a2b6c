"""Whatever this process asks of AWS, it asks of the local AWS."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.httpsession import URLLib3Session

from cdk_trainyard.local import LocalAws, clients


@contextmanager
def asking(aws: LocalAws) -> Iterator[pytest.MonkeyPatch]:
    """Ask the local AWS during a block, without a connection, as programs that are started in it do with one."""
    send = URLLib3Session.send

    def answered(session: URLLib3Session, request: Any) -> Any:
        return clients._unsent(request) if request.url.startswith(aws.endpoint) else send(session, request)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in aws.environment.items():
            patch.setenv(name, value)
        patch.setattr(URLLib3Session, "send", answered)
        yield patch
