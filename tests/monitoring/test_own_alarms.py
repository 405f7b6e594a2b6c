"""Alarms of one's own: what becomes of them, what is refused, and what is said where nobody reads their PromQL."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import yaml
from aws_cdk.assertions import Annotations, Match

from cdk_trainyard import AlarmSeverity, AlertRules, ConfigurationError, MetricsWorkspace, OwnAlarm
from cdk_trainyard.cli import main
from cdk_trainyard.data_files import load
from cdk_trainyard.deployment import Deployment
from cdk_trainyard.monitoring.promql import UNREAD, has_always_a_value, taken_for_a_variable, unbalanced
from cdk_trainyard.monitoring.templates import is_open, template_fault
from tests.monitoring import promtool
from tests.monitoring.test_workspace import new_stack

pytestmark = pytest.mark.programs

LOSS = OwnAlarm(
    name="LossIsNaN",
    expr='max by (cluster) (training_loss{$cluster, job=~"train.*$"} != training_loss) > 0',
    minutes=2,
    summary="The loss of {{ $labels.cluster }} is no number",
    severity=AlarmSeverity.CRITICAL,
)
ELSEWHERE = "write {$cluster} behind the name of a metric, or $cluster beside other matchers between its braces"


@pytest.fixture
def with_promtool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(promtool.tool('promtool')).parent}:{os.environ['PATH']}")


@pytest.fixture
def without_promtool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cdk_trainyard.monitoring.promql.shutil.which", lambda _name: None)


@cache
def its_name() -> str:
    """What a promtool is called in answers: with its version, as a newer one may take what it does not."""
    return " ".join(promtool.run("promtool", "--version").stdout.split()[:3]).replace(", version", "")


def own(**said: object) -> OwnAlarm:
    fields = {name: getattr(LOSS, name) for name in ("name", "expr", "minutes", "summary", "severity")}
    return OwnAlarm(**fields | said)


def made(*alarms: OwnAlarm) -> AlertRules:
    stack = new_stack()
    workspace = MetricsWorkspace(stack, "Metrics")
    return AlertRules(stack, "Rules", workspace=workspace, cluster_name="c", own_alarms=alarms)


@pytest.mark.usefixtures("with_promtool")
def test_it_is_a_rule_beside_those_of_the_table(tmp_path: Path) -> None:
    rules = made(LOSS)
    (group,) = [group for group in yaml.safe_load(rules.rules)["groups"] if group["name"] == "c-own"]
    (rule,) = group["rules"]
    assert (rule["alert"], rule["for"], rule["labels"]) == ("LossIsNaN", "2m", {"severity": "critical"})
    assert rule["expr"] == 'max by (cluster) (training_loss{cluster="c", job=~"train.*$"} != training_loss) > 0'
    assert rule["annotations"]["summary"] == LOSS.summary
    (tmp_path / "rules.yml").write_text(rules.rules)
    checked = promtool.run("promtool", "check", "rules", "--lint-fatal", tmp_path / "rules.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    Annotations.from_stack(rules.node.scope).has_no_info("*", Match.any_value())


@pytest.mark.usefixtures("without_promtool")
def test_a_group_has_as_many_rules_as_the_service_takes() -> None:
    rules = made(*(own(name=f"Alarm{number}") for number in range(41)))
    groups = {group["name"]: group["rules"] for group in yaml.safe_load(rules.rules)["groups"]}
    assert {name: len(own) for name, own in groups.items() if "own" in name} == {
        "c-own": 20,
        "c-own-2": 20,
        "c-own-3": 1,
    }
    assert max(map(len, groups.values())) <= 20


@pytest.mark.usefixtures("with_promtool")
@pytest.mark.parametrize(
    ("alarms", "answer"),
    [
        (
            [own(expr="sum(training_loss{$cluster}")],
            "'own_alarms.LossIsNaN.expr' must be PromQL, got 'sum(training_loss{$cluster}': PROMTOOL says 1:",
        ),
        ([own(expr=" ")], "'own_alarms.LossIsNaN.expr' must say something, got ' '"),
        ([own(expr='"abc"')], "'own_alarms.LossIsNaN.expr' must ask for a metric, got '\"abc\"'"),
        (
            [own(summary="{{ $labels.cluster ")],
            "'own_alarms.LossIsNaN.summary' must close each '{{' with '}}', got '{{ $labels.cluster '",
        ),
        (
            [own(summary="{{ len ($value }}")],
            "must be a template of Prometheus, got '{{ len ($value }}': PROMTOOL says unclosed left paren",
        ),
        (
            [own(expr='{job="x"} $cluster')],
            f"of a selector, since it is a matcher, got '{{job=\"x\"}} $cluster'; {ELSEWHERE}",
        ),
        ([own(summary="")], "'own_alarms.LossIsNaN.summary' must say something, got ''"),
        ([own(name="DiskFull")], "must be no name of the table of alarms: 'overrides' change those, got 'DiskFull'"),
        ([LOSS, own(minutes=3)], "must be said once, got 'LossIsNaN' again"),
        ([own(name="loss-is-nan")], "must be letters, digits and underscores, as LossIsNaN, got 'loss-is-nan'"),
        ([own(minutes=-1)], "'own_alarms.LossIsNaN.minutes' must be 0 to 1440 minutes, got -1"),
    ],
)
def test_one_that_makes_no_sense_is_refused(alarms: list[OwnAlarm], answer: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        made(*alarms)
    assert answer.replace("PROMTOOL", its_name()) in str(refused.value)


def with_alarm(expr: str) -> str:
    data = Path(__file__).parents[1] / "deployment" / "data" / "existing_workspace.yaml"
    content = yaml.safe_load(data.read_text())
    content["monitoring"]["own_alarms"] = {"Mine": {"expr": expr, "minutes": 1, "summary": "x"}}
    return str(yaml.safe_dump(content))


@pytest.mark.usefixtures("with_promtool")
def test_a_file_says_where_promql_does_not_parse(
    write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Deployment.load(write(with_alarm("rate(x[5m)")))
    assert f"'monitoring.own_alarms.Mine.expr' must be PromQL, got 'rate(x[5m)': {its_name()} says 1:" in str(
        refused.value
    )
    with pytest.raises(ConfigurationError, match="'alarms' change those, got 'NodeDown'"):
        Deployment.load(write(with_alarm("up").replace("Mine", "NodeDown")))
    assert main(["check", str(write(with_alarm("rate(x[5m]) > 0")))]) == 0
    assert UNREAD not in capsys.readouterr().err


@pytest.mark.usefixtures("without_promtool")
def test_a_check_says_that_nobody_has_read_the_promql(
    write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(with_alarm("rate(x) > 0"))
    assert main(["check", str(path)]) == 0
    said = f"{path}: no promtool is on the path: nobody has read the PromQL of 'own_alarms'\n"
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("without_promtool")
def test_where_there_is_no_promtool_synthesis_says_that_nobody_has_read_it() -> None:
    rules = made(own(expr="sum()"))
    assert "sum()" in rules.rules
    Annotations.from_stack(rules.node.scope).has_info("*", UNREAD)


@pytest.mark.usefixtures("without_promtool")
def test_where_there_is_no_promtool_what_is_open_is_refused() -> None:
    with pytest.raises(ConfigurationError) as refused:
        made(own(expr="up{$cluster"))
    assert refused.value.problems == ("'own_alarms.LossIsNaN.expr' must be PromQL, got 'up{$cluster': it lacks a }",)


@pytest.mark.parametrize(
    ("expr", "instead"),
    [
        ("up$cluster == 0", ELSEWHERE),
        ("$cluster", ELSEWHERE),
        ("rate(up[$cluster])", ELSEWHERE),
        ("up{$cluster} offset $cluster", ELSEWHERE),
        ("sum by (node, $cluster) (up{$cluster})", "write cluster, the label, in its place"),
        ("up{$cluster} / on($cluster) x{$cluster}", "write cluster, the label, in its place"),
        ("up{ $cluster, job=~'a{2}'} unless x{job=\"}\",$cluster }", None),
        ("up{$cluster} == 0 # of $cluster", None),
        ("up{ # of one\n $cluster}", None),
        ("up$clusters", None),
    ],
)
def test_the_matcher_of_the_cluster_stands_between_braces(expr: str, instead: str | None) -> None:
    assert taken_for_a_variable(expr) == instead


@pytest.mark.parametrize(
    ("expr", "why"),
    [
        ("up{$clusters} == 0", "it has $clusters, where '$cluster' alone is known"),
        ('up{job="a} == 0', 'it has a " that is not closed'),
        ("rate(x[5m)", "it has a ) that closes nothing"),
        ("x > 1)", "it has a ) that closes nothing"),
        ("rate(x[5m]) >", "it ends with >"),
        ("x == ", "it ends with =="),
        ("x == 0 or", "it ends with or"),
        ("x{a='1'} and ", "it ends with and"),
        ("x{a='1'} = 0", "it has =, which stands between braces alone; write =="),
        ("x => 1", "it has =>, which compares nothing; write >="),
        ("x == 0;", "it has a ;, and is one expression without an end"),
        ("sum by cluster (x) == 0", "it has by cluster, and labels stand in parentheses"),
        ("x{a='1'}[5m]", "it is samples of a span, and no value of now"),
        (
            "increase(x[5 m]) > 0",
            "it has [5 m], and a span is numbers with ms, s, m, h, d, w, y right behind them, as 5m",
        ),
        (
            "increase(x[5min]) > 0",
            "it has [5min], and a span is numbers with ms, s, m, h, d, w, y right behind them, as 5m",
        ),
        ("max_over_time(x[1h30m:5m] offset 1d) >= bool 1 and on (a) y{b!='=>;'} <= 2", None),
        ("by{a='1'} or on unless ignoring offset 5m", None),
        (r"""sum(x{a=~"(\"[$", b=~'}', c="$cluster"}) > 0 # it's (""", None),
        (LOSS.expr.replace("$cluster", 'cluster="c"'), None),
    ],
)
def test_what_is_open_is_seen_without_promtool(expr: str, why: str | None) -> None:
    assert unbalanced(expr) == why


