"""File systems: minimal, everything set, imported, refused."""

from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Duration, Environment, RemovalPolicy, Stack, Tags, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.network import EfaSecurityGroup, TrainingNetwork
from cdk_trainyard.storage import (
    DataRepository,
    Lustre,
    LustreBackups,
    LustreCompression,
    LustreDeployment,
    LustreFileSystem,
    LustreLogLevel,
    LustreReadCache,
    MaintenanceTime,
    Mount,
    RootSquash,
    Weekday,
)

from .conftest import Place, make_place

P2 = LustreDeployment.persistent_2


def lustre(place: Place, **settings: Any) -> LustreFileSystem:
    return LustreFileSystem(
        place.stack, "Lustre", network=place.network, security_group=place.security_group, **settings
    )


def file_system(template: Template) -> dict[str, Any]:
    (found,) = template.find_resources("AWS::FSx::FileSystem").values()
    return dict(found)


def configuration(place: Place, **settings: Any) -> Mapping[str, Any]:
    lustre(place, **settings)
    properties: Mapping[str, Any] = file_system(Template.from_stack(place.stack))["Properties"]
    return properties


@pytest.fixture(scope="module")
def minimal() -> tuple[LustreFileSystem, Template]:
    place = make_place()
    made = lustre(place)
    return made, Template.from_stack(place.stack)


def test_minimal(minimal: tuple[LustreFileSystem, Template]) -> None:
    found = file_system(minimal[1])["Properties"]
    destination = found["LustreConfiguration"].pop("LogConfiguration").pop("Destination")
    assert found == {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageType": "SSD",
        "StorageCapacity": 1200,
        "SubnetIds": ["subnet-0123456789abcdef0"],
        "SecurityGroupIds": ["sg-0123456789abcdef0"],
        "LustreConfiguration": {
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 250,
            "MetadataConfiguration": {"Mode": "AUTOMATIC"},
            "DataCompressionType": "LZ4",
            "AutomaticBackupRetentionDays": 7,
        },
    }
    assert destination == {
        "Fn::Join": [
            "",
            [
                "arn:",
                {"Ref": "AWS::Partition"},
                ":logs:us-west-2:111111111111:log-group:",
                {"Ref": "LustreLogs8D7A60CF"},
            ],
        ]
    }


