"""CloudWatch's connector, as it is in the asset: held to a real Prometheus, and to what CloudWatch's guide says."""

import json
import math
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from aws_cdk import App, Stack

from cdk_trainyard import ClusterDashboards, MetricsWorkspace
from cdk_trainyard.monitoring.cloudwatch import body
from cdk_trainyard.monitoring.panels import dashboards
from tests.monitoring.served import MINUTE, Ask
from tests.monitoring.test_dashboards import RECORDED
from tests.support import STAGED

FUNCTION = "trainyard-connector"
EXPRESSIONS = [
    pytest.param(each, panel["properties"]["title"], metric["expression"], id=f"{each.name}-{number}-{metric['id']}")
    for each in dashboards()
    for made in [body(each, cluster_name="llama2", function_name=FUNCTION, region="us-west-2")]
    for number, panel in enumerate(made["widgets"])
    for (metric,) in panel["properties"]["metrics"]
]
Answer = dict[str, Any]
Call = Callable[..., Answer]


@pytest.fixture(scope="module")
def connector(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The one file of the asset, imported."""
    app = App(outdir=str(tmp_path_factory.mktemp("cdk.out")), post_cli_context=STAGED)
    stack = Stack(app, "Stack")
    ClusterDashboards(stack, "Dashboards", workspace=MetricsWorkspace(stack, "Metrics"), cluster_name="llama2")
    (file,) = Path(app.synth().directory).glob("asset.*/*")
    assert file.name == "index.py"
    spec = spec_from_file_location("index", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def call(connector: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    """Call the function as CloudWatch does, against a server of one's own."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_REGION": "us-west-2",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_SESSION_TOKEN": "token",
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)

    def call(address: str, *arguments: object, start: int = 0, end: int = 600, period: int = MINUTE) -> Answer:
        monkeypatch.setenv("WORKSPACE_ENDPOINT", f"{address}/")
        request = {"StartTime": start, "EndTime": end, "Period": period, "Arguments": list(arguments)}
        return shaped(connector.handler({"EventType": "GetMetricData", "GetMetricDataRequest": request}, None))

    return call


def shaped(answer: Answer) -> Answer:
    """Hold an answer to CloudWatch user guide, "Create a custom connector to a data source"."""
    assert len(json.dumps(answer, allow_nan=False)) < 6_000_000
    (name,) = answer
    if name == "Error":
        assert answer[name].keys() == {"Code", "Value"}
        assert all(isinstance(value, str) and value for value in answer[name].values())
        return answer
    assert name == "MetricDataResults"
    for series in answer[name]:
        assert series.keys() == {"StatusCode", "Label", "Timestamps", "Values"}
        assert (series["StatusCode"], type(series["Label"])) == ("Complete", str)
        assert {type(second) for second in series["Timestamps"]} == {int}
        assert all(type(value) is float and math.isfinite(value) for value in series["Values"])
        assert len(series["Timestamps"]) == len(series["Values"]) == len(set(series["Timestamps"]))
    return answer


def drawn(answer: Answer) -> list[dict[int, float]]:
    return [dict(zip(each["Timestamps"], each["Values"], strict=True)) for each in answer["MetricDataResults"]]


def arguments(expression: str) -> list[str]:
    """What CloudWatch passes on of an expression, whose words stand between ' and '."""
    assert expression.startswith(f"LAMBDA('{FUNCTION}', '")
    return expression.removeprefix("LAMBDA('").removesuffix("')").split("', '")[1:]


