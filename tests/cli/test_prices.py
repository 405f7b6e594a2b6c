"""``trainyard prices refresh``: asked of a stand-in that takes and answers what botocore's model says."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from cdk_trainyard.cli import main
from cdk_trainyard.cli.prices.command import kept_prices
from cdk_trainyard.report import read_assembly
from cdk_trainyard.report.billed import _TYPES, billed
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.machines import machines

OPERATION = get_session().get_service_model("pricing").operation_model("GetProducts")
REGION = "us-west-2"
ALONE = ("--without", "cfn-lint", "--without", "checkov")
"""Of a review that is about prices."""


def product(usd: str, unit: str = "Hrs", currency: str = "USD", **attributes: str) -> str:
    """Return a product with one price."""
    return tiered({"0": usd}, unit, currency, **attributes)


def tiered(prices: dict[str, str], unit: str, currency: str = "USD", **attributes: str) -> str:
    """Return a product as the AWS Price List API Reference shows one (GetProducts, example), a price for each tier."""
    ends = [*[*prices][1:], "Inf"]
    dimensions = {
        f"SKU.TERM.RATE{number}": {
            "unit": unit,
            "endRange": end,
            "description": f"${usd} per {unit}",
            "appliesTo": [],
            "rateCode": f"SKU.TERM.RATE{number}",
            "beginRange": begin,
            "pricePerUnit": {currency: usd},
        }
        for number, ((begin, usd), end) in enumerate(zip(prices.items(), ends, strict=True))
    }
    term = {
        "priceDimensions": dimensions,
        "sku": "SKU",
        "effectiveDate": "2026-11-01T00:00:00Z",
        "offerTermCode": "TERM",
        "termAttributes": {},
    }
    return json.dumps(
        {
            "product": {"productFamily": "?", "attributes": attributes, "sku": "SKU"},
            "serviceCode": "?",
            "terms": {"OnDemand": {"SKU.TERM": term}},
            "version": "20261101000000",
            "publicationDate": "2026-11-01T00:00:00Z",
        }
    )


ANSWERS: dict[str, list[str]] = {
    "Compute Instance": [
        product("55.0400000000", instanceType="p5.48xlarge"),
        product("0.0000000000", instanceType="p6-b200.48xlarge"),
        product("1.50", instanceType="odd.large"),
        product("1.60", instanceType="odd.large"),
        product("3", currency="CNY", instanceType="c5.large"),
        json.dumps({"product": {"attributes": {"instanceType": "reserved.large"}}, "terms": {"Reserved": {}}}),
    ],
    "NAT Gateway": [
        product("0.0450000000", usagetype="USW2-NatGateway-Hours"),
        product("0.0450000000", unit="GB", usagetype="USW2-NatGateway-Bytes"),
    ],
    "AmazonVPC": [
        product("0.0050000000", usagetype="USW2-PublicIPv4:InUseAddress"),
        product("0.0050000000", usagetype="USW2-PublicIPv4:IdleAddress"),
    ],
    "VpcEndpoint": [
        product("0.0100000000", usagetype="USW2-VpcEndpoint-Hours"),
        product("0.0100000000", unit="GB", usagetype="USW2-VpcEndpoint-Bytes"),
    ],
    "Load Balancer-Application": [
        product("0.0225", usagetype="USW2-LoadBalancerUsage"),
        product("0.0063", usagetype="USW2-TS-LoadBalancerUsage"),
    ],
    "Cluster": [
        product("25.91001756", usagetype="USW2-Cluster:ml.p4d.24xlarge"),
        product("9", usagetype="USW2-ReservedCluster:ml.p4d.24xlarge"),
        product("0.11", unit="GB-Mo", usagetype="USW2-Cluster:VolumeUsage.gp3"),
    ],
    "Training": [product("24.73", usagetype="USW2-Train:ml.trn1.32xlarge")],
    "MySQL": [
        product("0.065", instanceType="db.t4g.medium", deploymentOption="Single-AZ"),
        product("0.13", instanceType="db.t4g.medium", deploymentOption="Multi-AZ"),
        product("0.2", instanceType="db.m6gd.large", deploymentOption="Multi-AZ (readable standbys)"),
    ],
    "Lustre": [
        product("0.21", unit="GB-Mo", storageType="SSD", throughputCapacity="250"),
        product("0.05", unit="GB-Mo", usagetype="USW2-BackupUsage"),
    ],
    "AmazonPrometheus": [
        tiered(
            {"0": "0", "40000000": "0.0000000900", "2000000000": "0.0000000350", "252000000000": "0.0000000160"},
            "?",
            usagetype="USW2-AMP:MetricSampleCount",
        ),
        tiered({"0": "0", "10": "0.0300000000"}, "GB-Mo", usagetype="USW2-AMP:MetricStorageByteHrs"),
        product("0.0000000001", unit="?", usagetype="USW2-AMP:QuerySamplesProcessed"),
    ],
}
FOUND = {
    "ApplicationLoadBalancer": "0.0225",
    "Cluster:ml.p4d.24xlarge": "25.91001756",
    "InterfaceEndpoint": "0.01",
    "Lustre:SSD:250": "0.21",
    "NatGateway": "0.045",
    "PrometheusSamples:0": "0.09",
    "PrometheusSamples:2000": "0.035",
    "PrometheusSamples:252000": "0.016",
    "PrometheusStorage": "0.03",
    "PublicIPv4": "0.005",
    "db.t4g.medium": "0.065",
    "db.t4g.medium:Multi-AZ": "0.13",
    "ml.trn1.32xlarge": "24.73",
    "p5.48xlarge": "55.04",
}


class PriceList(ThreadingHTTPServer):
    """A price list that gives one product a page, and refuses what it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.refusals: list[tuple[str, str]] = []
        self.asked: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: PriceList

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["X-Amz-Target"] == "AWSPriceListService.GetProducts"
        assert ParamValidator().validate(request, OPERATION.input_shape).generate_report() == ""
        self.server.asked.append(request)
        if self.server.refusals:
            code, message = self.server.refusals.pop()
            assert code in {each.name for each in OPERATION.error_shapes} | {"UnrecognizedClientException"}
            self._answer(400, {"__type": code, "message": message})
            return
        filters = {each["Field"]: each["Value"] for each in request["Filters"]}
        known = [answer for value in (request["ServiceCode"], *filters.values()) for answer in ANSWERS.get(value, [])]
        page = int(request.get("NextToken", "0"))
        answer: dict[str, Any] = {"FormatVersion": "aws_v1", "PriceList": []}
        if filters["regionCode"] == REGION and known:
            answer["PriceList"] = known[page : page + 1]
            answer |= {"NextToken": str(page + 1)} if page + 1 < len(known) else {}
        assert ParamValidator().validate(answer, OPERATION.output_shape).generate_report() == ""
        self._answer(200, answer)

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as its base calls it
        pass


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PriceList]:
    with PriceList() as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        yield server
        server.shutdown()


