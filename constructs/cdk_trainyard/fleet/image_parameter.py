"""The parameter that an image's pipeline writes, made before the pipeline has run, and gone with its stack.

EC2 and Auto Scaling read it when a launch template or a group is created, also for no nodes (EC2 Auto Scaling user
guide, "Use AWS Systems Manager parameters instead of AMI IDs in launch templates", read 2026-11: "You must create a
Systems Manager parameter before you can use it in a launch template"). As ``AWS::SSM::Parameter`` it would be put back
to the base by each deployment that finds a newer one.

Sources of what the function may and does: Systems Manager user guide, "Native parameter support for Amazon Machine
Image IDs" (``ec2:DescribeImages``); ``DataType`` of ``PutParameter`` in botocore's model (the AMI is looked for
afterwards); ``SsmParameterConfiguration`` of EC2 Image Builder there (a parameter that exists is updated).
"""

from importlib.resources import files

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.acknowledgments import Wildcards, main_resource
from cdk_trainyard.inline_function import InlineFunction


class ImageParameter(InlineFunction):
    """Makes the parameter with an AMI, and deletes what it made.

    A newer AMI of the pipeline's is left there. One that the resource itself began with makes room for another
    ``image_id``, and one that is deregistered for this.

    Args:
        name: Its name, from ``/``.
        image_id: The AMI: that which the build begins with, or that which was built while the stack was deployed.
    """

    def __init__(self, scope: Construct, construct_id: str, *, name: str, image_id: str) -> None:
        arn = Stack.of(scope).format_arn(service="ssm", resource="parameter", resource_name=name.removeprefix("/"))
        super().__init__(
            scope,
            construct_id,
            code=files(__package__).joinpath("image_parameter_handler.py").read_text(encoding="utf-8"),
            description="Makes the parameter of one image",
            statements=[
                iam.PolicyStatement(
                    actions=["ssm:DeleteParameter", "ssm:GetParameter", "ssm:PutParameter"], resources=[arn]
                ),
                iam.PolicyStatement(actions=["ec2:DescribeImages"], resources=["*"]),
            ],
            resource_type="Custom::ImageParameter",
            properties={"Name": name, "ImageId": image_id},
            timeout=Duration.minutes(5),
        )
        Wildcards(main_resource(self.node.find_child("Policy"))).acknowledge(
            "Parameter Store looks for the AMI in its caller's name, and the action knows no resources", "*"
        )
