"""``trainyard plan``: changes in place that services refuse, or that keep data from its readers."""

from typing import Any

import pytest

from cdk_trainyard.report.updates import Effect, plan_templates
from cdk_trainyard.report.updates.resources import plan_resources


def of(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties}


def encrypted(key: Any, algorithm: str = "aws:kms") -> dict[str, Any]:
    rule = {"SSEAlgorithm": algorithm, **({"KMSMasterKeyID": key} if key else {})}
    rules = [{"ServerSideEncryptionByDefault": rule}]
    return {"X": of("AWS::S3::Bucket", BucketEncryption={"ServerSideEncryptionConfiguration": rules})}


MADE = {"Fn::GetAtt": ["Key", "Arn"]}


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (encrypted("arn:k1"), encrypted("arn:k2"), Effect.LOST),
        (encrypted(MADE), encrypted("arn:k2"), Effect.LOST),
        (encrypted("arn:k1"), encrypted(None), Effect.LOST),
        (encrypted("arn:k1"), {"X": of("AWS::S3::Bucket")}, Effect.LOST),
        (encrypted(None), encrypted("arn:k1"), Effect.FREE),
        (encrypted(None, "AES256"), encrypted("arn:k1"), Effect.FREE),
        ({"X": of("AWS::S3::Bucket")}, encrypted("arn:k1"), Effect.FREE),
    ],
)
def test_objects_stay_under_the_key_that_they_were_written_with(old: Any, new: Any, effect: Effect) -> None:
    (row,) = plan_resources({"S": {"Resources": old}}, {"S": {"Resources": new}})
    assert row.effect is effect
    assert row.remedy.startswith("objects keep the key that they were written with") is (effect is Effect.LOST)


def link(path: str, prefix: str, *, files: Any = None, bucket: str = "B", **others: Any) -> dict[str, Any]:
    where = {"Fn::Join": ["", ["s3://", {"Ref": bucket}, f"/{prefix}"]]}
    files = files or {"Ref": "Files"}
    kind = "AWS::FSx::DataRepositoryAssociation"
    return of(kind, FileSystemId=files, FileSystemPath=path, DataRepositoryPath=where, **others)


LINK = link("/data", "tok/")


@pytest.mark.parametrize(
    ("after", "effects"),
    [
        ({"A": link("/data", "tok2/")}, [Effect.REFUSED]),
        ({"A": link("/data", "")}, [Effect.REFUSED]),
        ({"A": link("/data", "", bucket="C")}, [Effect.REFUSED]),
        ({"A": link("/data", "tok/", BatchImportMetaDataOnCreate=False)}, [Effect.REFUSED]),
        ({"B": link("/sets", "tok/")}, [Effect.FREE, Effect.REFUSED]),
        ({"B": link("/data/tok", "other/")}, [Effect.FREE, Effect.REFUSED]),
        ({"A": link("/data", "tok/", S3={"AutoImportPolicy": {"Events": ["NEW"]}})}, [Effect.FREE]),
        ({"A": link("/data", "tok2/", files="fs-2")}, [Effect.REPLACED]),
        ({"B": link("/data2", "other/")}, [Effect.FREE, Effect.FREE]),
        ({"B": link("/data2", "tok/", bucket="C")}, [Effect.FREE, Effect.FREE]),
        ({"A": LINK, "B": link("/sets", "sets/")}, [Effect.FREE]),
        ({}, [Effect.FREE]),
    ],
)
def test_a_link_to_s3_is_made_after_the_one_that_it_overlaps_is_gone(after: Any, effects: list[Effect]) -> None:
    rows = [*plan_resources({"S": {"Resources": {"A": LINK}}}, {"S": {"Resources": after}})]
    assert [row.effect for row in rows] == effects
    refused = [row for row in rows if row.effect is Effect.REFUSED]
    assert all(row.remedy.endswith("if it was the last), add the new one in the next") for row in refused)


def test_a_link_of_a_file_system_that_is_replaced_is_made_beside_nothing() -> None:
    old, new = (
        {
            "S": {
                "Resources": {"A": LINK, "Files": of("AWS::FSx::FileSystem", FileSystemType="LUSTRE", SubnetIds=[each])}
            }
        }
        for each in ("subnet-1", "subnet-2")
    )
    assert [row.effect for row in plan_resources(old, new)] == [Effect.REPLACED, Effect.LOST]


