# ruff: noqa: E501  the messages are the point, each on its line
"""A file's data become a specification; what has a wrong form is answered once, at its place, and nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, nonmember
from typing import Annotated, Any

import pytest

from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.lifecycle.spec import Exporters, GroupRole
from cdk_trainyard.monitoring.spec import AlarmOverride, GrafanaWorkspaceSpec
from cdk_trainyard.options.fields import Part
from cdk_trainyard.options.kinds import Choice, Environment, Number, Open, Text
from cdk_trainyard.options.members import instead
from cdk_trainyard.options.reading import Reader
from cdk_trainyard.options.remedies import section_of
from cdk_trainyard.options.stand_ins import Alarm, Key, Span
from cdk_trainyard.options.texts import LINE
from cdk_trainyard.options.writing import written
from cdk_trainyard.parallelcluster.spec_nodes import CustomAction
from cdk_trainyard.problems import At, sentence, shown
from cdk_trainyard.serving.catalogue import Server
from cdk_trainyard.serving.spec_load_balancer import AuthenticationKind
from cdk_trainyard.serving.spec_service import ScalingMetric
from cdk_trainyard.tokens import Unknown
from tests.options.example_spec import Capacity, Cluster, Day, ExistingStore, Group, Job, NewStore, Volume
from tests.options.test_schema import as_read

KEY = "arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef"
ALARM = "arn:aws:cloudwatch:us-east-1:111111111111:alarm:loud"
ASKED = "did you mean 'none'?"
GOOD: dict[str, Any] = {"job": "compute", "count": 4}


def read(data: object, sources: dict[At, str] | None = None) -> tuple[Any, list[str]]:
    reader = Reader(environment=Environment(region="us-east-1", account="111111111111"), sources=sources or {})
    found = reader.read(Cluster, data, ())
    return found, [sentence(problem) for problem in reader.problems]


def group(**more: Any) -> dict[str, Any]:
    return {"groups": {"workers": GOOD | more}}


def test_everything_can_be_said() -> None:
    found, problems = read(
        {
            "groups": {
                "workers": {
                    **GOOD,
                    "volumes": ({"size_gb": 5, "key_arn": KEY}, {"root": True}),
                    "cooldown_minutes": 2,
                    "alarm_arns": (ALARM,),
                    "capacity": "Spot",
                    "price": 1,
                }
            },
            "store": {"days": ("MONDAY", "SUNDAY")},
            "tags": {"team": "Red"},
            "logs_days": 0,
            "raw_overrides": {"A.B": ({"c": (1, 2)},)},
        }
    )
    assert problems == []
    assert found == Cluster(
        groups=(
            Group(
                name="workers",
                job=Job.COMPUTE,
                count=4,
                volumes=(Volume(size_gb=5, key=Key(KEY)), Volume(root=True)),
                cooldown=Span(120),
                alarms=(Alarm(ALARM),),
                source=Capacity(capacity="Spot", price=1),
            ),
        ),
        store=NewStore(days=(Day.MONDAY, Day.SUNDAY)),
        tags={"team": "Red"},
        logs=None,
        raw_overrides={"A.B": [{"c": [1, 2]}]},
    )


def test_defaults_are_those_of_the_specification() -> None:
    assert read(group()) == (Cluster(groups=(Group(name="workers", job=Job.COMPUTE, count=4),)), [])


def test_a_key_says_that_something_exists_already() -> None:
    assert read(group() | {"store": {"store_id": "abc"}})[0].store == ExistingStore(store_id="abc")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (group(count="4"), "'groups.workers.count' must be a whole number, got '4'; write 4, without quotes"),
        (group(count=True), "'groups.workers.count' must be a whole number, got true"),
        (group(count=101), "'groups.workers.count' must be 0 to 100, got 101"),
        (group(price="x", capacity="Spot"), "'groups.workers.price' must be a number, got 'x'"),
        (
            group(capacity="spot"),
            "'groups.workers.capacity' must be OnDemand or Spot, got 'spot'; did you mean 'Spot'?",
        ),
        (group(price=1.5), "'groups.workers.capacity' is missing"),
        (
            group(job="computer"),
            "'groups.workers.job' must be controller or compute, got 'computer'; did you mean 'compute'?",
        ),
        (
            group(volumes={"size_gb": 1}),
            "'groups.workers.volumes' must be a list of mappings, got a mapping; begin each with '- size_gb: …'",
        ),
        (
            group(volumes=("a",)),
            "'groups.workers.volumes[0]' must be a mapping ('size_gb: …' on lines below it), got 'a'",
        ),
        (group(volumes=({"size_gb": 0},)), "'groups.workers.volumes[0].size_gb' must be 1 to 16384 GB, got 0"),
        (
            group(volumes=({"key_arn": KEY.replace("us-east-1", "eu-west-1")},)),
            "'groups.workers.volumes[0].key_arn' must be of Region us-east-1, got 'arn:aws:kms:eu-west-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef'",
        ),
        (
            group(alarm_arns=("loud",)),
            "'groups.workers.alarm_arns[0]' must be the ARN of an alarm, arn:aws:cloudwatch:us-east-1:111111111111:alarm:<name>, got 'loud'",
        ),
        (group(cooldown_minutes=-1), "'groups.workers.cooldown_minutes' must be 0 or more, got -1"),
        (group(cooldown=1), "'groups.workers.cooldown' is no key here; did you mean 'cooldown_minutes'?"),
        (
            group(name="a"),
            "'groups.workers.name' is no key here; the name is the key above, leave it out",
        ),
        (
            group(security_group="sg"),
            "'groups.workers.security_group' is no key here; there are job, count, volumes, cooldown_minutes, alarm_arns, capacity or price",
        ),
        ({"groups": {"workers": {"job": "compute"}}}, "'groups.workers.count' is missing"),
        (
            {"groups": {"Workers": GOOD}},
            "'groups.Workers' must be lowercase letters, as workers, got 'Workers' as a name",
        ),
        (
            {"groups": {"workers": 1}},
            "'groups.workers' must be a mapping ('job: …' and 'count: …' on lines below it), got 1",
        ),
        (
            group(volumes=(True,)),
            "'groups.workers.volumes[0]' must be a mapping, got true; write {} for one as it is without any key",
        ),
        (
            group(volumes=(("root",),)),
            "'groups.workers.volumes[0]' must be a mapping, got a list; write {root: true}",
        ),
        (
            group(volumes=(("root", "size_gb"),)),
            "'groups.workers.volumes[0]' must be a mapping, got a list; write {root: true}, there is no 'size_gb'",
        ),
        (
            group(volumes=({"root": ("/",)},)),
            "'groups.workers.volumes[0].root' must be true or false, got a list; write true",
        ),
        (
            group() | {"store": "a,b"},
            "'store' must be a mapping ('days: …' on lines below it), got 'a,b'",
        ),
        (
            group() | {"store": ({"days": ("MONDAY",)}, {"days": ("SUNDAY",)})},
            "'store' must be a mapping ('days: …' on lines below it), got a list; write one mapping, without '- '",
        ),
        (
            group() | {"store": "MONDAY"},
            "'store' must be a mapping ('days: [MONDAY]' on lines below it), got 'MONDAY'",
        ),
        ({"groups": ("workers",)}, "'groups' must be a mapping ('workers: …' on lines below it), got a list"),
        ({}, "'groups' is missing"),
        (
            group() | {"store": {"days": ("Monday",)}},
            "'store.days[0]' must be MONDAY or SUNDAY, got 'Monday'; did you mean 'MONDAY'?",
        ),
        (group() | {"store": {"store_id": "1"}}, "'store.store_id' must be letters, as Word, got '1'"),
        (
            group() | {"store": {"store_id": "a", "days": ()}},
            "'store.days' is no key beside 'store_id', which says that it exists already; leave one of both out",
        ),
        (group() | {"tags": {"A": "b"}}, "'tags.A' must be lowercase letters, as workers, got 'A' as a name"),
        (group() | {"tags": {"a": "1"}}, "'tags.a' must be letters, as Word, got '1'"),
        (group() | {"tags": {"a": "b" * 101 + "1"}}, f"'tags.a' must be letters, as Word, got '{'b' * 99}…'"),
        (
            group() | {"raw_overrides": "x"},
            "'raw_overrides' must be a mapping ('a name: …' on lines below it), got 'x'",
        ),
    ],
)
def test_a_wrong_form_is_answered_once(data: object, says: str) -> None:
    assert read(data)[1] == [says]


@pytest.mark.parametrize("value", ["none", "Off", "disabled", "nothing", False])
def test_nothing_in_place_of_a_section_or_a_list_is_told_to_be_left_out(value: Any) -> None:
    data = group(volumes=value, alarm_arns=value) | {"store": value, "tags": value, "raw_overrides": value}
    assert read(data)[1] == [
        f"'groups.workers.volumes' must be a list, got {shown(value)}; leave it out (default: one)",
        f"'groups.workers.alarm_arns' must be a list, got {shown(value)}; leave it out for none",
        *(
            f"'{key}' must be a mapping, got {shown(value)}; leave it out for none"
            for key in ("store", "tags", "raw_overrides")
        ),
    ]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"groups": "none"}, "'groups' must be a mapping ('a name: …' on lines below it), got 'none'"),
        (
            group(volumes={}),
            "'groups.workers.volumes' must be a list, got a mapping; leave it out (default: one)",
        ),
        (group() | {"store": ()}, "'store' must be a mapping, got a list; leave it out for none"),
    ],
)
def test_what_must_be_there_is_not_left_out(data: object, says: str) -> None:
    assert read(data)[1] == [says]


def test_empty_lists_and_mappings_stand_for_what_they_are() -> None:
    assert read(group(volumes=(), alarm_arns=()) | {"tags": {}, "store": {"days": ()}})[1] == []


@pytest.mark.parametrize("key", ["name", "GroupName"])
def test_a_list_in_place_of_names_is_refused_and_read(key: str) -> None:
    items = ({key: "workers", **GOOD, "count": 101}, {key: "Others", **GOOD, "volumes": {"size_gb": 0}})
    found, problems = read({"groups": items})
    assert [each.name for each in found.groups] == ["workers", "Others"]
    assert problems == [
        "'groups' must be a mapping ('workers: …' on lines below it), got a list; write each one's name as its key",
        "'groups.workers.count' must be 0 to 100, got 101",
        "'groups.Others' must be lowercase letters, as workers, got 'Others' as a name",
        "'groups.Others.volumes' must be a list of mappings, got a mapping; begin each with '- size_gb: …'",
        "'groups.Others.volumes[0].size_gb' must be 1 to 16384 GB, got 0",
    ]


@pytest.mark.parametrize("names", [("a", "a"), ("a", None), (None, None)])
def test_items_whose_names_are_not_all_known_are_read_by_their_numbers(names: tuple[str | None, ...]) -> None:
    items = tuple({"name": name, **GOOD, "count": 101} if name else GOOD | {"count": 101} for name in names)
    found, problems = read({"groups": items})
    assert isinstance(found.groups, Unknown)
    assert [problem.partition(" must")[0] for problem in problems][:1] == ["'groups'"]
    assert sorted(problem.partition(" must be ")[2] for problem in problems)[:2] == ["0 to 100, got 101"] * 2


@pytest.mark.parametrize("name", ["", "workers"])
def test_items_below_their_names_in_a_list_are_read(name: str) -> None:
    found, problems = read({"groups": ({name: GOOD | {"count": 101}}, {"others": GOOD})})
    assert [each.name for each in found.groups] == [name, "others"]
    assert problems[0].startswith(
        f"'groups' must be a mapping ('{name or 'others'}: …' on lines below it), got a list;"
    )
    assert problems[-1] == f"'groups.{name or repr('')}.count' must be 0 to 100, got 101".replace("''.", '"".')


def test_a_function_of_cloudformation_is_no_item_below_its_name() -> None:
    assert read({"groups": ({"Fn::If": {"a": 1}}, {"others": GOOD})})[1] == [
        "'groups' must be a mapping ('a name: …' on lines below it), got a list"
    ]


def test_names_in_a_list_are_as_they_are_written() -> None:
    items = ({"name": 1, **GOOD}, {"name": 2, **GOOD})
    found, _ = read({"groups": items}, {("groups", 1, "name"): "02"})
    assert [each.name for each in found.groups] == ["1", "02"]


@pytest.mark.parametrize("name", [("a",), {"Ref": "a"}, Unknown()])
def test_what_is_no_name_of_an_item_is_told_once(name: object) -> None:
    assert read({"groups": ({"name": name, **GOOD},)})[1] == [
        "'groups' must be a mapping ('a name: …' on lines below it), got a list; write each one's name as its key"
    ]


@pytest.mark.parametrize("items", [({"name": "a", **GOOD}, {"name": "a", **GOOD}), ({"a": GOOD}, {"a": GOOD})])
def test_each_item_of_a_list_must_have_a_name_of_its_own(items: tuple[Any, ...]) -> None:
    found, problems = read({"groups": items})
    assert isinstance(found.groups, Unknown)
    assert problems == [
        "'groups' must be a mapping ('a: …' on lines below it), got a list; give each a name of its own, as its key"
    ]


@pytest.mark.parametrize("key", ["execution_role_name", "key_name", "instance_name"])
def test_the_name_of_something_else_is_none_of_the_item(key: str) -> None:
    problems = read({"groups": ({key: "workers", **GOOD},)})[1]
    assert [problem.partition(" is no key")[0] for problem in problems[1:]] == [f"'groups[0].{key}'"]


@pytest.mark.parametrize("key", ["alert", "alarm_name"])
def test_alarms_as_prometheus_and_cloudwatch_name_them_have_these_names(key: str) -> None:
    reader = Reader(environment=Environment(region="us-east-1", account="111111111111"))
    alarm = {key: "idle", "expr": "up == 0", "minutes": 5, "summary": "It is idle."}
    found = reader.read(MonitoringSection, {"own_alarms": (alarm,)}, ())
    assert [each.name for each in found.own_alarms] == ["idle"]
    assert [problem.at for problem in reader.problems] == [("own_alarms",)]


def test_a_file_is_a_mapping() -> None:
    assert read(("a",))[1] == ["must be a mapping ('groups: …' on lines below it), got a list"]


def test_text_that_yaml_read_as_something_else_is_shown_as_it_is_written() -> None:
    at: At = ("tags", "a")
    assert read(group() | {"tags": {"a": 12}}, {at: "012"})[1] == ["'tags.a' must be letters, as Word, got '012'"]


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("count", "0x12", "; write 18"),
        ("count", "1_0", "; write 10"),
        ("count", "18.0", "; write 18"),
        ("count", 1e1, "; write 10"),
        ("count", "1_000", ""),
        ("count", "04", "; write 4"),
        ("count", "4.5", ""),
        ("count", 4.5, ""),
        ("count", "inf", ""),
        ("count", "nan", ""),
        ("count", "four", ""),
        ("count", "9" * 5000, ""),
        ("price", "1.5", "; write 1.5, without quotes"),
        ("price", "2", "; write 2, without quotes"),
    ],
)
def test_a_number_in_other_words_is_answered_with_the_number(key: str, value: Any, remedy: str) -> None:
    [said] = read(group(capacity="Spot", **{key: value}))[1]
    assert said.partition("; write")[1:] == ("; write" if remedy else "", remedy.removeprefix("; write"))


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("true", "; write true, without quotes"),
        ("Off", "; write false"),
        ("disabled", "; write false"),
        (1, ""),
        ("perhaps", ""),
    ],
)
def test_so_is_a_truth_value(value: Any, remedy: str) -> None:
    [said] = read(group(volumes=({"root": value},)))[1]
    assert said == f"'groups.workers.volumes[0].root' must be true or false, got {value!r}{remedy}"


@pytest.mark.parametrize(
    ("key", "value", "alone"),
    [
        ("count", "4 // four", "4"),
        ("count", "4  /* four */", "4"),
        ("count", "4# four", "4"),
        ("price", "1.5 //", "1.5"),
        ("job", "compute // of the jobs", "compute"),
    ],
)
def test_a_comment_of_another_language_is_told_how_one_begins(key: str, value: Any, alone: str) -> None:
    [said] = read(group(capacity="Spot", **{key: value}))[1]
    remedy = f"a comment begins with '#' after a blank; write {alone} # …"
    assert said.partition(" must be ")[2] == f"{alone} alone, got {value!r}: {remedy}"


@pytest.mark.parametrize(
    ("key", "value", "alone"),
    [
        ("count", "\u201c4\u201d", "4"),
        ("count", "\u20184", "4"),
        ("job", '"compute"', "compute"),
        ("job", "compute\u200f", "compute"),
    ],
)
def test_quotes_that_are_none_to_yaml_are_told_of(key: str, value: Any, alone: str) -> None:
    [said] = read(group(**{key: value}))[1]
    why = f"such quotes, and signs that nobody sees, are part of a value; write {alone}"
    assert said.partition(" must be ")[2] == f"{alone} alone, got {shown(value)}: {why}"


@pytest.mark.parametrize(
    ("value", "must", "written"),
    [
        ("compute ", "blank at its end", "compute"),
        ("\ncompute", "line break at its beginning", "compute"),
        (" compute\n", "blank at its beginning and the line break at its end", "compute"),
    ],
)
def test_blanks_at_the_ends_of_a_value_are_named(value: str, must: str, written: str) -> None:
    [said] = read(group(job=value))[1]
    assert said.partition(" must be ")[2] == f"without the {must}, got {shown(value)}; write {written}"


def test_text_that_would_be_a_number_is_written_in_quotes() -> None:
    reader = Reader(environment=Environment())
    reader.read(Lists, {"names": ("12 ",)}, ())
    assert [sentence(each) for each in reader.problems] == [
        """'names[0]' must be without the blank at its end, got '12 '; write "12\""""
    ]


