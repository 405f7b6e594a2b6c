"""Slurm's partitions, the queues and those of one's own."""

from typing import Any

import pytest
from aws_cdk import Token

from tests.parallelcluster.slurm import TOKEN, named, problems


@pytest.mark.parametrize(
    "said",
    [
        {"custom": [{"PartitionName": "own", "Nodes": "own{x}"}, {"UnkillableStepTimeout": "INFINITE"}]},
        {"custom": [{"PartitionName": "DEFAULT", "State": "up"}, {"PartitionName": "DEFAULT", "MaxTime": 1}]},
        {"queue": {"PriorityTier": 65535, "PreemptMode": "off", "SelectTypeParameters": "CR_Core_Memory"}},
        {
            "custom": [{"PropagatePrioProcess": "0x2"}, {"SlurmdPort": '"6818"'}],
            "queue": {"MaxNodes": "INFINITE", "MaxCPUsPerNode": "INFINITE"},
        },
        {"queue": {"Hidden": True, "MaxTime": '"1-12"', "PriorityTier": '"9"'}},
        {"queue": {"MaxNodes": Token.as_number({"Ref": "Nodes"}), "MinNodes": 3, "PreemptMode": TOKEN}},
        {"custom": [{"PreemptType": TOKEN}, {"PartitionName": "own", "Nodes": TOKEN, "Alternate": TOKEN}]},
        {"custom": [{"PreemptType": TOKEN}, {"PreemptMode": "REQUEUE"}], "queue": {"PreemptMode": "SUSPEND"}},
        {"queue": {"PreemptMode": "OFF", "GraceTime": 0}},
        {"queue": {"PreemptMode": '"off"', "GraceTime": "00"}},
        {"queue": {"GraceTime": "0x0"}},
        {"queue": {"GraceTime": '"0K"'}},
        {"queue": {"PreemptMode": "REQUEUE", "GraceTime": 60}, "image_id": "ami-12345678"},
        {
            "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "REQUEUE"}],
            "queue": {"PreemptMode": "CANCEL", "GraceTime": 60},
        },
        {
            "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "GANG,REQUEUE"}],
            "queue": {"PreemptMode": "SUSPEND"},
        },
        {
            "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "GANG,REQUEUE"}],
            "queue": {"PreemptMode": "SUSPEND,GANG"},
            "version": "3.13.2",
        },
        {"queue": {"DefMemPerNode": "4K", "MaxMemPerNode": 4096}},
        {"queue": {"DefMemPerNode": 100, "MaxMemPerNode": 0}, "custom": [{"DefMemPerNode": 9}]},
        {"queue": {"DefMemPerNode": 0}, "custom": [{"DefMemPerNode": "0"}, {"MaxMemPerNode": 9}]},
        {"queue": {"DefMemPerNode": 0}, "custom": [{"DefMemPerNode": Token.as_number({"Ref": "Memory"})}]},
        {"queue": {"DefMemPerCPU": 100, "MaxMemPerCPU": 9}},
        {"queue": {"MaxCPUsPerNode": 2}},
        {"queue": {"DefMemPerNode": 7782}, "custom": [{"DefMemPerCPU": 7782}]},
        {"custom": [{"DefMemPerNode": 9000}], "queue": {"defmempercpu": 100}},
        {"custom": [{"DefMemPerNode": 9000}], "queue": {"DefMemPerNode": 100}, "beside": {}},
        {
            "custom": [{"DefMemPerNode": 9000}, {"PartitionName": "own", "Nodes": "larger_nodes"}],
            "beside": {"DefMemPerNode": 9000},
        },
        {"custom": [{"DefMemPerNode": 9}, {"MaxMemPerNode": 8}], "queue": {"DEFMEMPERCPU": 2}},
        {
            "custom": [{"DefMemPerNode": 9}, {"MaxMemPerNode": 8}],
            "queue": {"MaxMemPerNode": 10},
            "beside": {"DefMemPerCPU": 2},
        },
        {"queue": {"MaxTime": "1-00:00:00", "PriorityTier": 3, "AllowGroups": "ops", "DefMemPerCPU": "4K"}},
        {"queue": {"MaxTime": 9000, "DefaultTime": "2-", "Hidden": "NO"}},
        {"queue": {"MinNodes": 2, "MaxNodes": "UNLIMITED", "DefMemPerCPU": 100, "MaxMemPerNode": 9}},
        {"queue": {"DefaultTime": "1-12", "MaxTime": "36:00:00"}},
        {"queue": {"DefaultTime": "59:30", "MaxTime": 60}},
        {"custom": [{"PartitionName": "own", "Nodes": "ALL", "AllowQos": "All"}], "queue": {"AllowQos": "ALL"}},
        {"queue": {"AllowQos": "high"}, "image_id": "ami-12345678"},
        {"queue": {"Alternate": "own"}, "custom": [{"PartitionName": "own", "Default": "YES"}, {"DefMemPerNode": 9}]},
        {"queue": {"AllowAccounts": "ALL", "DenyAccounts": "guests"}},
    ],
    ids=named,
)
def test_what_slurm_reads_is_taken(said: dict[str, Any]) -> None:
    assert problems(**said) == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            {"custom": [{"PropagateResourceLimits": "CORE"}, {"PropagateResourceLimitsExcept": "STACK"}]},
            "'slurm.custom[0].PropagateResourceLimits' must be left out beside PropagateResourceLimitsExcept",
        ),
        (
            {"queue": {"minnodes": 9999}},
            "'queues[0].slurm.minnodes' must be at most 8, the nodes of the queue, got 9999; no job would run",
        ),
        (
            {"queue": {"preemptmode": "REQUEUE"}},
            (
                "'queues[0].slurm.preemptmode' must be given with PreemptType preempt/partition_prio in 'custom' of "
                "'slurm', got 'REQUEUE' with preempt/none; Slurm would ignore it"
            ),
        ),
        ({"queue": {"GraceTime": 60}}, "GraceTime' must be given with PreemptType preempt/partition_prio in 'custom'"),
        (
            {
                "custom": [
                    {"PreemptType": "preempt/qos"},
                    {"PreemptMode": "CANCEL"},
                    {"PartitionName": "own", "Nodes": "ALL", "PreemptMode": "REQUEUE"},
                ]
            },
            "'slurm.custom[2].PreemptMode' must be given with PreemptType preempt/partition_prio in 'custom' of",
        ),
        (
            {
                "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "REQUEUE"}],
                "queue": {"PreemptMode": "SUSPEND"},
            },
            "must be given with GANG in the PreemptMode of 'custom' of 'slurm', as GANG,REQUEUE, got 'SUSPEND' without",
        ),
        (
            {
                "custom": [{"PreemptType": "preempt/partition_prio"}, {"PreemptMode": "GANG,REQUEUE"}],
                "queue": {"PreemptMode": "SUSPEND,GANG"},
            },
            "must be without GANG, which PreemptMode in 'custom' of 'slurm' gives to the whole cluster, got",
        ),
        (
            {"custom": [{"DefMemPerCPU": 9}], "queue": {"DefMemPerNode": 0}},
            (
                "'queues[0].slurm.DefMemPerNode' must be more than 0, or be left out, got 0; Slurm would take "
                "DefMemPerCPU of the cluster, 9"
            ),
        ),
        (
            {"custom": [{"MaxMemPerNode": 9}, {"PartitionName": "own", "Nodes": "ALL", "MaxMemPerNode": "0K"}]},
            "'slurm.custom[1].MaxMemPerNode' must be more than 0, or be left out, got '0K'",
        ),
        (
            {"custom": [{"PartitionName": "compute", "Nodes": "ALL"}]},
            "must be another name, got 'compute', which is a queue already",
        ),
        (
            {"custom": [{"PartitionName": "own", "Nodes": "ALL"}, {"PartitionName": "own", "Nodes": "ALL"}]},
            "got 'own', which is a partition already",
        ),
        (
            {"queue": {"MinNodes": 9, "MaxNodes": 2}},
            "'queues[0].slurm.MinNodes' must be at most MaxNodes, got 9 and 2; no job would run",
        ),
        (
            {"custom": [{"PartitionName": "own", "DefaultTime": "2-", "maxtime": "24:00:00"}]},
            "'slurm.custom[0].DefaultTime' must be at most MaxTime, got 2- and 24:00:00; Slurm would ignore it",
        ),
        (
            {"queue": {"DefMemPerNode": 9000, "maxmempernode": "8K"}},
            "slurm.DefMemPerNode' must be at most MaxMemPerNode, got 9000 and 8K; no job without --mem would run",
        ),
        ({"custom": [{"DefMemPerNode": 9}, {"MaxMemPerNode": 8}]}, "'slurm.custom[0].DefMemPerNode' must be at most"),
        (
            {"custom": [{"DefMemPerNode": 9}, {"MaxMemPerNode": 8}], "queue": {"DefMemPerNode": 2}, "beside": {}},
            "'slurm.custom[0].DefMemPerNode' must be at most MaxMemPerNode, got 9 and 8",
        ),
        ({"queue": {"DefaultTime": "UNLIMITED", "MaxTime": 60}}, "must be at most MaxTime, got UNLIMITED and 60"),
        (
            {"queue": {"DefMemPerCPU": 1, "DefMemPerNode": 2}},
            "'queues[0].slurm.DefMemPerCPU' must be left out beside DefMemPerNode, which Slurm takes alone",
        ),
        ({"custom": [{"MaxMemPerNode": 1}, {"MaxMemPerCPU": 2}]}, "'slurm.custom[1].MaxMemPerCPU' must be left out"),
        ({"queue": {"AllowAccounts": "a", "DenyAccounts": "b"}}, "DenyAccounts' must be left out beside AllowAccounts"),
        (
            {"queue": {"Alternate": "spare"}},
            "'queues[0].slurm.Alternate' must be a queue or a partition, compute, got 'spare'",
        ),
        (
            {"queue": {"Default": "yes"}, "custom": [{"PartitionName": "own", "Default": 1}]},
            "'slurm.custom[0].Default' must be YES once, got it for 'compute', too; Slurm would take the last",
        ),
        (
            {"queue": {"Alternate": "compute"}},
            "Alternate' must be another than itself, got 'compute'; nothing would stand",
        ),
        ({"custom": [{"PartitionName": "own", "Alternate": "own"}]}, "must be another than itself, got 'own'"),
    ],
    ids=named,
)
def test_what_slurm_stops_at_is_refused(said: dict[str, Any], problem: str) -> None:
    assert [text for text in problems(**said) if problem in text], problems(**said)
