"""A fleet deployment's nodes, master and images as constructs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from aws_cdk import Stack
from constructs import Construct

from cdk_trainyard.cluster import Surroundings
from cdk_trainyard.deployment.exchange import Exchange
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.fleet.section import FleetSection
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.fleet import EfaFleet, MasterNode, NodeImage, TrainingImage
from cdk_trainyard.fleet.spec_image import TrainingImageSpec
from cdk_trainyard.monitoring import MetricsSource
from cdk_trainyard.network import Network


class Images(Construct):
    """The images that are built here, each once.

    Args:
        network: Where instances that build stand.
    """

    def __init__(self, scope: Construct, construct_id: str, *, network: Network) -> None:
        super().__init__(scope, construct_id)
        self._network = network
        self._known: dict[TrainingImageSpec, TrainingImage] = {}

    @property
    def built(self) -> list[TrainingImage]:
        """The images."""
        return list(self._known.values())

    @property
    def outputs(self) -> Mapping[str, str]:
        """How each is built and removed, and where its id stands."""
        return {
            f"{image.node.id}{name}": value
            for image in self.built
            for name, value in (
                ("BuildCommand", image.build_command),
                ("RemoveCommand", image.remove_command),
                ("Parameter", image.parameter_name),
            )
        }

    def taken(self, image: NodeImage) -> NodeImage:
        """Return an image as constructs take it: one that is to be built is defined."""
        said = image.said_build
        if said is None:
            return image
        if said not in self._known:
            keywords = Exchange(existing=Existing.of(self)).keywords(said)
            name = f"Image{len(self._known) or ''}"
            self._known[said] = TrainingImage(self, name, network=self._network, **keywords)
        return replace(image, build=self._known[said])


class FleetWithMaster(EfaFleet):
    """A fleet with the node from which jobs are started, and the images that are built for them."""

    master: MasterNode | None = None
    images: Images

    @property
    def metrics_sources(self) -> Sequence[MetricsSource]:
        """Whose metrics its nodes give, when they go anywhere; the master is always there."""
        found = super().metrics_sources
        staying = [MetricsSource.CONTROLLER] if self.master and found else []
        return list(dict.fromkeys([*staying, *found]))

    @property
    def outputs(self) -> Mapping[str, str]:
        """Name to value of what people ask for first, to be made outputs of a stack."""
        connect = {"ConnectCommand": self.master.connect_command} if self.master else {}
        return {**super().outputs, **connect, **self.images.outputs}


def cluster(stack: Stack, deployment: DeploymentSpec, around: Surroundings) -> FleetWithMaster:
    """Define the nodes, their images, and the node from which jobs are started.

    Args:
        stack: Where.
        deployment: The deployment.
        around: What the deployment has beside its cluster.
    """
    section: FleetSection = deployment.cluster
    images = Images(stack, "Images", network=around.network)
    exchange = Exchange(existing=Existing.of(stack))
    keywords = exchange.keywords(replace(section, image=images.taken(section.image), master=None))
    keywords.pop("master")
    fleet = FleetWithMaster(
        stack,
        "Fleet",
        network=around.network,
        scripts_bucket=around.buckets.scripts,
        security_group=around.security_group,
        mounts=around.mounts,
        metrics=around.metrics,
        **keywords,
    )
    fleet.images = images
    if section.master is not None:
        own = section.master.image
        master = replace(section.master, image=images.taken(own)) if own else section.master
        fleet.master = MasterNode(stack, "Master", fleet=fleet, **exchange.keywords(master))
    return fleet
