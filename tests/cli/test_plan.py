"""``trainyard plan``, ``show`` and ``contract``: what needs no other program."""

import json
from pathlib import Path
from typing import Any

import pytest

from cdk_trainyard.cli import main
from cdk_trainyard.cli.contract import ask
from cdk_trainyard.cli.plan.command import planned
from cdk_trainyard.cli.plan.rows import table
from cdk_trainyard.report.updates import Effect, PlanRow
from cdk_trainyard.report.updates.resources import plan_resources
from tests.support import ROOT

FILE = ROOT / "deployments" / "hyperpod-cpu-ddp.yaml"


def assembly(folder: Path, name: str = "Stack", region: str = "us-east-1", **resources: Any) -> Path:
    folder.mkdir()
    properties = {"templateFile": "Stack.template.json", "stackName": name}
    artifact = {"type": "aws:cloudformation:stack", "environment": f"aws://1/{region}", "properties": properties}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": {"Stack": artifact}}))
    (folder / "Stack.template.json").write_text(json.dumps({"Resources": resources}))
    return folder


def bucket(name: str) -> dict[str, Any]:
    return {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}}


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    return [str(assembly(tmp_path / name, Data=bucket(name))) for name in ("old", "new")]


def test_a_plan_for_people_and_for_programs(sides: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *sides]) == 1
    assert capsys.readouterr().out.endswith("\ndata or a cluster would be lost\n")
    assert main(["plan", "--json", *sides]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["worst"] == "lost"
    assert [(row["where"], row["effect"]) for row in said["changes"]] == [("Stack/Data", "lost")]
    assert main(["plan", sides[0], sides[0]]) == 0
    assert capsys.readouterr().out == "nothing changes\n"


def test_what_is_refused_loses_nothing_before_it_goes_through(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subnets = (
        {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": each}} for each in ("10.0.0.0/24", "10.0.0.0/25")
    )
    sides = [str(assembly(tmp_path / name, Data=bucket(name), Net=next(subnets))) for name in ("old", "new")]
    assert main(["plan", *sides]) == 1
    assert capsys.readouterr().out.endswith(
        "\nthe update would be refused; once it goes through, data or a cluster would be lost\n"
    )


def test_another_engine_of_a_database_is_another_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def database(engine: str) -> Path:
        kept = {"UpdateReplacePolicy": "Retain"}
        return assembly(
            tmp_path / engine, Jobs={"Type": "AWS::RDS::DBInstance", "Properties": {"Engine": engine}, **kept}
        )

    main(["plan", str(database("mysql")), str(database("mariadb"))])
    assert "an empty one is made, the old one stays behind with the data" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "old", "new", "said"),
    [
        ("AWS::FSx::FileSystem", "RetainExceptOnCreate", "Delete", "is deleted when it leaves its stack"),
        ("AWS::FSx::FileSystem", None, "Retain", "stays in the account when it leaves its stack"),
        ("AWS::Logs::LogGroup", "Retain", None, "is deleted when it leaves its stack"),
        ("Custom::PclusterCluster", "Retain", "Delete", "is deleted when it leaves its stack"),
        ("AWS::RDS::DBInstance", None, "Delete", "is deleted when it leaves its stack"),
        ("AWS::RDS::DBInstance", "Delete", "Snapshot", "and a last snapshot stays"),
        ("AWS::RDS::DBInstance", None, "Snapshot", ""),
        ("AWS::FSx::FileSystem", "Retain", "RetainExceptOnCreate", ""),
        ("AWS::FSx::FileSystem", "Retain", {"Fn::If": ["A", "Delete", "Retain"]}, ""),
    ],
)
def test_another_deletion_policy_is_told(kind: str, old: Any, new: Any, said: str) -> None:
    """A change that does nothing now, and everything later."""
    before, after = (
        {"S": {"Resources": {"X": {"Type": kind, **({"DeletionPolicy": each} if each else {})}}}} for each in (old, new)
    )
    rows = [*plan_resources(before, after)]
    assert [(row.where, row.effect) for row in rows] == ([("S/X", Effect.FREE)] if said else [])
    assert all(said in row.remedy and "DeletionPolicy" in row.what for row in rows)


@pytest.mark.parametrize(
    ("kind", "properties", "name"),
    [
        (
            "AWS::Logs::LogGroup",
            {"LogGroupName": {"Fn::Join": ["", ["/aws/fsx/mine-", {"Ref": "X"}]]}},
            "/aws/fsx/mine-…",
        ),
        ("AWS::S3::Bucket", {"BucketName": "mine"}, "mine"),
        ("AWS::Logs::LogGroup", {"LogGroupName": {"Ref": "X"}}, ""),
        ("AWS::Logs::LogGroup", {}, ""),
        ("AWS::S3::BucketPolicy", {"Bucket": "mine"}, ""),
    ],
)
def test_what_is_kept_stays_under_its_name(kind: str, properties: dict[str, Any], name: str) -> None:
    kept = {"Type": kind, "Properties": properties, "DeletionPolicy": "RetainExceptOnCreate"}
    (row,) = plan_resources({"S": {"Resources": {"X": kept}}}, {"S": {"Resources": {}}})
    assert (row.what, row.effect) == (f"{kind} is removed, and kept", Effect.FREE)
    assert row.remedy == (
        f"stays in the account as {name}, and in no stack; delete or import it before it is added again: "
        "CloudFormation makes no second one of a name"
        if name
        else "stays in the account, and in no stack"
    )


def test_another_target_group_serves_nobody_at_first() -> None:
    old, new = (
        {"S": {"Resources": {"X": {"Type": "AWS::ElasticLoadBalancingV2::TargetGroup", "Properties": {"Port": port}}}}}
        for port in (80, 8080)
    )
    (row,) = plan_resources(old, new)
    assert row.effect is Effect.REPLACED
    assert row.remedy.startswith("the load balancer forwards to an empty one, and answers 503, until targets")


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (["A"], ["B"], Effect.REFUSED),
        (["A", "C"], ["B", "C"], Effect.REFUSED),
        (["A"], ["A", "C"], Effect.FREE),
        (["A"], ["C"], Effect.FREE),
        (["A"], ["A"], None),
    ],
)
def test_an_endpoint_goes_to_no_other_subnet_of_a_zone(old: list[str], new: list[str], effect: Effect | None) -> None:
    zones = {"A": "usw2-az1", "B": "usw2-az1", "C": "usw2-az2"}
    subnets = {
        name: {"Type": "AWS::EC2::Subnet", "Properties": {"AvailabilityZoneId": zone}} for name, zone in zones.items()
    }

    def stack(used: list[str]) -> dict[str, Any]:
        properties = {"VpcEndpointType": "Interface", "SubnetIds": [{"Ref": name} for name in used]}
        return {
            "Stack": {"Resources": {**subnets, "Logs": {"Type": "AWS::EC2::VPCEndpoint", "Properties": properties}}}
        }

    rows = [*plan_resources(stack(old), stack(new))]
    assert [(row.where, row.effect) for row in rows] == ([("Stack/Logs", effect)] if effect is not None else [])
    assert ["remove it in one deployment and add it in the next" in row.remedy for row in rows] == [
        effect is Effect.REFUSED for _ in rows
    ]


