"""The launch templates of a fleet's own nodes."""

from typing import ClassVar

from cdk_trainyard.fleet.launch_template import EfaLaunchTemplate


class MixedTemplate(EfaLaunchTemplate):
    """One of several templates of a group, which says itself how its instances are bought."""

    _sold_by_template: ClassVar[bool] = False


class MasterTemplate(EfaLaunchTemplate):
    """The template of a master, whose type may have EFA or not."""

    _efa_needed: ClassVar[bool] = False
