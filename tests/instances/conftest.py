import pytest

from cdk_trainyard.instances import instance_type


@pytest.fixture(autouse=True)
def _own_register(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test registers, no other test sees."""
    monkeypatch.setattr(instance_type, "_REGISTERED", {})