@pytest.mark.parametrize(
    ("name", "region", "said"),
    [
        ("mine", "us-east-1", "stack Stack -> mine"),
        ("Stack", "eu-west-1", "Region us-east-1 -> eu-west-1"),
        ("Stack", "unknown-region", ""),
    ],
)
def test_stacks_of_another_name_or_region_are_made_beside(tmp_path: Path, name: str, region: str, said: str) -> None:
    old = assembly(tmp_path / "old", Data=bucket("old"))
    rows = planned(old, assembly(tmp_path / "new", name, region, Data=bucket("new")))
    assert [(row.where, row.what, row.effect) for row in rows] == [
        ("Stack", said, Effect.BESIDE) if said else ("Stack/Data", "AWS::S3::Bucket BucketName", Effect.LOST)
    ]
    if said:
        assert rows[0].remedy.startswith("other stacks are made beside the old ones, which stay, with their data and")


@pytest.mark.parametrize(
    ("region", "effect"), [("us-east-1", Effect.LOST), ("unknown-region", Effect.LOST), ("eu-west-1", Effect.FREE)]
)
def test_a_stack_beside_makes_no_second_parallelcluster_of_a_name(tmp_path: Path, region: str, effect: Effect) -> None:
    cluster = {"Type": "Custom::PclusterCluster", "Properties": {"ClusterName": "x", "ClusterConfiguration": {}}}
    old = assembly(tmp_path / "old", Cluster=cluster)
    rows = planned(old, assembly(tmp_path / "new", "mine", region, Cluster=cluster))
    assert [(row.where, row.effect) for row in rows] == [("Stack", Effect.BESIDE), ("Stack/Cluster", effect)]