def backed(days: Any, *, kind: str = "LUSTRE", linked: bool = False, subnet: str = "subnet-1") -> dict[str, Any]:
    config = {"LustreConfiguration": {"AutomaticBackupRetentionDays": days} if days is not None else {}}
    files = of("AWS::FSx::FileSystem", FileSystemType=kind, SubnetIds=[subnet], **config)
    return {"Files": files, **({"Link": LINK} if linked else {})}


@pytest.mark.parametrize(
    ("old", "new", "effect", "says"),
    [
        (backed(None, linked=True), backed(7), Effect.REFUSED, "FSx backs up no file system with a link, and"),
        (backed(0, linked=True), backed("7"), Effect.REFUSED, "FSx backs up no file system with a link, and"),
        (backed(0, linked=True), backed(7, linked=True), Effect.REFUSED, "FSx backs up no file system with a link"),
        (backed(None, linked=True), backed(0), Effect.FREE, ""),
        (backed(None, linked=True), backed({"Ref": "Days"}), Effect.FREE, ""),
        (backed(None, linked=True), backed(7, subnet="subnet-2"), Effect.LOST, "everything in it goes"),
        (backed(0), backed(7), Effect.FREE, ""),
        (backed(7), backed(None, linked=True), Effect.UNCERTAIN, "no page says whether CloudFormation turns backups"),
        (backed(0), backed(None, linked=True), Effect.FREE, ""),
        (backed(7), backed(0, linked=True), Effect.FREE, ""),
        (backed(7), backed(None), Effect.FREE, ""),
    ],
)
def test_backups_end_before_the_first_link_and_begin_after_the_last(
    old: Any, new: Any, effect: Effect, says: str
) -> None:
    rows = {row.where: row for row in plan_templates({"S": {"Resources": old}}, {"S": {"Resources": new}})}
    assert rows["S/Files"].effect is effect
    assert rows["S/Files"].remedy.startswith(says)


def sized(capacity: Any, iops: Any = None, kind: str = "LUSTRE") -> dict[str, Any]:
    metadata = {"Mode": "USER_PROVISIONED", "Iops": iops} if iops else {"Mode": "AUTOMATIC"}
    config = {"MetadataConfiguration": metadata}
    return {"X": of("AWS::FSx::FileSystem", FileSystemType=kind, StorageCapacity=capacity, LustreConfiguration=config)}


@pytest.mark.parametrize(
    ("old", "new", "least"),
    [
        (sized(1200, 1500), sized(2400, 3000), 3000),
        (sized(1200, 1500), sized("2400", 1500), 3000),
        (sized(1200, 1500), sized(2400), 3000),
        (sized(1200, 3000), sized(2400, 3000), None),
        (sized(1200, 3000), sized(2400, 6000), None),
        (sized(1200, 1500), sized(1200, 3000), None),
        (sized(2400, 1500), sized(2400, 1500), None),
        (sized(1200), sized(2400), None),
        (sized(1200), sized(2400, 3000), None),
        (sized(1200, 1500), sized({"Ref": "Capacity"}, 1500), None),
        (sized(1200, {"Ref": "Iops"}), sized(2400, 1500), None),
    ],
)
def test_capacity_grows_when_there_are_the_metadata_iops_for_it(old: Any, new: Any, least: int | None) -> None:
    rows = [*plan_templates({"S": {"Resources": old}}, {"S": {"Resources": new}})]
    said = f"FSx raises the capacity to 2400 GiB when there are {least} metadata IOPS, and there are 1500: raise them"
    assert [row.remedy.startswith(said) for row in rows if row.effect is Effect.REFUSED] == [True] * bool(least)


def door(scheme: str, port: int = 80, group: str = "Group") -> dict[str, Any]:
    forward = {"Type": "forward", "TargetGroupArn": {"Ref": group}}
    elb = "AWS::ElasticLoadBalancingV2::"
    return {
        "Door": of(f"{elb}LoadBalancer", Scheme=scheme),
        "Listener": of(f"{elb}Listener", LoadBalancerArn={"Ref": "Door"}, DefaultActions=[{"Type": "fixed-response"}]),
        "Rule": of(f"{elb}ListenerRule", ListenerArn={"Ref": "Listener"}, Actions=[forward]),
        group: of(f"{elb}TargetGroup", Port=port),
    }