@pytest.mark.parametrize("value", ["four // 4", "// 4", "101 // of them", "4//four", "4 -- four", "4 # four"])
def test_a_value_that_is_wrong_without_it_is_answered_as_others(value: str) -> None:
    assert read(group(count=value))[1] == [f"'groups.workers.count' must be a whole number, got {value!r}"]


def test_a_key_that_begins_as_a_comment_elsewhere_is_told_so() -> None:
    says = "'groups.workers.// count' is no key here; a comment begins with '#'"
    assert read(group(**{"// count": 5}))[1] == [says]


def test_an_option_of_what_exists_already_needs_the_key_that_says_so() -> None:
    says = "'groups' is no key without 'name', which says that it exists already; give that, or leave this out"
    reader = Reader(environment=Environment())
    reader.read(NewStore, {"groups": 1}, (), part=Part(spec=NewStore, existing=Cluster, unless="name"))
    assert [sentence(problem) for problem in reader.problems] == [says]


@pytest.mark.parametrize("key", ["store", "tags"])
def test_a_mapping_in_quotes_is_told_to_stand_without_them(key: str) -> None:
    _, problems = read(group() | {key: "{days: [MONDAY]}"})
    says = "must be a mapping, got '{days: [MONDAY]}'; take the quotes away: {days: [MONDAY]}"
    assert problems == [f"'{key}' {says}"]