def test_minimal_is_retained_with_its_log(minimal: tuple[LustreFileSystem, Template]) -> None:
    for resource_type in ("AWS::FSx::FileSystem", "AWS::Logs::LogGroup"):
        minimal[1].has_resource(
            resource_type, {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
        )


def test_logical_ids_are_pinned(minimal: tuple[LustreFileSystem, Template]) -> None:
    """Another logical id is another file system: the data stays behind in the old one."""
    assert list(minimal[1].find_resources("AWS::FSx::FileSystem")) == ["LustreF8935BA0"]


def test_the_log_group_is_named_as_fsx_demands_and_as_no_other_stack_does(
    minimal: tuple[LustreFileSystem, Template],
) -> None:
    (group,) = minimal[1].find_resources("AWS::Logs::LogGroup").values()
    first, instance = group["Properties"]["LogGroupName"]["Fn::Join"][1]
    assert first.startswith("/aws/fsx/Stack-Lustre-")
    assert "AWS::StackId" in str(instance)
    assert group["Properties"]["RetentionInDays"] == 90


def test_minimal_attributes(minimal: tuple[LustreFileSystem, Template]) -> None:
    made, _ = minimal
    stack = Stack.of(made)
    assert stack.resolve(made.file_system_id) == {"Ref": "LustreF8935BA0"}
    assert stack.resolve(made.dns_name) == {"Fn::GetAtt": ["LustreF8935BA0", "DNSName"]}
    assert stack.resolve(made.mount_name) == {"Fn::GetAtt": ["LustreF8935BA0", "LustreMountName"]}
    assert stack.resolve(made.file_system_arn) == {"Fn::GetAtt": ["LustreF8935BA0", "ResourceARN"]}
    assert (made.capacity_gib, made.efa_enabled, made.zone) == (1200, False, "us-west-2a")
    assert made.file_servers == 2
    assert made.subnet is not None
    assert made.subnet.subnet_id == "subnet-0123456789abcdef0"
    assert isinstance(made, Lustre)


def test_everything_set(place: Place) -> None:
    key = kms.Key.from_key_arn(place.stack, "Key", "arn:aws:kms:us-west-2:111111111111:key/1")
    found = configuration(
        place,
        deployment=P2(throughput_mb_s_per_tib=1000),
        capacity_gib=9600,
        efa_enabled=True,
        compression=LustreCompression.NONE,
        root_squash=RootSquash(uid=365534, gid=65534),
        key=key,
        backups=LustreBackups(retention_days=30, hour=2),
        maintenance=MaintenanceTime(day=Weekday.SUNDAY, hour=4),
        log_level=LustreLogLevel.ERROR_ONLY,
        log_retention=logs.RetentionDays.ONE_WEEK,
        removal_policy=RemovalPolicy.DESTROY,
    )
    settings = dict(found["LustreConfiguration"])
    assert settings.pop("LogConfiguration")["Level"] == "ERROR_ONLY"
    assert settings == {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 1000,
        "EfaEnabled": True,
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        "DataCompressionType": "NONE",
        "AutomaticBackupRetentionDays": 30,
        "DailyAutomaticBackupStartTime": "02:00",
        "WeeklyMaintenanceStartTime": "7:04:00",
    }
    assert (found["StorageCapacity"], found["KmsKeyId"]) == (9600, "arn:aws:kms:us-west-2:111111111111:key/1")
    template = Template.from_stack(place.stack)
    template.has_resource("AWS::FSx::FileSystem", {"DeletionPolicy": "Delete"})
    template.has_resource("AWS::Logs::LogGroup", {"DeletionPolicy": "Delete", "Properties": {"RetentionInDays": 7}})
    template.resource_count_is("Custom::LustreRootSquash", 1)


@pytest.mark.parametrize(
    ("deployment", "more", "expected"),
    [
        (
            LustreDeployment.scratch_2(),
            {},
            {"StorageType": "SSD", "StorageCapacity": 1200, "LustreConfiguration": {"DeploymentType": "SCRATCH_2"}},
        ),
        (
            LustreDeployment.persistent_1(throughput_mb_s_per_tib=200),
            {"lustre_version": "2.12"},
            {
                "StorageCapacity": 1200,
                "FileSystemTypeVersion": "2.12",
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_1",
                    "PerUnitStorageThroughput": 200,
                    "AutomaticBackupRetentionDays": 7,
                },
            },
        ),
        (
            LustreDeployment.persistent_1_hdd(throughput_mb_s_per_tib=12),
            {},
            {
                "StorageType": "HDD",
                "StorageCapacity": 6000,
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_1",
                    "DriveCacheType": "NONE",
                    "PerUnitStorageThroughput": 12,
                    "AutomaticBackupRetentionDays": 7,
                },
            },
        ),
        (
            LustreDeployment.persistent_1_hdd(throughput_mb_s_per_tib=40, read_cache=True),
            {"capacity_gib": 3600, "backups": LustreBackups(retention_days=0)},
            {
                "StorageType": "HDD",
                "StorageCapacity": 3600,
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_1",
                    "DriveCacheType": "READ",
                    "PerUnitStorageThroughput": 40,
                    "AutomaticBackupRetentionDays": 0,
                },
            },
        ),
        (
            LustreDeployment.intelligent_tiering(throughput_mb_s=8000, read_cache=LustreReadCache.gib(64)),
            {"efa_enabled": True},
            {
                "StorageType": "INTELLIGENT_TIERING",
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "ThroughputCapacity": 8000,
                    "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64},
                    "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
                    "EfaEnabled": True,
                    "AutomaticBackupRetentionDays": 7,
                },
            },
        ),
        (
            P2(throughput_mb_s_per_tib=125),
            {"lustre_version": "2.12"},
            {
                "FileSystemTypeVersion": "2.12",
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "PerUnitStorageThroughput": 125,
                    "AutomaticBackupRetentionDays": 7,
                },
            },
        ),
    ],
)
def test_every_kind_is_rendered_with_what_it_has(
    place: Place, deployment: LustreDeployment, more: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = configuration(place, deployment=deployment, log_level=LustreLogLevel.DISABLED, **more)
    expected["LustreConfiguration"] |= {"DataCompressionType": "LZ4", "LogConfiguration": {"Level": "DISABLED"}}
    common = {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageType": "SSD",
        "SubnetIds": ["subnet-0123456789abcdef0"],
        "SecurityGroupIds": ["sg-0123456789abcdef0"],
    }
    assert {"StorageCapacity": 1200, **found} == {"StorageCapacity": 1200, **common, **expected}
    assert ("StorageCapacity" in found) == (not deployment.tiering)


@pytest.mark.parametrize("throughput", [125, 250, 500, 1000])
def test_efa_starts_at_the_smallest_capacity_with_efa(place: Place, throughput: int) -> None:
    made = lustre(place, deployment=P2(throughput_mb_s_per_tib=throughput), efa_enabled=True)
    assert made.capacity_gib == {125: 38400, 250: 19200, 500: 9600, 1000: 4800}[throughput]
    assert made.efa_enabled


def test_scratch_is_deleted_as_documented_unless_asked_otherwise() -> None:
    for asked, policy in ((None, "Delete"), (RemovalPolicy.RETAIN, "Retain")):
        place = make_place()
        lustre(place, deployment=LustreDeployment.scratch_2(), removal_policy=asked)
        Template.from_stack(place.stack).has_resource("AWS::FSx::FileSystem", {"DeletionPolicy": policy})


def test_no_log_when_disabled(place: Place) -> None:
    made = lustre(place, log_level=LustreLogLevel.DISABLED)
    assert made.log_group is None
    Template.from_stack(place.stack).resource_count_is("AWS::Logs::LogGroup", 0)


def test_it_waits_for_the_rules_of_its_group_and_for_the_route_out() -> None:
    stack = Stack(App(), "Stack", env=Environment(account="111111111111", region="us-west-2"))
    network = TrainingNetwork(stack, "Network", zone="us-west-2a")
    group = EfaSecurityGroup(stack, "Group", vpc=network.vpc)
    LustreFileSystem(stack, "Lustre", network=network, security_group=group)
    template = Template.from_stack(stack)
    rules = {
        name
        for resource_type in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
        for name, rule in template.find_resources(resource_type).items()
        if rule["Properties"]["IpProtocol"] == "-1"
    }
    waited = set(file_system(template)["DependsOn"])
    assert len(rules) == 2
    assert rules <= waited
    assert [name for name in waited if "DefaultRoute" in name]


def test_who_depends_on_ready_waits_for_links_and_root_squash(place: Place) -> None:
    bucket = s3.Bucket.from_bucket_name(place.stack, "Data", "data")
    made = lustre(
        place,
        data_repositories=[DataRepository(file_system_path="/datasets", bucket=bucket)],
        root_squash=RootSquash(uid=1, gid=1),
    )
    sns.Topic(place.stack, "Cluster").node.add_dependency(made.ready)
    template = Template.from_stack(place.stack)
    (topic,) = template.find_resources("AWS::SNS::Topic").values()
    kinds = ("AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation", "Custom::LustreRootSquash")
    waited = {name for kind in kinds for name in template.find_resources(kind)}
    assert set(topic["DependsOn"]) == waited
    assert len(waited) == 3


def test_links_are_made_one_after_the_other_and_root_squash_after_them(place: Place) -> None:
    buckets = [s3.Bucket.from_bucket_name(place.stack, f"Data{number}", f"data{number}") for number in range(3)]
    links = [DataRepository(file_system_path=f"/{one.bucket_name}", bucket=one) for one in buckets]
    lustre(place, data_repositories=links, root_squash=RootSquash(uid=1, gid=1))
    template = Template.from_stack(place.stack)
    found = template.find_resources("AWS::FSx::DataRepositoryAssociation")
    ids = {one["Properties"]["FileSystemPath"]: name for name, one in found.items()}
    first, second, third = (ids[link.file_system_path] for link in links)
    assert [found[each].get("DependsOn", []) for each in (first, second, third)] == [[], [first], [second]]
    (squash,) = template.find_resources("Custom::LustreRootSquash").values()
    assert {first, second, third} <= set(squash["DependsOn"])


@pytest.mark.parametrize("backups", [None, LustreBackups(retention_days=0)])
def test_of_a_file_system_with_links_nothing_is_said_of_backups(place: Place, backups: LustreBackups | None) -> None:
    bucket = s3.Bucket.from_bucket_name(place.stack, "Data", "data")
    link = DataRepository(file_system_path="/datasets", bucket=bucket)
    found = configuration(place, data_repositories=[link], backups=backups)
    assert "AutomaticBackupRetentionDays" not in found["LustreConfiguration"]
    Template.from_stack(place.stack).has_resource_properties(
        "AWS::FSx::DataRepositoryAssociation",
        {"FileSystemPath": "/datasets", "FileSystemId": {"Ref": "LustreF8935BA0"}},
    )


def test_a_subnet_of_ones_own_goes_before_that_of_the_network(place: Place) -> None:
    subnet = ec2.Subnet.from_subnet_attributes(
        place.stack, "Other", subnet_id="subnet-other", availability_zone="us-west-2b"
    )
    made = lustre(place, subnet=subnet)
    assert made.subnet is subnet
    assert made.zone == "us-west-2b"
    assert file_system(Template.from_stack(place.stack))["Properties"]["SubnetIds"] == ["subnet-other"]


def test_the_networks_own_subnet_is_in_the_networks_zone(place: Place) -> None:
    assert lustre(place, subnet=place.network.accelerator_subnet).zone == place.network.zone


def test_a_zone_that_is_a_token_is_unknown(place: Place) -> None:
    zone = Token.as_string({"Ref": "Zone"})
    subnet = ec2.Subnet.from_subnet_attributes(place.stack, "Other", subnet_id="subnet-other", availability_zone=zone)
    assert lustre(place, subnet=subnet).zone is None


def test_clients_connect_on_lustres_port(place: Place) -> None:
    made = lustre(place)
    client = ec2.SecurityGroup.from_security_group_id(place.stack, "Client", "sg-client")
    made.connections.allow_default_port_from(client)
    Template.from_stack(place.stack).has_resource_properties(
        "AWS::EC2::SecurityGroupIngress",
        {"GroupId": "sg-0123456789abcdef0", "SourceSecurityGroupId": "sg-client", "FromPort": 988, "ToPort": 988},
    )


def test_tags_reach_the_file_system(place: Place) -> None:
    Tags.of(lustre(place)).add("Team", "speech")
    Template.from_stack(place.stack).has_resource_properties(
        "AWS::FSx::FileSystem", {"Tags": [{"Key": "Team", "Value": "speech"}]}
    )


@pytest.mark.parametrize(
    ("method", "metric_name", "statistic"),
    [
        ("metric_free_storage_capacity", "FreeDataStorageCapacity", "Sum"),
        ("metric_free_storage_of_fullest_disk", "FreeDataStorageCapacity", "Minimum"),
        ("metric_data_read_bytes", "DataReadBytes", "Sum"),
        ("metric_data_write_bytes", "DataWriteBytes", "Sum"),
        ("metric_data_read_operations", "DataReadOperations", "Sum"),
        ("metric_data_write_operations", "DataWriteOperations", "Sum"),
        ("metric_metadata_operations", "MetadataOperations", "Sum"),
    ],
)
def test_metrics(minimal: tuple[LustreFileSystem, Template], method: str, metric_name: str, statistic: str) -> None:
    metric = getattr(minimal[0], method)(period=Duration.minutes(1))
    assert (metric.namespace, metric.metric_name, metric.statistic) == ("AWS/FSx", metric_name, statistic)
    assert metric.dimensions == {"FileSystemId": minimal[0].file_system_id}
    assert metric.period.to_seconds() == 60
    assert getattr(minimal[0], method)().period.to_seconds() == 300


def test_imported(place: Place) -> None:
    taken = LustreFileSystem.from_attributes(
        place.stack,
        "Taken",
        file_system_id="fs-0123456789abcdef0",
        dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        mount_name="abcdefgh",
        security_group=place.security_group,
        zone="us-west-2a",
        efa_enabled=True,
    )
    assert isinstance(taken, Lustre)
    assert taken.mount_name == "abcdefgh"
    assert (taken.zone, taken.efa_enabled) == ("us-west-2a", True)
    assert (taken.subnet, taken.capacity_gib, taken.file_servers) == (None, None, None)
    assert place.stack.resolve(taken.file_system_arn) == {
        "Fn::Join": [
            "",
            ["arn:", {"Ref": "AWS::Partition"}, ":fsx:us-west-2:111111111111:file-system/fs-0123456789abcdef0"],
        ]
    }
    assert taken.connections.security_groups
    assert Mount(file_system=taken).facts.identity == "fs-0123456789abcdef0"  # whatever constructs stand for it
    sns.Topic(place.stack, "Cluster").node.add_dependency(taken.ready)
    Template.from_stack(place.stack).resource_count_is("AWS::FSx::FileSystem", 0)


def test_fails_an_import_of_something_else(place: Place) -> None:
    with pytest.raises(ConfigurationError, match="Stack/Taken: 3 problems"):
        LustreFileSystem.from_attributes(
            place.stack,
            "Taken",
            file_system_id="fs-1",
            dns_name="lustre",
            mount_name="",
            security_group=place.security_group,
        )


@pytest.mark.parametrize(
    ("settings", "keyword"),
    [
        ({"capacity_gib": 1300}, "capacity_gib"),
        ({"network": None}, "network"),
        ({"capacity_gib": "1200"}, "capacity_gib"),
        ({"compression": "LZ4"}, "compression"),
    ],
)
def test_fails(place: Place, settings: dict[str, Any], keyword: str) -> None:
    arguments = {"network": place.network, "security_group": place.security_group, **settings}
    with pytest.raises(ConfigurationError) as refused:
        LustreFileSystem(place.stack, "Lustre", **arguments)
    assert refused.value.path == "Stack/Lustre"
    assert [problem.split("'")[1] for problem in refused.value.problems] == [keyword]


def test_a_plain_security_group_gets_the_rules_to_itself(place: Place) -> None:
    group = ec2.SecurityGroup.from_security_group_id(place.stack, "Plain", "sg-plain")
    made = LustreFileSystem(place.stack, "Lustre", network=place.network, security_group=group)
    rules = Template.from_stack(place.stack).find_resources("AWS::EC2::SecurityGroupEgress").values()
    assert "sg-plain" in [rule["Properties"]["GroupId"] for rule in rules]
    assert made.security_group is EfaSecurityGroup.of(group)


def test_fails_a_key_for_scratch_and_of_another_region(place: Place) -> None:
    key = kms.Key.from_key_arn(place.stack, "Key", "arn:aws:kms:us-east-1:111111111111:key/1")
    with pytest.raises(ConfigurationError) as refused:
        lustre(place, key=key, deployment=LustreDeployment.scratch_2())
    assert [problem[:30] for problem in refused.value.problems] == [
        "'key' must be of Region us-wes",
        "'key' is for persistent file s",
    ]


def test_fails_links_that_overlap_or_are_too_many(place: Place) -> None:
    bucket = s3.Bucket.from_bucket_name(place.stack, "Data", "data")
    paths = [f"/d{number}" for number in range(8)] + ["/d0/inside"]
    links = [DataRepository(file_system_path=path, bucket=bucket, prefix=path[1:].replace("/", "-")) for path in paths]
    with pytest.raises(ConfigurationError) as refused:
        lustre(place, data_repositories=links)
    assert [problem.split("'")[1] for problem in refused.value.problems] == [
        "data_repositories",
        "data_repositories[8].file_system_path",
    ]


def test_fails_with_every_problem_at_once(place: Place) -> None:
    bucket = s3.Bucket.from_bucket_name(place.stack, "Data", "data")
    with pytest.raises(ConfigurationError) as refused:
        lustre(
            place,
            deployment=P2(throughput_mb_s_per_tib=251),
            capacity_gib=1300,
            root_squash=RootSquash(uid=0, gid=1),
            backups=LustreBackups(retention_days=91),
            maintenance=MaintenanceTime(day=Weekday.MONDAY, hour=3, minute=99),
            data_repositories=[DataRepository(file_system_path="datasets", bucket=bucket)],
        )
    keywords = [problem.split("'")[1] for problem in refused.value.problems]
    assert sorted(keywords) == sorted([
        "root_squash.uid", "backups.retention_days", "maintenance.minute", "deployment.throughput_mb_s_per_tib",
        "capacity_gib", "data_repositories[0].file_system_path",
    ])  # fmt: skip


def test_a_refused_file_system_leaves_nothing_behind(place: Place) -> None:
    with pytest.raises(ConfigurationError):
        lustre(place, capacity_gib=1300)
    refused = place.stack.node.find_child("Lustre")
    assert isinstance(refused, Construct)
    assert refused.node.children == []


def test_tokens_pass(place: Place) -> None:
    capacity = CfnParameter(place.stack, "Capacity", type="Number").value_as_number
    made = lustre(place, capacity_gib=capacity)
    assert made.file_servers is None
    assert file_system(Template.from_stack(place.stack))["Properties"]["StorageCapacity"] == {"Ref": "Capacity"}


def test_a_region_without_the_kind_is_warned_about() -> None:
    place = make_place(region="us-gov-west-1")
    lustre(place)
    Annotations.from_stack(place.stack).has_warning(
        "/Stack/Lustre",
        Match.string_like_regexp(r"PERSISTENT_2 .* us-gov-west-1 .*\[ack: @cdk-trainyard/storage:deployment-region\]"),
    )


@pytest.mark.parametrize("region", [None, "us-west-2"])
def test_nothing_is_said_of_a_region_that_has_it_or_is_unknown(region: str | None) -> None:
    place = make_place(region=region)
    lustre(place)
    assert Annotations.from_stack(place.stack).find_warning("/Stack/Lustre", Match.any_value()) == []
