"""A fleet deployment's nodes, master and image as constructs, for the stacks."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.deployment.alerts_topic import alerts_topic
from cdk_trainyard.deployment.exchange import RETENTION
from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.deployment.fleet import values
from cdk_trainyard.deployment.fleet.model import FleetDeployment
from cdk_trainyard.deployment.fleet.section import ImageBuildSection, NodeImageSection
from cdk_trainyard.fleet import EfaFleet, MasterNode, NodeImage, TrainingImage
from cdk_trainyard.instances import AcceleratorKind
from cdk_trainyard.network import EfaBackend, EfaSecurityGroup, Network
from cdk_trainyard.storage import Lustre, TrainingBuckets

_WHY_ANYBODY = "a condition holds it to the service-linked role of Auto Scaling, which may not exist yet"
_AUTO_SCALING_ROLE = "autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"


class Images(Construct):
    """The images that are built here, each once.

    Args:
        network: Where instances that build stand.

    Attributes:
        built: The images.
    """

    def __init__(self, scope: Construct, construct_id: str, *, network: Network) -> None:
        super().__init__(scope, construct_id)
        self._network = network
        self._known: dict[ImageBuildSection, TrainingImage] = {}

    @property
    def built(self) -> list[TrainingImage]:
        """The images."""
        return list(self._known.values())

    def find(self, section: NodeImageSection) -> NodeImage:
        """Return an image, and define it when it is to be built."""
        return values.image(section, self._find_built)

    def _find_built(self, section: ImageBuildSection) -> NodeImage:
        if section not in self._known:
            self._known[section] = self._define(section)
        return NodeImage.built_by(self._known[section])

    def _define(self, section: ImageBuildSection) -> TrainingImage:
        return TrainingImage(
            self,
            f"Image{len(self._known) or ''}",
            base=NodeImage.dlami(section.base),
            network=self._network,
            accelerator=AcceleratorKind(section.accelerator) if section.accelerator else None,
            families=section.families,
            nvidia_branch=section.nvidia_branch,
            efa_installer=values.efa_installer(section),
            commands=section.commands,
            instance_type=section.instance_type,
            volume_gib=section.volume_gib,
            regions=section.regions,
            schedule=section.schedule,
            build=section.while_deploying,
        )


def fleet(
    scope: Construct,
    construct_id: str,
    deployment: FleetDeployment,
    *,
    network: Network,
    security_group: EfaSecurityGroup,
    buckets: TrainingBuckets,
    lustre: Lustre | None,
    images: Images,
) -> EfaFleet:
    """Define the nodes, which may use the buckets as jobs do."""
    section, existing = deployment.cluster, Existing.of(scope)
    nodes = EfaFleet(
        scope,
        construct_id,
        network=network,
        scripts_bucket=buckets.scripts,
        size=values.size(section),
        image=images.find(section.image),
        instance_type=section.instance_type,
        instance_types=section.instance_types,
        capacity=values.capacity(section),
        placement=values.placement(section),
        backend=EfaBackend(section.interfaces),
        security_group=security_group,
        lustre=lustre,
        mount_at=deployment.storage.lustre.at if deployment.storage.lustre else "/fsx",
        fleet_name=section.fleet_name,
        role=existing.role(section.role_arn) if section.role_arn else None,
        volume_gib=section.volume_gib,
        volume_key=existing.key(section.volume_key_arn),
        threads_per_core=section.threads_per_core,
        key_name=section.key_pair,
        topic=_topic(scope, deployment),
        log_retention=RETENTION[section.log_retention_days],
    )
    nodes.use(buckets)
    nodes.node_role.allow_pull(existing.repositories(section.image_repositories))
    nodes.node_role.allow_remote_write(section.prometheus_workspace_arn)
    return nodes


def master(
    scope: Construct, construct_id: str, deployment: FleetDeployment, *, fleet: EfaFleet, images: Images
) -> MasterNode | None:
    """Define the node from which jobs are started, if the file asks for one."""
    section = deployment.cluster.master
    if section is None:
        return None
    return MasterNode(
        scope,
        construct_id,
        fleet=fleet,
        instance_type=section.instance_type,
        image=images.find(section.image) if section.image else None,
        volume_gib=section.volume_gib,
        key_name=section.key_pair,
    )


def _topic(scope: Construct, deployment: FleetDeployment) -> sns.ITopic | None:
    """Return who is told of nodes that come and go.

    Auto Scaling publishes as its service-linked role (EC2 Auto Scaling user guide, "Amazon SNS notification options"),
    which may not exist before the first group does: the key's policy names it in a condition.
    """
    if deployment.alerts is None:
        return None
    role = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/{_AUTO_SCALING_ROLE}"
    publisher = iam.AnyPrincipal().with_conditions(
        {"StringEquals": {"kms:CallerAccount": Aws.ACCOUNT_ID}, "ArnEquals": {"aws:PrincipalArn": role}}
    )
    return alerts_topic(
        scope, "Alerts", deployment.alerts, publisher=publisher, sid="AutoScaling", anybody_because=_WHY_ANYBODY
    )
