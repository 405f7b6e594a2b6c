"""An image of one's own, built by EC2 Image Builder: a base image, EFA, a Lustre client that fits the kernel, tests."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence

from aws_cdk import Aws, Names, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_imagebuilder as imagebuilder
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge, aws_policy_reasons, main_resource
from cdk_trainyard.annotations import say_warnings
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.fleet.image import known_id, root_device
from cdk_trainyard.fleet.image_parameter import ImageParameter
from cdk_trainyard.fleet.images import KnownImage, known_base
from cdk_trainyard.fleet.rules_image import route_problems, training_image_problems
from cdk_trainyard.fleet.spec_image import EfaInstaller, TrainingImageSpec
from cdk_trainyard.fleet.warnings import BUILD_WARNINGS
from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.names import Naming, named
from cdk_trainyard.network import EfaSecurityGroup, Network
from cdk_trainyard.node_scripts import scripts_folder
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.problems import warnings_of
from cdk_trainyard.surroundings import surroundings
from cdk_trainyard.versions import default_efa_installer, efa_key, image_facts

_HASH_LENGTH = 12
_PREFIX = "/imagebuilder/trainyard"  # the service-linked role of Image Builder may write below /imagebuilder/ alone
_POLICIES = ("AmazonSSMManagedInstanceCore", "EC2InstanceProfileForImageBuilder")
_REMOVAL_POLICY = "service-role/EC2ImageBuilderLifecycleExecutionPolicy"
_POLICY_REASON = "Image Builder names this policy as what its build instances need, and they live as long as a build"
_REMOVAL_REASON = "Image Builder names this policy as what deletes AMIs and snapshots: those that it has tagged alone"
_TEST_MINUTES = 90


class TrainingImage(Construct):
    """A machine image for fleets, with everything that the set-up of nodes asks for.

    Defines a pipeline of EC2 Image Builder with its components (tools, the EFA installer of one version, a Lustre
    client for the very kernel of the image, optionally NVIDIA's driver, and commands of your own), a test that starts
    the image and asks for each of them, its role, and where the image goes. The AMI's id is put into Parameter Store;
    until it is built, unless that is while deploying, the id of the base is there.

    A changed setting is another recipe: Image Builder's recipes cannot be changed.

    The AMI that is built while the stack is deployed goes with it, or when another takes its place, with its snapshots.
    Those that the pipeline builds stay, and are paid for, until ``remove_command`` is run.

    Args:
        network: Where the instance that builds stands; it needs NAT.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        base: The image to begin with: a Deep Learning AMI or plain Ubuntu by its name, or an AMI of yours by its id.
        user: Who people and jobs work as, when the base is an AMI of yours. Default - ubuntu.
        accelerator: What the image has drivers for, which its test asks for. Default - nothing is asked.
        families: Families of instance types that it is for, when the base does not know them. Default - the base's.
        nvidia_branch: Branch of NVIDIA's proprietary driver to install, in quotes; on plain Ubuntu, made for the base's
            kernel.
            Default - the base's driver.
        efa_installer: The EFA installer, which then replaces what the base has.
            Default - the base's EFA; without one, the version that fits the kernel of plain Ubuntu.
        commands: Further shell commands, run as root. Default - none.
        instance_type: What builds and tests; of the base's architecture. Default: m5.2xlarge.
        volume_gib: Size of the image's root volume in GiB. Default: 200.
        regions: Regions that it is copied to. Default - the stack's alone.
        schedule: When it is built anew, as ``cron(0 4 ? * SUN *)`` or ``rate(7 days)``, if the base has changed; not
            for plain Ubuntu, which is of one day, and AMIs of yours: they do not change.
            Default - when it is asked.
        while_deploying: Whether it is built while the stack is deployed, which then takes about an hour.
            Default: False.

    Attributes:
        base: The image that it begins with.
        user: Who people and jobs work as, when the base is an AMI of yours. None: ubuntu.
        families: The families that it was said to be for.
        volume_gib: Size of its root volume in GiB.
        while_deploying: Whether it is built while the stack is deployed.
        schedule: When it is built anew. None: when it is asked.
        parameter_name: Name of the parameter that holds the AMI's id.
        parameter: What makes that parameter, with the image that the build begins with, or that is built while the
            stack is deployed, until the pipeline has run.
        image_id: The AMI that was built while the stack was deployed. None: nothing is built then.
        pipeline: The L1 pipeline.

    Raises:
        ConfigurationError: The image could not be built.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: Network,
        names: Naming | None = None,
        base: str,
        user: str | None = None,
        accelerator: AcceleratorKind | None = None,
        families: Sequence[str] = (),
        nvidia_branch: str | None = None,
        efa_installer: EfaInstaller | None = None,
        commands: Sequence[str] = (),
        instance_type: str | InstanceType | ec2.InstanceType = "m5.2xlarge",
        volume_gib: int = 200,
        regions: Sequence[str] = (),
        schedule: str | None = None,
        while_deploying: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(TrainingImageSpec, locals()))
        problems = training_image_problems(spec, judge.environment)
        of_network = route_problems(has_nat=network.has_nat)
        raise_problems(self, [*judge.problems, *problems, *of_network])
        say_warnings(self, warnings_of("fleet", BUILD_WARNINGS, spec))
        self.base: str = base
        self.user: str | None = user
        self.families: tuple[str, ...] = tuple(families)
        self.volume_gib: int = volume_gib
        self.while_deploying: bool = while_deploying
        self.schedule: str | None = schedule
        documents = _documents(spec)
        self._digest = _digest(base, volume_gib, documents)
        self.parameter_name: str = f"{_PREFIX}/{self._name()}"
        recipe = self._recipe(known_base(spec), documents, volume_gib)
        infrastructure = self._infrastructure(network, InstanceType.of(instance_type))
        distribution = self._distribution(regions)
        self.pipeline = imagebuilder.CfnImagePipeline(
            self,
            "Resource",
            name=self._name(),
            image_recipe_arn=recipe.attr_arn,
            infrastructure_configuration_arn=infrastructure.attr_arn,
            distribution_configuration_arn=distribution.attr_arn,
            image_tests_configuration=imagebuilder.CfnImagePipeline.ImageTestsConfigurationProperty(
                image_tests_enabled=True, timeout_minutes=_TEST_MINUTES
            ),
            schedule=_schedule(schedule),
        )
        self.image_id: str | None = None
        if while_deploying:
            built = self._image(recipe, infrastructure, distribution)
            built.node.add_dependency(network.route_out)
            self.image_id = built.attr_image_id
        begins = self.image_id or known_id(self, known_base(spec))
        self.parameter = ImageParameter(self, "Parameter", name=self.parameter_name, image_id=begins)

    @property
    def build_command(self) -> str:
        """The command that builds the image now."""
        arn = self.pipeline.attr_arn
        return f"aws imagebuilder start-image-pipeline-execution --region {Aws.REGION} --image-pipeline-arn {arn}"

    @property
    def remove_command(self) -> str:
        """The command that deletes every AMI of this image with its snapshots, in the stack's Region.

        Run it when nothing starts from them any more; in ``regions`` it is run once in each.
        """
        wanted = f'--owners self --filters "Name=name,Values={self._name()} *" --query "Images[].ImageId" --output text'
        delete = f"aws ec2 deregister-image --region {Aws.REGION} --delete-associated-snapshots --image-id"
        return f"aws ec2 describe-images --region {Aws.REGION} {wanted} | xargs -r -n 1 {delete}"

    # ---------------------------------------------------------------- parts
    def _image(
        self,
        recipe: imagebuilder.CfnImageRecipe,
        infrastructure: imagebuilder.CfnInfrastructureConfiguration,
        distribution: imagebuilder.CfnDistributionConfiguration,
    ) -> imagebuilder.CfnImage:
        """Define the AMI that is built while the stack is deployed."""
        return imagebuilder.CfnImage(
            self,
            "Image",
            image_recipe_arn=recipe.attr_arn,
            infrastructure_configuration_arn=infrastructure.attr_arn,
            distribution_configuration_arn=distribution.attr_arn,
            image_tests_configuration=imagebuilder.CfnImage.ImageTestsConfigurationProperty(
                image_tests_enabled=True, timeout_minutes=_TEST_MINUTES
            ),
            deletion_settings=imagebuilder.CfnImage.DeletionSettingsProperty(
                execution_role=self._removal_role().role_arn
            ),
        )

    def _removal_role(self) -> iam.Role:
        role = iam.Role(
            self,
            "RemovalRole",
            assumed_by=iam.ServicePrincipal("imagebuilder.amazonaws.com"),
            description="Deletes the AMI and its snapshots together with the image",
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(_REMOVAL_POLICY)],
        )
        acknowledge(main_resource(role), aws_policy_reasons({_REMOVAL_POLICY: _REMOVAL_REASON}))
        return role

    def _name(self) -> str:
        return Names.unique_resource_name(self, max_length=90, separator="-")

    def _recipe(self, base: KnownImage, documents: Mapping[str, str], volume_gib: int) -> imagebuilder.CfnImageRecipe:
        components = [
            imagebuilder.CfnComponent(
                self,
                f"Component{name.capitalize()}",
                name=f"{self._name()}-{name}-{self._digest}",
                platform="Linux",
                version="1.0.0",
                data=document,
            )
            for name, document in documents.items()
        ]
        return imagebuilder.CfnImageRecipe(
            self,
            "Recipe",
            name=f"{self._name()}-{self._digest}",
            version="1.0.0",
            parent_image=f"ssm:{base.parameter}" if base.parameter else base.name,
            components=[
                imagebuilder.CfnImageRecipe.ComponentConfigurationProperty(component_arn=component.attr_arn)
                for component in components
            ],
            block_device_mappings=[
                imagebuilder.CfnImageRecipe.InstanceBlockDeviceMappingProperty(
                    device_name=root_device(base.user),
                    ebs=imagebuilder.CfnImageRecipe.EbsInstanceBlockDeviceSpecificationProperty(
                        volume_type="gp3", volume_size=volume_gib, encrypted=True, delete_on_termination=True
                    ),
                )
            ],
        )

    def _infrastructure(
        self, network: Network, instance_type: InstanceType
    ) -> imagebuilder.CfnInfrastructureConfiguration:
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description="Builds and tests a machine image",
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in _POLICIES],
        )
        acknowledge(main_resource(role), aws_policy_reasons(dict.fromkeys(_POLICIES, _POLICY_REASON)))
        profile = iam.InstanceProfile(self, "InstanceProfile", role=role)
        group = EfaSecurityGroup(self, "SecurityGroup", vpc=network.vpc, description="Hosts that build machine images")
        return imagebuilder.CfnInfrastructureConfiguration(
            self,
            "Infrastructure",
            name=self._name(),
            instance_profile_name=profile.instance_profile_name,
            instance_types=[instance_type.name],
            subnet_id=network.accelerator_subnet.subnet_id,
            security_group_ids=[group.security_group_id],
            terminate_instance_on_failure=True,
            instance_metadata_options=imagebuilder.CfnInfrastructureConfiguration.InstanceMetadataOptionsProperty(
                http_tokens="required", http_put_response_hop_limit=1
            ),
        )

    def _distribution(self, regions: Sequence[str]) -> imagebuilder.CfnDistributionConfiguration:
        configuration = imagebuilder.CfnDistributionConfiguration
        return configuration(
            self,
            "Distribution",
            name=self._name(),
            distributions=[
                configuration.DistributionProperty(
                    region=region,
                    # CloudFormation types it as JSON, so its own spelling
                    ami_distribution_configuration={"Name": f"{self._name()} {{{{ imagebuilder:buildDate }}}}"},
                    ssm_parameter_configurations=[
                        configuration.SsmParameterConfigurationProperty(
                            parameter_name=self.parameter_name, data_type="aws:ec2:image"
                        )
                    ],
                )
                for region in dict.fromkeys((Stack.of(self).region, *regions))
            ],
        )


