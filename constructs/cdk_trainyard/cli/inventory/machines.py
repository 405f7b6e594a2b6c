"""Machines: groups of instances, single ones, their interfaces, what they are launched from."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from cdk_trainyard.cli.inventory.account import Account, Row, last, row


def machines(aws: Account) -> Iterator[Row]:
    """Groups and single instances; of each group one instance with its interfaces."""
    for name in aws.ids("EC2::PlacementGroup"):
        (group,) = aws.client("ec2").describe_placement_groups(GroupNames=[name])["PlacementGroups"]
        yield row("placement group", name, group["Strategy"], group["State"])
    found = aws.found(
        *("AutoScaling::AutoScalingGroup", "autoscaling", "describe_auto_scaling_groups"),
        *("AutoScalingGroupNames", "AutoScalingGroups"),
    )
    for group in found:
        yield from one_group(aws, group)
    if ids := aws.ids("EC2::Instance"):
        for reservation in aws.client("ec2").describe_instances(InstanceIds=ids)["Reservations"]:
            for instance in reservation["Instances"]:
                yield from one_instance("instance", instance)


def one_group(aws: Account, group: dict[str, Any]) -> Iterator[Row]:
    """Its bounds, its hooks, its launch templates, its instances."""
    name, instances = group["AutoScalingGroupName"], group["Instances"]
    bounds = f"{group['MinSize']} to {group['MaxSize']}"
    yield row("group", name, f"{len(instances)} of {group['DesiredCapacity']} instances", bounds)
    for hook in aws.client("autoscaling").describe_lifecycle_hooks(AutoScalingGroupName=name)["LifecycleHooks"]:
        event = hook["LifecycleTransition"].rpartition("_")[2].lower()
        outcome = f"then {hook['DefaultResult'].lower()}"
        yield row("  hook", hook["LifecycleHookName"], event, f"{hook['HeartbeatTimeout']} s", outcome)
    for source in sources(group):
        yield from one_template(aws, source)
    ids = [instance["InstanceId"] for instance in instances]
    if ids:
        described = aws.client("ec2").describe_instances(InstanceIds=ids)["Reservations"]
        shown = [instance for reservation in described for instance in reservation["Instances"]]
        yield from one_instance("  instance", shown[0])
        yield from (next(one_instance("  instance", instance)) for instance in shown[1:])


def sources(group: dict[str, Any]) -> list[dict[str, Any]]:
    """The launch templates of a group, with their versions."""
    if "LaunchTemplate" in group:
        return [group["LaunchTemplate"]]
    policy = group["MixedInstancesPolicy"]["LaunchTemplate"]
    return [each.get("LaunchTemplateSpecification", policy) for each in policy.get("Overrides", [])]


def one_template(aws: Account, source: dict[str, Any]) -> Iterator[Row]:
    """What instances are launched from."""
    template, version = source["LaunchTemplateId"], source["Version"]
    (found,) = aws.client("ec2").describe_launch_template_versions(LaunchTemplateId=template, Versions=[version])[
        "LaunchTemplateVersions"
    ]
    data = found["LaunchTemplateData"]
    metadata = f"IMDSv2 {data.get('MetadataOptions', {}).get('HttpTokens', 'optional')}"
    disk = ", ".join(f"{each['Ebs']['VolumeSize']} GiB" for each in data.get("BlockDeviceMappings", []))
    yield row("  launch template", template, f"version {version}", data.get("ImageId", "no image"), disk, metadata)


def one_instance(label: str, instance: dict[str, Any]) -> Iterator[Row]:
    """An instance, then its interfaces, those of a kind together."""
    place = instance["Placement"]
    yield row(
        label,
        instance["InstanceId"],
        instance["InstanceType"],
        place["AvailabilityZone"],
        instance.get("PrivateIpAddress", "no address"),
        *([f"in {place['GroupName']}"] if place.get("GroupName") else []),
        *([instance["InstanceLifecycle"]] if "InstanceLifecycle" in instance else []),
        instance["State"]["Name"],
    )
    interfaces = instance["NetworkInterfaces"]
    kinds = Counter(interface["InterfaceType"] for interface in interfaces)
    for kind, count in kinds.items():
        same = [interface for interface in interfaces if interface["InterfaceType"] == kind]
        cards = sorted({interface["Attachment"]["NetworkCardIndex"] for interface in same})
        addresses = sum("PrivateIpAddress" in interface for interface in same)
        where = f"card {cards[0]}" if len(cards) == 1 else f"cards {cards[0]} to {cards[-1]}"
        yield row("    interfaces", f"{count} x {kind}", where, f"{addresses} with an address")


def images(aws: Account) -> Iterator[Row]:
    """Image pipelines, what they write into Parameter Store, and which image is there."""
    builder, ssm = aws.client("imagebuilder"), aws.client("ssm")
    for arn in aws.ids("ImageBuilder::ImagePipeline"):
        pipeline = builder.get_image_pipeline(imagePipelineArn=arn)["imagePipeline"]
        recipe = builder.get_image_recipe(imageRecipeArn=pipeline["imageRecipeArn"])["imageRecipe"]
        schedule = pipeline.get("schedule", {}).get("scheduleExpression", "when it is asked")
        yield row("image pipeline", last(arn), f"from {recipe['parentImage']}", schedule)
        for component in recipe["components"]:
            yield row("  component", component["componentArn"].split("component/")[-1])
        where = builder.get_distribution_configuration(
            distributionConfigurationArn=pipeline["distributionConfigurationArn"]
        )["distributionConfiguration"]
        for distribution in where["distributions"]:
            for parameter in distribution.get("ssmParameterConfigurations", []):
                found = ssm.get_parameters(Names=[parameter["parameterName"]])["Parameters"]
                image = found[0]["Value"] if found else "nothing was built yet"
                yield row("  parameter", parameter["parameterName"], image)
    for arn in aws.ids("ImageBuilder::Image"):
        made = builder.get_image(imageBuildVersionArn=arn)["image"]
        amis = [each["image"] for each in made["outputResources"]["amis"]]
        yield row("  image", arn.split(":image/")[-1], made["state"]["status"], *amis)


def keys(aws: Account) -> Iterator[Row]:
    """SSH keys, whose private half EC2 keeps in Parameter Store, and secrets."""
    for pair in aws.found("EC2::KeyPair", "ec2", "describe_key_pairs", "KeyNames", "KeyPairs"):
        yield row("key pair", pair["KeyName"], f"private half in /ec2/keypair/{pair['KeyPairId']}")
    for arn in aws.ids("SecretsManager::Secret"):
        secret = aws.client("secretsmanager").describe_secret(SecretId=arn)
        yield row("secret", secret["Name"], secret.get("Description", "-"))