@pytest.mark.parametrize(
    ("expr", "always"),
    [
        ("up{$cluster}", True),
        ("up{$cluster, job='a'} == bool 0", True),
        ("up{$cluster} == bool 0 == 1", False),
        ("absent(up{$cluster})", False),
        ("sum(up{$cluster} > bool 1) > 3", False),
        ("up{$cluster} == 0", False),
    ],
)
def test_what_rings_whatever_the_value_is_is_known(expr: str, always: bool) -> None:
    assert has_always_a_value(expr) is always


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (
            "{{ humanise $value }} lost",
            "Prometheus has no function humanise for templates; did you mean 'humanize' or 'humanize1024'?",
        ),
        ("{{ $value | humanizePercent }}", "did you mean 'humanizePercentage' or 'humanize' or 'humanizeDuration'?"),
        ("{{ $label.node }}", "a template has no variable $label; did you mean '$labels'?"),
        ("{{ if gt $value 3.0 }}many", "it has 1 of 'if', 'range' and 'with', and 'end' 0 times"),
        ("{{ $labels.node }} isn't there: {{ $value | humanize }} of {{ .Labels.job }}", None),
        ("{{ range $i, $one := query \"up{job='a'} == 0\" }}{{ $i }}{{ $one | value }}{{ else }}0{{ end }}", None),
        ('{{ with $x := reReplaceAll "}}" "y" $labels.node }}{{ printf "%.1f" $value }} {{ $x }}{{- end -}}', None),
        ("{{/* of mine */}}{{ $value }} {{ 1e3 }} {{ toTime $value }} {{ stripPort $labels.instance }}", None),
        ("no template at all, 100 % text", None),
        ("{{/* it's mine */}}{{- /* and it's } */ -}} {{ \"{{\" }}$x {{ `}}` }} }}", None),
    ],
)
def test_what_no_template_has_is_seen_without_promtool(summary: str, why: str | None) -> None:
    found = template_fault(summary)
    assert not is_open(summary)
    assert (found or "").endswith(why or "")
    assert (found is None) is (why is None)


