"""Each construct has the options of its specification as keywords, and what only Python can connect."""

import inspect

import pytest

from cdk_trainyard.fleet import EfaFleet, EfaLaunchTemplate, MasterNode, TrainingImage
from cdk_trainyard.fleet.spec import FleetSpec, LaunchTemplateSpec, MasterSpec
from cdk_trainyard.fleet.spec_image import TrainingImageSpec
from cdk_trainyard.options.fields import fields_of

_GROUPS = "security_group extra_security_groups placement_group "


@pytest.mark.parametrize(
    ("construct", "spec", "wiring"),
    [
        (EfaFleet, FleetSpec, _GROUPS + "network scripts_bucket mounts metrics"),
        (EfaLaunchTemplate, LaunchTemplateSpec, _GROUPS + "subnet role user_data"),
        (MasterNode, MasterSpec, "fleet"),
        (TrainingImage, TrainingImageSpec, "network"),
    ],
)
def test_keywords_are_options_and_wiring(construct: type, spec: type, wiring: str) -> None:
    keywords = set(inspect.signature(construct.__init__).parameters) - {"self", "scope", "construct_id", "names"}
    assert keywords == {*fields_of(spec), *wiring.split()}
