"""How the types of WAF, Certificate Manager and Image Builder are tried."""

from tests.local.cases import Case, look
from tests.local.support import of

_TAGS = [{"Key": "Name", "Value": "first"}]
_OTHER_TAGS = [{"Key": "Name", "Value": "second"}]
_VISIBLE = {"CloudWatchMetricsEnabled": True, "MetricName": "tried", "SampledRequestsEnabled": False}
_ACL = {
    "Scope": "REGIONAL",
    "DefaultAction": {"Allow": {}},
    "VisibilityConfig": _VISIBLE,
    "Rules": [
        {
            "Name": "rate",
            "Priority": 0,
            "Action": {"Block": {}},
            "Statement": {"RateBasedStatement": {"Limit": 3000, "AggregateKeyType": "IP"}},
            "VisibilityConfig": _VISIBLE,
        }
    ],
}
_NEEDS_ACL = {
    "Acl": {"Type": "AWS::WAFv2::WebACL", "Properties": _ACL},
    "Balancer": {
        "Type": "AWS::ElasticLoadBalancingV2::LoadBalancer",
        "Properties": {"Scheme": "internal", "Subnets": [of("SubnetA"), of("SubnetB")]},
    },
}
_ACL_ARN = {"Fn::GetAtt": ["Acl", "Arn"]}
_COMPONENT = {"Name": "tried tools", "Platform": "Linux", "Version": "1.0.0", "Data": "schemaVersion: 1.0\n"}
_COMPONENTS = {"Tools": {"Type": "AWS::ImageBuilder::Component", "Properties": {**_COMPONENT, "Name": "tools"}}}
_RECIPE = {
    "Name": "tried",
    "Version": "1.0.0",
    "ParentImage": "ssm:/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id",
    "Components": [{"ComponentArn": {"Fn::GetAtt": ["Tools", "Arn"]}}],
    "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeType": "gp3", "VolumeSize": 100}}],
}
_PROFILE = {"Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [of("RoleName")]}}}
_INFRASTRUCTURE = {
    "Name": "tried",
    "InstanceProfileName": {"Ref": "Profile"},
    "InstanceTypes": ["c5.xlarge"],
    "SubnetId": of("SubnetA"),
    "SecurityGroupIds": [of("Group")],
    "TerminateInstanceOnFailure": True,
    "InstanceMetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
}
_DISTRIBUTION = {
    "Name": "tried",
    "Distributions": [
        {
            "Region": "us-west-2",
            "AmiDistributionConfiguration": {"Name": "tried {{ imagebuilder:buildDate }}"},
            "SsmParameterConfigurations": [{"ParameterName": "/tried/image", "DataType": "aws:ec2:image"}],
        }
    ],
}
NEEDS_RECIPE = {
    **_COMPONENTS,
    **_PROFILE,
    "Recipe": {"Type": "AWS::ImageBuilder::ImageRecipe", "Properties": _RECIPE},
    "Where": {"Type": "AWS::ImageBuilder::InfrastructureConfiguration", "Properties": _INFRASTRUCTURE},
    "Whereto": {"Type": "AWS::ImageBuilder::DistributionConfiguration", "Properties": _DISTRIBUTION},
}
BUILT_OF = {
    "ImageRecipeArn": {"Fn::GetAtt": ["Recipe", "Arn"]},
    "InfrastructureConfigurationArn": {"Fn::GetAtt": ["Where", "Arn"]},
    "DistributionConfigurationArn": {"Fn::GetAtt": ["Whereto", "Arn"]},
    "ImageTestsConfiguration": {"ImageTestsEnabled": True, "TimeoutMinutes": 60},
}

CASES = (
    # ---------------------------------------------------------------- WAF
    Case(
        type="AWS::WAFv2::WebACL",
        properties={**_ACL, "Tags": _TAGS},
        look=lambda aws, name: look(
            "wafv2",
            "get_web_acl",
            "WebACL.Rules[0].Statement.RateBasedStatement.Limit",
            Name=name.split("|")[0],
            Id=name.split("|")[1],
            Scope="REGIONAL",
        )(aws, ""),
        made=3000,
        change={
            "Rules": [
                {**_ACL["Rules"][0], "Statement": {"RateBasedStatement": {"Limit": 99, "AggregateKeyType": "IP"}}}
            ],
            "Tags": _OTHER_TAGS,
        },
        changed=99,
        attributes=("Arn", "Id", "Capacity", "LabelNamespace"),
    ),
    Case(
        type="AWS::WAFv2::WebACLAssociation",
        needs=_NEEDS_ACL,
        properties={"WebACLArn": _ACL_ARN, "ResourceArn": {"Ref": "Balancer"}},
        look=lambda aws, name: look("wafv2", "get_web_acl_for_resource", "WebACL.Name", ResourceArn=name.split("|")[0])(
            aws, ""
        ),
    ),
    Case(
        type="AWS::WAFv2::LoggingConfiguration",
        needs=_NEEDS_ACL,
        properties={
            "ResourceArn": _ACL_ARN,
            "LogDestinationConfigs": [of("LogsArn")],
            "RedactedFields": [{"SingleHeader": {"Name": "authorization"}}],
        },
        look=look(
            "wafv2",
            "get_logging_configuration",
            "LoggingConfiguration.RedactedFields[0].SingleHeader.Name",
            ResourceArn="{}",
        ),
        made="authorization",
        change={"RedactedFields": [{"SingleHeader": {"Name": "cookie"}}]},
        changed="cookie",
    ),
    Case(
        type="AWS::CertificateManager::Certificate",
        properties={"DomainName": "models.example", "ValidationMethod": "DNS", "Tags": _TAGS},
        look=look("acm", "list_tags_for_certificate", "Tags[0].Value", CertificateArn="{}"),
        made="first",
        change={"Tags": _OTHER_TAGS},
        changed="second",
        attributes=("CertificateArn",),
    ),
    # ---------------------------------------------------------------- Image Builder
    Case(
        type="AWS::ImageBuilder::Component",
        properties={**_COMPONENT, "Tags": {"Name": "first"}},
        look=look("imagebuilder", "get_component", "component.tags.Name", componentBuildVersionArn="{}"),
        made="first",
        change={"Tags": {"Other": "second"}},
        attributes=("Arn",),
    ),
    Case(
        type="AWS::ImageBuilder::ImageRecipe",
        needs=_COMPONENTS,
        properties=_RECIPE,
        look=look(
            "imagebuilder",
            "get_image_recipe",
            "imageRecipe.[version, blockDeviceMappings[0].ebs.volumeSize]",
            imageRecipeArn="{}",
        ),
        made=["1.0.0", 100],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::ImageBuilder::InfrastructureConfiguration",
        needs=_PROFILE,
        properties=_INFRASTRUCTURE,
        look=look(
            "imagebuilder",
            "get_infrastructure_configuration",
            "infrastructureConfiguration.instanceTypes",
            infrastructureConfigurationArn="{}",
        ),
        made=["c5.xlarge"],
        change={"InstanceTypes": ["c5.2xlarge"]},
        changed=["c5.2xlarge"],
        attributes=("Arn",),
    ),
    Case(
        type="AWS::ImageBuilder::DistributionConfiguration",
        properties=_DISTRIBUTION,
        look=look(
            "imagebuilder",
            "get_distribution_configuration",
            "distributionConfiguration.distributions[0].amiDistributionConfiguration.name",
            distributionConfigurationArn="{}",
        ),
        made="tried {{ imagebuilder:buildDate }}",
        change={
            "Distributions": [{"Region": "us-west-2", "AmiDistributionConfiguration": {"Name": "other"}}],
        },
        changed="other",
        attributes=("Arn",),
    ),
    Case(
        type="AWS::ImageBuilder::ImagePipeline",
        needs=NEEDS_RECIPE,
        properties={
            **BUILT_OF,
            "Name": "tried",
            "Schedule": {"ScheduleExpression": "cron(0 0 * * ? *)"},
            "Tags": {"Name": "first"},
        },
        look=look(
            "imagebuilder", "get_image_pipeline", "imagePipeline.schedule.scheduleExpression", imagePipelineArn="{}"
        ),
        made="cron(0 0 * * ? *)",
        change={"Schedule": {"ScheduleExpression": "cron(0 1 * * ? *)"}, "Tags": {"Name": "second"}},
        changed="cron(0 1 * * ? *)",
        attributes=("Arn",),
    ),
    Case(
        type="AWS::ImageBuilder::Image",
        needs=NEEDS_RECIPE,
        properties=BUILT_OF,
        look=lambda aws, arn: [
            look("imagebuilder", "get_image", "image.state.status", imageBuildVersionArn=arn)(aws, ""),
            len(
                aws.client("ec2").describe_images(
                    ImageIds=[aws.client("ssm").get_parameter(Name="/tried/image")["Parameter"]["Value"]]
                )["Images"]
            ),
        ],
        made=["AVAILABLE", 1],
        attributes=("Arn", "ImageId", "Name"),
    ),
)