def test_nothing_follows_from_what_has_no_value() -> None:
    found, problems = read(group() | {"store": {"days": (Unknown(), "MONDAY", "MONDAY")}})
    assert problems == ["'store.days[2]' must be another than those before it, got 'MONDAY' again"]
    assert isinstance(found.store.days[0], Unknown)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lists:
    """A list of each kind of items."""

    names: Sequence[Annotated[str, Text(pattern="[a-z0-9-]+", words="a name", example="a")]] = ()
    lines: Sequence[Annotated[str, LINE]] = ()
    open: Sequence[Annotated[str, Open(rule="none")]] = ()
    days: Sequence[Day] = ()
    sizes: Sequence[Annotated[int, Number(minimum=1)]] = ()
    parts: Sequence[Volume] = ()
    objects: Sequence[Mapping[str, Any]] = ()
    pairs: Sequence[Group] = ()


@pytest.mark.parametrize(
    ("key", "value", "source", "says"),
    [
        ("names", "a", "a", "must be a list, got 'a'; write [a]"),
        ("names", "a, b", "a, b", "must be a list, got 'a, b'; write [a, b]"),
        ("names", "a b; a", "a b; a", "must be a list, got 'a b; a'; write [a, b]"),
        ("names", "- a - b-c", "- a - b-c", "must be a list, got '- a - b-c'; write [a, b-c]"),
        ("lines", "-a@b.example", "-a@b.example", "must be a list, got '-a@b.example'; write [a@b.example]"),
        ("names", "A", "A", "must be a list, got 'A'; each item must be a name, as a"),
        ("names", True, "true", "must be a list, got true; write ['true']"),
        ("names", {"a": 1}, None, "must be a list, got a mapping; begin each item with '- '"),
        (
            "lines",
            "pip install -U x",
            "pip install -U x",
            "must be a list, got 'pip install -U x'; write [pip install -U x]",
        ),
        ("lines", "[ -f /x ]", "[ -f /x ]", "must be a list, got '[ -f /x ]'; write ['[ -f /x ]']"),
        ("lines", '["a"]', '["a"]', """must be a list, got '["a"]'; take the quotes away: ["a"]"""),
        ("names", "[a, b]", "[a, b]", "must be a list, got '[a, b]'; take the quotes away: [a, b]"),
        ("names", "[A]", "[A]", "must be a list, got '[A]'; each item must be a name, as a"),
        (
            "parts",
            "[{size_gb: 1}]",
            None,
            "must be a list of mappings, got '[{size_gb: 1}]'; take the quotes away: [{size_gb: 1}]",
        ),
        ("lines", "it's: x", "it's: x", 'must be a list, got "it\'s: x"; write ["it\'s: x"]'),
        ("lines", "a\nb\n", "a\nb\n", r"must be a list, got 'a\nb\n'"),
        ("open", "a-1 a-2", "a-1 a-2", "must be a list, got 'a-1 a-2'; write [a-1, a-2]"),
        ("open", "-a -b", "-a -b", "must be a list, got '-a -b'; write [a, b]"),
        ("open", "1.[2,3]@t", "1.[2,3]@t", "must be a list, got '1.[2,3]@t'; write ['1.[2,3]@t']"),
        ("open", "type: x", "type: x", "must be a list, got 'type: x'"),
        ("open", 2, "2", "must be a list, got 2"),
        ("days", "MONDAY", "MONDAY", "must be a list, got 'MONDAY'; write [MONDAY]"),
        ("days", True, "true", "must be a list, got true; each item must be MONDAY or SUNDAY"),
        ("sizes", 5, "5", "must be a list, got 5; write [5]"),
        ("sizes", 0, "0", "must be a list, got 0; each item must be 1 or more"),
        ("parts", "500GB", "500GB", "must be a list of mappings, got '500GB'; begin each with '- size_gb: …'"),
        ("parts", {"size_gb": 5}, None, "must be a list of mappings, got a mapping; begin each with '- size_gb: …'"),
        ("objects", {"A": 1}, None, "must be a list of mappings, got a mapping; begin each with '- A: …'"),
        (
            "pairs",
            "a",
            "a",
            "must be a list of mappings, got 'a'; begin each with '- name: …', below it 'job: …' and 'count: …'",
        ),
        ("objects", "a=1", "a=1", "must be a list of mappings, got 'a=1'; begin each with '- a name: …'"),
    ],
)
def test_what_should_be_a_list_is_shown_as_one(key: str, value: Any, source: str | None, says: str) -> None:
    reader = Reader(environment=Environment(), sources={} if source is None else {(key,): source})
    reader.read(Lists, {key: value}, ())
    assert [sentence(problem) for problem in reader.problems] == [f"'{key}' {says}"]


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("\u2013 size_gb", "must begin with '- ', as an item of a list, got '\u2013'; write '- size_gb: …'"),
        ("\uff0dsize_gb", "must begin with '- ', as an item of a list, got '\uff0d'; write '- size_gb: …'"),
        ("+ size_gb", "must begin with '- ', as an item of a list, got '+'; write '- size_gb: …'"),
        ("-size_gb", "must have a blank after '-', as an item of a list, got '-size_gb'; write '- size_gb: …'"),
    ],
)
def test_a_key_that_should_be_an_item_is_told_how_one_begins(key: str, says: str) -> None:
    reader = Reader(environment=Environment())
    reader.read(Lists, {"parts": {key: 5, "type": "x"}}, ())
    (problem,) = reader.problems
    assert (problem.at, problem.of_key, sentence(problem)) == (("parts", key), True, f"'parts.{key}' {says}")