def _documents(spec: TrainingImageSpec) -> dict[str, str]:
    """Return the components of an image by their names, in the order in which they run."""
    branch, accelerator = spec.nvidia_branch, spec.accelerator
    steps: dict[str, tuple[str, Mapping[str, str]]] = {
        "kernel": ("kernel", _kernel_environment(spec.base)),
        "tools": ("tools", {}),
        **({"nvidia": ("nvidia", {"NVIDIA_BRANCH": branch})} if branch else {}),
        "efa": ("efa", _efa_environment(spec)),
        "lustre": ("lustre", {}),
    }
    documents = {name: _document(name, _script(file, given)) for name, (file, given) in steps.items()}
    if spec.commands:
        documents["commands"] = _document("commands", "\n".join(["set -Eeuo pipefail", *spec.commands]))
    test = _script("verify", {"ACCELERATOR": accelerator.value if accelerator else "none"})
    documents["verify"] = _document("verify", test, phase="test")
    return documents


def _script(name: str, environment: Mapping[str, str]) -> str:
    text = (scripts_folder() / "fleet" / "image" / f"{name}.sh").read_text(encoding="utf-8")
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in environment.items())
    return exports + text


def _kernel_environment(base: str) -> Mapping[str, str]:
    """What an image of one day runs: another kernel ends the build at once, and not after an hour."""
    facts = image_facts(base)
    return {"KERNEL": facts.kernel} if facts and facts.kernel and not facts.moving else {}


def _efa_environment(spec: TrainingImageSpec) -> Mapping[str, str]:
    installer = spec.efa_installer or EfaInstaller(version=default_efa_installer())
    return {
        "EFA_INSTALLER": installer.version,
        "EFA_KEY": efa_key(),
        **({"EFA_SHA256": installer.sha256.lower()} if installer.sha256 else {}),
        "EFA_KEEP": "yes" if spec.efa_installer is None else "no",
    }


def _document(name: str, script: str, *, phase: str = "build") -> str:
    """Return a component's document; JSON is YAML."""
    step = {"name": name, "action": "ExecuteBash", "inputs": {"commands": [script]}}
    return json.dumps(
        {"schemaVersion": 1.0, "name": name, "phases": [{"name": phase, "steps": [step]}]}, sort_keys=True
    )


def _digest(*parts: object) -> str:
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:_HASH_LENGTH]


def _schedule(expression: str | None) -> imagebuilder.CfnImagePipeline.ScheduleProperty | None:
    if expression is None:
        return None
    return imagebuilder.CfnImagePipeline.ScheduleProperty(
        schedule_expression=expression,
        pipeline_execution_start_condition="EXPRESSION_MATCH_AND_DEPENDENCY_UPDATES_AVAILABLE",
    )
