"""What is remembered per account and region."""

from cdk_trainyard.local.state import Store


def test_every_account_and_region_has_a_value_of_its_own() -> None:
    store: Store[list[str]] = Store(lambda account, region: [account, region])
    assert store.of("1", "us-west-2") == ["1", "us-west-2"]
    assert store.of("1", "us-west-2") is store.of("1", "us-west-2")
    assert store.of("1", "us-west-2") is not store.of("1", "eu-west-1")
    assert store.of("1", "us-west-2") is not store.of("2", "us-west-2")