@pytest.mark.parametrize(("value", "remedy"), [("--venv /fsx", "[--venv, /fsx]"), ("a, b", "[a, b]"), ("one", "[one]")])
def test_words_of_a_command_are_told_apart(value: str, remedy: str) -> None:
    reader = Reader(environment=Environment(), sources={("args",): value})
    reader.read(CustomAction, {"script": "a.sh", "args": value}, ())
    assert [sentence(problem) for problem in reader.problems] == [
        f"'args' must be a list, got {value!r}; write {remedy}"
    ]


COLON = "'\uff1a' is U+FF1A (FULLWIDTH COLON); write ': '"
COMMA = "'\uff0c' is U+FF0C (FULLWIDTH COMMA); write ','"


@pytest.mark.parametrize("reference", ["${QUEUE}", "{{ name }}", "!Ref X"])
def test_nothing_is_put_in_place_of_a_reference(reference: str) -> None:
    remedy = f"; nothing is put in place of {reference!r}, write the value itself"
    reader = Reader(environment=Environment())
    reader.read(Lists, {"names": (reference,)}, ())
    assert [sentence(problem) for problem in reader.problems] == [
        f"'names[0]' must be a name, as a, got {reference!r}{remedy}"
    ]
    [said] = read({"groups": {reference: GOOD}})[1]
    assert said.endswith(f"got {reference!r} as a name{remedy}")


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        (
            "names",
            ("a\u2013b",),
            "'names[0]' must be a name, as a, got 'a\u2013b'; '\u2013' is U+2013 (EN DASH); write '-'",
        ),
        (
            "names",
            ("a \uff03 of b",),
            "'names[0]' must be a alone, got 'a \uff03 of b': a comment begins with '#' after a blank; write a # …",
        ),
        ("names", "\uff3ba\uff0cb\uff3d", "'names' must be a list, got '\uff3ba\uff0cb\uff3d'; write [a, b]"),
        ("names", ("<your-name>",), "'names[0]' must be a name, as a, got '<your-name>'; that is {fill}"),
        ("names", ("arn:<A ID>:x",), "'names[0]' must be a name, as a, got 'arn:<A ID>:x'; '<A ID>' is {fill}"),
        ("names", ("TODO",), "'names[0]' must be a name, as a, got 'TODO'; that is {fill}"),
        ("days", ("...",), "'days[0]' must be MONDAY or SUNDAY, got '...'; that is {fill}"),
        ("sizes", ("changeme",), "'sizes[0]' must be a whole number, got 'changeme'; that is {fill}"),
        (
            "parts",
            ("TBD",),
            "'parts[0]' must be a mapping ('size_gb: …' on lines below it), got 'TBD'; that is {fill}",
        ),
        (
            "parts",
            ("size_gb\uff1a 1",),
            f"'parts[0]' must be a mapping ('size_gb: …' on lines below it), got 'size_gb\uff1a 1'; {COLON}",
        ),
        ("names", ("a\uff0cb",), f"'names[0]' must be a name, as a, got 'a\uff0cb'; {COMMA}"),
        ("names", "a\uff0cb", "'names' must be a list, got 'a\uff0cb'; write [a, b]"),
        ("names", ("<a >b",), "'names[0]' must be a name, as a, got '<a >b'"),
        ("lines", ("TODO", "cat <a> \uff0c"), ""),
    ],
)
def test_what_stands_for_something_else_is_named_where_a_value_is_refused(key: str, value: Any, says: str) -> None:
    reader = Reader(environment=Environment())
    reader.read(Lists, {key: value}, ())
    said = "".join(map(sentence, reader.problems))
    assert said == says.replace("{fill}", "a place to fill in")


