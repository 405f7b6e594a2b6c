from pathlib import Path

from cdk_trainyard.rehearsal import rootless


def test_two_nodes_stand_on_one_host(tmp_path: Path) -> None:
    conf = rootless.configuration(tmp_path, host="laptop", user="me", port=21000)
    assert "SlurmUser=me" in conf
    assert "NodeName=n1 NodeHostname=laptop NodeAddr=127.0.0.1 Port=21001" in conf
    assert "NodeName=n2 NodeHostname=laptop NodeAddr=127.0.0.1 Port=21002" in conf
    assert f"StateSaveLocation={tmp_path}/state" in conf


def test_ports_in_a_row_are_free() -> None:
    first = rootless._free_ports(3)
    assert all(rootless._is_free(port) for port in range(first, first + 3))
