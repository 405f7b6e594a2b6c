"""What may go wrong with a fleet without being wrong: said once, at synthesis. Pure."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from cdk_trainyard.fleet.facts import FleetFacts
from cdk_trainyard.fleet.images import dlami_names, known_base, known_image
from cdk_trainyard.fleet.rules import address_plan
from cdk_trainyard.fleet.rules_drivers import other_driver
from cdk_trainyard.fleet.rules_image import build_judgements
from cdk_trainyard.fleet.rules_nodes import interfaces_of
from cdk_trainyard.fleet.spec import FleetSpec
from cdk_trainyard.fleet.spec_image import NodeImage, TrainingImageSpec
from cdk_trainyard.instances import UsageClass
from cdk_trainyard.instances.zones import differ
from cdk_trainyard.lifecycle.rules_setup import image_warnings
from cdk_trainyard.network.spec import Endpoint
from cdk_trainyard.options.repositories import other_registries
from cdk_trainyard.options.schedules import numbered_days, times_an_hour
from cdk_trainyard.problems import shown
from cdk_trainyard.quotas import Quota
from cdk_trainyard.storage.mount_facts import across_zones, hidden_home, named_twice
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import image_facts, judge_lustre

Warnings = Iterator[str]
_ENDPOINTS: Final = (
    Endpoint.AUTOSCALING,
    Endpoint.EC2,
    Endpoint.EC2_MESSAGES,
    Endpoint.LOGS,
    Endpoint.SSM,
    Endpoint.SSM_MESSAGES,
)
"""What the set-up of nodes and Session Manager ask."""
_MOVING: Final = re.compile("^/aws/service/.*(latest|current|recommended)")
"""What AWS's parameters are called that hold another AMI from time to time."""


def lustre_in_other_zone(_spec: FleetSpec, around: FleetFacts) -> Warnings:
    """A file system in another zone: it works, slower, and every byte is billed twice."""
    for mount in around.mounts:
        if not mount.efa_enabled and differ(mount.zone, around.zone):
            yield across_zones("the nodes", around.zone, mount.zone)


def home_hidden(spec: FleetSpec, around: FleetFacts) -> Warnings:
    """A file system over the home of the nodes' user, which their set-up does not make on it."""
    user = known_image(spec.image).user
    for mount in around.mounts:
        if not unresolved(user, mount.path) and mount.path in {"/home", f"/home/{user}"}:
            yield hidden_home(mount.path, user)


def mount_path_twice(_spec: FleetSpec, around: FleetFacts) -> Warnings:
    """A data repository whose directory has the path of the mount once more."""
    for mount in around.mounts:
        yield from named_twice(mount.path, mount.repositories)


def lustre_over_tcp(_spec: FleetSpec, around: FleetFacts) -> Warnings:
    """A file system with EFA, whose least capacity is larger, without a client of it."""
    for mount in around.mounts:
        if mount.efa_enabled is True:
            yield (
                f"the file system at {mount.path} has EFA, and the set-up of fleets mounts it over TCP: leave EFA out, "
                "unless others use it"
            )


def zone_without_type(spec: FleetSpec, around: FleetFacts) -> Warnings:
    """An instance type that its zone is not known to offer; the data have a date, so this is no error."""
    for kind in spec.types:
        if warning := kind.offer_warning(around.environment.region, [around.zone]):
            yield warning


def few_addresses(spec: FleetSpec, around: FleetFacts) -> Warnings:
    """A subnet that holds all nodes, and few that take the place of others."""
    yield from address_plan(spec, around).warnings(around.accelerator_cidr)


def no_route_to_internet(_spec: FleetSpec, around: FleetFacts) -> Warnings:
    """Without NAT the nodes need endpoints of what their set-up asks."""
    missing = [each for each in _ENDPOINTS if each not in around.endpoints]
    if not around.has_nat and missing:
        yield (
            "without NAT the nodes reach only services with an endpoint: their set-up asks S3, and "
            f"{', '.join(missing)}, too; they need 'interface_endpoints' of the network"
        )