def kept() -> dict[str, Any]:
    return dict(json.loads(kept_prices().read_text()))


def test_every_page_of_every_question_is_read_and_what_is_ambiguous_is_left_out(
    aws: PriceList, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prices", "refresh", REGION]) == 0
    assert capsys.readouterr().out == f"{REGION}: {len(FOUND)} prices\n{kept_prices()}\n"
    assert kept()["regions"] == {REGION: {f"price list of {REGION}": FOUND}}
    today = datetime.now(UTC).date().isoformat()
    assert kept()["sources"] == {f"price list of {REGION}": {"title": "AWS Price List API, on demand", "date": today}}
    assert {each["ServiceCode"] for each in aws.asked} == {
        "AmazonEC2",
        "AmazonSageMaker",
        "AWSELB",
        "AmazonRDS",
        "AmazonFSx",
        "AmazonPrometheus",
        "AmazonVPC",
    }


@pytest.mark.usefixtures("aws")
def test_a_review_prices_by_what_was_asked_for(tmp_path: Path) -> None:
    assert main(["prices", "refresh", REGION]) == 0
    artifact = {
        "type": "aws:cloudformation:stack",
        "environment": f"aws://unknown-account/{REGION}",
        "properties": {"templateFile": "S.json"},
    }
    out = tmp_path / "cdk.out"
    out.mkdir()
    (out / "manifest.json").write_text(json.dumps({"artifacts": {"S": artifact}}))
    groups = [{"InstanceGroupName": "g", "InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2}]
    cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups}}
    (out / "S.json").write_text(json.dumps({"Resources": {"C": cluster, "Nat": {"Type": "AWS::EC2::NatGateway"}}}))
    assert main(["review", str(out), "-o", str(tmp_path / "out"), *ALONE]) == 0
    cost = json.loads((tmp_path / "out" / "review.json").read_text())["cost"]
    assert cost["headline"] == "at least 51.86 USD an hour"
    assert {each["source_name"] for each in cost["items"]} == {f"price list of {REGION}"}


@pytest.mark.usefixtures("aws")
def test_other_regions_stay(capsys: pytest.CaptureFixture[str]) -> None:
    kept_prices().parent.mkdir(parents=True)
    source = {"old": {"title": "an older answer", "date": "2025-01-02"}}
    kept_prices().write_text(json.dumps({"sources": source, "regions": {"eu-west-1": {"old": {"c5.large": "0.1"}}}}))
    assert main(["prices", "refresh", REGION]) == 0
    assert [*kept()["regions"]] == ["eu-west-1", REGION]
    assert kept()["sources"]["old"]["date"] == "2025-01-02"

    kept_prices().write_text('{"regions": {}}')
    assert main(["prices", "refresh", REGION]) == 1
    assert "sources: is missing" in capsys.readouterr().err


@pytest.mark.usefixtures("aws")
def test_old_prices_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "t.json"
    template.write_text('{"Resources": {"Nat": {"Type": "AWS::EC2::NatGateway"}}}')
    own = tmp_path / "own.json"
    words = ["review", str(template), "-o", str(tmp_path / "out"), "--prices", str(own), *ALONE]
    for day, is_old in (("2020-01-02", True), (datetime.now(UTC).date().isoformat(), False)):
        source = {"own": {"title": "a contract", "date": day}}
        own.write_text(json.dumps({"sources": source, "regions": {"us-east-1": {"own": {"NatGateway": 1}}}}))
        assert main(words) == 0
        assert (f"Prices are of {day}" in capsys.readouterr().out) == is_old
        assert f'data-date="{day}"' in (tmp_path / "out" / "review.html").read_text()


@pytest.mark.parametrize(
    ("code", "times", "exit_code", "said"),
    [
        ("AccessDeniedException", 1, 1, "these credentials need the permission pricing:GetProducts"),
        ("UnrecognizedClientException", 1, 3, "There are no credentials of an AWS account that work"),
        ("ThrottlingException", 9, 1, "AWS slows these requests down (ThrottlingException)"),
        ("InvalidParameterException", 1, 1, "AWS's price list refuses: InvalidParameterException: because"),
    ],
)
def test_what_aws_refuses_is_said_with_what_to_do(
    aws: PriceList,
    code: str,
    times: int,
    exit_code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    aws.refusals += [(code, "because")] * times
    assert main(["prices", "refresh", REGION]) == exit_code
    assert said in capsys.readouterr().err
    assert not kept_prices().exists()


def test_a_request_that_is_slowed_down_once_is_put_again(aws: PriceList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    aws.refusals.append(("ThrottlingException", "Rate exceeded"))
    assert main(["prices", "refresh", REGION]) == 0
    assert aws.asked[0] == aws.asked[1]


@pytest.mark.usefixtures("aws")
def test_a_region_without_prices_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "refresh", "us-mars-1"]) == 1
    assert "AWS's price list has nothing for the Region 'us-mars-1'" in capsys.readouterr().err


def test_without_credentials_or_network_it_says_so(
    aws: PriceList, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("AWS_ENDPOINT_URL_PRICING", "http://127.0.0.1:1")
    assert main(["prices", "refresh", REGION]) == 1
    assert "AWS's price list cannot be asked: Could not connect" in capsys.readouterr().err
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert main(["prices", "refresh", REGION]) == 3
    assert "There are no credentials" in capsys.readouterr().err
    assert aws.asked == []


def test_whatever_a_review_lists_as_an_item_is_asked_for(tmp_path: Path) -> None:
    """One of each type that is billed by the hour or by its size, and of metrics as many as every tier takes."""
    series = {"trainyard:Series": {"ScrapeSeconds": 1, "Cluster": 0, "Nodes": {"g": 10**5}, "Counted": "2026-11-23"}}
    groups = [{"InstanceGroupName": "g", "InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2}]
    properties: dict[str, Any] = {
        "AWS::EC2::EIP": {},
        "AWS::EC2::Instance": {"InstanceType": "p5.48xlarge"},
        "AWS::EC2::NatGateway": {},
        "AWS::EC2::VPCEndpoint": {"VpcEndpointType": "Interface", "SubnetIds": ["subnet-1", "subnet-2"]},
        "AWS::ElasticLoadBalancingV2::LoadBalancer": {},
        "AWS::FSx::FileSystem": {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": 1200,
            "LustreConfiguration": {"PerUnitStorageThroughput": 250},
        },
        "AWS::RDS::DBInstance": {"Engine": "mysql", "DBInstanceClass": "db.t4g.medium"},
        "AWS::SageMaker::Cluster": {"InstanceGroups": groups},
    }
    resources = {
        f"R{number}": {"Type": kind, "Properties": each, "Metadata": series if "Cluster" in kind else {}}
        for number, (kind, each) in enumerate(properties.items())
    }
    file = tmp_path / "all.json"
    file.write_text(json.dumps({"Resources": resources}))
    graph = Graph(read_assembly(file))
    lines = [*billed(graph, machines(graph))]
    assert {each.resource.type for each in lines} == {*properties}
    assert {*_TYPES} <= {*properties}  # a new one is asked for here, too
    items = {item for each in lines for item, _ in each.items[:1]}
    assert items <= {*FOUND}
    assert len([each for each in items if each.startswith("PrometheusSamples")]) == 3
