"""A part whose specification another option decides is read, judged and written as what was chosen."""

from dataclasses import dataclass
from typing import Annotated, Any

from cdk_trainyard.options.fields import Chosen
from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.options.paths import in_file
from cdk_trainyard.options.reading import Reader
from cdk_trainyard.options.schema import Schemas
from cdk_trainyard.options.writing import written
from cdk_trainyard.problems import sentence
from tests.options.example_spec import Cluster, ExistingStore, NewStore

STORES = {"new": NewStore, "old": ExistingStore}


@dataclass(frozen=True, kw_only=True, slots=True)
class Shop:
    """A shop."""

    kind: str
    """What its store is."""
    store: Annotated[Any, Chosen("kind", STORES.get)] = None
    """Its store. Default - none."""


def read(**data: Any) -> tuple[Any, list[str]]:
    reader = Reader(environment=NOWHERE)
    return reader.read(Shop, data, ()), [sentence(problem) for problem in reader.problems]


def test_the_chosen_specification_reads_the_part() -> None:
    shop, problems = read(kind="old", store={"store_id": "Mine"})
    assert (shop, problems) == (Shop(kind="old", store=ExistingStore(store_id="Mine")), [])
    assert written(shop) == {"kind": "old", "store": {"store_id": "Mine"}}
    assert Judge(environment=NOWHERE).judged(shop) == shop


def test_a_part_of_an_unknown_kind_is_judged_by_nobody() -> None:
    shop, problems = read(kind="other", store={"whatever": 1})
    assert problems == []
    assert bool(shop.store.anything)


def test_what_is_wrong_in_the_part_has_its_path() -> None:
    assert read(kind="old", store={"store_id": 5})[1] == ["'store.store_id' must be text, got 5"]
    judge = Judge(environment=NOWHERE)
    judge.judged(Shop(kind="old", store="Mine"))
    assert [sentence(problem) for problem in judge.problems] == ["'store' must be a specification, got 'Mine' (str)"]


def test_the_schema_leaves_it_open() -> None:
    assert Schemas().of(Shop)["properties"]["store"]["type"] == "object"


def test_a_value_says_which_of_two_specifications_its_keys_are_of() -> None:
    cluster = Cluster(groups=(), store=ExistingStore(store_id="Mine"))
    assert in_file(cluster, ("store", "store_id")) == ("store", "store_id")
    assert in_file(cluster, ("logs",)) == ("logs_days",)
    assert in_file(Cluster, ("groups", "workers", "alarms", 0)) == ("groups", "workers", "alarm_arns", 0)
