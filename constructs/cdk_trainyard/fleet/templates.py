"""The launch templates of a fleet's own nodes."""

from typing import ClassVar

from cdk_trainyard.fleet.launch_template import EfaLaunchTemplate


class MixedTemplate(EfaLaunchTemplate):
    """A launch template without purchase options: the Auto Scaling group, which has several templates, sets them."""

    _sold_by_template: ClassVar[bool] = False


class MasterTemplate(EfaLaunchTemplate):
    """The launch template of a master, whose type may have EFA or not."""

    _efa_needed: ClassVar[bool] = False