def test_a_secret_is_not_shown_where_a_list_should_stand() -> None:
    secret = f"glpat-{'a1B2c3D4e5' * 2}"
    reader = Reader(environment=Environment())
    reader.read(Lists, {"names": secret}, ())
    assert [problem.text for problem in reader.problems if secret in problem.text] == []
    assert sentence(reader.problems[0]).startswith("'names' must be a list, got a secret")


@pytest.mark.parametrize(("key", "value"), [("Ref", "X"), ("Fn::GetAtt", ("a", "b"))])
def test_nothing_is_put_in_place_of_a_function_of_cloudformation(key: str, value: Any) -> None:
    got = f"got {key!r} of CloudFormation, in whose place nothing is put"
    assert read(group(count={key: value}))[1] == [f"'groups.workers.count' must be a whole number, {got}"]
    [said] = read(group(count={key: value, "more": 1}))[1]
    assert said.endswith("got a mapping")


@pytest.mark.parametrize(("value", "remedy"), [(7, "; write SUNDAY"), (2, ""), (True, "")])
def test_a_choice_by_its_number_is_told_its_name(value: Any, remedy: str) -> None:
    reader = Reader(environment=Environment())
    reader.read(Lists, {"days": (value,)}, ())
    said = f"'days[0]' must be MONDAY or SUNDAY, got {shown(value)}{remedy}"
    assert [sentence(problem) for problem in reader.problems] == [said]


