"""What runs on a node when it starts."""

from dataclasses import dataclass
from enum import StrEnum

from cdk_trainyard.lifecycle import LifecycleScripts


class LifecycleTrigger(StrEnum):
    """Who configures the node."""

    IMAGE = "image"
    """HyperPod's image alone (the documentation's mode A)."""
    ON_INIT_COMPLETE = "OnInitComplete"
    """HyperPod's image, and then a script of yours (mode B)."""
    ON_CREATE = "OnCreate"
    """A script of yours alone, which must also start Slurm (mode C)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifecycle:
    """What runs on a node when it starts: one of three modes.

    Attributes:
        trigger: The mode.
        scripts: The bundle to run from. Default - the one that the cluster uploads to its ``scripts_bucket``.
        file: Name of the script to run, a file at the root of the bundle. Default - the bundle's entry file.
    """

    trigger: LifecycleTrigger
    scripts: LifecycleScripts | None = None
    file: str | None = None

    @classmethod
    def image(cls) -> "Lifecycle":
        """HyperPod's image configures Slurm, containers, accounting and keys; nothing of yours runs."""
        return cls(trigger=LifecycleTrigger.IMAGE)

    @classmethod
    def on_init_complete(cls, scripts: LifecycleScripts | None = None, *, file: str | None = None) -> "Lifecycle":
        """HyperPod's image configures the node, then a script of yours extends it."""
        return cls(trigger=LifecycleTrigger.ON_INIT_COMPLETE, scripts=scripts, file=file)

    @classmethod
    def on_create(cls, scripts: LifecycleScripts | None = None, *, file: str | None = None) -> "Lifecycle":
        """A script of yours configures the node alone, and starts Slurm."""
        return cls(trigger=LifecycleTrigger.ON_CREATE, scripts=scripts, file=file)

    @property
    def runs_scripts(self) -> bool:
        """Whether anything of the user's runs."""
        return self.trigger is not LifecycleTrigger.IMAGE
