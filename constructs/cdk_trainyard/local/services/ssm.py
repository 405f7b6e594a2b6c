"""SSM's public parameters of machine images: moto knows a few of them; here all have a value."""

import re
from datetime import UTC, datetime

from moto.ssm.models import Parameter, ParameterDict, ssm_backends

from cdk_trainyard.local.services.api import replace

IMAGE = "ami-12c6146b"
"""A machine image that moto knows."""

_PUBLIC_IMAGE = re.compile(
    r"/aws/service/(canonical/ubuntu|deeplearning/ami|ecs/optimized-ami|neuron/dlami)/[^:]+/(ami-id|image_id)"
)
_load = ParameterDict._check_loading_status  # noqa: SLF001  where moto loads public parameters when they are asked for


def _load_or_make_up(parameters: ParameterDict, name: str) -> None:
    _load(parameters, name)
    if _PUBLIC_IMAGE.fullmatch(name or "") and not dict.__contains__(parameters, name):
        made_up = Parameter(  # type: ignore[abstract]  # moto does the same
            account_id=parameters.account_id,
            name=name,
            value=IMAGE,
            parameter_type="String",
            description=None,
            allowed_pattern=None,
            keyid=None,
            last_modified_date=datetime.now(UTC),
            version=1,
            data_type="aws:ec2:image",
        )
        dict.__setitem__(parameters, name, [made_up])


def find_parameter(account: str, region: str, name: str) -> Parameter | None:
    """Return a parameter, or ``None`` when there is none of this name."""
    return ssm_backends[account][region].get_parameter(name)


def extend() -> None:
    """Give moto's SSM what it lacks."""
    replace(ParameterDict, {"_check_loading_status": _load_or_make_up})