@dataclass(frozen=True, kw_only=True, slots=True)
class Amounts:
    """Numbers whose keys say their units."""

    size_gib: Annotated[int, Number(maximum=5000)] = 1
    speed_mb_s_per_tib: int = 1
    idle_minutes: int = 1
    keep_days: Annotated[int, Choice(values=(1, 7, 30))] = 1
    free_percent: float = 1.0
    spot_price: float = 1.0
    subnet_mask: int = 1
    count: int = 1


@pytest.mark.parametrize(
    ("key", "value", "must", "remedy"),
    [
        ("size_gib", "1200GiB", "be a whole number", "; write 1200"),
        ("size_gib", "1,200", "be a whole number", "; write 1200"),
        ("size_gib", "1 200", "be a whole number", "; write 1200"),
        ("size_gib", "1\u202f200 GiB", "be a whole number", "; write 1200"),
        ("size_gib", "12 00", "be a whole number", ""),
        ("size_gib", "125,0", "be a whole number", "; write 125"),
        ("size_gib", "125,5", "be a whole number", ""),
        ("size_gib", "4.8 TiB", "be a whole number", ""),
        ("spot_price", "1,5", "be a number", "; write 1.5"),
        ("size_gib", "9000 GiB", "be at most 5000", ""),
        ("size_gib", "1200 MB", "be a whole number", ""),
        ("size_gib", "1.5GiB", "be a whole number", ""),
        ("speed_mb_s_per_tib", "250MB/s", "be a whole number", "; write 250"),
        ("speed_mb_s_per_tib", "2TiB", "be a whole number", ""),
        ("idle_minutes", "10m", "be a whole number", "; write 10"),
        ("idle_minutes", "PT10M", "be a whole number", "; write 10"),
        ("idle_minutes", "P10M", "be a whole number", ""),
        ("idle_minutes", "60s", "be a whole number", ""),
        ("keep_days", "30 days", "be 1, 7 or 30", "; write 30"),
        ("keep_days", "P7D", "be 1, 7 or 30", "; write 7"),
        ("keep_days", "8d", "be 1, 7 or 30", ""),
        ("keep_days", "ONE_WEEK", "be 1, 7 or 30", ""),
        ("free_percent", "5%", "be a number", "; write 5"),
        ("free_percent", "1,200", "be a number", ""),
        ("spot_price", "$1.5", "be a number", "; write 1.5"),
        ("subnet_mask", "/20", "be a whole number", "; write 20"),
        ("count", "4,", "be a whole number", "; write 4"),
        ("count", "/4", "be a whole number", ""),
        ("count", "4x", "be a whole number", ""),
    ],
)
def test_a_number_with_the_unit_of_its_key_is_shown_without(key: str, value: str, must: str, remedy: str) -> None:
    reader = Reader(environment=Environment(), sources={(key,): value})
    reader.read(Amounts, {key: value}, ())
    assert [sentence(problem) for problem in reader.problems] == [f"'{key}' must {must}, got {value!r}{remedy}"]