@pytest.mark.programs
@pytest.mark.parametrize(("shown", "title", "expression"), EXPRESSIONS)
def test_every_query_gives_what_prometheus_says(shown: Any, title: str, expression: str, call: Call, ask: Ask) -> None:
    made = body(shown, cluster_name="llama2", function_name=FUNCTION, region="us-west-2")
    for variable in made["variables"]:
        expression = expression.replace(variable["pattern"], variable["defaultValue"])
    query, legend, kind = arguments(expression)
    for name, recorded in RECORDED.items():
        query = query.replace(f'{name}{{cluster="llama2"}}', f"({recorded})")
    last = ask.now // MINUTE * MINUTE
    start = last - 8 * MINUTE
    answer = call(ask.address, query, legend, kind, start=start, end=last + MINUTE)
    said = ask.result("query_range", query=query, start=start if kind == "range" else last, end=last, step=MINUTE)
    expected = [{int(second): float(value) for second, value in series["values"]} for series in said]
    assert drawn(answer) == [
        found for series in expected if (found := {at: value for at, value in series.items() if math.isfinite(value)})
    ]
    assert expected, f"{title}: {query}"
    assert [each["Label"] for each in answer["MetricDataResults"] if "{" in each["Label"]] == []


@pytest.mark.programs
def test_points_stand_where_cloudwatch_asks_for_them(call: Call, ask: Ask) -> None:
    last = ask.now // 300 * 300
    answer = call(ask.address, "vector(7)", "", "range", start=last - 600, end=last + 1, period=300)
    assert drawn(answer) == [{last - 600: 7.0, last - 300: 7.0, last: 7.0}]
    assert drawn(call(ask.address, "vector(7)", "", "range", start=last - 600, end=last, period=300)) == [
        {last - 600: 7.0, last - 300: 7.0}
    ]
    assert drawn(call(ask.address, "vector(7)", "", "instant", start=last - 600, end=last, period=300)) == [
        {last - 300: 7.0}
    ]


@pytest.mark.programs
def test_more_series_than_are_read_are_said_in_one(call: Call, ask: Ask, connector: ModuleType) -> None:
    """The highest are shown, and of the others the highest."""
    query = 'label_replace(count by (__name__) ({__name__=~"node_.+"}), "metric", "$1", "__name__", "(.+)")'
    last = ask.now // MINUTE * MINUTE
    said = ask.result("query", query=query, time=last)
    assert len(said) > connector.MOST_SERIES
    answer = call(ask.address, query, "{{metric}}", "instant", start=last, end=last + 1)["MetricDataResults"]
    values = sorted((float(each["value"][1]) for each in said), reverse=True)
    assert len(answer) == connector.MOST_SERIES
    assert sorted((each["Values"][0] for each in answer), reverse=True) == values[: connector.MOST_SERIES]
    assert answer[-1]["Label"] == f"highest of {len(said) - connector.MOST_SERIES + 1} more"


@pytest.mark.programs
def test_nothing_is_no_error(call: Call, ask: Ask) -> None:
    for query in ("no_such_metric", "vector(0) / 0"):
        assert call(ask.address, query, start=ask.now - MINUTE, end=ask.now) == {"MetricDataResults": []}


@pytest.mark.programs
def test_what_prometheus_does_not_read_it_says(call: Call, ask: Ask) -> None:
    answer = call(ask.address, "sum(", "", "range", start=ask.now - 60, end=ask.now)
    assert answer["Error"]["Code"] == "Validation"
    assert "parse error" in answer["Error"]["Value"]


@pytest.mark.parametrize(
    ("legend", "label"),
    [
        ("{{node}} read", "w1 read"),
        ("{{ node }} {{nothing}}", "w1"),
        ("of all", "of all"),
        ("", "gres=gpu, node=w1"),
    ],
)
def test_a_series_is_called_by_its_legend(legend: str, label: str, call: Call) -> None:
    labels = {"__name__": "a", "cluster": "llama2", "node": "w1", "gres": "gpu", "job": "slurm"}
    result = [{"metric": labels, "values": [[0, "1"], [60, "NaN"], [120, "+Inf"]]}]
    with answering(200, {"status": "success", "data": {"result": result}}) as address:
        (series,) = call(address, "a", legend)["MetricDataResults"]
    assert (series["Label"], series["Timestamps"]) == (label, [0])