@pytest.mark.usefixtures("without_promtool")
def test_where_there_is_no_promtool_both_expression_and_summary_are_answered() -> None:
    with pytest.raises(ConfigurationError) as refused:
        made(own(expr="up{$cluster", summary="{{ humanise $value }}"))
    (of_summary, of_expr) = refused.value.problems
    assert of_summary == (
        "'own_alarms.LossIsNaN.summary' must be a template of Prometheus, got '{{ humanise $value }}': "
        "Prometheus has no function humanise for templates; did you mean 'humanize' or 'humanize1024'?"
    )
    assert of_expr == "'own_alarms.LossIsNaN.expr' must be PromQL, got 'up{$cluster': it lacks a }"


@pytest.mark.usefixtures("with_promtool")
def test_what_promtool_says_of_a_template_is_said_of_the_summary() -> None:
    with pytest.raises(ConfigurationError) as refused:
        made(own(summary="{{ humanise $value }}"))
    (problem,) = refused.value.problems
    assert problem.startswith("'own_alarms.LossIsNaN.summary' must be a template of Prometheus, got")


@pytest.mark.usefixtures("with_promtool")
def test_functions_that_this_promtool_does_not_have_yet_are_taken_and_the_rest_is_judged() -> None:
    newer = [f'{{{{ {name} "x" }}}}' for name in load("monitoring", "template_functions")["newer"]]
    made(*(own(name=f"A{number}", summary=summary) for number, summary in enumerate(newer)))
    with pytest.raises(ConfigurationError) as refused:
        made(own(expr="up{$cluster} >", summary="{{ now }} {{ humanise $value }}"))
    (of_summary, of_expr) = refused.value.problems
    assert "Prometheus has no function humanise" in of_summary
    assert of_expr.startswith("'own_alarms.LossIsNaN.expr' must be PromQL, got 'up{$cluster} >'")


@pytest.mark.usefixtures("with_promtool")
def test_the_functions_of_templates_are_promtools() -> None:
    known = load("monitoring", "template_functions")
    calls = "".join(f"{{{{ if false }}}}{{{{ {name} }}}}{{{{ end }}}}" for name in known["prometheus"])
    made(own(summary=calls))