@pytest.mark.parametrize("value", ["9" * 20, "1e+300", 1e300])
def test_a_number_with_more_digits_than_can_be_read_is_not_written_out(value: Any) -> None:
    [said] = read(group(count=value))[1]
    assert said == f"'groups.workers.count' must be a whole number of at most 18 digits, got {shown(value)}"


class Gate(StrEnum):
    """A gate."""

    FORMER_VALUES = nonmember({"true": "write one"})
    ONE = "one"
    NONE = "none"


@pytest.mark.parametrize(
    ("value", "remedy"),
    [(False, "write none"), ("off", "write none"), (True, "write one"), ("yes", "write one"), ("None", ASKED)],
)
def test_a_truth_value_in_place_of_a_choice_is_told_which_one_it_means(value: Any, remedy: str) -> None:
    assert instead(Gate, value) == f"; {remedy}"
    assert instead(Job, value) == ""


@pytest.mark.parametrize(
    ("wanted", "value", "remedy"),
    [
        (GroupRole, "head", "write controller"),
        (GroupRole, "worker", "write compute"),
        (AuthenticationKind, "bearer", "write jwt for tokens of an issuer, or api-key for one key of all"),
        (ScalingMetric, "num_requests_waiting", "write queue"),
        (Server, "neuron-tgi", "write tgi"),
        (Server, "vllm-neuron", "write neuron-vllm"),
    ],
)
def test_a_word_of_another_tool_is_told_which_one_it_means(wanted: type[Enum], value: str, remedy: str) -> None:
    assert instead(wanted, value) == f"; {remedy}"