@contextmanager
def answering(status: int, content: object, seen: list[Any] | None = None) -> Iterator[str]:
    """A workspace that says one thing."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if seen is not None:
                seen.append((self.path, asked, dict(self.headers)))
            said = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("status", "content", "code", "says"),
    [
        (400, {"status": "error", "errorType": "bad_data", "error": "parse error"}, "Validation", "400: parse error"),
        (403, {"message": "The security token included in the request is expired"}, "Forbidden", "token"),
        (422, {"status": "error", "error": "query processing would load too many samples"}, "NotExecuted", "samples"),
        (429, {"Message": "Rate exceeded"}, "Throttled", "429: Rate exceeded"),
        (503, b"<html>", "Unavailable", "503: <html>"),
        (200, b"<html>", "Unavailable", "<html>"),
    ],
)
def test_what_goes_wrong_cloudwatch_is_told(status: int, content: Any, code: str, says: str, call: Call) -> None:
    with answering(status, content) as address:
        told = call(address, "up")["Error"]
    assert told["Code"] == code
    assert says in told["Value"]


def test_a_workspace_that_is_not_there_is_said(call: Call) -> None:
    with socket.socket() as taken:  # nobody listens, and nobody else can
        taken.bind(("127.0.0.1", 0))
        told = call(f"http://127.0.0.1:{taken.getsockname()[1]}", "up")["Error"]
    assert told["Code"] == "Unreachable"


def test_a_function_without_a_role_is_said(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert call("http://127.0.0.1:1", "up")["Error"]["Code"] == "Forbidden"


def test_a_workspace_that_does_not_answer_is_said(
    call: Call, connector: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connector, "_PATIENCE_S", 0.2)
    held = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # listens, and nobody serves
    try:
        told = call(f"http://127.0.0.1:{held.server_address[1]}", "up")["Error"]
    finally:
        held.server_close()
    assert told["Code"] == "Timeout"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "query"),
        ([" "], "query"),
        ([1], "query"),
        (["up", "", "range", "more"], "query"),
        (["up", "", "table"], "got 'table'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(given: list[Any], says: str, call: Call) -> None:
    told = call("http://127.0.0.1:1", *given)["Error"]
    assert told["Code"] == "Validation"
    assert says in told["Value"]


def test_more_points_than_prometheus_gives_are_refused(call: Call, connector: ModuleType) -> None:
    told = call("http://127.0.0.1:1", "up", end=(connector.MOST_POINTS + 1) * MINUTE)["Error"]
    assert told["Code"] == "Validation"
    assert "choose a longer period" in told["Value"]


def test_a_long_time_has_fewer_series(call: Call) -> None:
    """So an answer stays below 6 MB: points times series are bounded."""
    points = 10_000
    result = [
        {"metric": {"node": f"w{number}"}, "values": [[step * MINUTE, "0.1234567890123456"] for step in range(points)]}
        for number in range(12)
    ]
    with answering(200, {"status": "success", "data": {"result": result}}) as address:
        answer = call(address, "up", "{{node}}", end=points * MINUTE)["MetricDataResults"]
    assert len(answer) == 10
    assert answer[-1]["Label"] == "highest of 3 more"


def test_it_signs_for_the_workspace(call: Call) -> None:
    seen: list[Any] = []
    with answering(200, {"status": "success", "data": {"result": []}}, seen) as address:
        call(address, 'up{cluster="a+b"}', "", "range", start=60, end=180)
    ((path, asked, headers),) = seen
    assert path == "/api/v1/query_range"
    assert asked == "query=up%7Bcluster%3D%22a%2Bb%22%7D&start=60&end=120&step=60"
    assert "/us-west-2/aps/aws4_request" in headers["Authorization"]
    assert headers["X-Amz-Security-Token"] == "token"


def test_it_describes_itself_and_takes_nothing_else(connector: ModuleType) -> None:
    about = connector.handler({"EventType": "DescribeGetMetricData"}, None)
    assert about.keys() == {"Description", "ArgumentDefaults"}
    assert all(each.keys() == {"Value"} for each in about["ArgumentDefaults"])
    assert shaped(connector.handler({"EventType": "Another"}, None))["Error"]["Code"] == "Validation"
