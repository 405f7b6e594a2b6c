# ruff: noqa: E501  the messages are the point, each on its line
"""What limits at the load balancer and of the engine keep from the engine's queue, and so from scaling and alarms."""

import pytest
from aws_cdk import Stack
from aws_cdk.assertions import Template

from cdk_trainyard import ConfigurationError
from cdk_trainyard.problems import sentence
from cdk_trainyard.serving import (
    ConcurrencyLimit,
    ScalingMetric,
    ServiceMonitoring,
    ServiceScaling,
    TextGenerationEngine,
)
from cdk_trainyard.serving.concurrency import PLACES
from cdk_trainyard.serving.engine_settings import settings
from cdk_trainyard.serving.rules import service_findings
from cdk_trainyard.serving.rules_concurrency import (
    limit_warnings,
    queue_problems,
    unreached_problems,
    waiting_problems,
)
from cdk_trainyard.serving.spec_service import MonitoringSpec, ServiceSpec
from tests.serving.parts import REGION, hosts, load_balancer, model, new_stack, service

BATCH_OF_4 = model(batch=4)
VLLM, TGI = TextGenerationEngine.hf_vllm(), TextGenerationEngine.tgi()
TGI_OF_6 = TextGenerationEngine.tgi(environment={PLACES: "6"})


@pytest.mark.parametrize(
    ("requests", "target", "least"),
    [(None, 12, 16), (4, 1, 5), (8, None, 8), (6, 2, 6), (3, 0.5, 4.5)],
)
def test_fails_a_limit_that_leaves_no_queue_to_scale_by(
    requests: int | None, target: float | None, least: float
) -> None:
    scaling = ServiceScaling(min_tasks=1, max_tasks=4, target=target)
    (found,) = queue_problems(ConcurrencyLimit(requests=requests), BATCH_OF_4, scaling)
    assert found.at == ("requests",)
    assert found.text.startswith(f"must be more than {least:g} with metric queue, got {requests or 16}: ")


@pytest.mark.parametrize(
    ("requests", "target", "metric"),
    [
        (9, None, ScalingMetric.QUEUE),
        (6, 1, ScalingMetric.QUEUE),
        (None, 11, ScalingMetric.QUEUE),
        (1, 30, ScalingMetric.ALB_REQUESTS),
    ],
)
def test_takes_a_limit_that_leaves_one(requests: int | None, target: float | None, metric: ScalingMetric) -> None:
    scaling = ServiceScaling(min_tasks=1, max_tasks=4, target=target, metric=metric)
    assert [*queue_problems(ConcurrencyLimit(requests=requests), BATCH_OF_4, scaling)] == []
    assert [*queue_problems(None, BATCH_OF_4, scaling)] == []
    assert [*queue_problems(ConcurrencyLimit(), BATCH_OF_4, None)] == []


@pytest.mark.parametrize(
    ("engine", "places", "target", "says"),
    [
        (TGI, "128", None, None),
        (TGI, "128", 123, None),
        (
            TGI,
            "128",
            200,
            "'scaling.target' must be less than 124, got 200: TGI takes 128 requests at a time and computes 4, so 124 wait at most; lower it, or let MAX_CONCURRENT_REQUESTS in 'environment' of 'engine' be more than 204",
        ),
        (
            TGI_OF_6,
            "6",
            None,
            "'engine.environment.MAX_CONCURRENT_REQUESTS' must be more than 8 with metric queue, got 6: an engine computes 4 of them, so 2 wait at most, and over 4 add a task; raise it, or lower 'target' of 'scaling'",
        ),
        (TGI_OF_6, "6", 1, None),
        (VLLM, None, 2000, None),
    ],
)
def test_holds_what_tasks_are_added_by_to_what_waits_in_an_engine(
    engine: TextGenerationEngine, places: str | None, target: float | None, says: str | None
) -> None:
    scaling = ServiceScaling(min_tasks=1, max_tasks=4, target=target)
    spec = ServiceSpec(model=BATCH_OF_4, engine=engine, hosts=hosts(), scaling=scaling)
    assert [sentence(each) for each in service_findings(spec, REGION).problems] == ([says] if says else [])
    assert settings(engine, BATCH_OF_4, request_seconds=60).environment.get(PLACES) == places


def test_an_engine_that_takes_requests_takes_several_batches() -> None:
    assert settings(TGI, model(batch=64), request_seconds=60).environment[PLACES] == "256"