@pytest.mark.parametrize(
    ("spec", "value", "remedy"),
    [
        (AlarmOverride, False, "write {enabled: false}"),
        (
            GrafanaWorkspaceSpec,
            True,
            "write 'prefix_list_ids' or 'vpc_endpoint_ids', which reach it, on a line below it",
        ),
        (Exporters, True, "write {} for one as it is without any key"),
    ],
)
def test_a_section_is_switched_as_its_own_rules_let_it(spec: type, value: bool, remedy: str) -> None:
    assert section_of(spec, value, without="name") == f"; {remedy}"


@pytest.mark.parametrize(
    ("items", "lines"),
    [
        (("LOG_LEVEL=debug", "THREADS=4"), """'LOG_LEVEL: debug' and 'THREADS: "4"'"""),
        ((f"TOKEN=hf_{'aBcDeFgHiJkLmNoPqRsTuVwXyZ012345'}",), "'TOKEN: …'"),
        (("team",), "'team: …'"),
    ],
)
def test_a_list_of_assignments_is_answered_with_their_lines(items: tuple[str, ...], lines: str) -> None:
    assert read({"tags": items} | group())[1] == [f"'tags' must be a mapping ({lines} on lines below it), got a list"]


def test_what_is_wrong_is_unknown_and_the_rest_is_there() -> None:
    found, problems = read({"groups": {"workers": {"job": "x", "count": 101}, "others": GOOD}})
    workers, others = found.groups
    assert (type(workers.job), type(workers.count), others.count, len(problems)) == (Unknown, Unknown, 4, 2)


def test_a_specification_is_written_as_it_is_read() -> None:
    found, _ = read(
        group(
            volumes=({"size_gb": 5, "key_arn": KEY},), cooldown_minutes=2, alarm_arns=(ALARM,), price=1, capacity="Spot"
        )
        | {"store": {"days": ("SUNDAY",)}, "tags": {"a": "b"}}
    )
    data = written(found)
    assert data["groups"]["workers"]["volumes"] == [{"size_gb": 5, "key_arn": KEY, "root": False}]
    assert (data["logs_days"], data["groups"]["workers"]["cooldown_minutes"]) == (90, 2)
    assert read(as_read(data)) == (found, [])
