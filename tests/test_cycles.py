"""No template has a cycle of resources that need one another, whatever is chosen: CloudFormation refuses it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from aws_cdk import App, Environment, RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

from cdk_trainyard import (
    AccountingDatabase,
    BucketPurpose,
    ConcurrencyLimit,
    DataRepository,
    EfaSecurityGroup,
    Endpoint,
    LustreFileSystem,
    ModelCompilation,
    Mount,
    Naming,
    Nat,
    NodeImage,
    NodeProvisioning,
    ServiceMonitoring,
    ServiceScaling,
    SlurmAccounting,
    SlurmSettings,
    TextGenerationEngine,
    TrainingBucket,
    TrainingBuckets,
    TrainingImage,
    TrainingNetwork,
)
from tests.parts import CLUSTERS, IMAGE, REGION, ZONE, fleet, hyperpod, parallelcluster
from tests.serving.parts import SCHEDULES, load_balancer, service


def cycle(resources: Mapping[str, Any]) -> list[str]:
    """Return the resources of a cycle of Ref, GetAtt, Sub and DependsOn; none when there is none."""
    needs = {name: set(needed(resource)) & resources.keys() for name, resource in resources.items()}
    while free := [name for name, others in needs.items() if not others]:
        needs = {name: others - set(free) for name, others in needs.items() if name not in free}
    return sorted(needs)


def needed(value: Any) -> Iterator[str]:
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::Sub": text}:
            yield from (part.partition("}")[0].partition(".")[0] for part in str(text).split("${")[1:])
        case dict():
            depends = value.get("DependsOn", [])
            yield from [depends] if isinstance(depends, str) else depends
            for part in value.values():
                yield from needed(part)
        case list():
            for part in value:
                yield from needed(part)


def test_a_cycle_is_seen() -> None:
    resources = {"A": {"DependsOn": ["B"]}, "B": {"P": {"Fn::Sub": "x-${C.Arn}"}}, "C": {"P": [{"Ref": "A"}]}, "D": {}}
    assert cycle(resources) == ["A", "B", "C"]


@pytest.mark.parametrize("purpose", BucketPurpose)
@pytest.mark.parametrize("auto_delete", [True, False])
def test_a_bucket_alone_has_no_cycle(purpose: BucketPurpose, *, auto_delete: bool) -> None:
    app = App()
    TrainingBucket(Stack(app, "Stack"), "S", purpose=purpose, auto_delete=auto_delete)
    assert cycles(app) == []


def covering(choices: Mapping[str, Sequence[Any]], together: int) -> Iterator[dict[str, Any]]:
    """Yield few choices, the same every time, in which all values of so many options meet, whichever options."""
    chance = Random(0)  # noqa: S311  ties are no secret
    names = combinations(choices, together)
    met = (zip(some, values, strict=True) for some in names for values in product(*(choices[name] for name in some)))
    waiting = dict.fromkeys(map(frozenset, met))
    while waiting:
        chosen = dict(next(iter(waiting)))
        for name in chance.sample([*choices], len(choices)):
            others = [*combinations(chosen.items(), together - 1)]
            new = {
                value: sum(frozenset({*other, (name, value)}) in waiting for other in others)
                for value in chance.sample(choices[name], len(choices[name]))
            }
            chosen.setdefault(name, max(new, key=new.__getitem__))
        for each in combinations(chosen.items(), together):
            waiting.pop(frozenset(each), None)
        yield chosen


def test_any_three_options_are_chosen_together() -> None:
    chosen = [*covering({"a": "xyz"} | dict.fromkeys("bcdefgh", (True, False)), together=3)]
    for names in combinations("abcdefgh", 3):
        values = {tuple(each[name] for name in names) for each in chosen}
        assert len(values) == (12 if "a" in names else 8)


@pytest.mark.slow
def test_no_template_of_any_option_has_a_cycle(subtests: pytest.Subtests) -> None:
    """Every construct or none, in one stack or several, with each option or without it: any three of them together."""
    options = (
        *("apart", "own_log", "own_bucket_first", "auto_delete", "key", "repositories", "shared_group", "nat"),
        *("endpoints", "accounting", "late", "use", "encrypted"),
    )
    for chosen in covering({"build": CLUSTERS} | dict.fromkeys(options, (True, False)), together=3):
        with subtests.test(**chosen):
            app = App()
            build_everything(app, chosen["build"], chosen)
            assert cycles(app) == []


def cycles(app: App) -> list[list[str]]:
    """Return the cycles of an app's stacks, of which each is synthesized once, and read where the cdk CLI reads it."""
    templates = Path(app.synth().directory).glob("*.template.json")
    return [found for each in templates if (found := cycle(json.loads(each.read_text())["Resources"]))]