@pytest.mark.parametrize(
    ("after", "refused"),
    [
        (door("internet-facing"), {"S/Rule"}),
        (door("internet-facing", 8080), set()),
        (door("internet-facing", group="Other"), set()),
        (door("internal", 8080), set()),
    ],
)
def test_a_new_load_balancer_has_no_target_group_of_the_old_one(after: Any, refused: set[str]) -> None:
    rows = [*plan_resources({"S": {"Resources": door("internal")}}, {"S": {"Resources": after}})]
    found = {row.where: row.remedy for row in rows if row.effect is Effect.REFUSED}
    assert found.keys() == refused
    assert all(remedy.startswith("a target group has one load balancer at a time") for remedy in found.values())


@pytest.mark.parametrize(
    ("kind", "old", "new", "effect"),
    [
        ("LUSTRE", "2.12", "2.15", Effect.STOP),
        ("LUSTRE", "2.15", "2.12", Effect.REFUSED),
        ("LUSTRE", "2.15", None, Effect.FREE),
        ("LUSTRE", "2.15", {"Ref": "Version"}, Effect.STOP),
        ("OPENZFS", "1", "2", Effect.FREE),
    ],
)
def test_lustre_is_updated_while_nobody_has_it_mounted(kind: str, old: Any, new: Any, effect: Effect) -> None:
    before, after = (
        {
            "S": {
                "Resources": {
                    "X": of("AWS::FSx::FileSystem", FileSystemType=kind, **({"FileSystemTypeVersion": v} if v else {}))
                }
            }
        }
        for v in (old, new)
    )
    (row,) = plan_resources(before, after)
    assert row.effect is effect


def objects(*rules: Any) -> dict[str, Any]:
    rules = [{"Status": "Enabled", **rule} for rule in rules]
    return {"X": of("AWS::S3::Bucket", LifecycleConfiguration={"Rules": rules})}


def expiring(days: int, prefix: str = "", **more: Any) -> dict[str, Any]:
    return {"ExpirationInDays": days, **({"Prefix": prefix} if prefix else {}), **more}


