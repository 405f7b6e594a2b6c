"""The node that people work on: it starts the jobs of a fleet, and is no part of them."""

import jsii
from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.fleet.bootstrap import MASTER, user_data
from cdk_trainyard.fleet.fleet import EfaFleet
from cdk_trainyard.fleet.node_role import FLEET_TAG
from cdk_trainyard.fleet.rules_nodes import master_problems
from cdk_trainyard.fleet.spec import MasterSpec
from cdk_trainyard.fleet.spec_image import NodeImage
from cdk_trainyard.fleet.templates import MasterTemplate
from cdk_trainyard.fleet.warnings import MASTER_WARNINGS
from cdk_trainyard.identifiers import ROLE_TAG
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.names import Naming, named
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import warnings_of
from cdk_trainyard.surroundings import surroundings

_REPLACEABLE = (
    "it holds nothing: jobs, data and logs are on the file system, and CloudFormation must be able to replace it"
)
_IN_TEMPLATE = "its launch template names the subnet and the instance profile, which the rule does not read"


@jsii.implements(ec2.IConnectable)
class MasterNode(Construct):
    """One instance in a fleet's subnet, from which ``mpirun`` and ``torchrun`` are started.

    It is not in the fleet's placement group: it computes nothing, and a group whose instances are of several types, or
    launched apart, runs out of capacity sooner (EC2 user guide, "Placement strategies", cluster placement groups).

    Defines the instance and its launch template. It is set up as the fleet's nodes are, with the same SSH key, hostfile
    and file system. Another image, type or version of the scripts is another instance: keep what matters on the file
    system.

    Args:
        fleet: The fleet.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        instance_type: Its type, with EFA or without. Default: c5n.18xlarge.
        image: Its machine image. Default - that of the nodes.
        volume_gib: Size of its root volume in GiB, encrypted with the key of the nodes' volumes. Default: 200.
        key_pair: An EC2 key pair. Default - none; sessions are opened by Session Manager.

    Attributes:
        template: Its launch template.
        instance: The L1 instance.

    Raises:
        ConfigurationError: It cannot be launched.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        fleet: EfaFleet,
        names: Naming | None = None,
        instance_type: str | InstanceType | ec2.InstanceType = "c5n.18xlarge",
        image: NodeImage | None = None,
        volume_gib: int = 200,
        key_pair: ec2.IKeyPair | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        self._fleet = fleet
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(MasterSpec, locals()))
        problems = master_problems(spec, fleet.image, judge.environment, types=fleet.types)
        raise_problems(self, [*judge.problems, *problems])
        say_warnings(self, warnings_of("fleet", MASTER_WARNINGS, image or fleet.image))
        kind = InstanceType.find(spec.instance_type)
        facts = fleet.facts(MASTER, types=(kind,) if kind else ())
        self.template = MasterTemplate(
            self,
            "Template",
            instance_type=spec.instance_type,
            security_group=fleet.security_groups[0],
            extra_security_groups=[group.security_group for group in fleet.security_groups[1:]],
            subnet=fleet.network.accelerator_subnet,
            image=image or fleet.image,
            role=fleet.node_role.role,
            user_data=user_data(self, fleet.scripts, facts),
            volume_gib=volume_gib,
            volume_key=fleet.volume_key,
            key_pair=key_pair,
        )
        self.instance = ec2.CfnInstance(
            self,
            "Resource",
            launch_template=ec2.CfnInstance.LaunchTemplateSpecificationProperty(
                launch_template_id=self.template.launch_template_id, version=self.template.latest_version
            ),
            monitoring=True,
            tags=[
                CfnTag(key=FLEET_TAG, value=fleet.fleet_name),
                CfnTag(key=ROLE_TAG, value=MASTER),
                CfnTag(key="Name", value=f"{fleet.fleet_name}-master"),
            ],
        )
        in_template = ("NIST.800.53.R5-EC2InstanceProfileAttached", "NIST.800.53.R5-EC2InstancesInVPC")
        acknowledge(self.instance, {"AwsSolutions-EC29": _REPLACEABLE, **dict.fromkeys(in_template, _IN_TEMPLATE)})
        self.instance.node.add_dependency(fleet.ready)
        fleet.say_series(self.instance, [kind] if kind else [])

    @property
    def connections(self) -> ec2.Connections:
        """Its network connections: the fleet's."""
        return self._fleet.connections

    @property
    def instance_id(self) -> str:
        """Its instance id."""
        return self.instance.ref

    @property
    def connect_command(self) -> str:
        """The command that opens a session on it."""
        return self._fleet.connect_command(self.instance_id)