def interface_quota_near(spec: FleetSpec, _around: FleetFacts) -> Warnings:
    """Many cards on many nodes are more interfaces than an account has by default."""
    quota, most = Quota.of("network-interfaces"), spec.most
    if unresolved(most):
        return
    count = most * max((len(interfaces_of(kind, spec.backend)) for kind in spec.types), default=1)
    if count > (quota.first or 0):
        yield f"{most} nodes have {count} network interfaces, more than {quota.first}, the default of the quota {quota}"


def spot_loses_jobs(spec: FleetSpec, _around: FleetFacts) -> Warnings:
    """One node that is taken back ends the job of all."""
    if spec.capacity is UsageClass.SPOT:
        yield (
            "Spot nodes are taken back with two minutes' notice, and a job on all nodes ends with the first; "
            "let it save often"
        )


def block_without_times(spec: FleetSpec, _around: FleetFacts) -> Warnings:
    """A group whose capacity block has not started, or is over, launches in vain until somebody looks."""
    if spec.capacity is UsageClass.CAPACITY_BLOCK and spec.ends is None:
        yield (
            "the Auto Scaling group launches in vain before the capacity block starts and after it ends: give its "
            "'starts' and 'ends', as describe-capacity-reservations shows them"
        )


def image_not_built(spec: FleetSpec, _around: FleetFacts) -> Warnings:
    """Nodes of an image that its pipeline has not built yet start from its base."""
    nodes = spec.least
    if _built_later(spec.image) and not unresolved(nodes) and nodes > 0:
        yield (
            f"{nodes} nodes start with the stack, from the base of their image{_unable(spec.image)}, as long as its "
            "pipeline has not run: build it while deploying, or deploy with 'min_count: 0' and a 'max_count' in place "
            "of 'count', run the build command, and ask for nodes then"
        )


def master_not_built(image: NodeImage) -> Warnings:
    """A master starts once, from what its image is then."""
    if _built_later(image):
        yield (
            f"the master starts with the stack, from the base of its image{_unable(image)}, as long as its pipeline "
            "has not run, and stays on that: build it while deploying, or deploy without 'master', run the build "
            "command, and ask for it then"
        )


def master_replaced(image: NodeImage) -> Warnings:
    """A master on AWS's newest image of a kind: its launch template changes with the image, and it with the template.

    Source: ``LaunchTemplate`` is create-only in the schema of ``AWS::EC2::Instance``.
    """
    known = known_image(image)
    if known.parameter is not None and not unresolved(known.parameter) and _MOVING.search(known.parameter):
        yield (
            f"the master stands on the newest {known.name}: the first deployment after AWS has published a newer one "
            "puts another master in its place, without what is on its root volume; give 'master' an 'image' with "
            "'ami_id' to keep it"
        )


def build_warnings(build: TrainingImageSpec) -> Iterator[tuple[str, str]]:
    """Yield what may surprise about an image that is built, by the id of the warning.

    Args:
        build: The image, in which nothing is wrong.
    """
    for _, judgement in build_judgements(build):
        yield from (("unknown-versions", text) for text in judgement.unknown)
    yield from (("numbered-days", text) for text in numbered_schedule(build))
    yield from (("many-builds", text) for text in many_builds(build))


def _built_later(image: NodeImage) -> bool:
    """Whether an image is built when somebody asks its pipeline."""
    return image.build is not None and not image.build.while_deploying


def _unable(image: NodeImage) -> str:
    """Say of a base that is plain Ubuntu that nodes come to nothing on it."""
    is_plain = image.build is not None and known_base(image.build).families == ()
    return ", which lacks what nodes set themselves up with" if is_plain else ""