@pytest.mark.parametrize(
    ("old", "new", "effect", "says"),
    [
        (objects(expiring(30)), objects(expiring(7)), Effect.LOST, "objects that are older than 7 days are deleted"),
        (objects(), objects(expiring(7, "a/")), Effect.LOST, "objects under a/ that are older than 7 days are deleted"),
        (objects(expiring(7)), objects(expiring(30)), Effect.FREE, ""),
        (objects(expiring(7)), objects(), Effect.FREE, ""),
        (objects(expiring(7)), objects(expiring(7), expiring(9, "a/")), Effect.FREE, ""),
        (objects(expiring(7, "a/")), objects(expiring(7)), Effect.LOST, "objects that are older"),
        (
            objects(expiring(30, TagFilters=[{"Key": "a", "Value": "b"}])),
            objects(expiring(7, TagFilters=[{"Key": "a", "Value": "b"}])),
            Effect.LOST,
            "objects with tag a=b that are older than 7 days",
        ),
        (objects(expiring(30)), objects(expiring(7, Status="Disabled")), Effect.FREE, ""),
        (
            objects({"NoncurrentVersionExpiration": {"NoncurrentDays": 30}}),
            objects({"NoncurrentVersionExpiration": {"NoncurrentDays": 1}}),
            Effect.LOST,
            "former versions that are older than 1 day are deleted",
        ),
        (
            {"X": of("AWS::RDS::DBInstance", BackupRetentionPeriod=7)},
            {"X": of("AWS::RDS::DBInstance", BackupRetentionPeriod=3)},
            Effect.LOST,
            "automatic backups that are older than 3 days are deleted",
        ),
        (
            {"X": of("AWS::RDS::DBInstance", BackupRetentionPeriod=7)},
            {"X": of("AWS::RDS::DBInstance", BackupRetentionPeriod=0)},
            Effect.LOST,
            "automatic backups are deleted",
        ),
        (
            {"X": of("AWS::RDS::DBInstance", DBInstanceClass="db.t4g.micro")},
            {"X": of("AWS::RDS::DBInstance", DBInstanceClass="db.m6g.large")},
            Effect.INTERRUPTED,
            "nobody reaches the database while",
        ),
        (
            {"X": of("AWS::APS::Workspace")},
            {"X": of("AWS::APS::Workspace", WorkspaceConfiguration={"RetentionPeriodInDays": 30})},
            Effect.LOST,
            "metrics that are older than 30 days",
        ),
        (
            {"X": of("AWS::Logs::LogGroup")},
            {"X": of("AWS::Logs::LogGroup", RetentionInDays=30)},
            Effect.FREE,
            "events that are older than 30 days",
        ),
        (
            {"X": of("AWS::Logs::LogGroup", RetentionInDays=30)},
            {"X": of("AWS::Logs::LogGroup", RetentionInDays={"Ref": "Days"})},
            Effect.FREE,
            "",
        ),
        (
            {"X": of("AWS::FSx::FileSystem", FileSystemType="LUSTRE", LustreConfiguration={"ThroughputCapacity": 1})},
            {"X": of("AWS::FSx::FileSystem", FileSystemType="LUSTRE", LustreConfiguration={"ThroughputCapacity": 2})},
            Effect.INTERRUPTED,
            "the file system is unavailable for a while, and clients wait",
        ),
    ],
)
def test_what_is_kept_for_a_shorter_time_or_is_out_of_reach(old: Any, new: Any, effect: Effect, says: str) -> None:
    (row,) = plan_templates({"S": {"Resources": old}}, {"S": {"Resources": new}})
    assert (row.effect, bool(row.remedy)) == (effect, bool(says))
    assert row.remedy.startswith(says)


def subnet(cidr: Any = "10.0.64.0/18", zone: str = "a", vpc: str = "vpc-1") -> dict[str, Any]:
    return of("AWS::EC2::Subnet", CidrBlock=cidr, AvailabilityZoneId=zone, VpcId=vpc)


@pytest.mark.parametrize(
    ("after", "effects"),
    [
        ({"A": subnet("10.0.64.0/19")}, [Effect.REFUSED]),
        ({"A": subnet(zone="b")}, [Effect.REFUSED]),
        ({"B": subnet("10.0.96.0/20")}, [Effect.FREE, Effect.REFUSED]),
        ({"A": subnet("10.0.128.0/18")}, [Effect.REPLACED]),
        ({"A": subnet(vpc="vpc-2")}, [Effect.REPLACED]),
        ({"A": subnet({"Ref": "Cidr"})}, [Effect.REPLACED]),
    ],
)
def test_a_subnet_is_not_made_over_the_addresses_of_another(after: Any, effects: list[Effect]) -> None:
    rows = [*plan_templates({"S": {"Resources": {"A": subnet()}}}, {"S": {"Resources": after}})]
    assert [row.effect for row in rows] == effects
    refused = [row.remedy for row in rows if row.effect is Effect.REFUSED]
    assert all("deletes the former, A (10.0.64.0/18): give it addresses outside those" in each for each in refused)


def test_a_resource_keeps_its_type() -> None:
    old, new = (
        {"S": {"Resources": {"X": of(kind)}}} for kind in ("AWS::SageMaker::Cluster", "Custom::PclusterCluster")
    )
    for before, after in ((old, new), (new, old)):
        (row,) = plan_templates(before, after)
        assert row.effect is Effect.REFUSED
        assert "destroy its stack first (trainyard destroy OLD STACK)" in row.remedy


def test_of_a_database_a_last_snapshot_stays_where_nothing_else_is_said() -> None:
    old = {"S": {"Resources": {"X": of("AWS::RDS::DBInstance")}}}
    (row,) = plan_templates(old, {"S": {"Resources": {}}})
    assert (row.what, row.effect) == ("AWS::RDS::DBInstance is removed", Effect.FREE)
    assert row.remedy == "it is deleted, and a last snapshot stays"
