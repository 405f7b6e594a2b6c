"""Every shipped deployment against an account that has everything."""

import pytest

from cdk_trainyard.local import LocalAws
from tests.doctor.parts import asked, put_right, shipped, wrong
from tests.support import DEPLOYMENTS


@pytest.mark.parametrize("name", [path.stem for path in DEPLOYMENTS])
def test_an_account_that_has_everything_is_right(here: LocalAws, name: str) -> None:
    deployment = shipped(name)
    put_right(here, deployment)
    assert wrong(asked(here, deployment)) == []
