"""One time line of several sources, and the first cause of what failed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cdk_trainyard.operations import Event, TimeLine

START = datetime(2026, 11, 23, tzinfo=UTC)
CANCELLED = "CREATE_FAILED: Resource creation cancelled"
SUMMARY = "CREATE_FAILED: The following resource(s) failed to create: [Cluster]"


def event(second: float, text: str, *, failed: bool = True, source: str = "CloudFormation") -> Event:
    return Event(at=START + timedelta(seconds=second), source=source, subject="x", text=text, failed=failed)


def test_the_first_failure_that_follows_from_no_other_is_the_cause() -> None:
    script = event(50, "on_create.sh: lustre: mount failed", source="provisioning log")
    failed = event(90, "CREATE_FAILED: Cluster x is in Failed status")
    others = [event(91, CANCELLED), event(92, SUMMARY), event(10, "CREATE_IN_PROGRESS", failed=False)]
    line = TimeLine.of([failed, *others, script])
    assert line.cause == script
    assert [each.at for each in line.events] == sorted(each.at for each in line.events)


def test_what_others_have_cancelled_is_a_cause_only_where_nothing_else_says_why() -> None:
    assert TimeLine.of([event(1, CANCELLED), event(2, "CREATE_FAILED: no capacity")]).cause == event(
        2, "CREATE_FAILED: no capacity"
    )
    assert TimeLine.of([event(2, SUMMARY), event(1, CANCELLED)]).cause == event(1, CANCELLED)
    assert TimeLine.of([event(1, "CREATE_COMPLETE", failed=False)]).cause is None


def test_a_fault_that_is_told_twice_is_one() -> None:
    assert len(TimeLine.of([event(0, "a"), event(0.9, "a"), event(5, "a")]).events) == 2


EVENTS = st.lists(
    st.builds(
        Event,
        at=st.integers(0, 20).map(lambda second: START + timedelta(seconds=second)),
        source=st.sampled_from(["CloudFormation", "HyperPod"]),
        subject=st.sampled_from(["a", "b"]),
        text=st.sampled_from(["broken", "fine", CANCELLED, SUMMARY]),
        failed=st.booleans(),
    ),
    max_size=12,
)


@given(EVENTS, st.randoms(use_true_random=False))
def test_the_order_in_which_sources_answer_changes_nothing(events: list[Event], random: object) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # Hypothesis' Random
    assert TimeLine.of(shuffled) == TimeLine.of(events)


@given(EVENTS)
def test_nothing_is_lost_but_what_is_told_twice(events: list[Event]) -> None:
    line = TimeLine.of(events)
    assert [each.at for each in line.events] == sorted(each.at for each in line.events)
    assert set(line.events) <= set(events)
    for each in events:
        assert any(
            replace(kept, at=each.at) == each and timedelta(0) <= each.at - kept.at <= timedelta(seconds=2)
            for kept in line.events
        )


@given(EVENTS)
def test_no_failure_stands_before_the_cause_unless_it_follows_from_others(events: list[Event]) -> None:
    line = TimeLine.of(events)
    failed = [each for each in line.events if each.failed]
    assert (line.cause is None) == (not failed)
    if line.cause is not None:
        before = [each for each in failed if each.at < line.cause.at]
        assert {each.text for each in before} <= {CANCELLED, SUMMARY}
        assert line.cause.failed