def build_everything(app: App, build: Callable[..., Any], chosen: Mapping[str, bool]) -> None:
    environment = Environment(account="111111111111", region=REGION)
    first = Stack(app, "First", env=environment)
    second = Stack(app, "Second", env=environment) if chosen["apart"] else first
    delete = chosen["auto_delete"]
    if chosen["own_bucket_first"]:
        s3.Bucket(first, "Mine", auto_delete_objects=True, removal_policy=RemovalPolicy.DESTROY)
    key = kms.Key(first, "Key", enable_key_rotation=True) if chosen["key"] else None
    network = TrainingNetwork(
        first,
        "Network",
        zone=ZONE,
        service_zones=["us-west-2b", "us-west-2c"],
        nat=Nat.ONE if chosen["nat"] else Nat.NONE,
        interface_endpoints=list(Endpoint) if chosen["endpoints"] or not chosen["nat"] else [],
        flow_logs_key=key if chosen["encrypted"] else None,
    )
    alone = TrainingBucket(first, "Alone", purpose=BucketPurpose.SCRIPTS, auto_delete=delete)
    log = None if chosen["own_log"] else alone.bucket
    buckets = TrainingBuckets(first, "Buckets", auto_delete=delete, key=key, access_logs=log)
    servers = EfaSecurityGroup(first, "Servers", vpc=network.vpc)
    link = DataRepository(file_system_path="/data", bucket=buckets.datasets)
    file_system = LustreFileSystem(
        first,
        "Lustre",
        network=network,
        security_group=servers,
        key=key if chosen["encrypted"] else None,
        data_repositories=[link] if chosen["repositories"] else [],
    )
    changes: dict[str, Any] = {"security_group": servers} if chosen["shared_group"] else {}
    if build is hyperpod and chosen["accounting"]:
        changes |= {"accounting": AccountingDatabase(first, "Accounting", network=network)}
        changes |= {"provisioning": NodeProvisioning.CONTINUOUS}
    if build is parallelcluster and chosen["accounting"]:
        database = AccountingDatabase(first, "Accounting", network=network)
        changes |= {"slurm": SlurmSettings(accounting=SlurmAccounting.of(database))}
    if build is fleet:
        changes |= {"scripts_bucket": buckets.scripts}
    mounts = [] if chosen["late"] else [Mount(file_system=file_system)]
    cluster = build(second, network, mounts=mounts, **changes)
    if chosen["late"]:
        cluster.mount(file_system)
    if chosen["use"]:
        cluster.use(buckets)


@pytest.mark.slow
def test_no_template_of_serving_and_images_has_a_cycle(subtests: pytest.Subtests) -> None:
    """As above: what serves a model, what watches it, and images that fleets start from."""
    options = (
        *("apart", "image_first", "while_deploying", "key", "door", "public", "queued", "own_logs", "watched"),
        *("to_zero", "compiled", "tell", "auto_delete", "names"),
    )
    for chosen in covering(dict.fromkeys(options, (True, False)), together=3):
        with subtests.test(**chosen):
            app = App()
            build_serving(app, chosen)
            assert cycles(app) == []


def build_serving(app: App, chosen: Mapping[str, bool]) -> None:
    environment = Environment(account="111111111111", region=REGION)
    first = Stack(app, "First", env=environment)
    second = Stack(app, "Second", env=environment) if chosen["apart"] else first
    key = kms.Key(first, "Key", enable_key_rotation=True) if chosen["key"] else None
    network = TrainingNetwork(
        first,
        "Network",
        zone=ZONE,
        public_zones=["us-west-2b"],
        service_zones=["us-west-2a", "us-west-2b"],
        flow_logs_key=key,
    )
    buckets = TrainingBuckets(first, "Buckets", auto_delete=chosen["auto_delete"], key=key)
    built = TrainingImage(
        second, "Image", base=str(IMAGE.dlami), network=network, while_deploying=chosen["while_deploying"]
    )
    if chosen["image_first"]:
        fleet(second, network, scripts_bucket=buckets.scripts, image=NodeImage(build=built), volume_key=key)
    scaling = ServiceScaling(min_tasks=1, max_tasks=4, schedules=SCHEDULES if chosen["to_zero"] else [])
    naming = Naming("acme-") if chosen["names"] else None
    of_model = {"bucket": buckets.models}
    served = service(second, network=network, of_model=of_model, scaling=scaling, log_key=key, names=naming)
    topic = sns.Topic(first, "Topic", master_key=key) if chosen["tell"] else None
    if chosen["compiled"]:
        ModelCompilation(
            second, "Compilation", model=served.model, engine=TextGenerationEngine.tgi(), exported="models/exported/"
        )
    if not chosen["door"]:
        return
    door = load_balancer(
        second,
        served,
        public=chosen["public"],
        clients=["192.0.2.0/24"] if chosen["public"] else None,
        concurrency=ConcurrencyLimit(requests=12, image="public.ecr.aws/x/agent:1") if chosen["queued"] else None,
        access_logs=buckets.access_logs if chosen["own_logs"] else None,
    )
    if chosen["watched"]:
        ServiceMonitoring(second, "Monitoring", service=served, load_balancer=door, topic=topic)