@pytest.mark.parametrize(
    ("limit", "engine", "waiting", "says"),
    [
        (ConcurrencyLimit(requests=4), VLLM, 3, "must be left out, got 3"),
        (ConcurrencyLimit(requests=6), VLLM, 3, "must be at most 2, got 3"),
        (ConcurrencyLimit(requests=7), VLLM, 3, None),
        (ConcurrencyLimit(), VLLM, 3, None),
        (None, TGI_OF_6, 3, "must be at most 2, got 3"),
        (None, TGI, 125, "must be at most 124, got 125"),
        (None, VLLM, 2000, None),
        (ConcurrencyLimit(), VLLM, None, None),
    ],
)
def test_judges_an_alarm_by_what_may_wait(
    limit: ConcurrencyLimit | None, engine: TextGenerationEngine, waiting: float | None, says: str | None
) -> None:
    found = [*waiting_problems(MonitoringSpec(waiting=waiting), limit, engine, BATCH_OF_4)]
    assert [each.text.split(":")[0] for each in found] == ([says] if says else [])
    raised = "MAX_CONCURRENT_REQUESTS in 'environment' of 'engine'" if limit is None else "'requests' of 'concurrency'"
    assert all(each.text.endswith(f"; or raise {raised}") for each in found)


@pytest.mark.parametrize(
    ("limit", "engine", "waiting", "says"),
    [
        (ConcurrencyLimit(requests=4), VLLM, 0, "must be left out, got 0"),
        (ConcurrencyLimit(requests=6), VLLM, 2, "must be less than 2, got 2"),
        (ConcurrencyLimit(requests=6), VLLM, 1.5, None),
        (None, TGI_OF_6, 2, "must be less than 2, got 2"),
        (None, VLLM, 2000, None),
    ],
)
def test_judges_an_alarm_that_more_than_its_threshold_ring(
    limit: ConcurrencyLimit | None, engine: TextGenerationEngine, waiting: float, says: str | None
) -> None:
    found = [*unreached_problems(waiting, limit, engine, BATCH_OF_4, exceeded=True)]
    assert [each.text.split(":")[0] for each in found] == ([says] if says else [])


@pytest.mark.parametrize(("requests", "threshold"), [(3, 1), (5, 1), (6, 2), (12, 8), (None, 8)])
def test_an_alarm_waits_for_no_more_than_may_wait(requests: int | None, threshold: int) -> None:
    stack = new_stack()
    served = service(stack)
    door = load_balancer(stack, served, concurrency=ConcurrencyLimit(requests=requests))
    ServiceMonitoring(stack, "Monitoring", service=served, load_balancer=door)
    waiting = {"MetricName": "RequestsWaiting", "Threshold": threshold}
    Template.from_stack(stack).has_resource_properties("AWS::CloudWatch::Alarm", waiting)


def test_a_limit_that_may_not_be_raised_is_answered_with_the_target() -> None:
    scaling = ServiceScaling(min_tasks=1, max_tasks=4, target=2000)
    (found,) = queue_problems(ConcurrencyLimit(), BATCH_OF_4, scaling)
    assert found.text.endswith("over 2000 add a task; lower 'target' of 'scaling'")


@pytest.mark.parametrize(
    ("requests", "metric", "says"),
    [
        (
            129,
            None,
            "'requests' 129 is more than the 128 that TGI takes at a time: it answers what is over with 429 before the load balancer refuses any; let MAX_CONCURRENT_REQUESTS in 'environment' of 'engine' be 129 too",
        ),
        (
            4,
            None,
            "'requests' 4 leaves the engine no queue beside 'batch' 4 of 'model': whatever else comes is refused with 503 at once; raise it, or let callers try again",
        ),
        (5, None, None),
        (None, ScalingMetric.QUEUE, None),
        (
            None,
            ScalingMetric.ALB_REQUESTS,
            "'concurrency' refuses requests that metric alb-requests of 'scaling' does not count: tasks that have no room may add none; scale by metric queue",
        ),
    ],
)
def test_warns_of_a_limit_that_refuses_at_once_or_uncounted(
    requests: int | None, metric: ScalingMetric | None, says: str | None
) -> None:
    scaling = None if metric is None else ServiceScaling(min_tasks=1, max_tasks=4, metric=metric)
    spec = ServiceSpec(model=BATCH_OF_4, engine=TGI, hosts=hosts(), scaling=scaling)
    found = limit_warnings(ConcurrencyLimit(requests=requests), spec)
    assert [each.text for each in found] == ([says] if says else [])
    assert [*limit_warnings(None, spec)] == []


def test_constructors_ask_the_same() -> None:
    stack: Stack = new_stack()
    scaled = service(stack, scaling=ServiceScaling(min_tasks=1, max_tasks=2))
    with pytest.raises(ConfigurationError) as raised:
        load_balancer(stack, scaled, concurrency=ConcurrencyLimit(requests=4))
    assert raised.value.problems == (
        "'concurrency.requests' must be more than 8 with metric queue, got 4: an engine computes 4 of them, so 0 wait at most, and over 4 add a task; raise it, or lower 'target' of 'scaling'",
    )
    stack = new_stack()
    served = service(stack)
    door = load_balancer(stack, served, concurrency=ConcurrencyLimit(requests=6))
    with pytest.raises(ConfigurationError) as raised:
        ServiceMonitoring(stack, "Monitoring", service=served, load_balancer=door, waiting=3)
    assert raised.value.problems == (
        "'waiting' must be at most 2, got 3: a task gets 6 requests at a time and computes 4, so such an alarm never rings; or raise 'requests' of 'concurrency'",
    )