def schedule_not_taken(spec: FleetSpec, _around: FleetFacts) -> Warnings:
    """Nodes of an image that was built while deploying keep it: others may take what the schedule builds."""
    build = spec.image.build
    if build is not None and build.while_deploying and build.schedule is not None:
        yield (
            "the nodes keep the image that was built while the stack was deployed, new ones too: what 'schedule' "
            "builds is for others, who read its parameter of Parameter Store, and its snapshots are paid for; leave "
            "'schedule' out, or 'while_deploying'"
        )


def other_driver_in_base(spec: FleetSpec, _around: FleetFacts) -> Warnings:
    """An image whose base has a driver for other devices than those that it is for."""
    if spec.image.build is not None and (warning := other_driver(spec.image.build)):
        yield warning


def unknown_versions(spec: FleetSpec, around: FleetFacts) -> Warnings:
    """A Deep Learning AMI with a kernel that FSx publishes no Lustre client for, or that no source names."""
    name = spec.image.dlami
    if name is None or not around.mounts:
        return
    facts = image_facts(name)
    if facts is not None:
        yield from judge_lustre(facts, "'image'", dlami_names()).unknown
    elif name in dlami_names():
        yield (
            f"no source says which kernel {name!r} has, so whether FSx publishes a Lustre client for it is seen when a "
            "node starts"
        )


def private_gpu_image(_spec: FleetSpec, around: FleetFacts) -> Warnings:
    """An image of dcgm-exporter that Docker on the nodes has no password for."""
    yield from image_warnings(around.exporters)


def unknown_packages(build: TrainingImageSpec) -> Warnings:
    """What a build installs on a kernel that no source holds against it."""
    for _, judgement in build_judgements(build):
        yield from judgement.unknown


def numbered_schedule(build: TrainingImageSpec) -> Warnings:
    """Builds that come on days of the week that are numbers."""
    if build.schedule is not None and not unresolved(build.schedule) and (days := numbered_days(build.schedule)):
        yield f"'schedule' {days}"


def many_builds(build: TrainingImageSpec) -> Warnings:
    """Builds that come before those before them can be done."""
    if build.schedule is not None and not unresolved(build.schedule) and (count := times_an_hour(build.schedule)) > 1:
        yield (
            f"'schedule' {shown(build.schedule)} asks for {count} builds an hour, whose instances and snapshots are "
            "paid for; for one, write one minute, as cron(0 4 ? * SUN *)"
        )


def repositories_elsewhere(spec: FleetSpec, _around: FleetFacts) -> Warnings:
    """Repositories that are called as those of other registries."""
    yield from other_registries(each.repository_arn for each in spec.image_repositories)


WARNINGS: dict[str, Callable[[FleetSpec, FleetFacts], Warnings]] = {
    "lustre-in-other-zone": lustre_in_other_zone,
    "home-hidden": home_hidden,
    "mount-path-twice": mount_path_twice,
    "lustre-over-tcp": lustre_over_tcp,
    "zone-without-type": zone_without_type,
    "few-addresses": few_addresses,
    "no-way-out": no_route_to_internet,
    "interface-quota": interface_quota_near,
    "spot-loses-jobs": spot_loses_jobs,
    "block-without-times": block_without_times,
    "image-not-built": image_not_built,
    "schedule-not-taken": schedule_not_taken,
    "other-driver": other_driver_in_base,
    "unknown-versions": unknown_versions,
    "private-gpu-image": private_gpu_image,
    "other-registry": repositories_elsewhere,
}
"""Every warning by its id, which is API."""

MASTER_WARNINGS: dict[str, Callable[[NodeImage], Warnings]] = {
    "image-not-built": master_not_built,
    "master-replaced": master_replaced,
}
"""Those of a master, by its image."""

BUILD_WARNINGS: dict[str, Callable[[TrainingImageSpec], Warnings]] = {
    "unknown-versions": unknown_packages,
    "numbered-days": numbered_schedule,
    "many-builds": many_builds,
}
"""Those of the build of an image."""
