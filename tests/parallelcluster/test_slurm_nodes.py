"""Slurm's nodes: what is said of them is what their types have, and their names are told apart."""

from typing import Any

import pytest
from aws_cdk import Token

from tests.parallelcluster.slurm import TOKEN, named, problems


@pytest.mark.parametrize(
    "said",
    [
        {"custom": [{"NodeName": "static1", "CPUs": 1}, {"NodeName": "static2", "Gres": "gpu:1"}]},
        {
            "custom": [
                {"NodeName": "static[01-03,7]", "CPUs": 1},
                {"NodeName": "DEFAULT", "CPUs": 2},
                {"NodeName": "DEFAULT", "CPUs": 4},
                {"NodeName": "rack[1-2]n[1-2]"},
                {"NodeSet": "set", "Nodes": "static[01-02],rack2n1"},
                {"PartitionName": "own", "Nodes": "set,static7,compute_nodes", "MaxTime": "UNLIMITED"},
                {"PartitionName": "all", "Nodes": "all"},
                {"PartitionName": "fast", "Nodes": "compute-dy-c5-xlarge-[1-8]"},
                {"DownNodes": "rack1n2", "State": "DOWN"},
            ]
        },
        {"custom": [{"NodeSet": "own", "Feature": "dynamic"}, {"PartitionName": "own", "Nodes": "own"}]},
        {"compute": {"Port": 6818, "RealMemory": "0x1000"}},
        {"compute": {"Sockets": 1, "CoresPerSocket": 2, "ThreadsPerCore": 2, "CoreSpecCount": 1, "RealMemory": 8192}},
        {"compute": {"CoresPerSocket": 2, "CoreSpecCount": 3}},
        {"compute": {"CoreSpecCount": 3}},
        {"compute": {"CoreSpecCount": 9, "Sockets": TOKEN}},
        {"compute": {"Sockets": 1, "CoresPerSocket": 2}},
        {"compute": {"ThreadsPerCore": 2, "MemSpecLimit": 1024, "CPUSpecList": "0-1"}},
        {"compute": {"Sockets": TOKEN, "CoresPerSocket": 64, "RealMemory": Token.as_number({"Ref": "Memory"})}},
        {"compute": {"RealMemory": 99999, "CoreSpecCount": 9}, "custom": [{"SlurmdParameters": "config_overrides"}]},
        {"custom": [{"SrunPortRange": "60001-63000"}, {"EnforcePartLimits": True}, {"NodeName": "allnodes"}]},
        {"queue": {"MaxCPUsPerNode": 4}, "exclusive": True},
        {"queue": {"MaxCPUsPerNode": 2}, "exclusive": True, "raw_overrides": {"Scheduling": {}}},
        {"queue": {"MaxCPUsPerNode": 2, "MaxCPUsPerSocket": 2}, "exclusive": True},
        {"queue": {"MaxCPUsPerNode": 3}, "compute": {"CoreSpecCount": 1}, "exclusive": True},
        {"queue": {"DefMemPerNode": 8192}, "memory": 8192},
        {"queue": {"DefMemPerNode": 9000}, "compute": {"RealMemory": Token.as_number({"Ref": "Memory"})}},
        {"custom": [{"NodeName": "large", "RealMemory": 99999}, {"DefMemPerNode": 9000}]},
        {"compute": {"Reason": r"ticket\#123"}, "queue": {"AllowGroups": r'"a\#b c\\"'}},
        {"compute": {"Feature": "fast", "CpuBind": "core", "Reason": '"two words"', "TmpDisk": 1000}},
        {"custom": [{"DefCpuPerGPU": 4}, {"NodeName": "own", "Gres": "gpu:1"}], "queue": {"DefMemPerGPU": 0}},
        {"custom": [{"DefMemPerGPU": 4000}], "gpus": True, "beside": {"DefCpuPerGPU": 2}},
        {"compute": {"CpuSpecList": "0-1,3"}},
        {"compute": {"CpuSpecList": "0-9", "CoresPerSocket": 2}},
        {"compute": {"CpuSpecList": "0-3"}, "custom": [{"AllowSpecResourcesUsage": True}]},
        {"compute": {"ThreadsPerCore": 1}, "threads": 1},
    ],
    ids=named,
)
def test_what_slurm_reads_is_taken(said: dict[str, Any]) -> None:
    assert problems(**said) == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"compute": {"features": "fast"}}, "slurm.features' must be Feature: beside ParallelCluster's own, Slurm"),
        (
            {"compute": {"RealMemory": 999999}},
            "must be the memory of c5.xlarge, 8192, or less, got 999999; Slurm would drain the nodes",
        ),
        ({"compute": {"RealMemory": 4000, "MemSpecLimit": 4000}}, "less than the node's memory, 4000, got 4000; Slurm"),
        ({"compute": {"MemSpecLimit": 8192}}, "MemSpecLimit' must be less than the node's memory, 8192, got 8192"),
        ({"custom": [{"NodeName": "a", "RealMemory": 100, "MemSpecLimit": 200}]}, "node's memory, 100, got 200"),
        (
            {"compute": {"CoreSpecCount": 4}},
            "CoreSpecCount' must be less than 4, the cores that Slurm counts on c5.xlarge, got 4; Slurm would keep 1",
        ),
        ({"compute": {"CoreSpecCount": 2, "ThreadsPerCore": 2}}, "must be less than 2, the cores that Slurm counts"),
        ({"compute": {"CoreSpecCount": 2, "Sockets": 1, "CoresPerSocket": 2}}, "must be less than 2, the cores that"),
        ({"compute": {"CoreSpecCount": 2}, "threads": 1}, "must be less than 2, the cores that Slurm counts"),
        ({"compute": {"CoreSpecCount": 1, "CPUSpecList": "0"}}, "must be left out beside CpuSpecList, which Slurm"),
        (
            {"compute": {"Sockets": 2, "CoresPerSocket": 64}},
            (
                "'queues[0].compute[0].slurm.Sockets' must make the 4 CPUs of c5.xlarge with what else is said of "
                "them, got Sockets 2, CoresPerSocket 64; Slurm would drain the nodes"
            ),
        ),
        ({"compute": {"Sockets": 1}}, "said of them, got Sockets 1; Slurm would give jobs 1 of them"),
        (
            {"compute": {"RealMemory": 4000}, "memory": 4000},
            "slurm.RealMemory' must be left out beside 'schedulable_memory_mib', which it would undo",
        ),
        ({"compute": {"MemSpecLimit": 4000}, "memory": 4000}, "must be less than the node's memory, 4000, got 4000"),
        ({"compute": {"Sockets": 4, "ThreadsPerCore": 2}}, "must make the 4 CPUs of c5.xlarge"),
        ({"compute": {"CoresPerSocket": 3}}, "must make the 4 CPUs of c5.xlarge"),
        (
            {"custom": [{"PartitionName": "own", "Nodes": "nope[1-2]"}]},
            (
                "'slurm.custom[0].Nodes' must be nodes of a line of NodeName, or of a queue, as compute_nodes, got "
                "'nope1'"
            ),
        ),
        ({"custom": [{"NodeName": "a[1-2]"}, {"NodeSet": "b", "Nodes": "a[1-3]"}]}, "as compute_nodes, got 'a3'"),
        ({"custom": [{"PartitionName": "own", "Nodes": "compute-dy-c5-xlarge-9"}]}, "got 'compute-dy-c5-xlarge-9'"),
        ({"custom": [{"DownNodes": "b", "State": "DOWN"}]}, "'slurm.custom[0].DownNodes' must be nodes of a line"),
        (
            {"custom": [{"NodeName": "a[1-3]", "CPUs": 1}, {"NodeName": "a2", "CPUs": 2}]},
            "'slurm.custom[1].NodeName' must be defined once, got 'a2' a second time",
        ),
        (
            {"queue": {"DefMemPerNode": 8192}},
            (
                "'queues[0].slurm.DefMemPerNode' must be at most 7782, the memory that jobs may have of these nodes, "
                "got 8192; no job without --mem would run"
            ),
        ),
        (
            {"custom": [{"DefMemPerNode": 9000}], "beside": {"DefMemPerNode": 100}},
            "'slurm.custom[0].DefMemPerNode' must be at most 7782, the memory that jobs may have of these nodes, got",
        ),
        ({"custom": [{"defmempercpu": "8K"}]}, "'slurm.custom[0].defmempercpu' must be at most 7782, the memory that"),
        ({"queue": {"DefMemPerCPU": 4001}, "memory": 4000}, "must be at most 4000, the memory that jobs may have"),
        (
            {"queue": {"maxCPUsPerNode": 3}, "exclusive": True},
            (
                "'queues[0].slurm.maxCPUsPerNode' must be at least 4, the CPUs of a node, with 'exclusive', or be left "
                "out, got 3; no job would run"
            ),
        ),
        (
            {"custom": [{"DefCpuPerGPU": 4}]},
            "'slurm.custom[0].DefCpuPerGPU' must be left out where no node has a GPU; Slurm would ignore it",
        ),
        (
            {"queue": {"defmempergpu": 4000}, "beside": {}},
            "'queues[0].slurm.defmempergpu' must be left out where",
        ),
        (
            {"compute": {"CpuSpecList": "0-4"}},
            "CpuSpecList' must be numbers of 0 to 3, the CPUs of c5.xlarge, got 0-4; Slurm would ignore it",
        ),
        ({"compute": {"CpuSpecList": 99}}, "must be numbers of 0 to 3, the CPUs of c5.xlarge, got 99"),
        ({"compute": {"CpuSpecList": "2"}, "threads": 1}, "must be numbers of 0 to 1, the CPUs of c5.xlarge, got 2"),
        (
            {"compute": {"CpuSpecList": "0,1-3"}},
            "must leave one of the 4 CPUs of c5.xlarge to jobs, got 0,1-3; no job would run",
        ),
        (
            {"compute": {"ThreadsPerCore": 2}, "threads": 1},
            "must be 1 with 'threads_per_core' 1, got 2; Slurm would take cores for threads",
        ),
        ({"compute": {"ThreadsPerCore": 4}}, "must be 2 as the cores of c5.xlarge, got 4"),
    ],
    ids=named,
)
def test_what_slurm_stops_at_is_refused(said: dict[str, Any], problem: str) -> None:
    assert [text for text in problems(**said) if problem in text], problems(**said)