def two(folder: Path, *, stays: bool = True, network: str = "a", uses: bool = True) -> Path:
    """Write an app of a network and of a service that is in it."""
    uses_it = {"Subnets": [{"Fn::ImportValue": "subnet"}]} if uses else {}
    templates = {
        "Network": {
            "Resources": {"Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": network}}},
            "Outputs": {"Subnet": {"Value": {"Ref": "Subnet"}, "Export": {"Name": "subnet"}}} if network else {},
        },
        "Serving": {
            "Resources": {"Door": {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": uses_it}}
        },
    }
    folder.mkdir()
    artifacts = {}
    for name in templates if stays else ["Network"]:
        file = f"{name}.template.json"
        (folder / file).write_text(json.dumps(templates[name]))
        artifacts[name] = {"type": "aws:cloudformation:stack", "properties": {"templateFile": file, "stackName": name}}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    return folder


DESTROY = "run 'trainyard destroy OLD Serving' first"


@pytest.mark.parametrize(
    ("change", "more"),
    [
        ({}, []),
        ({"network": ""}, [("Network/Subnet", Effect.REPLACED, ""), ("Network", Effect.REFUSED, DESTROY)]),
    ],
)
def test_a_stack_that_is_in_the_old_file_alone_stays(tmp_path: Path, change: Any, more: list[Any]) -> None:
    """What it uses can neither go nor change, and nothing of it does."""
    rows = planned(two(tmp_path / "old"), two(tmp_path / "new", stays=False, **change))
    assert [(row.where, row.effect) for row in rows] == [
        ("Serving", Effect.STAYS),
        *((where, effect) for where, effect, _ in more),
    ]
    assert rows[0].remedy.endswith(DESTROY)
    assert all(row.remedy.endswith(says) for row, (_, _, says) in zip(rows[1:], more, strict=True))


@pytest.mark.parametrize(
    ("used", "says"),
    [
        ([], "; update Door without it before this stack"),
        (["b"], "; deploy the new one beside the old one, then update Door without it before this stack"),
    ],
)
def test_a_stack_that_waits_for_another_is_not_updated_before_it(used: list[str], says: str) -> None:
    def app(exported: str, *used: str) -> dict[str, Any]:
        properties = {"Subnets": [{"Fn::ImportValue": each} for each in used]}
        return {
            "Network": {"Outputs": {"X": {"Value": exported, "Export": {"Name": exported}}}},
            "Door": {
                "Resources": {"X": {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": properties}}
            },
        }

    rows = {row.where: row for row in plan_resources(app("a", "a"), app("b", *used))}
    assert rows["Network"].effect is Effect.REFUSED
    assert says in rows["Network"].remedy


@pytest.mark.parametrize(("data", "code"), [("old", 3), ("new", 1)])
def test_without_parallelclusters_program_all_else_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: str, code: int
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(ask, "project_folder", lambda: tmp_path)

    def with_cluster(folder: str, name: str, nodes: int) -> str:
        properties = {"ClusterName": "x", "ClusterConfiguration": {"Nodes": nodes}}
        cluster = {"Type": "Custom::PclusterCluster", "Properties": properties}
        return str(assembly(tmp_path / folder, Cluster=cluster, Data=bucket(name)))

    old, new = with_cluster("old", "old", 1), with_cluster("new", data, 2)
    assert main(["plan", old, new]) == code
    said = capsys.readouterr().out
    assert ("not compared" in said, "'trainyard contract --install'" in said) == (True, True)
    assert main(["plan", old, old]) == 0


def test_on_a_narrow_terminal_a_change_is_a_paragraph() -> None:
    rows = [PlanRow(where="Stack/A", what="w " * 40, effect=Effect.LOST, remedy="r " * 40)] * 2
    assert max(map(len, table(rows).splitlines())) > 40
    narrow = table(rows, 40).splitlines()
    assert narrow[0] == "LOST: Stack/A"
    assert [line for line in narrow if len(line) > 40] == []


def test_a_contract_without_parallelclusters_needs_nothing(
    sides: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["contract", *sides]) == 0
    assert capsys.readouterr().out == "no ParallelCluster configuration in what was given\n"
    assert main(["contract"]) == 2


def test_a_verdict_names_the_file_that_it_is_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = {"Type": "Custom::PclusterCluster", "Properties": {"ClusterName": "x", "ClusterConfiguration": {}}}
    given = [str(assembly(tmp_path / name, Cluster=cluster)) for name in ("a", "b")]
    verdict = {"errors": [], "warnings": [], "unknown_instance_types": []}
    monkeypatch.setattr(ask, "ask", lambda asked: {"checks": [verdict for _ in asked["checks"]], "skipped": []})
    assert main(["contract", "--json", *given]) == 0
    assert [row["file"] for row in json.loads(capsys.readouterr().out)["clusters"]] == given


def test_parallelclusters_own_environment_is_made_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = {"Type": "Custom::PclusterCluster", "Properties": {"ClusterName": "x", "ClusterConfiguration": {}}}
    given = assembly(tmp_path / "pcluster", Cluster=cluster)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(ask, "project_folder", lambda: tmp_path)
    assert main(["contract", str(given)]) == 3
    assert "'trainyard contract --install' makes it in " in capsys.readouterr().err
    for wrong, said in (
        (str(given), f"TRAINYARD_PCLUSTER_PYTHON must name a Python that can be run, got '{given}'"),
        ("/bin/false", "ParallelCluster's own program failed, as shown above: /bin/false"),
        ("/bin/true", "ParallelCluster's own program failed: /bin/true"),
    ):
        monkeypatch.setenv(ask.VARIABLE, wrong)
        assert main(["contract", str(given)]) == (3 if wrong == str(given) else 1)
        assert capsys.readouterr().err.splitlines()[-1] == said
    (tmp_path / "binary").write_bytes(b"\0")
    (tmp_path / "binary").chmod(0o755)
    monkeypatch.setenv(ask.VARIABLE, str(tmp_path / "binary"))
    assert main(["contract", str(given)]) == 3
    assert capsys.readouterr().err == f"{tmp_path}/binary cannot be run: Exec format error\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_half_an_environment_is_none(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C and SIGTERM while pip installs."""
    cache = tmp_path / "cache"

    def interrupted(words: list[str]) -> None:
        if "pip" in words:
            raise error
        python = cache / "cdk-trainyard" / "pcluster" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch()

    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(ask, "_run", interrupted)
    with pytest.raises(error):
        ask.install()
    assert [*(cache / "cdk-trainyard").iterdir()] == []


def test_showing_takes_credentials(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert main(["show", str(FILE)]) == 3
    assert "check, synth, plan, demo, rehearse, contract, local and init need none" in capsys.readouterr().err
